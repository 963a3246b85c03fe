/* The front page: which hardware, devices and precision are shown, what the address says of it, and the chart of a row.
   All tables are in the page; without this script, all of them are shown. */
(function () {
  "use strict";

  const form = document.getElementById("pl-choose");
  if (!form) return;
  const FIELDS = ["hardware", "devices", "precision", "level"];
  const NAMES = { devices: "devices", precision: "group" }; // field -> what a row calls it
  const LEVEL = form.level.value, usual = form.hardware.value; // what an address without them means
  const machines = Array.from(document.querySelectorAll(".pl-machine"));
  const coming = new Map(); // page -> the promise of its table
  const elsewhere = Array.from(document.querySelectorAll(".pl-elsewhere [data-hardware]"));
  const others = document.getElementById("pl-others");
  const charts = document.currentScript.src.replace(/front\.js/, "charts.js");
  const said = form.querySelector(".pl-choose-said");

  const ALL = "all";
  const lines = (machine) => Array.from(machine.querySelectorAll("[data-suite]"));
  // What others published has no level.
  const isOfLevel = (node) => !node.dataset.level || node.dataset.level.split(" ").includes(form.level.value);
  const isOfOthers = (machine) => machine.classList.contains("pl-published");
  const leveled = (machine) => lines(machine).filter(isOfLevel);
  const shown = () => machines.find((machine) => machine.dataset.hardware === form.hardware.value);
  const label = (name) => form[name].closest("label").firstChild.textContent.trim();

  /* ---- the choice, and its address ---- */

  /** Take what the address asks for; what is not there is named, and something else is shown. */
  function read() {
    const given = new URLSearchParams(location.search);
    const wanted = Array.from(form.hardware.options).find((option) => option.value === given.get("hardware"));
    loaded(wanted ? wanted.value : usual, () => take(given));
  }

  function take(given) {
    const gone = [];
    form.reset();
    if (form.others) form.others.checked = given.get("others") === "1";
    FIELDS.forEach((name) => {
      if (NAMES[name]) offer(name);
      const value = given.get(name);
      if (value && value !== ALL && !choose(name, value)) gone.push(form.dataset.gone.replace("{name}", label(name)).replace("{value}", value));
    });
    if (!given.has("devices")) form.devices.value = usualDevices();
    show(gone);
  }

  function choose(name, value) {
    const found = Array.from(form[name].options).find((option) => option.value === value && !option.hidden);
    if (found) form[name].value = value;
    return Boolean(found);
  }

  /** Offer the devices and precisions that the chosen hardware has; a choice that it has too is kept. */
  function offer(name) {
    const machine = shown(), kept = form[name].value;
    const there = new Set(machine ? leveled(machine).map((line) => line.dataset[NAMES[name]]) : []);
    if (name === "devices") {
      const numbers = Array.from(there).sort((one, other) => one - other);
      form.devices.replaceChildren(form.devices.options[0], ...numbers.map((each) => new Option(each, each)));
    }
    Array.from(form[name].options).forEach((option) => { option.hidden = option.disabled = option.value !== "" && !there.has(option.value); });
    if (!choose(name, kept)) form[name].value = "";
  }

  /** The number of devices that a long table begins with; its other rows are hidden until a choice shows them. */
  function usualDevices() {
    const machine = shown(), value = machine ? machine.dataset.usual || "" : "";
    return Array.from(form.devices.options).some((option) => option.value === value) ? value : "";
  }

  function address() {
    const given = new URLSearchParams();
    FIELDS.forEach((name) => {
      const value = form[name].value, usually = name === "level" ? LEVEL : name === "devices" ? usualDevices() : "";
      if (value !== usually) given.set(name, value || ALL);
    });
    if (form.others && form.others.checked) given.set("others", "1");
    return "?" + given.toString();
  }

  /** The choice goes along to the other language. */
  function switchLanguages(search) {
    document.querySelectorAll(".md-select a[hreflang], a.md-select__link").forEach((link) => {
      const target = new URL(link.href);
      target.search = search;
      link.href = target.href;
    });
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

  /** Whether a line is of the choice; one that compares several precisions is of each. */
  function fits(line) {
    return isOfLevel(line) && Object.keys(NAMES).every((name) => !form[name].value || ["", form[name].value].includes(line.dataset[NAMES[name]]));
  }

  function show(messages) {
    const chosen = shown();
    machines.forEach((machine) => machine.classList.toggle("pl-chosen", machine === chosen));
    document.documentElement.classList.toggle("pl-with-theirs", Boolean(form.others && form.others.checked));
    const matching = chosen ? narrow(chosen) : 0;
    showOthers(!chosen || isOfOthers(chosen));
    said.replaceChildren(...[...messages, ...(chosen && lines(chosen).length && !matching ? [said.dataset.none] : [])].map((text) => {
      const line = document.createElement("span");
      line.textContent = text;
      return line;
    }));
    switchLanguages(location.search);
  }

  /** Hide the lines of a table that do not fit, and return how many do. */
  function narrow(machine) {
    machine.querySelectorAll(".pl-tally").forEach((tally) => { tally.hidden = !isOfLevel(tally); });
    lines(machine).forEach((line) => {
      line.hidden = !fits(line);
      line.removeAttribute("data-late");
      follow(line.querySelector("a"));
      if (!line.matches(".pl-row") || isOfOthers(machine)) return;
      line.nextElementSibling.hidden = line.hidden;
      if (line.hidden) toggle(line, false);
    });
    machine.querySelectorAll(".pl-alone").forEach((box) => {
      const left = box.querySelectorAll("li:not([hidden])").length;
      box.hidden = !left;
      box.querySelector("summary span").textContent = left;
    });
    machine.querySelectorAll(".pl-scroll").forEach((box) => { box.hidden = !box.querySelector(".pl-row:not([hidden])"); });
    return lines(machine).filter((line) => !line.hidden).length;
  }

  /** The page of a model opens at the same level. */
  function follow(link) {
    const target = new URL(link.href);
    if (form.level.value === LEVEL) target.searchParams.delete("level");
    else target.searchParams.set("level", form.level.value);
    link.href = target.href;
  }

  /** Third parties' results: those on the chosen hardware where it is asked for, or where there is nothing else. */
  function showOthers(alone) {
    if (!others) return;
    const boxes = Array.from(others.querySelectorAll("[data-hardware]"));
    const same = boxes.some((box) => box.dataset.hardware === form.hardware.value);
    const asked = alone || form.others.checked;
    boxes.forEach((box) => { box.hidden = asked && same && box.dataset.hardware !== form.hardware.value; });
    others.open = asked;
  }

  /* ---- a row's notes and chart ---- */

  function toggle(row, open) {
    const button = row.querySelector("button"), detail = row.nextElementSibling;
    if (button.getAttribute("aria-expanded") === String(open)) return;
    button.setAttribute("aria-expanded", String(open));
    detail.classList.toggle("pl-open", open);
    if (open) withCharts(() => draw(detail.querySelector(".pl-plot"), spec(row)));
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
    const alike = leveled(row.closest("tbody")).filter((line) => ["suite", "group", "unit"].every((name) => line.dataset[name] === row.dataset[name]));
    const panels = alike.map((line) => ({ label: line.dataset.label, rows: dots(line) })).filter((panel) => panel.rows.length);
    return { kind: "dots", title: row.dataset.chart, unit: row.dataset.unit, better: "higher", panels: panels };
  }

  function dots(line) {
    return Array.from(line.querySelectorAll(".pl-share[data-each]"), (cell) => {
      const { name, ink, each: value, low, high, n, text } = cell.dataset, link = cell.querySelector(":not(.pl-theirs) > a");
      const written = Number(value).toLocaleString("en-US", { maximumSignificantDigits: 4 }) + " " + line.dataset.unit;
      const about = [text, cell.title].filter(Boolean).join("; "); // of the whole job
      return { label: name, ink: ink, value: Number(value), low: Number(low), high: Number(high), n: Number(n), text: written, about: about, href: link ? link.href : "" };
    });
  }

  /* ---- events ---- */

  form.addEventListener("change", (event) => loaded(form.hardware.value, () => {
    if ([form.hardware, form.level].includes(event.target)) {
      Object.keys(NAMES).forEach(offer);
      if (!form.devices.value) form.devices.value = usualDevices();
    }
    try {
      history.pushState(null, "", address());
    } catch (error) {
      // A browser may keep the address of a page from the disk as it is.
    }
    show([]);
  }));
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".pl-sure button");
    if (button) toggle(button.closest("tr"), button.getAttribute("aria-expanded") !== "true");
  });
  window.addEventListener("popstate", read);
  document.querySelectorAll('a[href="#others"]').forEach((link) => link.addEventListener("click", () => { if (others) others.open = true; }));
  read();
})();
