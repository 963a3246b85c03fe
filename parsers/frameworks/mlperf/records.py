"""The records of a log: logged speeds, stretches of the run, the whole run, and the time to its target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from math import isfinite, isnan, nan

import numpy as np

from perfledger.parsers.contract import Columns
from perfledger.parsers.frameworks.mlperf.course import MOST, Course, course_of, covers_all, seconds_trained
from perfledger.parsers.frameworks.mlperf.events import (
    RUN_ENDS,
    Event,
    begin_of_run,
    events_of,
    goes_back,
    is_whole,
    of_run,
    stated,
    with_ends,
)
from perfledger.parsers.frameworks.mlperf.lines import RUN
from perfledger.parsers.frameworks.mlperf.positions import (
    AGREES,
    ENDINGS,
    EXACT,
    FEW_BLOCKS,
    data_set_size,
    of_evaluation,
    positions,
)

#: Events that are logged before training begins.
_BEGINNINGS = frozenset(
    {"_run_start", "_epoch_start", "_block_start", "_data_set", "_of_epoch", "_staging_start", "_staging_stop"}
)
#: Facts of the session that the positions need.
_FACTS = ("batch_size_of_job", "sequence_length")
#: A stretch of training is at most this many times as fast as the median one.
_FASTER = 1.3
#: Logged speeds that are needed to judge their scatter.
MANY = 12
#: Least scatter (relative) of the speeds of single stretches around those of the events.
UNEVEN = 0.002
#: Largest scatter of means since the start, as a share of the scatter above.
MEANS = 0.2


def records(columns: Columns, unit: str = "samples") -> Columns:
    """Return the speeds that are logged repeatedly, or else the stretches of the run, with samples and seconds."""
    events, (batch, length) = events_of(columns), (stated(columns, each) for each in _FACTS)
    counts = _Counts(unit, batch, length, stated(columns, "devices"))
    if back := goes_back(of_run(events)):
        # A record with negative seconds, which is refused with its line.
        return _table(columns, [(back[0], {"samples": 1.0, "duration": back[1]})])
    course = course_of(events, batch)
    found = _of_speeds(events, course, counts)
    if not found and course:
        found = list(_of_course(course, batch, counts.of_event))
    return _table(columns, found or _of_whole_run(events, counts.of_event))


_Record = dict[str, float]


@dataclass(frozen=True)
class _Counts:
    """The unit of the events of a log: `samples`, or `sequences` or `tokens` if the figure is in tokens."""

    unit: str
    batch: float
    length: float
    devices: float

    @property
    def of_event(self) -> float:
        """Return how much of the figure's unit one of the events counts."""
        return self.length if self.unit == "sequences" else 1.0

    def units(self, ratio: float) -> tuple[float, float]:
        """Return the factors from a logged speed, and from the samples of the events, to the figure's unit.

        Args:
            ratio: logged speed over the speed of the events: 1, or a batch, or the tokens of a sequence.
        """
        in_batches, in_tokens = (each > 1 and abs(ratio / each - 1) <= AGREES for each in (self.batch, self.length))
        if in_batches == in_tokens:
            return self.of_event, self.of_event
        if in_batches:
            return self.of_event, self.batch * self.of_event
        return (1 / self.length, 1.0) if self.unit == "samples" else (1.0, self.length)


def _table(columns: Columns, records: Sequence[tuple[int, _Record]]) -> Columns:
    """Return records as columns; all records have the same ones."""
    found = columns.take(np.array([row for row, _ in records], dtype=np.intp)).select()
    names = records[0][1] if records else ("samples", "duration")
    return found.assign(**{name: np.array([record[name] for _, record in records], np.float64) for name in names})


def _of_course(course: Course, batch: float, length: float) -> Iterator[tuple[int, _Record]]:
    """Yield the stretches between the points of a run, numbered by steps if the batch of the job is known.

    A stretch that is much faster than the median is left out, since lines with some of its seconds are missing.
    """
    points = course.points if course.last else course.points[:-1]
    stretches = [each for each in enumerate(pairwise(points), 1) if each[1][1].lost == each[1][0].lost]
    found, speeds = list[tuple[int, _Record]](), list[float]()
    for number, (before, after) in stretches:
        samples, seconds = after.samples - before.samples, after.seconds - before.seconds
        step = after.samples / batch if isfinite(batch) else number
        evaluated = float(after.evaluated > before.evaluated)
        record = {"samples": samples * length, "duration": seconds, "step": step, "evaluated": evaluated}
        found.append((after.event.row, record))
        if not evaluated:
            speeds.append(record["samples"] / seconds)
    most = _FASTER * float(np.median(speeds)) if len(speeds) >= FEW_BLOCKS else np.inf
    yield from (each for each in found if each[1]["samples"] <= most * each[1]["duration"])


