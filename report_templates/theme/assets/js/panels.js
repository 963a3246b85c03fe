// The page of a model: its parts as tabs, the filters above them, and the rows of tables that another page has.
// Everything is on the page without scripts too: tabs are links to headings then, and the filters are not shown.
(() => {
  "use strict";

  const off = "pl-off";
  const list = document.querySelector(".pl-tabs");
  const panels = [...document.querySelectorAll(".pl-panel")];
  if (!list || !panels.length) return;

  // ---- tabs: the address names one, or anything in it ----

  const tabs = [...list.querySelectorAll("a")];
  const panelOf = (tab) => panels[tabs.indexOf(tab)];

  function select(chosen) {
    tabs.forEach((tab) => {
      const mine = tab === chosen;
      tab.setAttribute("aria-selected", String(mine));
      tab.tabIndex = mine ? 0 : -1;
      panelOf(tab).hidden = !mine;
    });
  }

  const targetOf = (hash) => hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));

  // Follows the address: a link into another tab, a hit of the search, the back button.
  function follow() {
    const target = targetOf(location.hash);
    const panel = target && target.closest(".pl-panel");
    select(tabs[Math.max(panels.indexOf(panel), 0)]);
    for (let each = target; each; each = each.parentElement) if (each.localName === "details") each.open = true;
    if (panel && !tabs.some((tab) => tab.hash === location.hash)) target.scrollIntoView();
  }

  function open(tab) {
    if (tab.hash !== location.hash) history.pushState(null, "", tab.hash);
    select(tab);
    carry();
  }

  function step(event) {
    const at = tabs.indexOf(event.target.closest("a"));
    const last = tabs.length - 1;
    const next = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at ? at - 1 : last, Home: 0, End: last }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    tabs[next].focus({ preventScroll: true });
    open(tabs[next]);
  }

  function addTabs() {
    list.setAttribute("role", "tablist");
    const row = tabs[0].parentElement;
    if (row !== list) row.setAttribute("role", "presentation");
    document.documentElement.classList.add("pl-tabbed");
    tabs.forEach((tab, index) => {
      Object.assign(tab, { id: `pl-tab-${index}`, role: "tab" });
      panels[index].id = `pl-panel-${index}`;
      tab.setAttribute("aria-controls", panels[index].id);
      panels[index].setAttribute("role", "tabpanel");
      panels[index].setAttribute("aria-labelledby", tab.id);
      tab.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        open(tab);
      });
    });
    list.addEventListener("keydown", step);
    window.addEventListener("hashchange", () => { follow(); carry(); });
    window.addEventListener("popstate", () => { read(); follow(); });
  }

  // ---- filters: kept in the address under the names of the front page ----

  const bar = document.querySelector(".pl-filters");
  const selects = bar ? [...bar.querySelectorAll("select")] : [];
  // The first hardware is the one with most to compare; of the others, all are shown until one is chosen.
  const usuals = new Map(selects.map((each) => [each, each.name === "hardware" ? each.options[1].value : each.value]));
  const usual = (select) => usuals.get(select);

  function read() {
    const asked = new URLSearchParams(location.search);
    for (const each of selects) {
      const value = asked.get(each.name);
      each.value = [...each.options].some((one) => one.value === value) ? value : usual(each);
    }
    apply();
  }

  function write() {
    const address = new URL(location.href);
    for (const each of selects) {
      if (each.value === usual(each)) address.searchParams.delete(each.name);
      else address.searchParams.set(each.name, each.value);
    }
    history.replaceState(history.state, "", address);
  }

  const fits = (node) => selects.every((each) => {
    const mine = node.getAttribute(`data-f-${each.name}`);
    return mine === null || each.value === "all" || (each.name === "level" ? mine.split(" ") : [mine]).includes(each.value);
  });

  function apply() {
    for (const node of document.querySelectorAll("[data-f-hardware], [data-f-precision], tr[data-f-devices], tr[data-f-framework]")) {
      if (node.hasAttribute("data-f-level")) node.hidden = false;
      node.classList.toggle(off, !fits(node));
    }
    document.querySelectorAll("th[data-f-framework]").forEach(column);
    document.querySelectorAll(".pl-slice").forEach(slice);
    carry();
  }

  function column(head) {
    const hide = !fits(head);
    for (const row of head.closest("table").rows) if (row.cells[head.cellIndex]) row.cells[head.cellIndex].classList.toggle(off, hide);
  }

  // Of a table that has nothing left, its title says nothing either.
  function slice(box) {
    if (!fits(box)) return;
    const rows = [...box.querySelectorAll("tbody tr")];
    const columns = [...box.querySelectorAll("th[data-f-framework]")];
    const empty = (nodes) => nodes.length > 0 && nodes.every((each) => each.classList.contains(off));
    box.classList.toggle(off, empty(rows) || empty(columns));
  }

  // The other language shows the same choice and the same tab.
  function carry() {
    document.querySelectorAll("a.md-select__link").forEach((link) => {
      const address = new URL(link.href);
      address.search = location.search;
      address.hash = location.hash;
      link.href = address.href;
    });
  }

  // ---- rows that another page has ----

  const fetched = new Map();

  function whole(address) {
    const path = address.href.split("#")[0];
    if (!fetched.has(path)) fetched.set(path, fetch(path).then((reply) => (reply.ok ? reply.text() : Promise.reject(reply.status))));
    return fetched.get(path).then((text) => {
      const found = new DOMParser().parseFromString(text, "text/html").getElementById(address.hash.slice(1));
      for (const link of found.querySelectorAll("a[href]")) link.href = new URL(link.getAttribute("href"), path).href;
      return found;
    });
  }

  // The whole table takes the place of its first rows: its numbers are aligned and its notes lettered as one.
  function fill(link) {
    const box = link.closest(".pl-table");
    whole(new URL(link.href)).then(
      (table) => {
        box.querySelector(".pl-grid").replaceWith(document.importNode(table, true));
        const notes = table.closest(".pl-table").querySelector(".pl-notes");
        const mine = box.querySelector(".pl-notes");
        if (mine) mine.remove();
        if (notes) box.append(document.importNode(notes, true));
        link.parentElement.remove();
        window.plTables.renew(box);
        apply();
      },
      () => { location.href = link.href; },
    );
  }

  addTabs();
  for (const each of selects) each.addEventListener("change", () => { write(); apply(); });
  // A link to another part of this page keeps the filters.
  function stay(link) {
    location.hash = link.hash;
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    // A mark of a chart is a link of SVG, which has no parts of an address and leads to another page.
    if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const act = link.closest(".pl-rest") ? fill : targetOf(link.hash) && link.pathname === location.pathname && !link.search ? stay : null;
    if (!act) return;
    event.preventDefault();
    act(link);
  });
  read();
  follow();
})();
