"""Lay out the figures that a declaration selects in slices: rows, columns, and the cells between them.

A slice is independent of language. Tables and charts are both made from it, so that they cannot show different figures.
A fact that is neither row nor column is marked at the column or the row whose figures all share it, or else at the
figure; a fact that all figures share is stated once, above them. So are notes. Facts are those that the source prints:
where a log says something else, the figure has a mark or a note.
"""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import Text
from perfledger.ingest.published.cases import case_without_devices, one_device_figures
from perfledger.ingest.published.declarations import (
    CASE,
    REST,
    ROW_BATCH_SIZE,
    TABLE,
    Block,
    Report,
    ReportError,
    Where,
)
from perfledger.ingest.published.notes import PublishedNote, notes
from perfledger.ingest.published.publications import Published

Values = tuple[tuple[str, str], ...]
TEXTS = frozenset({"place", "line", "model", "framework", "hardware", "metric", "unit", "state"})
#: Mark with the batch size of a cell, if the head of its row prints another one.
CELL_BATCH_SIZE = "cell_batch_size"
#: Mark with the batch size of the log, if the source prints another one.
LOG_BATCH_SIZE = "log_batch_size"
#: Marks that are shown next to every figure, even if all figures share them.
BESIDE = (CELL_BATCH_SIZE, LOG_BATCH_SIZE, "label")
GAP = 2  # lines between two rows of a printed table: some tables have a blank line between groups


#: Returns the value of a figure under a key.
State = Callable[[Published, str], str]
#: Row and column.
Place = tuple[int, int]
#: Functions that return the group of a figure, by name of the scope, the largest groups first.
Groups = dict[str, Callable[[Published], int]]


@dataclass(frozen=True)
class Head:
    """A row's or column's head: keys with their values, or the words of a declaration; its marks and notes."""

    values: Values
    text: Text | None = None
    marks: Values = ()
    notes: tuple[PublishedNote, ...] = ()


@dataclass(frozen=True)
class SliceFigure:
    """A published figure in its cell: marks, speed-up over one device, its difference from the base, and notes."""

    row: Published
    marks: Values = ()
    speedup: str = ""
    delta: tuple[float, float] | None = None
    notes: tuple[PublishedNote, ...] = ()

    @property
    def beside(self) -> Values:
        """The marks that are shown next to the figure everywhere, in charts, too."""
        return tuple(each for each in self.marks if each[0] in BESIDE)


