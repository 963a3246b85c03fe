/* What is shown of a choice: groups of results, each with a reference, and for each result its ratio to that or the
   reason for none. Pure functions. Which two results may be compared, and which is ahead of which, is looked up in
   data/comparisons.json, which ingest/compute/comparison_tables.py writes. */
(function () {
  "use strict";

  const compare = window.perfledger.compare;
  const { AXES, config, LEVELS, PLACE, PRECISIONS } = compare;
  const { distinct, figureOf, groups, optionOf, placed, settingOf, sourceOf, valueOf } = compare;
  /** Facts of the reader's choice, in which the tables of statements tell nothing apart. */
  const CHOSEN = ["precision", "batch_size"];
  /** The table of figures without a unit: speed-ups, efficiencies, and those that are absent. */
  const RATIO = "ratio";
  /** Build strings and addresses: that they differ is said, and not how. */
  const UNNAMED = ["kernel", "image"];
  /** What makes a size, in the order of the page. */
  const SIZE = ["devices", "nodes", "batch_size", "precision", "group"];

  /** {groups, drawn, absent, rows, xs, series} of the results that are chosen: a group is {reference, rows}. `drawn` is for
      the chart, and so are `absent`, `xs` and `series`. `known` has all results by id. */
  function board(results, choice, tables, known) {
    const isByFramework = choice.axis === "framework";
    const judge = { compared: (a, b) => outcome(a, b, choice, tables), differences: (names, a, b) => named(names, a, b), ahead: tables.ahead[choice.metric] || {}, choice };
    const items = withoutRepeats(results.map((each) => item(each, choice)));
    const measured = items.filter((each) => each.figure.value !== null);
    const places = groups(measured, (each) => (isByFramework ? each.size : each.series));
    const meeting = places.filter((group) => isByFramework || distinct(group.map((each) => each.x)).length > 1);
    const shown = meeting.length ? meeting : places;
    const missed = isByFramework && choice.metric === "throughput" && choice.level === "workload" ? tables.overturned || {} : {};
    const ranked = shown.map((group) => (isByFramework ? ofPlace(group, judge) : ofSeries(group, judge)));
    ranked.forEach((group) => overturn(group, (missed[group.reference.result.id] || []).map((id) => known.get(id)), judge));
    const absent = withoutFigure(items, measured, isByFramework ? null : shown.flat());
    const drawn = pictured(ranked, judge);
    absent.forEach((each) => joined(ranked, each, isByFramework));
    ranked.forEach((group) => group.rows.sort(isByFramework ? byValue : inOrder));
    ranked.sort((a, b) => inOrder(a.rows[0], b.rows[0]));
    const all = drawn.concat(absent).sort(inOrder);
    return {
      groups: ranked, drawn: drawn.sort(inOrder), absent, rows: ranked.flatMap((group) => group.rows),
      xs: distinct(all.map((each) => each.x)), series: distinct(all.slice().sort(bySeries).map((each) => each.series)),
    };
  }

  /** A result with what places it: `x` in the chart, `size` in the table, `series` of what belongs together. */
  function item(result, choice) {
    const { axis } = choice, source = sourceOf(result, axis);
    const found = { result, figure: figureOf(result, choice.metric), setting: settingOf(result, choice), source };
    const facts = SIZE.filter((name) => PLACE[choice.level].includes(name)).map((name) => placed(result, name));
    const place = PLACE[choice.level].includes("workload") ? facts.concat(placed(result, "workload")) : facts;
    found.size = JSON.stringify(facts);
    found.x = axis === "framework" ? JSON.stringify(place) : valueOf(result, axis);
    found.series = JSON.stringify([result.framework || "", source].concat(axis === "framework" ? [] : [found.setting]));
    found.order = axis === "framework" ? place.map(String) : [found.x];
    found.rank = axis === "precision" ? PRECISIONS.indexOf(found.x) : 0;
    return found;
  }

  /** A source prints one value in several places, with more or fewer digits: the finest stays. */
  function withoutRepeats(items) {
    const digits = (each) => ((each.figure.text || "").split(".")[1] || "").length;
    const isSame = (a, b) => Math.abs(a.figure.value - b.figure.value) < 10 ** -Math.min(digits(a), digits(b));
    const kept = [];
    items.slice().sort((a, b) => digits(b) - digits(a)).forEach((each) => {
      const repeats = (other) => other.source && other.series === each.series && other.x === each.x && isSame(other, each);
      if (!each.source || !kept.some(repeats)) kept.push(each);
    });
    return items.filter((each) => kept.includes(each));
  }

  /* ---- ratios ---- */

  /** Results of one size: the reference is the fastest of ours among the most that may be compared with each other. */
  function ofPlace(group, judge) {
    const comparable = (each) => group.filter((other) => other === each || (other.figure.unit === each.figure.unit && !judge.compared(other, each).reasons.length));
    const sets = group.slice().sort(preferred).map(comparable);
    const ours = (set) => set.filter((each) => each.result.origin === "measured").length;
    const [set] = sets.sort((a, b) => ours(b) - ours(a) || b.length - a.length);
    const reference = set.slice().sort(preferred)[0];
    group.forEach((each) => against(each, reference, judge));
    if (group.some((each) => each.share !== undefined)) reference.share = 1;
    return { reference, rows: group };
  }

  /** Results of one series along the axis: the reference is the first. */
  function ofSeries(group, judge) {
    const [reference] = group.slice().sort(inOrder);
    if (judge.choice.axis === "devices") return { reference, rows: group };
    group.forEach((each) => against(each, reference, judge));
    if (group.some((each) => each.share !== undefined)) reference.share = 1;
    return { reference, rows: group };
  }

  /** Give a result its ratio to the reference, or the reason for none; and what differs. */
  function against(each, reference, judge) {
    if (each === reference) return;
    const found = judge.compared(each, reference), inOtherUnit = each.figure.unit !== reference.figure.unit;
    const reasons = inOtherUnit ? ["fact.unit"] : found.reasons;
    each.apart = reasons.length > 0;
    each.differs = judge.differences(each.apart ? reasons : found.differs, each, reference);
    each.unknown = judge.differences(each.apart || each.source ? [] : found.unknown, each, reference);
    if (each.apart) return;
    each.share = reference.figure.value ? each.figure.value / reference.figure.value : undefined;
    each.behind = (judge.ahead[reference.result.id] || {})[each.result.id];
  }

  /** Our own results come first, then the fastest. */
  function preferred(a, b) {
    return (b.result.origin === "measured") - (a.result.origin === "measured") || faster(a, b);
  }

  function faster(a, b) {
    return a.figure.better === "lower" ? a.figure.value - b.figure.value : b.figure.value - a.figure.value;
  }

  /** The reference is no winner if a framework is faster elsewhere: it is named, unless it has a row here. */
  function overturn(group, missed, judge) {
    if (!missed.length) return;
    const { reference, rows } = group;
    const ids = rows.map((each) => each.result.id);
    reference.missed = missed.filter((each) => !ids.includes(each.id)).map((each) => {
      const found = item(each, judge.choice);
      return { item: found, reasons: judge.differences(judge.compared(found, reference).reasons, found, reference) };
    });
  }

  /** What two results say about each other, each a list of `kind.name`: {reasons, differs, unknown}. `differs` is what the
      level allows to differ. */
  function outcome(a, b, choice, tables) {
    const ofSuite = tables.statements[a.result.suite];
    const both = a.figure.value !== null && b.figure.value !== null;
    const table = (both && ofSuite[choice.metric]) || ofSuite[RATIO];
    const one = table.numbers[a.result.id], two = table.numbers[b.result.id];
    const verdict = tables.verdicts[table.pairs[Math.max(one, two)][Math.min(one, two)]];
    const found = tables.outcomes[verdict[a.x === b.x ? "framework" : choice.axis]];
    const at = (level) => found[level] || [];
    const allowing = LEVELS.slice(1).filter((level) => LEVELS.indexOf(level) <= LEVELS.indexOf(choice.level));
    const forbidding = LEVELS.slice(1).filter((level) => !allowing.includes(level));
    const own = CHOSEN.filter((name) => name !== AXES[choice.axis] && String(a.result[name]) !== String(b.result[name])).map((name) => "fact." + name);
    const implied = own.flatMap((name) => config.follows[name.slice(5)] || []);
    const differs = distinct(own.concat(allowing.flatMap(at))).filter((name) => !implied.includes(name.split(".")[1]));
    return { reasons: [...forbidding.flatMap(at), ...at("never")], differs, unknown: at("unknown") };
  }

  /** `kind.name` with the values of both. */
  function named(names, a, b) {
    return names.map((each) => {
      const [kind, name] = each.split(".");
      if (UNNAMED.includes(name)) return { kind, name };
      return { kind, name, mine: valueFor(a, kind, name), theirs: valueFor(b, kind, name) };
    });
  }

  function valueFor(found, kind, name) {
    if (kind === "option") return optionOf(found.result, name);
    if (kind === "condition") return (found.result.conditions || {})[name];
    const ofFigure = { unit: found.figure.unit, measured_from: found.figure.sources };
    return name in ofFigure ? ofFigure[name] : found.result[name];
  }

  /* ---- the chart ---- */

  /** One result per place and series: those of a group that may be compared with its reference; one axis has one unit. */
  function pictured(ranked, judge) {
    const [main] = ranked.map((group) => group.reference).sort(preferred);
    const related = (each) => judge.choice.axis === "framework" || each === main || each.x !== main.x || !judge.compared(each, main).reasons.length;
    const chosen = ranked.filter(({ reference }) => related(reference)).flatMap(({ rows }) => rows.filter((each) => !each.apart).sort(preferred));
    const [ofOneUnit] = groups(chosen, (each) => each.figure.unit).sort((a, b) => b.length - a.length);
    return groups(ofOneUnit || [], (each) => each.x + each.series).map(([first]) => first);
  }

  /** Results without this figure, one at each place that is free; with `along`, only in the series of these. */
  function withoutFigure(items, measured, along) {
    const taken = new Set(measured.map((each) => each.x + each.series));
    const series = along && new Set(along.map((each) => each.series));
    return items.filter((each) => {
      const place = each.x + each.series, isShown = each.figure.value === null && !taken.has(place) && (!series || series.has(each.series));
      if (isShown) taken.add(place);
      return isShown;
    });
  }

  /** Put a result without a figure into the group of its place, or into one of its own. */
  function joined(ranked, each, isByFramework) {
    const key = isByFramework ? "size" : "series";
    const group = ranked.find(({ reference }) => reference[key] === each[key]);
    if (group) group.rows.push(each);
    else ranked.push({ reference: each, rows: [each] });
  }

  function byValue(a, b) {
    const missing = (each) => (each.figure.value === null ? 1 : 0);
    return missing(a) - missing(b) || faster(a, b) || bySeries(a, b);
  }

  function inOrder(a, b) {
    if (a.rank !== b.rank) return a.rank - b.rank;
    for (let i = 0; i < a.order.length; i += 1) {
      const found = a.order[i].localeCompare(b.order[i], "en", { numeric: true });
      if (found) return found;
    }
    return bySeries(a, b);
  }

  function bySeries(a, b) {
    return (a.source ? 1 : 0) - (b.source ? 1 : 0) || a.series.localeCompare(b.series, "en", { numeric: true });
  }

  Object.assign(compare, { board, item, outcome });
})();
