/* Results as records of what chips choose. Pure functions. */
(function () {
  "use strict";

  const perfledger = (window.perfledger = window.perfledger || {});
  const config = JSON.parse(document.getElementById("pl-compare").dataset.config);
  /** The fact or option that each axis compares. */
  const AXES = config.axes;
  /** By level, from the strictest to the loosest, what is equal of results that are placed together. */
  const PLACE = Object.fromEntries(config.levels);
  const LEVELS = config.levels.map(([level]) => level);
  const PRECISIONS = ["fp32", "fp32_tf32", "tf32", "amp", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "int8"];

  function stated(value) {
    return value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && !value.length);
  }

  /** What a result states of an axis. */
  function valueOf(result, axis) {
    const value = AXES[axis] in result ? result[AXES[axis]] : (result.options || {})[AXES[axis]];
    return stated(value) ? String(value) : "";
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

  /** The metrics that a result has; without any, it is shown with its reason where throughputs are. */
  function metricsOf(result) {
    const found = ["throughput", "speedup", "efficiency", ...Object.keys(result.metrics || {})].filter((name) => figureOf(result, name).value !== null);
    return found.length ? found : ["throughput"];
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
  function settingOf(result, { axis, level }) {
    const excused = [AXES[axis], axis === "precision" ? "group" : "", axis === "devices" ? "nodes" : ""];
    return JSON.stringify(PLACE[level].filter((name) => !excused.includes(name)).map((name) => placed(result, name, AXES[axis])));
  }

  function placed(result, name, excused = "") {
    if (name !== "workload") return stated(result[name]) ? String(result[name]) : "";
    return Object.keys(workloadOf(result)).filter((each) => each !== excused).sort().map((each) => each + "=" + optionOf(result, each)).join(" ");
  }

  /** Who published a result, as far as results of several may not be compared along an axis. */
  function sourceOf(result, axis) {
    return result.origin === "published" && axis !== "round" ? (result.source || {}).name || "" : "";
  }

  /* ---- records ---- */

  /** A record for each axis and level at which a result meets another: ours first, then those that most values meet. */
  function records(results) {
    const all = Object.keys(AXES).flatMap((axis) => LEVELS.flatMap((level) => meeting(results, axis, level)));
    return all.sort((a, b) => (b.result.origin === "measured") - (a.result.origin === "measured") || b.met - a.met);
  }

  /** Records of the results that meet another value of an axis; of frameworks, a result alone is shown, too. */
  function meeting(results, axis, level) {
    const there = results.filter((each) => valueOf(each, axis) !== "");
    const key = (each) => [each.suite, axis === "framework" ? "" : each.framework, sourceOf(each, axis), settingOf(each, { axis, level })].join();
    const found = groups(there, key).map((group) => ({ group, met: distinct(group.map((each) => valueOf(each, axis))).length }));
    return found.filter(({ met }) => axis === "framework" || met > 1).flatMap(({ group, met }) => group.map((each) => record(each, axis, level, met)));
  }

  /** A record with its facts for the chips: nobody chooses what is compared, or what the level lets differ. */
  function record(result, axis, level, met) {
    const placedBy = { hardware: "hardware", precision: "group", devices: "devices", batch: "batch_size" };
    const chosen = Object.keys(placedBy).filter((name) => name !== axis && [placedBy[name], name].some((each) => PLACE[level].includes(each)));
    const facts = { model: result.suite, origin: result.origin, ...Object.fromEntries(chosen.map((name) => [name, result[placedBy[name]]])) };
    if (axis !== "framework") facts.framework = result.framework;
    const tokens = Object.entries(facts).map(([name, value]) => [name, [window.plChips.token(String(value ?? ""))]]);
    return { result, met, facts: { ...Object.fromEntries(tokens), axis: [axis], level: [level], metric: metricsOf(result) } };
  }

  function distinct(values) {
    return Array.from(new Set(values));
  }

  function groups(items, key) {
    const found = new Map();
    items.forEach((each) => {
      const name = key(each);
      if (!found.has(name)) found.set(name, []);
      found.get(name).push(each);
    });
    return Array.from(found.values());
  }

  perfledger.compare = {
    AXES, LEVELS, PLACE, PRECISIONS, config, distinct, figureOf, groups, optionOf, placed, records, settingOf, sourceOf, stated, valueOf, workloadOf,
  };
})();
