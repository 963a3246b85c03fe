"""Intervals: the table of a session that rules, checks and equations work on; see `chain` for how it is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from perfledger.ingest.compute.digits import rounding
from perfledger.parsers.contract import Column, Indices, Reading, Scope
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.table import SessionRecords

#: One truth value per interval.
Flags = NDArray[np.bool_]
#: A number per interval: the sum of its `kinds.PAUSES`, 0 for training steps alone.
Kinds = NDArray[np.uint8]
#: Columns that state how long a record took, the most direct first.
TIMED = ("duration", "step_seconds", "steps_per_second")
#: Largest share of the usual interval that the loss scaler keeps the step number back.
_SKIPPED = 0.5


@dataclass(frozen=True, eq=False)
class Intervals:
    """n intervals of training in file order, each up to the line that prints it; NaN marks what is unknown.

    Attributes:
        records: the records of the session; `row` is the index of each interval in them, and `lines` gives its line.
        rank: the rank that printed the line; 0 where the lines of several ranks are merged.
        epoch, step: the numbers that the line prints.
        steps: steps that the interval covers.
        samples: samples that it covers, at `scope`.
        seconds: seconds that it took.
        clock: time stamp of the line in seconds; a format may compute a finer `printed["clock"]` from several lines.
        kind: 0 for training steps, else the sum of the `kinds.PAUSES` that the interval contains.
        apart: whether time passed before the line that the printer's timer leaves out.
        printed: further columns of the lines.
        scope: the extent of `samples` and `speed`: `multiplier` times that of the reading.
        speed: samples per second as the line states them, times `multiplier`.
        source: the column that gives the seconds; empty until `throughput` has chosen it.
        timed: False if the samples of a step are unknown. `samples` then counts steps, and `seconds` are scaled alike.
    """

    records: SessionRecords
    row: Indices
    rank: Column
    epoch: Column
    step: Column
    steps: Column
    samples: Column
    seconds: Column
    clock: Column
    kind: Kinds
    apart: Flags
    printed: Mapping[str, Column]
    scope: Scope
    speed: Column
    multiplier: int = 1
    source: str = ""
    timed: bool = True

    def __len__(self) -> int:
        """Return the number of intervals."""
        return len(self.row)

    @property
    def reading(self) -> Reading:
        """The reading of the lines."""
        return self.records.reading

    @cached_property
    def pace(self) -> Column:
        """Seconds per sample of each interval; NaN or infinite if it covers none."""
        with np.errstate(all="ignore"):
            return self.seconds / self.samples

    @cached_property
    def step_seconds(self) -> Column | None:
        """Seconds per step as printed, running means included; None if the lines print no times."""
        if "duration" in self.printed:
            return self.printed["duration"] / shown_steps(self)
        if "step_seconds" in self.printed:
            return self.printed["step_seconds"]
        return 1.0 / self.printed["steps_per_second"] if "steps_per_second" in self.printed else None

    @cached_property
    def resolution(self) -> float:
        """Unit of the last printed digit of the speeds or seconds, as a share; 0 for clocks, whose seconds are long."""
        if self.source in ("", "clock"):
            return 0.0
        return 2 * rounding(self.records, self.source, self.records[self.source])

    def prints(self, *names: str) -> bool:
        """Return whether the lines print one of some columns; a dialect may leave it out of all of them."""
        return any(name in self.printed and bool(np.isfinite(self.printed[name]).any()) for name in names)

    def lines(self, indices: Iterable[int]) -> list[int]:
        """Return the line numbers of some intervals, counted from 1; the log is read again for these alone."""
        return self.records.lines([int(self.row[each]) for each in indices])

    def at(self, chosen: Indices) -> Intervals:
        """Return some of the intervals."""
        columns = ("row", "rank", "epoch", "step", "steps", "samples", "seconds", "clock", "kind", "apart", "speed")
        printed = {name: each[chosen] for name, each in self.printed.items()}
        return replace(self, printed=printed, **{name: getattr(self, name)[chosen] for name in columns})


def places(records: SessionRecords) -> tuple[Column, Column]:
    """Return epoch and step of each record, neither of them NaN; records are numbered if no step is printed."""
    steps = records["step"] if "step" in records else np.full(len(records), np.nan)
    epochs = np.nan_to_num(records["epoch"]) if "epoch" in records else np.zeros(len(records))
    return epochs, steps if np.isfinite(steps).all() else np.arange(1.0, len(records) + 1)


def shown_steps(given: Intervals) -> Column:
    """Return the number of steps that each line describes: for a running mean, all since it began."""
    reading, step = given.reading, given.step
    if "steps" in given.printed:
        return given.printed["steps"]
    if reading.running_mean is not None:
        # The mean restarts *at* step 5 with that step in it, hence 6 steps at step 10.
        return np.maximum(step - (reading.running_mean - 1), 0.0)
    if reading.span != "interval" or len(step) < 2:
        return np.ones(len(step))
    gaps = np.diff(step, prepend=np.nan)
    usual = usual_gap(gaps)
    # If the steps begin again, a first step that is printed by itself is one, and its stall must not count for ten. Any
    # other record covers as many as usual, some of them of the epoch before it.
    alone = (step == 0) | ((step == 1) & (usual > 2))
    return np.where(gaps > 0, gaps, np.where(alone, 1.0, usual))


def shown_samples(given: Intervals) -> Column | None:
    """Return the samples that each line describes, at the printed scope; None if the lines print no samples."""
    if given.prints("samples"):
        return given.printed["samples"]
    if given.prints("batch"):
        return given.printed["batch"] * shown_steps(given)
    if not given.prints("consumed") or len(given) < 2:
        return None
    consumed = given.printed["consumed"]
    gaps = np.diff(consumed, prepend=np.nan)
    if given.reading.span == "step":
        # After missing lines the count contains their steps, too.
        advanced = np.diff(given.step, prepend=np.nan)
        gaps = np.where(advanced > 1, gaps / advanced, gaps)
    usual = median(gaps[gaps > 0]) if (gaps > 0).any() else np.nan
    # The first record, and one that begins the count again, covers as many as usual, or fewer if the run or the
    # epoch began within it. NeMo counts nothing on its first line.
    consumed = np.where(np.isnan(consumed) & (np.arange(len(consumed)) == 0), usual, consumed)
    return np.where(gaps >= 0, gaps, np.minimum(consumed, usual))


def steps_between(given: Intervals) -> Column:
    """Return the steps from each of n lines to the next, n - 1 values; 0 if a line repeats the step before it.

    Printers that count updates print at a fixed interval, although the step number may advance by less: it does not
    advance when the loss scaler skips an update. A gap far from the interval is real: a line is missing, or an epoch
    ends.
    """
    gaps = np.diff(given.step)
    usual, real = usual_gap(gaps), (gaps > 0) | ((gaps == 0) & (np.diff(given.epoch) == 0))
    if given.reading.per_update:
        real = (gaps > 0) & (np.abs(gaps / usual - 1) > _SKIPPED)
    return np.where(real, gaps, usual)


def usual_gap(gaps: Column) -> float:
    """Return by how many steps lines usually advance, 1 if none does.

    If the two in the middle are far apart the smaller one is usual: a line is missing in the other.
    """
    forward = np.sort(gaps[gaps > 0])
    if not len(forward):
        return 1.0
    lower, upper = forward[(len(forward) - 1) // 2], forward[len(forward) // 2]
    return float(lower if upper > (1 + _SKIPPED) * lower else (lower + upper) / 2)


def resolution_of(stamps: Column) -> float:
    """Return the smallest unit of the clocks in seconds: whole seconds, milliseconds, or microseconds."""
    known = stamps[np.isfinite(stamps)]
    return next((each for each in (1.0, 1e-3) if (np.abs(known - np.round(known / each) * each) <= 2e-6).all()), 1e-6)
