"""Notes on published figures: those that a table contains, and those that follow from the row.

A note is a code with a value, like an option, and its sentence is in `[note]` of the words file. Any other part of a
note is somebody's own text, and is shown unchanged.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from perfledger.ingest.published.publications import Published

#: Codes that pages do not show: each place that prints a figure has a page of its own. The data has them.
_IN_DATA_ONLY = frozenset({"same_value_in"})
_CODED = re.compile(r"([a-z][a-z0-9_]*)=(.*)", re.DOTALL)


class PublishedNote(NamedTuple):
    """A code with its value; or a text without a code."""

    key: str
    value: str


def notes(row: Published) -> tuple[PublishedNote, ...]:
    """Return what pages say of a figure: that its precision is not the printed one, and what its table notes."""
    return (*_of_precision(row), *(each for each in written(row.note) if each.key not in _IN_DATA_ONLY))


def written(text: str) -> tuple[PublishedNote, ...]:
    """Return the notes of a cell: `printed_unit=MB; Measured again.` are two."""
    parts = filter(None, (each.strip() for each in text.split(";")))
    return tuple(
        PublishedNote(*found.groups()) if (found := _CODED.fullmatch(each)) else PublishedNote("", each)
        for each in parts
    )


def _of_precision(row: Published) -> tuple[PublishedNote, ...]:
    if not row.printed_precision:
        return ()
    return (PublishedNote("log_precision" if row.log else "counted_precision", row.precision),)
