// The page of a model: chips that choose what it shows, and its lower parts as tabs.
// Everything is on the page without scripts too: tabs are links to headings then, and the chips are not shown.
(() => {
  "use strict";

  const selection = window.plSelection;
  const list = document.querySelector(".pl-tabs");
  const panels = [...document.querySelectorAll(".pl-panel")];
  if (!selection || !list) return;

  // ---- chips ----

  const groups = [...document.querySelectorAll(".pl-chips [data-filter]")];
  const rows = [...document.querySelectorAll(".pl-results tr[data-f-hardware]")];
  const words = JSON.parse(document.getElementById("pl-words").textContent);

  /** How many results a choice shows. */
  function count(choice) {
    const wanted = selection.matching(choice).join("") || "tr";
    return rows.filter((row) => row.matches(wanted)).length;
  }

  function mark() {
    const choice = selection.chosen();
    for (const group of groups) {
      const name = group.dataset.filter;
      for (const chip of group.querySelectorAll("button")) {
        const small = chip.querySelector("small");
        // A value that the address asks for in vain can be left, and hardware of others leads to what they published.
        const n = name === "hardware" ? 1 : count({ ...choice, [name]: chip.value });
        chip.setAttribute("aria-pressed", String(chip.value === choice[name]));
        chip.disabled = !n && chip.value !== "all" && chip.value !== choice[name];
        chip.title = chip.disabled ? words.no_combination : "";
        if (small && name !== "hardware") small.textContent = n;
      }
    }
    carry();
  }

  for (const group of groups) {
    group.addEventListener("click", (event) => {
      const chip = event.target.closest("button");
      if (!chip) return;
      const name = group.dataset.filter;
      const again = chip.value === selection.chosen()[name];
      selection.choose(name, again ? "all" : chip.value);
      mark();
      if (!location.hash) follow();
    });
  }

  // The other language shows the same choice and the same tab; the front page and Compare know the same choice.
  function carry() {
    const { hardware, devices, precision } = selection.chosen();
    const shared = (value) => (value === "all" ? "" : value.replace(/_/g, " "));
    window.plSite.travel({ hardware: shared(hardware), devices: shared(devices), precision: shared(precision) });
    document.querySelectorAll("a.md-select__link").forEach((link) => {
      const address = new URL(link.href);
      address.search = location.search;
      address.hash = location.hash;
      link.href = address.href;
    });
  }

  // ---- tabs: the address names one, or anything in it ----

  const tabs = [...list.querySelectorAll("a")];

  function select(chosen) {
    tabs.forEach((tab, at) => {
      const mine = tab === chosen;
      tab.setAttribute("aria-selected", String(mine));
      tab.tabIndex = mine ? 0 : -1;
      panels[at].classList.toggle("pl-open", mine);
    });
  }

  // Without results of ours the figures of others come first.
  const usual = () => (!count(selection.chosen()) && tabs.find((tab) => tab.hash === "#published")) || tabs[0];
  const targetOf = (hash) => hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));

  // Follows the address: a link into a tab, a hit of the search, the back button.
  function follow() {
    const target = targetOf(location.hash);
    const panel = target && target.closest(".pl-panel");
    select(panel ? tabs[panels.indexOf(panel)] : usual());
    for (let each = target; each; each = each.parentElement) if (each.localName === "details") each.open = true;
    if (panel) (tabs.some((tab) => tab.hash === location.hash) ? list : target).scrollIntoView();
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

  list.setAttribute("role", "tablist");
  if (tabs[0].parentElement !== list) tabs[0].parentElement.setAttribute("role", "presentation");
  tabs.forEach((tab, at) => {
    Object.assign(tab, { id: `pl-tab-${at}`, role: "tab" });
    panels[at].id = `pl-panel-${at}`;
    tab.setAttribute("aria-controls", panels[at].id);
    panels[at].setAttribute("role", "tabpanel");
    panels[at].setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open(tab);
    });
  });
  list.addEventListener("keydown", step);
  window.addEventListener("hashchange", () => { follow(); carry(); });
  window.addEventListener("popstate", () => { selection.apply(); mark(); follow(); });

  // A link to another part of this page keeps the choice; marks of charts are links of SVG, and lead to other pages.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (!targetOf(link.hash) || link.pathname !== location.pathname || link.search) return;
    event.preventDefault();
    location.hash = link.hash;
  });
  mark();
  follow();
})();
