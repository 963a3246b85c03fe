"""The clock: the seconds between the stamps of the lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.chain import intervals_of, without_means
from perfledger.ingest.compute.digits import rounding
from perfledger.ingest.compute.intervals import Intervals, shown_steps
from perfledger.ingest.compute.refusals import NoFigureError, no_figure
from perfledger.ingest.compute.witnesses.judging import TOLERANCE, judged
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.clock import DATELESS_BEFORE
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Facts, Figure, Reason, Witness

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Rows = NDArray[np.intp]

#: A clock that cannot tell this much, in percent, says nothing. With the tolerance of 6 % a clock that is wrong by a
#: fifth is always told from one that agrees: (1 - 0.09) × 1.2 > 1 + 0.09.
_COARSEST = 3.0
#: A contradiction by this factor, over as many of the clock's smallest steps, is plain to a coarse clock too.
_PLAIN, _FEW = 2.0, 5
#: Where the printer is known to leave time out, the clock gives the figure from this difference on, in percent.
_KNOWN_TRAP = 2.0
#: A stretch of the clock is compared as a whole once it lasts so many of its smallest units.
_STRETCH = 40
#: An interval that lasts this many times as long as its record says holds something else, such as an evaluation.
_ELSEWHERE = 2.0
#: A clock without a date loses whole days.
_HALF_A_DAY = 43_200.0


def clock_witness(session: Session, case: Facts, given: Intervals, headline: Figure) -> Witness:
    """Compare the seconds between the lines' clocks with those that the records in between claim.

    Time that no record covers, such as an evaluation between two records, does not count: what is compared is the
    median over stretches that are long enough for the clock's resolution. Nor does a stall count that fewer than half
    of the stretches hold, if no record covers it. Nothing tells one from the other, so that the reason of a clock that
    does not disagree says how much time there is of both. If the printer is known to leave time out, and no stretch is
    long enough, all intervals are compared together.
    """
    import numpy as np

    if given.source == "clock":
        return _timer_beside(given, headline)
    stamps = given.clock
    if not np.isfinite(stamps).any():
        raise no_figure("no_line_clock")
    if not _extent_is_told(given):
        raise no_figure("no_steps_of_line")
    unit = resolution_of(stamps)
    if not given.timed and given.step_seconds is None and given.reading.span != "epoch":
        raise no_figure("no_batch_size")
    every = _intervals(given, stamps)
    between = _without_pauses(every, unit)
    if not between.took.any():
        raise no_figure("no_comparison" if (np.diff(stamps) > 0).any() else "no_line_clock")
    ratio, stretch = _stretches(between, unit)
    rounds = rounding(given.records, "throughput", given.speed / given.multiplier)
    resolution = 100 * (unit / stretch + rounds)
    plain = max(ratio, 1 / ratio) > _PLAIN and float(between.claimed.sum()) > _FEW * unit
    trap = given.reading.trap
    known = trap is not None and trap.witness == "clock"
    if resolution > _COARSEST and not plain and known:
        together, finer = _in_all(between, unit, rounds)
        ratio, resolution = (together, finer) if finer <= _COARSEST else (ratio, resolution)
    outside = _outside(every.at(intervals_of(given.records).kind[every.row] == 0), unit, rounds)
    if resolution > _COARSEST and not plain:
        raise (
            NoFigureError(outside)
            if outside
            else no_figure(
                "coarse_clock", resolution=f"{unit:g}", seconds=f"{stretch:.4g}", percent=f"{resolution:.3g}"
            )
        )
    if given.reading.span == "epoch" and ratio > 1 + TOLERANCE["clock"] / 100:
        raise no_figure("between_epochs", percent=f"{100 * (ratio - 1):.3g}")
    lines = given.records.lines([int(given.row[between.row[0] - 1]), int(given.row[between.row[-1]])])
    found = _by_clock(headline, ratio, resolution, lines)
    if trap and known and 1 + (_KNOWN_TRAP + resolution) / 100 < ratio < trap.most:
        return replace(found, verdict="corrects", reason=Reason(trap.code))
    return replace(found, reason=outside) if found.verdict == "agrees" else found


def _by_clock(headline: Figure, ratio: float, resolution: float, lines: Sequence[int]) -> Witness:
    """Compare the headline with what the clock gives, by its seconds over those that the records claim."""
    first, last = lines
    arithmetic = f"{headline.value:.8g} / {ratio:.6g}"
    value, against = headline.value / ratio, headline.value
    return judged("clock", value, against, headline.unit, arithmetic, (first, last), resolution)


def _timer_beside(given: Intervals, headline: Figure) -> Witness:
    """Compare a timer of training with the clock that the figure rests on: no timer counts more than has passed.

    Where it counts far less in most records, nothing tells which of them hold an evaluation or a checkpoint.
    """
    import numpy as np

    if not given.prints("training_seconds"):
        raise no_figure("is_the_clock")
    trained = given.printed["training_seconds"]
    ratios = given.seconds / given.steps / trained
    told = ratios[np.isfinite(ratios) & (ratios > 0)]
    if not len(told):
        raise no_figure("is_the_clock")
    ratio, tolerance = median(told), 1 + TOLERANCE["clock"] / 100
    if ratio > tolerance and ratio * tolerance < _ELSEWHERE:
        raise no_figure("between_lines", percent=f"{100 * (ratio - 1):.3g}")
    first, last = given.records.lines([int(given.row[0]), int(given.row[-1])])
    return judged(
        "clock", headline.value, headline.value * ratio, headline.unit, headline.arithmetic, (first, last),
    )  # fmt: skip


@dataclass(frozen=True)
class _Intervals:
    """Seconds by the clock and as claimed, and the index, of n records; `pieces` counts gaps between them, plus one."""

    took: Column
    claimed: Column
    row: Rows

    @property
    def pieces(self) -> int:
        """Return in how many pieces the records lie: each begins and ends with a clock of limited resolution."""
        import numpy as np

        return 1 + int((np.diff(self.row) != 1).sum())

    def at(self, chosen: NDArray[np.bool_]) -> _Intervals:
        """Return some of the intervals."""
        return _Intervals(self.took[chosen], self.claimed[chosen], self.row[chosen])


def _intervals(given: Intervals, stamps: Column) -> _Intervals:
    """Return the intervals of the window between one line and the next of the same run of steps."""
    import numpy as np

    claimed, took = claimed_seconds(given), np.diff(stamps, prepend=np.nan)
    steps, epochs = np.diff(given.step, prepend=np.nan), np.diff(given.epoch, prepend=np.nan)
    fits = np.isfinite(took) & np.isfinite(claimed) & (claimed > 0) & (took >= 0)
    if (since := given.reading.cumulative_since) is not None:
        # A running mean says nothing of the steps before it began.
        fits &= given.step - steps >= since - 1
    if float(np.nanmax(stamps)) < DATELESS_BEFORE:
        fits &= claimed < _HALF_A_DAY
    fits &= ((epochs == 0) & (steps > 0)) | _whole_across_epochs(given, steps, epochs)
    fits &= ~given.apart
    rows = rules.used_records(rules.HEADLINE, given)
    rows = rows[fits[rows]]
    return _Intervals(took[rows], claimed[rows], rows)


def _without_pauses(given: _Intervals, unit: float) -> _Intervals:
    """Return the intervals without those that must hold something else, where these are the fewer."""
    inside = given.took <= _ELSEWHERE * given.claimed + 2 * unit
    return given.at(inside) if 2 * inside.sum() > len(given.row) else given


def _outside(given: _Intervals, unit: float, rounds: float) -> Reason | None:
    """Return how much more time passed in all than the records claim; None where it is little, or the clock coarse.

    Where a line tells of a pause among steps that are not printed, its record claims nothing of it.
    """
    if not len(given.row):
        return None
    whole = float(given.claimed.sum())
    more, resolution = float(given.took.sum()) / whole - 1, unit * given.pieces / whole + rounds
    if not more > TOLERANCE["clock"] / 100 + resolution:
        return None
    return Reason("between_lines", {"percent": f"{100 * more:.3g}"})


def _whole_across_epochs(given: Intervals, steps: Column, epochs: Column) -> NDArray[np.bool_]:
    """Return which records after an epoch's end cover as many steps as others: not the first step printed by itself.

    A running mean says nothing of the steps before it began, nor a timer that begins anew of what took time between.
    """
    import numpy as np

    reading = given.reading
    if reading.span == "epoch":
        return np.asarray(epochs > 0)
    inside = (epochs == 0) & (steps > 0)
    if reading.cumulative_since is not None or reading.epoch_timer or not inside.any():
        return np.zeros(len(steps), dtype=np.bool_)
    return np.asarray((epochs > 0) & (given.steps >= median(given.steps[inside])))


def claimed_seconds(given: Intervals) -> Column:
    """Return the seconds that each record claims for the steps since the record before it.

    A record of one step in several since the line before is taken to stand for all of them, and so is one that tells of
    other steps than those by which its number has advanced.

    Raises:
        NoFigureError: neither seconds nor the samples of a step are known.
    """
    import numpy as np

    span, frame = given.reading.span, given
    if given.source == "clock":
        return given.seconds
    if span == "epoch" and not frame.prints("samples", "duration", "steps", "consumed"):
        raise no_figure("no_steps_per_epoch")
    seconds = given.seconds
    if not given.timed:
        if frame.step_seconds is None:
            raise no_figure("no_batch_size")
        seconds = without_means(frame, frame.step_seconds * shown_steps(frame))
    advanced = np.diff(given.step, prepend=np.nan)
    if span == "step":
        return seconds / frame.steps * advanced
    if {"step", "steps"} <= set(given.reading.columns):
        return np.where(advanced > 0, seconds / frame.steps * advanced, seconds)
    return seconds


def _extent_is_told(given: Intervals) -> bool:
    """Return whether anything tells how long a line's interval is: a mere rate does not."""
    import numpy as np

    records, of_interval = given.records, given.reading.span == "interval"
    numbered = "step" in records and bool(np.isfinite(records["step"]).any())
    return not of_interval or numbered or given.prints("steps", "samples", "duration", "consumed")