def _of_speeds(events: Sequence[Event], course: Course | None, counts: _Counts) -> list[tuple[int, _Record]]:
    """Return the logged speeds of a run; an empty list if there is only one, or if they include evaluations.

    If the events give samples and seconds for at least half of the speeds, the speeds come with these, and the others
    are left out (most often the first, which comes before the first event). If not, a speed cannot be attributed to
    sequences or tokens, and only a figure in samples or tokens gets the bare speeds.
    """
    printed = [each for each in of_run(events) if each.kind == "_printed"]
    # A speed may be logged twice, with and without its place.
    placed = [each for each in printed if isfinite(each.place)]
    printed = placed if 2 * len(placed) >= len(printed) else printed
    places = [each.place if isfinite(each.place) else float(number) for number, each in enumerate(printed)]
    if len(set(places)) < 2:
        return []
    measured = _between(printed, places, course) if course else {}
    # The events do not cover speeds before the first point, after the last one, and at lost lines.
    if 2 * len(measured) < len(set(places)):
        if counts.unit == "sequences" or (course and not _may_be(printed, course)):
            return []
        return [
            (each.row, {"throughput": each.throughput, "step": place})
            for each, place in zip(printed, places, strict=True)
        ]
    known = [(each, place, *measured[place]) for each, place in zip(printed, places, strict=True) if place in measured]
    ratio = float(np.median([each.throughput * seconds / samples for each, _, samples, seconds in known]))
    of_speed, of_event = counts.units(ratio)
    if course and course.marked and abs(ratio * of_speed / of_event - 1) <= AGREES:
        # The speed at a mark includes the evaluations since the mark before, and the first one counts steps not yet done.
        return []
    if _since_the_start(known):
        return []
    if counts.devices > 1 and abs(counts.devices * ratio * of_speed / of_event - 1) <= AGREES:
        # The speed of one rank.
        return []
    if ratio * of_speed / of_event < 1 - AGREES and _includes_evaluations(known, printed, of_speed / of_event):
        return []
    return [
        (
            each.row,
            {
                "throughput": each.throughput * of_speed,
                "step": place,
                "samples": samples * of_event,
                "duration": seconds,
            },
        )
        for each, place, samples, seconds in known
    ]


def _includes_evaluations(
    known: Sequence[tuple[Event, float, float, float]], printed: Sequence[Event], factor: float
) -> bool:
    """Return whether logged speeds agree with the whole time between their lines, evaluations included.

    Speeds that are lower still contradict the events.
    """
    before = dict(pairwise(sorted(printed, key=lambda each: -each.time)))
    ratios = [
        factor * each.throughput * (each.time - before[each].time) / samples
        for each, _, samples, _ in known
        if each in before and each.time > before[each].time
    ]
    return not ratios or float(np.median(ratios)) >= 1 - AGREES


