/* What the compare page says: records, reasons and notes in the words of the page's language. */
(function () {
  "use strict";

  const compare = window.perfledger.compare;
  const stated = compare.stated;

  /** `config`: {language, words: {table.key: text}}. Returns the functions that say things. */
  function speaker(config) {
    const words = config.words;

    const say = (key, args) => window.plSite.filled(words[key] === undefined ? key : words[key], args);

    function word(table, name) {
      return words[table + "." + name] === undefined ? name : words[table + "." + name];
    }

    /** The value of an axis or a fact; what is empty is said to be unknown. */
    function value(name, given) {
      if (Array.isArray(given)) return given.map((each) => value(name, each)).join(say("site.comma"));
      if (!stated(given)) return say("site.unknown");
      if (given === true || given === "true") return say("table.on");
      if (given === false || given === "false") return say("table.off");
      if (name === "hardware") return config.hardware[given] || String(given);
      const table = { precision: "precision", rule: "rule", measured_from: "source", trainer: "option_value" }[name];
      // Half precisions that are chosen together are named as a group.
      if (table === "precision" && words["precision." + given] === undefined) return word("group", given);
      return table ? word(table, given) : String(given);
    }

    const axis = (name) => say("axis." + name);

    function nameOf(each) {
      const table = { condition: "environment", option: "option" }[each.kind] || "fact";
      return words["compare.fact_" + each.name] || (each.kind !== "condition" && words["fact." + each.name]) || word(table, each.name);
    }

    /** A reason as `batch size per device: 32 instead of 64`; of what has no readable value, the name. */
    function reason(each) {
      if (each.mine === undefined && each.theirs === undefined) return nameOf(each);
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

    function metric(name) {
      if (name === "throughput") return say("compare.throughput");
      if (name === "speedup" || name === "efficiency") return say("table." + name);
      return words["metric." + name] || word("published_metric", name);
    }

    const optionName = (name) => nameOf({ kind: "option", name: name });
    return { say, value, axis, reason, sized, source, framework, result, metric, nameOf, listed, optionName, language: config.language };
  }

  compare.speaker = speaker;
})();
