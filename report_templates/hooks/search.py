"""MkDocs hook: each language has a search index of its own, which theme/assets/js/search-worker.js reads.

The theme's plugin writes one index of all languages as HTML. A reader would load twice what is of use, find each page
twice, and find `&amp;` with `amp`. The theme looks for the index below `base`; theme/main.html says for each language
where that is.
"""

from __future__ import annotations

import html
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from material.plugins.search import plugin  # type: ignore[import-untyped]
from mkdocs.plugins import event_priority

INDEX = Path("search") / "search_index.json"
#: Name and beginning of the same index in a site that is opened from the disk.
SCRIPT, ASSIGNED = Path("search") / "search_index.js", "var __index = "
SAME_WORDS = Path(__file__).resolve().parents[1] / "search.toml"
#: Models that no suite describes rank below those that have one.
OF_UNNAMED_MODELS = "models/model-"
UNNAMED = 0.25
_INLINE = re.compile(r"</?(?:code|sub|sup)>")
_BLOCK = re.compile(r"</?(?:p|pre|li|ol|ul)>")
#: The summary of a folded table.
_ROWS = re.compile(r"Rows: \d+|共 \d+ 行")
#: What a page names for the search besides itself, by language.
_hits: dict[str, list[dict[str, str]]] = {}


def on_config(config: Any) -> Any:
    """Keep the theme from cutting Chinese into words where jieba is installed: the index would depend on it."""
    plugin.jieba = None
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> None:
    """Collect what a page names for the search besides itself: results, which are pages with a filter."""
    if "hits" in page.meta:
        _hits[page.file.src_uri.partition("/")[0]] = [
            {"location": _location(path), "title": title, "text": text} for title, text, path in page.meta["hits"]
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
    found = json.loads((site / INDEX).read_text("utf-8"))
    folders = ["", *_folders(config)]
    for folder in folders:
        mine = [each for each in found["docs"] if _folder(each["location"], folders) == folder]
        if mine or not folder:
            named = _hits.get(folder.rstrip("/") or _default(config), [])
            docs = [*(_plain(each, folder) for each in mine), *named]
            _write(site, folder, {"config": {**found["config"], "same": _same()}, "docs": docs})


def _same() -> list[list[str]]:
    found: list[list[str]] = tomllib.loads(SAME_WORDS.read_text("utf-8"))["same"]
    return found


def _plain(entry: Mapping[str, Any], folder: str) -> Mapping[str, Any]:
    """Return an entry as plain text, with its location relative to the language's folder."""
    location = entry["location"][len(folder) :]
    texts = {key: _text(entry[key]) for key in ("title", "text")}
    boost = entry.get("boost", 1) * (UNNAMED if location.startswith(OF_UNNAMED_MODELS) else 1)
    return {"location": location, **texts} | ({"boost": boost} if boost != 1 else {})


def _text(marked: str) -> str:
    return " ".join(_ROWS.sub("", html.unescape(_BLOCK.sub(" ", _INLINE.sub("", marked)))).split())


def _folders(config: Any) -> list[str]:
    """Return the folders of all languages but the one at the root, as `zh/`."""
    languages = config["plugins"]["i18n"].config["languages"] if "i18n" in config["plugins"] else ()
    return [f"{each.locale}/" for each in languages if each.build and not each.default]


def _default(config: Any) -> str:
    languages = config["plugins"]["i18n"].config["languages"] if "i18n" in config["plugins"] else ()
    return next((str(each.locale) for each in languages if each.default), "en")


def _folder(location: str, folders: Iterable[str]) -> str:
    return max((each for each in folders if location.startswith(each)), key=len)


def _write(site: Path, folder: str, index: Mapping[str, Any]) -> None:
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    (site / folder / INDEX).parent.mkdir(parents=True, exist_ok=True)
    (site / folder / INDEX).write_text(text, "utf-8")
    if (site / SCRIPT).is_file():
        (site / folder / SCRIPT).write_text(f"{ASSIGNED}{text}", "utf-8")
