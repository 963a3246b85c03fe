"""Check that the records of a session are of one run.

Logs may be appended to each other, or written by two programs at once. Each check looks for something that one run
cannot print. If one finds it, the session has a problem that names the line, and its figure is not published.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from perfledger.ingest.compute.chain import as_printed, intervals_of, without_means
from perfledger.ingest.compute.intervals import TIMED, Intervals, places, shown_steps, steps_between
from perfledger.ingest.compute.ranks import may_go_back, numbered, restarts
from perfledger.parsers.contract import Column
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.clock import DATELESS_BEFORE
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.table import SessionRecords
from perfledger.schema.records import Reason

#: Seconds by which the clock may go back: in autumn it is set back by an hour, and machines differ by some minutes.
_CLOCK_SET_BACK = 7_200.0
#: Lines in which steps go back if two programs write into one file; a program that is resumed goes back once.
_FEWEST_TIMES_BACK = 3
#: Share of the lines in which steps go back, likewise.
_SHARE_BACK = 0.1
#: Lines are missing where steps advance by this many times the usual interval.
_GAP = 3.0
#: Rows on each side of such a place whose pace is compared, and the fewest that there must be.
_BESIDE_GAP, _FEWEST_BESIDE = 5, 3
#: Ratio of the median step times on both sides from which on they are of two runs.
_OTHER_PACE = 1.4

#: A line, and why it cannot be of the run that the lines before it are of.
Contradiction = tuple[int, Reason]


def one_run(session: Session) -> Contradiction | None:
    """Return the first line that contradicts that a session is one run; None if no check finds one."""
    found = (each for check in CHECKS for each in check(session))
    return min(found, key=lambda each: each[0], default=None)


def _trained(session: Session) -> list[SessionRecords]:
    return [each for each in session.records if len(each) and each.reading.span != "run"]


def steps_increase(session: Session) -> Iterator[Contradiction]:
    """Yield where steps begin anew, or go back again and again: one run prints each step once, in order."""
    for records in _trained(session):
        if not {"step", "epoch"} & {*records.columns} or len(records) < 2:
            continue
        given = as_printed(records)
        given = given if "step" in records else replace(given, step=np.zeros(len(records)))
        order, back = restarts(given)
        if (again := np.flatnonzero(back & (order <= order[0]))).size:
            code = "steps_restart" if "step" in records else "epochs_restart"
            yield records.lines([int(again[0])])[0], Reason(code)
        if not may_go_back(records) and "step" in records:
            back |= _prints_another_value(records)
        if (row := _first_of_many(back)) is not None:
            yield records.lines([row])[0], Reason("steps_go_back")


def _prints_another_value(records: SessionRecords) -> NDArray[np.bool_]:
    """Return which records have the step of the record before them, and another speed or time."""
    value = next((each for each in ("throughput", *TIMED) if each in records), None)
    same = np.diff(numbered(*places(records)), prepend=-1) == 0
    changes = np.diff(records[value], prepend=np.nan) != 0 if value else np.zeros(len(records), dtype=np.bool_)
    found: NDArray[np.bool_] = same & changes
    return found


def _first_of_many(found: NDArray[np.bool_]) -> int | None:
    rows = np.flatnonzero(found)
    return int(rows[0]) if len(rows) >= max(_FEWEST_TIMES_BACK, _SHARE_BACK * len(found)) else None


def totals_and_facts_agree(session: Session) -> Iterator[Contradiction]:
    """Yield where a fact or a total is stated again with another value, and records after the run's end."""
    if again := session.stated.restated:
        where = {"first": str(again.first.value), "second": str(again.second.value), "line": again.first.line}
        yield again.second.line, Reason("fact_restated", {"fact": again.fact, **where})
    for records in _trained(session):
        for name in (each for each in ("total_epochs", "total_steps") if each in records):
            gaps = np.diff(records[name])
            # Epochs may differ in their steps, but not one epoch.
            same = np.diff(records["epoch"]) <= 0 if name == "total_steps" and "epoch" in records else True
            rows = np.flatnonzero(np.isfinite(gaps) & (gaps != 0) & same)
            if len(rows):
                yield records.lines([int(rows[0]) + 1])[0], Reason("total_changed")
        of_steps = records.reading.span in ("step", "interval") and not records.reading.weak
        # Of ranks that print side by side, one may end before the others.
        if of_steps and not records.reading.repeated:
            first, last = records.lines([0, len(records) - 1])
            if first < session.stated.end_line < last:
                yield session.stated.end_line, Reason("steps_after_end")


