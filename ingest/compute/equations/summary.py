"""Summary: what the log prints for the whole run or for whole epochs is at most as fast as its intervals.

A summary also counts what lies between the steps, so that it may be slower, by less than half. Lines of the training
program between those of a format that frames it, and lines of one device next to those of the job, are further figures
for the run.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import numpy as np

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.digits import rounding
from perfledger.ingest.compute.equations.clock import claimed_seconds
from perfledger.ingest.compute.equations.evaluation import HOLDS_MORE, Given, Sides, judged, least_alike
from perfledger.ingest.compute.intervals import Intervals
from perfledger.ingest.compute.refusals import NoFigureError, no_figure, not_stated
from perfledger.ingest.compute.resumed import counts_more
from perfledger.ingest.compute.samples import scoped
from perfledger.ingest.compute.window import not_settled, too_few, too_short
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords
from perfledger.schema.records import Figure, NoFigure
from perfledger.schema.vocabulary import UNITS

KIND = "summary"
#: Rounding error of summaries, which have three decimals.
_ROUNDS = 0.0005
#: Figure below which three decimals are a digit or two.
_FEW_DIGITS = 0.1
#: Smallest ratio at which a summary contradicts the mean of all intervals, if a run has few of them.
_MANY_TIMES = 4.0


def sides(given: Given) -> Sides:
    """Return a figure that the log prints for its run or its epochs, and the speed of the intervals that it is next to.

    The first one that contradicts the intervals counts, else the trainer's own.
    """
    further = [*_further(given)]
    if wrong := next((each for each in further if judged(KIND, each).verdict == "disagrees"), None):
        return wrong
    try:
        return _of_run(given)
    except NoFigureError:
        if further:
            return further[0]
        raise


def _further(given: Given) -> Iterator[Sides]:
    """Yield further figures of the run, such as a wrapper's, whose clock also counts the start of the program."""
    for number, records in enumerate(rules.summaries(given.session)[1:], 2):
        if KIND in records.reading.untrue:
            continue
        found = rules.figure(f"{rules.SUMMARY}-{number}", given.session, given.case)
        if isinstance(found, Figure) and (found.unit, found.scope) == (given.figure.unit, given.figure.scope):
            holds = HOLDS_MORE <= found.value / given.figure.value <= 1
            yield dataclasses.replace(_against(found, given.figure.value), verdict="agrees" if holds else "")


def _against(found: Figure, speed: float, rounds: float = 0.0) -> Sides:
    lines = found.first_line, found.last_line
    return Sides(found.value, speed, found.unit, found.arithmetic, lines, rounds)


def _of_run(given: Given) -> Sides:
    """Return the trainer's own figure for the run and the nearest of the speeds that its intervals may have."""
    session, table, figure = given.session, given.intervals, given.figure
    reported = rules.figure(rules.SUMMARY, session, given.case)
    if isinstance(reported, NoFigure):
        return _of_epochs(given) or _of_seconds(given)
    if (reported.scope, reported.unit) != (figure.scope, figure.unit):
        raise not_stated("same_scope")
    is_untrue = KIND in rules.summaries(session)[0].reading.untrue
    if table.source != "throughput" and reported.value > figure.value and is_untrue:
        raise no_figure("other_mean")
    whole = float(table.samples.sum() / table.seconds.sum())
    speeds = [figure.value, whole, *_averaged(table)]
    if reported.value > max(speeds) and (why := counts_more(session, given.case)):
        raise NoFigureError(why)
    parts = over_seconds(session, reported)
    counted = parts is not None and judged("arithmetic", parts).verdict == "agrees"
    if not counted and reported.value < least_alike(KIND) * (slowest := _over_the_run(session, table)):
        # Nor can it count more time than the run took.
        return _against(reported, slowest)
    slow = reported.value < HOLDS_MORE * min(speeds) and reported.value >= HOLDS_MORE * _since_the_start(table)
    nearest = min(speeds, key=lambda each: abs(each - reported.value))
    rounds = 100 * _ROUNDS / reported.value if reported.value < _FEW_DIGITS else 0.0
    found = dataclasses.replace(_against(reported, nearest, rounds), least=0.0 if slow else HOLDS_MORE)
    # Its window is the trainer's: between the speed of the window and that of all intervals it counts some of both.
    if min(speeds) <= reported.value <= max(speeds):
        found = dataclasses.replace(found, verdict="agrees")
    return parts if parts and not counted and judged(KIND, found).verdict == "agrees" else found


