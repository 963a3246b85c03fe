"""MkDocs hook: each language has a search index of its own, which theme/assets/js/search-worker.js reads.

The theme's plugin writes one index of all languages as HTML. A reader would load twice what is of use, find each page
twice, and find `&amp;` with `amp`. The theme looks for the index below `base`; theme/main.html says for each language
where that is.
"""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from material.plugins.search import plugin  # type: ignore[import-untyped]
from mkdocs.plugins import event_priority
from msgspec import Struct


class SearchEntry(Struct, frozen=True, omit_defaults=True):
    """A page, section or result that the search finds."""

    location: str
    title: str
    text: str
    boost: float = 1


class SearchIndex(Struct, frozen=True):
    """The index as the theme's plugin writes it; `config` also has the words that mean the same, for our script."""

    config: dict[str, object]
    docs: list[SearchEntry]


INDEX = Path("search") / "search_index.json"
#: Name and beginning of the same index in a site that is opened from the disk.
SCRIPT, ASSIGNED = Path("search") / "search_index.js", b"var __index = "
SAME_WORDS = Path(__file__).resolve().parents[1] / "search.toml"
#: Models that no suite describes rank below those that have one.
OF_UNNAMED_MODELS = "models/model-"
UNNAMED = 0.25
#: A tag, or the text up to the next one: our pages write `>` in attributes as a reference.
_PART = re.compile(r"<(/?)([a-z][a-z0-9]*)([^>]*)>|([^<]+)")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
#: Tags between which words do not touch.
_APART = ("p", "pre", "li", "ol", "ul")
_ID = re.compile(r' id="([^"]+)"')
#: In a tag: the search passes over it and what is in it.
_PASSED_OVER = re.compile(r' data-search-exclude| class="headerlink"')
#: Results that pages name for the search, by language.
_hits: dict[str, list[SearchEntry]] = {}


class Sections:
    """Divides a page into a section per heading, as the theme's parser does, with one pattern."""

    def __init__(self) -> None:
        self.data: list[Any] = []

    def feed(self, page: str) -> None:
        """Read the HTML of a page."""
        self.data = [plugin.Section(plugin.Element("above the first heading"))]
        into, passing, depth = self.data[0].text, "", 0
        for end, tag, attributes, text in _PART.findall(page):
            if passing:
                depth += (-1 if end else 1) if tag == passing else 0
                passing = passing if depth else ""
            elif tag in _HEADINGS:
                into = self.data[-1].text if end else self._begun(tag, attributes)
            elif not end and tag and _PASSED_OVER.search(attributes):
                passing, depth = tag, 1
            else:
                into.append(" " if tag in _APART else text)

    def close(self) -> None:
        """Leave out what is above the first heading if that is nothing."""
        self.data = [each for each in self.data if "".join([*each.title, *each.text]).strip()]

    def _begun(self, tag: str, attributes: str) -> list[str]:
        """Begin the section of a heading, and return where its title goes; the title of the page has no anchor."""
        left_out = {"data-search-exclude": None} if _PASSED_OVER.search(attributes) else {}
        self.data.append(plugin.Section(plugin.Element(tag, left_out)))
        named = _ID.search(attributes)
        self.data[-1].id = named[1] if named and tag != "h1" else None
        title: list[str] = self.data[-1].title
        return title


def on_config(config: Any) -> Any:
    """Divide pages ourselves, and keep the theme from cutting Chinese into words where jieba is installed."""
    plugin.jieba = None
    plugin.Parser = Sections
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> None:
    """Collect the results that a page names for the search: pages with a filter."""
    if "hits" in page.meta:
        _hits[page.file.src_uri.partition("/")[0]] = [
            SearchEntry(_location(path), title, text) for title, text, path in page.meta["hits"]
        ]


def _location(page: str) -> str:
    """Return where a page with a query is: `models/bert/index.md?devices=1` lies at `models/bert/?devices=1`."""
    path, mark, query = page.partition("?")
    return path.removesuffix("index.md").removesuffix(".md").rstrip("/") + "/" + mark + query


@event_priority(-200)
def on_post_build(config: Any) -> None:
    """After the plugins that write the index, as JSON and, for a site on the disk, as a script.

    It is called once per language, and the index grows in between: what is there of a language is written then.
    """
    site = Path(config["site_dir"])
    if not (site / INDEX).is_file():
        return
    found = msgspec.json.decode((site / INDEX).read_bytes(), type=SearchIndex)
    folders = ["", *_folders(config)]
    for folder in folders:
        mine = [_plain(each, folder) for each in found.docs if _folder(each.location, folders) == folder]
        if mine or not folder:
            named = _hits.get(folder.rstrip("/") or _default(config), [])
            _write(site, folder, SearchIndex({**found.config, "same": _same()}, [*mine, *named]))


def _same() -> list[list[str]]:
    found: list[list[str]] = tomllib.loads(SAME_WORDS.read_text("utf-8"))["same"]
    return found


def _plain(entry: SearchEntry, folder: str) -> SearchEntry:
    """Return an entry without references, with its location relative to the language's folder."""
    location = entry.location[len(folder) :]
    boost = entry.boost * UNNAMED if location.startswith(OF_UNNAMED_MODELS) else entry.boost
    return SearchEntry(location, _text(entry.title), _text(entry.text), boost)


def _text(marked: str) -> str:
    return " ".join(html.unescape(marked).split())


def _folders(config: Any) -> list[str]:
    """Return the folders of all languages but the one at the root, as `zh/`."""
    languages = config["plugins"]["i18n"].config["languages"] if "i18n" in config["plugins"] else ()
    return [f"{each.locale}/" for each in languages if each.build and not each.default]


def _default(config: Any) -> str:
    languages = config["plugins"]["i18n"].config["languages"] if "i18n" in config["plugins"] else ()
    return next((str(each.locale) for each in languages if each.default), "en")


def _folder(location: str, folders: Iterable[str]) -> str:
    return max((each for each in folders if location.startswith(each)), key=len)


def _write(site: Path, folder: str, index: SearchIndex) -> None:
    text = msgspec.json.encode(index)
    (site / folder / INDEX).parent.mkdir(parents=True, exist_ok=True)
    (site / folder / INDEX).write_bytes(text)
    if (site / SCRIPT).is_file():
        (site / folder / SCRIPT).write_bytes(ASSIGNED + text)
