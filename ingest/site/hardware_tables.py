"""Hardware by model: the fastest result of every model on each hardware, over that of a hardware that readers choose.

There is one matrix per precision group, number of devices and machines, and benchmark round, so that rounds are not
mixed. Every hardware has the batch size, framework and settings that suit it best; each figure states them. A column is
one workload in one unit under one rule. If a file states power and prices, the matrix also has figures per watt and per
price of an hour. The page contains the first matrix; a file contains each, and a script shows it in the same place.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import LANGUAGES, Text, Words, phrase
from perfledger.ingest.compute.contrast import Measured, contrast
from perfledger.ingest.compute.rules import HEADLINE
from perfledger.ingest.site import addresses, answer_marks, answers
from perfledger.ingest.site.data.measured import date_of
from perfledger.ingest.site.hardware_names import is_accelerator, product
from perfledger.ingest.site.model import Row, Site, Suite, group_name, precision_name
from perfledger.ingest.site.options import in_words, listed
from perfledger.ingest.site.render.table import View
from perfledger.ingest.site.render.text import digest, plain
from perfledger.ingest.site.result_tables import representative, sections, spread_marks
from perfledger.ingest.site.run_tables import reservations
from perfledger.ingest.site.table_metrics import THROUGHPUT, measured

FOLDER = "data/matrix"
#: So much hardware must have a result in one column; otherwise there is nothing to compare.
FEWEST = 2
_Figures = Mapping[tuple[str, "MatrixColumn"], Measured]
SCRIPTS = (addresses.SITE_SCRIPT, "assets/js/matrix.js")


@dataclass(frozen=True, order=True)
class MatrixKey:
    """The reader's choice of a matrix; `round` is empty for results without a round."""

    group: str
    devices: int
    nodes: int
    round: str

    @property
    def size(self) -> str:
        """The devices, with the machines where there are several, as an address has them."""
        return str(self.devices) if self.nodes == 1 else f"{self.devices}-on-{self.nodes}"

    @property
    def file(self) -> str:
        """The name of the file with the matrix."""
        return digest(json.dumps([self.group, self.size, self.round]))[:12]


@dataclass(frozen=True, order=True)
class MatrixColumn:
    """A workload of a model, in one unit and under one rule; `order` is the model's place among all."""

    order: int
    workload: str
    unit: str
    rule: str


@dataclass(frozen=True)
class Matrix:
    """The fastest result of each column on each hardware; `hardware` is in the order of the rows."""

    key: MatrixKey
    hardware: tuple[str, ...]
    columns: tuple[MatrixColumn, ...]
    best: Mapping[tuple[str, MatrixColumn], Row]

    def there(self, column: MatrixColumn) -> list[str]:
        """Return the hardware with a result in a column."""
        return [name for name in self.hardware if (name, column) in self.best]

    @property
    def reference(self) -> str:
        """The hardware that a page begins with: that with results in most columns, the first of several."""
        return max(self.hardware, key=lambda name: sum((name, each) in self.best for each in self.columns))


def matrices(site: Site) -> tuple[Matrix, ...]:
    """Return the matrices with enough hardware: those with most figures first."""
    found: dict[MatrixKey, dict[tuple[str, MatrixColumn], Row]] = {}
    for key, at, row in _results(site):
        best = found.setdefault(key, {})
        best[at] = max(best.get(at, row), row, key=lambda each: (each.value or 0, each.run_ids))
    made = [Matrix(key, _hardware(best), _columns(best), best) for key, best in found.items()]
    enough = (each for each in made if any(len(each.there(column)) >= FEWEST for column in each.columns))
    return tuple(sorted(enough, key=lambda each: (-len(each.best), each.key)))


def _results(site: Site) -> Iterable[tuple[MatrixKey, tuple[str, MatrixColumn], Row]]:
    for order, suite in enumerate(site.shown):
        for hardware, group, rows in sections(site, suite):
            for row in rows:
                if hardware and row.devices and numbers.known(row.value) and (row.value or 0) > 0:
                    workload = suite.workload_text(row.model, row.options)
                    column = MatrixColumn(order, workload, row.unit, row.rule)
                    yield MatrixKey(group, row.devices, row.nodes or 1, row.round or ""), (hardware, column), row


def _columns(best: Iterable[tuple[str, MatrixColumn]]) -> tuple[MatrixColumn, ...]:
    """Return the columns: first those with the most hardware, then by model, the house rule before others."""
    counted = Counter(column for _, column in best)
    return tuple(
        sorted(counted, key=lambda each: (-counted[each], each.order, each.workload, each.rule != HEADLINE, each))
    )


def _hardware(best: Mapping[tuple[str, MatrixColumn], Row]) -> tuple[str, ...]:
    """Return the hardware, accelerators first, then the fastest: by the mean share of the fastest of each column."""
    most: dict[MatrixColumn, float] = {}
    for (_, column), row in best.items():
        most[column] = max(most.get(column, 0), row.value or 0)
    shares: dict[str, list[float]] = {}
    for (name, column), row in best.items():
        shares.setdefault(name, []).append(math.log((row.value or 0) / most[column]))
    return tuple(
        sorted(shares, key=lambda name: (not is_accelerator(name), -sum(shares[name]) / len(shares[name]), name))
    )


