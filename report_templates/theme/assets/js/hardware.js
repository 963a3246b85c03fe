/* Hardware by model: the figures of the chosen sheet as multiples of the chosen reference. */
(function () {
  "use strict";

  const sheets = [...document.querySelectorAll(".pl-sheet")];
  if (!sheets.length) return;

  /** A multiple as the page writes it: Python rounds a tie to the even digit. */
  const written = (ratio) => ((ratio * 8) % 4 === 1 ? ratio - 0.005 : ratio).toFixed(2) + "×";

  /** The chosen figure of a cell: throughput, or that of one watt or of what an hour costs; NaN where it is not stated. */
  function figureOf(cell, figure) {
    const throughput = Number(cell.dataset.value);
    return figure === "throughput" ? throughput : throughput / (Number(cell.parentNode.dataset[figure]) * Number(cell.closest(".pl-sheet").dataset.devices));
  }

  function draw() {
    const { figure, reference } = window.plChips.choice, sheet = sheets.find(window.plChips.shows);
    const rows = [...sheet.querySelectorAll(".pl-grid tr[data-hardware]")], base = rows.find((row) => row.dataset.hardware === reference);
    const unit = sheet.parentNode.getAttribute(`data-unit-${figure}`);
    sheet.querySelectorAll("th [data-unit]").forEach((each) => { each.textContent = each.dataset.unit + unit; });
    rows[0].querySelectorAll("td").forEach((_, column) => {
      const cells = rows.map((row) => row.cells[column + 1]).filter((cell) => cell.dataset.value !== undefined);
      const most = Math.max(...cells.map((cell) => figureOf(cell, figure)).filter((each) => each > 0));
      cells.forEach((cell) => fill(cell, figure, base ? figureOf(base.cells[column + 1], figure) : NaN, most, base ? base.dataset.at : ""));
    });
  }

  function fill(cell, name, base, most, at) {
    const figure = figureOf(cell, name), link = cell.querySelector("a");
    link.dataset.text = link.dataset.text || link.textContent;
    link.textContent = name === "throughput" ? link.dataset.text : figure > 0 ? figure.toPrecision(4) : "–";
    cell.querySelector("b").textContent = figure / base > 0 ? written(figure / base) : "";
    cell.querySelectorAll("[data-unsure]").forEach((each) => { each.hidden = !cell.dataset[each.dataset.unsure].split(" ").includes(at); });
    cell.style.setProperty("--s", figure > 0 ? ((100 * figure) / most).toFixed(1) : "0");
  }

  document.addEventListener("pl-chosen", draw);
  draw();
})();
