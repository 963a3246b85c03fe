"""Check that the intervals of a session are of one run.

Logs may be appended to each other, or written by two programs at once. Each check looks for something that one run
cannot print. If one finds it, the session has a problem that names the line, and its figure is not published.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from perfledger.ingest.compute.chain import as_printed, intervals_of, without_means
from perfledger.ingest.compute.intervals import TIMED, Flags, Intervals, shown_steps, steps_between, usual_gap
from perfledger.ingest.compute.ranks import may_go_back, numbered, restarts
from perfledger.parsers.contract import Column
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.clock import DATELESS_BEFORE
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.statements import Statements
from perfledger.schema.records import Reason

#: Seconds that the clock may go back: in autumn it is set back by an hour, and machines differ by some minutes.
_CLOCK_SET_BACK = 7_200.0
#: Fewest lines with steps that go back if two programs write one file; a resumed program goes back once.
_FEWEST_TIMES_BACK = 3
#: Least share of such lines.
_SHARE_BACK = 0.1
#: Lines are missing where steps advance by this many times the usual interval.
_GAP = 3.0
#: Intervals on each side of missing lines whose pace is compared.
_BESIDE_GAP = 5
#: The fewest of them that are compared.
_FEWEST_BESIDE = 3
#: Least ratio of the median step times on both sides if they are of two runs.
_OTHER_PACE = 1.4

#: A line, and why it cannot be of the run of the lines before it.
Contradiction = tuple[int, Reason]


def one_run(session: Session) -> Contradiction | None:
    """Return the first line that contradicts that a session is one run; None if no check finds one."""
    trained = [each for each in session.records if len(each) and each.reading.span != "run"] or [session.main]
    tables = [as_printed(each) for each in trained]
    found = (check(given, session.stated) for check in CHECKS for given in tables)
    return min((each for each in found if each), key=lambda each: each[0], default=None)


def steps_increase(given: Intervals, stated: Statements) -> Contradiction | None:
    """Return the line at which steps begin again, or go back for the first time of many.

    One run prints each step once and in order. Lines of ranks may lag, a loss scaler takes updates back, and a resumed
    program repeats some steps once; but no run returns to its first step, goes back again and again, or has two speeds
    in one step.
    """
    if len(given) < 2 or not {"step", "epoch"} & {*given.records.columns}:
        return None
    has_steps = "step" in given.records
    order, back = restarts(given if has_steps else replace(given, step=np.zeros(len(given))))
    to_the_first = back & (order <= order[0])
    if has_steps and not may_go_back(given.records):
        back = back | _has_another_speed(given)
    is_often = back.sum() >= max(_FEWEST_TIMES_BACK, _SHARE_BACK * len(back))
    found = np.flatnonzero(back if is_often else to_the_first)
    if not len(found):
        return None
    row = int(found[0])
    first, second = (_place(given, each) for each in (row - 1, row))
    return _contradiction(given, row, "steps_go_back", first=first, second=second)


def _place(given: Intervals, row: int) -> str:
    """Return epoch and step of a line, as far as it prints them."""
    columns = {"epoch": given.epoch, "step": given.step}
    return ", ".join(f"{name} {each[row]:g}" for name, each in columns.items() if name in given.records)


def _has_another_speed(given: Intervals) -> Flags:
    """Return which lines print the step of the line before them with another speed or time."""
    value = next((each for each in ("throughput", *TIMED) if each in given.printed), None)
    if value is None:
        return np.zeros(len(given), dtype=np.bool_)
    same = np.diff(numbered(given.epoch, given.step), prepend=-1) == 0
    return np.asarray(same & (np.diff(given.printed[value], prepend=np.nan) != 0))


def totals_and_facts_agree(given: Intervals, stated: Statements) -> Contradiction | None:
    """Return the line that states a fact or a total again with another value.

    One run has one batch size and one number of steps. Epochs may differ in their steps, but not one epoch.
    """
    found: list[Contradiction] = []
    if again := stated.restated:
        values = {"first": str(again.first.value), "second": str(again.second.value), "line": again.first.line}
        found.append((again.second.line, Reason("fact_restated", {"fact": again.fact, **values})))
    records = given.records
    for name in (each for each in ("total_epochs", "total_steps") if each in records):
        gaps = np.diff(records[name])
        same = np.diff(records["epoch"]) <= 0 if name == "total_steps" and "epoch" in records else True
        changed = np.flatnonzero(np.isfinite(gaps) & (gaps != 0) & same) + 1
        found += [_changed(given, name, int(each)) for each in changed[:1]]
    return min(found, key=lambda each: each[0], default=None)


def _changed(given: Intervals, fact: str, row: int) -> Contradiction:
    """Return the line at which a total has another value than on the line before it."""
    first, second = (f"{given.records[fact][each]:g}" for each in (row - 1, row))
    return _contradiction(
        given, row, "fact_restated", fact=fact, first=first, second=second, line=given.lines([row - 1])[0]
    )


def clock_advances(given: Intervals, stated: Statements) -> Contradiction | None:
    """Return the line at which a clock with a date goes back by hours: no run ends before it began."""
    of_ranks = len(given) and np.ptp(given.rank) and "clock" not in given.printed
    if of_ranks or np.nanmin(given.clock, initial=np.inf) < DATELESS_BEFORE:
        return None
    back = np.flatnonzero(np.diff(given.clock) < -_CLOCK_SET_BACK) + 1
    if not len(back):
        return None
    return _contradiction(given, int(back[0]), "clock_goes_back", line=given.lines([int(back[0])])[0])


def pace_is_one(given: Intervals, stated: Statements) -> Contradiction | None:
    """Return the line after which another pace begins, with missing lines, steps that go back, or a timer set to zero.

    After missing lines or a resumption one run continues at its pace, if need be after a stall.
    """
    if "step" not in given.records or len(given) < 2 * _FEWEST_BESIDE:
        return None
    merged = intervals_of(given.records)
    with np.errstate(all="ignore"):  # Numbers may be garbled.
        paces = _paces(merged)
    known = np.flatnonzero((merged.kind == 0) & np.isfinite(paces) & (paces > 0))
    parts = np.cumsum(_begins_again(merged))[known]
    for at in np.flatnonzero(np.diff(parts) > 0).tolist():
        before, after = known[max(0, at + 1 - _BESIDE_GAP) : at + 1], known[at + 1 : at + 1 + _BESIDE_GAP]
        if _differ(paces[before], paces[after]):
            whole = [paces[known[parts == parts[row]]] for row in (at, at + 1)]
            if _is_other_pace(*whole):
                ratio = f"{median(paces[after]) / median(paces[before]):.3g}"
                return _contradiction(merged, int(after[0]), "pace_of_another", ratio=ratio)
    return None


def _contradiction(given: Intervals, row: int, code: str, **args: str | int) -> Contradiction:
    return given.lines([row])[0], Reason(code, args)


def _paces(given: Intervals) -> Column:
    """Return the seconds per step, or per sample, of each interval; NaN where nothing shows them."""
    if "throughput" in given.printed:
        return without_means(given, shown_steps(given) / given.printed["throughput"]) / given.steps
    if given.step_seconds is not None:
        return given.seconds / given.steps
    paces = np.full(len(given), np.nan)
    if "clock" in given.printed and len(given) > 1:
        paces[1:] = np.diff(given.printed["clock"]) / steps_between(given)
    return paces


def _begins_again(given: Intervals) -> Flags:
    """Return the lines that may begin another part of a log."""
    gaps = np.diff(given.step, prepend=np.nan)
    found: Flags = gaps > _GAP * usual_gap(gaps)
    found |= np.diff(numbered(given.epoch, given.step), prepend=-1) <= 0
    if "clock" in given.printed and "elapsed" in given.reading.columns:
        found |= np.diff(given.printed["clock"], prepend=np.nan) < 0
    return found


def _differ(before: Column, after: Column) -> bool:
    """Return whether all steps after a gap take longer than all before it, or all less long, by the medians."""
    apart = after.min() > before.max() or after.max() < before.min()
    return min(len(before), len(after)) >= _FEWEST_BESIDE and bool(apart) and _is_other_pace(before, after)


def _is_other_pace(before: Column, after: Column) -> bool:
    return abs(math.log(median(after) / median(before))) > math.log(_OTHER_PACE)


CHECKS = (steps_increase, totals_and_facts_agree, clock_advances, pace_is_one)