@dataclass(frozen=True)
class Slice:
    """The figures of one table. `same` is what all of them have in common, and `notes` what is said of all."""

    block: Block
    rows: tuple[Head, ...]
    columns: tuple[Head, ...]
    cells: Mapping[tuple[int, int], tuple[SliceFigure, ...]]
    same: Values
    notes: tuple[PublishedNote, ...] = ()

    @property
    def figures(self) -> tuple[SliceFigure, ...]:
        """All figures, row by row."""
        return tuple(each for place in sorted(self.cells) for each in self.cells[place])

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the rows."""
        return tuple(key for key, _ in self.rows[0].values) if self.rows else ()


@dataclass(frozen=True)
class Cut:
    """The slices of a report, block by block, and what all its figures have in common: facts and notes."""

    slices: tuple[tuple[Slice, ...], ...]
    common: Values
    notes: tuple[PublishedNote, ...] = ()

    @property
    def rows(self) -> tuple[Published, ...]:
        """Every figure of the report, once."""
        found = [each.row for block in self.slices for part in block for each in part.figures]
        return tuple({id(row): row for row in found}.values())


def cut(report: Report, rows: Sequence[Published]) -> Cut:
    """Cut the figures of a report's source into its slices.

    Raises:
        ReportError: a block selects nothing, or its rows and columns leave two figures in one cell.
    """
    found = Cut(tuple(tuple(slices(block, rows)) if block.rows else () for block in report.blocks), ())
    used = found.rows
    shared = common_notes(used)
    apart = tuple(
        tuple(replace(part, notes=tuple(each for each in part.notes if each not in shared)) for part in parts)
        for parts in found.slices
    )
    return Cut(apart, common(used), shared)


def common_notes(rows: Iterable[Published]) -> tuple[PublishedNote, ...]:
    """Return the notes that all of these figures share."""
    said = [notes(row) for row in rows]
    return tuple(note for note in said[0] if all(note in each for each in said)) if said else ()


def common(rows: Sequence[Published], state: State | None = None) -> Values:
    """Return the facts that all of these figures share, as their source prints them unless `state` says otherwise."""
    known = {key: {(state or fact)(row, key) for row in rows} for key in case_keys(rows)}
    return tuple((key, next(iter(values))) for key, values in known.items() if len(values) == 1 and values != {""})


def fact(row: Published, key: str) -> str:
    """Return what the source prints of a figure under a key; empty where it prints nothing."""
    if key not in _PRINTED:
        return case_fact(row, key)
    value = _PRINTED[key](row)
    return "" if value is None else str(value)


_PRINTED: Mapping[str, Callable[[Published], object]] = {
    "precision": lambda row: row.printed_precision or row.precision,
    "batch_size": lambda row: row.printed_batch_size or row.batch_size,
    ROW_BATCH_SIZE: lambda row: row.row_batch_size or row.printed_batch_size or row.batch_size,
    CELL_BATCH_SIZE: lambda row: (row.printed_batch_size or row.batch_size) if row.row_batch_size else None,
    LOG_BATCH_SIZE: lambda row: row.batch_size if row.printed_batch_size else None,
}


def case_fact(row: Published, key: str) -> str:
    """Return what the case of a figure states under a key; empty where it states nothing.

    A metric goes with its unit, and a number of devices with that of the machines.
    """
    if key.startswith("options."):
        return row.options.get(key.removeprefix("options."), "")
    if key == "metric":
        return f"{row.metric}|{row.unit}"
    if key == "devices":
        return f"{row.nodes or ''}x{row.devices}" if row.devices else ""
    value = getattr(row, key)
    return "" if value is None else str(value)


def select(rows: Iterable[Published], where: Where) -> list[Published]:
    """Return the figures that meet every condition."""
    found = list(rows)
    for key, values in where.items():
        get, test = _getter(key), _test(key, values)
        found = [row for row in found if test(get(row))]
    return found


def slices(block: Block, rows: Sequence[Published]) -> list[Slice]:
    """Return the slices of a block, in order.

    Raises:
        ReportError: the block selects nothing, or its rows and columns leave two figures in one cell.
    """
    chosen = select(rows, block.where)
    if not chosen:
        raise ReportError(f"{block.place}: where: no published figure is selected by {_conditions(block.where)}")
    for column in block.column:
        if not select(chosen, column.where):
            raise ReportError(f"{block.place}: column: no published figure is selected by {_conditions(column.where)}")
    return [_slice(block, part) for part in _parts(block, chosen)]


def _conditions(where: Where) -> str:
    return ", ".join(f"{key} = {' | '.join(values)}" for key, values in where.items())


def _getter(key: str) -> Callable[[Published], str]:
    """Return what a selection compares: a metric without its unit, and devices without machines."""
    if key == "devices":
        return lambda row: str(row.devices or "")
    return attrgetter(key) if key in TEXTS else partial(fact, key=key)


def _test(key: str, values: Sequence[str]) -> Callable[[str], bool]:
    plain = frozenset(values)
    if not any("*" in each or "-" in each for each in values):
        return plain.__contains__
    patterns = [re.compile(fnmatch.translate(each)) for each in values if "*" in each]
    ranges = [_range(each) for each in values if key == "line" and "-" in each]

    def test(value: str) -> bool:
        if value in plain or any(each.match(value) for each in patterns):
            return True
        return value.isdecimal() and any(first <= int(value) <= last for first, last in ranges)

    return test


def _range(text: str) -> tuple[int, int]:
    first, last = text.split("-")
    return int(first), int(last)


def _parts(block: Block, rows: Sequence[Published]) -> list[list[Published]]:
    if block.split == (TABLE,):
        return _printed_tables(block, rows)
    found = by_key(rows, lambda row: _values(row, block.split))
    return [found[each] for each in _distinct(block, rows, block.split)]


def _printed_tables(block: Block, rows: Sequence[Published]) -> list[list[Published]]:
    """Group figures into the tables of their source: figures on lines without a gap belong to one table."""
    if nowhere := [row for row in rows if not row.line.isdecimal()]:
        raise ReportError(f"{block.place}: split: {_place(nowhere[0])} has no line, so its table is not known")
    found: list[list[Published]] = []
    for row in sorted(rows, key=lambda each: (each.place, int(each.line))):
        last = found[-1][-1] if found else None
        if last and last.place == row.place and int(row.line) - int(last.line) <= GAP:
            found[-1].append(row)
        else:
            found.append([row])
    return found


def _slice(block: Block, rows: Sequence[Published]) -> Slice:
    columns, column_of = _columns(block, rows)
    keys = _row_keys(block, rows, column_of)
    heads = _distinct(block, rows, keys)
    places = by_key(rows, lambda row: (heads.index(_values(row, keys)), column_of[id(row)]))
    for several in (found for found in places.values() if len(found) > 1 and not block.several):
        both = " and ".join(map(_place, several[:2]))
        raise ReportError(f"{block.place}: rows, columns: {both} are in one cell")
    stated = {*keys, *block.columns, *(key for head in columns for key, _ in head.values)}
    scopes = _Scopes(block, rows, places, stated)
    of_row = {row: found[0] for (row, _), found in places.items()}
    of_column = {column: found[0] for (_, column), found in places.items()}
    ones = one_device_figures(rows)

    def figure(row: Published) -> SliceFigure:
        speedup, delta = _speedup(block, row, ones), _delta(block, row, rows)
        return SliceFigure(row, scopes.marks(row, "cell"), speedup, delta, scopes.notes(row, "cell"))

    return Slice(
        block,
        tuple(scopes.head(Head(values), of_row[n], "row") for n, values in enumerate(heads)),
        tuple(scopes.head(head, of_column[n], "column") if n in of_column else head for n, head in enumerate(columns)),
        {place: tuple(map(figure, found)) for place, found in places.items()},
        scopes.facts(rows[0], "all"),
        scopes.notes(rows[0], "all"),
    )


def _distinct(block: Block, rows: Sequence[Published], keys: Sequence[str]) -> list[Values]:
    """Return the different values of some keys in their order."""
    found = [_values(row, keys) for row in rows]
    return sorted(set(found), key=_order(block, found))


def _columns(block: Block, rows: Sequence[Published]) -> tuple[list[Head], dict[int, int]]:
    """Return the heads of the columns, and the column of each figure; options after the first key become marks."""
    if block.column:
        return _declared(block, rows)
    found = _distinct(block, rows, block.columns)
    heads = []
    for values in found:
        options = [each for each in values[1:] if each[0].startswith("options.")]
        marks = tuple(each for each in options if each[1] and not _is_unmarked(block, *each))
        heads.append(Head(tuple(each for each in values if each not in options), marks=marks))
    return heads, {id(row): found.index(_values(row, block.columns)) for row in rows}


def _declared(block: Block, rows: Sequence[Published]) -> tuple[list[Head], dict[int, int]]:
    columns, column_of = block.column, dict[int, int]()
    for index, column in enumerate(columns):
        for row in select(rows, column.where):
            if id(row) in column_of:
                raise ReportError(f"{block.place}: column: {_place(row)} belongs to two columns")
            column_of[id(row)] = index
    if lost := [row for row in rows if id(row) not in column_of]:
        raise ReportError(f"{block.place}: column: {_place(lost[0])} belongs to no column")
    pinned = [key for key in columns[0].where if all(_pins(each.where, key) for each in columns)]
    return [Head(tuple((key, "") for key in pinned), each.head) for each in columns], column_of


def _pins(where: Where, key: str) -> bool:
    """Return whether a selection permits one value only of a key, which the column's head then states."""
    return len(where.get(key, ())) == 1 and "*" not in where[key][0]