def clock_advances(session: Session) -> Iterator[Contradiction]:
    """Yield where a clock with a date goes back by hours: no run ends before it began."""
    for records in _trained(session):
        if np.ptp(records.ranks()) and "clock" not in records:
            continue
        clock = records.stamps()
        if not len(clock) or np.nanmin(clock, initial=np.inf) < DATELESS_BEFORE:
            continue
        rows = np.flatnonzero(np.diff(clock) < -_CLOCK_SET_BACK)
        if len(rows):
            yield records.lines([int(rows[0]) + 1])[0], Reason("clock_jumps_back")


def pace_is_one(session: Session) -> Iterator[Contradiction]:
    """Yield where the pace changes with missing lines, with steps that go back, or with a timer that begins again."""
    for records in _trained(session):
        if "step" not in records or len(records) < 2 * _FEWEST_BESIDE:
            continue
        frame = intervals_of(records)
        with np.errstate(all="ignore"):  # Numbers may be garbled.
            paces = _paces(frame)
        known = np.flatnonzero((frame.kind == 0) & np.isfinite(paces) & (paces > 0))
        parts = np.cumsum(_begins_again(frame))[known]
        for at in np.flatnonzero(np.diff(parts) > 0).tolist():
            before, after = known[max(0, at + 1 - _BESIDE_GAP) : at + 1], known[at + 1 : at + 1 + _BESIDE_GAP]
            if not _differ(paces[before], paces[after]):
                continue
            whole = [paces[known[parts == parts[row]]] for row in (at, at + 1)]
            if _is_other_pace(*whole):  # After a stall a run goes on as before.
                yield records.lines([int(frame.row[after[0]])])[0], Reason("pace_of_another")


def _paces(frame: Intervals) -> Column:
    """Return the seconds per step, or per sample, of each row; NaN where nothing shows them."""
    if "throughput" in frame.printed:
        return without_means(frame, shown_steps(frame) / frame.printed["throughput"]) / frame.steps
    if frame.step_seconds is not None:
        return frame.seconds / frame.steps
    paces = np.full(len(frame), np.nan)
    if "clock" in frame.printed and len(frame) > 1:
        paces[1:] = np.diff(frame.clock) / steps_between(frame)
    return paces


def _begins_again(frame: Intervals) -> NDArray[np.bool_]:
    """Return the rows with which another part of a log may begin."""
    gaps = np.diff(frame.step, prepend=np.nan)
    usual = median(gaps[gaps > 0]) if (gaps > 0).any() else np.inf
    found: NDArray[np.bool_] = gaps > _GAP * usual
    found |= np.diff(numbered(frame.epoch, frame.step), prepend=-1) <= 0
    if "clock" in frame.printed and "elapsed" in frame.records.reading.columns:
        found |= np.diff(frame.clock, prepend=np.nan) < 0
    return found


def _differ(before: Column, after: Column) -> bool:
    """Return whether all steps after a gap take longer than all before it, or all less long, by the medians."""
    apart = after.min() > before.max() or after.max() < before.min()
    return min(len(before), len(after)) >= _FEWEST_BESIDE and bool(apart) and _is_other_pace(before, after)


def _is_other_pace(before: Column, after: Column) -> bool:
    return abs(math.log(median(after) / median(before))) > math.log(_OTHER_PACE)


CHECKS = (steps_increase, totals_and_facts_agree, clock_advances, pace_is_one)
