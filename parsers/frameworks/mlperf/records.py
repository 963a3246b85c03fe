"""The records of a log: logged speeds, stretches of the run, the whole run, and the time to its target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from math import isfinite, nan

import numpy as np

from perfledger.parsers.contract import Columns
from perfledger.parsers.frameworks.mlperf.course import Course, course_of, seconds_trained
from perfledger.parsers.frameworks.mlperf.events import (
    RUN_ENDS,
    Event,
    begin_of_run,
    events_of,
    goes_back,
    is_whole,
    of_run,
    stated,
)
from perfledger.parsers.frameworks.mlperf.lines import RUN
from perfledger.parsers.frameworks.mlperf.positions import FEW_BLOCKS, data_set_size, positions

#: Events that are logged before training begins.
_BEGINNINGS = frozenset(
    {"_run_start", "_epoch_start", "_block_start", "_data_set", "_of_epoch", "_staging_start", "_staging_stop"}
)
#: Facts of the session that the positions need.
_FACTS = ("batch_size_of_job", "sequence_length")
#: Largest relative difference between a logged speed and that of the events.
_AGREES = 0.05
#: Largest relative difference between the seconds of a run and those that its own speed gives.
_SAME = 0.01
#: Seconds of training beyond the last point of the course that a logged speed may include.
_BEYOND = 0.5
#: A stretch of training is at most this many times as fast as the median one.
_FASTER = 1.3

_Record = dict[str, float]


@dataclass(frozen=True)
class _Counts:
    """The counts of a log: samples of the figure's unit per sample of its events, tokens of a sample, and devices."""

    of_event: float
    length: float
    devices: float


def records(columns: Columns, unit: str = "samples") -> Columns:
    """Return the speeds that are logged repeatedly, or else the stretches of the run, with samples and seconds."""
    events, (batch, length) = events_of(columns), (stated(columns, each) for each in _FACTS)
    counts = _Counts(length if unit == "sequences" else 1.0, length, stated(columns, "devices"))
    if back := goes_back(of_run(events)):
        # A record with negative seconds, which is refused with its line.
        return _table(columns, [(back[0], {"samples": 1.0, "duration": back[1]})])
    course = course_of(events, batch)
    found = _of_speeds(events, course, counts)
    if not found and course:
        found = list(_of_course(course, batch, counts.of_event))
    return _table(columns, found or _of_whole_run(events, counts.of_event))


def _table(columns: Columns, records: Sequence[tuple[int, _Record]]) -> Columns:
    """Return records as columns; all records have the same ones."""
    found = columns.take(np.array([row for row, _ in records], dtype=np.intp)).select()
    names = records[0][1] if records else ("samples", "duration")
    return found.assign(**{name: np.array([record[name] for _, record in records], np.float64) for name in names})


def _of_course(course: Course, batch: float, of_event: float) -> Iterator[tuple[int, _Record]]:
    """Yield the stretches between the points of a run, numbered by steps if the batch of the job is known.

    A stretch that is much faster than the median is left out, since lines with some of its seconds are missing.
    """
    points = course.points if course.last else course.points[:-1]
    found, speeds = list[tuple[int, _Record]](), list[float]()
    for number, (before, after) in enumerate(pairwise(points), 1):
        samples, seconds = after.samples - before.samples, after.seconds - before.seconds
        step = after.samples / batch if isfinite(batch) else number
        evaluated = float(after.evaluated > before.evaluated)
        record = {"samples": samples * of_event, "duration": seconds, "step": step, "evaluated": evaluated}
        found.append((after.event.row, record))
        if not evaluated:
            speeds.append(record["samples"] / seconds)
    most = _FASTER * float(np.median(speeds)) if len(speeds) >= FEW_BLOCKS else np.inf
    yield from (each for each in found if each[1]["samples"] <= most * each[1]["duration"])


