"""The throughput of a session: its intervals, with the samples and the seconds that give samples per second.

A format quotes speeds, seconds or clocks of some scope; here they become samples per second of the job.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perfledger.ingest.compute.chain import between_clocks, intervals_of, without_means
from perfledger.ingest.compute.intervals import TIMED, Intervals, shown_samples, shown_steps
from perfledger.ingest.compute.kinds import confirmed
from perfledger.ingest.compute.refusals import NoFigureError, no_figure, not_stated, refuse_impossible
from perfledger.ingest.compute.samples import TOKENS, UNCOUNTED, samples_per_step, scoped
from perfledger.parsers.contract import Column, Scope
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords
from perfledger.schema.records import Facts, Reason

#: Least share of lines that repeat a step with another speed if two processes print in turn.
_IN_TURN = 0.25


def throughput(session: Session, case: Facts) -> Intervals:
    """Return the intervals of a session with samples and seconds of the whole job, if its size is known.

    Printed speeds come first, then printed seconds, then the clocks of consecutive lines.

    Args:
        session: what the log states.
        case: facts of the case, such as `devices` and `batch_size`.

    Raises:
        NoFigureError: the log has no such records, the samples per step are not known, or a printed figure is not a
            positive finite number.
    """
    for records in session.records:
        if records.reading.span == "run" or not len(records):
            continue
        for columns, made in ((("throughput",), _by_speed), (TIMED, _by_seconds), (("clock",), _by_clock)):
            if any(each in records for each in columns):
                with np.errstate(all="ignore"):  # Overflows are detected afterwards.
                    return made(intervals_of(records), session, case)
    if any("training_seconds" in each and len(each) for each in session.records):
        raise not_stated("whole_step")
    raise no_figure("no_records")


def throughput_or_reason(session: Session, case: Facts) -> Intervals | Reason:
    """Return the throughput of a session, or the reason for its absence."""
    try:
        return throughput(session, case)
    except NoFigureError as error:
        return error.reason


def _by_speed(given: Intervals, session: Session, case: Facts) -> Intervals:
    """Return the seconds that printed speeds give; without the samples of a step, each interval weighs by its steps."""
    speed, shown = given.printed["throughput"], shown_steps(given)
    refuse_impossible(speed, given.records, given.row)
    _refuse_speeds_of_ranks(given)
    multiplier, scope = scoped(given.reading, case)
    samples, timed = shown_samples(given), True
    if samples is not None and not _all_positive(samples):
        samples = None
    if samples is None and given.reading.running_mean is None and _all_positive(given.printed.get("duration")):
        samples = speed * given.printed["duration"]
    if samples is None:
        per_step = _samples_per_line(given, session, case)
        samples, timed = shown * (per_step or 1.0), per_step is not None and given.reading.span != "epoch"
    found = replace(
        given,
        speed=speed * multiplier,
        samples=without_means(given, samples * multiplier),
        seconds=without_means(given, samples / speed),
        timed=timed,
    )
    return _of_scope(found, multiplier, scope, "throughput")


def _of_scope(given: Intervals, multiplier: int, scope: Scope, source: str) -> Intervals:
    """Refuse speeds that cannot be, and confirm the pauses."""
    refuse_impossible(given.speed, given.records, given.row)
    return confirmed(replace(given, multiplier=multiplier, scope=scope, source=source))


def _all_positive(column: Column | None) -> bool:
    """Return whether every line prints a number of samples or seconds; else they have no total."""
    return column is not None and bool((np.isfinite(column) & (column > 0)).all())


def _samples_per_line(given: Intervals, session: Session, case: Facts) -> float | None:
    """Return samples per step at the printed scope; None if they, or the devices of a speed of one, are not known."""
    multiplier, scope = scoped(given.reading, case)
    if given.reading.unit in UNCOUNTED or scope != "job":
        return None
    try:
        return samples_per_step(session, given.reading, case) / multiplier
    except NoFigureError:
        return None


def _by_seconds(given: Intervals, session: Session, case: Facts) -> Intervals:
    """Return the samples of the seconds that lines print, per step or for all of their steps."""
    step_seconds, samples = given.step_seconds, shown_samples(given)
    assert step_seconds is not None
    whole_epochs = given.reading.span == "epoch" and "duration" in given.printed and "steps" not in given.printed
    if whole_epochs and samples is None:
        samples = _of_data_set(given, case)
    source = next(each for each in TIMED if each in given.printed)
    return _over(replace(given, source=source), step_seconds, shown_steps(given), samples, session, case)


def _of_data_set(given: Intervals, case: Facts) -> Column:
    """Return the samples of epochs whose seconds alone are printed: those of the data set."""
    size, multiplier = case.get("data_set_size"), scoped(given.reading, case)[0]
    if size is None or given.reading.unit in TOKENS | UNCOUNTED:
        raise not_stated("epoch_length")
    return np.full(len(given), size / multiplier)


def _by_clock(given: Intervals, session: Session, case: Facts) -> Intervals:
    """Return the samples between the clocks of consecutive lines."""
    if _once_an_epoch(given):
        raise not_stated("epoch_length")
    between = between_clocks(given)
    if (between.seconds < 0).any():
        raise no_figure("clock_goes_back", line=between.lines([int((between.seconds < 0).argmax())])[0])
    if not len(between):
        raise no_figure("too_few_records", records=len(given), needed=len(given) + 1)
    counted = between.samples if shown_samples(given) is not None else None
    return _over(between, between.seconds / between.steps, between.steps, counted, session, case)


def _once_an_epoch(given: Intervals) -> bool:
    """Return whether one line of each epoch is printed, and the steps between two of them are unknown."""
    if len(given) < 2 or "steps" in given.printed or shown_samples(given) is not None:
        return False
    if "total_steps" in given.records and (given.records["total_steps"][given.row] == 1).all():
        return False
    return bool((np.diff(given.epoch) != 0).all() and (np.diff(given.step) <= 0).all())


def _over(
    given: Intervals, step_seconds: Column, steps: Column, samples: Column | None, session: Session, case: Facts
) -> Intervals:
    """Return samples over seconds.

    Args:
        given: n intervals.
        step_seconds: seconds per step of each, as their lines print it.
        steps: the steps that each line describes.
        samples: their samples at the printed scope; None if the case must give them.
        session: what the log states.
        case: facts of the case.
    """
    refuse_impossible(step_seconds, given.records, given.row)
    seconds = step_seconds * steps
    if samples is None:
        per_step, multiplier = samples_per_step(session, given.reading, case), 1
        scope: Scope = "job"
        samples, speed = per_step * steps, per_step / step_seconds
    else:
        refuse_impossible(samples, given.records, given.row)
        _refuse_samples_of_ranks(given)
        multiplier, scope = scoped(given.reading, case)
        samples = samples * multiplier
        speed = samples / seconds
    samples, seconds = without_means(given, samples), without_means(given, seconds)
    return _of_scope(replace(given, speed=speed, samples=samples, seconds=seconds), multiplier, scope, given.source)


def _refuse_speeds_of_ranks(given: Intervals) -> None:
    """Refuse a speed of the job that several processes print, each by its own clock: it may be that of each."""
    records, reading = given.records, given.reading
    several = bool(np.ptp(records.ranks()))
    numbered = any(each in records for each in ("epoch", "step"))
    if reading.scope != "job" or (numbered and reading.ranks != "own"):
        return
    if speeds_differ(records, several) if numbered else several:
        raise no_figure("speed_of_ranks")


def _refuse_samples_of_ranks(given: Intervals) -> None:
    """Refuse samples of the job that several processes count: they may be those of each."""
    if given.reading.scope == "job" and given.reading.ranks == "own" and np.ptp(given.records.ranks()):
        raise no_figure("speed_of_ranks")


def speeds_differ(records: SessionRecords, tagged: bool) -> bool:
    """Return whether processes print a step with several speeds; those without a tag print it one after the other."""
    places = [records[each] for each in ("step", "epoch") if each in records]
    order = np.lexsort(places) if tagged else np.arange(len(records))
    again = np.all([np.diff(each[order]) == 0 for each in places], axis=0)
    return bool(np.sum(again & (np.diff(records["throughput"][order]) != 0)) > _IN_TURN * len(records))
