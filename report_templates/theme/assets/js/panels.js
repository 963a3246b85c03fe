// The lower parts of the page of a model as tabs. Without scripts, all parts are there, and tabs are links to headings.
(() => {
  "use strict";

  const list = document.querySelector(".pl-tabs");
  const panels = [...document.querySelectorAll(".pl-panel")];
  if (!list) return;

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

  /** Whether the choice hides all of a panel, such as the scaling of hardware that ran with one device. */
  const isEmpty = (panel) => [...panel.children].every((each) => each.localName === "h2" || getComputedStyle(each).display === "none");
  // Without results of ours the figures of others come first.
  const usual = () => (!window.plChips.count() && tabs.find((tab) => tab.hash === "#published"))
    || tabs.find((_, at) => !isEmpty(panels[at])) || tabs[0];
  const targetOf = (hash) => hash.length > 1 && document.getElementById(hash.slice(1));

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
    window.plSite.carry();
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
  window.addEventListener("hashchange", follow);
  window.addEventListener("popstate", follow);
  document.addEventListener("pl-chosen", () => { if (!location.hash) follow(); });

  // A link to another part of this page keeps the choice; marks of charts are links of SVG, and lead to other pages.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (!targetOf(link.hash) || link.pathname !== location.pathname || link.search) return;
    event.preventDefault();
    location.hash = link.hash;
  });
  follow();
})();
