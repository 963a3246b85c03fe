"""Accelerators side by side: the fastest result of every model on each, at the batch size that suits it.

One table per precision group and number of devices. A reader may have every column divided by the figure of one
accelerator; where a file states power and prices, the same figures stand there per watt and per price of an hour.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.common import numbers
from ingest.common.words import Text, phrase
from ingest.read.accelerators import Accelerator
from ingest.site import addresses, witness_tables
from ingest.site.hardware_names import product
from ingest.site.model import Row, Site, Suite, group_name
from ingest.site.render.table import Cell, Column, Entry, Table, View, absent, cell
from ingest.site.result_tables import representative, sections, spread_marks, summary_mark, version_marks
from ingest.site.run_tables import unproven

#: With fewer accelerators, what each of them gives says it all.
FEWEST = 3


@dataclass(frozen=True)
class Matrix:
    """The table of a precision group and a number of devices of one machine."""

    group: Text
    devices: int
    table: Table


@dataclass(frozen=True)
class _Place:
    """What a column compares: a model with what makes another workload of it, in one unit."""

    name: str
    workload: str
    unit: str
    suite: Suite = field(compare=False)


_Cells = Mapping[_Place, Mapping[str, Sequence[Row]]]


def matrices(site: Site) -> tuple[Matrix, ...]:
    """Return the tables with enough accelerators: those with most figures first."""
    places: dict[tuple[str, int], dict[_Place, dict[str, list[Row]]]] = {}
    for suite in site.shown:
        for hardware, group, rows in sections(site, suite):
            for row in rows:
                if hardware and numbers.known(row.value) and row.devices and (row.nodes or 1) == 1:
                    place = _Place(suite.id, suite.row_key(row)[3], row.unit, suite)
                    columns = places.setdefault((group, row.devices), {})
                    columns.setdefault(place, {}).setdefault(hardware, []).append(row)
    enough = {key: cells for key, cells in places.items() if len(_hardware(cells)) >= FEWEST}
    keys = sorted(enough, key=lambda key: (-sum(map(len, enough[key].values())), key))
    return tuple(Matrix(group_name(group), devices, _table(site, enough[group, devices])) for group, devices in keys)


def _hardware(cells: _Cells) -> list[str]:
    """Return the accelerators, the fastest first: by the mean share of the fastest in the columns that each has."""
    shares: dict[str, list[float]] = {}
    for by_hardware in cells.values():
        best = {name: _value(_fastest(rows)) for name, rows in by_hardware.items()}
        for name, value in best.items():
            shares.setdefault(name, []).append(math.log(value / max(best.values())))
    return sorted(shares, key=lambda name: (-sum(shares[name]) / len(shares[name]), name))


def _value(row: Row) -> float:
    return row.value or math.nan


def _fastest(rows: Sequence[Row]) -> Row:
    return max(rows, key=lambda row: (_value(row), row.run_ids))


def _table(site: Site, cells: _Cells) -> Table:
    hardware = _hardware(cells)
    shown = _views(site, hardware)
    head = [Column(phrase("table.hardware")), *(_column(site, each) for each in cells)]
    body = []
    for name in hardware:
        figures = (_cell(site, name, by[name], by) if name in by else Cell() for by in cells.values())
        body.append((cell(product(name)), *figures))
    notes = tuple(_sources(site, hardware)) if len(shown) > 1 else ()
    return Table(tuple(head), tuple(body), views=shown, notes=notes, name="accelerators", relative=len(hardware) > 1)


def _column(site: Site, place: _Place) -> Column:
    title = (
        phrase("hardware.column", model=place.suite.title, workload=place.workload)
        if place.workload
        else place.suite.title
    )
    return Column(title, True, addresses.model_page(place.suite), unit=place.unit, switched=True)


def _cell(site: Site, hardware: str, rows: Sequence[Row], column: Mapping[str, Sequence[Row]]) -> Cell:
    """Return the fastest figure of a model on an accelerator, and what the views make of it."""
    row, others = _fastest(rows), [_fastest(each) for each in column.values()]
    stated = site.accelerators.of(hardware)
    views = {key: _entry(site, row, others, per(row, stated)) for key, (_, per) in _PER.items()}
    known = tuple(
        (key, Cell((entry,)) if entry else absent(phrase("hardware.not_stated"))) for key, entry in views.items()
    )
    return Cell((_entry(site, row, others, row.value) or Entry(numbers.ABSENT),), views=known)


def _entry(site: Site, row: Row, others: Sequence[Row], value: float | None) -> Entry | None:
    if value is None:
        return None
    marks: list[Text] = [phrase("front.batch", n=row.batch_size)] if row.batch_size else []
    marks += [row.framework or ""] if len({each.framework for each in others}) > 1 else []
    marks += [*summary_mark(row), *version_marks(row, others), *spread_marks(row), *unproven(row)]
    page, small = site.page(representative(site, row)), tuple(each for each in marks if each)
    text = numbers.figure(value, row.spread, row.resolution or 0.0)
    return Entry(text, page, small, value=value, tag=witness_tables.tag(row.witnesses))


def _per_watt(row: Row, stated: Accelerator | None) -> float | None:
    return _value(row) / (stated.watts * (row.devices or 1)) if stated and stated.watts else None


def _per_price(row: Row, stated: Accelerator | None) -> float | None:
    return _value(row) / (stated.price * (row.devices or 1)) if stated and stated.price else None


#: View to what must be stated for it, and its figure.
_PER: Mapping[str, tuple[str, Callable[[Row, Accelerator | None], float | None]]] = {
    "per_watt": ("watts", _per_watt),
    "per_price": ("price", _per_price),
}


def _views(site: Site, hardware: Sequence[str]) -> tuple[View, ...]:
    """Return the views of a table: the figures, and what the stated power and prices of at least one make of them."""
    stated = [each for name in hardware if (each := site.accelerators.of(name))]
    currencies = {each.currency for each in stated if each.currency}
    found = [View("throughput", phrase("table.view_throughput"), "", "higher")]
    if any(each.watts for each in stated):
        found.append(View("per_watt", phrase("hardware.per_watt"), "/W", "higher"))
    if len(currencies) == 1:
        found.append(View("per_price", phrase("hardware.per_price"), f" / ({currencies.pop()}/h)", "higher"))
    return tuple(found)


def _sources(site: Site, hardware: Sequence[str]) -> list[Text]:
    """Say of each accelerator what was stated, when, and where."""
    notes: list[Text] = []
    for name in hardware:
        stated = site.accelerators.of(name)
        if stated and stated.watts:
            notes.append(
                phrase(
                    "hardware.watts_of",
                    name=name,
                    watts=numbers.quantity(stated.watts),
                    source=stated.watts_source,
                    date=stated.date.isoformat(),
                )
            )
        if stated and stated.price:
            notes.append(
                phrase(
                    "hardware.price_of",
                    name=name,
                    price=numbers.quantity(stated.price),
                    currency=stated.currency or "",
                    source=stated.price_source,
                    date=stated.date.isoformat(),
                )
            )
    return notes
