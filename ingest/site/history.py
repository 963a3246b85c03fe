"""The histories of a model: its results of several days, versions or rounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from perfledger.ingest.common.grouping import by_key
from perfledger.ingest.common.words import phrase
from perfledger.ingest.compute.candidates import THROUGHPUT, measured, measured_in
from perfledger.ingest.compute.comparison import Candidate
from perfledger.ingest.compute.comparison_levels import Values
from perfledger.ingest.compute.contrast import Measured
from perfledger.ingest.compute.history import HistoryPoint, Moment, history
from perfledger.ingest.compute.results import SCORED
from perfledger.ingest.site import addresses
from perfledger.ingest.site.data.measured import date_of
from perfledger.ingest.site.model import Row, Site, Suite
from perfledger.ingest.site.render.table import Link
from perfledger.schema.records import Run
from perfledger.schema.vocabulary import METRICS

#: Facts that the points of a history have in common; its points differ in version, round and day. The last two facts
#: are of throughput only.
_CASE = (
    "model", "framework", "hardware", "nodes", "devices", "batch_size", "precision", "options_text", "unit", "rule",
)  # fmt: skip
#: The version, which may differ between points in addition to the conditions.
_VERSION = "framework_version"


@dataclass(frozen=True)
class OwnPoint(HistoryPoint):
    """A figure of ours with its runs; `resolution` is what its last printed digit counts."""

    runs: tuple[Run, ...] = ()
    resolution: float = 0.0


@dataclass(frozen=True)
class OwnHistory:
    """The points of one case of ours, in their order; `row` is a result of it, `metric` what its figures are of."""

    row: Row
    metric: str
    moments: tuple[Moment[OwnPoint], ...]


def model_histories(site: Site) -> Mapping[str, tuple[OwnHistory, ...]]:
    """Return the histories of the models that have some: figures of several days, versions or rounds."""
    found = {suite.id: tuple(_of_results(site, site.rows.get(suite.id, ()))) for suite in site.shown}
    return {name: each for name, each in found.items() if each}


def link(site: Site, suite: Suite) -> Link | None:
    """Return a link to the history of a model; None where it has none."""
    has_page = suite.id in site.once(model_histories)
    return Link(phrase("history.link"), addresses.history_page(suite)) if has_page else None


def links(site: Site, framework: str) -> list[Link]:
    """Return links to the histories of the models with several results of a framework."""
    found = site.once(model_histories)
    shown = (suite for suite in site.shown if any(each.row.framework == framework for each in found.get(suite.id, ())))
    return [Link(each.title, addresses.history_page(each)) for each in shown]


def _of_results(site: Site, rows: Sequence[Row]) -> Iterator[OwnHistory]:
    for (metric, *_), of_case in by_key(rows, _case).items():
        points = [point for row in of_case for point in _points(site, row)]
        if len(points) > 1:
            is_lower = metric != THROUGHPUT and METRICS[metric].better == "lower"
            yield OwnHistory(of_case[0], metric, history(points, "lower" if is_lower else "higher"))


def _case(row: Row) -> tuple[str, ...]:
    """Return the metric and the common facts of a history; a score has no unit and rule of throughput."""
    metric = _metric(row)
    names = _CASE if metric == THROUGHPUT else _CASE[:-2]
    return metric, *(getattr(row, each) for each in names)


def _metric(row: Row) -> str:
    """Return what a result is compared in: its score, where it has one."""
    return next((each for each in sorted(SCORED) if each in row.metrics), THROUGHPUT)


def _points(site: Site, row: Row) -> list[OwnPoint]:
    """Return the figures of a result: of each day one, but all runs of a score belong together."""
    runs = [site.by_id[each] for each in row.run_ids]
    if (metric := _metric(row)) != THROUGHPUT:
        figure = measured(site.by_id, row, metric)
        return [_point(row, runs, figure, min(map(_day, runs)))] if figure else []
    made = ((mine, measured_in(mine, row), day) for day, mine in by_key(runs, _day).items())
    return [_point(row, mine, figure, day) for mine, figure, day in made if figure]


def _day(run: Run) -> str:
    return date_of(run) or ""


def _point(row: Row, runs: Sequence[Run], figure: Measured, day: str) -> OwnPoint:
    conditions: Mapping[str, Values] = Candidate(row, figure, tuple(runs)).statement.conditions
    version: Values = (row.version,) if row.version else ()
    return OwnPoint(
        figure, day, row.version or "", row.round or "", {_VERSION: version, **conditions},
        runs=tuple(runs), resolution=row.resolution or 0.0,
    )  # fmt: skip
