"""Observations, outcome, progress, clocks and curve of a run, from the records and the end of its session."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

from perfledger.ingest.common.numbers import shortened
from perfledger.ingest.compute import window
from perfledger.ingest.compute.chain import intervals_of
from perfledger.ingest.compute.intervals import TIMED, Intervals
from perfledger.ingest.compute.refusals import NoFigureError
from perfledger.ingest.compute.telemetry_figures import iso
from perfledger.ingest.read.run_json import RunJsonFile
from perfledger.parsers.engine.clock import DATELESS_BEFORE
from perfledger.parsers.engine.read import Log
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Figure, NoFigure, RunProgress, Trace

TRACE_POINTS = 400
#: Outcomes by run.json that tables show.
_PUBLISHABLE = (None, "completed", "truncated", "missed", "oom")


def observations(session: Session) -> int:
    """Return the number of records of the main metric: those with a speed or a duration, else those with a clock.

    A summary of the whole run counts only if there are no other records.
    """
    beside = [each is not session.main and each.reading.span == "run" for each in session.records]
    for skipped, columns in product((True, False), (("throughput",), TIMED, ("clock",))):
        for records, of_run in zip(session.records, beside, strict=True):
            if any(column in records for column in columns) and len(records) and of_run != skipped:
                return len(intervals_of(records)) if records.reading.repeated else len(records)
    return 0


def clock_of(session: Session) -> tuple[str, str] | None:
    """Return first and last clock of the records in the host's local time; None if the log prints no date and time.

    Seconds since 1970 do not count: they do not state the time zone of the host.
    """
    import numpy as np

    columns = [each["clock"] for each in session.records if "clock" in each.reading.columns and "clock" in each]
    stamps = np.concatenate(columns) if columns else np.empty(0)
    stamps = stamps[np.isfinite(stamps)]
    if not len(stamps) or float(stamps.min()) < DATELESS_BEFORE:
        return None
    return iso(float(stamps.min())), iso(float(stamps.max()))


def measured_clock_of(series: Callable[[], Intervals], headline: Figure | NoFigure) -> tuple[str, str] | None:
    """Return the clock of the record before those that the headline counts, where one begins, and of their last.

    It is that of their lines, in the host's local time; None where these have no date and time.
    """
    import numpy as np

    if not isinstance(headline, Figure) or headline.first_line is None or headline.last_line is None:
        return None
    try:
        records = series().records
    except NoFigureError:
        return None
    stamps = records.stamps()
    before, known = records.before(headline.first_line), np.isfinite(stamps)
    counted = known & ~before & records.before(headline.last_line + 1)
    if not counted.any() or float(stamps[counted].min()) < DATELESS_BEFORE:
        return None
    first = stamps[known & before][-1] if (known & before).any() else stamps[counted][0]
    return (iso(float(first)), iso(float(stamps[counted][-1]))) if first < stamps[counted][-1] else None


def outcome_of(session: Session, log: Log, run_json: RunJsonFile) -> str:
    """Return the outcome by run.json; without one, and of sessions before the last, by the log.

    A trial that did not fail stays a trial, however it ended, so that its figures are not published.
    """
    if run_json.document and run_json.document.smoke and run_json.document.outcome in _PUBLISHABLE:
        return "trial"
    stated = run_json.document.outcome if run_json.document and session.number == len(log.sessions) else None
    return stated or _outcome_by_log(session)


def _outcome_by_log(session: Session) -> str:
    """Return the outcome by the log: a run that trains to a target has ended there, though more steps were planned."""
    found = session.ending.outcome
    reached = {float(each["reached"][-1]) for each in session.records if "reached" in each and len(each)}
    if found not in ("completed", "truncated") or not reached & {0.0, 1.0}:
        return found
    return "missed" if 0.0 in reached else "completed"


def progress_of(session: Session) -> RunProgress | None:
    """Return how far the run came, if the log counts it."""
    found = session.counters
    return RunProgress(found.unit, found.done, found.total) if found else None


def curve_of(series: Callable[[], Intervals]) -> dict[str, Any]:
    """Return what a run keeps of its series."""
    try:
        given = series()
    except NoFigureError:
        return {}
    return {"trace": _trace(given), "pauses": window.pauses(given), "evenness": window.evenness(given)}


def _trace(given: Intervals) -> Trace:
    """Return at most TRACE_POINTS of the series; of every bin its extremes, so that no outlier is lost."""
    shown, begin = _bins(given), window.begin(given)
    steps, values = (column[shown].tolist() for column in (given.step, given.speed))
    return Trace(
        step=tuple(map(shortened, steps)),
        value=tuple(shortened(each, 6) for each in values),
        unit=given.reading.unit,
        skipped=sum(each < begin for each in shown),
    )


def _bins(given: Intervals) -> list[int]:
    import numpy as np

    count = len(given)
    if count <= TRACE_POINTS:
        return list(range(count))
    edges = np.linspace(0, count, TRACE_POINTS // 2 + 1).astype(int).tolist()
    spans, values = [range(a, b) for a, b in pairwise(edges)], given.speed.tolist()
    extremes = {pick(each, key=values.__getitem__) for each in spans for pick in (min, max)}
    return sorted(extremes)
