// Tables: sorting, filtering and copying; and what scrolls. Every figure is in the page already.
(() => {
  "use strict";

  const FILTERED_ABOVE = 14; // as in ingest/site/render/html_table.py
  const language = document.documentElement.lang;
  const SORTED_ABOVE = 3;
  const collator = new Intl.Collator(language, { numeric: true, sensitivity: "base" });
  const found = document.getElementById("pl-words");
  const words = found ? JSON.parse(found.textContent) : {};
  const boxes = [...document.querySelectorAll(".pl-table")].filter((box) => box.querySelector(".pl-grid"));
  const sorted = new WeakMap(); // table -> {index, direction}; none in the original order

  const say = (key, values = {}) =>
    (words[key] || "").replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));

  function make(tag, properties, ...children) {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  }

  const bodyRows = (box) => [...box.querySelectorAll(".pl-grid > tbody > tr")];

  // A number, a text, or null for what is absent.
  function valueOf(row, index) {
    const cell = row.cells[index];
    if (!cell) return null;
    const stated = cell.dataset.value !== undefined ? cell : cell.querySelector("[data-value]");
    if (stated) return Number(stated.dataset.value);
    if (cell.querySelector(".pl-absent")) return null;
    return cell.textContent.trim() || null;
  }

  // Absent ones come last whichever way; words (out of memory) stand between them and the numbers.
  const rank = (value) => (value === null ? 2 : typeof value === "string" ? 1 : 0);

  function compare(one, other, direction) {
    if (rank(one) !== rank(other)) return rank(one) - rank(other);
    if (one === null) return 0;
    return direction * (typeof one === "number" ? one - other : collator.compare(one, other));
  }

  function arrange(box) {
    const state = sorted.get(box);
    const rows = [...box.plRows];
    if (state) {
      const values = new Map(rows.map((row) => [row, valueOf(row, state.index)]));
      rows.sort((one, other) => compare(values.get(one), values.get(other), state.direction));
    }
    box.querySelector(".pl-grid > tbody").append(...rows);
  }

  function sortBy(box, head) {
    const index = head.cellIndex;
    const before = sorted.get(box);
    const mine = before && before.index === index;
    const next = !mine ? 1 : before.direction === 1 ? -1 : 0;
    for (const each of box.querySelectorAll("thead th")) each.removeAttribute("aria-sort");
    if (next) {
      sorted.set(box, { index, direction: next });
      head.setAttribute("aria-sort", next === 1 ? "ascending" : "descending");
    } else {
      sorted.delete(box);
    }
    arrange(box);
  }

  function addSorting(box) {
    for (const head of box.querySelectorAll("thead th")) {
      const title = titleOf(head);
      if (!title) continue;
      const button = make("button", { type: "button", className: "pl-sort" });
      button.setAttribute("aria-label", say("table_sort", { column: title }));
      head.append(button);
      head.classList.add("pl-sorts");
      head.addEventListener("click", (event) => {
        if (!event.target.closest("a")) sortBy(box, head);
      });
    }
  }

  const titleOf = (head) =>
    [...head.childNodes].filter((node) => node.nodeName !== "SMALL").map((node) => node.textContent).join("").trim();

  function filter(box, field, status) {
    const asked = field.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of box.plRows) {
      const text = [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase();
      row.hidden = !asked.every((each) => text.includes(each));
      shown += row.hidden ? 0 : 1;
    }
    status.textContent = asked.length ? say("table_shown", { n: shown, all: box.plRows.length }) : "";
  }

  function addFilter(box, tools) {
    const field = make("input", { type: "search", className: "pl-filter", placeholder: say("table_filter") });
    field.setAttribute("aria-label", say("table_filter"));
    const status = make("span", { className: "pl-shown" });
    status.setAttribute("role", "status");
    tools.append(field, status);
    box.plFilter = () => filter(box, field, status);
    field.addEventListener("input", box.plFilter);
  }

  // CSV as in RFC 4180: figures before rounding. An apostrophe keeps a text from being a formula of a spreadsheet.
  function csvOf(box) {
    const heads = [...box.querySelectorAll("thead th")];
    const text = (value) => (typeof value === "string" ? value.replace(/^[=+\-@\uff1d\uff0b\uff0d\uff20]/, "'$&") : String(value ?? ""));
    const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const rows = bodyRows(box).filter((row) => !row.hidden);
    const lines = rows.map((row) => heads.map((head, index) => quoted(text(valueOf(row, index)))));
    return [heads.map((head) => quoted(text(head.dataset.key))), ...lines].map((line) => `${line.join(",")}\r\n`).join("");
  }

  function addCopy(box) {
    if (!navigator.clipboard) return;
    const button = make("button", { type: "button", className: "pl-copy", textContent: say("table_copy") });
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(csvOf(box));
      button.textContent = say("table_copied");
      setTimeout(() => (button.textContent = say("table_copy")), 2000);
    });
    box.append(button);
  }

  // What scrolls can be reached by keyboard, and has a name, only while there is something to scroll to.
  function followSize(scroll, content, names) {
    const update = () => {
      const scrolls = scroll.scrollWidth > scroll.clientWidth + 1 || scroll.scrollHeight > scroll.clientHeight + 1;
      for (const [name, value] of Object.entries({ tabindex: 0, ...names })) {
        if (scrolls) scroll.setAttribute(name, value);
        else scroll.removeAttribute(name);
      }
    };
    const observer = new ResizeObserver(update);
    observer.observe(scroll);
    observer.observe(content);
  }

  // Not as a landmark: of tables there are many on a page.
  function followTable(box) {
    const scroll = box.querySelector(".pl-scroll");
    const table = box.querySelector(".pl-grid");
    const label = table.getAttribute("aria-labelledby");
    const name = label ? { "aria-labelledby": label } : { "aria-label": say("table_region") };
    if (scroll) followSize(scroll, table, { role: "group", ...name });
  }

  // A short list of facts is read, not sorted.
  function addHeads(box) {
    box.plRows = bodyRows(box);
    const many = box.plRows.length > FILTERED_ABOVE;
    if (many || (box.plRows.length > SORTED_ABOVE && box.querySelector("thead .pl-n"))) addSorting(box);
    followTable(box);
    return many;
  }

  boxes.forEach((box) => {
    const tools = box.querySelector(":scope > .pl-tools");
    const many = addHeads(box);
    if (tools && many) addFilter(box, tools);
    if (box.plRows.length > SORTED_ABOVE) addCopy(box);
  });
})();
