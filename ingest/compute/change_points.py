"""Find where the level of a series changes: a fit by steps with the least absolute deviations.

The method is that of airspeed velocity's `step_detect` (Virtanen and others, asv), which fits a piecewise constant
function in the L1 norm (the Potts functional: Weinmann, Storath and Demaret, The L1-Potts functional for robust
jump-sparse reconstruction, 2015), and chooses the number of steps by an information criterion for Laplace noise.
The fit here is exact: dynamic programming over the number of levels. Nothing in it is random.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Fewest points of a series that may have levels.
ENOUGH = 10
#: Fewest points of a level.
SHORTEST = 3
#: More levels than these are noise, or no history that a reader takes in.
_MOST_LEVELS = 12
#: Cost of a level, in units of the logarithm of the number of points; asv's.
_PENALTY = 4.0
#: A fit without any deviation counts as one with this share of the deviations around a single level.
_EXACT = 1e-6
#: Deviations of this share of the values come from rounding while they were added up.
_NOTHING = 1e-12


def change_points(values: Sequence[float]) -> tuple[int, ...]:
    """Return the index of the first value of each level but the first; none for fewer than ten values."""
    count = len(values)
    if count < ENOUGH:
        return ()
    cuts, totals = _fits(_costs(values), min(_MOST_LEVELS, count // SHORTEST))
    if totals[0] <= _NOTHING * sum(map(abs, values)):
        return ()
    found = [
        count * math.log(total / totals[0] + _EXACT) + _PENALTY * level * math.log(count)
        for level, total in enumerate(totals)
    ]
    return cuts[min(range(len(found)), key=found.__getitem__)]


def _fits(costs: NDArray[np.float64], most: int) -> tuple[list[tuple[int, ...]], list[float]]:
    """Return, for 1, 2, ... levels, where the best fit changes level, and its sum of absolute deviations."""
    import numpy as np

    best, totals = costs[0], [float(costs[0, -1])]
    cuts: list[tuple[int, ...]] = [()]
    origins: list[NDArray[np.intp]] = []
    for _ in range(1, most):
        # The best fit of the values before `end`: one level less up to `start`, and a level from there.
        candidates = best[:, None] + costs
        origins.append(np.argmin(candidates, axis=0))
        best = np.min(candidates, axis=0)
        totals.append(float(best[-1]))
        cuts.append(_traced(origins))
    return cuts, totals


def _traced(origins: Sequence[NDArray[np.intp]]) -> tuple[int, ...]:
    """Return the starts of the levels of a fit, from where each one began."""
    end, found = len(origins[0]) - 1, []
    for each in reversed(origins):
        end = int(each[end])
        found.append(end)
    return tuple(reversed(found))


def _costs(values: Sequence[float]) -> NDArray[np.float64]:
    """Return the absolute deviations from the median of the values from `start` to before `end`, by both.

    It is infinite where these are too few to make a level.
    """
    import numpy as np

    found = np.full((len(values) + 1, len(values) + 1), np.inf)
    for start in range(len(values)):
        for length, deviations in enumerate(_deviations(values[start:]), 1):
            if length >= SHORTEST:
                found[start, start + length] = deviations
    return found


def _deviations(values: Sequence[float]) -> list[float]:
    """Return the sum of absolute deviations from the median of the first 1, 2, ... values.

    Two heaps contain the lower and the upper half, and their sums: the lower has one more if the number is odd.
    """
    lower: list[float] = []
    upper: list[float] = []
    below = above = 0.0
    found = []
    for each in values:
        moved = -heapq.heappushpop(lower, -each)
        below, above = below + each - moved, above + moved
        heapq.heappush(upper, moved)
        if len(upper) > len(lower):
            back = heapq.heappop(upper)
            below, above = below + back, above - back
            heapq.heappush(lower, -back)
        middle = -lower[0]
        found.append(max(0.0, above - below + middle * (len(lower) - len(upper))))
    return found
