"""Tables: language-neutral objects made once from results, then written as HTML, CSV and JSON in each language.

Since both languages write the same object, they cannot show different numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.words import Phrase, Text, Words
from perfledger.ingest.site.render.text import slug

Value = float | int | str
#: Names and values for the filters of a page: hardware, devices, precision, framework.
Facets = tuple[tuple[str, Value], ...]

_PLAIN = re.compile(r"-?[0-9][0-9,]*(\.[0-9]+)?")


class TableError(UsageError):
    """A table is put together wrongly, by one of our own modules."""


@dataclass(frozen=True)
class Link:
    """A link to a page of ours: `page` is a path under the language's folder, built from slugs only."""

    text: Text
    page: str | None


@dataclass(frozen=True)
class Tag:
    """A short mark of a figure, with a link to its explanation; its meaning is read out.

    `tone` is `good`, or `warn`.
    """

    text: Text
    means: Text
    tone: str
    page: str


@dataclass(frozen=True)
class Entry:
    """One figure in a cell: its text and link, small print next to it, and links to its runs.

    `verdict` is linked and directly after the figure. `caution` is what speaks against it: a dot, with words on hover,
    focus or tap. `value` is the figure before rounding, for sorting and for programs; a plain number's text is its own
    value.
    """

    text: Text
    page: str | None = None
    marks: tuple[Text, ...] = ()
    sources: tuple[Link, ...] = ()
    best: bool = False
    tone: str = ""
    value: Value | None = None
    verdict: Tag | None = None
    caution: Text = ""


@dataclass(frozen=True)
class Cell:
    """The content of a cell: entries one below the other, and a note: about them, or why the cell is empty."""

    entries: tuple[Entry, ...] = ()
    note: Text | None = None


@dataclass(frozen=True)
class Column:
    """A column's title, unit, and kind: the figures of a `number` column are aligned at the decimal point.

    `key` is its name for programs, in every language; without one it is made from the English title.
    """

    title: Text
    number: bool = False
    key: str = ""
    unit: Text = ""


@dataclass(frozen=True)
class Table:
    """Columns, rows of as many cells, and sentences below them.

    `name` is numbered within a page. `prose` is a table of sentences: it is searched, and has no heads of rows and no
    field to filter by. `facets` are those of each row, if any. Rows of `cards` are cards on a narrow screen.

    Raises:
        TableError: a row has more or fewer cells than there are columns.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[Text, ...] = field(default=())
    name: str = "table"
    prose: bool = False
    facets: tuple[Facets, ...] = ()
    cards: bool = False

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                titles = ", ".join(_title(each.title) for each in self.columns)
                raise TableError(
                    f"table {self.name!r}: row {number} has {len(row)} cells, but there are {len(self.columns)} columns"
                    f" ({titles}); give each row one cell per column"
                )

    def keys(self, words: Words) -> list[str]:
        """Return the columns' names for programs: unique, and the same in every language."""
        found: list[str] = []
        for column in self.columns:
            wanted = _snake(column.key) if column.key else _key(column.title) or _snake(words.say("en", column.title))
            again = sum(each == wanted or each.startswith(f"{wanted}__") for each in found)
            found.append(f"{wanted}__{again + 1}" if again else wanted)
        return found


def cell(text: Text, page: str | None = None, *marks: Text, tone: str = "", value: Value | None = None) -> Cell:
    """Return a cell with one entry."""
    return Cell((Entry(text, page, marks, tone=tone, value=value),))


def absent(note: Text | None) -> Cell:
    """Return a cell without a figure, and why."""
    return Cell(note=note)


def value_of(words: Words, column: Column, entry: Entry) -> Value | None:
    """Return the value before rounding; a plain number in a number column is its own value."""
    if entry.value is not None or not column.number:
        return entry.value
    text = words.say("en", entry.text)
    return text.replace(",", "") if _PLAIN.fullmatch(text) else None


def written(value: Value) -> str:
    """Return a value for programs: all its digits, and a whole number without a point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def _key(title: Text) -> str:
    """Return the key of a title in the words file, if that is all of it."""
    return title.key.rpartition(".")[2] if isinstance(title, Phrase) and not title.args and not title.otherwise else ""


@cache
def _snake(text: str) -> str:
    return slug(text).replace("-", "_")


def _title(text: Text) -> str:
    return text.key if isinstance(text, Phrase) else text if isinstance(text, str) else text.en
