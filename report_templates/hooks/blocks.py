"""MkDocs hook: our own HTML (tables, charts, lines of logs) goes round Markdown and round the search.

Both would read every tag of it, to find nothing: that took most of the time of a build, and figures of tables made
most of the search index. Such blocks leave the page before Markdown sees it, are there while hooks look at the
content, and come back when the page is written.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.plugins import CombinedEvent, event_priority

#: A table, as site/render/table.py writes it: its last line is the first that closes nothing but the box around it.
_TABLE = r'^(?:<p class="pl-caption">[^\n]*</p>\n+)?<div class="pl-table" data-search-exclude>\n.*?^</div>$'
#: A chart, or a part of a log, in the notation of pymdownx.snippets.
_FILE = r'^--8<-- "(?P<file>(?:charts|logs)/[^":]+)(?::(?P<part>[\w-]+))?"$'
_BLOCK = re.compile(f"{_TABLE}|{_FILE}", re.MULTILINE | re.DOTALL)
_PLACE = re.compile(r'<div data-block="(\d+)"></div>')
_SHOWN = re.compile(r'<!--block (\d+)-->(<p class="pl-caption".*?</p>)?(.*?)<!--/block-->', re.DOTALL)
_ID = re.compile(r' id="([^"]+)"')


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Takes the blocks out, and leaves a mark in the place of each."""
    page.blocks = []

    def taken(found: re.Match[str]) -> str:
        page.blocks.append(_read(Path(config["docs_dir"]), found, page) if found["file"] else found[0])
        return f'<div data-block="{len(page.blocks) - 1}"></div>'

    return _BLOCK.sub(taken, markdown)


def _read(docs: Path, found: re.Match[str], page: Any) -> str:
    """A file, or the part of it that is named."""
    try:
        text = (docs / found["file"]).read_text("utf-8").strip()
    except OSError as error:
        message = f"{page.file.src_uri}: {docs / found['file']}: {error.strerror}; run python -m ingest again"
        raise PluginError(message) from None
    if not found["part"]:
        return text
    begin, end = (f"<!-- --8<-- [{each}:{found['part']}] -->" for each in ("start", "end"))
    if begin not in text:
        raise PluginError(
            f"{page.file.src_uri}: {found['file']} has no part {found['part']}; run python -m ingest again"
        )
    return text.partition(begin)[2].partition(end)[0].strip()


@event_priority(100)
def _shown(html: str, /, page: Any, **_: Any) -> str:
    """Blocks in their places, for the hooks that look for links and tables; MkDocs hears of the anchors in them."""
    page.present_anchor_ids = (page.present_anchor_ids or set()).union(*map(_ID.findall, page.blocks))
    return _PLACE.sub(lambda place: f"<!--block {place[1]}-->{page.blocks[int(place[1])]}<!--/block-->", html)


@event_priority(-100)
def _kept(html: str, /, page: Any, **_: Any) -> str:
    """What the hooks made of the blocks, out of the way of the search; captions are words, and stay."""

    def taken(found: re.Match[str]) -> str:
        page.blocks[int(found[1])] = found[3]
        return f'{found[2] or ""}<div data-block="{found[1]}"></div>'

    return _SHOWN.sub(taken, html)


on_page_content = CombinedEvent(_shown, _kept)


@event_priority(100)
def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Puts the blocks back."""
    return _PLACE.sub(lambda place: page.blocks[int(place[1])], output)