def _row_keys(block: Block, rows: Sequence[Published], column_of: Mapping[int, int]) -> tuple[str, ...]:
    """Return the keys of the rows, without those that no figure states; `*` adds whatever differs within a column."""
    given = tuple(each for each in block.rows if each != REST and any(fact(row, each) for row in rows))
    if REST not in block.rows:
        return given
    stated = {*given, *block.columns}
    rest = [
        key
        for key in case_keys(rows)
        if key not in stated and not _is_uniform(rows, partial(fact, key=key), lambda row: column_of[id(row)])
    ]
    return (*given, *rest)


def case_keys(rows: Iterable[Published]) -> list[str]:
    """Return the keys that may distinguish figures, with those of their options."""
    return [*CASE, *(f"options.{name}" for name in sorted({name for row in rows for name in row.options}))]


def _is_uniform(
    rows: Iterable[Published], state: Callable[[Published], object], group: Callable[[Published], int]
) -> bool:
    """Return whether all figures of each group state the same."""
    found: dict[int, object] = {}
    return all(found.setdefault(group(row), said) == said for row in rows for said in (state(row),))


def _place(row: Published) -> str:
    return f"{row.file}:{row.row}"


class _Scopes:
    """Places of the facts and notes of a slice: above it (`all`), at a `column`, at a `row`, or at a `cell`.

    Each is stated once, for the largest group of figures that share it.
    """

    def __init__(
        self, block: Block, rows: Sequence[Published], places: Mapping[Place, Sequence[Published]], stated: set[str]
    ) -> None:
        at = {id(row): place for place, found in places.items() for row in found}
        groups: Groups = {"all": lambda _: 0, "column": lambda row: at[id(row)][1], "row": lambda row: at[id(row)][0]}
        self._block = block
        elsewhere = {"devices": "nodes", "batch_size": ROW_BATCH_SIZE}
        self._keys = {
            key: _scope(rows, partial(fact, key=key), groups)
            for key in case_keys(rows)
            if key not in stated and elsewhere.get(key) not in stated
        }
        self._keys |= {key: "cell" for key in BESIDE if key != CELL_BATCH_SIZE or ROW_BATCH_SIZE in stated}
        if len({column for _, column in places}) == 1:
            del groups["row"]  # in a table with one column, a note of a row is a note of its figure
        of = {id(row): notes(row) for row in rows}
        known = dict.fromkeys(note for row in rows for note in of[id(row)])
        self._notes = {note: _scope(rows, lambda row, note=note: note in of[id(row)], groups) for note in known}  # type: ignore[misc]

    def facts(self, row: Published, scope: str) -> Values:
        """Return the facts that are stated there."""
        found = ((key, fact(row, key)) for key, of in self._keys.items() if of == scope)
        return tuple((key, value) for key, value in found if value)

    def marks(self, row: Published, scope: str) -> Values:
        """Return the facts that are marked there."""
        return tuple(each for each in self.facts(row, scope) if not _is_unmarked(self._block, *each))

    def notes(self, row: Published, scope: str) -> tuple[PublishedNote, ...]:
        """Return the notes that are stated there."""
        return tuple(note for note in notes(row) if self._notes[note] == scope)

    def head(self, head: Head, row: Published, scope: str) -> Head:
        """Return the head of a row or column with the marks and notes that all its figures share; `row` is one."""
        return replace(head, marks=(*head.marks, *self.marks(row, scope)), notes=self.notes(row, scope))


