/* The search, in place of the theme's worker: it answers the theme's messages. A site has some thousand short sections,
   so each query reads all of them, and there is no index to build.

   Chinese has no blanks between words. It is found as it is written; if that is nowhere, by pairs of its characters. */
(() => {
  "use strict";

  const SETUP = 0, READY = 1, QUERY = 2, RESULT = 3; // the theme's messages
  const HAN = "[\\u3400-\\u9fff]";
  const EXACT_TITLE = 10, PREFIX_TITLE = 6, EXACT_TEXT = 1, PREFIX_TEXT = 0.5;
  const TEASERS = 2; // sections shown below a page
  const SNIPPET = 180; // characters
  const LONGEST = 300; // characters of a query that are searched: browsers refuse patterns of some ten thousand
  const BEFORE = 60; // characters of a snippet before the word
  let sections = [], same = [];

  const plain = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  /** A word as a pattern: `resnet50`, `ResNet-50` and `resnet 50` are one word. */
  function pattern(word) {
    const loose = word
      .split(/[-_\s]+|(?<=[a-z])(?=\d)/i)
      .filter(Boolean)
      .map(plain)
      .join("[-_\\s]?");
    const start = /^[a-z0-9]/i.test(word) ? "(?<![a-z0-9])" : "";
    const end = /[a-z0-9]$/i.test(word) ? "(?![a-z0-9])" : "";
    return { exact: new RegExp(start + loose + end, "gi"), prefix: new RegExp(start + loose, "gi") };
  }

  const term = (word, words = [word]) => ({ word, patterns: words.map(pattern) });

  const occurs = ({ patterns }) =>
    sections.some(({ doc }) => patterns.some(({ prefix }) => `${doc.title}\n${doc.text}`.search(prefix) >= 0));

  /** The terms of a query: words that mean the same are one term. */
  function termsOf(query) {
    const terms = [];
    let rest = query.slice(0, LONGEST).replace(/["“”]/g, " ").trim();
    for (const words of same) {
      const said = words.find((each) => rest.search(pattern(each).exact) >= 0);
      if (!said) continue;
      rest = rest.replace(pattern(said).exact, " ");
      terms.push(term(said, words));
    }
    const split = new RegExp(`(?<=${HAN})(?!${HAN})|(?<!${HAN})(?=${HAN})|\\s+`);
    for (const word of rest.split(split).filter((each) => /[\p{L}\p{N}]/u.test(each))) {
      const whole = term(word);
      const pairs = word.length > 2 && new RegExp(HAN).test(word) && !occurs(whole);
      terms.push(...(pairs ? [...word].slice(1).map((_, index) => term(word.slice(index, index + 2))) : [whole]));
    }
    return terms;
  }

  /** How well a text answers a term; in a title, the more it is of the whole the better. */
  function found(text, { patterns }, exactly, begins) {
    let best = 0;
    for (const { exact, prefix } of patterns) {
      const match = text.match(exact), part = match || text.match(prefix);
      if (part) best = Math.max(best, (match ? exactly : begins) * (0.5 + (0.5 * part[0].length) / text.length));
    }
    return best;
  }

  const scored = ({ doc }, terms) =>
    terms.map((each) => found(doc.title, each, EXACT_TITLE, PREFIX_TITLE) + found(doc.text, each, EXACT_TEXT, PREFIX_TEXT));

  const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);

  function marked(text, terms) {
    const all = terms.flatMap(({ patterns }) => patterns.map(({ prefix }) => prefix.source)).join("|");
    const parts = text.split(new RegExp(`(${all})`, "gi"));
    return parts.map((part, index) => (index % 2 ? `<mark>${escaped(part)}</mark>` : escaped(part))).join("");
  }

  function snippet(text, terms) {
    const places = terms.flatMap(({ patterns }) => patterns.map(({ prefix }) => text.search(prefix))).filter((at) => at >= 0);
    const near = Math.max(0, Math.min(...places, text.length) - BEFORE);
    const first = places.length && near ? text.indexOf(" ", near) + 1 || near : 0;
    const shown = text.slice(first, first + SNIPPET);
    return (first ? "… " : "") + marked(shown, terms) + (first + SNIPPET < text.length ? " …" : "");
  }

  /** An item as the theme draws it: with `score` 0 it waits below "more on this page". */
  function item(section, terms, scores, score) {
    const matched = Object.fromEntries(terms.map(({ word }, index) => [word, scores[index] > 0]));
    return { ...section.doc, title: marked(section.doc.title, terms), text: snippet(section.doc.text, terms), score, terms: matched };
  }

  function answer(query) {
    const terms = termsOf(query), pages = new Map();
    if (!terms.length) return [];
    for (const section of sections) {
      const scores = scored(section, terms);
      const page = pages.get(section.page) || { sections: [], best: terms.map(() => 0) };
      page.sections.push({ section, scores, score: sum(scores) });
      // A section's title says less about the page than the page's own.
      page.best = page.best.map((best, index) => Math.max(best, scores[index] * (section.isPage ? 1 : 0.5)));
      pages.set(section.page, page);
    }
    const ranked = [...pages.values()].map((page) => {
      const [article, ...rest] = page.sections;
      const share = page.best.filter(Boolean).length / terms.length;
      return { page, article, rest, share, score: sum(page.best) * (article.section.doc.boost || 1) };
    });
    return ranked
      .filter(({ share }) => share)
      .sort((one, other) => other.share - one.share || other.score - one.score)
      .map(({ page, article, rest }) => {
        const others = rest.filter(({ score }) => score).sort((one, other) => other.score - one.score);
        const below = others.map(({ section, scores }, index) => {
          const words = terms.filter((_, place) => scores[place]); // the page's other words are not missing here
          return item(section, words, words.map(() => 1), index < TEASERS ? 1 : 0);
        });
        return [item(article.section, terms, page.best, 1), ...below];
      });
  }

  function set({ config, docs }) {
    same = config.same || [];
    sections = docs.map((doc) => {
      const page = doc.location.split("#")[0];
      return { doc, page, isPage: page === doc.location };
    });
  }

  addEventListener("message", ({ data: { type, data } }) => {
    if (type === SETUP) {
      set(data);
      postMessage({ type: READY });
    } else if (type === QUERY) {
      postMessage({ type: RESULT, data: { items: answer(data) } });
    }
  });
})();
