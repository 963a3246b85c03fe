"""From records to intervals, in a chain of small steps.

The lines of ranks are merged, each interval gets its steps and its kind, and running means are undone. `between_clocks`
takes the seconds from the clocks of the lines.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from perfledger.ingest.compute import kinds, ranks
from perfledger.ingest.compute.intervals import (
    TIMED,
    Flags,
    Intervals,
    places,
    shown_samples,
    shown_steps,
    steps_between,
)
from perfledger.parsers.contract import Column, Indices
from perfledger.parsers.contract.statistics import medians
from perfledger.parsers.engine.table import SessionRecords

#: Columns of the lines that intervals keep.
_PRINTED = (
    "throughput", "restated", *TIMED, "training_seconds",
    "steps", "samples", "batch", "consumed", "length", "evaluated", "clock",
)  # fmt: skip


# Figures, metrics and checks all ask for the intervals of one session.
@lru_cache(maxsize=4)
def intervals_of(records: SessionRecords) -> Intervals:
    """Return the intervals of some records, with seconds and samples where the lines print them.

    Args:
        records: n records, n > 0.
    """
    given = as_printed(records)
    group = given.row
    if ranks.is_repeated(records):
        given, group = once_per_step(given)
    given = replace(
        given, kind=kinds.stopped(given, group, inside=True), apart=kinds.stopped(given, group, inside=False) > 0
    )
    given = replace(given, kind=kinds.with_ends_and_restarts(given))
    shown, step_seconds, samples = shown_steps(given), given.step_seconds, shown_samples(given)
    unknown = np.full(len(given), np.nan)
    return replace(
        given,
        steps=without_means(given, shown),
        seconds=unknown if step_seconds is None else without_means(given, step_seconds * shown),
        samples=unknown if samples is None else without_means(given, samples),
    )


# The checks need the lines as they are printed, and the chain begins with them.
@lru_cache(maxsize=4)
def as_printed(records: SessionRecords) -> Intervals:
    """Return one interval per record, as its line prints it."""
    count = len(records)
    unknown = np.full(count, np.nan)
    printed = {name: records[name] for name in _PRINTED if name in records}
    epoch, step = places(records)
    return Intervals(
        records, np.arange(count), records.ranks(), epoch, step, unknown, unknown, unknown,
        records.stamps(), np.zeros(count, dtype=np.uint8), np.zeros(count, dtype=np.bool_), printed,
        records.reading.scope, unknown,
    )  # fmt: skip


def once_per_step(given: Intervals) -> tuple[Intervals, Indices]:
    """Merge the lines that print one step: the median of each column, in order of first appearance.

    Returns:
        the merged intervals, and the index among them of each of the n given ones.
    """
    first, group = ranks.groups(given)
    merged = given.at(first)
    printed = {name: medians(each, group) for name, each in given.printed.items()}
    return replace(merged, rank=np.zeros(len(first)), printed=printed), group


def without_means(given: Intervals, total: Column) -> Column:
    """Return what each interval adds to a total that its lines print since a running mean began."""
    if given.reading.running_mean is None:
        return total
    return np.where(ranks.same_mean(given), np.diff(total, prepend=0.0), total)


def between_clocks(given: Intervals) -> Intervals:
    """Return the intervals between the lines' clocks: all but the first, with their seconds and steps.

    The clock may be coarser than the lines, and a line may be printed twice: of several lines with one time or one
    step, only the first ends an interval. The time until a program was started again is left out.
    """
    seconds = np.diff(given.printed["clock"])
    steps = given.steps[1:] if "steps" in given.printed else steps_between(given)
    _, back = ranks.restarts(given)
    left_out = back[1:] | ((seconds < 0) & ("elapsed" in given.reading.columns)) | _of_unknown_length(given)
    kind = given.kind[1:]
    if "training_seconds" in given.printed:
        outside = kinds.outside_timer(seconds, given.printed["training_seconds"][1:] * steps)
        kind = np.where(outside, kind | kinds.PAUSES["outside_timer"], kind).astype(np.uint8)
    if "consumed" in given.printed:
        # Counted since the start: the row after one that is left out would get the samples of both.
        samples = np.diff(given.printed["consumed"])
    elif given.prints("batch") and not given.prints("samples"):
        samples = given.printed["batch"][1:] * steps
    else:
        samples = given.samples[1:]
    chosen = np.flatnonzero((seconds != 0) & (steps != 0) & ~left_out)
    if len(chosen):
        kind = np.bitwise_or.reduceat(kind, [0, *(chosen[:-1] + 1)])
    return replace(
        given.at(chosen + 1),
        steps=_gathered(steps, left_out, chosen),
        samples=_gathered(samples, left_out, chosen),
        seconds=_gathered(seconds, left_out, chosen),
        kind=kind if len(chosen) else kind[chosen],
        source="clock",
    )


def _gathered(values: Column, left_out: Flags, chosen: Indices) -> Column:
    """Return what each chosen interval adds, with those before it that are not chosen and not left out."""
    gathered: Column = np.diff(np.cumsum(np.where(left_out, 0.0, values))[chosen], prepend=0.0)
    return gathered


def _of_unknown_length(given: Intervals) -> Flags:
    """Return the intervals across epochs whose steps are unknown, since the number begins again."""
    across: Flags = (np.diff(given.epoch) != 0) & (np.diff(given.step) <= 0)
    counted = bool({"steps", "samples", "consumed"} & given.printed.keys())
    return across & (not counted) & bool((~across).any())
