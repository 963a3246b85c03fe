"""Tables as files for programs, next to the page that shows them: CSV and JSON with the values before rounding."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from perfledger.ingest.common.cells import no_formula
from perfledger.ingest.common.numbers import ABSENT
from perfledger.ingest.common.words import Text, Words
from perfledger.ingest.site.render.table import (
    Cell,
    Column,
    Entry,
    Table,
    Value,
    details_of,
    in_view,
    value_of,
    written,
)
from perfledger.ingest.site.render.text import plain

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?")
_JSON = json.JSONEncoder(ensure_ascii=False)

Row = Mapping[str, Value | None]


def folder(page: str) -> str:
    """Return the folder of a page's tables: `models/tables` for `models/index.md`, `x/tables` for `x.md`."""
    return f"{page.removesuffix('.md').removesuffix('index').rstrip('/')}/tables".lstrip("/")


@dataclass(frozen=True)
class Field:
    """A column of the files."""

    name: str
    title: str
    unit: str = ""
    number: bool = False


@dataclass(frozen=True)
class Flat:
    """A table for programs: a value per field, and a row per row of the table.

    Further figures in one cell are numbered (`pytorch_2`); details of a figure follow it (`pytorch_spread`), and
    `pytorch_note` has the words next to it and the reason if it is absent.
    """

    fields: tuple[Field, ...]
    rows: tuple[Row, ...]

    def csv(self) -> bytes:
        """Return the rows as CSV (RFC 4180): a head of keys, and empty cells for absent values."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow([no_formula(each.name) for each in self.fields])
        writer.writerows([map(_csv, row.values()) for row in self.rows])
        return out.getvalue().encode()

    def json(self, about: Mapping[str, str]) -> bytes:
        """Return the rows as Table Schema has them (pandas: `read_json(path, orient="table")`), one line each."""
        described = [
            {"name": each.name, "type": "number" if each.number else "string", "title": each.title}
            | ({"unit": each.unit} if each.unit else {})
            for each in self.fields
        ]
        schema = _JSON.encode({"fields": described})
        data = ",\n".join(map(_JSON.encode, self.rows))
        head = _JSON.encode(dict(about))[1:-1]
        return f'{{{head},\n"schema": {schema},\n"data": [\n{data}\n]}}\n'.encode()


def flat(table: Table, words: Words, language: str) -> Flat:
    """Return a table with its views side by side, in one language."""
    reader = _Reader(words, language)
    heads = [reader.head(table, key, column) for key, column in zip(table.keys(words), table.columns, strict=True)]
    names: dict[str, Field] = {}
    rows: list[dict[str, Value | None]] = [{} for _ in table.rows]
    for index, head in enumerate(heads):
        cells = [reader.figures(table, head.column, row[index]) for row in table.rows]
        # Beside numbers a word (out of memory) is a note, so that a column is of one kind.
        number = any(isinstance(each.value, int | float) for cell in cells for each in cell)
        found = [_named(head.key, cell, number=number) for cell in cells]
        mine = dict.fromkeys([head.key, *itertools.chain.from_iterable(found)])
        for name in sorted(mine, key=lambda each: _order(head.key, each)):
            names[name] = _field(head, name, [each.get(name) for each in found], number=number)
        for row, each in zip(rows, found, strict=True):
            row.update(each)
    return Flat(tuple(names.values()), tuple({name: row.get(name) for name in names} for row in rows))


@dataclass(frozen=True)
class _Head:
    """A column: its key and title; and per view its unit, and the line below the title."""

    key: str
    title: str
    column: Column
    units: Mapping[str, str]
    below: Mapping[str, str]


class _Figure(NamedTuple):
    """One entry of a cell: its text, value and details, the words next to it, and the reason if it is absent."""

    view: str
    text: str
    beside: str = ""
    value: Value | None = None
    details: Mapping[str, Value] | None = None
    absent: bool = False
    note: str = ""

    @property
    def is_figure(self) -> bool:
        return self.value is not None or self.absent or self.text == ABSENT

    @property
    def words(self) -> str:
        """The reason if it is absent; or the words next to it, unless these repeat its details."""
        return self.note or ("" if self.details else self.beside)


@dataclass(frozen=True)
class _Reader:
    """Reads a table in one language."""

    words: Words
    language: str

    def text(self, text: Text) -> str:
        """Return a text as a page shows it, without marks."""
        found = self.words.say(self.language, text)
        return found.striptags() if isinstance(found, Markup) else plain(found)

    def head(self, table: Table, key: str, column: Column) -> _Head:
        views = table.views if column.switched and table.views else ()
        keys = [each.key if len(views) > 1 else "" for each in views]
        units = dict(zip(keys, (self.text(column.unit) + self.text(each.unit) for each in views), strict=True))
        below = dict(
            zip(keys, (plain(each.below_title(self.words, self.language, column.unit)) for each in views), strict=True)
        )
        if not views and (unit := self.text(column.unit)):
            units = below = {"": unit}
        return _Head(key, self.text(column.title), column, units, below)

    def figures(self, table: Table, column: Column, content: Cell) -> list[_Figure]:
        """Return the entries of a cell in every view."""
        if not (column.switched and len(table.views) > 1):
            return self.entries(column, content, "")
        return [
            each for view in table.views for each in self.entries(column, in_view(table, content, view.key), view.key)
        ]

    def entries(self, column: Column, content: Cell, view: str) -> list[_Figure]:
        note = self.text(content.note) if content.note else ""
        if not content.entries:
            return [_Figure(view, ABSENT, absent=True, note=note)]
        last = len(content.entries) - 1
        return [
            self.figure(column, each, view, note if index == last else "") for index, each in enumerate(content.entries)
        ]

    def figure(self, column: Column, entry: Entry, view: str, note: str) -> _Figure:
        value = value_of(self.words, column, entry)
        beside = [*(each for each in entry.marks if each), *(each.text for each in entry.sources)]
        return _Figure(
            view,
            self.text(entry.text),
            " ".join(map(self.text, beside)),
            None if value is None else number(written(value)),
            self.details(entry) if entry.details else None,
            note=note,
        )

    def details(self, entry: Entry) -> dict[str, Value]:
        """Return the named values of an entry: numbers before texts."""
        found = details_of(entry)
        numbers = {name: number(written(each)) for name, each in found.items() if not isinstance(each, str)}
        return numbers | {name: plain(each) for name, each in found.items() if isinstance(each, str)}


def number(text: str) -> Value:
    """Return a value before rounding as a number; other text stays text."""
    if not _NUMBER.fullmatch(text):
        return text
    return float(text) if "." in text or "e" in text else int(text)


def _named(key: str, cell: Sequence[_Figure], *, number: bool) -> dict[str, Value | None]:
    """Return the figures of a cell in every view; a note that all views share is given once, with the first."""
    found: dict[str, Value | None] = {}
    for name, value in _in_views(key, cell, number=number):
        if not (name.endswith("_note") and value in found.values()):
            found[name] = value
    return found


def _in_views(key: str, cell: Sequence[_Figure], *, number: bool) -> Iterator[tuple[str, Value | None]]:
    for view, group in itertools.groupby(cell, key=lambda each: each.view):
        mine = list(group)
        figures = [each for each in mine if each.is_figure]
        rest = [each for each in mine if not each.is_figure]
        suffix = f"_{view}" if view != cell[0].view else ""
        for place, each in enumerate(figures, 1):
            yield from _figure(key + (f"_{place}" if place > 1 else "") + suffix, each)
        if rest:
            yield from _texts(key + suffix, rest, beside=bool(figures) or number)


def _figure(name: str, figure: _Figure) -> Iterator[tuple[str, Value | None]]:
    yield name, figure.value
    yield from ((f"{name}_{key}", value) for key, value in (figure.details or {}).items())
    if figure.words:
        yield f"{name}_note", figure.words


def _texts(name: str, entries: Sequence[_Figure], *, beside: bool) -> Iterator[tuple[str, Value | None]]:
    """Yield the fields of entries without figures: the cell's text, or the words next to its figures."""
    text = "; ".join(each.text for each in entries if each.text)
    if beside and text:
        yield f"{name}_note", text
    elif not beside:
        yield name, text or None
    yield from ((f"{name}_{key}", value) for each in entries for key, value in (each.details or {}).items())
    words = "; ".join(filter(None, (each.words for each in entries)))
    if words and not beside:
        yield f"{name}_note", words


def _order(key: str, name: str) -> tuple[int, bool]:
    """Figures by their number, and each one's note last."""
    place = re.match(r"_(\d+)(?:_|$)", name.removeprefix(key))
    return (int(place[1]) if place else 1, name.endswith("_note"))


def _field(head: _Head, name: str, values: Sequence[Value | None], *, number: bool) -> Field:
    known = [each for each in values if each is not None]
    view = re.sub(r"^(_\d+)?_?", "", name.removeprefix(head.key))
    unit = head.units.get(view, "") if view else next(iter(head.units.values()), "")
    numeric = all(isinstance(each, int | float) for each in known) if known else number and name == head.key
    title = head.title + (f" ({head.below[view]})" if view and view in head.below else "")
    return Field(name, title, unit, numeric)


def _csv(value: Value | None) -> str:
    if value is None:
        return ""
    return no_formula(value) if isinstance(value, str) else str(value)