# ---- power and prices ----


def views(site: Site) -> tuple[View, ...]:
    """Return the figures that a reader chooses from: throughput, and what stated power and prices make of it."""
    stated = site.accelerators.by_name.values()
    currencies = {each.currency for each in stated if each.currency}
    found = [View(THROUGHPUT, phrase("table.view_throughput"), "", "higher")]
    if any(each.watts for each in stated):
        found.append(View("per_watt", phrase("hardware.per_watt"), "/W", "higher"))
    if len(currencies) == 1:
        found.append(View("per_price", phrase("hardware.per_price"), f" / ({currencies.pop()}/h)", "higher"))
    return tuple(found)


def _figure(site: Site, row: Row, view: str) -> Measured | None:
    """Return a result's figure in a view; power and prices are those of all its devices."""
    found, stated = measured(site, row, THROUGHPUT), site.accelerators.of(row.hardware or "")
    if found is None or view == THROUGHPUT:
        return found
    per = stated and (stated.watts if view == "per_watt" else stated.price)
    return _divided(found, per * (row.devices or 1)) if per else None


def _divided(found: Measured, by: float) -> Measured:
    return replace(
        found,
        value=found.value / by,
        low=found.low / by,
        high=found.high / by,
        groups=tuple(tuple(each / by for each in group) for group in found.groups),
        rules={name: each / by for name, each in found.rules.items()},
    )


def sources(site: Site) -> list[Text]:
    """Say of each accelerator in a matrix what was stated, when, and where."""
    notes: list[Text] = []
    for name in sorted({each for found in site.once(matrices) for each in found.hardware}):
        stated = site.accelerators.of(name)
        if stated and stated.watts:
            watts = numbers.quantity(stated.watts)
            told = {"name": name, "source": stated.watts_source, "date": stated.date.isoformat()}
            notes.append(phrase("hardware.watts_of", watts=watts, **told))
        if stated and stated.price:
            price, currency = numbers.quantity(stated.price), stated.currency or ""
            told = {"name": name, "source": stated.price_source, "date": stated.date.isoformat()}
            notes.append(phrase("hardware.price_of", price=price, currency=currency, **told))
    return notes


# ---- for the page and its script ----


def offers(site: Site) -> Mapping[str, Sequence[tuple[str, Text]]]:
    """Return what a reader may choose, by field: values with their names."""
    found = site.once(matrices)
    keys = [each.key for each in found]
    hardware = {name for each in found for name in each.hardware}
    names = sorted(hardware, key=lambda each: (not is_accelerator(each), each))
    sizes = sorted({(each.devices, each.nodes, each.size) for each in keys})
    return {
        "reference": [(each, product(each)) for each in names],
        "precision": [(each, group_name(each)) for each in dict.fromkeys(each.group for each in keys)],
        "devices": [(size, _size_name(devices, nodes)) for devices, nodes, size in sizes],
        "round": [(each, _round_name(each)) for each in sorted({each.round for each in keys})],
        "figure": [(each.key, each.title) for each in views(site)],
    }  # fmt: skip


def _round_name(name: str) -> Text:
    return phrase("hardware.in_round", round=name) if name else phrase("hardware.no_round")


def _size_name(devices: int, nodes: int) -> Text:
    if nodes > 1:
        return phrase("front.machines", devices=devices, nodes=nodes)
    return phrase("front.one_device") if devices == 1 else phrase("front.devices", n=devices)


def config(site: Site) -> Mapping[str, Any]:
    """Return which matrices there are, with the file and the first reference of each, for the script."""
    return {
        "matrices": [
            {
                "file": each.key.file,
                "precision": each.key.group,
                "devices": each.key.size,
                "round": each.key.round,
                "hardware": each.hardware,
                "reference": each.reference,
            }
            for each in site.once(matrices)
        ]
    }


def files(site: Site, words: Words) -> dict[str, bytes]:
    """Return a file per matrix, by its path: figures and texts as the page shows them."""
    shown = views(site)
    return {
        f"{FOLDER}/{each.key.file}.json": (
            json.dumps(spoken(words, content(site, each, shown)), ensure_ascii=False, separators=(",", ":")) + "\n"
        ).encode()
        for each in site.once(matrices)
    }


def first(site: Site) -> Mapping[str, Any]:
    """Return the matrix that the page begins with, relative to its reference, as plain data with texts."""
    found = site.once(matrices)[0]
    data = content(site, found, views(site)[:1])
    at = found.hardware.index(found.reference)
    base = [data["rows"][at]["cells"][place] for place in range(len(data["columns"]))]
    figures = [each and each["figures"][THROUGHPUT]["value"] for each in base]
    return {**data, "key": found.key, "reference": found.reference, "at": at, "base": figures}


