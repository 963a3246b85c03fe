"""Tables from records: a column is one line with its heading and the function that gives its cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Text
from perfledger.ingest.site.render.table import Cell, Column, Facets, Table, absent, cell

R = TypeVar("R")


@dataclass(frozen=True)
class ColumnOf(Generic[R]):
    """A column of a table of records.

    `value` returns the cell of a record, or a text or count for a plain cell; None for an empty one. `key` is the
    column's name for programs, and `unit` that of its figures (see `Column`). An `optional` column is left out if all
    its cells are empty.
    """

    title: Text
    value: Callable[[R], Cell | Text | int | None]
    number: bool = False
    key: str = ""
    optional: bool = False
    unit: Text = ""


def table_of(
    name: str,
    rows: Sequence[R],
    columns: Sequence[ColumnOf[R]],
    cards: bool = False,
    facets: Callable[[R], Facets] | None = None,
) -> Table | None:
    """Return a table with a row per record; None without records. `name` is that of the table in addresses.

    Rows of `cards` are cards on a narrow screen; `facets` returns the values of a row for the filters of the page.
    """
    found = [(each, [_cell(each.value(row)) for row in rows]) for each in columns]
    shown = [(each, cells) for each, cells in found if not each.optional or any(one.entries for one in cells)]
    head = tuple(Column(each.title, each.number, key=each.key, unit=each.unit) for each, _ in shown)
    body = tuple(zip(*(cells for _, cells in shown), strict=True))
    filtered = tuple(map(facets, rows)) if facets else ()
    return Table(head, body, name=name, facets=filtered, cards=cards) if rows else None


def _cell(value: Cell | Text | int | None) -> Cell:
    if value is None or value == "":
        return absent(None)
    if isinstance(value, int):
        return cell(numbers.count(value), value=value)
    return value if isinstance(value, Cell) else cell(value)
