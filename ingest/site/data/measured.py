"""Results measured here, as records of `results.json`: the rows of the pages, with their runs and conditions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache

from msgspec import UNSET

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Words
from perfledger.ingest.compute.candidates import THROUGHPUT, measured, sources
from perfledger.ingest.compute.comparison import conditions_of
from perfledger.ingest.compute.contrast import Measured
from perfledger.ingest.compute.rules import HEADLINE
from perfledger.ingest.site import addresses
from perfledger.ingest.site.data.records import reason_text, result_id
from perfledger.ingest.site.model import Row, Site, Suite, written
from perfledger.schema.records import ResultMetric, Run
from perfledger.schema.results import Both, Metric, ResultRecord, RunLink
from perfledger.schema.vocabulary import METRICS, precision_group

#: Fields that a record copies from its row.
_OF_ROW = (
    "model", "framework", "hardware", "nodes", "devices", "batch_size", "precision", "options", "round", "rule",
    "value", "low", "high", "spread", "repeats", "witnesses", "unproven", "assumed", "missing", "scope", "speedup",
    "efficiency", "outcome", "diverged",
)  # fmt: skip


def records(site: Site, words: Words) -> list[ResultRecord]:
    """Return a record per measured result, by id."""
    suites = {each.id: each for each in site.shown}
    found = [_record(site, words, suites[suite], row) for suite, rows in site.rows.items() for row in rows]
    found += [_record(site, words, site.suite_of[row.run_ids[0]], row) for row in site.unplaced]
    return sorted(found, key=lambda each: each.id)


def figures(site: Site) -> dict[tuple[str, str], Measured]:
    """Return the figures with their repeats, by the result's id and the metric."""
    found = (
        (identity(row), view, measured(site.by_id, row, view))
        for rows in site.rows.values() for row in rows for view in (THROUGHPUT, *row.metrics)
    )  # fmt: skip
    return {(result, view): figure for result, view, figure in found if figure}


def identity(row: Row) -> str:
    """Return the id of a result: the usual name of its case, and a hash of all that distinguishes it.

    It follows from the case, the unit, the rule, the framework's version and the round alone, so that no other run
    changes it.
    """
    # The house rule is left out, so that addresses from before there were others stay.
    distinguishing = [getattr(row, key) for key in _IDENTITY] + ([row.rule] if row.rule != HEADLINE else [])
    distinguishing += [f"submitted by {row.submitter}"] if row.submitter else []
    distinguishing += list(row.run_ids) if row.missing else []  # each is of one run
    distinction = json.dumps(distinguishing, sort_keys=True, ensure_ascii=False, default=str)
    return result_id(
        (row.model, row.framework, row.hardware), row, (row.precision, row.version, row.round), distinction
    )


_IDENTITY = (
    "model", "framework", "hardware", "nodes", "devices", "batch_size", "precision", "options", "unit", "version",
    "round",
)  # fmt: skip


def date_of(run: Run) -> str | None:
    """Return the day when a run began, as ISO 8601: of its start in UTC, or else of its log's first clock.

    The day of a clock without a time zone is used unchanged.
    """
    stated = run.start, run.clock[0] if run.clock else None
    return next((day for each in stated if each and (day := _day(each))), None)


def newest_day(runs: Iterable[Run]) -> str:
    """Return the day of the newest of some runs; empty if none is dated."""
    return max((date_of(run) or "" for run in runs), default="")


@lru_cache(1 << 16)
def _day(stated: str) -> str | None:
    with suppress(ValueError, OverflowError):
        at = datetime.fromisoformat(stated)
        return (at.astimezone(UTC) if at.tzinfo else at).date().isoformat()
    return None


def _record(site: Site, words: Words, suite: Suite, row: Row) -> ResultRecord:
    runs = [site.by_id[each] for each in row.run_ids]
    return ResultRecord(
        **{name: getattr(row, name) for name in _OF_ROW},
        id=identity(row),
        origin="measured",
        suite=suite.id,
        title=Both(en=suite.title.en, zh=suite.title.zh),
        framework_version=row.version,
        group=precision_group(row.precision),
        source=None,
        submitter=row.submitter or UNSET,
        unit=row.unit or None,
        text=written(row) if row.value is not None else None,
        range=numbers.span(row.low, row.high, row.spread, row.resolution or 0.0) if row.repeats > 1 else None,
        hosts=row.hosts or UNSET,
        spread_within=row.spread_within if row.hosts else UNSET,
        spread_between=row.spread_between if row.hosts else UNSET,
        placed=False if row.missing else UNSET,
        speedup_reason=reason_text(words, row.speedup_reason),
        metrics={each: _metric(each, row.metrics[each], runs) for each in METRICS if each in row.metrics},
        reason=reason_text(words, row.reason),
        conditions=conditions_of(runs),
        runs=tuple(_link(site, each) for each in runs),
        page=addresses.model_folder(suite) if suite in site.shown else addresses.served(site.page(runs[0])) or "",
    )


def _link(site: Site, run: Run) -> RunLink:
    page = addresses.served(site.page(run))
    return RunLink(id=run.id, page=page, date=date_of(run), log=run.path, sha256=run.sha256)


def _metric(metric: str, found: ResultMetric, runs: Sequence[Run]) -> Metric:
    return Metric(
        value=found.value,
        text=None if found.value is None else numbers.figure(found.value, found.spread),
        unit=found.unit,
        better=METRICS[metric].better,
        low=found.low,
        high=found.high,
        spread=found.spread,
        range=numbers.span(found.low, found.high, found.spread) if found.repeats > 1 else None,
        repeats=found.repeats,
        sources=tuple(sources(runs, metric)),
        rule=found.rule or UNSET,
        factor=found.factor if found.rule else UNSET,
    )
