/* What is chosen, and what stands together: from records and a choice to what is drawn, what is not, and why.
   Pure functions. Which two results may be compared, and which is ahead of which, is looked up in data/comparisons.json,
   which ingest/compute/comparison_tables.py writes. */
(function () {
  "use strict";

  const perfledger = (window.perfledger = window.perfledger || {});
  const compare = (perfledger.compare = perfledger.compare || {});
  const config = JSON.parse(document.getElementById("pl-compare").dataset.config);
  /** The fact that each dimension compares. */
  const KEYS = config.dimensions;
  /** By level, from the strictest to the loosest, what is equal of results that are placed together. */
  const PLACE = Object.fromEntries(config.levels);
  const LEVELS = config.levels.map(([level]) => level);
  /** Facts of the reader's choice, in which the tables of statements tell nothing apart. */
  const CHOSEN = ["precision", "batch_size"];
  /** The table of figures without a unit: speed-ups, efficiencies, and those that are absent. */
  const RATIO = "ratio";
  /** The reason of a figure whose place another has taken. */
  const SAME = "same.text";

  /** In this order a choice is settled: each facet offers what the ones before it leave. */
  const FACETS = ["hardware", "precision", "batch", "framework", "devices", "version", "round"];
  /** Facets of which several values may be chosen; none chosen means all. */
  const SETS = ["framework", "devices"];
  const ALL = "all";
  const PRECISIONS = ["fp32", "fp32_tf32", "tf32", "amp", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "int8"];
  const SEEDS = 12;

  function stated(value) {
    return value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && !value.length);
  }

  function valueOf(result, facet) {
    const value = facet === "model" ? result.suite : result[KEYS[facet]];
    return stated(value) ? String(value) : "";
  }

  /** Values in their own order: counts by size, versions by their parts, precisions from wide to narrow. */
  function ordered(facet, values) {
    const natural = (a, b) => a.localeCompare(b, "en", { numeric: true }) || (a < b ? -1 : 1);
    const rank = (value) => (facet === "precision" && PRECISIONS.includes(value) ? PRECISIONS.indexOf(value) : 99);
    return Array.from(new Set(values)).sort((a, b) => rank(a) - rank(b) || natural(a, b));
  }

  function valuesOf(results, facet) {
    return ordered(facet, results.map((each) => valueOf(each, facet)));
  }

  /** One figure of a result: {value, low, high, spread, range, repeats, unit, text, better, sources, reason}; `value` null
      where absent. */
  function figureOf(result, metric) {
    if (metric === "throughput") {
      return Object.assign(picked(result), { unit: result.unit, text: result.text, better: "higher", reason: result.reason });
    }
    if (metric === "speedup" || metric === "efficiency") {
      const value = known(result[metric]);
      return { value: value, repeats: result.repeats, unit: metric === "speedup" ? "×" : "%", text: ratio(metric, value), better: "higher", reason: result.speedup_reason || result.reason };
    }
    const found = (result.metrics || {})[metric] || {};
    return Object.assign(picked(found), { unit: found.unit, text: found.text, better: found.better, sources: found.sources, reason: result.outcome === "completed" ? null : result.reason });
  }

  function picked(found) {
    return { value: known(found.value), low: known(found.low), high: known(found.high), spread: known(found.spread), range: found.range || "", repeats: found.repeats };
  }

  function known(value) {
    return typeof value === "number" && isFinite(value) ? value : null;
  }

  function ratio(metric, value) {
    if (value === null) return null;
    return metric === "speedup" ? value.toFixed(2) + "×" : (value * 100).toFixed(1) + "%";
  }

  function metricsOf(results) {
    const found = new Set();
    results.forEach((each) => {
      ["throughput", "speedup", "efficiency"].forEach((name) => figureOf(each, name).value !== null && found.add(name));
      Object.keys(each.metrics || {}).forEach((name) => figureOf(each, name).value !== null && found.add(name));
    });
    const first = ["throughput", "speedup", "efficiency", "latency", "memory"].filter((name) => found.has(name));
    return first.concat(Array.from(found).filter((name) => !first.includes(name)).sort());
  }

  /** The options that make another workload, with the value that is meant where none is stated. */
  function workloadOf(suites, model) {
    return (suites[model] || {}).workload || {};
  }

  function optionOf(result, name, workload) {
    const value = (result.options || {})[name];
    const meant = value === undefined ? workload[name] : value;
    return stated(meant) ? String(meant) : "";
  }

  function workloadText(result, workload) {
    return Object.keys(workload).sort().map((name) => name + "=" + optionOf(result, name, workload)).join(" ");
  }

  /** What has to be equal for results to meet at all: what the level asks for, except what is compared. */
  function settingOf(result, choice, workload) {
    const excused = [KEYS[choice.by], choice.by === "precision" ? "group" : "", choice.by === "devices" ? "nodes" : ""];
    return JSON.stringify(PLACE[choice.level].filter((name) => !excused.includes(name)).map((name) => placed(result, name, workload)));
  }

  function placed(result, name, workload) {
    return name === "workload" ? workloadText(result, workload) : stated(result[name]) ? String(result[name]) : "";
  }

  /* ---- the choice ---- */

  /** A complete choice from what is wanted, as far as there are results for it.

      Returns {choice, gone, offers, results}: `gone` lists what was wanted and does not exist, `offers` the values of
      each facet, and `results` those of the model, whichever hardware, precision and size they are of. */
  function settle(all, wanted, suites) {
    const gone = [];
    const pool = all.filter((each) => wanted.published || each.origin === "measured");
    const choice = { published: Boolean(wanted.published), options: {} };
    const offers = { model: valuesOf(pool, "model"), level: LEVELS };
    choice.level = chosen("level", wanted.level, LEVELS, gone, () => config.level);
    const by = KEYS[wanted.by] ? wanted.by : "framework";
    choice.model = chosen("model", wanted.model, offers.model, gone, () => best(pool, "model", { by: by, level: choice.level }, {}, offers.model));
    const results = pool.filter((each) => each.suite === choice.model);
    offers.by = Object.keys(KEYS).filter((each) => each === "framework" || comparable(results, each));
    choice.by = chosen("by", wanted.by, offers.by, gone, () => "framework");
    const workload = workloadOf(suites, choice.model);
    const left = settleFacets(results, wanted, choice, offers, gone, workload);
    settleOptions(left, wanted, choice, offers, gone, workload);
    offers.metric = metricsOf(left.length ? left : results);
    choice.metric = chosen("metric", wanted.metric, offers.metric, gone, () => offers.metric[0] || "throughput");
    choice.ref = wanted.ref && results.some((each) => each.id === wanted.ref) ? wanted.ref : "";
    if (wanted.ref && !choice.ref) gone.push({ facet: "ref", value: wanted.ref });
    return { choice: choice, gone: gone, offers: offers, results: results };
  }

  /** Whether there are two values to compare. */
  function comparable(results, dimension) {
    return valuesOf(results, dimension).filter((each) => each !== "").length > 1;
  }

  function chosen(facet, value, offered, gone, otherwise) {
    if (value !== undefined && value !== "" && offered.includes(value)) return value;
    if (value !== undefined && value !== "") gone.push({ facet: facet, value: value });
    return otherwise();
  }

  function settleFacets(results, wanted, choice, offers, gone, workload) {
    let left = results;
    FACETS.forEach((facet) => {
      const asked = wanted[facet] || [];
      offers[facet] = offered(facet === choice.by ? results : left, facet, choice);
      const there = asked.filter((value) => offers[facet].includes(value));
      asked.filter((value) => value !== ALL && !there.includes(value)).forEach((value) => gone.push({ facet: facet, value: value }));
      choice[facet] = several(facet, choice.by) ? there : single(facet, asked, there, left, offers[facet], choice, workload);
      if (facet !== choice.by) left = left.filter((each) => allowed(each, facet, choice));
    });
    return left;
  }

  function several(facet, by) {
    return facet === by || SETS.includes(facet);
  }

  /** The values of a facet. Half precisions can be chosen together where they are one precision. */
  function offered(results, facet, choice) {
    const values = valuesOf(results, facet);
    if (facet !== "precision" || choice.by === "precision" || choice.level === "identical") return values;
    const each = groups(results, (one) => one.group).filter((group) => valuesOf(group, facet).length > 1);
    return values.concat(each.map((group) => group[0].group));
  }

  /** Whether exactly one value of a facet is chosen, unless it is what is compared. */
  function needed(facet, level) {
    return facet === "hardware" || (facet === "precision" && level !== "everything");
  }

  /** Whether all values are chosen of a facet of which one would be chosen by default. */
  function leftOpen(facet, choice) {
    return !choice[facet].length && facet === "batch" && choice.by !== "batch" && PLACE[choice.level].includes("batch_size");
  }

  function single(facet, asked, there, left, values, choice, workload) {
    if (there.length) return there.slice(0, 1);
    const must = needed(facet, choice.level);
    if (asked.includes(ALL) && !must) return [];
    const pinned = must || (facet === "batch" && PLACE[choice.level].includes("batch_size"));
    return pinned && values.length ? [best(left, facet, choice, workload, values)] : [];
  }

  /** The value under which most values of the dimension meet; of several, the one with most results. */
  function best(results, facet, choice, workload, values) {
    const by = choice.by;
    const meeting = new Map();
    const count = new Map();
    const among = new Set(values);
    results.filter((each) => figureOf(each, "throughput").value !== null).forEach((each) => {
      const setting = each.suite + settingOf(each, choice, workload) + (by === "framework" ? "" : each.framework);
      distinct([valueOf(each, facet), facet === "precision" ? each.group : valueOf(each, facet)]).filter((value) => among.has(value)).forEach((value) => {
        const key = value + "\u0000" + setting;
        if (!meeting.has(key)) meeting.set(key, { value: value, met: new Set() });
        if (valueOf(each, by) !== "") meeting.get(key).met.add(valueOf(each, by));
        count.set(value, (count.get(value) || 0) + 1);
      });
    });
    const most = new Map();
    meeting.forEach((each) => most.set(each.value, Math.max(most.get(each.value) || 0, each.met.size)));
    const rank = (value) => [most.get(value) || 0, count.get(value) || 0];
    return values.slice().sort((a, b) => rank(b)[0] - rank(a)[0] || rank(b)[1] - rank(a)[1])[0];
  }

  function allowed(result, facet, choice) {
    const asked = choice[facet];
    return !asked.length || asked.includes(valueOf(result, facet)) || (facet === "precision" && asked.includes(result.group));
  }

  /** Options of which several values are stated; a result that does not state one may stand beside any. */
  function settleOptions(left, wanted, choice, offers, gone, workload) {
    const names = Array.from(new Set(left.flatMap((each) => Object.keys(each.options || {})))).sort();
    offers.options = {};
    names.forEach((name) => {
      const values = ordered("option", left.map((each) => optionOf(each, name, workload)).filter((value) => value !== ""));
      if (values.length > 1) offers.options[name] = values;
    });
    Object.keys(wanted.options || {}).forEach((name) => {
      if ((offers.options[name] || []).includes(wanted.options[name])) choice.options[name] = wanted.options[name];
      else gone.push({ facet: "option", name: name, value: wanted.options[name] });
    });
  }

  function fits(result, choice, workload) {
    return !unmetBy(result, choice, workload).length;
  }

  function meetsOption(result, name, choice, workload) {
    const value = optionOf(result, name, workload);
    return value === choice.options[name] || (value === "" && !(name in workload));
  }

  /* ---- what stands together ---- */

  /** {drawn, listed, absent, rows, out, notes, xs, series}: what to draw; what is listed without being drawn, since it may
      not be compared or its place is taken; what has no figure; all of these in order; and what no level places there. */
  function board(results, choice, suites, tables) {
    const workload = workloadOf(suites, choice.model);
    const fitting = results.filter((each) => fits(each, choice, workload));
    const items = fitting.filter((each) => valueOf(each, choice.by) !== "").map((each) => item(each, choice, workload));
    const compared = (a, b) => outcome(a, b, choice, tables);
    const clash = (a, b) => clashes(a, b, choice.by, compared);
    const parts = groups(items, (each) => each.setting).map((group) => together(group, choice, clash, workload));
    const out = [];
    const fit = ofOneUnit(parts.flatMap((part) => part.drawn), out);
    const refusals = ofUnitOf(fit, parts.flatMap((part) => part.refused), out);
    const meeting = choice.by === "framework" ? [] : groups(fit, (each) => each.series).filter(meets).flat();
    const drawn = meeting.length ? meeting : fit;
    const settings = new Set(drawn.map((each) => each.setting));
    const listed = refusals.filter((each) => settings.has(each.item.setting)).map((each) => Object.assign(each.item, { refusal: each }));
    out.push(...nearby(results, choice, workload, drawn, items));
    const series = new Set(drawn.map((each) => each.series));
    const absent = parts.flatMap((part) => part.absent).filter((each) => !meeting.length || series.has(each.series));
    const shown = drawn.concat(absent).sort(inOrder);
    drawn.sort(inOrder); // before figures are weighed against the first along the dimension
    weigh(drawn, listed, choice.by, compared, tables.ahead[choice.metric] || {}, workload);
    if (choice.by === "framework" && choice.metric === "throughput") overturn(drawn, results, choice, tables, compared, workload);
    return {
      drawn: drawn, listed: listed, absent: absent.sort(inOrder), rows: drawn.concat(listed, absent).sort(inOrder), out: out,
      notes: notes(drawn, choice.by, compared, workload), unplaced: fitting.length - items.length, alone: fit.length - drawn.length,
      xs: distinct(shown.map((each) => each.x)), series: distinct(shown.sort(bySeries).map((each) => each.series)),
    };
  }

  /** Whether a series has two values of the dimension: there is nothing to compare in one that has not. */
  function meets(series) {
    return distinct(series.map((each) => each.x)).length > 1;
  }

  /** One axis has one unit: figures in another than most have are left out. */
  function ofOneUnit(drawn, out) {
    const parts = groups(drawn, (each) => each.figure.unit).sort((a, b) => b.length - a.length);
    parts.slice(1).flat().forEach((each) => {
      const against = parts[0][0];
      out.push({ item: each, against: against, reasons: [{ kind: "fact", name: "unit", mine: each.figure.unit, theirs: against.figure.unit }] });
    });
    return parts[0] || [];
  }

  /** Refusals of figures in the unit of what is drawn; the others have no ratio at any level. */
  function ofUnitOf(drawn, refusals, out) {
    const alike = refusals.filter((each) => drawn.length && each.item.figure.unit === drawn[0].figure.unit);
    out.push(...refusals.filter((each) => !alike.includes(each)));
    return alike;
  }

  function item(result, choice, workload) {
    const source = result.origin === "published" && choice.by !== "round" ? (result.source || {}).name || "" : "";
    const found = { result: result, figure: figureOf(result, choice.metric), setting: settingOf(result, choice, workload), source: source };
    const size = ["devices", "nodes", "batch_size", "workload"].filter((name) => PLACE[choice.level].includes(name)).map((name) => placed(result, name, workload));
    found.x = choice.by === "framework" ? JSON.stringify(size) : valueOf(result, choice.by);
    found.series = JSON.stringify([result.framework || "", source].concat(choice.by === "framework" ? [] : [found.setting]));
    found.order = choice.by === "framework" ? size.map(String) : [found.x];
    found.rank = choice.by === "precision" ? PRECISIONS.indexOf(found.x) : 0;
    return found;
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

  function distinct(values) {
    return Array.from(new Set(values));
  }

  function groups(items, key) {
    const found = new Map();
    items.forEach((each) => {
      if (!found.has(key(each))) found.set(key(each), []);
      found.get(key(each)).push(each);
    });
    return Array.from(found.values());
  }

  /** What two items of one setting say about each other, each a list of `kind.name`: {reasons, differs, unknown, follows}.
      `differs` is what the level allows to differ. */
  function outcome(a, b, choice, tables) {
    const ofSuite = tables.statements[a.result.suite];
    const both = a.figure.value !== null && b.figure.value !== null;
    const table = (both && ofSuite[choice.metric]) || ofSuite[RATIO];
    const one = table.numbers[a.result.id], two = table.numbers[b.result.id];
    const verdict = tables.verdicts[table.pairs[Math.max(one, two)][Math.min(one, two)]];
    const found = tables.outcomes[verdict[a.x === b.x ? "framework" : choice.by]];
    const at = (level) => found[level] || [];
    const allowing = LEVELS.slice(1).filter((level) => LEVELS.indexOf(level) <= LEVELS.indexOf(choice.level));
    const forbidding = LEVELS.slice(1).filter((level) => !allowing.includes(level));
    const own = CHOSEN.filter((name) => name !== KEYS[choice.by] && String(a.result[name]) !== String(b.result[name])).map((name) => "fact." + name);
    const implied = own.flatMap((name) => config.follows[name.slice(5)] || []);
    const differs = distinct(own.concat(allowing.flatMap(at))).filter((name) => !implied.includes(name.split(".")[1]));
    return { reasons: [...forbidding.flatMap(at), ...at("never")], differs: differs, unknown: at("unknown"), follows: at("follows") };
  }

  /** Whether two of one setting stand at different places of different series: nothing compares them. */
  function unrelated(a, b, by) {
    return by !== "framework" && a.series !== b.series && a.x !== b.x;
  }

  /** Why two of one setting may not both be drawn, as `kind.name`. */
  function clashes(a, b, by, compared) {
    if (unrelated(a, b, by)) return [];
    const found = compared(a, b);
    return a.x === b.x && a.series === b.series && !found.reasons.length ? samePlace(a, b, found.differs) : found.reasons;
  }

  /** A place has room for one figure of a framework. */
  function samePlace(a, b, differs) {
    const rounds = String(a.result.round) === String(b.result.round) ? [] : ["fact.round"];
    return differs.length + rounds.length ? differs.concat(rounds) : [SAME];
  }

  /** `kind.name` with the values of both. */
  function difference(found, a, b, workload) {
    const [kind, name] = found.split(".");
    return { kind: kind, name: name, mine: valueFor(a, kind, name, workload), theirs: valueFor(b, kind, name, workload) };
  }

  function valueFor(item, kind, name, workload) {
    if (kind === "option") return optionOf(item.result, name, workload);
    if (kind === "condition") return (item.result.conditions || {})[name];
    const ofFigure = { text: item.figure.text, unit: item.figure.unit, measured_from: item.figure.sources };
    return name in ofFigure ? ofFigure[name] : item.result[name];
  }

  /** The largest part of a setting whose members may all be compared, begun from each of the likeliest members. */
  function together(group, choice, clash, workload) {
    const figures = group.filter((each) => each.figure.value !== null).sort((a, b) => preferred(a, b, choice.ref, choice.by));
    const starts = figures[0] && figures[0].result.id === choice.ref ? figures.slice(0, 1) : figures.slice(0, SEEDS);
    let drawn = [];
    starts.forEach((start) => {
      const found = grown(start, figures, clash);
      if (found.length > drawn.length) drawn = found;
    });
    const left = figures.filter((each) => !drawn.includes(each)).map((each) => refused(each, drawn, clash, workload)).filter(Boolean);
    return { drawn: drawn, refused: left, absent: without(group, drawn, clash) };
  }

  function grown(start, figures, clash) {
    const found = [start];
    figures.forEach((each) => {
      if (each !== start && found.every((other) => !clash(each, other).length)) found.push(each);
    });
    return found;
  }

  /** Our own figures come first; then a framework's fastest, or along another dimension newer rounds and versions. */
  function preferred(a, b, ref, by) {
    const newer = (one, two) => String(two || "").localeCompare(String(one || ""), "en", { numeric: true });
    const x = a.result, y = b.result;
    return (y.id === ref) - (x.id === ref) || (y.origin === "measured") - (x.origin === "measured") ||
      (by === "framework" && faster(a, b)) || newer(x.round, y.round) || newer(x.framework_version, y.framework_version) ||
      (y.repeats || 0) - (x.repeats || 0) || (x.id < y.id ? -1 : 1);
  }

  /** What is not drawn, and why; nothing where it only repeats what is drawn. */
  function refused(each, drawn, clash, workload) {
    const against = drawn.filter((other) => clash(each, other).length)
      .sort((a, b) => clash(each, a).length - clash(each, b).length)[0];
    const reasons = clash(each, against);
    if (reasons[0] === SAME && each.figure.value === against.figure.value) return null;
    return { item: each, against: against, reasons: reasons.map((name) => difference(name, each, against, workload)) };
  }

  /** Results without this figure: shown with their reason, one at each place that is free. */
  function without(group, drawn, clash) {
    const taken = new Set(drawn.map((each) => each.x + each.series));
    return group.filter((each) => {
      const place = each.x + each.series;
      const unfit = each.figure.value !== null || taken.has(place) || drawn.some((other) => clash(each, other).length);
      if (!unfit) taken.add(place);
      return !unfit;
    });
  }

  /** For each value of the dimension that is nowhere: the closest result that has it, and what in the choice keeps it out. */
  function nearby(results, choice, workload, drawn, items) {
    if (!drawn.length) return [];
    const here = new Set(items.map((each) => valueOf(each.result, choice.by)));
    const chosen = (each) => [choice.by].concat(SETS).every((facet) => allowed(each, facet, choice));
    const wanted = results.filter((each) => chosen(each) && !here.has(valueOf(each, choice.by))).map((each) => item(each, choice, workload));
    const groupsOfValue = groups(wanted.filter((each) => each.figure.value !== null), (each) => valueOf(each.result, choice.by));
    return groupsOfValue.map((group) => closest(group, choice, workload, drawn));
  }

  function closest(group, choice, workload, drawn) {
    const unmet = (each) => unmetBy(each.result, choice, workload);
    const found = group.sort((a, b) => unmet(a).length - unmet(b).length || preferred(a, b, "", choice.by))[0];
    const against = drawn.find((each) => each.result.framework === found.result.framework) || drawn[0];
    return { item: found, against: against, reasons: unmet(found).map((name) => difference(name, found, against, workload)), near: true };
  }

  /** What of a choice a result does not meet, as `kind.name`. */
  function unmetBy(result, choice, workload) {
    const facets = FACETS.filter((facet) => !allowed(result, facet, choice)).map((facet) => "fact." + KEYS[facet]);
    return facets.concat(Object.keys(choice.options).filter((name) => !meetsOption(result, name, choice, workload)).map((name) => "option." + name));
  }

  /** Give each figure its share in the best of its place, or in the first along the dimension; what differs from that one;
      and how far the best is ahead. What may not be compared with it gets neither. */
  function weigh(drawn, listed, by, compared, ahead, workload) {
    const key = (each) => (by === "framework" ? each.x : each.series);
    groups(drawn, key).forEach((group) => {
      const base = by === "framework" ? group.slice().sort(faster)[0] : group[0];
      const all = group.concat(listed.filter((each) => key(each) === key(base)));
      all.forEach((each) => against(each, base, by, compared, ahead, workload));
      if (by === "framework") base.best = leads(base, all, ahead);
      if (by !== "devices" && all.some((each) => each !== base && each.share !== undefined)) base.share = 1;
    });
  }

  function against(each, base, by, compared, ahead, workload) {
    if (each === base) return;
    const found = compared(each, base);
    each.apart = found.reasons.length > 0;
    each.differs = (each.apart ? found.reasons : found.differs).map((name) => difference(name, each, base, workload));
    if (each.apart || by === "devices") return;
    each.share = base.figure.value ? each.figure.value / base.figure.value : undefined;
    if (by === "framework") each.behind = (ahead[base.result.id] || {})[each.result.id];
  }

  function faster(a, b) {
    return a.figure.better === "lower" ? a.figure.value - b.figure.value : b.figure.value - a.figure.value;
  }

  /** Whether the best is clearly ahead of the next framework, and ahead of all others: as ingest has found of each two. */
  function leads(base, all, ahead) {
    const others = all.filter((each) => each.result.framework !== base.result.framework && each.result.origin === "measured").sort(faster);
    const over = (each) => (ahead[base.result.id] || {})[each.result.id] || {};
    const comparable = others.filter((each) => !each.apart);
    return others.length > 0 && !others[0].apart && all.every((each) => faster(base, each) <= 0) &&
      over(others[0]).grade === "clear" && comparable.every((each) => ["clear", "likely"].includes(over(each).grade));
  }

  /** The best of a place is no winner if a framework is faster elsewhere that has no figure there: it is named. */
  function overturn(drawn, results, choice, tables, compared, workload) {
    const missed = (tables.overturned || {})[choice.level] || {};
    groups(drawn, (each) => each.x).forEach((group) => {
      const base = group.slice().sort(faster)[0];
      const found = results.filter((each) => (missed[base.result.id] || []).includes(each.id)).map((each) => item(each, choice, workload));
      if (!found.length) return;
      base.best = false;
      base.missed = found.map((each) => ({ item: each, reasons: compared(each, base).reasons.map((name) => difference(name, each, base, workload)) }));
    });
  }

  /** What is not known of some of the drawn, and what differs because the dimension does. */
  function notes(drawn, by, compared, workload) {
    const unknown = new Map(), follows = new Map();
    groups(drawn, (each) => each.setting).forEach((group) => group.forEach((a, index) => group.slice(0, index).forEach((b) => {
      if (unrelated(a, b, by)) return;
      const found = compared(a, b);
      found.unknown.map((name) => difference(name, a, b, workload))
        .forEach((each) => noted(unknown, each, stated(each.mine) ? [] : [a], stated(each.theirs) ? [] : [b], a, b));
      found.follows.map((name) => difference(name, a, b, workload)).forEach((each) => noted(follows, each, [a], [b], a, b));
    })));
    return { unknown: Array.from(unknown.values()), follows: Array.from(follows.values()) };
  }

  function noted(found, each, first, second, a, b) {
    const key = each.kind + each.name;
    if (!found.has(key)) found.set(key, { kind: each.kind, name: each.name, items: new Set(), all: new Set() });
    first.concat(second).forEach((one) => found.get(key).items.add(one));
    [a, b].forEach((one) => found.get(key).all.add(one));
  }

  compare.board = {
    ALL: ALL, FACETS: FACETS, PLACE: PLACE, needed: needed, leftOpen: leftOpen, allowed: allowed, settle: settle, board: board, several: several, valueOf: valueOf,
    optionOf: optionOf, workloadOf: workloadOf, stated: stated, item: item, outcome: outcome, unrelated: unrelated,
  };
})();