def resolution_of(stamps: Column) -> float:
    """Return the smallest step of the clocks in seconds: whole seconds, milliseconds, or microseconds."""
    import numpy as np

    known = stamps[np.isfinite(stamps)]
    return next((each for each in (1.0, 1e-3) if (np.abs(known - np.round(known / each) * each) <= 2e-6).all()), 1e-6)


def _stretches(given: _Intervals, unit: float) -> tuple[float, float]:
    """Return clock over claimed seconds, as the median over stretches, and the seconds of a stretch without a gap."""
    whole, usual = float(given.took.sum()), median(given.took)
    each = max(1, math.ceil(_STRETCH * unit / usual)) if usual > 0 else len(given.took)
    count = len(given.took) // each
    if count < 3:
        return whole / float(given.claimed.sum()), whole / given.pieces
    clock, told = (column[: count * each].reshape(count, each).sum(axis=1) for column in (given.took, given.claimed))
    return median(clock / told), median(clock) / max(1.0, given.pieces / count)


def _in_all(given: _Intervals, unit: float, rounds: float) -> tuple[float, float]:
    """Return clock over claimed seconds of all intervals together, and the least that this tells, in percent.

    A coarse clock rounds where a piece begins and where it ends, up or down: n pieces are wrong by the root of n.
    """
    claimed = float(given.claimed.sum())
    return float(given.took.sum()) / claimed, 100 * (unit * math.sqrt(given.pieces) / claimed + rounds)
