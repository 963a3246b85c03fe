/* The chart of the page that compares results: Chart.js with lines from the slowest to the fastest repeat, figures
   beside the bars, and a pattern per framework, so that it can be read without colours. */
(function () {
  "use strict";

  const compare = window.perfledger.compare;
  const SPARE = { light: "#4a5560", dark: "#e3e7ea", hatch: "..", marker: "h" };
  const HATCHES = ["/", "\\", "x", "-", "|", "."];
  /** Markers as frameworks.toml names them, and what Chart.js calls them. */
  const MARKS = ["o", "s", "^", "D", "v", "P", "X", "<", ">", "h", "d", "p"];
  const POINTS = ["circle", "rect", "triangle", "rectRot", "star", "cross", "crossRot", "rectRounded", "dash", "line", "circle", "triangle"];
  const TILE = 8;
  let chart = null;

  function colour(name) {
    return getComputedStyle(document.body).getPropertyValue(name).trim();
  }

  function isDark() {
    return document.body.getAttribute("data-md-color-scheme") === "slate";
  }

  /** Ink, pattern and mark of a series: a framework keeps its own; another series in its ink differs in pattern and mark. */
  function looks(series, inks) {
    const used = new Map();
    return series.map((each) => {
      const own = inks[each.framework] || SPARE;
      // By ink: NGC's build of a framework has the framework's own.
      const nth = used.get(own.light) || 0;
      used.set(own.light, nth + 1);
      const mark = (MARKS.indexOf(own.marker) + nth + MARKS.length) % MARKS.length;
      return { ink: own[isDark() ? "dark" : "light"], hatch: nth ? HATCHES[(nth - 1) % HATCHES.length] : own.hatch, mark: POINTS[mark], dash: nth ? [6, 2 + nth] : [] };
    });
  }

  function pattern(context, look) {
    if (!look.hatch) return look.ink;
    const scale = window.devicePixelRatio || 1;
    const tile = document.createElement("canvas");
    tile.width = tile.height = TILE * scale;
    const pen = tile.getContext("2d");
    pen.scale(scale, scale);
    pen.fillStyle = look.ink;
    pen.fillRect(0, 0, TILE, TILE);
    pen.strokeStyle = pen.fillStyle = isDark() ? "rgba(0,0,0,.6)" : "rgba(255,255,255,.85)";
    pen.lineWidth = 1.4;
    strokes(pen, look.hatch);
    const found = context.createPattern(tile, "repeat");
    found.setTransform(new DOMMatrix().scale(1 / scale));
    return found;
  }

  function strokes(pen, hatch) {
    const line = (...ends) => { pen.beginPath(); pen.moveTo(ends[0], ends[1]); pen.lineTo(ends[2], ends[3]); pen.stroke(); };
    const rising = () => [-TILE, 0, TILE].forEach((at) => line(at, TILE, at + TILE, 0));
    const falling = () => [-TILE, 0, TILE].forEach((at) => line(at, 0, at + TILE, TILE));
    if (hatch.includes("/") || hatch.includes("x")) rising();
    if (hatch.includes("\\") || hatch.includes("x")) falling();
    if (hatch.includes("-") || hatch.includes("+")) line(0, TILE / 2, TILE, TILE / 2);
    if (hatch.includes("|") || hatch.includes("+")) line(TILE / 2, 0, TILE / 2, TILE);
    if (/[.oO*]/.test(hatch)) { pen.beginPath(); pen.arc(TILE / 2, TILE / 2, 1.6, 0, 7); pen.fill(); }
  }

  /** Lines from the slowest to the fastest repeat, the figures, and a word where there is none. */
  const repeats = {
    id: "repeats",
    afterDatasetsDraw(drawn) {
      const pen = drawn.ctx;
      pen.save();
      pen.font = "600 11px " + drawn.options.font.family;
      pen.strokeStyle = pen.fillStyle = drawn.options.color;
      pen.lineWidth = 1.5;
      drawn.taken = [];
      drawn.data.datasets.forEach((set, index) => {
        if (drawn.isDatasetVisible(index) && set.figures) drawn.getDatasetMeta(index).data.forEach((element, at) => annotate(pen, drawn, element, set.figures[at]));
      });
      pen.restore();
    },
  };

  function annotate(pen, drawn, element, figure) {
    if (!figure) return;
    const scale = drawn.scales.y;
    let top = figure.value === null ? scale.getPixelForValue(0) : element.y;
    if (figure.low !== null && figure.high !== null && figure.high > figure.low) {
      const high = scale.getPixelForValue(figure.high), low = scale.getPixelForValue(figure.low);
      whisker(pen, element.x, low, high);
      top = Math.min(top, high);
    }
    written(pen, drawn.taken, element, top, figure);
  }

  function whisker(pen, x, low, high) {
    pen.beginPath();
    pen.moveTo(x, low);
    pen.lineTo(x, high);
    [low, high].forEach((y) => { pen.moveTo(x - 4, y); pen.lineTo(x + 4, y); });
    pen.stroke();
  }

  /** The figure above its bar; turned where bars are too slim for it, and left to the table where it would hide another. */
  function written(pen, taken, element, top, figure) {
    if (!figure.label) return;
    const wide = pen.measureText(figure.label).width;
    const slim = element.width !== undefined && wide > element.width * 1.15 + 6;
    const box = slim ? [element.x - 6, top - 5 - wide, element.x + 6, top - 5] : [element.x - wide / 2, top - 17, element.x + wide / 2, top - 5];
    if (taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) return;
    taken.push(box);
    pen.save();
    pen.translate(element.x, top - 5);
    if (slim) pen.rotate(-Math.PI / 2);
    pen.textAlign = slim ? "left" : "center";
    pen.textBaseline = slim ? "middle" : "bottom";
    pen.fillText(figure.label, 0, 0);
    pen.restore();
  }

  /** `shown`: {kind, xs, series: [{label, framework, values}], unit, across, up, ideal, language}; redraws in place. */
  function draw(canvas, shown, inks) {
    if (chart) chart.destroy();
    const look = looks(shown.series, inks);
    const lines = shown.kind === "lines";
    const sets = shown.series.map((each, index) => dataset(canvas, shown, each, look[index], lines));
    if (shown.ideal) sets.push(ideal(shown));
    chart = new window.Chart(canvas, {
      type: lines ? "line" : "bar",
      data: { labels: shown.xs.map((each) => each.label), datasets: sets },
      options: options(shown, lines),
      plugins: [repeats],
    });
    return look;
  }

  /** The look of a series, for the legend. */
  function swatch(look, kind) {
    const found = document.createElement("canvas"), scale = window.devicePixelRatio || 1;
    found.width = 22 * scale;
    found.height = 12 * scale;
    found.setAttribute("aria-hidden", "true");
    const pen = found.getContext("2d");
    pen.scale(scale, scale);
    if (kind === "bars") {
      pen.fillStyle = pattern(pen, look);
      pen.fillRect(0, 0, 22, 12);
    } else {
      pen.strokeStyle = pen.fillStyle = look.ink;
      pen.lineWidth = 2;
      pen.setLineDash(look.dash);
      pen.beginPath();
      pen.moveTo(0, 6);
      pen.lineTo(22, 6);
      pen.stroke();
      pen.setLineDash([]);
      window.Chart.helpers.drawPoint(pen, { pointStyle: look.mark, radius: 4, borderWidth: 2 }, 11, 6);
    }
    return found;
  }

  function dataset(canvas, shown, series, look, lines) {
    const points = series.figures.map((figure, index) => (lines ? { x: shown.xs[index].at, y: figure ? figure.value : null } : figure ? figure.value : null));
    const fill = lines ? look.ink : pattern(canvas.getContext("2d"), look);
    return {
      label: series.label, data: points, figures: series.figures, backgroundColor: fill, borderColor: look.ink, borderWidth: lines ? 2 : 1.5,
      pointStyle: look.mark, pointRadius: 5, borderDash: look.dash, maxBarThickness: 64, spanGaps: true, minBarLength: 1,
    };
  }

  function ideal(shown) {
    const ends = [Math.min(...shown.xs.map((each) => each.at)), Math.max(...shown.xs.map((each) => each.at))];
    return { label: shown.ideal, data: ends.map((at) => ({ x: at, y: at })), borderColor: colour("--md-default-fg-color--light"), borderDash: [4, 3], borderWidth: 1, pointRadius: 0, order: 9 };
  }

  function options(shown, lines) {
    const ink = colour("--md-default-fg-color"), faint = colour("--md-default-fg-color--lightest");
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    return {
      responsive: true, maintainAspectRatio: false, animation: still ? false : { duration: 200 }, locale: shown.language, color: ink,
      font: { family: getComputedStyle(document.body).fontFamily }, layout: { padding: { top: 4 } },
      scales: { x: across(shown, lines, ink), y: up(shown, ink, faint) },
      plugins: {
        legend: { display: false },
        tooltip: { callbacks: { label: (at) => at.dataset.label + shown.colon + said(at.dataset.figures && at.dataset.figures[at.dataIndex], shown) } },
      },
    };
  }

  function said(figure, shown) {
    return figure && figure.text ? figure.text + (shown.spaced ? " " + shown.unit : "") : "";
  }

  function across(shown, lines, ink) {
    const title = { display: true, text: shown.across, color: ink };
    if (!lines) return { title: title, grid: { display: false }, ticks: { color: ink, autoSkip: false } };
    const most = Math.max(...shown.xs.map((each) => each.at));
    const at = (scale) => { scale.ticks = shown.xs.map((each) => ({ value: each.at, label: each.label })); };
    return { type: "linear", min: 0, max: most * 1.06, title: title, grid: { display: false }, ticks: { color: ink }, afterBuildTicks: at };
  }

  /** From zero, with room above the highest repeat for its figure. */
  function up(shown, ink, faint) {
    const values = shown.series.flatMap((each) => each.figures.filter(Boolean).flatMap((one) => [one.value, one.high])).filter((each) => each !== null && each !== undefined);
    const highest = Math.max(0, ...values, ...(shown.ideal ? shown.xs.map((each) => each.at) : []));
    return { beginAtZero: true, suggestedMax: highest * (shown.crowded && shown.kind === "bars" ? 1.25 : 1.12) || 1, title: { display: true, text: shown.up, color: ink }, grid: { color: faint }, border: { display: false }, ticks: { color: ink, maxTicksLimit: 6 } };
  }

  function clear() {
    if (chart) chart.destroy();
    chart = null;
  }

  compare.chart = { draw: draw, swatch: swatch, clear: clear, present: () => chart };
})();