def over_seconds(session: Session, reported: Figure) -> Sides | None:
    """Return samples over seconds that the log prints for the whole run, and the trainer's own figure."""
    for records in session.records:
        if records.reading.span == "run" and len(records) and "samples" in records and "seconds" in records:
            samples, seconds = float(records["samples"][-1]), float(records["seconds"][-1])
            if (records.reading.scope, records.reading.unit) != (reported.scope, reported.unit) or not seconds > 0:
                continue
            (line,), arithmetic = records.lines([len(records) - 1]), f"{samples:.10g} / {seconds:.8g}"
            return Sides(samples / seconds, reported.value, reported.unit, arithmetic, (line, line))
    return None


def _over_the_run(session: Session, table: Intervals) -> float:
    """Return the samples of the intervals over the seconds of the run; 0 if these are unknown, or another run's."""
    of_run = (each for each in session.records if each.reading.span == "run" and len(each) and "seconds" in each)
    seconds = next((float(each["seconds"][-1]) for each in of_run), math.nan)
    alone = table.timed and float(table.seconds.sum()) <= seconds / least_alike(KIND)
    return float(table.samples.sum() / seconds) if alone else 0.0


def _averaged(table: Intervals) -> list[float]:
    """Return the mean of the printed speeds, which some trainers print for the whole run: a slow line weighs no more.

    It is above samples over time if steps are uneven. Trainers may leave out the first ones, as the window does, or
    print the mean of the last epoch.
    """
    if table.source != "throughput" or table.reading.running_mean is not None:
        return []
    parts = (slice(None), rules.used_records(rules.HEADLINE, table), table.epoch == table.epoch[-1])
    return [float(np.mean(table.speed[each])) for each in parts]


def _since_the_start(table: Intervals) -> float:
    """Return the speed up to the last line by a timer that runs since the start; infinite without one.

    A slow start that the intervals leave out explains a summary that is far below them.
    """
    timed = "elapsed" in table.reading.columns and table.timed and len(table) and table.clock[-1] > 0
    if not timed or not table.step[-1] > 0 or len(np.unique(table.epoch)) > 1:
        return math.inf
    return float(table.samples.sum() / table.steps.sum() * table.step[-1] / table.clock[-1])


def _of_epochs(given: Given) -> Sides | None:
    """Return what lines of whole epochs print, and the intervals of the same epochs; None without such lines."""
    table = given.intervals
    for records in given.session.records:
        if records.reading.span != "epoch" or records.table is table.records.table or not len(records):
            continue
        if "throughput" in records and records.reading.unit == table.reading.unit:
            multiplier, scope = scoped(records.reading, given.case)
            if scope == table.scope:
                return _speed_of_epochs(given, records, multiplier)
        elif "duration" in records and "epoch" in records and (found := _seconds_of_epochs(table, records)):
            return found
    return None


def _speed_of_epochs(given: Given, records: SessionRecords, multiplier: int) -> Sides:
    """Compare the harmonic mean of the speeds of epochs."""
    table, count = given.intervals, len(records)
    # An epoch's time may contain what takes time between its intervals, or not.
    kept = (np.ones(len(table), dtype=np.bool_), table.kind == 0)
    speeds = [float(table.samples[each].sum() / table.seconds[each].sum()) for each in kept if each.any()]
    value = multiplier / float(np.mean(1 / records["throughput"]))
    first, last = records.lines([0, count - 1])
    nearest = min(speeds, key=lambda each: abs(each - value))
    return Sides(value, nearest, table.reading.unit, f"{count} / Σ (1 / x)", (first, last), least=HOLDS_MORE)