def _of_speeds(events: Sequence[Event], course: Course | None, counts: _Counts) -> list[tuple[int, _Record]]:
    """Return the logged speeds of a run; an empty list if there is only one, or if they include evaluations.

    If the events give samples and seconds for at least half of the speeds, the speeds come with these, and the others
    are left out (most often the first, which comes before the first event). A speed of one device, or in tokens where
    the events count sequences, is not that of the job.
    """
    printed = [each for each in of_run(events) if each.kind == "_printed"]
    # A speed may be logged twice, with and without its place.
    placed = [each for each in printed if isfinite(each.place)]
    printed = placed if 2 * len(placed) >= len(printed) else printed
    places = [each.place if isfinite(each.place) else float(number) for number, each in enumerate(printed)]
    if len(set(places)) < 2:
        return []
    if not course:
        # Without events, the unit of a speed is unknown in a log that counts sequences.
        pairs = zip(printed, places, strict=True) if counts.of_event == 1.0 else ()
        return [(each.row, {"throughput": each.throughput, "step": place}) for each, place in pairs]
    measured = _between(printed, places, course)
    known = [(each, place, *measured[place]) for each, place in zip(printed, places, strict=True) if place in measured]
    if 2 * len(measured) < len(set(places)):
        return []
    ratio = float(np.median([each.throughput * seconds / samples for each, _, samples, seconds in known]))
    # The speed at a mark includes the evaluations since the mark before, and the first one counts steps not yet done.
    if course.marked and abs(ratio - 1) <= _AGREES:
        return []
    if any(each != 1 and abs(ratio * each - 1) <= _AGREES for each in (counts.devices, 1 / counts.length)):
        return []
    if ratio < 1 - _AGREES and _includes_evaluations(known, printed):
        return []
    return [
        (
            each.row,
            {
                "throughput": each.throughput * counts.of_event,
                "step": place,
                "samples": samples * counts.of_event,
                "duration": seconds,
            },
        )
        for each, place, samples, seconds in known
    ]


def _includes_evaluations(known: Sequence[tuple[Event, float, float, float]], printed: Sequence[Event]) -> bool:
    """Return whether logged speeds agree with the whole time between their lines, evaluations included.

    Speeds that are lower still contradict the events.
    """
    before = dict(pairwise(sorted(printed, key=lambda each: -each.time)))
    ratios = [
        each.throughput * (each.time - before[each].time) / samples
        for each, _, samples, _ in known
        if each in before and each.time > before[each].time
    ]
    return not ratios or float(np.median(ratios)) >= 1 - _AGREES


def _between(printed: Sequence[Event], places: Sequence[float], course: Course) -> dict[float, tuple[float, float]]:
    """Return samples and seconds of training since the speed before, by place; only the places that the course covers."""
    samples, seconds = ([getattr(each, name) for each in course.points] for name in ("samples", "seconds"))
    first, found = course.points[0], dict[float, tuple[float, float]]()
    before, evaluated = first.seconds, first.evaluated
    for each, place in zip(printed, places, strict=True):
        if place in found or each.row not in course.trained:
            continue
        now, evaluated_now = course.trained[each.row]
        done = np.interp([before, now], seconds, samples)
        if evaluated_now == evaluated and before < now <= seconds[-1] + _BEYOND and done[0] < done[1]:
            found[place] = (float(done[1] - done[0]), now - before)
        before, evaluated = max(before, now), evaluated_now
    return found


def _of_whole_run(events: Sequence[Event], of_event: float) -> list[tuple[int, _Record]]:
    """Return the whole run as a record if the number of processed samples is logged at its end, else an empty list.

    The seconds exclude evaluations whose times are logged, unless the logged speed of the run includes them.
    """
    inside = of_run(events)
    ends = [each.row for each in events if each.kind == "_epoch_stop"] or [inside[-1].row]
    first = next((each for each in events if each.kind == "_data_set"), None)
    if first is None or first.row < ends[0] or not is_whole(inside):
        return []
    trained = seconds_trained([each for each in inside if not each.kind.startswith(("_epoch", "_block"))])[-1]
    samples, whole = first.value * of_event, inside[-1].time - inside[0].time
    logged = [each.throughput for each in events if each.kind == "_printed" and each.throughput > 0]
    claimed = samples / float(np.median(logged)) if logged else nan
    if min(trained, whole) <= 0:
        return []
    seconds = whole if abs(claimed / whole - 1) <= _SAME < abs(claimed / trained - 1) else trained
    return [(inside[-1].row, {"samples": samples, "duration": seconds})]


