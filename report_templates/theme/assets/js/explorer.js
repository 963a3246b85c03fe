/* All runs in one table. Chips choose, and the address keeps this, the text that is searched, and the order. Tabulator has
   the rows, and draws only those in sight; the data come in parts. A run without a page opens in a panel, from another
   small part; the address keeps this too. */
(function () {
  "use strict";

  const form = document.getElementById("pl-explore");
  if (!form) return;
  const ABSENT = "—";
  const NARROW = window.matchMedia("(max-width: 44.984375em)"); // as in the style sheets
  const PAUSE = 200; // milliseconds after the last key
  const language = document.documentElement.lang.startsWith("zh") ? "zh" : "en";
  const config = JSON.parse(form.dataset.config), words = config.words;
  const { filled, make } = window.plSite;
  const place = document.getElementById("pl-explore-table");
  const shown = document.getElementById("pl-explore-shown"), said = document.getElementById("pl-explore-said");
  const parts = config.parts.map(([name, count]) => ({ name, count, rows: null }));
  const total = parts.reduce((sum, part) => sum + part.count, 0);
  const collator = new Intl.Collator(document.documentElement.lang, { numeric: true, sensitivity: "base" });
  const ranks = {}; // column -> text -> its place in the order of the language
  const titles = new Map(Array.from(form.sort.options, (option) => [option.value, option.textContent]));
  const NEWEST = ["date", "desc"]; // how the table is sorted unless the reader says so
  const panel = document.getElementById("pl-explore-run");
  const details = {}; // name of a part -> what it holds, once it is there
  let table = null, ready = false, held = -1, failed = false, timer = 0, opened = "";

  /* ---- small helpers ---- */

  const say = (key, values) => filled(words["explorer." + key], values);
  const counted = (number) => number.toLocaleString("en-US");

  /* ---- the data ---- */

  const inLanguage = (value) => (Array.isArray(value) ? value[language === "en" ? 0 : 1] : value);

  /** What a column holds of a run: texts are in the page's language, and facts in its words. */
  function reader(column) {
    if (Array.isArray(column)) return (index) => inLanguage(column[index]);
    const of = column.of.map(inLanguage);
    return (index) => of[column.at[index]];
  }

  function rowsOf(data, count) {
    const names = Object.keys(data), readers = names.map((name) => reader(data[name]));
    return Array.from({ length: count }, (_, index) => {
      const row = {};
      names.forEach((name, at) => { row[name] = readers[at](index); });
      row.value = row.figure === null ? null : Number(row.figure.replaceAll(",", ""));
      row.facts = Object.fromEntries(row.facts.split("\n").map((each) => [each.split("=", 1)[0], [each.slice(each.indexOf("=") + 1)]]));
      return row;
    });
  }

  function fetchAll() {
    parts.forEach((part) => window.plSite.load("explorer/" + part.name).then((data) => {
      part.rows = rowsOf(data, part.count);
      arrived();
    }).catch(lost));
  }

  /** Put into the table what has come: the first part at once, and then as much again, since all rows are put anew. */
  function arrived() {
    const come = parts.filter((part) => part.rows);
    const count = come.reduce((sum, part) => sum + part.count, 0);
    const complete = come.length === parts.length;
    if (!ready || count === held || (!complete && count < 2 * held)) return tell();
    held = count;
    const rows = come.flatMap((part) => part.rows);
    rows.forEach((row, index) => { row.run = index; });
    rank(rows);
    window.plChips.over(rows, complete);
    table.replaceData(rows).then(tell);
  }

  function lost() {
    failed = true;
    document.documentElement.classList.add("pl-explore-failed");
    document.documentElement.classList.remove("pl-counting");
    tell();
  }

  /** Order the texts of a column once, and not at each comparison of two rows. */
  function rank(rows) {
    ["model", "framework", "hardware", "precision", "outcome", "options"].forEach((name) => {
      const texts = Array.from(new Set(rows.map((row) => textOf(row, name)))).sort(collator.compare);
      ranks[name] = new Map(texts.map((text, index) => [text, index]));
    });
  }

  /* ---- the address, in addition to what chips keep there ---- */

  function fill() {
    const given = new URLSearchParams(location.search);
    form.text.value = given.get("text") || "";
    const order = given.get("order") === "desc" ? "desc" : "asc";
    sortBy(...(titles.has(given.get("sort")) ? [given.get("sort"), order] : NEWEST));
    opened = given.get("run") || "";
  }

  function sortBy(name, order) {
    form.sort.value = name;
    form.order.value = order;
  }

  function remember(how) {
    const address = new URL(location.href), isUsual = form.sort.value === NEWEST[0] && form.order.value === NEWEST[1];
    const kept = { text: form.text.value.trim(), sort: isUsual ? "" : form.sort.value, order: isUsual || form.order.value === "asc" ? "" : "desc", run: opened };
    Object.entries(kept).forEach(([name, value]) => (value ? address.searchParams.set(name, value) : address.searchParams.delete(name)));
    window.plSite.remember(how, address);
    window.plSite.carry();
  }

  /* ---- what is shown ---- */

  function apply() {
    if (!ready) return;
    sortTable();
    const asked = form.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    table.setFilter((row) => window.plChips.shows(row) && asked.every((each) => searched(row).includes(each)));
    tell();
  }

  function searched(row) {
    if (row.searched === undefined) row.searched = [...titles.keys()].map((name) => textOf(row, name)).join("\n").toLowerCase();
    return row.searched;
  }

  function sortTable() {
    const sorter = table.getSorters()[0], column = form.sort.value;
    if (!(sorter && sorter.field === column && sorter.dir === form.order.value)) table.setSort(column, form.order.value);
  }

  function tell() {
    if (!ready) return;
    const complete = parts.every((part) => part.rows), count = table.getDataCount("active");
    place.setAttribute("aria-busy", String(!complete && !failed));
    const state = failed ? "failed" : !complete ? "loading" : count ? "shown" : "none";
    shown.textContent = say(state, { n: counted(count), all: counted(total) });
  }

  /* ---- cells ---- */

  /** What a column shows of a run, as text. */
  function textOf(row, name) {
    if (name === "outcome") return row.said;
    if (name === "devices" && row.machines) return row.machines;
    if (name === "throughput") return row.figure === null ? ABSENT : row.figure + " " + row.unit;
    if (name === "run") return row.id + "\n" + row.log;
    return row[name] === null ? ABSENT : String(row[name]);
  }

  const small = (text) => make("small", {}, text);
  const log = (row) => make("small", { class: "pl-explore-log", title: row.log }, row.log);

  function link(row, text) {
    const found = make("a", { href: window.plSite.page(row.page.replace("*", nameOf(row)), language) }, text);
    if (row.page.includes("?")) found.addEventListener("click", (event) => { if (!event.ctrlKey && !event.metaKey && !event.shiftKey) openHere(event, row); });
    return found;
  }

  function figure(row) {
    if (row.figure === null) return make("div", {}, ABSENT, row.why ? make("small", { title: row.why }, row.why) : null);
    return make("div", {}, row.figure + " ", small(row.unit), row.mark ? small(row.mark) : null);
  }

  const CELLS = {
    outcome: (row) => make("span", { class: row.tone ? "pl-" + row.tone : "" }, row.said),
    throughput: figure,
    run: (row) => make("div", {}, link(row, row.id), log(row)),
    case: (row) => make("div", {}, link(row, textOf(row, "model") + " · " + textOf(row, "framework")), ...["hardware", "size", "options"].map((name) => (name === "size" ? sizeOf(row) : textOf(row, name))).filter(Boolean).map(small), make("div", {}, CELLS.outcome(row), small(textOf(row, "date"))), log(row)),
  };

  const sizeOf = (row) => [...["devices", "batch_size"].map((name) => titles.get(name) + " " + textOf(row, name)), textOf(row, "precision")].join(" · ");

  const cell = (name) => (found) => {
    const row = found.getRow().getData();
    return (CELLS[name] || ((each) => make("span", {}, textOf(each, name))))(row);
  };

  /** What scrolls is the group of rows for those who hear the page; the library puts an unnamed box in between. */
  function describe() {
    place.removeAttribute("aria-owns");
    place.querySelector(".tabulator-tableholder").setAttribute("role", "rowgroup");
    place.querySelector(".tabulator-table").setAttribute("role", "none");
  }

  /* ---- one run, on demand ---- */

  const nameOf = (row) => row.slug || row.id; // in addresses
  const code = (text) => (text ? make("code", {}, text) : null);

  const DETAILS = {
    outcome: CELLS.outcome,
    throughput: figure,
    model: (row) => (row.report ? make("a", { href: window.plSite.page(row.report, language) }, textOf(row, "model")) : textOf(row, "model")),
    size: sizeOf,
    arithmetic: (row) => code(row.arithmetic),
    log: (row) => make("div", {}, code(row.log), row.session && make("div", {}, row.session)),
    sha256: (row) => code(row.sha256),
    problems: (row) => row.problems && make("ul", {}, ...row.problems.split("\n").map((each) => make("li", {}, each))),
    shard: (row) => row.shard && make("a", { href: window.plSite.file("runs/" + row.shard).href }, "data/runs/" + row.shard),
    command: (row) => make("pre", { class: "pl-code", tabindex: 0 }, code(row.command)),
  };

  function openHere(event, row) {
    event.preventDefault();
    opened = nameOf(row);
    remember("pushState");
    showRun();
  }

  /** Show the run that the address names: on its own page if it has one, otherwise here. */
  function showRun() {
    if (!opened) return panel && panel.close();
    const asked = opened, page = window.plSite.page("runs/" + asked + "/", language);
    if (Array.from(document.querySelectorAll(".pl-explore-still a")).some((each) => each.href === page)) return location.replace(page);
    const part = config.details.filter(([, , first]) => first <= asked).pop(); // they are in order
    if (!part) return missing("unknown_run");
    const [name, count] = part;
    details[name] = details[name] || window.plSite.load("explorer/" + name).then((data) => rowsOf(data, count));
    details[name].then((rows) => {
      if (asked !== opened) return;
      const row = rows.find((each) => nameOf(each) === asked);
      if (row) fillPanel(row); else missing("unknown_run");
    }, () => {
      delete details[name];
      if (asked === opened) missing("run_failed");
    });
  }

  function missing(why) {
    said.textContent = say(why, { run: opened });
    opened = "";
    remember("replaceState");
    if (panel) panel.close();
  }

  function fillPanel(row) {
    panel.querySelector(".pl-explore-name").textContent = row.title;
    panel.querySelector(".pl-slug code").textContent = row.id;
    panel.querySelectorAll("[data-of]").forEach((each) => {
      const name = each.dataset.of, found = DETAILS[name] ? DETAILS[name](row) : titles.has(name) ? textOf(row, name) : row[name];
      each.hidden = !found;
      each.lastElementChild.replaceChildren(found || "");
    });
    if (!panel.open) panel.showModal();
    panel.scrollTop = 0;
  }

  /* ---- columns ---- */

  const WIDTHS = { model: [96, 3], framework: [98, 2], hardware: [104, 3], devices: [66, 1], batch_size: [72, 1], precision: [82, 1], options: [100, 4], outcome: [86, 2], throughput: [100, 2], date: [92, 1], run: [160, 6] };
  const NUMBERS = ["devices", "batch_size", "throughput"];

  /** Compare two values; what is absent comes last whichever way. */
  function compare(one, other, direction) {
    if (one === null || other === null) return ((one === null) - (other === null)) * (direction === "asc" ? 1 : -1);
    return one < other ? -1 : one > other ? 1 : 0;
  }

  function sorter(name) {
    const value = { throughput: (row) => row.value, devices: (row) => row.devices, batch_size: (row) => row.batch_size, date: (row) => row.date, run: (row) => row.run }[name] || ((row) => ranks[name].get(textOf(row, name)));
    return (one, other, oneRow, otherRow, column, direction) => compare(value(oneRow.getData()), value(otherRow.getData()), direction);
  }

  function head(name) {
    const button = make("button", { type: "button", class: "pl-explore-head" }, titles.get(name));
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      const mine = form.sort.value === name, down = mine && form.order.value === "desc";
      if (down && name !== NEWEST[0]) sortBy(...NEWEST); // up, down, and the newest first
      else sortBy(name, mine && !down ? "desc" : "asc");
      changed("pushState");
    });
    return button;
  }

  function columns() {
    const all = [...titles.keys()].map((name) => ({
      title: titles.get(name), titleFormatter: () => head(name), field: name, formatter: cell(name), sorter: sorter(name),
      minWidth: WIDTHS[name][0], widthGrow: WIDTHS[name][1], cssClass: NUMBERS.includes(name) ? "pl-n" : "", headerSort: true, resizable: false,
      visible: !NARROW.matches || name === "throughput",
    }));
    const whole = { title: titles.get("run"), field: "case", formatter: cell("case"), headerSort: false, resizable: false, widthGrow: 3 };
    return NARROW.matches ? [whole, ...all] : all; // what is not in sight sorts too
  }

  /* ---- events ---- */

  function changed(how) {
    said.textContent = "";
    remember(how);
    apply();
  }

  form.addEventListener("change", (event) => { if (event.target !== form.text) changed("pushState"); });
  form.addEventListener("input", (event) => {
    if (event.target !== form.text) return;
    clearTimeout(timer);
    timer = setTimeout(() => changed("replaceState"), PAUSE);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("popstate", () => { said.textContent = ""; fill(); apply(); showRun(); });
  if (panel) {
    panel.querySelector(".pl-explore-close").addEventListener("click", () => panel.close());
    panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); }); // beside it
    panel.addEventListener("close", () => {
      if (!opened) return; // the address says so already
      opened = "";
      remember("pushState");
    });
  }

  /* ---- start ---- */

  fill();
  table = new window.Tabulator(place, {
    columns: columns(), data: [], layout: "fitColumns", height: "80vh", headerSortElement: () => "", placeholder: "",
    columnHeaderVertAlign: "bottom", rowHeader: false, headerSortClickElement: "icon",
  });
  table.on("dataFiltered", () => setTimeout(tell));
  table.on("tableBuilt", () => {
    describe();
    ready = true;
    apply();
    arrived();
  });
  document.addEventListener("pl-chosen", apply);
  NARROW.addEventListener("change", () => table.setColumns(columns()));
  fetchAll();
  if (opened) showRun();
})();
