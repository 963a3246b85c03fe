/* The front page and the pages of hardware: which hardware, axis, devices and precision are shown, what the address says
   of it, and the chart of a row. All tables are in the page; without this script, all of them are shown. */
(function () {
  "use strict";

  const form = document.getElementById("pl-choose");
  if (!form) return;
  const FIELDS = ["hardware", "axis", "devices", "precision"];
  const NAMES = { devices: "devices", precision: "group" }; // field -> what a row calls it
  const usual = form.elements.hardware ? valueOf("hardware") : "";
  const machines = Array.from(document.querySelectorAll(".pl-machine"));
  const coming = new Map(); // page -> the promise of its table
  const elsewhere = Array.from(document.querySelectorAll(".pl-elsewhere [data-hardware]"));
  const charts = document.currentScript.src.replace(/front\.js/, "charts.js");
  const said = form.querySelector(".pl-choose-said");
  const ALL = "all";

  const inputs = (name) => Array.from(form.querySelectorAll(`input[name="${name}"]`));
  function valueOf(name) {
    const checked = form.querySelector(`input[name="${name}"]:checked`);
    return checked ? checked.value : "";
  }
  const shown = () => machines.find((machine) => machine.dataset.hardware === valueOf("hardware")) || machines[0];
  const tables = (machine) => Array.from(machine.querySelectorAll(".pl-axis"));
  const table = () => tables(shown()).find((each) => each.dataset.axis === valueOf("axis")) || tables(shown())[0];
  const lines = (box) => (box ? Array.from(box.querySelectorAll(".pl-row")) : []);

  /* ---- the choice, and its address ---- */

  /** Take what the address asks for; what is not there is named, and something else is shown. */
  function read() {
    const given = new URLSearchParams(location.search), wanted = given.get("hardware");
    const known = inputs("hardware").some((each) => each.value === wanted);
    loaded(known ? wanted : usual, () => take(given));
  }

  function take(given) {
    const gone = [];
    form.reset();
    FIELDS.forEach((name) => {
      offer(name);
      const value = given.get(name);
      if (value && value !== ALL && !choose(name, value)) gone.push(form.dataset.gone.replace("{name}", label(name)).replace("{value}", value));
    });
    if (!given.has("devices")) choose("devices", usualDevices());
    show(gone);
  }

  const label = (name) => form.querySelector(`input[name="${name}"]`).closest("fieldset").querySelector("legend").textContent;

  function choose(name, value) {
    const found = inputs(name).find((each) => each.value === value && !each.disabled);
    if (found) {
      found.checked = true;
      const box = found.closest("details");
      if (box) box.open = true;
    }
    return Boolean(found);
  }

  /** Offer what the chosen hardware has; a choice that it has too is kept. */
  function offer(name) {
    if (name === "hardware") return;
    const there = name === "axis" ? new Map(tables(shown()).map((each) => [each.dataset.axis, 1])) : counts(name);
    const kept = valueOf(name);
    inputs(name).forEach((each) => {
      const has = each.value === "" || Boolean(there.get(each.value));
      const chip = each.closest(".pl-chip");
      chip.hidden = !has && name !== "axis" && !there.has(each.value);
      each.disabled = !has;
      chip.title = has ? "" : form.dataset.absent;
    });
    if (name === "axis" && (!kept || !choose("axis", kept))) choose("axis", shown().dataset.axis);
    if (name === "axis") return;
    if (!choose(name, kept)) choose(name, "");
    inputs(name)[0].closest("fieldset").hidden = there.size < 2;
  }

  /** How many rows each value of a filter has: all of the table, and of these, those that fit the other filter. */
  function counts(name) {
    const found = new Map(), other = name === "devices" ? "precision" : "devices";
    lines(table()).forEach((line) => {
      const value = line.dataset[NAMES[name]];
      found.set(value, (found.get(value) || 0) + (fits(line, other) ? 1 : 0));
    });
    return found;
  }

  /** The number of devices that a long table begins with; its other rows are hidden until a choice shows them. */
  const usualDevices = () => (table() && table().dataset.usual) || "";

  function address() {
    const given = new URLSearchParams();
    FIELDS.filter((name) => inputs(name).length).forEach((name) => {
      const value = valueOf(name), usually = { axis: shown().dataset.axis, devices: usualDevices() }[name] || "";
      if (value !== usually) given.set(name, value || ALL);
    });
    return "?" + given.toString();
  }

  /** The choice goes along to the other language, and to the pages that compare the same. */
  function follow() {
    window.plSite.switchLanguages(location.search);
    window.plSite.travel({ hardware: valueOf("hardware"), devices: valueOf("devices"), precision: valueOf("precision") });
  }

  /** Call `then` as soon as the table of a hardware is here: that of a hardware without room is on its own page. */
  function loaded(hardware, then) {
    const place = elsewhere.find((each) => each.dataset.hardware === hardware);
    if (!place) return then();
    const page = place.querySelector("a").href;
    if (!coming.has(page)) coming.set(page, load(page, place.textContent.trim()));
    form.setAttribute("aria-busy", "true");
    coming.get(page).then(() => {
      form.removeAttribute("aria-busy");
      then();
    }, () => { location.href = page; });
  }

  function load(page, name) {
    return fetch(page).then((reply) => (reply.ok ? reply.text() : Promise.reject(reply.status))).then((text) => {
      const found = document.importNode(new DOMParser().parseFromString(text, "text/html").querySelector(".pl-machine"), true);
      found.querySelectorAll("a[href]").forEach((link) => { link.href = new URL(link.getAttribute("href"), page).href; });
      found.querySelector("h2 a").textContent = name;
      machines[machines.length - 1].after(found);
      machines.push(found);
    });
  }

  /* ---- what is shown ---- */

  /** Whether a row is of the choice of one filter; one that compares several precisions is of each. */
  const fits = (line, name) => !valueOf(name) || ["", valueOf(name)].includes(line.dataset[NAMES[name]]);

  function show(messages) {
    const chosen = shown(), axis = table();
    machines.forEach((machine) => machine.classList.toggle("pl-chosen", machine === chosen));
    tables(chosen).forEach((each) => each.classList.toggle("pl-chosen", each === axis));
    let matching = 0;
    lines(axis).forEach((line) => {
      line.hidden = !Object.keys(NAMES).every((name) => fits(line, name));
      line.removeAttribute("data-late");
      matching += line.hidden ? 0 : 1;
      if (line.hidden) toggle(line, false);
    });
    if (axis) narrow(axis);
    const box = axis && axis.querySelector(".pl-scroll");
    if (box) box.hidden = !matching;
    said.replaceChildren(...[...messages, ...(axis && !matching ? [said.dataset.none] : [])].map((text) => {
      const line = document.createElement("span");
      line.textContent = text;
      return line;
    }));
    follow();
  }

  /** Leave out the columns without a figure in the rows that are shown. */
  function narrow(axis) {
    const rows = lines(axis).filter((line) => !line.hidden);
    axis.querySelectorAll("thead th.pl-n").forEach((head, at) => {
      head.hidden = rows.length > 0 && rows.every((row) => row.cells[at + 1].classList.contains("pl-absent"));
      lines(axis).forEach((line) => { line.cells[at + 1].hidden = head.hidden; });
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
    const alike = lines(row.closest(".pl-axis")).filter((line) => ["suite", "group", "unit"].every((name) => line.dataset[name] === row.dataset[name]));
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

  /* ---- events ---- */

  form.addEventListener("change", (event) => loaded(valueOf("hardware"), () => {
    if (event.target.name === "hardware") {
      offer("axis");
      choose("axis", shown().dataset.axis);
    }
    ["devices", "precision"].forEach(offer);
    const asked = new URLSearchParams(location.search).has("devices");
    if (["hardware", "axis"].includes(event.target.name) && !asked) choose("devices", usualDevices());
    show([]);
    try {
      history.pushState(null, "", address());
    } catch (error) {
      // A browser may keep the address of a page from the disk as it is.
    }
    follow();
  }));
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".pl-sure button");
    if (button) toggle(button.closest("tr"), button.getAttribute("aria-expanded") !== "true");
  });
  window.addEventListener("popstate", read);
  read();
})();