def block_means(columns: Columns, unit: str = "samples") -> Columns:
    """Return the speed of each block by the program's own timer, in batches of the job."""
    batch, length = (stated(columns, each) for each in _FACTS)
    speeds = batch * (length if unit == "sequences" else 1.0) / columns["_step_seconds"]
    return columns.assign(throughput=speeds).take(np.isfinite(speeds) & (speeds > 0))


def reported_speed(columns: Columns) -> Columns:
    """Return the program's own speed of the run: one that is logged once, or by several machines at one step."""
    rows = np.flatnonzero(np.isfinite(columns["throughput"]))
    rows = rows[np.argsort(columns["throughput"][rows], kind="stable")]
    # A logger may print a line twice.
    once = any(len(set(columns[name][rows].tolist())) == 1 for name in ("_printed", "_step"))
    middle = rows[len(rows) // 2 : len(rows) // 2 + 1] if once else rows[:0]
    return columns.take(middle)


def target(columns: Columns) -> Columns:
    """Return the run as a record: its seconds, and whether it reached its target."""
    row, seconds, reached = _run(events_of(columns))
    found = {"target_seconds": seconds, "seconds": seconds, "reached": reached}
    return _table(columns, [(row, found)] if row is not None else [])


def _run(events: Sequence[Event]) -> tuple[int | None, float, float]:
    """Return the row that ends the last run, its seconds, and 1 if it reached its target, else 0; NaN if unknown."""
    inside = of_run(events)
    if inside[0].kind != "_run_start":
        return None, nan, nan
    before = [each for each in events[: begin_of_run(events)] if each.kind in RUN]
    if any(each.kind == "_run_start" for each in before) and before[-1].kind not in RUN_ENDS:
        # The first run has no end, and the log does not say whether the last run continues it.
        return before[-1].row, nan, nan
    last, whole = inside[-1], is_whole(inside)
    # Seconds since 1970 have no digits beyond the microsecond.
    seconds = round(last.time - inside[0].time, 6) if whole else nan
    reached = {"_met": 1.0, "_missed": 0.0, "_run_stop": _judged(inside)}.get(last.kind, nan)
    if (back := goes_back(inside)) and reached == 1:
        # No time at all, which is refused with its line.
        return back[0], nan, reached
    return last.row, seconds, reached


def _judged(events: Sequence[Event]) -> float:
    """Return 1 if the last accuracy reaches the target of the log, else NaN, since their units may differ."""
    aim, judged = ([each.value for each in events if each.kind == kind] for kind in ("_aim", "_judged"))
    return 1.0 if aim and judged and judged[-1] >= aim[0] else nan


def target_samples(columns: Columns) -> Columns:
    """Return the samples until the end of the run, from its last event that counts them."""
    events, batch = events_of(columns), stated(columns, "batch_size_of_job")
    inside = of_run(events)
    if not is_whole(inside):
        return _table(columns, [])
    samples, _ = positions(inside, data_set_size(events, batch), batch)
    # If epochs have no end, the samples of the last one are unknown.
    known = [number for number, each in zip(samples, inside, strict=True) if each.kind != "_epoch_start" and number > 0]
    before, until = _before_training(inside, samples), max(known, default=0.0)
    if until <= before:
        return _table(columns, [])
    # The first samples may be counted before they are trained, and the rules may let all runs begin with a checkpoint.
    resumed = before if before > batch and not isfinite(stated(columns, "resumed_from")) else 0.0
    return _table(columns, [(inside[-1].row, {"target_samples": until - before, "samples_before": resumed})])


def _before_training(inside: Sequence[Event], samples: Sequence[float]) -> float:
    """Return the samples that a resumed run counts at its beginning, or 0."""
    begun = takewhile(lambda each: each[0].kind in _BEGINNINGS, zip(inside, samples, strict=True))
    return next((number for _, number in begun if number > 0), 0.0)
