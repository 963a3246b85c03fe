/* The choice as an address and back: `?model=resnet50&hardware=…&by=devices`. */
(function () {
  "use strict";

  const compare = window.perfledger.compare;
  const OPTION = "option.";
  /** The level that an address without one means. */
  const LEVEL = JSON.parse(document.getElementById("pl-compare").dataset.config).level;

  /** What an address asks for: lists for the facets, texts for the rest. */
  function read(search) {
    const given = new URLSearchParams(search);
    const wanted = { options: {}, published: given.get("published") === "1" };
    ["model", "by", "level", "metric", "ref"].forEach((name) => { if (given.get(name)) wanted[name] = given.get(name); });
    compare.board.FACETS.forEach((facet) => { if (given.has(facet)) wanted[facet] = given.getAll(facet); });
    given.forEach((value, name) => { if (name.startsWith(OPTION)) wanted.options[name.slice(OPTION.length)] = value; });
    return wanted;
  }

  /** A complete choice as an address: what is said by leaving it out is left out. */
  function written(choice) {
    const given = new URLSearchParams();
    given.set("model", choice.model || "");
    if (choice.by !== "framework") given.set("by", choice.by);
    if (choice.level !== LEVEL) given.set("level", choice.level);
    compare.board.FACETS.forEach((facet) => {
      choice[facet].forEach((value) => given.append(facet, value));
      if (compare.board.leftOpen(facet, choice)) given.set(facet, compare.board.ALL);
    });
    Object.keys(choice.options).sort().forEach((name) => given.set(OPTION + name, choice.options[name]));
    if (choice.metric !== "throughput") given.set("metric", choice.metric);
    if (choice.published) given.set("published", "1");
    if (choice.ref) given.set("ref", choice.ref);
    return "?" + given.toString();
  }

  compare.address = { read: read, written: written };
})();
