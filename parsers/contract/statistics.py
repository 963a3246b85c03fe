"""Statistics of the few hundred values that most logs hold, for which NumPy's own take ten times as long."""

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
