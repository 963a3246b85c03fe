"""What is said of a published figure besides its case: notes that a table writes, and those that follow from the row.

A note is a code with a value, as options are, and its sentence stands in `[note]` of the words file. A part of a note
that is none of these is somebody's own text, and stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ingest.published.publications import Published

_CODED = re.compile(r"([a-z][a-z0-9_]*)=(.*)", re.DOTALL)


class Note(NamedTuple):
    """A code with its value; or a text without a code."""

    key: str
    value: str


def notes(row: Published) -> tuple[Note, ...]:
    """Return what is said of a figure: where its precision is not the printed one, and what its table notes."""
    return (*_of_precision(row), *written(row.note))


def written(text: str) -> tuple[Note, ...]:
    """Return the notes of a cell: `printed_unit=MB; Measured again.` are two."""
    parts = filter(None, (each.strip() for each in text.split(";")))
    return tuple(Note(*found.groups()) if (found := _CODED.fullmatch(each)) else Note("", each) for each in parts)


def of_places(rows: Sequence[Published]) -> tuple[tuple[Note, tuple[int, ...]], ...]:
    """Return what is said of a figure that several places print, each with the numbers of the places that say it.

    To a reader who sees the case, the notes add what the places print instead. That they print the same is known.
    """
    places = {row.place for row in rows} if len(rows) > 1 else set()
    found: dict[Note, list[int]] = {}
    for number, row in enumerate(rows, 1):
        for note in (*_as_printed(row), *notes(row)):
            if not (note.key == "same_value_in" and note.value in places):
                found.setdefault(note, []).append(number)
    return tuple((note, tuple(dict.fromkeys(numbers))) for note, numbers in found.items())


def _as_printed(row: Published) -> Iterator[Note]:
    """Yield what a source prints instead of what the case says."""
    for name in ("printed_precision", "printed_batch_size", "row_batch_size"):
        if value := getattr(row, name):
            yield Note(name, str(value))


def _of_precision(row: Published) -> tuple[Note, ...]:
    if not row.printed_precision:
        return ()
    return (Note("log_precision" if row.log else "counted_precision", row.precision),)
