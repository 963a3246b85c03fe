/* Why two results may not stand side by side, by the rules that ingest/compute/comparison.py hands over in the page's
   configuration. Pure functions over records of data/results.json; no page, no words, and no rule of their own.

   A dimension is what is compared. Everything else must agree, except what follows from the dimension. What nobody
   stated is not known to differ: the two are compared, and a note says so. */
(function () {
  "use strict";

  const perfledger = (window.perfledger = window.perfledger || {});
  const compare = (perfledger.compare = perfledger.compare || {});
  const given = JSON.parse(document.getElementById("pl-compare").dataset.config).rules;
  const KEYS = given.dimensions;
  const FOLLOWS = given.follows;

  function stated(value) {
    return value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && !value.length);
  }

  /** A value as a list without order, so that `535` and `["535"]` are the same. */
  function listed(value) {
    return (Array.isArray(value) ? value : [value]).map(String).sort();
  }

  function equal(mine, theirs) {
    if (!Array.isArray(mine) && !Array.isArray(theirs)) return String(mine) === String(theirs);
    return JSON.stringify(listed(mine)) === JSON.stringify(listed(theirs));
  }

  /** Every difference of two results, each as {kind, name, mine, theirs, strict}. */
  function differences(a, b, workload) {
    const found = [];
    const look = (kind, name, mine, theirs, strict) => {
      if (!(stated(mine) && stated(theirs) && equal(mine, theirs))) {
        found.push({ kind: kind, name: name, mine: mine, theirs: theirs, strict: strict });
      }
    };
    const facts = (names, strict) => names
      .filter((name) => !given.facts.optional.includes(name) || (stated(a[name]) && stated(b[name])))
      .forEach((name) => look("fact", name, a[name], b[name], strict));
    facts(given.facts.case, true);
    optionNames(a, b).forEach((name) => {
      const usual = (each) => ((each.options || {})[name] === undefined ? workload[name] : (each.options || {})[name]);
      look("option", name, usual(a), usual(b), name in workload);
    });
    facts(given.facts.manner, false);
    conditionNames(a, b).forEach((name) => look("condition", name, (a.conditions || {})[name], (b.conditions || {})[name], false));
    return found;
  }

  function optionNames(a, b) {
    return union(Object.keys(a.options || {}), Object.keys(b.options || {}));
  }

  function conditionNames(a, b) {
    return union(Object.keys(a.conditions || {}), Object.keys(b.conditions || {}));
  }

  function union(first, second) {
    return Array.from(new Set(first.concat(second))).sort();
  }

  /** What two results say about each other when `dimension` is compared.

      `reasons`: what forbids it. `unknown`: what only one of them states, or neither where all should. `follows`: what
      differs because the dimension does. `workload`: the options that make another workload, by name, with the value
      that is meant where none is stated (null: none is meant). */
  function verdict(a, b, dimension, workload) {
    const key = KEYS[dimension];
    const differs = !equal(a[key], b[key]);
    const excused = differs ? FOLLOWS[dimension] : [];
    const found = { reasons: [], unknown: [], follows: [] };
    differences(a, b, workload || {}).forEach((each) => {
      const both = stated(each.mine) && stated(each.theirs);
      const neither = !stated(each.mine) && !stated(each.theirs);
      if (each.name === key && differs) return;
      if (excused.includes(each.name)) {
        if (both) found.follows.push(each);
      } else if (both || (each.strict && !neither)) {
        found.reasons.push(each);
      } else if (!(neither && each.kind === "option")) {
        found.unknown.push(each);
      }
    });
    found.reasons = withoutConsequences(found.reasons);
    return found;
  }

  /** Another machine has another CPU: what follows from a reason need not be said beside it. */
  function withoutConsequences(reasons) {
    const said = Object.keys(KEYS).filter((each) => reasons.some((reason) => reason.name === KEYS[each]));
    const implied = said.flatMap((each) => FOLLOWS[each]);
    return reasons.filter((each) => !implied.includes(each.name));
  }

  /** Why `a` and `b` may not be compared along `dimension`; an empty list where they may. */
  function incomparable(a, b, dimension, workload) {
    return verdict(a, b, dimension, workload).reasons;
  }

  compare.rules = { KEYS: KEYS, NARROW: given.narrow, verdict: verdict, incomparable: incomparable, stated: stated, equal: equal };
})();
