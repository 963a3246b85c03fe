/* Charts that can be pointed at: `plChart.draw(element, spec)` draws a record of ingest/site/render/chart.py as SVG, as
   wide as its place, with tooltips, links, a legend that hides series, and files to save. The static picture beside it
   stays for print and for readers without scripts. */
(() => {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const INK = "currentColor";
  const PAPER = "var(--md-default-bg-color)";
  const FONT = 12, LETTER = 6.7, ROW = 24, HEAD = 28, VALUE = 62, GUTTER = 28;
  const BOLD = 1.08; // how much wider
  const found = document.getElementById("pl-words");
  const words = found ? JSON.parse(found.textContent) : {};
  const live = new WeakMap(); // element -> what is drawn in it
  const say = (key, values = {}) => (words["chart_" + key] || "").replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));

  function node(tag, attributes = {}, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  const colour = (ink) => (ink ? `var(--pl-ink-${ink}, ${INK})` : INK);
  const size = (text) => LETTER * [...text].reduce((sum, each) => sum + (each > "\u2e7f" ? 1.85 : 1), 0);
  const known = (values) => values.filter((each) => typeof each === "number" && Number.isFinite(each));
  const number = (value) => value.toLocaleString("en-US", { maximumSignificantDigits: 10 });

  /** A written value on the chart: its first number with four digits; the tooltip has all of them. */
  function shortened(text) {
    const at = /^(\d[\d,]*)(?:\.(\d+))?(?![\d.])([%×]?)/.exec(text || "");
    if (!at) return text || "";
    const whole = at[1].replace(/,/g, ""), value = Number(whole + "." + (at[2] || 0));
    const digits = Math.max(0, (value ? 3 - Math.floor(Math.log10(value)) : 3));
    if ((at[2] || "").length <= digits) return at[0];
    const rounded = Number(value.toFixed(Math.min(digits, 20)));
    const places = Math.max(0, 3 - Math.floor(Math.log10(rounded || 1)));
    return rounded.toLocaleString("en-US", { minimumFractionDigits: Math.min(digits, places), maximumFractionDigits: Math.min(digits, places) }) + at[3];
  }

  /** Round ticks from below the least to above the most value. */
  function nice(least, most, count = 5) {
    if (!(least < most)) [least, most] = [Math.min(least, 0), Math.max(most, 0) || 1];
    const rough = (most - least) / (count - 1), unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [1, 2, 2.5, 5, 10].find((each) => unit * each >= rough * 0.999);
    const first = Math.floor(least / step + 1e-9), last = Math.ceil(most / step - 1e-9);
    return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
  }

  /** Rising places at least `gap` apart and none beyond `most`, near their rising values. */
  function apart(values, gap, most) {
    const places = [];
    for (const value of values) places.push(places.length ? Math.max(value, places[places.length - 1] + gap) : value);
    for (let at = places.length - 1, end = most; at >= 0; end = places[at] - gap, at -= 1) places[at] = Math.min(places[at], end);
    return places;
  }

  function text(x, y, said, more = {}) {
    return node("text", { x: x, y: y, fill: INK, "font-size": FONT, "dominant-baseline": "central", ...more }, said);
  }

  function rule(x1, y1, x2, y2, more = {}) {
    return node("line", { x1: x1, y1: y1, x2: x2, y2: y2, stroke: INK, ...more });
  }

  const faint = { "stroke-opacity": 0.15 };

  function cut(said, wide) {
    if (size(said) <= wide) return said;
    const letters = [...said];
    while (letters.length && size(letters.join("")) + LETTER > wide) letters.pop();
    return letters.join("").trimEnd() + "…";
  }

  /** A value that can be pointed at, reached by keyboard, and followed to where it comes from. */
  function mark(chart, item, group, x, y, ...shapes) {
    const lines = [item.label || group, item.text, ...(item.label ? [group] : []), item.about, repeats(item), item.step].filter(Boolean);
    const made = node("a", { class: "pl-mark", tabindex: 0, "aria-label": lines.join(say("comma")) });
    if (item.href) made.setAttribute("href", item.href);
    else made.setAttribute("role", "img");
    made.append(...shapes);
    const show = () => tip(chart, lines.concat(item.href ? [say("open")] : []), x, y);
    made.addEventListener("pointerenter", show);
    made.addEventListener("focus", show);
    made.addEventListener("pointerleave", () => hide(chart));
    made.addEventListener("blur", () => hide(chart));
    // A finger points first, and follows the link with its second touch.
    made.addEventListener("pointerdown", (event) => { made.plTouched = event.pointerType === "touch" && chart.pointed !== item; chart.pointed = item; });
    made.addEventListener("click", (event) => { if (made.plTouched) { event.preventDefault(); show(); } });
    return made;
  }

  function repeats(item) {
    const range = typeof item.low === "number" && item.high > item.low ? say("range", { low: number(Number(item.low.toPrecision(4))), high: number(Number(item.high.toPrecision(4))) }) : "";
    const runs = item.n === 1 ? say("single") : item.n ? say("runs", { n: item.n }) : "";
    return [runs, range].filter(Boolean).join(say("comma"));
  }

  function tip(chart, lines, x, y) {
    chart.tip.replaceChildren(...lines.map((line, at) => make(at ? "span" : "b", {}, line)));
    chart.tip.hidden = false;
    const wide = chart.tip.offsetWidth, high = chart.tip.offsetHeight;
    const left = Math.max(0, Math.min(x - wide / 2, chart.width - wide));
    chart.tip.style.left = left + "px";
    chart.tip.style.top = (y - high - 14 + chart.room.offsetTop >= 0 && y > high + 14 ? y - high - 14 : y + 16) + "px";
  }

  function hide(chart) {
    chart.tip.hidden = true;
  }

  /* ---- dots ---- */

  const seriesOf = (item) => item.series || item.label;

  function dots(chart, spec) {
    const panels = spec.panels.map((panel) => ({ label: panel.label, rows: panel.rows.filter((row) => !chart.hidden.has(seriesOf(row))) })).filter((panel) => panel.rows.length);
    const rows = panels.flatMap((panel) => panel.rows);
    const names = Math.max(0, ...rows.map((row) => size(row.label))) + 10;
    const half = (chart.width - GUTTER) / 2, heads = Math.max(0, ...panels.map((panel) => size(panel.label) * BOLD));
    const columns = panels.length >= 4 && half - names - VALUE > 170 && heads <= half ? 2 : 1;
    const across = (chart.width - GUTTER * (columns - 1)) / columns;
    const stacked = across < 420 || names > most(chart); // long names are above their rows, so that the scale keeps its length
    const label = stacked ? 4 : names; // half of the first tick’s label
    const high = stacked ? ROW + 14 : ROW;
    const mostOf = (some) => Math.max(0, ...known(some.flatMap((row) => [row.value, row.high]))) || 1;
    const all = mostOf(rows);
    const drawn = [];
    let top = 0;
    for (let at = 0; at < panels.length; at += columns) {
      const line = panels.slice(at, at + columns);
      line.forEach((panel, column) => {
        const last = at + column + columns >= panels.length;
        drawn.push(onePanel(chart, panel, { left: column * (across + GUTTER), top: top, start: label, wide: across - label - VALUE, high: high, stacked: stacked, most: spec.apart ? mostOf(panel.rows) : all, unit: last ? spec.unit : "", labelled: !spec.apart }));
      });
      const foot = at + columns * 2 <= panels.length ? 8 : spec.apart ? 22 : 36;
      top += HEAD + high * Math.max(...line.map((panel) => panel.rows.length)) + foot;
    }
    return [top, drawn];
  }

  function onePanel(chart, panel, room) {
    const ticks = nice(0, room.most).filter((tick) => tick <= room.most);
    const at = (value) => room.left + room.start + (value / room.most) * room.wide;
    const bottom = room.top + HEAD + room.high * panel.rows.length;
    const made = node("g", {}, text(room.left, room.top + HEAD / 2, cut(panel.label, room.start + room.wide + VALUE), { "font-weight": 650 }));
    const few = room.wide < 260 ? 2 : 1;
    ticks.forEach((tick, nth) => {
      made.append(rule(at(tick), room.top + HEAD, at(tick), bottom, faint));
      if (room.unit && room.labelled && nth % few === 0) made.append(text(at(tick), bottom + 11, number(tick), { "text-anchor": "middle", "font-size": 11 }));
    });
    if (room.unit) made.append(text(room.left + room.start + room.wide / 2, bottom + (room.labelled ? 27 : 12), room.unit, { "text-anchor": "middle", "font-size": 11 }));
    panel.rows.forEach((row, nth) => made.append(oneRow(chart, panel, row, at, room, room.top + HEAD + room.high * (nth + 0.5))));
    return made;
  }

  function oneRow(chart, panel, row, at, room, middle) {
    const y = room.stacked ? middle + 8 : middle;
    const ink = colour(row.ink), zero = at(0);
    const name = text(room.left, room.stacked ? middle - 9 : y, cut(row.label, room.stacked ? room.wide + VALUE : room.start - 8));
    const area = node("rect", { x: room.left, y: middle - room.high / 2, width: room.start + room.wide + VALUE, height: room.high, fill: "transparent" });
    if (typeof row.value !== "number") return mark(chart, row, panel.label, zero, y, area, name, text(zero + 6, y, row.text || ""));
    const place = at(row.value), end = Math.max(place, typeof row.high === "number" ? at(row.high) : place);
    const shapes = [area, name, rule(zero, y, place, y, { stroke: ink, "stroke-opacity": 0.4 })];
    if (typeof row.low === "number" && row.high > row.low) shapes.push(rule(at(row.low), y, at(row.high), y, { stroke: ink, "stroke-width": 3.5, "stroke-linecap": "round" }));
    shapes.push(node("circle", { cx: place, cy: y, r: 5, fill: row.n === 1 ? PAPER : ink, stroke: ink, "stroke-width": 2 }));
    shapes.push(text(end + 10, y, shortened(row.text), { "font-weight": 600 }));
    return mark(chart, row, panel.label, place, y, ...shapes);
  }

  /* ---- lines ---- */

  function lines(chart, spec) {
    const shown = spec.series.filter((line) => !chart.hidden.has(line.label) && line.points.length);
    const points = shown.flatMap((line) => line.points);
    const named = chart.width >= 520;
    const right = named ? Math.min(Math.max(0, ...spec.series.map((line) => size(line.label) * BOLD)) + 22, most(chart)) : 14;
    const place = (x) => (spec.x.log2 ? Math.log2(x) : x);
    const given = spec.x.ticks || [];
    const xs = known(points.map((point) => place(point.x)).concat(given.map((tick) => place(tick.at))));
    const marks = given.length ? given : nice(Math.min(...xs), Math.max(...xs)).map((at) => ({ at: at, label: number(at) }));
    const ends = [...xs, ...(given.length ? [] : marks.map((tick) => tick.at))];
    const all = known(points.flatMap((point) => [point.y, point.low, point.high]).concat(spec.ideal));
    const ticks = nice(spec.near ? Math.min(...all) : 0, Math.max(...all));
    const left = Math.max(...ticks.map((tick) => size(number(tick)))) + 8;
    const frame = { left: left, right: chart.width - right, top: 30, bottom: 290, x0: Math.min(...ends), x1: Math.max(...ends), y0: ticks[0], y1: ticks[ticks.length - 1] };
    const inset = 12;
    frame.x = (x) => frame.left + inset + ((place(x) - frame.x0) / (frame.x1 - frame.x0 || 1)) * (frame.right - frame.left - 2 * inset);
    frame.y = (y) => frame.bottom - ((y - frame.y0) / (frame.y1 - frame.y0)) * (frame.bottom - frame.top);
    const drawn = grid(frame, ticks, spec.unit);
    let free = -Infinity;
    for (const tick of marks) {
      const half = size(tick.label) / 2;
      if (frame.x(tick.at) - half < free) continue; // on a phone not every tick has room for its label
      free = frame.x(tick.at) + half + 4;
      drawn.push(text(frame.x(tick.at), frame.bottom + 14, tick.label, { "text-anchor": "middle", "font-size": 11 }));
    }
    drawn.push(text((frame.left + frame.right) / 2, frame.bottom + 32, spec.x.label, { "text-anchor": "middle", "font-size": 11 }));
    if (typeof spec.ideal === "number") drawn.push(rule(frame.left, frame.y(spec.ideal), frame.right, frame.y(spec.ideal), { "stroke-dasharray": "4 3", "stroke-opacity": 0.7 }));
    const labels = new Map(marks.map((tick) => [tick.at, tick.label]));
    for (const line of shown) drawn.push(oneLine(chart, spec, line, frame, labels));
    if (named) drawn.push(...names(chart, shown, frame));
    return [frame.bottom + 44, drawn];
  }

  function grid(frame, ticks, unit) {
    const drawn = [text(0, 12, unit, { "font-size": 11 })];
    for (const tick of ticks) {
      drawn.push(rule(frame.left, frame.y(tick), frame.right, frame.y(tick), faint));
      drawn.push(text(frame.left - 6, frame.y(tick), number(tick), { "text-anchor": "end", "font-size": 11 }));
    }
    return drawn;
  }

  const most = (chart) => Math.min(280, chart.width * 0.34); // of a name
  /** Lines of one ink differ in how they are cut. */
  function dash(spec, line) {
    const nth = spec.series.filter((each) => each.ink === line.ink).findIndex((each) => each.label === line.label);
    return nth > 0 ? `${2 + 3 * (nth % 3)} ${1 + nth}` : "";
  }

  function oneLine(chart, spec, line, frame, labels) {
    const ink = colour(line.ink), broken = dash(spec, line);
    const path = line.points.map((point, at) => (at ? "L" : "M") + frame.x(point.x).toFixed(1) + " " + frame.y(point.y).toFixed(1)).join("");
    const made = node("g", {}, node("path", { d: path, fill: "none", stroke: ink, "stroke-width": 2, "stroke-dasharray": broken }));
    for (const point of line.points) {
      const x = frame.x(point.x), y = frame.y(point.y), shapes = [node("circle", { cx: x, cy: y, r: 12, fill: "transparent" })];
      if (typeof point.low === "number" && point.high > point.low) shapes.push(rule(x, frame.y(point.low), x, frame.y(point.high), { stroke: ink, "stroke-width": 3.5 }));
      shapes.push(node("circle", { cx: x, cy: y, r: 4.5, fill: point.n === 1 || broken ? PAPER : ink, stroke: ink, "stroke-width": 2 }));
      if (point.step) shapes.push(rule(x, y - 6, x, frame.top, { stroke: ink, "stroke-dasharray": "2 2" }), text(x - 4, frame.top + 6, point.step, { "text-anchor": "end", "font-size": 10 }));
      if (point.label) shapes.push(text(x, y - 13, point.label, { "text-anchor": "middle", "font-size": 10 }));
      const group = point.label || [labels.get(point.x) || number(point.x), spec.x.label].join(" ");
      made.append(mark(chart, { ...point, label: line.label }, group, x, y, ...shapes));
    }
    return made;
  }

  function names(chart, shown, frame) {
    const last = (line) => line.points[line.points.length - 1];
    const ordered = [...shown].sort((one, other) => frame.y(last(one).y) - frame.y(last(other).y));
    const places = apart(ordered.map((line) => frame.y(last(line).y)), 15, frame.bottom);
    return ordered.flatMap((line, at) => {
      const end = last(line);
      return [
        rule(frame.x(end.x) + 6, frame.y(end.y), frame.right + 8, places[at], { "stroke-opacity": 0.3 }),
        text(frame.right + 11, places[at], cut(line.label, (most(chart) - 18) / BOLD), { fill: colour(line.ink), "font-weight": 600 }),
      ];
    });
  }

  /* ---- trace ---- */

  function trace(chart, spec) {
    const wide = chart.width >= 520, levels = [...(spec.levels || [])].sort((one, other) => other.value - one.value);
    const named = (level) => level.label + " " + level.text;
    const right = wide ? Math.min(Math.max(0, ...levels.map((level) => size(named(level)))) + 18, most(chart)) : 8;
    const ticks = nice(0, Math.max(...spec.values, ...levels.map((level) => level.value)));
    const first = spec.steps[0], last = spec.steps[spec.steps.length - 1], skipped = Math.min(spec.skipped || 0, spec.steps.length - 1);
    const left = Math.max(...ticks.map((tick) => size(number(tick)))) + 8;
    const under = wide ? 0 : levels.length * 16; // on a phone the words are below the drawing
    const frame = { left: left, right: chart.width - right, top: 30, bottom: 230 };
    frame.x = (step) => frame.left + ((step - first) / (last - first || 1)) * (frame.right - frame.left);
    frame.y = (value) => frame.bottom - (value / ticks[ticks.length - 1]) * (frame.bottom - frame.top);
    const drawn = grid(frame, ticks, spec.unit);
    if (skipped > 0) {
      const edge = frame.x((spec.steps[skipped - 1] + spec.steps[skipped]) / 2);
      drawn.push(node("rect", { x: frame.left, y: frame.top, width: edge - frame.left, height: frame.bottom - frame.top, fill: INK, "fill-opacity": 0.08 }));
      drawn.push(text(frame.left + 4, frame.top + 8, spec.warmup || "", { "font-size": 11 }));
    }
    const path = spec.steps.map((step, at) => (at ? "L" : "M") + frame.x(step).toFixed(1) + " " + frame.y(spec.values[at]).toFixed(1)).join("");
    drawn.push(node("path", { d: path, fill: "none", stroke: colour(spec.ink), "stroke-width": 1.5, "stroke-linejoin": "round" }));
    const places = apart(levels.map((level) => frame.y(level.value)), 15, frame.bottom);
    levels.forEach((level, at) => {
      const pattern = { "stroke-dasharray": level.dashed ? "5 3" : "" };
      drawn.push(rule(frame.x(spec.steps[skipped]), frame.y(level.value), frame.right, frame.y(level.value), pattern));
      const y = wide ? places[at] : frame.bottom + 54 + at * 16;
      if (!wide) drawn.push(rule(frame.left, y, frame.left + 20, y, pattern));
      drawn.push(text(wide ? frame.right + 6 : frame.left + 28, y, named(level), { "font-size": 11 }));
    });
    nice(first, last).filter((step) => step >= first && step <= last).forEach((step) => drawn.push(text(frame.x(step), frame.bottom + 14, number(step), { "text-anchor": "middle", "font-size": 11 })));
    drawn.push(text((frame.left + frame.right) / 2, frame.bottom + 32, spec.x.label, { "text-anchor": "middle", "font-size": 11 }));
    (spec.notes || []).forEach((note) => drawn.push(...noted(note, frame)));
    drawn.push(pointer(chart, spec, frame));
    return [frame.bottom + 44 + under, drawn];
  }

  function noted(note, frame) {
    const x = frame.x(note.at), y = frame.y(note.value), wide = size(note.text) * BOLD * 0.92;
    const wanted = x > (frame.left + frame.right) / 2 ? x - 9 - wide : x + 9;
    const left = Math.max(frame.left, Math.min(wanted, frame.right - wide));
    const ring = node("circle", { cx: x, cy: y, r: 5, fill: "none", stroke: INK, "stroke-width": 1.5 });
    return note.text ? [ring, text(left, left === wanted ? y : y - 15, note.text, { "font-size": 11, "font-weight": 600, class: "pl-noted" })] : [ring];
  }

  /** The record nearest to the pointer, or chosen with the arrow keys. */
  function pointer(chart, spec, frame) {
    const dot = node("circle", { r: 4.5, fill: colour(spec.ink), visibility: "hidden" });
    const area = node("rect", { x: frame.left, y: frame.top, width: Math.max(0, frame.right - frame.left), height: frame.bottom - frame.top, fill: "transparent", tabindex: 0, role: "slider", "aria-label": spec.x.label, "aria-valuemin": 0, "aria-valuemax": spec.steps.length - 1 });
    let now = 0;
    const go = (at) => {
      now = Math.max(0, Math.min(spec.steps.length - 1, at));
      const x = frame.x(spec.steps[now]), y = frame.y(spec.values[now]);
      const said = [spec.x.label + " " + number(spec.steps[now]), number(spec.values[now]) + " " + spec.unit];
      for (const [name, value] of Object.entries({ cx: x, cy: y, visibility: "visible" })) dot.setAttribute(name, value);
      area.setAttribute("aria-valuenow", now);
      area.setAttribute("aria-valuetext", said.join(say("comma")));
      tip(chart, said, x, y);
    };
    const leave = () => { hide(chart); dot.setAttribute("visibility", "hidden"); };
    const near = (event) => {
      const x = event.clientX - chart.room.getBoundingClientRect().left;
      return spec.steps.reduce((best, step, at) => (Math.abs(frame.x(step) - x) < Math.abs(frame.x(spec.steps[best]) - x) ? at : best), 0);
    };
    area.setAttribute("aria-valuenow", 0);
    area.addEventListener("pointermove", (event) => go(near(event)));
    area.addEventListener("pointerdown", (event) => go(near(event)));
    area.addEventListener("pointerleave", leave);
    area.addEventListener("focus", () => go(now));
    area.addEventListener("blur", leave);
    area.addEventListener("keydown", (event) => {
      const to = { ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, Home: 0, End: spec.steps.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      go(to);
    });
    return node("g", {}, area, dot);
  }

  /* ---- around the drawing ---- */

  const KINDS = { dots: dots, lines: lines, trace: trace };

  function series(spec) {
    const every = spec.kind === "lines" ? spec.series : spec.kind === "dots" ? spec.panels.flatMap((panel) => panel.rows) : [];
    return [...new Map(every.map((each) => [seriesOf(each), each])).values()];
  }

  function legend(chart) {
    const named = series(chart.spec);
    const buttons = named.map((each) => {
      const swatch = node("svg", { width: 18, height: 10, "aria-hidden": "true" }, chart.spec.kind === "lines"
        ? rule(0, 5, 18, 5, { stroke: colour(each.ink), "stroke-width": 2.5, "stroke-dasharray": dash(chart.spec, each) })
        : node("circle", { cx: 9, cy: 5, r: 4.5, fill: colour(each.ink) }));
      const button = make("button", { type: "button", class: "pl-legend", "aria-pressed": String(!chart.hidden.has(seriesOf(each))) }, swatch, seriesOf(each));
      button.addEventListener("click", () => {
        const name = seriesOf(each);
        if (chart.hidden.has(name)) chart.hidden.delete(name);
        else if (chart.hidden.size < named.length - 1) chart.hidden.add(name); // one stays
        button.setAttribute("aria-pressed", String(!chart.hidden.has(name)));
        paint(chart);
      });
      return button;
    });
    return make("div", { class: "pl-legends", role: "group", "aria-label": say("series") }, ...(named.length > 1 ? buttons : []));
  }

  function paint(chart) {
    chart.width = Math.floor(chart.room.clientWidth);
    if (!chart.width) return;
    hide(chart);
    const [high, drawn] = KINDS[chart.spec.kind](chart, chart.spec);
    const svg = node("svg", { width: chart.width, height: high, viewBox: `0 0 ${chart.width} ${high}`, role: "group", "aria-label": chart.spec.title }, ...drawn);
    if (chart.svg) chart.svg.replaceWith(svg);
    else chart.room.prepend(svg);
    chart.svg = svg;
  }

  function table(spec) {
    const rows = spec.kind === "dots" ? spec.panels.flatMap((panel) => panel.rows.map((row) => [panel.label, row.label, row.value, row.low, row.high, row.n, spec.unit, row.text, row.about]))
      : spec.kind === "lines" ? spec.series.flatMap((line) => line.points.map((point) => [point.label || point.x, line.label, point.y, point.low, point.high, point.n, spec.unit, point.text, point.about]))
      : spec.steps.map((step, at) => [step, spec.title, spec.values[at], "", "", "", spec.unit, "", ""]);
    return [["at", "series", "value", "low", "high", "runs", "unit", "text", "about"], ...rows];
  }

  // A spreadsheet takes a text that begins so for a formula.
  const field = (value) => {
    const said = typeof value === "string" && /^[=+\-@\t]/.test(value) ? "'" + value : String(value ?? "");
    return /[",\r\n]/.test(said) ? `"${said.replace(/"/g, '""')}"` : said;
  };

  /** The drawing as a file by itself: colours of the page as they are now, on the page's ground. */
  function picture(chart) {
    const copy = chart.svg.cloneNode(true), styles = getComputedStyle(chart.room);
    const own = (value) => value.replace(/var\((--[\w-]+)(?:,\s*([^)]+))?\)/g, (_, name, other) => styles.getPropertyValue(name).trim() || other || "").replace(INK, styles.color);
    copy.querySelectorAll("*").forEach((each) => {
      for (const name of ["fill", "stroke"]) if (each.hasAttribute(name)) each.setAttribute(name, own(each.getAttribute(name)));
      for (const name of ["tabindex", "role", "class"]) each.removeAttribute(name);
      if (each.hasAttribute("href")) each.setAttribute("href", new URL(each.getAttribute("href"), location.href).href);
    });
    copy.prepend(node("title", {}, chart.spec.title), node("rect", { width: "100%", height: "100%", fill: own(PAPER) }));
    copy.setAttribute("font-family", styles.fontFamily);
    return new XMLSerializer().serializeToString(copy);
  }

  function save(name, content, type) {
    const address = URL.createObjectURL(new Blob([content], { type: type }));
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  function tools(chart) {
    const name = (ending) => (chart.spec.title || "chart").replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^-|-$/g, "").toLowerCase() + "." + ending;
    const button = (kind, made) => {
      const found = make("button", { type: "button", class: "pl-save" }, say("save", { kind: kind.toUpperCase() }));
      found.addEventListener("click", made);
      return found;
    };
    return make("div", { class: "pl-saves" },
      button("svg", () => save(name("svg"), picture(chart), "image/svg+xml")),
      button("csv", () => save(name("csv"), table(chart.spec).map((row) => row.map(field).join(",")).join("\r\n") + "\r\n", "text/csv")));
  }

  /** Draw a chart in an element, in place of the static picture or of the chart that was drawn there before. */
  function draw(element, spec) {
    const before = live.get(element), hidden = new Set(before ? [...before.hidden] : []);
    const names = new Set(series(spec).map(seriesOf));
    for (const name of hidden) if (!names.has(name)) hidden.delete(name);
    if (hidden.size >= names.size) hidden.clear();
    const chart = { spec: spec, hidden: hidden, tip: make("div", { class: "pl-tip", role: "status" }), room: make("div", { class: "pl-drawn" }) };
    chart.tip.hidden = true;
    chart.room.append(chart.tip);
    chart.root = make("div", { class: "pl-live" }, legend(chart), chart.room, tools(chart));
    if (before) before.root.replaceWith(chart.root);
    else element.append(chart.root);
    element.classList.add("pl-charted");
    if (before) before.observer.disconnect();
    chart.observer = new ResizeObserver(() => Math.floor(chart.room.clientWidth) !== chart.width && paint(chart));
    chart.observer.observe(chart.room);
    paint(chart);
    live.set(element, chart);
    return chart;
  }

  window.plChart = { draw: draw, shortened: shortened, nice: nice, present: (element) => live.get(element) };

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") document.querySelectorAll(".pl-tip").forEach((each) => { each.hidden = true; });
  });
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      draw(entry.target, JSON.parse(entry.target.dataset.chart));
    }
  }, { rootMargin: "400px" });
  document.querySelectorAll("figure.pl-chart[data-chart]").forEach((each) => seen.observe(each));
})();
