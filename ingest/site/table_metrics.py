"""Figures that a comparison can show instead of throughput, and the case that leads in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from perfledger.ingest.common import numbers
from perfledger.ingest.compute import comparison, results
from perfledger.ingest.compute.comparison import Candidate, Verdict
from perfledger.ingest.compute.comparison_levels import DEFAULT, Level
from perfledger.ingest.compute.comparison_place import place_verdicts
from perfledger.ingest.compute.contrast import Measured
from perfledger.ingest.site.model import Row, Site, Suite
from perfledger.schema.records import Run

THROUGHPUT = "throughput"


def measured(site: Site, row: Row, view: str) -> Measured | None:
    """Return a row's figure in a view, or None."""
    runs = [site.by_id[each] for each in row.run_ids]
    return _throughput(row, runs) if view == THROUGHPUT else _metric(row, runs, view)


def _throughput(row: Row, runs: Sequence[Run]) -> Measured | None:
    found = _of(row.value, row.low, row.high, row.repeats, row.spread, row.unit)
    return found and replace(found, groups=results.groups(runs, row.rule), rules=results.by_rule(runs, row.rule))


def _metric(row: Row, runs: Sequence[Run], view: str) -> Measured | None:
    if (stated := row.metrics.get(view)) is None:
        return None
    read_from = tuple(sources(runs, view))
    found = _of(stated.value, stated.low, stated.high, stated.repeats, stated.spread, stated.unit, read_from)
    # A score is not a median of its runs.
    return found and replace(found, groups=() if stated.rule else results.groups(runs, row.rule, view))


def candidates(site: Site, rows: Sequence[Row], view: str = THROUGHPUT, *, axis: str = "framework") -> list[Candidate]:
    """Return the rows that have a figure in a view, with that figure, as entrants of an axis."""
    found = ((row, measured(site, row, view)) for row in rows)
    return [
        Candidate(row, figure, tuple(site.by_id[each] for each in row.run_ids), axis) for row, figure in found if figure
    ]


def places(suite: Suite, rows: Sequence[Row], level: Level = DEFAULT) -> list[list[Row]]:
    """Return rows by variant of the model, and number of machines and devices; at the loosest level machines differ."""
    found: dict[tuple[str, int, int], list[Row]] = {}
    for row in rows:
        nodes = 0 if level == "everything" else row.nodes or 1
        found.setdefault((suite.variant(row), nodes, row.devices or 0), []).append(row)
    return [found[key] for key in sorted(found)]


def verdicts(
    site: Site, suite: Suite, place: Sequence[Row], level: Level = DEFAULT, *, view: str = THROUGHPUT
) -> list[tuple[list[Row], Verdict]]:
    """Return the cases of a place, each with its verdict."""
    cases = comparison.cases(place, suite.row_key, level)
    said = place_verdicts([candidates(site, case, view) for case in cases], suite.workload, level)
    return list(zip(cases, said, strict=True))


def _of(
    value: float | None,
    low: float | None,
    high: float | None,
    repeats: int,
    spread: float | None = None,
    unit: str = "",
    sources: tuple[str, ...] = (),
) -> Measured | None:
    if value is None or not numbers.known(value):
        return None
    least, most = (each if each is not None and numbers.known(each) else value for each in (low, high))
    return Measured(value, least, most, repeats, spread, unit, sources)


def sources(runs: Sequence[Run], metric: str) -> list[str]:
    """Return where a metric comes from: memory as the driver counts it is not what a framework has allocated."""
    return sorted({run.metrics[metric].source or "" for run in runs if metric in run.metrics})
