/* Chips choose what a page shows; the choice is in the address. Parts of the page state their facts in attributes, such
   as data-f-hardware, and a style sheet hides the parts that do not fit. The script is in the head, so that it hides them
   before the browser paints the page. Without it, a page shows everything. */
window.plChips = (() => {
  "use strict";

  const ALL = "all";
  const { rows: ROWS, first, most } = JSON.parse(document.currentScript.dataset.chips); // of ingest/site/chips.py
  const sheet = new CSSStyleSheet();
  let form, groups;
  let rows = []; // parts of the page, or records of data with their `facts`
  let isOpen = false; // whether more records are to come
  let choice = {}; // name of a group -> value
  let isWhole = false; // whether rows beyond `most` are shown

  const token = (value) => value.replace(/ /g, "_") || "?"; // as in ingest/site/chips.py
  const asked = () => Object.fromEntries(new URLSearchParams(location.search));

  // ---- parts that fit a choice ----

  /** The values of a fact that a part of the page, or one around it, states, or a record; undefined without any. */
  function states(part, name) {
    if (part.facts) return part.facts[name];
    const of = part.closest(`[data-f-${name}]`);
    return of ? of.getAttribute(`data-f-${name}`).split(" ") : undefined;
  }

  const named = (chosen) => Object.entries(chosen).filter(([, value]) => value !== ALL).map(([name, value]) => [name, token(value)]);

  /** Whether a part states each of these values, or does not state the fact. */
  const meets = (part, wanted) => wanted.every(([name, value]) => (states(part, name) || [value]).includes(value));
  const fits = (part, chosen) => meets(part, named(chosen));

  /** Return a function that gives the rows with a value of a fact, or all, among those that fit the rest of a choice. */
  function fitting(name, others) {
    const wanted = named({ ...others, [name]: ALL }), found = new Map();
    const add = (value, row) => (found.has(value) ? found.get(value).push(row) : found.set(value, [row]));
    rows.filter((row) => meets(row, wanted)).forEach((row) => [ALL, ...(states(row, name) || [])].forEach((value) => add(value, row)));
    return (value) => found.get(token(value)) || [];
  }

  /** The number of results of some rows; records of one result are one. */
  const results = (found) => Array.from(new Set(found.map((row) => row.result || row)), (row) => Number((row.dataset && row.dataset.n) || 1)).reduce((sum, n) => sum + n, 0);

  function hide(chosen) {
    const wanted = Object.entries(chosen).filter(([name, value]) => value !== ALL && /^[a-z]+$/.test(name));
    const misses = wanted.map(([name, value]) => `[data-f-${name}]:not([data-f-${name}~=${JSON.stringify(token(value))}])`);
    const matching = misses.map((each) => `:not(${each})`).join("");
    const hidden = [...misses.map((each) => `.md-content ${each}`), `[data-holds]:not(:has([data-f-hardware]${matching}))`];
    if (wanted.length) hidden.push("[data-whole]");
    if (most && !isWhole) hidden.push(`:is(${ROWS}):nth-child(n + ${most + 1} of ${matching || "*"}):not(:has(:target))`);
    sheet.replaceSync(hidden.map((each) => `${each} { display: none !important; }`).join("\n"));
  }

  // ---- groups of chips ----

  const chipsOf = (group) => [...group.querySelectorAll("button, option")];
  const isOffered = (group, value, before) => chipsOf(group).some((chip) => chip.value === value) && (isOpen || fitting(group.dataset.name, before)(value).length > 0);
  const canBeAll = (group) => chipsOf(group).some((chip) => chip.value === ALL);

  /** The value of a group that nobody has chosen: what a part of the page begins with, all, or that of the first row. */
  function usual(group, before) {
    const { name } = group.dataset;
    const part = [...document.querySelectorAll(`[data-usual-${name}]`)].find((each) => fits(each, before));
    const value = part && part.getAttribute(`data-usual-${name}`);
    if (part && isOffered(group, value, before)) return value;
    if (canBeAll(group)) return ALL;
    const wanted = named(before), row = rows.find((each) => meets(each, wanted) && states(each, name));
    const chip = row && chipsOf(group).find((each) => fits(row, { [name]: each.value }));
    return chip ? chip.value : ALL;
  }

  /** Take wishes in the order of the groups; a wish that no row meets is named in the result, and the usual value taken. */
  function settle(wanted) {
    const found = {}, gone = [];
    groups.forEach((group) => {
      const { name } = group.dataset, value = wanted[name];
      const isThere = isOffered(group, value, found);
      if (value !== undefined && !isThere) gone.push([group.querySelector("legend").textContent, value]);
      found[name] = isThere ? value : usual(group, found);
    });
    choice = found;
    return gone;
  }

  function press(chip, isChosen) {
    if (chip.localName === "option") chip.selected = isChosen;
    else chip.setAttribute("aria-pressed", String(isChosen));
  }

  /** Each chip counts the results that it would show. Without any it cannot be chosen, and says so; a value that the
      choice of one value at a time before it does not have is left out. Such a group follows those before it only. */
  function mark() {
    const single = {};
    if (isOpen) return groups.forEach((group) => chipsOf(group).forEach((chip) => press(chip, chip.value === choice[group.dataset.name])));
    groups.forEach((group) => {
      const { name } = group.dataset, isSingle = !canBeAll(group), ofSingle = fitting(name, single), ofChoice = isSingle ? ofSingle : fitting(name, choice);
      chipsOf(group).forEach((chip) => {
        const there = ofChoice(chip.value), isChosen = chip.value === choice[name];
        const number = chip.querySelector("b:not([data-fixed])");
        if (number) number.textContent = results(there);
        press(chip, isChosen);
        chip.disabled = !there.length && !isChosen;
        chip.title = chip.disabled ? form.dataset.none : chip.dataset.about || "";
        chip.hidden = Boolean(number) && !isChosen && !ofSingle(chip.value).length;
        if (isChosen && chip.closest("details")) chip.closest("details").open = true;
        if (isChosen) group.scrollLeft = chip.offsetLeft - group.clientWidth / 2; // on a phone, chips are one line
      });
      if (isSingle) single[name] = choice[name];
      group.hidden = group.querySelectorAll(":is(.pl-chip, option):not([hidden])").length < (isSingle ? 2 : 3);
    });
  }

  function say(gone) {
    const found = rows.filter((row) => fits(row, choice)), status = form.querySelector("[role=status]");
    const texts = gone.map(([name, value]) => form.dataset.gone.replace("{name}", name).replace("{value}", value));
    if (most) texts.push(form.dataset.status.replace("{n}", results(found)).replace("{rows}", found.length));
    status.replaceChildren(texts.join(" "));
    if (!most || isWhole || found.length <= most) return;
    const more = Object.assign(document.createElement("button"), { type: "button", textContent: form.dataset.more.replace("{n}", found.length) });
    more.addEventListener("click", () => { isWhole = true; show([]); });
    status.append(" ", more);
  }

  function show(gone) {
    hide(choice);
    mark();
    say(gone);
    if (!isOpen) document.documentElement.classList.remove("pl-counting");
    document.dispatchEvent(new Event("pl-chosen"));
  }

  // ---- the address ----

  /** Hardware for which this page has no room is on its own page, with the same choice. */
  function read() {
    const away = [...form.querySelectorAll("a[data-value]")].find((each) => each.dataset.value === asked().hardware);
    if (away) return location.replace(away.href + location.search);
    const target = document.getElementById(location.hash.slice(1)), row = most && target && target.closest(ROWS);
    isWhole = Boolean(row);
    show(settle(asked()));
    return row && row.scrollIntoView();
  }

  function write() {
    const address = new URL(location.href), before = {};
    groups.forEach((group) => {
      const { name } = group.dataset;
      if (choice[name] === usual(group, before)) address.searchParams.delete(name);
      else address.searchParams.set(name, choice[name]);
      before[name] = choice[name];
    });
    window.plSite.remember("pushState", address);
  }

  /** A second click takes a choice back. */
  function choose(chip) {
    const { name } = chip.closest("fieldset").dataset, wanted = asked();
    if (choice[name] === chip.value) delete wanted[name];
    else wanted[name] = chip.value;
    settle(wanted);
    write();
    show([]);
  }

  function start() {
    form = document.querySelector(".pl-chips");
    groups = [...form.querySelectorAll("fieldset")];
    isOpen = !ROWS;
    if (ROWS) rows = [...document.querySelectorAll(ROWS)];
    form.addEventListener("click", (event) => {
      const chip = event.target.closest("fieldset button");
      if (chip) choose(chip);
    });
    form.addEventListener("change", (event) => choose(event.target.selectedOptions[0]));
    form.addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("popstate", read);
    window.addEventListener("hashchange", read);
    read();
  }

  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  document.documentElement.classList.toggle("pl-counting", !ROWS || location.search !== "");
  hide(asked().hardware ? asked() : { ...first, ...asked() });
  document.addEventListener("readystatechange", start, { once: true }); // before scripts that are deferred

  /** Count records instead of parts of the page: of a page without `rows`, once its data have come. */
  function over(records, areAll) {
    rows = records;
    isOpen = !areAll;
    read();
  }

  return { get choice() { return choice; }, over, token, shows: (part) => fits(part, choice), count: () => results(rows.filter((row) => fits(row, choice))) };
})();