def _since_the_start(known: Sequence[tuple[Event, float, float, float]]) -> bool:
    """Return whether logged speeds are means since the start, which include its slow steps to the end.

    NVIDIA's Mask R-CNN logs the batch over the mean seconds of all iterations.
    """
    if len(known) < MANY:
        return False
    speeds = np.array([each.throughput for each, *_ in known])
    samples, seconds = (np.array(each) for each in list(zip(*known, strict=True))[2:])
    # In the first half, the events do not show which steps were slow.
    later = slice(len(known) // 2, None)
    of_interval, since_start = (
        float(np.std(np.log(speeds * took / done)[later]))
        for done, took in ((samples, seconds), (np.cumsum(samples), np.cumsum(seconds)))
    )
    return of_interval > UNEVEN and since_start < MEANS * of_interval


def _may_be(printed: Sequence[Event], course: Course) -> bool:
    """Return whether logged speeds fit a course that may include evaluations: not slower, nor much faster."""
    first, last = course.points[0], course.points[-1]
    mean = (last.samples - first.samples) / (last.seconds - first.seconds) if last.seconds > first.seconds else nan
    speed = float(np.median([each.throughput for each in printed]))
    return not (speed < (1 - AGREES) * mean or speed > mean / MOST)


def _between(printed: Sequence[Event], places: Sequence[float], course: Course) -> dict[float, tuple[float, float]]:
    """Return samples and seconds of training since the speed before, by place; only the places that the course covers."""
    samples, seconds = ([getattr(each, name) for each in course.points] for name in ("samples", "seconds"))
    first, found = course.points[0], dict[float, tuple[float, float]]()
    before, lost = first.seconds, first.lost + first.evaluated
    seen = set[float]()
    for each, place in zip(printed, places, strict=True):
        if place in seen or each.row not in course.trained:
            continue
        seen.add(place)
        now, lost_now = course.trained[each.row]
        done = np.interp([before, now], seconds, samples)
        if lost_now == lost and before < now <= seconds[-1] + MOST and done[0] < done[1]:
            found[place] = (float(done[1] - done[0]), now - before)
        before, lost = max(before, now), lost_now
    return found


def _of_whole_run(events: Sequence[Event], length: float) -> list[tuple[int, _Record]]:
    """Return the whole run as a record if the number of processed samples is logged at its end, else an empty list.

    The seconds exclude evaluations whose times are logged, unless the logged speed of the run includes them.
    """
    inside = of_run(events)
    ends = [each.row for each in events if each.kind == "_epoch_stop"] or [inside[-1].row]
    first = next((each for each in events if each.kind == "_data_set"), None)
    if first is None or first.row < ends[0] or not is_whole(inside):
        return []
    outside = [each for each in inside if not each.kind.startswith(("_epoch", "_block"))]
    trained = seconds_trained(with_ends(outside))
    samples, whole = first.value * length, inside[-1].time - inside[0].time
    logged = [each.throughput for each in events if each.kind == "_printed" and each.throughput > 0]
    claimed = samples / float(np.median(logged)) if logged else nan
    if min(trained[-1], whole) <= 0:
        return []
    seconds = whole if abs(claimed / whole - 1) <= EXACT < abs(claimed / trained[-1] - 1) else trained[-1]
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
    if not inside or inside[0].kind != "_run_start":
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
    if not inside or not is_whole(inside):
        return _table(columns, [])
    samples, within = positions(inside, data_set_size(events, batch), batch)
    if not within and not _evaluated_last(inside):
        # The target may have been met, or all steps done, within the last epoch.
        return _table(columns, [])
    # If epochs have no end, the samples of the last one are unknown.
    until_each = [number if each.kind != "_epoch_start" else nan for number, each in zip(samples, inside, strict=True)]
    known = [at for at, number in enumerate(until_each) if number > 0]
    if not known or not covers_all(inside, samples, known, within):
        return _table(columns, [])
    before, until = _before_training(inside, samples), max(until_each[at] for at in known)
    if until <= before or _contradicts(until, inside, samples, batch):
        return _table(columns, [])
    # The first samples may be counted before they are trained, and the rules may let all runs begin with a checkpoint.
    resumed = before if before > batch and not isfinite(stated(columns, "resumed_from")) else 0.0
    return _table(columns, [(inside[-1].row, {"target_samples": until - before, "samples_before": resumed})])


def _contradicts(until: float, inside: Sequence[Event], samples: Sequence[float], batch: float) -> bool:
    """Return whether the last end of a block or of an evaluation has fewer samples, or others than the next event."""
    varied = len({each.samples for each in inside if of_evaluation(each, each.samples)}) > 1
    ends = [
        number
        for each, number in zip(inside, samples, strict=True)
        if isfinite(each.samples) and (each.kind in ENDINGS or (varied and of_evaluation(each, each.samples)))
    ]
    if len(set(ends)) < 2:
        return False
    return any(map(isnan, ends)) or until - ends[-1] > max(EXACT * until, batch if isfinite(batch) else 0.0)


def _evaluated_last(inside: Sequence[Event]) -> bool:
    """Return whether an evaluation ended the last epoch, or the last block if epochs have no end.

    The evaluation comes after the end, or once in each epoch or block.
    """
    kinds = {each.kind for each in inside}
    end = "_epoch_stop" if "_epoch_stop" in kinds else "_block_stop"
    evaluation = "_eval_start" if "_eval_start" in kinds else "_judged"
    kinds_in_order = [each.kind for each in inside if each.kind in (end, evaluation)]
    alternate = [evaluation, end] * (len(kinds_in_order) // 2)
    return kinds_in_order[-1:] != [end] or (len(kinds_in_order) > 2 and kinds_in_order == alternate)


def _before_training(inside: Sequence[Event], samples: Sequence[float]) -> float:
    """Return the samples that a resumed run counts at its beginning, or 0."""
    begun = takewhile(lambda each: each[0].kind in _BEGINNINGS, zip(inside, samples, strict=True))
    return next((number for _, number in begun if number > 0), 0.0)
