"""Clock: the seconds between the stamps of two lines are those that the interval between them claims."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.chain import intervals_of, without_means
from perfledger.ingest.compute.digits import rounding
from perfledger.ingest.compute.equations.evaluation import TOLERANCE, Given, Sides
from perfledger.ingest.compute.intervals import Flags, Intervals, resolution_of, shown_steps
from perfledger.ingest.compute.refusals import NoFigureError, no_figure, not_stated
from perfledger.parsers.contract import EPOCH_TIMER, Column, Indices
from perfledger.parsers.contract.statistics import median
from perfledger.schema.records import Reason

KIND = "clock"
#: Percent that the clock's resolution may be of a stretch. With the tolerance of 6 % a clock that is wrong by a fifth
#: is always found: (1 - 0.09) × 1.2 > 1 + 0.09.
_COARSEST = 3.0
#: A contradiction by this factor is plain to a coarse clock, too.
_PLAIN = 2.0
#: Units of a coarse clock that such a contradiction needs.
_FEW = 5
#: Least percentage of time left out if the clock gives the figure of a printer that is known to leave time out.
_KNOWN_TO_LEAVE_OUT = 2.0
#: Clock over printed seconds up to which work between steps explains the difference, if the printer leaves it out.
#: Below 1.2, so that a clock that is wrong by a fifth does not give the figure.
_MOST_LEFT_OUT = 1.19
#: Units of the clock that a stretch lasts; stretches are compared as wholes.
_STRETCH = 40
#: Fewest stretches that have a median.
_STRETCHES = 3
#: An interval that lasts this many times as long as its line claims contains something else, such as an evaluation.
_ELSEWHERE = 2.0


@dataclass(frozen=True)
class Compared:
    """n intervals with their seconds by the clock and as claimed, and their indices."""

    took: Column
    claimed: Column
    row: Indices

    @property
    def pieces(self) -> int:
        """Number of pieces without a gap: each begins and ends with a clock of limited resolution."""
        return 1 + int((np.diff(self.row) != 1).sum())

    def at(self, chosen: Flags) -> Compared:
        """Return some of the intervals."""
        return Compared(self.took[chosen], self.claimed[chosen], self.row[chosen])


def sides(given: Given) -> Sides:
    """Return the figure by the clock of the lines, and the figure.

    Time that no line covers, such as an evaluation between two lines, does not count: the median over stretches is
    compared, which are long enough for the clock's resolution. Nor does a stall count that fewer than half of the
    stretches contain. A clock that agrees says how much time there is of both. If the printer is known to leave time
    out, and no stretch is long enough, all intervals are compared together.
    """
    table, figure = given.intervals, given.figure
    if table.source == "clock":
        return _timer(given)
    if not np.isfinite(table.clock).any():
        raise not_stated("timestamps")
    if not _has_extent(table):
        raise not_stated("line_steps")
    unit, every = resolution_of(table.clock), _intervals(table)
    between = without_pauses(every, unit)
    if not between.took.any():
        raise not_stated("comparable" if (np.diff(table.clock) > 0).any() else "timestamps")
    ratio, stretch = stretches(between, unit)
    rounds = rounding(table.records, "throughput", table.speed / table.multiplier)
    resolution, leaves_out = 100 * (unit / stretch + rounds), KIND in table.reading.untrue
    plain = max(ratio, 1 / ratio) > _PLAIN and float(between.claimed.sum()) > _FEW * unit
    if resolution > _COARSEST and not plain and leaves_out:
        together, finer = _in_all(between, unit, rounds)
        ratio, resolution = (together, finer) if finer <= _COARSEST else (ratio, resolution)
    outside = _outside(every.at(intervals_of(table.records).kind[every.row] == 0), unit, rounds)
    if resolution > _COARSEST and not plain:
        percent = f"{resolution:.3g}"
        coarse = Reason("coarse_clock", {"resolution": f"{unit:g}", "seconds": f"{stretch:.4g}", "percent": percent})
        raise NoFigureError(outside or coarse)
    if table.reading.span == "epoch" and ratio > 1 + TOLERANCE[KIND] / 100:
        raise no_figure("more_time", percent=f"{100 * (ratio - 1):.3g}")
    first, last = table.lines([between.row[0] - 1, between.row[-1]])
    arithmetic = f"{figure.value:.8g} / {ratio:.6g}"
    found = Sides(figure.value / ratio, figure.value, figure.unit, arithmetic, (first, last), resolution)
    if leaves_out and 1 + (_KNOWN_TO_LEAVE_OUT + resolution) / 100 < ratio < _MOST_LEFT_OUT:
        return replace(found, verdict="corrects", agrees=Reason("omits_time"))
    return replace(found, agrees=outside)


def _timer(given: Given) -> Sides:
    """Return the figure by the clock, which it is computed from, and by a timer of training: it counts no more time.

    If it counts far less in most intervals, nothing shows which of them contain an evaluation or a checkpoint.
    """
    table, figure = given.intervals, given.figure
    if not table.prints("training_seconds"):
        raise not_stated("own_speed")
    ratios = table.seconds / table.steps / table.printed["training_seconds"]
    known = ratios[np.isfinite(ratios) & (ratios > 0)]
    if not len(known):
        raise not_stated("own_speed")
    ratio, tolerance = median(known), 1 + TOLERANCE[KIND] / 100
    if ratio > tolerance and ratio * tolerance < _ELSEWHERE:
        raise no_figure("more_time", percent=f"{100 * (ratio - 1):.3g}")
    first, last = table.lines([0, len(table) - 1])
    return Sides(figure.value, figure.value * ratio, figure.unit, figure.arithmetic, (first, last))


def _intervals(table: Intervals) -> Compared:
    """Return the intervals of the window between one line and the next of the same run of steps."""
    claimed, took = claimed_seconds(table), np.diff(table.clock, prepend=np.nan)
    steps, epochs = np.diff(table.step, prepend=np.nan), np.diff(table.epoch, prepend=np.nan)
    fits = np.isfinite(took) & np.isfinite(claimed) & (claimed > 0) & (took >= 0) & ~table.apart
    if (since := table.reading.running_mean) is not None:
        # A running mean does not contain the steps before it began.
        fits &= table.step - steps >= since - 1
    fits &= ((epochs == 0) & (steps > 0)) | _whole_across_epochs(table, steps, epochs)
    row = rules.used_records(rules.HEADLINE, table)
    row = row[fits[row]]
    return Compared(took[row], claimed[row], row)


def _whole_across_epochs(table: Intervals, steps: Column, epochs: Column) -> Flags:
    """Return which intervals after an epoch's end cover as many steps as others: not a first step printed by itself.

    A running mean does not contain the steps before it began, nor a timer that begins again the time between.
    """
    if table.reading.span == "epoch":
        return np.asarray(epochs > 0)
    inside = (epochs == 0) & (steps > 0)
    if table.reading.running_mean is not None or EPOCH_TIMER in table.reading.pauses or not inside.any():
        return np.zeros(len(steps), dtype=np.bool_)
    return np.asarray((epochs > 0) & (table.steps >= median(table.steps[inside])))


def claimed_seconds(table: Intervals) -> Column:
    """Return the seconds that each line claims for the steps since the line before it.

    A line that prints one step in several counts for all of them. So does a line whose steps differ from the advance of
    its number.

    Raises:
        NoFigureError: neither seconds nor the samples of a step are known.
    """
    if table.source == "clock":
        return table.seconds
    if table.reading.span == "epoch" and not table.prints("samples", "duration", "steps", "consumed"):
        raise not_stated("epoch_length")
    seconds = table.seconds
    if not table.timed:
        if table.step_seconds is None:
            raise not_stated("batch_size")
        seconds = without_means(table, table.step_seconds * shown_steps(table))
    advanced = np.diff(table.step, prepend=np.nan)
    if table.reading.span == "step":
        return seconds / table.steps * advanced
    if {"step", "steps"} <= set(table.reading.columns):
        return np.where(advanced > 0, seconds / table.steps * advanced, seconds)
    return seconds


def _has_extent(table: Intervals) -> bool:
    """Return whether the length of a line's interval is known: a mere rate does not show it."""
    records = table.records
    numbered = "step" in records and bool(np.isfinite(records["step"]).any())
    return table.reading.span != "interval" or numbered or table.prints("steps", "samples", "duration", "consumed")


