// What the page of a model shows: results of the chosen hardware, devices, precision and framework. The choice is in
// the address. This file runs before the page is painted and hides all else by a style sheet, so that nothing moves.
window.plSelection = (() => {
  "use strict";

  const NAMES = ["hardware", "devices", "precision", "framework"];
  const first = document.currentScript.dataset.first;
  const sheet = new CSSStyleSheet();
  const token = (value) => value.replace(/ /g, "_") || "?"; // as in ingest/site/facets.py

  /** The chosen value of each filter, or "all". */
  function chosen() {
    const asked = new URLSearchParams(location.search);
    return Object.fromEntries(NAMES.map((name) => [name, token(asked.get(name) || (name === "hardware" ? first : "all"))]));
  }

  /** A selector of what has all chosen values. */
  const matching = (choice) => Object.entries(choice).filter(([, value]) => value !== "all")
    .map(([name, value]) => `[data-f-${name}~=${JSON.stringify(value)}]`);

  function apply() {
    const parts = matching(chosen());
    const row = `tr[data-f-hardware]${parts.join("")}`;
    sheet.replaceSync([
      ...parts.map((part, at) => `.md-content [${part.slice(1).split("~")[0]}]:not(${parts[at]})`),
      `.pl-slice:not(:has(${row}))`,
      `.pl-part:not(:has([data-f-hardware]${parts.join("")}))`,
      `.pl-results:has(${row}, .pl-only-published${parts.filter((part) => part.includes("hardware")).join("")}) .pl-nothing`,
    ].map((selector) => `${selector} { display: none !important; }`).join("\n"));
  }

  /** Choose a value; the usual one leaves the address. */
  function choose(name, value) {
    const address = new URL(location.href);
    if (value === (name === "hardware" ? token(first) : "all")) address.searchParams.delete(name);
    else address.searchParams.set(name, value);
    history.replaceState(history.state, "", address);
    apply();
  }

  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  apply();
  return { NAMES, chosen, matching, choose, apply };
})();
