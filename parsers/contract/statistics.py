"""Medians of values as logs hold them, of a few hundred, for which NumPy's own takes ten times as long; and means undone."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


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
