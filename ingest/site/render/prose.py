"""Tables of sentences that a template writes in Markdown: `{% call prose_table() %}|a|b|…{% endcall %}`."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from perfledger.ingest.site.render.table import Column, Table, cell

if TYPE_CHECKING:
    from markdown import Markdown  # type: ignore[import-untyped]

_MARKED = re.compile(r"[`*_\[<&\\]")


def table(body: str) -> Table:
    """Return the rows between bars, their cells as HTML; the second row separates the head from the others.

    Raises:
        TableError: a row has more or fewer cells than the head.
    """
    head, _, *rows = [line.strip().strip("|").split("|") for line in body.splitlines() if line.startswith("|")]
    columns = tuple(Column(_html(title), key=f"column_{index}") for index, title in enumerate(head, 1))
    return Table(columns, tuple(tuple(cell(_html(text)) for text in row) for row in rows), name="text", prose=True)


def _html(text: str) -> Markup:
    text = text.strip()
    if not _MARKED.search(text):
        return Markup(text)
    converted: str = _markdown().reset().convert(text)
    return Markup(converted.removeprefix("<p>").removesuffix("</p>"))


@cache
def _markdown() -> Markdown:
    from markdown import Markdown

    return Markdown()
