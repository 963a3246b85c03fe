/* Hardware by model: the choice of the reader, the address that keeps it, and the table, whose data are a file per
   precision, devices and round. The table that the page begins with is in the page, and needs none. */
(function () {
  "use strict";

  const form = document.getElementById("pl-matrix");
  if (!form) return;
  const config = JSON.parse(form.dataset.config), words = config.words, language = config.language;
  const FIELDS = ["precision", "devices", "round"]; // which name a matrix; of some choices there is none
  const first = config.matrices[0];
  const FIGURE = form.figure.value;
  const table = document.getElementById("pl-matrix-table"), caption = document.getElementById("pl-matrix-caption");
  const coming = new Map(); // file -> the promise of its data
  let shown = { matrix: first, reference: first.reference, figure: FIGURE };

  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
  const say = (key, values) => fill(words["hardware." + key], values || {});
  const said = (text) => (text && typeof text === "object" ? text[language] : text);
  const label = (name) => form[name].closest("label").firstChild.textContent.trim();
  const text = (name) => form[name].selectedOptions[0].textContent;

  function make(tag, attributes, ...children) {
    const found = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => found.setAttribute(name, value));
    found.append(...children.filter(Boolean));
    return found;
  }

  /* ---- the choice, and its address ---- */

  /** The matrix that fits as many of some wishes as there is one for, the most important first; and what fits none. */
  function settle(wishes) {
    const gone = [];
    let left = config.matrices;
    wishes.forEach(([name, value]) => {
      const fitting = left.filter((each) => each[name] === value);
      if (fitting.length) left = fitting;
      else gone.push([name, value]);
    });
    return { matrix: left[0], gone };
  }

  function read() {
    const given = new URLSearchParams(location.search);
    const { matrix, gone } = settle(FIELDS.filter((name) => given.has(name)).map((name) => [name, given.get(name)]));
    const wanted = { reference: given.get("reference"), figure: given.get("figure") };
    if (wanted.reference && !matrix.hardware.includes(wanted.reference)) gone.push(["reference", wanted.reference]);
    const offered = Array.from(form.figure.options, (option) => option.value);
    if (wanted.figure && !offered.includes(wanted.figure)) gone.push(["figure", wanted.figure]);
    take(matrix, wanted.reference, offered.includes(wanted.figure) ? wanted.figure : FIGURE);
    complain(gone.map(([name, value]) => fill(form.dataset.gone, { name: label(name), value })));
  }

  function change(name) {
    const others = FIELDS.filter((each) => each !== name);
    const wishes = [...(FIELDS.includes(name) ? [name] : []), ...others].map((each) => [each, form[each].value]);
    take(settle(wishes).matrix, form.reference.value, form.figure.value);
    complain([]);
    try {
      history.pushState(null, "", address());
    } catch (error) {
      // A browser may keep the address of a page from the disk as it is.
    }
    window.plSite.switchLanguages(location.search);
  }

  function address() {
    const given = new URLSearchParams();
    if (shown.matrix !== first) FIELDS.forEach((name) => given.set(name, shown.matrix[name]));
    if (shown.reference !== shown.matrix.reference) given.set("reference", shown.reference);
    if (shown.figure !== FIGURE) given.set("figure", shown.figure);
    return "?" + given.toString();
  }

  function take(matrix, reference, figure) {
    const before = shown;
    shown = { matrix, reference: matrix.hardware.includes(reference) ? reference : matrix.reference, figure };
    Array.from(form.reference.options).forEach((option) => { option.hidden = option.disabled = !matrix.hardware.includes(option.value); });
    FIELDS.forEach((name) => { form[name].value = matrix[name]; });
    form.reference.value = shown.reference;
    form.figure.value = figure;
    if (Object.keys(shown).some((name) => shown[name] !== before[name])) fetched(shown);
  }

  function complain(messages) {
    form.querySelector(".pl-choose-said").replaceChildren(...messages.map((each) => make("span", {}, each)));
  }

  /** Draw a choice as soon as its data are here, unless the reader has chosen something else since. */
  function fetched(choice) {
    const file = choice.matrix.file;
    if (!coming.has(file)) coming.set(file, window.plSite.load("matrix/" + file));
    table.setAttribute("aria-busy", "true");
    coming.get(file).then((data) => {
      if (choice === shown) draw(data);
    }, () => {
      coming.delete(file);
      if (choice === shown) complain([say("failed")]);
    }).then(() => { if (choice === shown) table.removeAttribute("aria-busy"); });
  }

  /* ---- the table ---- */

  /** A multiple as the page writes it: Python rounds a tie to the even digit. */
  const written = (ratio) => ((ratio * 8) % 4 === 1 ? ratio - 0.005 : ratio).toFixed(2) + "×";

  function draw(data) {
    const at = shown.matrix.hardware.indexOf(shown.reference);
    const bases = data.rows[at].cells.map((cell) => (cell && cell.figures[shown.figure] ? cell.figures[shown.figure].value : 0));
    const heads = data.columns.map((column, index) => head(column, bases[index]));
    table.tHead.rows[0].replaceChildren(hardwareHead(), ...heads);
    table.tBodies[0].replaceChildren(...data.rows.map((row) => make("tr", {},
      make("th", { scope: "row" }, make("a", { href: page(row.page) }, said(row.name))),
      ...row.cells.map((each, index) => cell(each, data.columns[index], bases[index], at)))));
    const round = form.round.options.length > 1 || form.round.value ? [text("round")] : [];
    caption.textContent = [text("figure"), text("precision"), text("devices"), ...round, say("is_reference", { name: text("reference") })].join(" · ");
    if (window.plTables) window.plTables.renew(table.closest(".pl-table"));
  }

  const page = (path) => window.plSite.page(path, language);

  /** The head of the first column, without what the script of tables has put there. */
  function hardwareHead() {
    return make("th", { scope: "col" }, table.tHead.rows[0].cells[0].firstChild.textContent);
  }

  function head(column, base) {
    const unit = column.units[shown.figure];
    return make("th", { scope: "col", class: "pl-n" }, make("a", { href: page(column.page) + "?" + column.asked }, said(column.title)),
      column.about && make("small", {}, said(column.about)), make("small", {}, said(unit)), !base && make("small", {}, say("no_ratio")));
  }

  function cell(found, column, base, at) {
    const figure = found && found.figures[shown.figure];
    if (!figure) return make("td", { class: "pl-n" }, make("span", { class: "pl-absent" }, say("none")));
    const link = make("a", { href: page(found.page) }, figure.text);
    const close = base && figure.close.includes(at) && make("sup", { title: form.dataset.close }, "*");
    const caution = found.caution && make("sup", { class: "pl-warn", title: fill(form.dataset.caution, { text: said(found.caution) }) }, "?");
    const drawn = make("td", { class: column.compared ? "pl-n pl-multiple" : "pl-n", "data-value": figure.value, title: said(found.about) },
      make("span", {}, base ? written(figure.value / base) : link, close, caution), base && make("small", {}, link));
    drawn.style.setProperty("--s", ((100 * figure.value) / column.most[shown.figure]).toFixed(1));
    return drawn;
  }

  /* ---- events ---- */

  form.addEventListener("change", (event) => change(event.target.name));
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("popstate", read);
  read();
  window.plSite.switchLanguages(location.search);
})();
