/* Material for MkDocs has this within each page (partials/javascripts/palette.html); MIT, (c) Martin Donath. The colours
   that the reader has chosen, before the page is painted. */
(function () {
  const palette = window.__md_get("__palette");
  if (!palette || !palette.color) return;
  if (palette.color.media === "(prefers-color-scheme)") {
    const scheme = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
    const input = document.querySelector("[data-md-color-media='(prefers-color-scheme: " + scheme + ")']");
    ["media", "scheme", "primary", "accent"].forEach((name) => { palette.color[name] = input.getAttribute("data-md-color-" + name); });
  }
  Object.entries(palette.color).forEach(([name, value]) => document.body.setAttribute("data-md-color-" + name, value));
})();
