/* The page that compares results: a chart and a table of what chips choose, both from data/results.json. */
(function () {
  "use strict";

  const compare = window.perfledger.compare;
  const { AXES, PLACE } = compare;
  const CUTS = ["micro_batch", "pipeline_parallel", "tensor_parallel", "data_parallel", "expert_parallel", "context_parallel"];
  const place = document.getElementById("pl-compare");
  const config = JSON.parse(place.dataset.config);
  const words = compare.speaker(config);
  const { say } = words, { make } = window.plSite;
  const parts = {};
  let records = [];
  let known = new Map(); // results by id
  let tables = null;
  let state = null;

  const pageAddress = (path) => window.plSite.page(path, config.language);

  function settled() {
    const { choice } = window.plChips, chosen = records.filter(window.plChips.shows).map((each) => each.result);
    const board = compare.board(chosen, choice, tables, known);
    const first = board.rows.length ? board.rows[0].result : {};
    const varies = (name) => board.rows.some((each) => compare.optionOf(each.result, name) !== compare.optionOf(first, name));
    // Options of the workload that tell results apart.
    return { choice, board, varied: Object.keys(compare.workloadOf(first)).sort().filter(varies) };
  }

  function modelName(id) {
    const title = (records.find((each) => each.result.suite === id) || { result: { title: {} } }).result.title;
    return title[config.language] || id;
  }

  /* ---- the page ---- */

  function frame() {
    parts.status = make("p", { class: "pl-compare-status", role: "status" });
    parts.chart = make("figure", { class: "pl-chart", id: "pl-compare-chart" }, make("figcaption", {}, say("compare.whiskers")));
    parts.table = make("div", { class: "pl-compare-table" });
    parts.notes = make("div", { class: "pl-compare-notes" });
    place.replaceChildren(parts.status, parts.chart, parts.table, parts.notes);
  }

  function show() {
    state = settled();
    parts.status.textContent = statusText();
    showTable();
    showChart();
    showNotes();
  }

  function statusText() {
    const { rows } = state.board, apart = rows.filter((each) => each.apart).length;
    if (!rows.length) return say("compare.no_data");
    const said = [say("compare.status", { n: rows.length }), apart ? say("compare.status_apart", { n: apart }) : ""];
    return said.filter(Boolean).join(config.language === "zh" ? "" : " ");
  }

  /* ---- the chart ---- */

  function several(fact) {
    return new Set(shown().map((each) => each.result[fact])).size > 1;
  }

  function workloadText(result) {
    const said = state.varied.filter((name) => compare.optionOf(result, name) !== "");
    return said.map((name) => words.optionName(name) + " " + words.value(name, compare.optionOf(result, name))).join(say("site.comma"));
  }

  /** Whether results differ in this only if they are at different places. */
  function placed(name) {
    return PLACE[state.choice.level].includes(name);
  }

  function seriesLabel(item) {
    const added = [];
    if (state.choice.axis !== "framework") {
      const open = { devices: words.sized, batch: (each) => say("compare.batch_n", { n: words.value("batch", each.batch_size) }), precision: (each) => words.value("precision", each.precision) };
      added.push(...Object.keys(open).filter((axis) => axis !== state.choice.axis && several(AXES[axis])).map((axis) => open[axis](item.result)));
      added.push(workloadText(item.result));
    }
    return [words.framework(item)].concat(added).filter(Boolean).join(say("site.comma"));
  }

  function unitsOf() {
    return Array.from(new Set(state.board.drawn.map((each) => each.figure.unit).filter(Boolean))).join(say("site.comma"));
  }

  /** What the chart shows: numbers of devices make lines, all else is compared in panels. */
  function spec() {
    const { drawn, absent, xs, series } = state.board, all = drawn.concat(absent), by = state.choice.axis;
    const at = new Map(all.map((each) => [each.series + "\u0000" + each.x, each]));
    const first = (key, value) => all.find((each) => each[key] === value);
    const head = { title: modelName(state.choice.model) + say("site.colon") + headOf(), unit: headOf() };
    const look = (key) => ({ label: seriesLabel(first("series", key)), ink: config.inks[first("series", key).result.framework] || "" });
    const figures = (x) => series.filter((key) => at.has(key + "\u0000" + x)).map((key) => Object.assign(look(key), plottedFigure(at.get(key + "\u0000" + x))));
    if (by === "devices" && xs.length > 1) {
      const points = (key) => xs.filter((x) => at.has(key + "\u0000" + x)).map((x) => plottedFigure(at.get(key + "\u0000" + x), Number(x))).filter((each) => each.value !== null);
      const lines = series.map((key) => Object.assign(look(key), { points: points(key) })).filter((each) => each.points.length);
      const isShare = state.choice.metric === "efficiency";
      return Object.assign(head, { kind: "lines", levels: isShare ? [{ value: 100 }] : [], near: isShare, series: lines, x: { label: words.axis(by), log2: true, ticks: xs.map((x) => ({ at: Number(x), label: placeLabel(first("x", x)) })) } });
    }
    const panels = xs.map((x) => ({ label: placeLabel(first("x", x)), rows: figures(x) })).filter((panel) => panel.rows.length);
    const isOne = panels.length > 1 && series.length === 1;
    const rows = () => panels.map((panel) => Object.assign({}, panel.rows[0], { label: panel.label }));
    // The work of one device and that of many are no sizes that one scale tells apart.
    const apart = several("devices") && state.choice.metric === "throughput" && !isOne;
    return Object.assign(head, { kind: "dots", apart, panels: isOne ? [{ label: panels[0].rows[0].label, rows: rows() }] : panels });
  }

  /** The same place in words, as the title of a panel: `8 devices, batch size 64`. */
  function placeLabel(item) {
    if (state.choice.axis !== "framework") return words.value(state.choice.axis, item.x);
    return [sizeText(item.result, several("batch_size")), placed("workload") ? workloadText(item.result) : ""].filter(Boolean).join(say("site.comma"));
  }

  /** The devices, the batch size and the precision, as far as results are placed by them. */
  function sizeText(result, withBatch) {
    const batch = withBatch && placed("batch_size") ? say("compare.batch_n", { n: words.value("batch", result.batch_size) }) : "";
    const precision = ["group", "precision"].filter((name) => placed(name) && several(name)).map((name) => words.value("precision", result[name]));
    return [words.sized(result), batch, ...precision].filter(Boolean).join(say("site.comma"));
  }

  function plottedFigure(each, x) {
    const result = each.result, figure = each.figure;
    if (figure.value === null) return { value: null, text: absentWord(each), about: absentReason(each) };
    const percent = state.choice.metric === "efficiency" ? 100 : 1;
    const scaled = (value) => (typeof value === "number" ? value * percent : null);
    const said = [result.batch_size ? say("compare.batch_n", { n: words.value("batch", result.batch_size) }) : "", optionsText(result), result.framework_version || "", (result.runs || []).map((run) => run.date || "").sort().pop()];
    return {
      x, y: scaled(figure.value), value: scaled(figure.value), low: scaled(figure.low), high: scaled(figure.high), n: (result.runs || []).length || null,
      text: [figure.text, ["speedup", "efficiency"].includes(state.choice.metric) ? "" : figure.unit].filter(Boolean).join(" "),
      about: said.filter(Boolean).join(say("site.comma")), href: targetOf(each) || "",
    };
  }

  function headOf() {
    const unit = unitsOf();
    return words.metric(state.choice.metric) + (unit && unit !== "×" ? say("metric.in_unit", { unit: unit }) : "");
  }

  function absentWord(item) {
    return item.result.outcome === "oom" ? say("table.oom") : "—";
  }

  function showChart() {
    const there = state.board.drawn.length > 0;
    parts.chart.hidden = !there;
    if (!there) return;
    window.plChart.draw(parts.chart, spec());
    parts.chart.setAttribute("aria-label", say("compare.described", { metric: headOf(), by: words.axis(state.choice.axis) }));
  }

  /* ---- the table ---- */

  function shown() {
    return state.board.rows;
  }

  /** A column: its title, the content of its cells, and whether it is shown. */
  function columns() {
    const by = state.choice.axis, any = (test) => shown().some(test);
    const along = { title: words.axis(by), cell: (each) => [words.value(by, compare.valueOf(each.result, by))], number: by === "devices" || by === "batch" };
    return [
      by !== "framework" && along,
      { title: say("table.framework"), cell: frameworkCell },
      { title: headOf(), cell: figureCell, number: true },
      any((each) => each.share !== undefined) && { title: say(by === "framework" ? "compare.share_best" : "compare.share_first"), cell: shareCell, kind: "pl-compare-share" },
      any((each) => differsCell(each).some(Boolean)) && { title: say("compare.differs"), cell: differsCell, kind: "pl-compare-differs" },
      any((each) => optionsText(each.result)) && { title: say("table.options"), cell: (each) => [optionsText(each.result)], kind: "pl-compare-options" },
      any((each) => each.result.origin === "measured") && { title: say("compare.runs"), cell: runsCell, kind: "pl-runs" },
    ].filter(Boolean);
  }

  /** Options in words, without ways of cutting a model or its batch that are not used. */
  function optionsText(result) {
    const isUsed = (name) => !(CUTS.includes(name) && result.options[name] === 1);
    return Object.keys(result.options || {}).sort().filter(isUsed).map((name) => (words.optionName(name) + " " + words.value(name, result.options[name]))).join(say("site.comma"));
  }

  /** The framework with its version, and what else a choice leaves open. */
  function frameworkCell(each) {
    const result = each.result, name = words.value("framework", result.framework);
    if (result.origin === "published") return [name, make("small", {}, say("compare.of_others") + say("site.colon") + words.source(result))];
    const open = ["hardware", "precision", "batch_size"].filter((fact) => several(fact) && !placed(fact) && fact !== AXES[state.choice.axis]);
    const facts = [result.framework_version, ...open.map((fact) => (fact === "batch_size" ? say("compare.batch_n", { n: result.batch_size }) : words.value(fact, result[fact]))), result.round];
    return [name, make("small", {}, facts.filter(compare.stated).join(say("site.comma")))];
  }

  function targetOf(each) {
    const run = (each.result.runs || []).find((one) => one.page);
    return each.result.origin === "published" ? (each.result.source || {}).address : run && pageAddress(run.page);
  }

  /** The figure leads to its run, or to where others published it; below it, its range and its cautions. */
  function figureCell(each) {
    const { figure, result } = each;
    if (figure.value === null) return [make("span", { class: "pl-absent" }, absentWord(each)), make("small", {}, absentReason(each))];
    const target = targetOf(each), text = unitsOf().includes(figure.unit || "") ? figure.text : figure.text + " " + figure.unit;
    const runs = result.origin === "measured" && figure.repeats ? say(figure.repeats === 1 ? "compare.run_one" : "compare.runs_n", { n: figure.repeats }) : "";
    const marks = ["diverged", "unproven"].filter((name) => result[name]).map((name) => say("metric." + name));
    if (state.choice.metric === "throughput" && result.witnesses && result.witnesses !== "agree") marks.push(say("support." + result.witnesses));
    const small = [figure.range, runs, ...marks].filter(Boolean);
    return [target ? make("a", { href: target }, text) : text, small.length ? make("small", {}, small.join(say("site.comma"))) : ""];
  }

  function absentReason(each) {
    const reason = each.figure.reason;
    return (reason && reason.text && reason.text[config.language]) || say("compare.not_stated");
  }

  /** The share of the reference, and how sure its lead is. */
  function shareCell(each) {
    if (typeof each.share !== "number") return [];
    const lead = each.behind, share = (each.share * 100).toFixed(1) + "%";
    if (!lead) return [share];
    const ratio = lead.low === lead.high ? lead.low : say("compare.ratio_range", { low: lead.low, high: lead.high });
    return [share, make("small", {}, say("compare.lead_" + lead.grade, { ratio: ratio })), lead.more ? make("small", {}, say("compare.more_runs", { n: lead.more })) : ""];
  }

  /** What differs from the reference; of a result without a ratio, why it has none. */
  function differsCell(each) {
    if (each.missed && each.missed.length) return each.missed.map(missedText);
    const said = (each.differs || []).map(words.reason).join(say("compare.semicolon"));
    if (each.apart) return [make("b", {}, say("compare.apart")), " ", said];
    if ((each.unknown || []).length) return [said, make("small", {}, say("compare.unstated", { names: words.listed(each.unknown.map(words.nameOf)) }))];
    const isAlone = state.choice.axis === "framework" && each.figure.value !== null && each.share === undefined;
    return [said || (isAlone ? say("compare.lone") : "")];
  }

  function missedText(each) {
    const args = { result: words.result(each.item), figure: each.item.figure.text, unit: each.item.figure.unit, reasons: each.reasons.map(words.reason).join(say("compare.semicolon")) };
    return make("small", { class: "pl-missed" }, say("compare.missed", args));
  }

  function runsCell(each) {
    const there = (each.result.runs || []).filter((run) => run.page);
    return there.flatMap((run, index) => [index ? " " : "", make("a", { href: pageAddress(run.page), title: run.id, "aria-label": run.id }, String(index + 1))]);
  }

  function showTable() {
    if (!shown().length) return parts.table.replaceChildren();
    const found = columns();
    const head = make("tr", {}, ...found.map((each) => make("th", { scope: "col", class: each.number && "pl-n" }, each.title)));
    const bodies = state.board.groups.map((group) => make("tbody", {}, make("tr", { class: "pl-compare-group" }, make("th", { colspan: found.length, scope: "rowgroup" }, groupText(group))), ...group.rows.map((each) => row(each, found))));
    return parts.table.replaceChildren(make("table", { class: "pl-compare-grid" }, make("caption", {}, ...captionText()), make("thead", {}, head), ...bodies));
  }

  function groupText(group) {
    const each = group.reference;
    return state.choice.axis === "framework" ? sizeText(each.result, true) : seriesLabel(each);
  }

  function captionText() {
    const choice = state.choice;
    const facts = ["hardware", "precision"].filter((name) => name !== choice.axis && choice[name] !== "all").map((name) => words.value(name, choice[name]));
    const page = (shown()[0].result || {}).page;
    const model = page ? make("a", { href: pageAddress(page) }, modelName(choice.model)) : modelName(choice.model);
    return [model, [""].concat(facts, headOf()).join(say("site.comma"))];
  }

  function row(each, found) {
    const cells = found.map((column, index) => make(index ? "td" : "th", { scope: index ? null : "row", class: column.number ? "pl-n" : column.kind, "data-head": column.title }, ...column.cell(each)));
    return make("tr", { class: (each.result.origin === "published" || each.apart) && "pl-apart", "data-id": each.result.id }, ...cells);
  }

  /* ---- notes ---- */

  function showNotes() {
    const said = [say("compare.level_" + state.choice.level + "_means")];
    if (shown().some((each) => each.result.origin === "published")) said.push(say("compare.note_published"));
    parts.notes.replaceChildren(...said.map((each) => make("p", {}, each)));
  }

  /* ---- start ---- */

  function start([data, decided]) {
    const results = data.results.filter((each) => each.placed !== false);
    known = new Map(results.map((each) => [each.id, each]));
    records = compare.records(results);
    tables = decided;
    frame();
    document.addEventListener("pl-chosen", show);
    window.plChips.over(records, true);
  }

  function failed(error) {
    console.error(error);
    document.documentElement.classList.remove("pl-counting");
    document.getElementById("pl-compare-models").classList.add("pl-needed");
    place.replaceChildren(make("p", { class: "pl-compare-status", role: "alert" }, say(location.protocol === "file:" ? "compare.no_file" : "compare.no_answer")));
  }

  Promise.all(["results", "comparisons"].map(window.plSite.load)).then(start).catch(failed);
})();
