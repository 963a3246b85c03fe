/* The search index is the largest file that a page loads, and most readers do not search: the theme's request for it waits
   until the reader turns to the search. The theme asks for it as soon as its script runs, so this one runs before. */
(() => {
  const INDEX = /\/search\/search_index\.json$/, send = XMLHttpRequest.prototype.send, open = XMLHttpRequest.prototype.open;
  const waiting = [], indexes = new WeakSet();
  let wanted = ["q", "h"].some((name) => new URLSearchParams(location.search).get(name)); // opens the search, or shows its hits

  XMLHttpRequest.prototype.open = function (method, url, ...rest) {
    if (INDEX.test(url)) indexes.add(this);
    return open.call(this, method, url, ...rest);
  };
  XMLHttpRequest.prototype.send = function (...body) {
    if (wanted || !indexes.has(this)) return send.apply(this, body);
    waiting.push(() => send.apply(this, body));
  };

  const start = () => {
    wanted = true;
    waiting.splice(0).forEach((each) => each());
  };
  const searches = (event) => event.target.closest?.(".md-search") || event.target.id === "__search";
  for (const kind of ["focusin", "pointerover", "change"]) {
    document.addEventListener(kind, (event) => searches(event) && start());
  }

  /* What is not found in one language may be found in the other. */
  document.addEventListener("DOMContentLoaded", () => {
    const result = document.querySelector(".md-search-result"), field = document.querySelector(".md-search__input");
    const other = [...document.querySelectorAll("a[hreflang]")].find((each) => each.hreflang !== document.documentElement.lang);
    if (!result || !field || !other) return;
    const words = JSON.parse(document.getElementById("pl-words").textContent);
    const line = document.createElement("p"), link = document.createElement("a");
    line.className = "pl-search-other";
    line.append(link);
    result.querySelector(".md-search-result__meta").after(line);
    const update = () => {
      const query = field.value.trim();
      line.hidden = !query || Boolean(result.querySelector(".md-search-result__item"));
      link.textContent = words.search_other.replace("{query}", query);
      const address = new URL(other.href);
      address.searchParams.set("q", query);
      address.hash = "";
      link.href = address;
    };
    update();
    new MutationObserver(update).observe(result.querySelector(".md-search-result__list"), { childList: true });
    field.addEventListener("input", update);
    field.addEventListener("input", () => field.dispatchEvent(new Event("keyup"))); // the theme does not see a mouse paste
  });
})();
