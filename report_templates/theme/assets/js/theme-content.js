/* Material for MkDocs has this within each page (partials/javascripts/content.html); MIT, (c) Martin Donath. The tabs
   that the reader has chosen, and the tab that the address names. */
(function () {
  const tabs = window.__md_get("__tabs");
  if (Array.isArray(tabs)) {
    document.querySelectorAll(".tabbed-set").forEach((set) => {
      const labels = [...set.querySelector(".tabbed-labels").getElementsByTagName("label")];
      const chosen = tabs.map((tab) => labels.find((label) => label.innerText.trim() === tab)).find(Boolean);
      if (chosen) document.getElementById(chosen.htmlFor).checked = true;
    });
  }
  const target = document.getElementById(location.hash.slice(1));
  if (target && target.name) target.checked = target.name.startsWith("__tabbed_");
  /* The theme would ask for a sitemap below each of these addresses; the language switch does without. */
  document.querySelectorAll("link[rel=alternate]").forEach((link) => { link.rel = "alternate "; });
})();
