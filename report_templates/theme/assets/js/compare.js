/* The page that compares results: a choice above, a chart and a table below, both from data/results.json. */
(function () {
  "use strict";

  const compare = window.perfledger.compare;
  const FACETS = compare.board.FACETS;
  const REASONS_SHOWN = 12;
  const RUNS_SHOWN = 5;
  const place = document.getElementById("pl-compare");
  const config = JSON.parse(place.dataset.config);
  const words = compare.speaker(config);
  const say = words.say;
  const parts = {};
  let results = [];
  let tables = null;
  let state = null;

  /* ---- small helpers ---- */

  /** An element with attributes and children; text is never markup. */
  function make(tag, attributes, ...children) {
    const found = document.createElement(tag);
    Object.keys(attributes || {}).forEach((name) => {
      const value = attributes[name];
      if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
      else if (value === true) found.setAttribute(name, "");
      else if (value !== false && value !== undefined && value !== null) found.setAttribute(name, value);
    });
    found.append(...children.filter((each) => each !== null && each !== undefined && each !== ""));
    return found;
  }

  const pageAddress = (path) => window.plSite.page(path, config.language);

  /* ---- the choice ---- */

  function wantedNow() {
    const wanted = Object.assign({}, state.choice, { options: Object.assign({}, state.choice.options) });
    FACETS.filter((facet) => compare.board.leftOpen(facet, wanted)).forEach((facet) => { wanted[facet] = [compare.board.ALL]; });
    return wanted;
  }

  /** A choice of the reader. What it makes impossible is replaced without a word; a link's is not. */
  function choose(change) {
    const wanted = Object.assign(wantedNow(), change);
    if (change.ref === undefined) delete wanted.ref;
    state = settled(wanted);
    // What is compared, or of which model, matters more than the rest, which is chosen anew where nothing is left.
    if (!state.board.drawn.length && (change.by || change.model)) state = settled({ by: wanted.by, model: wanted.model, published: wanted.published });
    state.gone = [];
    show();
    remember("pushState");
  }

  function settled(wanted) {
    const found = compare.board.settle(results, wanted, config.suites);
    found.board = compare.board.board(found.results, found.choice, config.suites, tables);
    return found;
  }

  function fromAddress() {
    const wanted = compare.address.read(location.search);
    state = settled(wanted);
    const [hardware] = wanted.hardware || [];
    if (hardware && !wanted.published && !state.choice.hardware.includes(hardware)) {
      const withOthers = settled(Object.assign({}, wanted, { published: true }));
      if (withOthers.choice.hardware.includes(hardware)) state = Object.assign(withOthers, { only: hardware });
    }
    show();
  }

  function remember(how) {
    try {
      history[how](null, "", compare.address.written(state.choice));
    } catch (error) {
      // A browser may keep the address of a page from the disk as it is; the link to copy has the choice all the same.
    }
    window.plSite.switchLanguages(compare.address.written(state.choice));
  }

  /* ---- controls ---- */

  function controls() {
    const choice = state.choice, offers = state.offers;
    const selects = [
      select("by", offers.by, choice.by, (each) => words.facet(each), (value) => choose({ by: value, [value]: [], [choice.by]: [] })),
      select("model", offers.model, choice.model, modelName, (value) => choose({ model: value, framework: [], devices: [], version: [], round: [], batch: [], options: {} })),
      select("level", offers.level, choice.level, (each) => say("compare.level_" + each), (value) => choose({ level: value, precision: [], batch: [] })),
      ...["hardware", "precision", "batch", "version", "round"].filter((facet) => facet !== choice.by).map(facetSelect),
      ...Object.keys(offers.options).map(optionSelect),
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
    return make("div", { class: "pl-compare-control" }, make("label", { for: id }, name.startsWith("option.") ? words.upper(words.optionName(name.slice(7))) : words.facet(name)),
      make("select", { id: id, onchange: (event) => changed(event.target.value.slice(1), event.target.value === "") }, ...options));
  }

  /** One value of a facet, or all where that makes sense; a facet of a single value needs no control. */
  function facetSelect(facet) {
    const offered = state.offers[facet];
    if (offered.length < 2 && !compare.board.needed(facet, state.choice.level)) return null;
    const all = compare.board.needed(facet, state.choice.level) ? null : say("compare.all");
    return select(facet, offered, state.choice[facet][0], (each) => words.value(facet, each), (value, every) => choose({ [facet]: [every ? compare.board.ALL : value] }), all);
  }

  function optionSelect(name) {
    const changed = (value, every) => {
      const options = Object.assign({}, state.choice.options);
      if (every) delete options[name];
      else options[name] = value;
      choose({ options: options });
    };
    return select("option." + name, state.offers.options[name], state.choice.options[name], (each) => words.value(name, each), changed, say("compare.any"));
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
    const button = (name, action) => make("button", { type: "button", class: "pl-compare-button", id: "pl-c-" + name, onclick: action }, say("compare." + name));
    parts.choice = make("form", { class: "pl-compare-choice", "aria-label": say("compare.choice"), onsubmit: (event) => event.preventDefault() });
    parts.gone = make("div", { class: "pl-compare-gone", role: "alert" });
    parts.status = make("p", { class: "pl-compare-status", role: "status" });
    parts.chart = make("figure", { class: "pl-chart", id: "pl-compare-chart" }, make("figcaption", {}, say("compare.whiskers")));
    parts.table = make("div", { class: "pl-scroll pl-compare-table", tabindex: "0", role: "region", "aria-label": say("compare.table") });
    parts.notes = make("div", { class: "pl-compare-notes" });
    parts.out = make("section", { class: "pl-compare-out" });
    parts.copied = make("span", { class: "pl-compare-copied", role: "status" });
    const tools = make("p", { class: "pl-compare-tools" }, button("copy", copyLink), button("csv", () => save("csv", csv())), button("json", () => save("json", json())), parts.copied);
    place.replaceChildren(parts.choice, parts.gone, parts.status, parts.chart, parts.table, tools, parts.notes, parts.out);
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
    showOut();
    parts.copied.textContent = "";
  }

  function goneText(each) {
    const name = each.facet === "option" ? words.optionName(each.name) : each.facet === "ref" ? say("compare.result") : words.facet(each.facet);
    return say("compare.gone", { name: name, value: words.value(each.facet, each.value) });
  }

  function statusText() {
    const { drawn, listed, out } = state.board;
    if (!results.length) return say("compare.no_data");
    if (!state.results.length) return say("compare.none_measured");
    if (!drawn.length) return say("compare.none");
    const apart = listed.filter((each) => each.apart).length;
    const said = [say("compare.status", { n: drawn.length + listed.length })];
    if (apart) said.push(say("compare.status_apart", { n: apart }));
    if (out.length) said.push(say("compare.status_out", { n: out.length }));
    return said.join(config.language === "zh" ? "" : " ");
  }

  /* ---- the chart ---- */

  function several(name) {
    return new Set(shown().map((each) => JSON.stringify(name === "options" ? workloadOf(each.result) : each.result[name]))).size > 1;
  }

  function workloadOf(result) {
    const workload = compare.board.workloadOf(config.suites, state.choice.model);
    return Object.keys(workload).sort().map((name) => [name, compare.board.optionOf(result, name, workload)]).filter((each) => each[1] !== "");
  }

  function workloadText(result) {
    return workloadOf(result).map((each) => words.optionName(each[0]) + " " + words.value(each[0], each[1])).join(say("site.comma"));
  }

  /** Whether results differ in this only if they are at different places. */
  function placed(name) {
    return compare.board.PLACE[state.choice.level].includes(name);
  }

  function xLabel(item) {
    if (state.choice.by !== "framework") return words.value(state.choice.by, item.x);
    const devices = placed("nodes") ? words.size(item.result) : words.value("devices", item.result.devices);
    const sized = placed("batch_size") && several("batch_size") ? say("table.case_of", { devices: devices, batch_size: words.value("batch", item.result.batch_size) }) : devices;
    return placed("workload") && several("options") ? [sized, workloadText(item.result)] : sized;
  }

  function seriesLabel(item) {
    const added = [];
    if (state.choice.by !== "framework") {
      if (state.choice.by !== "devices" && several("devices")) added.push(words.sized(item.result));
      if (state.choice.by !== "batch" && several("batch_size")) added.push(say("compare.batch_n", { n: words.value("batch", item.result.batch_size) }));
      if (several("options")) added.push(workloadText(item.result));
    }
    return [words.framework(item)].concat(added).join(say("site.comma"));
  }

  function unitsOf() {
    return Array.from(new Set(state.board.drawn.map((each) => each.figure.unit).filter(Boolean))).join(say("site.comma"));
  }

  function plotted() {
    const all = state.board.drawn.concat(state.board.absent), choice = state.choice;
    const at = new Map(all.map((each) => [each.series + "\u0000" + each.x, each]));
    const first = (key, value) => all.find((each) => each[key] === value);
    const figures = (key) => state.board.xs.map((x) => at.get(key + "\u0000" + x)).map((each) => (each ? plottedFigure(each) : null));
    return {
      scaling: choice.by === "devices" && state.board.xs.length > 1, title: chartTitle(), unit: headOf(),
      xs: state.board.xs.map((x) => ({ label: placeLabel(first("x", x)), at: Number(x) })),
      series: state.board.series.map((key) => ({ label: seriesLabel(first("series", key)), ink: config.inks[first("series", key).result.framework] || "", figures: figures(key) })),
      across: words.facet(choice.by), ideal: choice.metric === "efficiency" ? 100 : null,
      // The work of one device and that of many are no sizes that one scale tells apart.
      apart: several("devices") && choice.metric === "throughput",
    };
  }

  /** The same place in words, as the title of a panel: `8 devices, batch size 64`. */
  function placeLabel(item) {
    if (state.choice.by !== "framework") return xLabel(item);
    const sized = placed("batch_size") && several("batch_size") ? say("compare.batch_n", { n: words.value("batch", item.result.batch_size) }) : "";
    return [words.sized(item.result), sized, placed("workload") && several("options") ? workloadText(item.result) : ""].filter(Boolean).join(say("site.comma"));
  }

  function plottedFigure(each) {
    const result = each.result, figure = each.figure;
    if (figure.value === null) return { value: null, text: absentWord(each), about: absentReason(each) };
    const percent = state.choice.metric === "efficiency" ? 100 : 1;
    const scaled = (value) => (typeof value === "number" ? value * percent : null);
    const said = [result.batch_size ? say("compare.batch_n", { n: words.value("batch", result.batch_size) }) : "", optionsText(result), result.framework_version || "", lastDay(result)];
    return {
      value: scaled(figure.value), low: scaled(figure.low), high: scaled(figure.high), n: (result.runs || []).length || null,
      text: [figure.text, ["speedup", "efficiency"].includes(state.choice.metric) ? "" : figure.unit].filter(Boolean).join(" "),
      about: said.filter(Boolean).join(say("site.comma")), href: targetOf(each) || "",
    };
  }

  /** The day of the last run; empty where no run states one. */
  function lastDay(result) {
    return (result.runs || []).map((run) => run.date || "").sort().pop() || "";
  }

  function chartTitle() {
    return modelName(state.choice.model) + say("site.colon") + headOf();
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
    window.plChart.draw(parts.chart, compare.chart.spec(plotted()));
    parts.chart.setAttribute("aria-label", described());
  }

  /** What the chart shows, in one sentence; the table says all of it. */
  function described() {
    const said = state.board.drawn.slice(0, 12).map((each) => say("chart.value_of", { name: seriesLabel(each), group: [].concat(xLabel(each)).join(say("site.comma")), value: each.figure.text }));
    return say("compare.described", { metric: headOf(), by: words.facet(state.choice.by) }) + " " + said.join(" ");
  }

  /* ---- the table ---- */

  function columns() {
    const by = state.choice.by;
    const fact = (facet, key, said) => ({ facet: facet, title: words.facet(facet), wanted: facet === by || several(key), text: (each) => said ? said(each.result) : words.value(facet, each.result[key]) });
    const facts = [
      fact("hardware", "hardware"), fact("precision", "precision"),
      Object.assign(fact("devices", "devices", words.size), { wanted: true, number: true }),
      Object.assign(fact("batch", "batch_size"), { wanted: true, number: true }),
      { title: say("table.options"), wanted: several("options") || hasOptions(), text: (each) => optionsText(each.result) },
      Object.assign(fact("version", "framework_version"), { wanted: by === "version" || shown().some((each) => each.result.framework_version) }),
      Object.assign(fact("round", "round"), { wanted: by === "round" || shown().some((each) => each.result.origin === "measured" && each.result.round) }),
    ].filter((each) => each.wanted);
    const framework = { facet: "framework", title: say("table.framework"), cell: frameworkCell };
    // The figure comes before what is known of it: a phone shows the first columns.
    const [figure, ...rest] = figureColumns();
    const compared = facts.filter((each) => each.facet === by);
    return [...compared, framework, figure, ...leadColumns(), ...facts.filter((each) => each.facet !== by), ...rest];
  }

  function shown() {
    return state.board.rows;
  }

  function hasOptions() {
    return shown().some((each) => Object.keys(each.result.options || {}).length);
  }

  function optionsText(result) {
    return Object.keys(result.options || {}).sort().map((name) => (words.optionName(name) + " " + words.value(name, result.options[name]))).join(say("site.comma"));
  }

  /** What a figure is held against: the best of its place, or the first along the dimension. */
  function leadColumns() {
    const any = (test) => shown().some(test);
    return [
      { title: say(state.choice.by === "framework" ? "compare.share_best" : "compare.share_first"), number: true, wanted: any((each) => each.share !== undefined), text: shareText },
      { title: say("compare.behind"), wanted: any((each) => each.behind), cell: behindCell },
      { title: say("compare.differs"), kind: "pl-compare-differs", wanted: any((each) => each.refusal || each.missed || (each.differs || []).length), cell: differsCell },
    ].filter((each) => each.wanted);
  }

  function figureColumns() {
    const any = (test) => shown().some(test);
    return [
      { title: headOf(), number: true, cell: figureCell },
      { title: say("table.range", { unit: unitsOf() }), number: true, wanted: any((each) => each.figure.range), text: (each) => each.figure.range },
      { title: say("table.spread"), number: true, wanted: any((each) => each.figure.spread !== null && each.figure.spread !== undefined), text: spreadText },
      { title: say("table.repeats"), number: true, wanted: any((each) => !each.source), text: (each) => (each.source || !each.figure.repeats ? "" : String(each.figure.repeats)) },
      { title: say("compare.witnesses"), wanted: state.choice.metric === "throughput" && any((each) => each.result.witnesses), cell: witnessCell },
      { title: say(shown().every((each) => each.result.origin === "published") ? "table.source" : "compare.runs"), kind: "pl-runs", cell: runsCell },
    ].filter((each) => each.wanted !== false);
  }

  function frameworkCell(each) {
    const name = words.value("framework", each.result.framework);
    return each.result.origin === "published" ? [name, make("small", {}, say("compare.of_others"))] : [name];
  }

  function spreadText(each) {
    return typeof each.figure.spread === "number" ? "±" + (each.figure.spread * 100).toFixed(1) + "%" : "";
  }

  function firstRun(result) {
    return (result.runs || []).find((each) => each.page);
  }

  function targetOf(each) {
    const run = firstRun(each.result);
    return each.source || each.result.origin === "published" ? (each.result.source || {}).address : run && pageAddress(run.page);
  }

  /** The figure leads to its run; one of others to where they published it. */
  function figureCell(each) {
    if (each.figure.value === null) return [make("span", { class: "pl-absent" }, absentWord(each)), make("small", {}, absentReason(each))];
    const target = targetOf(each);
    const text = each.best ? make("b", {}, each.figure.text) : each.figure.text;
    const marks = ["diverged", "unproven"].filter((name) => each.result[name]).map((name) => make("small", {}, say("metric." + name)));
    return [target ? make("a", { href: target }, text) : text, ...marks];
  }

  /** What a throughput rests on; what others published has no witnesses. */
  function witnessCell(each) {
    const rests = each.result.witnesses;
    if (!rests) return [];
    const means = say("support." + rests + "_means");
    const tone = rests === "agree" ? "pl-tag pl-good" : "pl-tag pl-warn";
    return [make("span", { class: tone, role: "img", title: means, "aria-label": means }, say("support." + rests))];
  }

  function absentReason(each) {
    const reason = each.figure.reason;
    return (reason && reason.text && reason.text[config.language]) || say("compare.not_stated");
  }

  function shareText(each) {
    return typeof each.share === "number" ? (each.share * 100).toFixed(1) + "%" : "";
  }

  /** How far the best is ahead of a figure, and how sure that is. */
  function behindCell(each) {
    const lead = each.behind;
    if (!lead) return [];
    const ratio = lead.low === lead.high ? lead.low : say("compare.ratio_range", { low: lead.low, high: lead.high });
    const more = lead.more ? make("small", {}, say("compare.more_runs", { n: lead.more })) : null;
    const wins = lead.effect ? make("small", {}, say("compare.wins", { n: lead.wins, effect: say("compare.effect_" + lead.effect) })) : null;
    return [say("compare.lead_" + lead.grade, { ratio: ratio }), wins, more].filter(Boolean);
  }

  /** What differs from what a figure is held against; first, that this forbids a ratio. */
  function differsCell(each) {
    const found = (each.differs || []).length || !each.refusal ? each.differs || [] : each.refusal.reasons;
    const said = found.map(words.reason).join(say("compare.semicolon"));
    if (each.missed) return each.missed.map(missedText);
    if (!each.apart) return [said];
    return [make("span", { class: "pl-tag pl-warn" }, say("compare.apart")), " ", said, " ", insteadButton(each)];
  }

  function missedText(each) {
    const args = { result: words.result(each.item), figure: each.item.figure.text, unit: each.item.figure.unit, reasons: each.reasons.map(words.reason).join(say("compare.semicolon")) };
    return make("small", { class: "pl-missed" }, say("compare.missed", args));
  }

  function insteadButton(each) {
    const button = make("button", { type: "button", class: "pl-compare-instead", onclick: () => instead(each.result) }, say("compare.instead"));
    button.setAttribute("aria-label", say("compare.instead") + say("site.colon") + words.result(each));
    return button;
  }

  function runsCell(each) {
    if (each.result.origin === "published") {
      const source = each.result.source || {};
      return [source.address ? make("a", { href: source.address }, words.source(each.result)) : words.source(each.result)];
    }
    const there = (each.result.runs || []).filter((run) => run.page);
    const links = there.slice(0, RUNS_SHOWN).flatMap((run, index) => [index ? " " : "", make("a", { href: pageAddress(run.page), title: run.id, "aria-label": run.id }, String(index + 1))]);
    const more = there.length - RUNS_SHOWN;
    return more > 0 ? links.concat(say("compare.and_more", { n: more })) : links;
  }

  function showTable() {
    parts.table.hidden = !shown().length;
    if (parts.table.hidden) return parts.table.replaceChildren();
    const found = columns();
    const head = make("tr", {}, ...found.map((each) => make("th", { scope: "col", class: each.number && "pl-n" }, each.title)));
    const rows = shown().map((each) => row(each, found));
    parts.table.replaceChildren(make("table", { class: "pl-grid" }, make("caption", {}, ...captionText()), make("thead", {}, head), make("tbody", {}, ...rows)));
    return undefined;
  }

  function captionText() {
    const choice = state.choice;
    const facts = ["hardware", "precision"].filter((facet) => facet !== choice.by && choice[facet].length).map((facet) => words.value(facet, choice[facet][0]));
    const page = (shown()[0].result || {}).page;
    const model = page ? make("a", { href: pageAddress(page) }, modelName(choice.model)) : modelName(choice.model);
    return [model, [""].concat(facts, headOf()).join(say("site.comma"))];
  }

  function row(each, found) {
    const cells = found.map((column, index) => make(index ? "td" : "th", { scope: index ? null : "row", class: column.number ? "pl-n" : column.kind }, ...(column.cell ? column.cell(each) : [column.text(each)])));
    return make("tr", { class: [each.result.origin === "published" && "pl-of-others", each.apart && "pl-apart"].filter(Boolean).join(" ") || null, "data-id": each.result.id }, ...cells);
  }

  /* ---- notes and reasons ---- */

  function showNotes() {
    const notes = state.board.notes;
    const said = words.unknown(notes.unknown).concat(notes.follows.filter((each) => each.name !== "framework_version").map((each) => words.follows(each, state.choice.by)));
    if (state.board.drawn.some((each) => each.result.origin === "published")) said.unshift(say("compare.note_published"));
    if (state.board.unplaced) said.push(say("compare.unplaced", { n: state.board.unplaced, by: words.facet(state.choice.by) }));
    if (state.board.alone) said.push(say("compare.alone", { n: state.board.alone, by: words.facet(state.choice.by) }));
    parts.notes.replaceChildren(...(said.length ? [make("h2", {}, say("compare.notes")), make("ul", {}, ...said.map((each) => make("li", {}, each)))] : []));
  }

  function showOut() {
    const out = state.board.out;
    if (!out.length) return parts.out.replaceChildren();
    const entries = out.map(outEntry);
    const more = entries.slice(REASONS_SHOWN);
    const rest = more.length ? make("details", {}, make("summary", {}, say("compare.more_reasons", { n: more.length })), make("ul", {}, ...more)) : null;
    parts.out.replaceChildren(...[make("h2", {}, say("compare.out")), make("p", {}, say("compare.out_text")), make("ul", {}, ...entries.slice(0, REASONS_SHOWN)), rest].filter(Boolean));
    return undefined;
  }

  function outEntry(each) {
    const reasons = each.reasons.map(words.reason).join(say("compare.semicolon"));
    const alike = words.result(each.item) === words.result(each.against);
    const text = say(alike ? "compare.out_alike" : "compare.out_entry", { result: words.result(each.item), other: words.result(each.against), reasons: reasons });
    return make("li", {}, text, " ", insteadButton(each.item));
  }

  /** What was left out becomes what the others are held against. */
  function instead(result) {
    const change = { ref: result.id, options: {} };
    FACETS.forEach((facet) => {
      const value = compare.board.valueOf(result, facet);
      if (compare.board.allowed(result, facet, state.choice)) return;
      if (!compare.board.several(facet, state.choice.by)) change[facet] = [value];
      else change[facet] = state.choice[facet].concat(value);
    });
    choose(change);
    parts.status.scrollIntoView({ block: "center" });
  }

  /* ---- taking it along ---- */

  function copyLink() {
    const address = linkHere();
    const done = () => { parts.copied.textContent = say("compare.copied"); };
    const failed = () => { parts.copied.textContent = address; };
    if (navigator.clipboard) navigator.clipboard.writeText(address).then(done, failed);
    else failed();
  }

  function linkHere() {
    return new URL(compare.address.written(state.choice), location.href).href;
  }

  function records() {
    return shown().map((each) => each.result);
  }

  function json() {
    return JSON.stringify({ address: linkHere(), choice: state.choice, results: records() }, null, 1) + "\n";
  }

  const COLUMNS = ["id", "origin", "model", "framework", "framework_version", "hardware", "nodes", "devices", "batch_size", "precision", "options", "round", "rule"];

  /** Speed-up and efficiency are kept as plain ratios: 0.95 is no percentage. */
  function unitForPrograms(unit) {
    return ["speedup", "efficiency"].includes(state.choice.metric) ? "" : unit;
  }

  /** The table for a spreadsheet, with figures as they are kept, not as they are shown. */
  function csv() {
    const lines = shown().map((each) => COLUMNS.map((name) => each.result[name]).concat([state.choice.metric, unitForPrograms(each.figure.unit), each.figure.value, each.figure.low, each.figure.high, each.figure.repeats, Boolean(each.apart), (each.behind || {}).grade]));
    return [COLUMNS.concat(["metric", "unit", "value", "low", "high", "repeats", "not_compared", "behind_best"])].concat(lines).map((line) => line.map(field).join(",")).join("\n") + "\n";
  }

  /** A text that a spreadsheet would take for a formula gets a quote in front. */
  function field(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    const safe = /^(?:\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])/.test(text) ? "'" + text : text;
    return /[",\n\r]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
  }

  function save(kind, text) {
    const address = URL.createObjectURL(new Blob([text], { type: kind === "csv" ? "text/csv" : "application/json" }));
    const link = make("a", { href: address, download: "compare-" + state.choice.model + "." + kind });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  /* ---- start ---- */

  function start([data, decided]) {
    results = data.results.filter((each) => each.placed !== false);
    tables = decided;
    frame();
    place.hidden = false;
    fromAddress();
    remember("replaceState");
    window.addEventListener("popstate", () => { fromAddress(); window.plSite.switchLanguages(compare.address.written(state.choice)); });
    compare.shown = () => state;
  }

  function failed(error) {
    console.error(error);
    models.hidden = false;
    place.hidden = false;
    place.replaceChildren(make("p", { class: "pl-compare-gone", role: "alert" }, say(location.protocol === "file:" ? "compare.no_file" : "compare.no_answer")));
  }

  const models = document.getElementById("pl-compare-models");
  models.hidden = true;
  Promise.all(["results", "comparisons"].map(window.plSite.load)).then(start).catch(failed);
})();
