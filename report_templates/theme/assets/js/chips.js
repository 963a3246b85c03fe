/* Chips choose among the rows of a page; the choice is in the address. Without this script, all rows are shown. */
(function () {
  "use strict";

  const form = document.querySelector(".pl-chips");
  if (!form) return;
  const groups = Array.from(form.querySelectorAll("fieldset"));
  const rows = Array.from(document.querySelectorAll(form.dataset.rows));
  const narrowed = Array.from(document.querySelectorAll(form.dataset.narrow || "none"));
  const status = form.querySelector("[role=status]");
  const most = Number(form.dataset.most);
  let chosen = {}; // name of a group -> value
  let all = false; // whether rows beyond `most` are shown

  const facet = (node, name) => node.getAttribute("data-f-" + name);
  const fits = (node, names) => names.every((name) => facet(node, name) === null || facet(node, name) === chosen[name]);
  const results = (found) => found.reduce((sum, row) => sum + Number(row.dataset.n || 1), 0);

  /** Take the choice from the address; a value that no row has is named. */
  function read() {
    const given = new URLSearchParams(location.search), gone = [];
    chosen = {};
    groups.forEach((group) => {
      const name = group.dataset.name, value = given.get(name);
      if (value && rows.some((row) => facet(row, name) === value)) chosen[name] = value;
      else if (value) gone.push(form.dataset.gone.replace("{name}", group.querySelector("legend").textContent).replace("{value}", value));
    });
    all = Boolean(target());
    show(gone);
    if (target()) target().scrollIntoView();
  }

  const target = () => { const found = document.getElementById(location.hash.slice(1)); return found && found.closest(form.dataset.rows); };

  function show(messages) {
    const names = Object.keys(chosen), found = rows.filter((row) => fits(row, names));
    rows.forEach((row) => { row.hidden = true; });
    found.forEach((row, index) => { row.hidden = !all && index >= most && row !== target(); });
    narrowed.forEach((node) => { node.hidden = !fits(node, names); });
    document.documentElement.classList.toggle("pl-narrowed", names.length > 0);
    document.documentElement.classList.add("pl-counted");
    groups.forEach((group) => count(group, names.filter((name) => name !== group.dataset.name)));
    say(found, messages);
    window.plSite.switchLanguages(location.search);
  }

  /** Each chip counts the results that it would show; without any it cannot be chosen, and says so. */
  function count(group, others) {
    const { name } = group.dataset, there = rows.filter((row) => fits(row, others));
    group.querySelectorAll("button").forEach((chip) => {
      const number = results(there.filter((row) => facet(row, name) === chip.value)), pressed = chosen[name] === chip.value;
      chip.querySelector("b").textContent = number;
      chip.setAttribute("aria-pressed", pressed);
      chip.disabled = !number && !pressed;
      chip.title = number ? "" : form.dataset.none;
      if (pressed) group.scrollLeft = chip.offsetLeft - group.clientWidth / 2; // on a phone, chips are one line
    });
  }

  function say(found, messages) {
    const texts = [...messages, form.dataset.status.replace("{n}", results(found)).replace("{rows}", found.length)];
    status.replaceChildren(texts.join(" "));
    if (!found.some((row) => row.hidden)) return;
    const more = Object.assign(document.createElement("button"), { type: "button", textContent: form.dataset.more.replace("{n}", found.length) });
    more.addEventListener("click", () => { all = true; show([]); });
    status.append(" ", more);
  }

  form.addEventListener("click", (event) => {
    const chip = event.target.closest("fieldset button");
    if (!chip) return;
    const { name } = chip.closest("fieldset").dataset, given = new URLSearchParams(location.search);
    if (chosen[name] === chip.value) delete chosen[name];
    else chosen[name] = chip.value;
    if (chosen[name]) given.set(name, chosen[name]);
    else given.delete(name);
    try {
      history.pushState(null, "", location.pathname + (given.size ? "?" + given : ""));
    } catch (error) {
      // A browser may keep the address of a page from the disk as it is.
    }
    show([]);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("popstate", read);
  window.addEventListener("hashchange", read);
  read();
})();
