/* What the pages that load data have in common: where the data are, where pages are, and the way to the other language. */
window.plSite = (() => {
  "use strict";

  const script = document.currentScript.src;

  /** The address of a file of data. */
  const file = (name) => new URL("../../data/" + name, script);

  /** Whether a file of data is compressed. */
  const isPacked = (name) => name.startsWith("explorer/");

  /** What a compressed file holds: some servers name the compression of such files, and the browser has undone it. */
  async function unpacked(answer) {
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return JSON.parse(new TextDecoder().decode(bytes));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }

  /** The data of that name. A page from the disk may not fetch; the build for reading there has them as scripts too. */
  function load(name) {
    const address = (ending) => file(name + ending);
    if (location.protocol !== "file:") {
      return fetch(address(isPacked(name) ? ".json.gz" : ".json")).then((answer) => {
        if (!answer.ok) throw new Error(String(answer.status));
        return isPacked(name) ? unpacked(answer) : answer.json();
      });
    }
    return new Promise((resolve, reject) => {
      const data = Object.assign(document.createElement("script"), { src: address(".js").href });
      data.onload = () => resolve(window["perfledger_" + name.replace("/", "_")]);
      data.onerror = () => reject(new Error(name + ".js"));
      document.head.append(data);
    });
  }

  /** The address of a page of this site, however the site is built: with a folder or a file per page. */
  function page(path, language) {
    const asFiles = document.querySelector('a[href$="compare.html"], link[href$="compare.html"]') || /(?:^|\/)compare\.html$/.test(location.pathname);
    let target = path.split(/[?#]/)[0];
    const rest = path.slice(target.length);
    if (asFiles) target = /^(?:runs|models\/[^/]+)\/$/.test(target) ? target + "index.html" : target.replace(/\/$/, ".html");
    else if (location.protocol === "file:") target += "index.html";
    const root = new URL("../../" + (language === "en" ? "" : language + "/"), script);
    return new URL(target, root).href + rest;
  }

  /** An element with attributes and children; text is never markup. */
  function make(tag, attributes, ...children) {
    const found = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => {
      if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
      else if (value === true) found.setAttribute(name, "");
      else if (value !== false && value !== undefined && value !== null) found.setAttribute(name, value);
    });
    found.append(...children.filter((each) => each !== null && each !== undefined && each !== ""));
    return found;
  }

  /** A text with values in place of its names in braces. */
  const filled = (text, values = {}) => text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));

  /** Keep a choice in the address; a browser may keep the address of a page from the disk as it is. */
  function remember(how, address) {
    try {
      history[how](null, "", address);
    } catch (error) {
      // The link to the other language has the choice all the same.
    }
  }

  /** The choice goes along to the other language; a part of it to the front page and to Compare, which have more axes. */
  function carry() {
    const { search, hash } = location, { axis, model, hardware, devices, precision } = window.plChips.choice;
    document.querySelectorAll(".md-select a[hreflang], a.md-select__link").forEach((link) => {
      link.href = Object.assign(new URL(link.href), { search, hash }).href;
    });
    document.querySelectorAll(".md-tabs a, .md-nav--primary a, .md-header__button.md-logo").forEach((link) => {
      const target = new URL(link.href), path = target.pathname.replace(/(?:index)?\.html$/, "").replace(/\/$/, "");
      const root = new URL("../../", script).pathname.replace(/\/$/, ""), isFront = [root, root + "/zh"].includes(path);
      if (!isFront && ![root + "/compare", root + "/zh/compare"].includes(path)) return;
      const choice = { hardware, devices, precision, ...(isFront ? {} : { axis, model }) };
      target.search = new URLSearchParams(Object.entries(choice).filter(([, value]) => value && value !== "all"));
      link.href = target.href;
    });
  }

  if (window.plChips) {
    document.addEventListener("pl-chosen", carry);
    window.addEventListener("hashchange", carry);
    carry();
  }
  return { carry, file, filled, load, make, page, remember };
})();
