"""Templates to Markdown: what a template prints is escaped unless we made the markup ourselves."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from urllib.parse import quote

import yaml
from markupsafe import Markup

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import LANGUAGES, Text, Words, counted, phrase
from perfledger.ingest.site.model import Hit, Page
from perfledger.ingest.site.render import drawing
from perfledger.ingest.site.render.chart import CHARTS, Chart
from perfledger.ingest.site.render.environment import environment, located
from perfledger.ingest.site.render.html_table import Writer, attributes
from perfledger.ingest.site.render.text import as_data, code, code_block, escape, slug, title

#: Pages of prose, which print numbers and tables only: nothing is escaped for Markdown. The templates of all others
#: write HTML, which hooks/blocks.py leads past Markdown.
OF_MARKDOWN = ("data", "method", "running", "submitting")
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # in C where libyaml is there, five times as fast
_ONE_LINE = 1 << 30
SPACE = {"en": Markup(" "), "zh": Markup("")}  # between sentences: Chinese sets none


def rendered(words: Words, page: Page) -> Iterator[str]:
    """Yield a page in each language, as Markdown with front matter, from one context."""
    made = page.context()
    context = {each.name: getattr(made, each.name) for each in fields(made)}
    for language in LANGUAGES:
        writer = Writer(words, language, partial(relative, page.path))
        names = {**_tools(words, language, writer), **context}
        with located():
            body = environment().get_template(f"{page.template}.md.j2").render(names)
        has_charts = '<figure class="pl-chart"' in body and CHARTS not in page.scripts
        scripts = (*page.scripts, *([CHARTS] if has_charts else []))
        yield _front_matter(words, language, page, scripts, context.get("hits")) + _tidy(body)


def relative(page_path: str, target: str) -> str:
    """Return a relative link from one page to another; an address of another site stays as it is."""
    if target.startswith("https://"):
        return quote(target, safe="/:#?&=%")
    # `language` replaces the folder of a language; files that both languages share are outside of it.
    return posixpath.relpath(f"/language/{target}", posixpath.dirname(f"/language/{page_path}"))


def _tools(words: Words, language: str, writer: Writer) -> Mapping[str, object]:
    """Return what templates may call: words, tables, links, code, charts and numbers."""

    def w(key: str, **args: object) -> Markup:
        return escape(words.say(language, phrase(key, **args)))

    def n_of(key: str, n: int) -> Markup:
        return escape(words.say(language, counted(key, n)))

    def link(text: Text, target: str | None) -> Markup:
        shown = writer.say(text)
        return Markup('<a href="{}">{}</a>').format(writer.link(target), shown) if target else shown

    def prose(entries: Mapping[str, Mapping[str, str]], key: str) -> Markup:
        return Markup("<p>{}</p>").format(escape(entries[key][language])) if key in entries else Markup("")

    def chart(found: Chart) -> Markup:
        return _figure(words, language, found, writer.link)

    def listed(texts: list[Text]) -> str:
        return str(comma).join(words.say(language, each) for each in texts)

    comma, colon = (Markup(words.text(language, f"site.{each}")) for each in ("comma", "colon"))

    return {
        "language": language,
        "comma": comma,
        "colon": colon,
        "space": SPACE[language],
        "w": w,
        "n_of": n_of,
        "say": writer.say,
        "table": writer.table,
        "caution": writer.caution,
        "facets": attributes,
        "link": link,
        "prose": prose,
        "listed": listed,
        "code": code,
        "code_block": code_block,
        "numbers": numbers,
        "slug": slug,
        "chart": chart,
        "page_link": lambda target: Markup(writer.link(target)),
        "script_data": lambda data, tables: _script_data(words, language, data, tables),
    }


def _script_data(words: Words, language: str, data: Mapping[str, object], tables: Sequence[str]) -> Markup:
    """Return data and tables of words for a script of the page, as the value of an attribute."""
    keys = [key for key in words.entries if key.partition(".")[0] in tables and words.has(key)]
    texts = {key: words.entries[key][language] for key in keys}
    return as_data(json.dumps({**data, "language": language, "words": texts}, ensure_ascii=False, sort_keys=True))


def _figure(words: Words, language: str, found: Chart, link: Callable[[str], str]) -> Markup:
    """Return the figure of a chart: a drawing for wide places, and one for narrow places and phones."""
    say, spec = partial(words.say, language), found.said(words, language, link)
    description = found.described(words, language)
    drawings = (drawing.draw(spec, width, say, description) for width in (drawing.WIDE, drawing.NARROW))
    return Markup(
        '<figure class="pl-chart" data-search-exclude="">\n<figcaption><b>{}</b> {}</figcaption>\n{}\n</figure>'
    ).format(escape(say(found.spec.title)), escape(say(found.text)), Markup("\n".join(drawings)))


def _front_matter(words: Words, language: str, page: Page, scripts: Sequence[str], hits: Sequence[Hit] | None) -> str:
    """Return what MkDocs and our hooks know about a page: a block of YAML with the members that are not empty."""
    chips = page.selection() if page.selection else None
    data = {
        "title": title(words.say(language, page.title)),
        "description": title(words.say(language, page.description)),
        "generated": words.text(language, "site.generated"),
        # The room of the headings is for pages that are wide; the navigation stays, so that no page moves sideways.
        "hide": ["toc"] if page.template in ("index", "compare", "hardware", "model", "models", "runs") else [],
        "html": page.template not in OF_MARKDOWN or None,
        "order": page.order,
        "group": title(page.group or ""),
        "chips": asdict(chips) if chips else None,
        "scripts": list(scripts),
        "image": page.picture(words, language).path if page.picture else "",
        "search": _search(page),
        "hits": None if hits is None else _hits(words, language, hits),
    }
    stated = {name: value for name, value in data.items() if value not in (None, "", [], {})}
    return f"---\n{yaml.dump(stated, Dumper=_DUMPER, allow_unicode=True, sort_keys=False, width=_ONE_LINE)}---\n\n"


def _hits(words: Words, language: str, hits: Sequence[Hit]) -> list[list[str]]:
    """Return the hits for the hook of the search, which knows how the site builds addresses."""
    return [[*(title(words.say(language, text)) for text in (each.title, each.text)), each.page] for each in hits]


def _search(page: Page) -> Mapping[str, object]:
    if page.boost == 1:
        return {}
    return {"boost": page.boost} if page.boost else {"exclude": True}


def _tidy(text: str) -> str:
    """Remove trailing blanks and repeated blank lines, which loops in templates leave."""
    out: list[str] = []
    for line in (each.rstrip() for each in text.splitlines()):
        if line or (out and out[-1]):
            out.append(line)
    return "\n".join(out).strip("\n") + "\n"
