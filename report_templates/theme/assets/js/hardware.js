/* Hardware by model: shows the sheet of the reader's choice, and its multiples of the chosen reference. All sheets are in
   the page; the address keeps the choice. */
(function () {
  "use strict";

  const form = document.getElementById("pl-hardware");
  if (!form) return;
  const FIELDS = ["precision", "devices", "round"]; // which name a sheet; of some choices there is none
  const sheets = [...document.querySelectorAll(".pl-sheet")];
  const figures = [...form.figure.options].map((option) => option.value);
  let shown = { sheet: sheets[0], reference: sheets[0].dataset.reference, figure: figures[0] };

  const rowsOf = (sheet) => [...sheet.querySelectorAll(".pl-grid tr[data-hardware]")];
  const ranked = (sheet) => rowsOf(sheet).filter((row) => row.querySelector("[data-value]")).map((row) => row.dataset.hardware);

  /** The sheet that fits as many of some wishes as there is one for, the most important first; and what fits none. */
  function settle(wishes) {
    const gone = [];
    let left = sheets;
    wishes.forEach(([name, value]) => {
      const fitting = left.filter((each) => each.dataset[name] === value);
      if (fitting.length) left = fitting;
      else gone.push([name, value]);
    });
    return { sheet: left[0], gone };
  }

  function read() {
    const given = new URLSearchParams(location.search);
    const { sheet, gone } = settle(FIELDS.filter((name) => given.has(name)).map((name) => [name, given.get(name)]));
    const offered = { reference: ranked(sheet), figure: figures };
    Object.keys(offered).filter((name) => given.has(name) && !offered[name].includes(given.get(name)))
      .forEach((name) => gone.push([name, given.get(name)]));
    show(sheet, given.get("reference"), given.get("figure"));
    complain(gone);
  }

  function change(name) {
    const wanted = [...FIELDS].sort((one, other) => (other === name) - (one === name));
    show(settle(wanted.map((each) => [each, form[each].value])).sheet, form.reference.value, form.figure.value);
    complain([]);
    try {
      history.pushState(null, "", address());
    } catch (error) {
      // A browser may keep the address of a page from the disk as it is.
    }
    window.plSite.switchLanguages(location.search);
  }

  function address() {
    const given = new URLSearchParams();
    const own = shown.sheet.dataset;
    if (shown.sheet !== sheets[0]) FIELDS.forEach((name) => given.set(name, own[name]));
    if (shown.reference !== own.reference) given.set("reference", shown.reference);
    if (shown.figure !== figures[0]) given.set("figure", shown.figure);
    return "?" + given.toString();
  }

  function complain(gone) {
    const label = (name) => form[name].closest("label").firstChild.textContent.trim();
    const texts = gone.map(([name, value]) => form.dataset.gone.replace("{name}", label(name)).replace("{value}", value));
    form.querySelector(".pl-choose-said").textContent = texts.join(" ");
  }

  function show(sheet, reference, figure) {
    const there = ranked(sheet);
    shown = {
      sheet,
      reference: there.includes(reference) ? reference : sheet.dataset.reference,
      figure: figures.includes(figure) ? figure : figures[0],
    };
    sheets.forEach((each) => { each.hidden = each !== sheet; });
    [...form.reference.options].forEach((option) => { option.hidden = option.disabled = !there.includes(option.value); });
    FIELDS.forEach((name) => { form[name].value = sheet.dataset[name]; });
    form.reference.value = shown.reference;
    form.figure.value = shown.figure;
    draw();
  }

  /* ---- the figures of a sheet ---- */

  /** A multiple as the page writes it: Python rounds a tie to the even digit. */
  const written = (ratio) => ((ratio * 8) % 4 === 1 ? ratio - 0.005 : ratio).toFixed(2) + "×";

  /** The chosen figure of a cell: throughput, or that of one watt or of what an hour costs; NaN where it is not stated. */
  function figureOf(cell) {
    const throughput = Number(cell.dataset.value);
    return shown.figure === figures[0] ? throughput : throughput / (Number(cell.parentNode.dataset[shown.figure]) * Number(shown.sheet.dataset.n));
  }

  function draw() {
    const rows = rowsOf(shown.sheet), unit = form.figure.selectedOptions[0].dataset.unit;
    const reference = rows.find((row) => row.dataset.hardware === shown.reference);
    shown.sheet.querySelectorAll("th [data-unit]").forEach((each) => { each.textContent = each.dataset.unit + unit; });
    rows[0].querySelectorAll("td").forEach((_, column) => {
      const cells = rows.map((row) => row.cells[column + 1]).filter((cell) => cell.dataset.value !== undefined);
      const most = Math.max(...cells.map(figureOf).filter((each) => each > 0));
      const base = reference ? figureOf(reference.cells[column + 1]) : NaN;
      cells.forEach((cell) => fill(cell, base, most, reference ? reference.dataset.at : ""));
    });
  }

  function fill(cell, base, most, at) {
    const figure = figureOf(cell), link = cell.querySelector("a");
    link.dataset.text = link.dataset.text || link.textContent;
    link.textContent = shown.figure === figures[0] ? link.dataset.text : figure > 0 ? figure.toPrecision(4) : "–";
    cell.querySelector("b").textContent = figure / base > 0 ? written(figure / base) : "";
    cell.querySelectorAll("[data-unsure]").forEach((each) => { each.hidden = !cell.dataset[each.dataset.unsure].split(" ").includes(at); });
    cell.style.setProperty("--s", figure > 0 ? ((100 * figure) / most).toFixed(1) : "0");
  }

  form.addEventListener("change", (event) => change(event.target.name));
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("popstate", read);
  read();
  window.plSite.switchLanguages(location.search);
})();
