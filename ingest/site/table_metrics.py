"""What a comparison can show of a case instead of its throughput, and which of several cases is best in that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose

from ingest.common import numbers
from ingest.common.words import phrase
from ingest.site.model import Row, Site, Suite
from ingest.site.render.table import View
from schema.records import Run
from schema.vocabulary import METRICS

THROUGHPUT = "throughput"
#: What is computed from throughput, and the figures beside it that a reader compares. The order is that of the switch.
DERIVED = ("speedup", "efficiency")
BESIDE = ("latency", "memory")


@dataclass(frozen=True)
class Measured:
    """A figure of a row with the least and the most that its repeats allow; `about` has to be equal to compare."""

    value: float
    low: float
    high: float
    repeats: int
    spread: float | None = None
    about: str = ""


def views(rows: Sequence[Row], unit: str) -> tuple[View, ...]:
    """The views of some rows' table: throughput, and each other figure that at least one of them has."""
    found = [View(THROUGHPUT, phrase("table.view_throughput"), unit, "higher")]
    if any((row.devices or 1) > 1 and numbers.known(row.speedup) for row in rows):
        found += [View(each, phrase(f"table.{each}"), "", "higher") for each in DERIVED]
    found += [
        View(each, phrase(f"metric.{each}"), METRICS[each].unit, METRICS[each].better)
        for each in BESIDE
        if any(row.metric(each) is not None for row in rows)
    ]
    return tuple(found)


def measured(site: Site, suite: Suite, row: Row, view: str) -> Measured | None:
    """A row's figure in a view; None where there is none."""
    if view == THROUGHPUT:
        return _of(row.value, row.low, row.high, row.repeats, row.spread, row.unit)
    if view in DERIVED:
        return _derived(site, suite, row, view)
    if (found := row.metrics.get(view)) is None:
        return None
    about = ",".join(sources([site.by_id[each] for each in row.run_ids], view))
    return _of(found.value, found.low, found.high, found.repeats, found.spread, about)


def contradicted(rows: Sequence[Row]) -> list[str]:
    """Options whose stated values differ between frameworks, such as threads: another workload.

    Switches (DALI, XLA) are how a framework is run: they are compared, and named.
    """
    names = sorted({name for row in rows for name, value in row.options.items() if not isinstance(value, bool)})
    return [name for name in names if _contradicts(name, rows)]


def _contradicts(name: str, rows: Sequence[Row]) -> bool:
    stated = {(row.framework, numbers.quantity(row.options[name])) for row in rows if name in row.options}
    return any(a[0] != b[0] and a[1] != b[1] for a in stated for b in stated)


def leader(found: Sequence[tuple[Row, Measured]], better: str) -> Row | None:
    """The best of several frameworks' rows, unless its lead lies within the repeats' spread.

    One run says nothing about its spread; figures of different units, of another workload, or measured differently,
    are not compared.
    """
    sign = 1 if better == "higher" else -1
    ranked = sorted(found, key=lambda each: (-sign * each[1].value, each[0].framework or ""))
    others = [each for each in ranked if each[0].framework != ranked[0][0].framework]
    if not others or len({each.about for _, each in ranked}) > 1 or contradicted([row for row, _ in ranked]):
        return None
    best = ranked[0][1]
    alone = min(best.repeats, others[0][1].repeats) < 2
    return None if alone or any(_overlap(best, each, sign) for _, each in others) else ranked[0][0]


def _overlap(best: Measured, other: Measured, sign: int) -> bool:
    """Whether the worst repeat of the better is no better than the best repeat of the other."""
    return best.low <= other.high if sign > 0 else best.high >= other.low


def _of(
    value: float | None, low: float | None, high: float | None, repeats: int, spread: float | None, about: str
) -> Measured | None:
    if value is None or not numbers.known(value):
        return None
    least, most = (each if each is not None and numbers.known(each) else value for each in (low, high))
    return Measured(value, least, most, repeats, spread, about)


def _derived(site: Site, suite: Suite, row: Row, view: str) -> Measured | None:
    """Speed-up and efficiency: as uncertain as the figure and its baseline together."""
    if row.speedup is None or not row.value or not numbers.known(row.speedup):
        return None
    share = 1 / (row.devices or 1) if view == "efficiency" else 1.0
    value = row.efficiency if view == "efficiency" else row.speedup
    base = _baseline(site, suite, row)
    if base is None or base is row or value is None:  # against itself every framework's is one
        return _of(value, None, None, 0, None, "")
    low, high = (row.low or row.value) / (base.high or row.value), (row.high or row.value) / (base.low or row.value)
    return Measured(value, low * share, high * share, min(row.repeats, base.repeats))


def _baseline(site: Site, suite: Suite, row: Row) -> Row | None:
    """The one-device row that the speed-up was computed against, found by its figure."""
    wanted = (row.value or 0) / (row.speedup or 1)
    if row.devices == 1:
        return row
    same = [
        each
        for each in site.rows.get(suite.id, ())
        if each.devices == 1 and each.value and isclose(each.value, wanted, rel_tol=1e-9)
        and each.framework == row.framework
    ]  # fmt: skip
    return same[0] if same else None


def sources(runs: Sequence[Run], metric: str) -> list[str]:
    """Where a metric comes from: memory as the driver counts it is not what a framework has allocated."""
    return sorted({run.metrics[metric].source or "" for run in runs if metric in run.metrics})