def without_pauses(given: Compared, unit: float) -> Compared:
    """Drop the intervals that must contain something else, if these are the fewer."""
    inside = given.took <= _ELSEWHERE * given.claimed + 2 * unit
    return given.at(inside) if 2 * inside.sum() > len(given.row) else given


def stretches(given: Compared, unit: float) -> tuple[float, float]:
    """Return clock over claimed seconds, as the median over stretches, and the seconds of a stretch without a gap."""
    whole, usual = float(given.took.sum()), median(given.took)
    each = max(1, math.ceil(_STRETCH * unit / usual)) if usual > 0 else len(given.took)
    count = len(given.took) // each
    if count < _STRETCHES:
        return whole / float(given.claimed.sum()), whole / given.pieces
    took, claimed = (column[: count * each].reshape(count, each).sum(axis=1) for column in (given.took, given.claimed))
    return median(took / claimed), median(took) / max(1.0, given.pieces / count)


def _in_all(given: Compared, unit: float, rounds: float) -> tuple[float, float]:
    """Return clock over claimed seconds of all intervals together, and the resolution of that in percent.

    A coarse clock rounds where a piece begins and where it ends, up or down: n pieces are wrong by the root of n.
    """
    claimed = float(given.claimed.sum())
    return float(given.took.sum()) / claimed, 100 * (unit * math.sqrt(given.pieces) / claimed + rounds)


def _outside(given: Compared, unit: float, rounds: float) -> Reason | None:
    """Return how much more time passed in all than the lines claim; None if it is little, or the clock coarse."""
    if not len(given.row):
        return None
    whole = float(given.claimed.sum())
    more, resolution = float(given.took.sum()) / whole - 1, unit * given.pieces / whole + rounds
    is_more = more > TOLERANCE[KIND] / 100 + resolution
    return Reason("more_time", {"percent": f"{100 * more:.3g}"}) if is_more else None
