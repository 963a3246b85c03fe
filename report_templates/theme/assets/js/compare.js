/* The page that compares results: a choice above, a chart and a table below, both from data/results.json. */
(function () {
  "use strict";

  const compare = window.perfledger.compare;
  const { ALL, FACETS, PLACE } = compare;
  const CUTS = ["micro_batch", "pipeline_parallel", "tensor_parallel", "data_parallel", "expert_parallel", "context_parallel"];
  const place = document.getElementById("pl-compare");
  const config = JSON.parse(place.dataset.config);
  const words = compare.speaker(config);
  const { say } = words, { make } = window.plSite;
  const parts = {};
  let results = [];
  let tables = null;
  let state = null;

  const pageAddress = (path) => window.plSite.page(path, config.language);

  /* ---- the choice ---- */

  function wantedNow() {
    const wanted = Object.assign({}, state.choice);
    FACETS.filter((facet) => compare.leftOpen(facet, wanted)).forEach((facet) => { wanted[facet] = [ALL]; });
    return wanted;
  }

  /** A choice of the reader. What it makes impossible is replaced without a word; a link's is not. */
  function choose(change) {
    const wanted = Object.assign(wantedNow(), change);
    state = settled(wanted);
    // What is compared, or of which model, matters more than the rest, which is chosen anew where nothing is left.
    if (!state.board.drawn.length && (change.by || change.model)) state = settled({ by: wanted.by, model: wanted.model, published: wanted.published });
    state.gone = [];
    show();
    remember("pushState");
  }

  function settled(wanted) {
    const found = compare.settle(results, wanted);
    found.board = compare.board(found.results, found.choice, tables);
    const first = found.board.rows.length ? found.board.rows[0].result : {};
    const varies = (name) => found.board.rows.some((each) => compare.optionOf(each.result, name) !== compare.optionOf(first, name));
    found.varied = Object.keys(compare.workloadOf(first)).sort().filter(varies); // options of the workload that tell results apart
    return found;
  }

  function fromAddress() {
    const wanted = compare.read(location.search);
    state = settled(wanted);
    const [hardware] = wanted.hardware || [];
    if (hardware && !wanted.published && !state.choice.hardware.includes(hardware)) {
      const withOthers = settled(Object.assign({}, wanted, { published: true }));
      if (withOthers.choice.hardware.includes(hardware)) state = Object.assign(withOthers, { only: hardware });
    }
    show();
  }

  function remember(how) {
    window.plSite.remember(how, compare.written(state.choice));
    travel();
  }

  /** The choice goes along to the other language, and what other pages know of it to these. */
  function travel() {
    window.plSite.switchLanguages(compare.written(state.choice));
    window.plSite.travel({ model: state.choice.model, hardware: state.choice.hardware[0], precision: state.choice.precision[0], devices: state.choice.devices.length === 1 ? state.choice.devices[0] : "" });
  }

  /* ---- controls ---- */

  function controls() {
    const choice = state.choice, offers = state.offers;
    const selects = [
      select("by", offers.by, choice.by, (each) => words.facet(each), (value) => choose({ by: value, [value]: [], [choice.by]: [] })),
      select("model", offers.model, choice.model, modelName, (value) => choose({ model: value, framework: [], devices: [], version: [], round: [], batch: [] })),
      select("level", offers.level, choice.level, (each) => say("compare.level_" + each), (value) => choose({ level: value, precision: [], batch: [] })),
      ...["hardware", "precision", "batch", "version", "round"].filter((facet) => facet !== choice.by).map(facetSelect),
      select("metric", offers.metric, choice.metric, words.metric, (value) => choose({ metric: value })),
    ];
    const sets = Array.from(new Set(["framework", "devices", choice.by])).filter((facet) => offers[facet].length > 1).map(checkboxes);
    const others = make("label", { class: "pl-compare-switch" }, make("input", { type: "checkbox", id: "pl-c-published", checked: choice.published, onchange: (event) => choose({ published: event.target.checked }) }), say("compare.published"));
    const means = make("p", { class: "pl-compare-level", id: "pl-c-level-means" }, say("compare.level_" + choice.level + "_means"));
    return [make("div", { class: "pl-compare-selects" }, ...selects), means, ...sets, others];
  }

  function modelName(id) {
    const title = (results.find((each) => each.suite === id) || { title: {} }).title;
    return title[config.language] || id;
  }

  function select(name, values, chosen, label, changed, all) {
    if (values.length + (all ? 1 : 0) < 1) return null;
    const id = "pl-c-" + name;
    const options = values.map((each) => make("option", { value: "=" + each, selected: each === chosen }, label(each)));
    if (all) options.push(make("option", { value: "", selected: chosen === undefined }, all));
    return make("div", { class: "pl-compare-control" }, make("label", { for: id }, words.facet(name)),
      make("select", { id: id, onchange: (event) => changed(event.target.value.slice(1), event.target.value === "") }, ...options));
  }

  /** One value of a facet, or all where that makes sense; a facet of a single value needs no control. */
  function facetSelect(facet) {
    const offered = state.offers[facet];
    if (offered.length < 2 && !compare.needed(facet, state.choice.level)) return null;
    const all = compare.needed(facet, state.choice.level) ? null : say("compare.all");
    return select(facet, offered, state.choice[facet][0], (each) => words.value(facet, each), (value, every) => choose({ [facet]: [every ? ALL : value] }), all);
  }

  function checkboxes(facet) {
    const offered = state.offers[facet], chosen = state.choice[facet];
    const box = (value) => make("label", {}, make("input", {
      type: "checkbox", id: "pl-c-" + facet + "-" + value, checked: !chosen.length || chosen.includes(value), onchange: (event) => toggle(facet, value, event.target.checked),
    }), words.value(facet, value));
    const every = chosen.length ? make("button", { type: "button", class: "pl-compare-all", id: "pl-c-" + facet + "-all", onclick: () => choose({ [facet]: [] }) }, say("compare.choose_all")) : null;
    return make("fieldset", { class: "pl-compare-set" }, make("legend", {}, words.facet(facet)), ...offered.map(box), every);
  }

  /** None chosen means all, so that the last box cannot be emptied for good. */
  function toggle(facet, value, on) {
    const offered = state.offers[facet];
    const before = state.choice[facet].length ? state.choice[facet] : offered;
    const now = on ? before.concat(value) : before.filter((each) => each !== value);
    choose({ [facet]: now.length === offered.length ? [] : offered.filter((each) => now.includes(each)) });
  }

  /* ---- the page ---- */

  function frame() {
    parts.choice = make("form", { class: "pl-compare-choice", "aria-label": say("compare.choice"), onsubmit: (event) => event.preventDefault() });
    parts.gone = make("div", { class: "pl-compare-gone", role: "alert" });
    parts.status = make("p", { class: "pl-compare-status", role: "status" });
    parts.chart = make("figure", { class: "pl-chart", id: "pl-compare-chart" }, make("figcaption", {}, say("compare.whiskers")));
    parts.table = make("div", { class: "pl-compare-table" });
    parts.notes = make("div", { class: "pl-compare-notes" });
    place.replaceChildren(parts.choice, parts.gone, parts.status, parts.chart, parts.table, parts.notes);
  }

  function show() {
    const focused = document.activeElement && document.activeElement.id;
    parts.choice.replaceChildren(...controls().filter(Boolean));
    if (focused && parts.choice.querySelector("#" + CSS.escape(focused))) document.getElementById(focused).focus();
    const only = state.only ? [say("compare.only_published", { hardware: words.value("hardware", state.only) })] : [];
    parts.gone.replaceChildren(...state.gone.map(goneText).concat(only).map((each) => make("p", {}, each)));
    parts.status.textContent = statusText();
    showTable();
    showChart();
    showNotes();
  }

  function goneText(each) {
    return say("compare.gone", { name: words.facet(each.facet), value: words.value(each.facet, each.value) });
  }

  function statusText() {
    const { rows, elsewhere } = state.board;
    if (!results.length) return say("compare.no_data");
    if (!state.results.length) return say("compare.none_measured");
    if (!rows.length) return say("compare.none");
    const apart = rows.filter((each) => each.apart).length;
    const said = [say("compare.status", { n: rows.length })];
    if (apart) said.push(say("compare.status_apart", { n: apart }));
    if (elsewhere.length) said.push(say("compare.elsewhere", { names: words.listed(elsewhere.map((each) => words.value(state.choice.by, each))) }));
    return said.join(config.language === "zh" ? "" : " ");
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
    if (state.choice.by !== "framework") {
      if (state.choice.by !== "devices" && several("devices")) added.push(words.sized(item.result));
      if (state.choice.by !== "batch" && several("batch_size")) added.push(say("compare.batch_n", { n: words.value("batch", item.result.batch_size) }));
      added.push(workloadText(item.result));
    }
    return [words.framework(item)].concat(added).filter(Boolean).join(say("site.comma"));
  }

  function unitsOf() {
    return Array.from(new Set(state.board.drawn.map((each) => each.figure.unit).filter(Boolean))).join(say("site.comma"));
  }

  /** What the chart shows: numbers of devices make lines, all else is compared in panels. */
  function spec() {
    const { drawn, absent, xs, series } = state.board, all = drawn.concat(absent), by = state.choice.by;
    const at = new Map(all.map((each) => [each.series + "\u0000" + each.x, each]));
    const first = (key, value) => all.find((each) => each[key] === value);
    const head = { title: modelName(state.choice.model) + say("site.colon") + headOf(), unit: headOf() };
    const look = (key) => ({ label: seriesLabel(first("series", key)), ink: config.inks[first("series", key).result.framework] || "" });
    const figures = (x) => series.filter((key) => at.has(key + "\u0000" + x)).map((key) => Object.assign(look(key), plottedFigure(at.get(key + "\u0000" + x))));
    if (by === "devices" && xs.length > 1) {
      const points = (key) => xs.filter((x) => at.has(key + "\u0000" + x)).map((x) => plottedFigure(at.get(key + "\u0000" + x), Number(x))).filter((each) => each.value !== null);
      const lines = series.map((key) => Object.assign(look(key), { points: points(key) })).filter((each) => each.points.length);
      const isShare = state.choice.metric === "efficiency";
      return Object.assign(head, { kind: "lines", ideal: isShare ? 100 : null, near: isShare, series: lines, x: { label: words.facet(by), log2: true, ticks: xs.map((x) => ({ at: Number(x), label: placeLabel(first("x", x)) })) } });
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
    if (state.choice.by !== "framework") return words.value(state.choice.by, item.x);
    const sized = placed("batch_size") && several("batch_size") ? say("compare.batch_n", { n: words.value("batch", item.result.batch_size) }) : "";
    return [words.sized(item.result), sized, placed("workload") ? workloadText(item.result) : ""].filter(Boolean).join(say("site.comma"));
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
    parts.chart.setAttribute("aria-label", say("compare.described", { metric: headOf(), by: words.facet(state.choice.by) }));
  }

  /* ---- the table ---- */

  function shown() {
    return state.board.rows;
  }

  /** A column: its title, the content of its cells, and whether it is shown. */
  function columns() {
    const by = state.choice.by, any = (test) => shown().some(test);
    const along = { title: words.facet(by), cell: (each) => [words.value(by, each.result[compare.KEYS[by]])], number: by === "devices" || by === "batch" };
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
    const open = ["hardware", "precision", "batch_size"].filter((fact) => several(fact) && !placed(fact) && fact !== compare.KEYS[state.choice.by]);
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
    const isAlone = state.choice.by === "framework" && each.figure.value !== null && each.share === undefined;
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
    if (state.choice.by !== "framework") return seriesLabel(each);
    const batch = placed("batch_size") ? say("compare.batch_n", { n: words.value("batch", each.result.batch_size) }) : "";
    return [words.sized(each.result), batch].filter(Boolean).join(say("site.comma"));
  }

  function captionText() {
    const choice = state.choice;
    const facts = ["hardware", "precision"].filter((facet) => facet !== choice.by && choice[facet].length).map((facet) => words.value(facet, choice[facet][0]));
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
    const said = [];
    if (shown().some((each) => each.result.origin === "published")) said.push(say("compare.note_published"));
    if (state.board.unplaced) said.push(say("compare.unplaced", { n: state.board.unplaced, by: words.facet(state.choice.by) }));
    if (state.board.alone) said.push(say("compare.alone", { n: state.board.alone, by: words.facet(state.choice.by) }));
    parts.notes.replaceChildren(...said.map((each) => make("p", {}, each)));
  }

  /* ---- start ---- */

  function start([data, decided]) {
    results = data.results.filter((each) => each.placed !== false);
    tables = decided;
    frame();
    fromAddress();
    remember("replaceState");
    window.addEventListener("popstate", () => { fromAddress(); travel(); });
  }

  function failed(error) {
    console.error(error);
    document.getElementById("pl-compare-models").classList.add("pl-needed");
    place.replaceChildren(make("p", { class: "pl-compare-gone", role: "alert" }, say(location.protocol === "file:" ? "compare.no_file" : "compare.no_answer")));
  }

  Promise.all(["results", "comparisons"].map(window.plSite.load)).then(start).catch(failed);
})();
