"""The house window: which records a figure rests on, and what else it holds.

The window drops the first fifth of the records as warm-up, unless it is faster than the rest. Records whose interval
holds an evaluation, a checkpoint or the end of an epoch are no training steps and are left out of it, and so is the
first of a program that was started again where it is slow; a stall without such a reason stays in.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from perfledger.ingest.compute.frame import PAUSES
from perfledger.ingest.compute.series import ThroughputSeries
from perfledger.parsers.contract.statistics import median
from perfledger.schema.records import Evenness, Pauses, Reason

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from perfledger.ingest.compute.frame import PauseFlags

    Column = NDArray[np.float64]
    Rows = NDArray[np.intp]

#: Codes of the reasons why the records are too few to stand on.
TOO_FEW = frozenset({"too_short", "too_few_training_records", "only_pauses", "not_settled"})
#: A figure needs so many records of training after the warm-up, or so many seconds.
ENOUGH_RECORDS, ENOUGH_SECONDS = 5, 30.0
#: A record below this share of the median speed is a stall.
SLOW = 0.8
#: Largest ratio between the median speeds of both halves of the window; beyond it the run has not settled. The noise of
#: shared machines reaches 1.5, as in raw_logs/resnet50/pytorch/cpu-n1d1-bs8-bf16/2.
_RISES = 2.0
#: Share of the records of the first fifth that must be faster than the rest, since the others start the program.
_MOST = 0.75


def warm_up(count: int) -> int:
    """Return how many of `count` records the house window drops."""
    return max(1, count // 5) if count > 1 else 0


def begin(pauses: PauseFlags, paces: Column) -> int:
    """Return the first record of the house window: the one after the warm-up.

    A warm-up is slow. If the first fifth is faster than the rest, the pace of the run changes by a schedule, and the
    window contains the fifth, except the slow records at its start.

    Args:
        pauses: what else took time in each of n records.
        paces: the seconds of each per step or sample.
    """
    import numpy as np

    fifth = warm_up(len(pauses))
    known = (pauses == 0) & np.isfinite(paces)
    early, late = np.sort(paces[:fifth][known[:fifth]]), paces[fifth:][known[fifth:]]
    if len(early) < ENOUGH_RECORDS or not len(late) or early[int(_MOST * (len(early) - 1))] > SLOW * median(late):
        return fifth
    return max(1, int(np.argmax(known & (paces <= median(early) / SLOW))))


def training(pauses: PauseFlags, paces: Column) -> Rows:
    """Return the indices of the training records after the warm-up, by what else took time in each record."""
    import numpy as np

    first = begin(pauses, paces)
    return first + np.flatnonzero(pauses[first:] == 0)


def too_few(given: ThroughputSeries) -> Reason | None:
    """Return the reason if the training records after the warm-up are too few to stand on.

    One whose step is that of the record before, since the loss scaler skipped the update, did no step: it is training,
    but nothing to stand on.
    """
    import numpy as np

    used = training(given.pauses, given.paces)
    new = (np.diff(given.steps, prepend=np.nan) != 0) | (np.diff(given.epochs, prepend=np.nan) != 0)
    done = used[new[used]]
    seconds = float(given.lasted[done].sum()) if given.lasted is not None else math.nan
    if len(done) >= ENOUGH_RECORDS or seconds >= ENOUGH_SECONDS:
        return None
    needed = {"records": len(done), "needed": ENOUGH_RECORDS, "needed_seconds": int(ENOUGH_SECONDS)}
    if math.isnan(seconds):
        return Reason("too_few_training_records", needed)
    return Reason("too_short", {**needed, "seconds": float(f"{seconds:.3g}")})


def not_settled(given: ThroughputSeries) -> Reason | None:
    """Return the reason if the speed still rises so much within the window that its mean is not the pace of the run.

    Only in a window of few records: where each half has enough of them, a rise is a change of the run, and a note.
    """
    used = training(given.pauses, given.paces)
    half = len(used) // 2
    if half >= ENOUGH_RECORDS:
        return None
    early, late = (given.paces[each] for each in (used[:half], used[len(used) - half :]))
    ratio = median(early) / median(late) if half else 1.0
    return Reason("not_settled", {"records": len(used), "ratio": f"{ratio:.3g}"}) if ratio > _RISES else None


def pauses(given: ThroughputSeries) -> Pauses | None:
    """Return what the window holds besides training; None if nothing.

    The time that it took is what its records took beyond training at the speed of the others.
    """
    import numpy as np

    window, used = np.arange(begin(given.pauses, given.paces), len(given)), training(given.pauses, given.paces)
    paused = window[given.pauses[window] != 0]
    if not len(paused):
        return None
    with np.errstate(all="ignore"):
        pace = given.seconds[used].sum() / given.samples[used].sum()
        share = (given.seconds[paused].sum() - pace * given.samples[paused].sum()) / given.seconds[window].sum()
    lasted = math.nan if given.lasted is None else share * given.lasted[window].sum()
    kinds = np.bitwise_or.reduce(given.pauses[paused])
    return Pauses(
        records=len(paused),
        seconds=_known(lasted),
        percent=_known(100 * share),
        kinds=tuple(kind for kind, bit in PAUSES.items() if kinds & bit),
    )


def _known(value: float) -> float | None:
    return float(f"{max(0.0, value):.4g}") if math.isfinite(value) else None


def evenness(given: ThroughputSeries) -> Evenness | None:
    """Return how even the printed speeds of the training records in the window are; None for fewer than two."""
    first = begin(given.pauses, given.paces)
    values = given.values[first:][given.pauses[first:] == 0]
    if len(values) < 2:
        return None
    half = len(values) // 2
    return Evenness(
        records=len(values),
        slow=int((values < SLOW * median(values)).sum()),
        change=float(f"{median(values[-half:]) / median(values[:half]) - 1:.4g}"),
    )
