"""Facts of a run: those of its case, its environment, and its outcome, progress, clocks and curve.

They come from run.json, the log, files next to it and its path, and from the records of the session themselves.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from perfledger.ingest.common.numbers import shortened
from perfledger.ingest.compute import window
from perfledger.ingest.compute.chain import intervals_of
from perfledger.ingest.compute.intervals import TIMED, Intervals
from perfledger.ingest.compute.peaks import has_tf32
from perfledger.ingest.compute.telemetry_figures import iso
from perfledger.ingest.read import facts
from perfledger.ingest.read.beside import PathFacts
from perfledger.ingest.read.run_json import RunJsonFile
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.clock import DATELESS_BEFORE
from perfledger.parsers.engine.read import Log
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords
from perfledger.schema.records import FactValue, Figure, NoFigure, Stated
from perfledger.schema.vocabulary import UNITS
from perfledger.schema.window import Trace

#: Most points of a curve.
TRACE_POINTS = 400
#: Outcomes by run.json that tables show.
_PUBLISHABLE = (None, "completed", "truncated", "missed", "oom")
#: Frameworks as NVIDIA packs them: since containers 20.06, which Ampere needs, they allow TF32 by default.
_ALLOWS_TF32 = "NGC "
_OVERRIDE = "NVIDIA_TF32_OVERRIDE"
#: Facts that state a batch size, or that a step is not one batch of each device.
_NO_BATCH_OF_RECORDS = frozenset({"batch_size", "batch_size_of_job", "accumulation", *facts.CUTS})
#: Largest relative distance of a product of two printed figures from a whole batch.
_ROUNDED = 0.005


def facts_of(session: Session, run_json: RunJsonFile, path_facts: PathFacts) -> facts.Merged:
    """Merge the facts of a session: from its run.json, its log, files next to it, and its path by the layout."""
    within = session.view.format.framework if session.view else ""
    implied, said = {"framework": session.format.framework or within}, session.format.id
    merged = facts.merge(run_json.case(), session.facts, path_facts, implied, said)
    if not _NO_BATCH_OF_RECORDS & merged.stated.keys():
        more = _batch_of_records(session)
        merged = replace(merged, stated={**merged.stated, **more}, of_records=frozenset(more))
    return _with_tf32(merged, run_json)


def environment_of(session: Session, run_json: RunJsonFile, path_facts: PathFacts) -> dict[str, Stated]:
    """Return the environment by run.json, completed by the log and by files next to it."""
    known = dict(run_json.document.environment) if run_json.document else {}
    for fact, name in (("gpu", "gpu"), ("framework_version", "framework_version")):
        if fact in session.facts:
            known.setdefault(name, session.facts[fact].value)
    return {**path_facts.environment, **known}


def _with_tf32(merged: facts.Merged, run_json: RunJsonFile) -> facts.Merged:
    """Return the facts with the precision TF32 or FP32 if the framework may compute FP32 as TF32.

    A precision in run.json stays, and so does one that a switch in the log states.
    """
    used = {name: merged.stated[name] for name in ("precision", "framework", "hardware") if name in merged.stated}
    if len(used) < 3 or used["precision"].value != "fp32" or used["precision"].source == "run.json":
        return merged
    variables = (run_json.document.environment_variables if run_json.document else None) or {}
    allowed = merged.stated.get("tf32")
    forbidden = str(variables.get(_OVERRIDE)) == "0" or (allowed and str(allowed.value).lower() == "false")
    by_default = str(used["framework"].value).startswith(_ALLOWS_TF32) and has_tf32(str(used["hardware"].value))
    if forbidden or not (by_default or allowed):
        return merged
    found = facts.computed("tf32", **used, tf32=allowed) if allowed else facts.computed("fp32_tf32", **used)
    return replace(merged, stated={**merged.stated, "precision": found})


def _batch_of_records(session: Session) -> dict[str, FactValue]:
    """Return the batch size, of a device or the job, from all speeds times their seconds."""
    counted = next((each for each in session.records if len(each) and each.reading.span != "run"), session.main)
    products = _batch_products(counted)
    if products is None or UNITS[counted.reading.unit].counts != "sample":
        return {}
    if not len(products) or not np.isfinite(products).all():
        return {}
    batch = round(median(products))
    if not batch or float(np.max(np.abs(products / batch - 1))) > _ROUNDED:
        return {}
    first, last = counted.lines([0, len(counted) - 1])
    lines = f"lines {first}-{last}" if last > first else f"line {first}"
    name = "batch_size" if counted.reading.scope == "device" else "batch_size_of_job"
    return {name: FactValue(batch, facts.DERIVED, f"throughput ({lines}), step_seconds ({lines})")}


def _batch_products(records: SessionRecords) -> NDArray[np.float64] | None:
    """Return speed times seconds of each record that counts a device or the job; None where it does not print both.

    If a record prints its samples, its batch size is only an upper limit.
    """
    printed = "step_seconds" in records and "throughput" in records and "samples" not in records
    if records.reading.scope not in {"device", "job"} or not printed:
        return None
    return records["throughput"] * records["step_seconds"]


def observations(session: Session) -> int:
    """Return the number of records of the main metric: those with a speed or a duration, else those with a clock.

    A summary of the whole run counts only if there are no other records.
    """
    beside = [each is not session.main and each.reading.span == "run" for each in session.records]
    for skipped, columns in product((True, False), (("throughput",), TIMED, ("clock",))):
        for records, of_run in zip(session.records, beside, strict=True):
            if any(column in records for column in columns) and len(records) and of_run != skipped:
                return len(intervals_of(records)) if records.reading.ranks else len(records)
    return 0


def clock_of(session: Session) -> tuple[str, str] | None:
    """Return first and last clock of the records in the host's local time; None if the log prints no date and time.

    Seconds since 1970 do not count: they do not state the time zone of the host.
    """
    columns = [each["clock"] for each in session.records if "clock" in each.reading.columns and "clock" in each]
    stamps = np.concatenate(columns) if columns else np.empty(0)
    stamps = stamps[np.isfinite(stamps)]
    if not len(stamps) or float(stamps.min()) < DATELESS_BEFORE:
        return None
    return iso(float(stamps.min())), iso(float(stamps.max()))


def measured_clock_of(given: Intervals, headline: Figure | NoFigure) -> tuple[str, str] | None:
    """Return the clock of the record before those that the headline counts, where one begins, and of their last.

    It is that of their lines, in the host's local time; None where these have no date and time.
    """
    if not isinstance(headline, Figure) or headline.first_line is None or headline.last_line is None:
        return None
    records, stamps = given.records, given.records.stamps()
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


def trace_of(given: Intervals) -> Trace:
    """Return at most TRACE_POINTS of the intervals; of every bin its extremes, so that no outlier is lost."""
    shown, begin = _bins(given), window.begin(given)
    steps, values = (column[shown].tolist() for column in (given.step, given.speed))
    return Trace(
        step=tuple(map(shortened, steps)),
        value=tuple(shortened(each, 6) for each in values),
        unit=given.reading.unit,
        skipped=sum(each < begin for each in shown),
    )


def _bins(given: Intervals) -> list[int]:
    count = len(given)
    if count <= TRACE_POINTS:
        return list(range(count))
    edges = np.linspace(0, count, TRACE_POINTS // 2 + 1).astype(int).tolist()
    spans, values = [range(a, b) for a, b in pairwise(edges)], given.speed.tolist()
    extremes = {pick(each, key=values.__getitem__) for each in spans for pick in (min, max)}
    return sorted(extremes)
