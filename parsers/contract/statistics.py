"""Medians of values as logs hold them, of a few hundred, for which NumPy's own takes ten times as long; and means undone."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

#: What is told so many times better than it need be is told well, of nearly as many steps from this share on.
_WELL, _NEARLY = 4, 0.8


def median(values: NDArray[np.floating | np.integer]) -> float:
    """Return what `numpy.median` returns of n values: NaN where one of them is, or where there is none."""
    ordered = np.sort(values)
    if not len(ordered) or math.isnan(ordered[-1]):
        return math.nan
    middle = len(ordered) // 2
    return float(ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)


def medians(values: NDArray[np.float64], group: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the median of each group of values: `group` numbers that of each from 0, and none is empty."""
    sizes = np.bincount(group)
    starts, ordered = np.cumsum(sizes) - sizes, values[np.lexsort((values, group))]
    return np.asarray((ordered[starts + (sizes - 1) // 2] + ordered[starts + sizes // 2]) / 2)


def since_before(
    means: NDArray[np.float64], done: NDArray[np.float64], overlapping: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return n means, of which each that overlaps the one before it is of what came since.

    Args:
        means: n means.
        done: over how many values each is taken, from a common beginning on.
        overlapping: which means hold the values of the one before; the others stay.
    """
    with np.errstate(all="ignore"):
        since = np.diff(means * done, prepend=np.nan) / np.diff(done, prepend=np.nan)
    return np.where(overlapping & (since > 0), since, means)


def of_others(
    done: NDArray[np.float64], since: NDArray[np.float64], error: NDArray[np.float64], means: NDArray[np.float64],
    window: float, coarse: float,
) -> float | None:  # fmt: skip
    """Return the mean seconds of the steps that lie outside the means of n lines; None where nothing tells them.

    Args:
        done: n numbers of steps, from a common beginning on.
        since: the seconds of these steps, NaN where unknown.
        error: how far these may be off.
        means: the mean seconds of the last steps before each line.
        window: over how many steps the means are taken.
        coarse: the share of a stretch that an error may make up.
    """
    gaps = np.diff(done)
    if not (gaps > window).any() or not (gaps > 0).all():
        return None
    with np.errstate(all="ignore"):
        shown = np.cumsum(np.minimum(gaps, window) * means[1:])
        others, errors = since[1:] - since[0] - shown, error[1:] + error[0]
        share = np.where(gaps.cumsum() > window, errors / (since[1:] - since[0]), np.nan)
    told = np.flatnonzero((share >= 0) & (share <= coarse))
    # A total of something else contradicts the means.
    if not len(told) or (others < -errors - coarse * shown)[told].any():
        return None
    count = np.cumsum(np.maximum(gaps - window, 0))
    # The last line that tells it counts, or where one tells it well, of nearly as many steps, the last of those.
    well = told[(share[told] <= coarse / _WELL) & (count[told] >= _NEARLY * count[told[-1]])]
    last = (well if len(well) else told)[-1]
    return float(max(others[last], 0.0) / count[last]) if count[last] else None


def with_others(
    step_seconds: NDArray[np.float64], done: NDArray[np.float64], window: float, others: float
) -> NDArray[np.float64]:
    """Return the mean seconds of all steps since the line before, of which `step_seconds` tells the last ones."""
    gaps = np.diff(done, prepend=done[0])
    shown = np.minimum(gaps, window)
    with np.errstate(all="ignore"):
        return np.where(gaps > 0, (shown * step_seconds + (gaps - shown) * others) / gaps, step_seconds)
