"""MkDocs hook: each language has a search index of its own, since every page fetches one.

The theme's plugin writes one index of all languages. A reader would load twice what is of use, and find each page
twice. The theme looks for the index below `base`; theme/main.html says for each language where that is.
"""

from __future__ import annotations

import json
import logging
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority

INDEX = Path("search") / "search_index.json"
#: As jieba calls it.
DICTIONARY = "jieba.cache"
#: What the same index is called, and how it begins, in a site that is opened from the disk.
SCRIPT, ASSIGNED = Path("search") / "search_index.js", "var __index = "
#: What a page names for the search besides itself, by language.
_hits: dict[str, list[dict[str, str]]] = {}


def on_config(config: Any) -> Any:
    """Silence jieba, which prints about its dictionary on every build; keep it from a dictionary of someone else.

    It keeps its dictionary as `marshal` in the folder for temporary files, where others may have put one.
    """
    import jieba  # type: ignore[import-untyped,import-not-found,unused-ignore]

    jieba.setLogLevel(logging.WARNING)
    if not _is_mine(Path(tempfile.gettempdir()) / DICTIONARY):
        jieba.dt.tmp_dir = tempfile.mkdtemp(prefix="perfledger-")
    return config


def _is_mine(path: Path) -> bool:
    """Return whether a file is one that nobody else can have written, or is not there."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return True
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


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
            _write(site, folder, {**found, "docs": [*_below(folder, mine), *named]})


def _folders(config: Any) -> list[str]:
    """Return the folders of all languages but the one at the root, as `zh/`."""
    languages = config["plugins"]["i18n"].config["languages"] if "i18n" in config["plugins"] else ()
    return [f"{each.locale}/" for each in languages if each.build and not each.default]


def _default(config: Any) -> str:
    languages = config["plugins"]["i18n"].config["languages"] if "i18n" in config["plugins"] else ()
    return next((str(each.locale) for each in languages if each.default), "en")


def _folder(location: str, folders: Iterable[str]) -> str:
    return max((each for each in folders if location.startswith(each)), key=len)


def _below(folder: str, docs: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    """Return the entries with locations relative to the language's folder."""
    return ({**each, "location": each["location"][len(folder) :]} for each in docs)


def _write(site: Path, folder: str, index: Mapping[str, Any]) -> None:
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    (site / folder / INDEX).parent.mkdir(parents=True, exist_ok=True)
    (site / folder / INDEX).write_text(text, "utf-8")
    if (site / SCRIPT).is_file():
        (site / folder / SCRIPT).write_text(f"{ASSIGNED}{text}", "utf-8")
