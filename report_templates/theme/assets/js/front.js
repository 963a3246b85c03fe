/* The front page and the pages of hardware: the columns of a table that have a figure, and the notes and the chart of a
   row. Chips choose the hardware, axis, devices and precision. */
(function () {
  "use strict";

  const charts = document.currentScript.src.replace(/front\.js/, "charts.js");
  const axes = [...document.querySelectorAll(".pl-axis")];
  const rowsOf = (axis) => [...axis.querySelectorAll(".pl-row")];

  /** Close rows that are not shown, and leave out columns without a figure in those that are. */
  function follow() {
    axes.filter(window.plChips.shows).forEach((axis) => {
      const rows = rowsOf(axis), shown = rows.filter(window.plChips.shows);
      rows.filter((row) => !shown.includes(row)).forEach((row) => toggle(row, false));
      axis.querySelectorAll("thead th.pl-n").forEach((head, at) => {
        head.hidden = shown.every((row) => row.cells[at + 1].classList.contains("pl-absent"));
        rows.forEach((row) => { row.cells[at + 1].hidden = head.hidden; });
      });
    });
  }

  /* ---- a row's notes and chart ---- */

  function toggle(row, open) {
    const button = row.querySelector(".pl-sure button"), detail = row.nextElementSibling;
    if (!button || button.getAttribute("aria-expanded") === String(open)) return;
    button.setAttribute("aria-expanded", String(open));
    detail.classList.toggle("pl-open", open);
    if (open && row.dataset.chart) withCharts(() => draw(detail.querySelector(".pl-plot"), spec(row)));
  }

  /** Charts are drawn by a script that is loaded with the first of them: most readers look at the table only. */
  function withCharts(then) {
    if (window.plChart) return then();
    const script = document.createElement("script");
    script.src = charts;
    script.addEventListener("load", then);
    document.head.append(script);
  }

  function draw(plot, data) {
    if (plot.childElementCount || !data.panels.length) return;
    const title = document.createElement("p");
    title.className = "pl-caption";
    title.textContent = `${data.title} (${data.unit})`;
    plot.append(title);
    window.plChart.draw(plot, data);
  }

  /** The chart of a row: the same model and precision on each number of devices, a small panel for each. */
  function spec(row) {
    const alike = rowsOf(row.closest(".pl-axis")).filter((line) => ["suite", "fPrecision", "unit"].every((name) => line.dataset[name] === row.dataset[name]));
    const panels = alike.map((line) => ({ label: line.dataset.label, rows: dots(line) })).filter((panel) => panel.rows.length);
    return { kind: "dots", title: row.dataset.chart, unit: row.dataset.unit, better: "higher", panels: panels };
  }

  function dots(line) {
    return Array.from(line.querySelectorAll(".pl-share[data-each]"), (cell) => {
      const { name, ink, each: value, low, high, n, text } = cell.dataset, link = cell.querySelector("a");
      const written = Number(value).toLocaleString("en-US", { maximumSignificantDigits: 4 }) + " " + line.dataset.unit;
      const about = [text, cell.title].filter(Boolean).join("; "); // of the whole job
      return { label: name, ink: ink, value: Number(value), low: Number(low), high: Number(high), n: Number(n), text: written, about: about, href: link ? link.href : "" };
    });
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".pl-sure button");
    if (button) toggle(button.closest("tr"), button.getAttribute("aria-expanded") !== "true");
  });
  if (!window.plChips) return;
  document.addEventListener("pl-chosen", follow);
  follow();
})();
