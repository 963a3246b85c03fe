"""Kinds of intervals: training steps alone, or also an evaluation, a checkpoint or something else that takes time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from typing import Literal

import numpy as np

from perfledger.ingest.compute import ranks
from perfledger.ingest.compute.intervals import Flags, Intervals, Kinds
from perfledger.parsers.contract import EPOCH_END, EPOCH_TIMER, Column, Indices, PauseKind
from perfledger.parsers.contract.statistics import median
from perfledger.schema.vocabulary import UNITS

#: Causes of time in an interval apart from training steps; `restart` marks the first of a program that was started
#: again, and `smaller_steps` those before the batch or the sequences of a run had grown.
PAUSES: Mapping[PauseKind | Literal["outside_timer", "restart", "smaller_steps"], int] = {
    "evaluation": 1,
    "checkpoint": 2,
    "epoch_end": 4,
    "outside_timer": 8,
    "restart": 16,
    "smaller_steps": 32,
}
#: Pauses that may cost nothing, and count only if their interval is slow.
_DOUBTFUL = PAUSES["epoch_end"] | PAUSES["restart"]
#: An interval takes this many times the usual seconds per step if it contains the end of an epoch.
_SLOW = 1.5
#: Largest difference between a timer of training and the clock in a usual step, as a share; else the timer is wrong.
_AGREES = 0.1
#: Share of the clock's seconds that may be outside the timer without a reason.
_OUTSIDE = 0.02
#: Steps grow if none has fewer samples than the one before by more than this share.
_GROWS = 0.01
#: Steps are small if they have less than this share of the samples of the last ones.
_SMALLER = 0.9
#: Number of last intervals whose median shows how large steps have grown.
_LAST = 3


def stopped(given: Intervals, group: Indices, *, inside: bool) -> Kinds:
    """Return the pauses that lines state for each interval.

    A line of a rank belongs to the next new step of that rank: others may lag, and a bar is drawn again.

    Args:
        given: n intervals.
        group: the interval of each record.
        inside: True for pauses inside the intervals, False for those during which the printer stops its timer.
    """
    found = np.zeros(len(given), dtype=np.uint8)
    stops = [each for each in given.records.stops() if (each.pause.inside != "none") is inside]
    printed_by = given.records.ranks() if stops else found
    for rank, printed in groupby(sorted(stops, key=lambda each: each.rank), key=lambda each: each.rank):
        mine = np.flatnonzero(printed_by == rank) if (printed_by == rank).any() else np.arange(len(group))
        new = np.sort(mine[np.unique(group[mine], return_index=True)[1]])
        shown = [(each, later) for each in printed for later in range(each.pause.records)]
        at, last, flags, later = np.array(
            [(each.row, each.pause.inside == "last", PAUSES[each.pause.kind], later) for each, later in shown]
        ).T
        first = np.searchsorted(new, at) - last
        known = (first > 0) & (first + later < len(new))
        np.bitwise_or.at(found, group[new[(first + later)[known]]], flags[known].astype(np.uint8))
    return found


def with_ends_and_restarts(given: Intervals) -> Kinds:
    """Add ends of epochs and restarts; drop pauses from before a mean or a timer began.

    A program that is started again compiles and fills its caches again, as in the warm-up that is left out.
    """
    kind, reading = given.kind.copy(), given.reading
    if "evaluated" in given.printed:
        kind[given.printed["evaluated"] > 0] |= PAUSES["evaluation"]
    if EPOCH_TIMER in reading.pauses:
        kind[1:][np.diff(given.step) <= 0] = 0
    if EPOCH_END in reading.pauses:
        kind[1:][np.diff(given.epoch) != 0] |= PAUSES["epoch_end"]
    if reading.running_mean is not None:
        # A running mean begins again with the epoch, after the pause before it.
        kind = np.where(ranks.same_mean(given), kind, 0).astype(np.uint8)
    kind[ranks.restarts(given)[1]] |= PAUSES["restart"]
    return kind


def confirmed(given: Intervals) -> Intervals:
    """Drop pauses that cost nothing, by the seconds per step, and mark steps from before a batch had grown.

    If each step is printed, the one with the line of a pause contains it, however short; else the pause may be in a
    step that is not printed.
    """
    kind, per_step = given.kind, given.seconds / given.steps
    doubtful = (kind > 0) & (kind & ~np.uint8(_DOUBTFUL) == 0)
    if given.reading.span == "step":
        follows = (np.diff(given.step, prepend=np.nan) == 1) & (np.diff(given.epoch, prepend=np.nan) == 0)
        doubtful |= (kind > 0) & ~(follows & ("step" in given.records))
    # One interval without a pause shows nothing: the first contains the compilation, and perhaps an evaluation.
    known = per_step[~doubtful & ~np.isnan(per_step)]
    if doubtful.any() and (~doubtful).sum() > 1 and len(known):
        kind = np.where(doubtful & ~(per_step >= _SLOW * median(known)), 0, kind)
    return replace(given, kind=(kind | PAUSES["smaller_steps"] * smaller_steps(given)).astype(np.uint8))


def smaller_steps(given: Intervals) -> Flags:
    """Return which intervals are from before the steps of a run had grown: of smaller batches, or shorter sequences.

    Their speed differs, and the batch size that is stated is most often the last one.
    """
    small = np.zeros(len(given), dtype=np.bool_)
    if "step" not in given.records or given.reading.span == "epoch":
        return small
    # Tokens and items of a step grow if samples are sorted by length, in batches of one size.
    unit = UNITS.get(given.reading.unit)
    sizes = [given.samples / given.steps] if unit and unit.counts == "sample" else []
    for size in (*sizes, *(each for name, each in given.printed.items() if name == "length")):
        if (size[1:] >= (1 - _GROWS) * size[:-1]).all():
            small |= size < _SMALLER * median(size[-_LAST:])
    return small


def outside_timer(seconds: Column, trained: Column) -> Flags:
    """Return the intervals with time outside training, by the clock and by a timer of training over the same steps.

    The timer may smooth, so that it shows a slow step for several lines; its sum is still right. Hence the intervals
    with the largest differences are marked, until the sums agree.
    """
    found = np.zeros(len(seconds), dtype=np.bool_)
    if not len(seconds) or not abs(median(seconds / trained) - 1) <= _AGREES:
        return found
    order = np.argsort(trained - seconds, kind="stable")
    left, rest = np.cumsum((seconds - trained)[order][::-1])[::-1], np.cumsum(seconds[order][::-1])[::-1]
    found[order[: int(np.argmax(left <= _OUTSIDE * rest))]] = True
    return found
