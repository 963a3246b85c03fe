/* What the compare page says: records, reasons and notes in the words of the page's language. */
(function () {
  "use strict";

  const compare = window.perfledger.compare;
  const stated = compare.board.stated;
  const LISTED = 4;

  /** `config`: {language, words: {table.key: text}}. Returns the functions that say things. */
  function speaker(config) {
    const words = config.words;

    function say(key, args) {
      const text = words[key] === undefined ? key : words[key];
      return text.replace(/\{(\w+)\}/g, (all, name) => (args && args[name] !== undefined ? String(args[name]) : all));
    }

    function word(table, name) {
      return words[table + "." + name] === undefined ? name : words[table + "." + name];
    }

    /** The value of a facet or a fact; what is empty is said to be unknown. */
    function value(name, given) {
      if (Array.isArray(given)) return given.map((each) => value(name, each)).join(say("site.comma"));
      if (!stated(given)) return say("site.unknown");
      if (given === true || given === "true") return say("table.on");
      if (given === false || given === "false") return say("table.off");
      if (name === "hardware") return config.hardware[given] || String(given);
      const table = { precision: "precision", rule: "rule", measured_from: "source" }[name];
      // Half precisions that are chosen together are named as a group.
      if (table === "precision" && words["precision." + given] === undefined) return word("group", given);
      return table ? word(table, given) : String(given);
    }

    function facet(name) {
      return say("compare." + name);
    }

    function nameOf(each) {
      const table = { condition: "environment", option: "option" }[each.kind] || "fact";
      return words["compare.fact_" + each.name] || (each.kind !== "condition" && words["fact." + each.name]) || word(table, each.name);
    }

    /** A reason as `batch size per device 32 against 64`. */
    function reason(each) {
      if (each.kind === "same") return say("compare.reason_same", each);
      return say("compare.reason", { name: nameOf(each), mine: value(each.name, each.mine), theirs: value(each.name, each.theirs) });
    }

    function listed(texts) {
      return texts.join(say("site.comma"));
    }

    /** The number of devices, with that of machines where there are several. */
    function size(result) {
      return result.nodes > 1 ? say("table.machines", { devices: result.devices, nodes: result.nodes }) : value("devices", result.devices);
    }

    /** The same in words: `8 devices`. */
    function sized(result) {
      if (result.nodes > 1) return size(result);
      return say(result.devices === 1 ? "compare.device_one" : "compare.devices_n", { n: value("devices", result.devices) });
    }

    function source(result) {
      const title = ((result.source || {}).title || {})[config.language];
      return title || (result.source || {}).name || "";
    }

    function framework(item) {
      const name = value("framework", item.result.framework);
      return item.source ? say("compare.published_by", { framework: name, source: source(item.result) }) : name;
    }

    /** A result in one line: framework with its version, and the size of its case. */
    function result(item) {
      const each = item.result;
      const version = stated(each.framework_version) ? " " + each.framework_version : "";
      const parts = [framework(item) + version, say("compare.size", { devices: sized(each), batch: value("batch", each.batch_size) })];
      if (stated(each.round) && each.origin === "measured") parts.push(String(each.round));
      return parts.join(say("site.comma"));
    }

    /** Names without doubles; a long list is cut. */
    function names(items) {
      const found = Array.from(new Set(Array.from(items).map(framework)));
      const more = found.length - LISTED;
      return listed(found.slice(0, LISTED)) + (more > 0 ? say("compare.and_more", { n: more }) : "");
    }

    /** Notes on what is not stated: a line per fact, and one for all options. Of published figures a note says it all. */
    function unknown(found) {
      const options = found.filter((each) => each.kind === "option").map(nameOf);
      const facts = found.filter((each) => each.kind !== "option").map((each) => ({ each: each, items: Array.from(each.items).filter((one) => one.result.origin === "measured") }));
      const said = facts.filter((each) => each.items.length).map((each) => upper(say("compare.not_known_for", { name: nameOf(each.each), names: names(each.items) })));
      return options.length ? said.concat(upper(say("compare.options_unstated", { names: listed(options) }))) : said;
    }

    function upper(text) {
      return text.charAt(0).toUpperCase() + text.slice(1);
    }

    function follows(each, by) {
      return upper(say("compare.follows", { name: nameOf(each), by: facet(by) }));
    }

    function metric(name) {
      if (name === "throughput") return say("compare.throughput");
      if (name === "speedup" || name === "efficiency") return say("table." + name);
      return words["metric." + name] || word("published_metric", name);
    }

    return { say: say, value: value, facet: facet, reason: reason, upper: upper, size: size, sized: sized, source: source, framework: framework, result: result, unknown: unknown, follows: follows, metric: metric, language: config.language, optionName: (name) => nameOf({ kind: "option", name: name }) };
  }

  compare.speaker = speaker;
})();
