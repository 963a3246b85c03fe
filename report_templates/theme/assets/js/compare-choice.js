/* The choice: what the address asks for, what there is, and the address of a complete choice. Pure functions. */
(function () {
  "use strict";

  const perfledger = (window.perfledger = window.perfledger || {});
  const config = JSON.parse(document.getElementById("pl-compare").dataset.config);
  /** The fact that each dimension compares. */
  const KEYS = config.dimensions;
  /** By level, from the strictest to the loosest, what is equal of results that are placed together. */
  const PLACE = Object.fromEntries(config.levels);
  const LEVELS = config.levels.map(([level]) => level);

  /** In this order a choice is settled: each facet offers what the ones before it leave. */
  const FACETS = ["hardware", "precision", "batch", "framework", "devices", "version", "round"];
  /** Facets of which several values may be chosen; none chosen means all. */
  const SETS = ["framework", "devices"];
  const ALL = "all";
  const PRECISIONS = ["fp32", "fp32_tf32", "tf32", "amp", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "int8"];

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

  /** The options that make another workload for the model of a result, with the value that is meant where none is stated. */
  function workloadOf(result) {
    return config.workloads[result.suite] || {};
  }

  function optionOf(result, name) {
    const value = (result.options || {})[name];
    const meant = value === undefined ? workloadOf(result)[name] : value;
    return stated(meant) ? String(meant) : "";
  }

  /** What has to be equal for results to meet at all: what the level asks for, except what is compared. */
  function settingOf(result, choice) {
    const excused = [KEYS[choice.by], choice.by === "precision" ? "group" : "", choice.by === "devices" ? "nodes" : ""];
    return JSON.stringify(PLACE[choice.level].filter((name) => !excused.includes(name)).map((name) => placed(result, name)));
  }

  function placed(result, name) {
    if (name === "workload") return Object.keys(workloadOf(result)).sort().map((each) => each + "=" + optionOf(result, each)).join(" ");
    return stated(result[name]) ? String(result[name]) : "";
  }

  /* ---- the choice ---- */

  /** A complete choice from what is wanted, as far as there are results for it.

      Returns {choice, gone, offers, results}: `gone` lists what was wanted and does not exist, `offers` the values of
      each facet, and `results` those of the model, whichever hardware, precision and size they are of. */
  function settle(all, wanted) {
    const gone = [];
    const pool = all.filter((each) => wanted.published || each.origin === "measured");
    const choice = { published: Boolean(wanted.published) };
    const offers = { model: valuesOf(pool, "model"), level: LEVELS };
    choice.level = chosen("level", wanted.level, LEVELS, gone, () => config.level);
    const [place = config.opens] = wanted.hardware || [];
    const opening = pool.filter((each) => each.hardware === place);
    const first = opening.length ? opening : pool;
    const by = KEYS[wanted.by] ? wanted.by : wanted.model ? "framework" : worthwhile(first, choice.level);
    const most = () => best(first, "model", { by: by, level: choice.level }, valuesOf(first, "model"));
    choice.model = chosen("model", wanted.model, offers.model, gone, most);
    const results = pool.filter((each) => each.suite === choice.model);
    offers.by = Object.keys(KEYS).filter((each) => each === "framework" || comparable(results, each));
    choice.by = chosen("by", wanted.by, offers.by, gone, () => (offers.by.includes(by) ? by : "framework"));
    const left = settleFacets(results, wanted, choice, offers, gone);
    offers.metric = metricsOf(left.length ? left : results);
    choice.metric = chosen("metric", wanted.metric, offers.metric, gone, () => offers.metric[0] || "throughput");
    return { choice: choice, gone: gone, offers: offers, results: results };
  }

  /** The dimension that a page without a choice compares: the first along which two results of one unit meet. */
  function worthwhile(results, level) {
    return Object.keys(KEYS).find((by) => {
      const setting = (each) => [each.suite, each.unit, by !== "framework" && each.framework, settingOf(each, { by, level })].join();
      return groups(results.filter((each) => figureOf(each, "throughput").value !== null), setting).some((group) => comparable(group, by));
    }) || "framework";
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

  function settleFacets(results, wanted, choice, offers, gone) {
    let left = results;
    FACETS.forEach((facet) => {
      offers[facet] = offered(facet === choice.by ? results : left, facet, choice);
      const asked = (wanted[facet] || []).flatMap((value) => named(value, left, facet, offers[facet]));
      const there = asked.filter((value) => offers[facet].includes(value));
      asked.filter((value) => value !== ALL && !there.includes(value)).forEach((value) => gone.push({ facet: facet, value: value }));
      choice[facet] = several(facet, choice.by) ? there : single(facet, asked, there, left, offers[facet], choice);
      if (facet !== choice.by) left = left.filter((each) => allowed(each, facet, choice));
    });
    return left;
  }

  /** Other pages name a precision by its group: where that is one precision, it is meant. */
  function named(value, left, facet, offers) {
    const ofGroup = facet === "precision" && !offers.includes(value) ? valuesOf(left.filter((each) => each.group === value), facet) : [];
    return ofGroup.length ? ofGroup : [value];
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

  function single(facet, asked, there, left, values, choice) {
    if (there.length) return there.slice(0, 1);
    if (facet === "hardware" && values.includes(config.opens)) return [config.opens];
    const must = needed(facet, choice.level);
    if (asked.includes(ALL) && !must) return [];
    const pinned = must || (facet === "batch" && PLACE[choice.level].includes("batch_size"));
    return pinned && values.length ? [best(left, facet, choice, values)] : [];
  }

  /** The value under which most values of the dimension meet; of several, the one with most results. */
  function best(results, facet, choice, values) {
    const by = choice.by;
    const meeting = new Map();
    const count = new Map();
    const among = new Set(values);
    results.filter((each) => figureOf(each, "throughput").value !== null).forEach((each) => {
      const setting = each.suite + settingOf(each, choice) + (by === "framework" ? "" : each.framework);
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

  /** Whether a result meets a choice. */
  function fits(result, choice) {
    return FACETS.every((facet) => allowed(result, facet, choice));
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

  /* ---- the address: `?model=resnet50&hardware=…&by=devices` ---- */

  /** What an address asks for: lists for the facets, texts for the rest. */
  function read(search) {
    const given = new URLSearchParams(search);
    const wanted = { published: given.get("published") === "1" };
    ["model", "by", "level", "metric"].forEach((name) => { if (given.get(name)) wanted[name] = given.get(name); });
    FACETS.forEach((facet) => { if (given.has(facet)) wanted[facet] = given.getAll(facet); });
    return wanted;
  }

  /** A complete choice as an address: what is said by leaving it out is left out. */
  function written(choice) {
    const given = new URLSearchParams();
    given.set("model", choice.model || "");
    if (choice.by !== "framework") given.set("by", choice.by);
    if (choice.level !== config.level) given.set("level", choice.level);
    FACETS.forEach((facet) => {
      choice[facet].forEach((value) => given.append(facet, value));
      if (leftOpen(facet, choice)) given.set(facet, ALL);
    });
    if (choice.metric !== "throughput") given.set("metric", choice.metric);
    if (choice.published) given.set("published", "1");
    return "?" + given.toString();
  }

  perfledger.compare = {
    config, ALL, FACETS, KEYS, LEVELS, PLACE, PRECISIONS, SETS, allowed, distinct, figureOf, fits, groups, leftOpen, needed, optionOf, placed, read, settingOf, settle,
    several, stated, valueOf, workloadOf, written,
  };
})();
