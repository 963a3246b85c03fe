/* Material for MkDocs has this within each page (partials/javascripts/base.html); MIT, (c) Martin Donath. What it keeps
   of a reader's choices, and under which name; the theme's own script calls these functions. */
window.__md_scope = new URL(document.currentScript.dataset.base, location);
window.__md_hash = (text) => [...text].reduce((hash, sign) => (hash << 5) - hash + sign.charCodeAt(0), 0);
window.__md_get = (name, storage = localStorage, scope = window.__md_scope) => JSON.parse(storage.getItem(scope.pathname + "." + name));
window.__md_set = (name, value, storage = localStorage, scope = window.__md_scope) => {
  try {
    storage.setItem(scope.pathname + "." + name, JSON.stringify(value));
  } catch (_error) { /* full, or forbidden: the choice lasts as long as the page */ }
};