def _scope(rows: Sequence[Published], state: Callable[[Published], object], groups: Groups) -> str:
    """Return the first group whose figures all state the same; `cell` if no group does."""
    return next((name for name, group in groups.items() if _is_uniform(rows, state, group)), "cell")


def _is_unmarked(block: Block, key: str, value: str) -> bool:
    return key in block.unmarked and _test(key, block.unmarked[key])(value)


def _values(row: Published, keys: Sequence[str]) -> Values:
    return tuple((key, fact(row, key)) for key in keys)


def _order(block: Block, found: Sequence[Values]) -> Callable[[Values], tuple[object, ...]]:
    """Sort values in the declared order, then numbers by size, then the others as they come in the tables."""
    seen: dict[tuple[str, str], int] = {}
    for each in itertools.chain.from_iterable(found):
        seen.setdefault(each, len(seen))

    def rank(each: tuple[str, str]) -> tuple[int, float, int]:
        key, value = each
        value = value.split("|")[0] if key == "metric" else value
        first = (*block.order.get(key, ()), *block.labels.get(key, ()))
        if value in first:
            return (0, float(first.index(value)), 0)
        number = _number(value)
        return (2, 0.0, seen[each]) if number is None else (1, number, 0)

    return lambda values: tuple(map(rank, values))


def _number(value: str) -> float | None:
    nodes, cross, devices = value.partition("x")
    try:
        return float(nodes or 0) * 1e6 + float(devices or 0) if cross else float(value)
    except ValueError:
        return None


def _speedup(block: Block, row: Published, ones: Mapping[tuple[object, ...], Sequence[float]]) -> str:
    """Return a figure's speed-up over one device; empty if figures of one device contradict each other."""
    if block.speedup == "published":
        return row.speedup
    known = ones.get(case_without_devices(row), ())
    return f"{row.value / known[0]:.2f}" if block.speedup == "computed" and row.value and len(known) == 1 else ""


def _delta(block: Block, row: Published, rows: Iterable[Published]) -> tuple[float, float] | None:
    """Return the difference from the base figure, absolute and relative."""
    if block.delta is None or row.value is None or fact(row, block.delta.key) in block.delta.base:
        return None

    def case(each: Published) -> tuple[object, ...]:
        return (each.framework, each.nodes, each.devices, each.batch_size, each.precision, each.metric, each.unit)

    found = [r.value for r in rows if case(r) == case(row) and fact(r, block.delta.key) in block.delta.base]
    if len(found) != 1 or not found[0]:
        return None
    return (row.value - found[0], row.value / found[0] - 1)
