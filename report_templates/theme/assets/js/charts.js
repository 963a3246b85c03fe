/* Charts. Those of the page are SVG already: their marks can be pointed at, and they can be saved. `plChart.draw(element,
   spec)` draws a record of ingest/site/render/chart.py, as ingest/site/render/drawing.py does, for a reader's choice. */
(() => {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  // As in ingest/site/render/scale.py and drawing.py.
  const LETTER = 7.4, BOLD = 1.1, LINE = 17, ROW = 25, BELOW = 17, HEAD = 28, GUTTER = 32, INSET = 12, ENDS = 0.36, NAMES = 0.43, ROOMY = 560, TICK = 26, TOP = 30, BOTTOM = 280;
  const found = document.getElementById("pl-words");
  const words = found ? JSON.parse(found.textContent) : {};
  const say = (key, values = {}) => (words["chart_" + key] || "").replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
  const live = new WeakMap(); // element -> the chart that was drawn in it

  function filled(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) if (value !== "") made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  const tag = (name, attributes = {}, ...children) => filled(document.createElementNS(SVG, name), attributes, children);
  const make = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
  const text = (x, y, said, kind = "") => tag("text", { x: x, y: y, class: kind }, said);
  const texts = (x, y, lines, kind = "") => lines.map((line, nth) => text(x, y + LINE * nth, line, kind));
  const path = (kind, x1, y1, x2, y2) => tag("path", { d: `M${x1} ${y1}L${x2} ${y2}`, class: kind });
  const dot = (x, y, isFilled) => tag("circle", { cx: x, cy: y, r: 4.8, class: isFilled ? "pl-dot" : "pl-dot pl-outline" });

  /* ---- scales and letters ---- */

  const width = (said) => LETTER * [...said].reduce((sum, each) => sum + (each > "\u2e7f" ? 1.8 : 1), 0);
  const widest = (all) => Math.max(0, ...all.map(width));
  const known = (values) => values.filter((each) => typeof each === "number" && Number.isFinite(each));
  const number = (value) => value.toLocaleString("en-US", { maximumSignificantDigits: 10 });

  /** A written value: its first number with four digits; the tooltip has all of them. */
  function shortened(said) {
    const at = /^(\d[\d,]*)(?:\.(\d+))?(?![\d.])([%×]?)/.exec(said || "");
    if (!at) return said || "";
    const value = Number(at[1].replace(/,/g, "") + "." + (at[2] || 0)), digits = Math.max(0, value ? 3 - Math.floor(Math.log10(value)) : 3);
    if ((at[2] || "").length <= digits) return at[0];
    const rounded = Number(value.toFixed(Math.min(digits, 20))), places = Math.min(digits, Math.max(0, 3 - Math.floor(Math.log10(rounded || 1))));
    return rounded.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places }) + at[3];
  }

  /** Round ticks from below the least to above the most value. */
  function nice(least, most, count = 5) {
    if (!(least < most)) [least, most] = [Math.min(least, 0), Math.max(most, 0) || 1];
    const rough = (most - least) / Math.max(count - 1, 1), unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [1, 2, 2.5, 5, 10].find((each) => unit * each >= rough * 0.999);
    const first = Math.floor(least / step + 1e-9), last = Math.ceil(most / step - 1e-9);
    return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
  }

  const ticksIn = (length, most) => Math.max(2, Math.min(5, Math.floor(length / (widest(nice(0, most).map(number)) + TICK)) + 1));

  /** Rising places at least `gap` apart and none beyond `most`, near their rising values. */
  function apart(values, gap, most) {
    const places = [];
    for (const value of values) places.push(places.length ? Math.max(value, places[places.length - 1] + gap) : value);
    for (let at = places.length - 1, end = most; at >= 0; end = places[at] - gap, at -= 1) places[at] = Math.min(places[at], end);
    return places;
  }

  /** A text in lines that fit. */
  function wrapped(said, room) {
    const lines = [""];
    for (const part of said.match(/[\u2e80-\uffee]|[^\s\u2e80-\uffee]+\s*|\s+/g) || []) {
      if (lines[lines.length - 1] && width((lines[lines.length - 1] + part).trimEnd()) > room) lines.push("");
      lines[lines.length - 1] += part;
    }
    return lines.map((line) => cut(line.trim(), room));
  }

  function cut(said, room) {
    if (width(said) <= room) return said;
    const letters = [...said];
    while (letters.length && width(letters.join("")) + LETTER > room) letters.pop();
    return letters.join("").trimEnd() + "…";
  }

  /** The shapes of a value, which says more to who points at it and leads to where it comes from. */
  function marked(item, name, group, ...shapes) {
    const range = item.high > item.low ? say("range", { low: number(Number(item.low.toPrecision(4))), high: number(Number(item.high.toPrecision(4))) }) : "";
    const repeats = [item.n === 1 ? say("single") : item.n ? say("runs", { n: item.n }) : "", range].filter(Boolean).join(say("comma"));
    const lines = [name, item.text, group, item.about, repeats].filter(Boolean);
    return tag(item.href ? "a" : "g", { class: item.ink ? `pl-mark pl-ink-${item.ink}` : "pl-mark", href: item.href || "" }, tag("title", {}, [...new Set(lines)].join("\n")), ...shapes);
  }

  /* ---- dots ---- */

  function dots(spec, wide) {
    const rows = spec.panels.flatMap((panel) => panel.rows), roomy = wide >= ROOMY, half = (wide - GUTTER) / 2;
    const label = widest(rows.map((row) => row.label)) + 12, heads = widest(spec.panels.map((panel) => panel.label)) * BOLD;
    const columns = roomy && spec.panels.length >= 4 && Math.max(label / NAMES, heads) <= half ? 2 : 1;
    const across = columns === 2 ? half : wide;
    const stacked = !roomy && label > across * NAMES, names = stacked ? INSET : Math.min(label, across * NAMES);
    const values = widest(rows.filter((row) => known([row.value]).length).map((row) => shortened(row.text))) * BOLD + 16;
    const mostOf = (some) => Math.max(0, ...known(some.flatMap((row) => [row.value, row.high]))) || 1;
    const place = { stacked: stacked, names: names, plot: across - names - values, width: across };
    const drawn = [];
    let bottom = 0;
    for (let first = 0; first < spec.panels.length; first += columns) {
      const top = bottom;
      spec.panels.slice(first, first + columns).forEach((panel, column) => {
        const isLast = first + column + columns >= spec.panels.length;
        const [end, made] = onePanel(panel, { ...place, left: column * (across + GUTTER), top: top, most: mostOf(spec.apart ? panel.rows : rows) }, isLast ? spec.unit : "", isLast || spec.apart);
        bottom = Math.max(bottom, end);
        drawn.push(...made);
      });
    }
    return [bottom, drawn];
  }

  const named = (row, place) => wrapped(row.label, place.stacked ? place.width : place.names - 12);
  const rowHeight = (row, place) => LINE * (named(row, place).length - 1) + ROW + (place.stacked ? BELOW : 0);

  function onePanel(panel, place, unit, labelled) {
    const at = (value) => place.left + place.names + (value / place.most) * place.plot;
    const head = panel.label ? wrapped(panel.label, place.width / BOLD) : [], top = place.top + (head.length ? HEAD - LINE : 0) + LINE * head.length, rows = [];
    let bottom = top;
    for (const row of panel.rows) {
      rows.push(oneRow(row, panel, place, at, bottom));
      bottom += rowHeight(row, place);
    }
    const ticks = nice(0, place.most, ticksIn(place.plot, place.most)).filter((tick) => tick <= place.most);
    const drawn = [...texts(place.left, place.top + HEAD / 2, head, "pl-head"), ...ticks.map((tick) => path("pl-rule", at(tick), top, at(tick), bottom))];
    if (labelled) {
      bottom += LINE;
      drawn.push(...ticks.map((tick) => text(at(tick), bottom - 6, number(tick), "pl-tick")));
    }
    if (unit) {
      bottom += LINE;
      drawn.push(text(at(place.most / 2), bottom - 6, unit, "pl-tick"));
    }
    return [bottom + 10, [...drawn, ...rows]];
  }

  function oneRow(row, panel, place, at, top) {
    const high = rowHeight(row, place), name = named(row, place);
    const middle = place.stacked ? top + high - ROW / 2 : top + high / 2;
    const first = place.stacked ? top + ROW / 2 + 2 : middle - (LINE * (name.length - 1)) / 2;
    const shapes = [tag("rect", { x: place.left, y: top, width: place.width, height: high, class: "pl-area" }), ...texts(place.left, first, name)];
    if (typeof row.value !== "number") shapes.push(text(at(0) + 6, middle, row.text || ""));
    else {
      shapes.push(path("pl-stem", at(0), middle, at(row.value), middle));
      if (row.high > row.low) shapes.push(path("pl-range", at(row.low), middle, at(row.high), middle));
      shapes.push(dot(at(row.value), middle, row.ranked !== false));
      shapes.push(text(Math.max(at(row.value), at(row.high || 0)) + 10, middle, shortened(row.text), "pl-value"));
    }
    return marked(row, row.label, panel.label, ...shapes);
  }

  /* ---- lines ---- */

  function lines(spec, wide) {
    const last = (line) => line.points[line.points.length - 1];
    const series = spec.series.filter((line) => line.points.length), points = series.flatMap((line) => line.points);
    const ordered = [...series].sort((one, other) => last(other).y - last(one).y);
    const room = widest(series.map((line) => line.label)) * BOLD + 24, beside = wide >= ROOMY && room <= wide * ENDS;
    const place = (x) => (spec.x.log2 ? Math.log2(x) : x);
    const xs = points.map((point) => place(point.x)).concat(spec.x.ticks.map((tick) => place(tick.at)));
    const levels = (spec.levels || []).map((level) => level.value);
    const all = known(points.flatMap((point) => [point.y, point.low, point.high]).concat(levels));
    const ticks = nice(spec.near ? Math.min(...all) : 0, Math.max(...all)), near = spec.near ? (ticks[ticks.length - 1] - ticks[0]) * 0.08 : 0;
    const left = widest(ticks.map(number)) + 8, right = wide - (beside ? room : 14), low = ticks[0] - near, high = ticks[ticks.length - 1] + near;
    const x0 = Math.min(...xs), x1 = Math.max(...xs);
    const x = (value) => left + INSET + ((place(value) - x0) / (x1 - x0 || 1)) * (right - left - 2 * INSET);
    const y = (value) => BOTTOM - ((value - low) / (high - low)) * (BOTTOM - TOP);
    const drawn = [text(0, 12, spec.unit), ...ticks.flatMap((tick) => [path("pl-rule", left, y(tick), right, y(tick)), text(left - 7, y(tick), number(tick), "pl-tick pl-end")])];
    levels.forEach((level) => drawn.push(path("pl-across pl-cut-1", left, y(level), right, y(level))));
    for (const line of series) {
      drawn.push(tag("polyline", { points: line.points.map((point) => `${x(point.x)},${y(point.y)}`).join(" "), class: look(series, line) }));
      for (const point of line.points) {
        const shapes = [tag("circle", { cx: x(point.x), cy: y(point.y), r: 12, class: "pl-area" })];
        if (point.high > point.low) shapes.push(path("pl-range", x(point.x), y(point.low), x(point.x), y(point.high)));
        const at = spec.x.ticks.find((tick) => tick.at === point.x);
        drawn.push(marked({ ...point, ink: line.ink }, line.label, `${spec.x.label} ${at ? at.label : number(point.x)}`, ...shapes, dot(x(point.x), y(point.y), point.ranked !== false)));
      }
    }
    let free = -Infinity;
    for (const tick of spec.x.ticks) {
      const half = width(tick.label) / 2;
      if (x(tick.at) - half < free) continue; // not every tick has room for its label
      free = x(tick.at) + half + 6;
      drawn.push(text(x(tick.at), BOTTOM + 14, tick.label, "pl-tick"));
    }
    drawn.push(text((left + right) / 2, BOTTOM + 31, spec.x.label, "pl-tick"));
    if (beside) {
      const heights = ordered.map((line) => y(last(line).y));
      apart(heights, LINE, BOTTOM).forEach((at, nth) => drawn.push(path("pl-leader", x(last(ordered[nth]).x) + 7, heights[nth], right + 8, at), text(right + 12, at, ordered[nth].label)));
      return [BOTTOM + 45, drawn];
    }
    let top = BOTTOM + 45;
    for (const line of ordered) {
      const name = wrapped(line.label, wide - 34);
      drawn.push(path(look(series, line), 0, top + 8, 24, top + 8), ...texts(34, top + 8, name));
      top += LINE * name.length + 3;
    }
    return [top + 4, drawn];
  }

  /** Lines of one ink differ in how they are cut. */
  function look(series, line) {
    const nth = series.filter((each) => each.ink === line.ink).indexOf(line) % 8;
    return ["pl-line", ...(nth ? [`pl-cut-${nth}`] : []), ...(line.ink ? [`pl-ink-${line.ink}`] : [])].join(" ");
  }

  /* ---- pointing ---- */

  /** Show what a mark says at once, and to fingers and keys too; without this script a browser shows its title. */
  function pointed(room) {
    const tip = make("div", { class: "pl-tip", role: "status" });
    tip.hidden = true;
    room.append(tip);
    const show = (lines, box) => {
      const outer = room.getBoundingClientRect();
      tip.replaceChildren(...lines.map((line, at) => make(at ? "span" : "b", {}, line)));
      tip.hidden = false;
      const left = box.left + box.width / 2 - outer.left - tip.offsetWidth / 2, top = box.top - outer.top - tip.offsetHeight - 8;
      tip.style.left = Math.max(0, Math.min(left, outer.width - tip.offsetWidth)) + "px";
      tip.style.top = (box.top > tip.offsetHeight + 8 ? top : box.bottom - outer.top + 8) + "px";
    };
    const hide = () => { tip.hidden = true; };
    room.querySelectorAll(".pl-mark").forEach((mark) => {
      const title = mark.querySelector("title"), lines = title.textContent.split("\n"), isLink = mark.hasAttribute("href");
      title.remove();
      filled(mark, { tabindex: 0, "aria-label": lines.join(say("comma")), role: isLink ? "" : "img" }, []);
      const said = isLink ? lines.concat(say("open")) : lines;
      const open = () => show(said, (mark.querySelector(".pl-dot") || mark).getBoundingClientRect());
      for (const name of ["pointerenter", "focus"]) mark.addEventListener(name, open);
      for (const name of ["pointerleave", "blur"]) mark.addEventListener(name, hide);
      // A finger points first, and follows the link with its second touch.
      mark.addEventListener("pointerdown", (event) => { mark.plFirst = event.pointerType === "touch" && room.plPointed !== mark; room.plPointed = mark; });
      mark.addEventListener("click", (event) => { if (mark.plFirst) { event.preventDefault(); open(); } });
    });
    room.querySelectorAll("polyline[data-values]").forEach((line) => walked(line, show, hide));
  }

  /** The value nearest to the pointer, or chosen with the arrow keys, of a line without marks. */
  function walked(line, show, hide) {
    const svg = line.closest("svg"), points = Array.from(line.points), spot = tag("circle", { r: 4.8, class: `${line.getAttribute("class")} pl-dot`, visibility: "hidden" });
    const x0 = points[0].x, x1 = points[points.length - 1].x;
    const area = tag("rect", { x: x0, y: TOP, width: Math.max(0, x1 - x0), height: BOTTOM - TOP, class: "pl-area", tabindex: 0, role: "slider", "aria-label": line.dataset.x, "aria-valuemin": 0, "aria-valuemax": points.length - 1, "aria-valuenow": 0 });
    const values = line.dataset.values.split(" ").map((pair) => pair.split(",").map(Number));
    let now = 0;
    const go = (at) => {
      now = Math.max(0, Math.min(points.length - 1, at));
      const { x, y } = points[now], said = [`${line.dataset.x} ${number(values[now][0])}`, `${number(values[now][1])} ${line.dataset.unit}`];
      filled(spot, { cx: x, cy: y, visibility: "visible" }, []);
      filled(area, { "aria-valuenow": now, "aria-valuetext": said.join(say("comma")) }, []);
      show(said, spot.getBoundingClientRect());
    };
    const leave = () => { hide(); spot.setAttribute("visibility", "hidden"); };
    const near = (event) => {
      const x = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
      return points.reduce((best, point, at) => (Math.abs(point.x - x) < Math.abs(points[best].x - x) ? at : best), 0);
    };
    for (const name of ["pointermove", "pointerdown"]) area.addEventListener(name, (event) => go(near(event)));
    for (const name of ["pointerleave", "blur"]) area.addEventListener(name, leave);
    area.addEventListener("focus", () => go(now));
    area.addEventListener("keydown", (event) => {
      const to = { ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, Home: 0, End: points.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      go(to);
    });
    line.after(area, spot); // below the marks
  }

  /* ---- saving ---- */

  const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "paint-order", "font-size", "font-weight", "text-anchor", "dominant-baseline"];

  /** The drawing as a file by itself: the looks of the page as they are now, on the page's ground. */
  function picture(svg, title) {
    const copy = svg.cloneNode(true), own = [...svg.querySelectorAll("*")], box = svg.viewBox.baseVal;
    copy.querySelectorAll("*").forEach((each, at) => {
      const style = getComputedStyle(own[at]);
      for (const name of LOOKS) each.setAttribute(name, style.getPropertyValue(name));
      for (const name of ["class", "tabindex", "role"]) each.removeAttribute(name);
      if (each.hasAttribute("href")) each.setAttribute("href", new URL(each.getAttribute("href"), location.href).href);
    });
    const style = getComputedStyle(svg);
    filled(copy, { width: box.width, height: box.height + 30, viewBox: `-10 -30 ${box.width + 20} ${box.height + 30}`, "font-family": style.fontFamily }, []);
    copy.removeAttribute("class");
    copy.prepend(tag("rect", { x: -10, y: -30, width: "100%", height: "100%", fill: style.getPropertyValue("--md-default-bg-color") }), tag("text", { x: 0, y: -12, "font-size": 15, "font-weight": 650, fill: style.color }, title));
    return new XMLSerializer().serializeToString(copy);
  }

  function save(name, blob) {
    const address = URL.createObjectURL(blob);
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  /** Twice as fine as on the screen. */
  function png(drawing, then) {
    const image = new Image(), canvas = document.createElement("canvas");
    image.addEventListener("load", () => {
      filled(canvas, { width: image.width * 2, height: image.height * 2 }, []);
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(then);
    });
    image.src = "data:image/svg+xml," + encodeURIComponent(drawing);
  }

  function tools(figure, title) {
    const shown = () => [...figure.querySelectorAll(".pl-svg")].find((each) => each.clientWidth);
    const name = title.replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^-|-$/g, "").toLowerCase();
    const button = (kind, saved) => {
      const made = make("button", { type: "button", class: "pl-save" }, say("save", { kind: kind }));
      made.addEventListener("click", () => saved(picture(shown(), title), `${name}.${kind.toLowerCase()}`));
      return made;
    };
    return make("div", { class: "pl-saves" },
      button("SVG", (drawing, file) => save(file, new Blob([drawing], { type: "image/svg+xml" }))),
      button("PNG", (drawing, file) => png(drawing, (blob) => save(file, blob))));
  }

  /** Draw a chart in an element, in place of the one that was drawn there before. */
  function draw(element, spec) {
    const before = live.get(element), room = make("div", { class: "pl-drawn" });
    const chart = { spec: spec, root: make("div", { class: "pl-live" }, room, tools(room, spec.title)) };
    const paint = () => {
      const wide = Math.floor(room.clientWidth);
      if (!wide || wide === chart.width) return;
      chart.width = wide;
      const [high, drawn] = (spec.kind === "lines" ? lines : dots)(spec, wide);
      room.replaceChildren(tag("svg", { class: "pl-svg", viewBox: `0 0 ${wide} ${high}`, role: "group", "aria-label": spec.title }, ...drawn));
      pointed(room);
    };
    if (before) {
      before.observer.disconnect();
      before.root.replaceWith(chart.root);
    } else element.append(chart.root);
    chart.observer = new ResizeObserver(paint);
    chart.observer.observe(room);
    paint();
    live.set(element, chart);
  }

  window.plChart = { draw: draw, shortened: shortened, nice: nice, present: (element) => live.get(element) };

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") document.querySelectorAll(".pl-tip").forEach((each) => { each.hidden = true; });
  });
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      pointed(target);
      target.append(tools(target, target.querySelector("figcaption > b").textContent));
    }
  }, { rootMargin: "400px" });
  document.querySelectorAll("figure.pl-chart:has(> .pl-svg)").forEach((each) => seen.observe(each));
})();