def _seconds_of_epochs(table: Intervals, records: SessionRecords) -> Sides | None:
    """Compare the seconds of epochs, which may count more than their intervals do."""
    claimed = np.nan_to_num(claimed_seconds(table))
    # A program that was started again begins with an epoch that was printed; processes print one in turn.
    printed = list(records["epoch"][np.diff(records["epoch"], prepend=np.nan) != 0])
    inside = [float(claimed[table.epoch == each].sum()) / printed.count(each) for each in records["epoch"]]
    # The intervals of an epoch claim too little if lines are missing.
    whole = ~np.isin(records["epoch"], table.epoch[table.apart])
    if not whole.any():
        return None
    took, claims = (float(np.sum(each, where=whole)) for each in (records["duration"], inside))
    first, last = records.lines([0, len(records) - 1])
    return Sides(took, claims, "s", "Σ s", (first, last), least=HOLDS_MORE)


def _of_seconds(given: Given) -> Sides:
    """Return the seconds of the whole run, if the log states them, and those of all intervals, which are not more."""
    table = given.intervals
    for records in given.session.records:
        if records.reading.span == "run" and len(records) and "seconds" in records:
            whole, claims = float(records["seconds"][-1]), float(np.nansum(claimed_seconds(table)))
            (line,), rounds = records.lines([len(records) - 1]), 100 * rounding(records, "seconds", records["seconds"])
            return Sides(whole, claims, "s", f"{whole:.8g} s", (line, line), rounds, least=0.0)
    raise not_stated("summary")


def of_few_intervals(given: Given) -> Sides:
    """Return the trainer's own figure and the mean of all intervals, if a run has too few of them for a figure.

    The intervals include the start of the program, so they can only contradict the figure: an epoch of 3 ms in a log of
    NCF makes its summary 170 times as fast as the run.
    """
    table, figure = given.intervals, given.figure
    if (table.reading.unit, table.scope) != (figure.unit, figure.scope):
        raise not_stated("same_scope")
    whole = float(table.samples.sum() / table.seconds.sum())
    if whole * _MANY_TIMES >= figure.value >= whole / _MANY_TIMES:
        raise NoFigureError(too_few(table) or not_settled(table) or too_short(0, 0.0))
    return _against(figure, whole)


def parts_of_summary(given: Given) -> Sides | None:
    """Return samples over seconds of the whole run, and the figure, which is the trainer's own."""
    return over_seconds(given.session, given.figure)


def program(given: Given) -> Sides:
    """Return the figure of the training program between the lines of a format that frames it, and the headline.

    Without such a program, compare the speeds of one device with those of the job, if the format prints both.
    """
    session, figure = given.session, given.figure
    if session.view is None:
        found = _of_other_lines(given)
    else:
        facts = {name: each.value for name, each in session.view.facts.items()} | dict(given.case)
        found = rules.figure(rules.HEADLINE, session.view, facts)
    if isinstance(found, NoFigure) or found.scope != figure.scope or not _is_same_unit(found.unit, figure.unit):
        raise not_stated("same_scope")
    lines = found.first_line, found.last_line
    return Sides(found.value, figure.value, figure.unit, found.arithmetic, lines, least=HOLDS_MORE)


def _is_same_unit(one: str, other: str) -> bool:
    return one == other or {UNITS[one].counts, UNITS[other].counts} == {"sample"}


def _of_other_lines(given: Given) -> Figure | NoFigure:
    """Return the figure of the lines of one device if the headline is of those of the job, or the reverse."""
    own = given.intervals.reading
    others = (each for each in given.session.records if len(each) and each.reading.scope != own.scope)
    alike = next((each for each in others if "throughput" in each and each.reading.unit == own.unit), None)
    if alike is None or "run" in (alike.reading.span, own.span):
        raise not_stated("other_program")
    return rules.figure(rules.HEADLINE, dataclasses.replace(given.session, records=(alike,)), given.case)