def content(site: Site, found: Matrix, shown: Sequence[View]) -> dict[str, Any]:
    """Return a matrix as plain data: columns, and rows with their cells (None without a result)."""
    figures: dict[str, _Figures] = {
        view.key: {at: figure for at, row in found.best.items() if (figure := _figure(site, row, view.key))}
        for view in shown
    }
    close = {view: _close(found, of_view) for view, of_view in figures.items()}

    def cell(name: str, column: MatrixColumn) -> Mapping[str, Any] | None:
        at = name, column
        row = found.best.get(at)
        if row is None:
            return None
        known = {view: of_view[at] for view, of_view in figures.items() if at in of_view}
        written = {view: _written(row, each, close[view].get(at, ())) for view, each in known.items()}
        return _cell(site, row, column, written)

    return {
        "columns": [_column(site, found, each, shown, figures) for each in found.columns],
        "rows": [
            {
                "name": product(name),
                "page": addresses.hardware_page(site, name),
                "cells": [cell(name, each) for each in found.columns],
            }
            for name in found.hardware
        ],
    }


def _close(found: Matrix, figures: _Figures) -> Mapping[tuple[str, MatrixColumn], Sequence[int]]:
    """Return the rows whose figure in the same column is too close to a figure to call."""
    close: dict[tuple[str, MatrixColumn], list[int]] = {}
    for column in found.columns:
        there = [(place, (name, column)) for place, name in enumerate(found.hardware) if (name, column) in figures]
        for (upper, one), (lower, other) in itertools.combinations(there, 2):
            if contrast(figures[one], figures[other]).grade == "close":
                close.setdefault(one, []).append(lower)
                close.setdefault(other, []).append(upper)
    return close


def _column(
    site: Site, found: Matrix, column: MatrixColumn, shown: Sequence[View], figures: Mapping[str, _Figures]
) -> Mapping[str, Any]:
    suite = site.shown[column.order]
    there = found.there(column)
    row = found.best[there[0], column]
    about = [suite.workload_words(row.model, row.options)]
    about += [] if column.rule == HEADLINE else [phrase("metric.summary")]
    asked = urlencode({"devices": found.key.devices, "precision": found.key.group})
    return {
        "title": suite.title,
        "about": listed(about),
        "page": addresses.model_page(suite),
        "asked": asked,
        "compared": len(there) >= FEWEST,
        "units": {view.key: column.unit + str(view.unit) for view in shown},
        "most": {
            view: max((told[name, column].value for name in there if (name, column) in told), default=0)
            for view, told in figures.items()
        },
    }


def _written(row: Row, figure: Measured, close: Sequence[int]) -> Mapping[str, Any]:
    text = numbers.figure(figure.value, row.spread, _resolution(row, figure.value))
    return {"value": figure.value, "text": text, "close": close}


def _resolution(row: Row, value: float) -> float:
    """Return the resolution of the printed figure, in the unit of a figure that is computed from it."""
    return (row.resolution or 0.0) * value / (row.value or 1)


def _cell(site: Site, row: Row, column: MatrixColumn, figures: Mapping[str, Any]) -> Mapping[str, Any]:
    suite = site.shown[column.order]
    return {
        "page": site.page(representative(site, row)),
        "about": listed(_about(site, suite, row)),
        "caution": listed(answer_marks.cautions(site, suite, row)),
        "figures": figures,
    }


def _about(site: Site, suite: Suite, row: Row) -> Iterable[Text]:
    """Yield how a figure was measured: what a reader sees of it who points at it."""
    runs = [site.by_id[each] for each in row.run_ids]
    value, devices = row.value or 0, row.devices or 1
    yield phrase("front.cell", figure=numbers.figure(value, row.spread, row.resolution or 0.0), unit=row.unit)
    if devices > 1:
        each = numbers.figure(value / devices, row.spread, _resolution(row, value / devices))
        yield phrase("hardware.each", figure=each)
    yield phrase("front.batch", n=row.batch_size) if row.batch_size else ""
    yield " ".join(filter(None, (row.framework, row.version)))
    yield precision_name(row.precision)
    yield in_words(suite.other_options(row))
    yield row.round or ""
    yield max((day for run in runs if (day := date_of(run))), default=None) or phrase("stated.undated")
    yield answers.times(row)
    yield from spread_marks(row)
    yield from reservations(row)


def spoken(words: Words, data: Any) -> Any:
    """Return plain data with each text in both languages, once where they are the same, and addresses as served."""
    if isinstance(data, Mapping):
        return {name: addresses.served(each) if name == "page" else spoken(words, each) for name, each in data.items()}
    if isinstance(data, list | tuple):
        return [spoken(words, each) for each in data]
    if data is None or isinstance(data, int | float):
        return data
    said = [plain(words.say(language, data)) for language in LANGUAGES]
    return said[0] if len(set(said)) == 1 else {"en": said[0], "zh": said[1]}
