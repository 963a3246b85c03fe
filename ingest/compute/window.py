"""The house window: which intervals a figure uses, and what else it contains.

The window drops the first fifth of the intervals as warm-up, unless it is faster than the rest. Intervals with an
evaluation, a checkpoint or the end of an epoch are not training steps and are left out of it, and so is the first of a
program that was started again if it is slow; a stall without such a reason stays in.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from perfledger.ingest.compute.chain import without_means
from perfledger.ingest.compute.intervals import Intervals, resolution_of, shown_steps
from perfledger.ingest.compute.kinds import PAUSES
from perfledger.ingest.compute.refusals import LARGEST
from perfledger.parsers.contract import Column, Indices
from perfledger.parsers.contract.statistics import median
from perfledger.schema.records import Reason
from perfledger.schema.window import Evenness, Pauses

#: Codes of the reasons why the intervals are too few for a figure.
TOO_FEW = frozenset({"too_few_records", "too_short", "not_settled", "coarse_clock"})
#: Intervals of training after the warm-up that a figure needs, unless they take ENOUGH_SECONDS.
ENOUGH_RECORDS = 5
#: Seconds of training after the warm-up that a figure needs, unless they are ENOUGH_RECORDS.
ENOUGH_SECONDS = 30.0
#: Largest share of the window's seconds that the unit of the clocks that give them may be: six steps in the three whole
#: seconds of a progress bar (h2oai/h2ogpt, pull request 86) looked 27 % slower than the bar's own rate.
_COARSEST = 0.1
#: An interval below this share of the median speed is a stall.
SLOW = 0.8
#: Largest ratio between the median speeds of both halves of the window; beyond it the pace still changes. The noise of
#: shared machines reaches 1.5, as in raw_logs/resnet50/pytorch/cpu-n1d1-bs8-bf16/2.
_RISES = 2.0
#: Share of the intervals of the first fifth that must be faster than the rest, since the others start the program.
_MOST = 0.75


def warm_up(count: int) -> int:
    """Return how many of `count` intervals the house window drops."""
    return max(1, count // 5) if count > 1 else 0


# Each rule asks for it.
@lru_cache(maxsize=2)
def begin(given: Intervals) -> int:
    """Return the first interval of the house window: the one after the warm-up.

    A warm-up is slow. If the first fifth is faster than the rest, the pace of the run changes by a schedule, and the
    window contains the fifth, except the slow intervals at its start.
    """
    fifth, pace = warm_up(len(given)), given.pace
    known = (given.kind == 0) & np.isfinite(pace)
    early, late = np.sort(pace[:fifth][known[:fifth]]), pace[fifth:][known[fifth:]]
    if len(early) < ENOUGH_RECORDS or not len(late) or early[int(_MOST * (len(early) - 1))] > SLOW * median(late):
        return fifth
    return max(1, int(np.argmax(known & (pace <= median(early) / SLOW))))


def training(given: Intervals) -> Indices:
    """Return the indices of the training intervals after the warm-up."""
    first = begin(given)
    return first + np.flatnonzero(given.kind[first:] == 0)


def too_few(given: Intervals) -> Reason | None:
    """Return the reason if the training intervals after the warm-up are too few for a figure.

    One whose step is that of the line before, since the loss scaler skipped the update, is training but did no step.
    """
    used = training(given)
    new = (np.diff(given.step, prepend=np.nan) != 0) | (np.diff(given.epoch, prepend=np.nan) != 0)
    done = used[new[used]]
    seconds = float(lasted(given)[done].sum())
    if len(done) >= ENOUGH_RECORDS or seconds >= ENOUGH_SECONDS:
        return coarse(given)
    return too_short(len(done), seconds)


def coarse(given: Intervals) -> Reason | None:
    """Return the reason if the window's seconds lie between clocks that are too coarse for them."""
    if given.source != "clock":
        return None
    unit, seconds = resolution_of(given.clock), float(given.seconds[training(given)].sum())
    if unit <= _COARSEST * seconds:
        return None
    percent = f"{100 * unit / seconds:.3g}" if seconds > 0 else "100"
    return Reason("coarse_clock", {"resolution": f"{unit:g}", "seconds": f"{seconds:.4g}", "percent": percent})


def too_short(records: int, seconds: float) -> Reason:
    """Return the reason for a window with too few intervals of training; its seconds may be unknown (NaN)."""
    took = "?" if math.isnan(seconds) else float(f"{seconds:.3g}")
    needed = {"needed": ENOUGH_RECORDS, "needed_seconds": int(ENOUGH_SECONDS)}
    return Reason("too_short", {"records": records, "seconds": took, **needed})


def lasted(given: Intervals) -> Column:
    """Return the seconds of each interval, also if the samples of a step are unknown; NaN if nothing shows them.

    An epoch of unknown length is infinite: it is long enough in any case.
    """
    if given.timed:
        return given.seconds
    if (step_seconds := given.step_seconds) is not None:
        printed = without_means(given, step_seconds * shown_steps(given))
        return np.where((printed >= 0) & (printed < LARGEST), printed, np.nan)
    if given.reading.span == "epoch":
        return np.full(len(given), np.inf)
    between = np.diff(given.clock, prepend=np.nan)
    return between if np.isfinite(between).any() else np.full(len(given), np.nan)


def not_settled(given: Intervals) -> Reason | None:
    """Return the reason if the speed still rises so much within the window that its mean is not the pace of the run.

    Only in a window of few intervals: if each half has enough of them, a rise is a change of the run, and a note.
    """
    used, pace = training(given), given.pace
    half = len(used) // 2
    if half >= ENOUGH_RECORDS:
        return None
    early, late = (pace[each] for each in (used[:half], used[len(used) - half :]))
    ratio = median(early) / median(late) if half else 1.0
    return Reason("not_settled", {"records": len(used), "ratio": f"{ratio:.3g}"}) if ratio > _RISES else None


def pauses(given: Intervals) -> Pauses | None:
    """Return what the window contains in addition to training; None if nothing.

    The time that it took is what its intervals took beyond training at the speed of the others.
    """
    window, used = np.arange(begin(given), len(given)), training(given)
    paused = window[given.kind[window] != 0]
    if not len(paused):
        return None
    with np.errstate(all="ignore"):
        pace = given.seconds[used].sum() / given.samples[used].sum()
        share = (given.seconds[paused].sum() - pace * given.samples[paused].sum()) / given.seconds[window].sum()
        seconds = share * lasted(given)[window].sum()
    kinds = np.bitwise_or.reduce(given.kind[paused])
    return Pauses(
        records=len(paused),
        seconds=_known(seconds),
        percent=_known(100 * share),
        kinds=tuple(kind for kind, bit in PAUSES.items() if kinds & bit),
    )


def _known(value: float) -> float | None:
    return float(f"{max(0.0, value):.4g}") if math.isfinite(value) else None


def evenness(given: Intervals) -> Evenness | None:
    """Return how even the printed speeds of the training intervals in the window are; None for fewer than two."""
    values = given.speed[training(given)]
    if len(values) < 2:
        return None
    half = len(values) // 2
    return Evenness(
        records=len(values),
        slow=int((values < SLOW * median(values)).sum()),
        change=float(f"{median(values[-half:]) / median(values[:half]) - 1:.4g}"),
    )
