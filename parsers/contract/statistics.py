"""Compute medians of a few hundred values ten times as fast as NumPy; estimate the steps that printed means leave out."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

#: An estimate is accurate if its error is smaller than the limit by this factor.
_WELL = 4
#: Least share of the steps of the last estimate that an earlier, accurate one must cover to be preferred.
_NEARLY = 0.8


def median(values: NDArray[np.floating | np.integer]) -> float:
    """Return the median of n values, as `numpy.median` does: NaN if a value is NaN or if n is 0."""
    ordered = np.sort(values)
    if not len(ordered) or math.isnan(ordered[-1]):
        return math.nan
    middle = len(ordered) // 2
    return float(ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)


def medians(values: NDArray[np.float64], group: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the median of each group of values.

    Args:
        values: n values.
        group: n group numbers, from 0; each group has at least one value.
    """
    sizes = np.bincount(group)
    starts, ordered = np.cumsum(sizes) - sizes, values[np.lexsort((values, group))]
    return np.asarray((ordered[starts + (sizes - 1) // 2] + ordered[starts + sizes // 2]) / 2)


def of_others(
    done: NDArray[np.float64], since: NDArray[np.float64], error: NDArray[np.float64], means: NDArray[np.float64],
    window: float, coarse: float,
) -> float | None:  # fmt: skip
    """Estimate the mean seconds of the steps that the printed means of n lines leave out.

    Return None if all steps are in the means, if no error is small enough, or if the total contradicts the means.

    Args:
        done: steps at each line, from a common beginning on.
        since: total seconds of these steps, NaN if unknown.
        error: largest error of each total, in seconds.
        means: mean seconds of the last `window` steps before each line.
        window: number of steps in each mean.
        coarse: largest error, as a share of the seconds since the first line.
    """
    gaps = np.diff(done)
    if not (gaps > window).any() or not (gaps > 0).all():
        return None
    shown = np.cumsum(np.minimum(gaps, window) * means[1:])
    others, errors = since[1:] - since[0] - shown, error[1:] + error[0]
    share = np.where(gaps.cumsum() > window, errors / (since[1:] - since[0]), np.nan)
    usable = np.flatnonzero((share >= 0) & (share <= coarse))
    # A total that is shorter than the steps in the means is of something else.
    if not len(usable) or (others < -errors - coarse * shown)[usable].any():
        return None
    count = np.cumsum(np.maximum(gaps - window, 0))
    # The last accurate line that covers nearly as many steps is preferred to the last usable line.
    accurate = usable[(share[usable] <= coarse / _WELL) & (count[usable] >= _NEARLY * count[usable[-1]])]
    last = (accurate if len(accurate) else usable)[-1]
    return float(max(others[last], 0.0) / count[last]) if count[last] else None


def with_others(
    step_seconds: NDArray[np.float64], done: NDArray[np.float64], window: float, others: float
) -> NDArray[np.float64]:
    """Return the mean seconds of all steps since the previous line, one value per line.

    Args:
        step_seconds: mean seconds of the last `window` steps before each line.
        done: steps at each line, from a common beginning on.
        window: number of steps in each mean.
        others: mean seconds of the remaining steps.
    """
    gaps = np.diff(done, prepend=done[0])
    shown = np.minimum(gaps, window)
    return np.where(gaps > 0, (shown * step_seconds + (gaps - shown) * others) / gaps, step_seconds)
