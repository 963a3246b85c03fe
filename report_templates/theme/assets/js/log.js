/* The lines of a log that the address names, `#L12` or `#L12-L30`, are marked; a click on a line's number names it. */
(() => {
  "use strict";

  const MARKED = "pl-log-marked";

  /* The colours that the reader has chosen on the other pages, or else those of the system. */
  function paint() {
    const root = new URL("..", location).pathname;
    const chosen = [root, `${root}zh/`].map((scope) => JSON.parse(localStorage.getItem(`${scope}.__palette`))).find(Boolean);
    const dark = matchMedia("(prefers-color-scheme: dark)").matches ? "slate" : "default";
    document.documentElement.dataset.mdColorScheme = chosen?.color?.scheme || dark;
  }

  function span(hash) {
    const found = /^#L(\d+)(?:-L(\d+))?$/.exec(hash);
    if (!found) return null;
    const ends = [Number(found[1]), Number(found[2] || found[1])];
    return { first: Math.min(...ends), last: Math.max(...ends) };
  }

  const line = (node) => Number(node.id.slice(1));

  function mark() {
    const wanted = span(location.hash);
    const marked = [];
    for (const each of document.querySelectorAll(".pl-log [id^='L']:is(span)")) {
      const inside = wanted !== null && line(each) >= wanted.first && line(each) <= wanted.last;
      each.classList.toggle(MARKED, inside);
      if (inside) marked.push(each);
    }
    if (marked.length) marked[0].scrollIntoView({ block: "start" });
  }

  /* The number stands in the margin, left of the text; with Shift the range is widened to it. */
  function pick(event) {
    const chosen = event.target.closest(".pl-log span[id]");
    if (!chosen) return;
    const margin = parseFloat(getComputedStyle(chosen).paddingLeft);
    if (event.clientX > chosen.getBoundingClientRect().left + margin) return;
    const before = event.shiftKey ? span(location.hash) : null;
    const ends = [line(chosen), before ? before.first : line(chosen)].sort((one, other) => one - other);
    history.replaceState(null, "", ends[0] === ends[1] ? `#L${ends[0]}` : `#L${ends[0]}-L${ends[1]}`);
    mark();
  }

  paint();

  document.addEventListener("click", pick);
  window.addEventListener("hashchange", mark);
  document.addEventListener("DOMContentLoaded", mark);
})();
