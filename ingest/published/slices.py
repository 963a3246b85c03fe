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


#: Returns what a figure states under a key.
State = Callable[[Published, str], str]


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
    apart = tuple(tuple(_without(part, shared) for part in parts) for parts in found.slices)
    return Cut(apart, common(used), shared)


def _without(part: Slice, shared: Sequence[PublishedNote]) -> Slice:
    """Return a slice without the notes that are stated of the whole page."""
    return replace(part, notes=tuple(each for each in part.notes if each not in shared))


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
    found: dict[Values, list[Published]] = {}
    for row in rows:
        found.setdefault(_values(row, block.split), []).append(row)
    return [found[each] for each in sorted(found, key=_order(block, list(found)))]


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
    row_values = {_values(row, keys) for row in rows}
    heads = sorted(row_values, key=_order(block, [_values(row, keys) for row in rows]))
    places: dict[tuple[int, int], list[Published]] = {}
    for row in rows:
        places.setdefault((heads.index(_values(row, keys)), column_of[id(row)]), []).append(row)
    if not block.several:
        _check_cells(block, places)
    return _marked(block, keys, heads, columns, places, rows)


def _columns(block: Block, rows: Sequence[Published]) -> tuple[list[Head], dict[int, int]]:
    """Return the heads of the columns, and the column of each figure."""
    if block.column:
        return _declared(block, rows)
    keys = block.columns
    found = sorted({_values(row, keys) for row in rows}, key=_order(block, [_values(row, keys) for row in rows]))
    return [Head(each) for each in found], {id(row): found.index(_values(row, keys)) for row in rows}


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


def _check_cells(block: Block, places: Mapping[tuple[int, int], Sequence[Published]]) -> None:
    for found in places.values():
        if len(found) > 1:
            both = " and ".join(map(_place, found[:2]))
            raise ReportError(f"{block.place}: rows, columns: {both} stand in one cell")


def _place(row: Published) -> str:
    return f"{row.file}:{row.row}"


def _marked(
    block: Block,
    keys: tuple[str, ...],
    heads: Sequence[Values],
    columns: Sequence[Head],
    places: Mapping[tuple[int, int], Sequence[Published]],
    rows: Sequence[Published],
) -> Slice:
    """Return the slice, with each fact and note stated once: above it, or at the column, the row or the figure."""
    groups = _groups(places)
    marks = _outermost(groups, rows, {*keys, *(key for head in columns for key, _ in head.values)})
    said = _said(groups, rows)
    marks_of, notes_of = _marker(block), _noter(said)
    of_row = {row: each for (row, _), found in places.items() for each in found}
    of_column = {column: each for (_, column), found in places.items() for each in found}
    ones = one_device_figures(rows)
    return Slice(
        block,
        tuple(
            Head(head, None, marks_of(of_row[index], marks["row"]), notes_of(of_row[index], "row"))
            for index, head in enumerate(heads)
        ),
        tuple(
            _column(head, block, marks_of(of_column[index], marks["column"]), notes_of(of_column[index], "column"))
            if index in of_column
            else _column(head, block, (), ())
            for index, head in enumerate(columns)
        ),
        {
            place: tuple(
                SliceFigure(
                    row,
                    marks_of(row, marks["cell"]),
                    _speedup(block, row, ones),
                    _delta(block, row, rows),
                    notes_of(row, "cell"),
                )
                for row in found
            )
            for place, found in places.items()
        },
        tuple((key, value) for key in marks["all"] if (value := fact(rows[0], key))),
        notes_of(rows[0], "all"),
    )


def _column(head: Head, block: Block, marks: Values, notes: tuple[PublishedNote, ...]) -> Head:
    """Return a column's head; options after its first key become marks."""
    if head.text is not None:
        return Head(head.values, head.text, marks, notes)
    options = tuple(each for each in head.values[1:] if each[0].startswith("options."))
    own = tuple((key, value) for key, value in options if value and not _is_unmarked(block, key, value))
    return Head(tuple(each for each in head.values if each not in options), None, (*own, *marks), notes)


Groups = Mapping[str, Callable[[Published], int]]


def _groups(places: Mapping[tuple[int, int], Sequence[Published]]) -> Groups:
    """Return how figures are grouped where something can be stated of many at once, the largest groups first."""
    at = {id(row): place for place, found in places.items() for row in found}
    return {"all": lambda _: 0, "column": lambda row: at[id(row)][1], "row": lambda row: at[id(row)][0]}


def _scope(rows: Sequence[Published], state: Callable[[Published], object], groups: Groups) -> str:
    """Return the first group whose figures all state the same; `cell` if no group does."""
    return next((name for name, group in groups.items() if _is_uniform(rows, state, group)), "cell")


def _outermost(groups: Groups, rows: Sequence[Published], stated: set[str]) -> Mapping[str, list[str]]:
    """Return the keys that are the same for all figures, within each column, within each row, and in none of them."""
    found: dict[str, list[str]] = {"all": [], "column": [], "row": [], "cell": []}
    elsewhere = {"devices": "nodes", "batch_size": ROW_BATCH_SIZE}
    for key in case_keys(rows):
        if key not in stated and elsewhere.get(key) not in stated:
            found[_scope(rows, partial(fact, key=key), groups)].append(key)
    found["cell"] += [key for key in BESIDE if key != CELL_BATCH_SIZE or ROW_BATCH_SIZE in stated]
    return found


def _said(groups: Groups, rows: Sequence[Published]) -> Mapping[PublishedNote, str]:
    """Return every note of the figures, and whether all share it, each column, each row, or none of them."""
    of = {id(row): notes(row) for row in rows}
    # In a table with one column, what is said of a row is said of its figure.
    wide = len({groups["column"](row) for row in rows}) > 1
    apart = groups if wide else {name: group for name, group in groups.items() if name != "row"}
    known = dict.fromkeys(note for row in rows for note in of[id(row)])
    return {note: _scope(rows, lambda row, note=note: note in of[id(row)], apart) for note in known}  # type: ignore[misc]


def _noter(said: Mapping[PublishedNote, str]) -> Callable[[Published, str], tuple[PublishedNote, ...]]:
    def notes_of(row: Published, scope: str) -> tuple[PublishedNote, ...]:
        return tuple(note for note in notes(row) if said[note] == scope)

    return notes_of


def _marker(block: Block) -> Callable[[Published, Sequence[str]], Values]:
    def marks_of(row: Published, keys: Sequence[str]) -> Values:
        found = ((key, fact(row, key)) for key in keys)
        return tuple((key, value) for key, value in found if value and not _is_unmarked(block, key, value))

    return marks_of


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
