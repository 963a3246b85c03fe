"""Say how sure the difference of two figures is: clear, likely, or too close to call, with their ratio as a range.

Pure functions over numbers. Other modules decide which figures may be compared, and which of several leads.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from perfledger.ingest.common import numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: How sure it is which of two figures is larger; `close`: too close to call.
Grade = Literal["clear", "likely", "close"]
#: The figures of repeats, a group for each machine: each counts once, by its own median.
Groups = tuple[tuple[float, ...], ...]

#: Repeats on both sides that a bootstrap interval needs.
MANY = 5
#: Repeats on both sides that a comparison of ranges needs.
SEVERAL = 3
#: A smaller gap is never clear, however well the repeats agree.
LEAST_CLEAR = 0.01
#: A smaller gap is never likely: it would be written as 1.00 times.
NARROW = 0.005
#: One or two runs say nothing about their spread: a gap of this size or less may be chance.
LEAST_OF_FEW = 0.05
#: More repeats than these are nothing to ask for.
_AT_MOST = 100
#: Resamples of a bootstrap interval.
_RESAMPLES = 2000
#: Confidence of the interval.
_LEVEL = 0.95
#: Figures whose resampled medians are kept for the next comparison, 16 KB each: those of a suite are compared together.
_KEPT = 1024
#: Standard errors on each side of a 95 % interval.
_NORMAL = 1.96
#: Standard error of the median over that of the mean, of values that are normally distributed.
_MEDIAN = math.sqrt(math.pi / 2)


@dataclass(frozen=True)
class Measured:
    """A figure over its repeats.

    Attributes:
        low: the lowest of the repeats.
        high: the highest of the repeats.
        spread: their sample standard deviation over the mean; None where fewer than two are known.
        sources: where a metric was read from.
        groups: the figure of each repeat; empty where they are not known singly, as of a quotient of two figures.
        rules: the figure under each rule that all repeats have one by, that of the headline included.
    """

    value: float
    low: float
    high: float
    repeats: int
    spread: float | None = None
    unit: str = ""
    sources: tuple[str, ...] = ()
    groups: Groups = ()
    rules: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Contrast:
    """The comparison of two figures.

    Attributes:
        low: the lower end of the range of the first figure over the second.
        high: its upper end.
        against: the rules that call the other one larger.
        more: about how many repeats each needs for a clear difference; None where that would not settle it.
        is_disputed: the figures are far apart, and a rule that both have does not confirm it.
    """

    grade: Grade
    low: float
    high: float
    against: tuple[str, ...] = ()
    more: int | None = None
    is_disputed: bool = False


def contrast(first: Measured, second: Measured) -> Contrast:
    """Compare two figures; the smaller number of repeats decides on the rule."""
    grade, (low, high) = _judged(first, second)
    more = None if grade == "clear" else _needed(first, second)
    is_disputed = grade == "close" and apart(first, second) and gap(first, second) > LEAST_OF_FEW
    return Contrast(grade, low, high, _against(first, second), more, is_disputed)


def written(found: Contrast) -> tuple[str, str]:
    """Write the ends of a ratio's range, with a third decimal where two would write one of them as 1."""
    places = 3 if "1.00" in {numbers.grouped(each, 2) for each in (found.low, found.high)} else 2
    return numbers.grouped(found.low, places), numbers.grouped(found.high, places)


def _judged(first: Measured, second: Measured) -> tuple[Grade, tuple[float, float]]:
    repeats = min(first.repeats, second.repeats)
    # Only positive figures have a ratio to resample: a metric may be zero.
    if repeats >= MANY and first.groups and second.groups and min(first.low, second.low) > 0:
        return _of_many(first, second)
    return _of_several(first, second) if repeats >= SEVERAL else _of_few(first, second)


def _of_many(first: Measured, second: Measured) -> tuple[Grade, tuple[float, float]]:
    """Judge five repeats or more.

    Clear: the 95 % bootstrap interval of the ratio of medians excludes 1, and the gap is at least 1 %. Likely: the
    ranges are apart, and the gap is at least half a percent.
    """
    found = interval(first.groups, second.groups)
    if not found[0] <= 1 <= found[1] and gap(first, second) >= LEAST_CLEAR:
        return "clear", found
    return _likely(apart(first, second) and gap(first, second) >= NARROW), found


def _of_several(first: Measured, second: Measured) -> tuple[Grade, tuple[float, float]]:
    """Judge three or four repeats, or more that are not known singly.

    Clear: the ranges are apart, the gap is larger than the larger range, and at least 1 %. Likely: the ranges are
    apart, and the gap is at least half a percent.
    """
    wide = max(first.high - first.low, second.high - second.low)
    is_apart = apart(first, second)
    if is_apart and abs(first.value - second.value) > wide and gap(first, second) >= LEAST_CLEAR:
        return "clear", _extremes(first, second)
    return _likely(is_apart and gap(first, second) >= NARROW), _extremes(first, second)


def _of_few(first: Measured, second: Measured) -> tuple[Grade, tuple[float, float]]:
    """Judge one or two repeats.

    Likely at most: the ranges are apart, and every rule that both have names the same winner by more than 5 %.
    """
    ratios = [first.value / second.value if second.value else math.inf, *_by_rule(first, second).values()]
    agree = min(ratios) > 1 + LEAST_OF_FEW or max(ratios) < 1 / (1 + LEAST_OF_FEW)
    extremes = _extremes(first, second)
    return _likely(agree and apart(first, second)), (min(*ratios, *extremes), max(*ratios, *extremes))


def _likely(found: bool) -> Grade:
    return "likely" if found else "close"


def gap(first: Measured, second: Measured) -> float:
    """Return how far the larger figure is above the smaller, as a share."""
    small, large = sorted((first.value, second.value))
    return large / small - 1 if small > 0 else math.inf if large > 0 else 0.0


def apart(first: Measured, second: Measured) -> bool:
    """Return whether no repeat of one figure reaches into the range of the other."""
    return first.low > second.high or second.low > first.high


def _extremes(first: Measured, second: Measured) -> tuple[float, float]:
    return (
        first.low / second.high if second.high else math.inf,
        first.high / second.low if second.low else math.inf,
    )


def _by_rule(first: Measured, second: Measured) -> dict[str, float]:
    """Return the ratio of the figures under each rule that both have."""
    return {name: value / second.rules[name] for name, value in first.rules.items() if second.rules.get(name)}


def _against(first: Measured, second: Measured) -> tuple[str, ...]:
    ahead = first.value > second.value
    return tuple(name for name, ratio in _by_rule(first, second).items() if (ratio < 1 if ahead else ratio > 1))


def _needed(first: Measured, second: Measured) -> int | None:
    """Estimate, from the spread, the repeats with an interval whose half is smaller than the gap.

    The standard error of a ratio of medians is about that of the mean, times the root of half of pi (Kenney and
    Keeping, Mathematics of Statistics, part 2).
    """
    if first.spread is None or second.spread is None or not LEAST_CLEAR <= gap(first, second) < math.inf:
        return None
    half = _NORMAL * _MEDIAN * math.hypot(first.spread, second.spread)
    needed = max(MANY, math.ceil((half / math.log1p(gap(first, second))) ** 2))
    return needed if min(first.repeats, second.repeats) < needed <= _AT_MOST else None


# ---- the bootstrap ----


def interval(first: Groups, second: Groups) -> tuple[float, float]:
    """Return the 95 % interval of the ratio of two medians, by the percentile bootstrap.

    Runs are resampled with replacement within their machine (Efron, Bootstrap methods: another look at the jackknife,
    1979). The seed is fixed, so that the same runs always give the same interval; both sides are drawn with both
    seeds, so that exchanging them gives exactly the inverse.
    """
    import numpy as np

    logs = np.concatenate([_medians(first, mine) - _medians(second, other) for mine, other in ((0, 1), (1, 0))])
    low, high = np.quantile(logs, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return math.exp(low), math.exp(high)


def median_interval(groups: Groups) -> tuple[float, float] | None:
    """Return the 95 % interval of the median of repeats, drawn as that of a ratio; None for fewer than `MANY`."""
    import numpy as np

    if sum(map(len, groups)) < MANY or min(map(min, groups)) <= 0:
        return None
    low, high = np.exp(np.quantile(_medians(groups, 0), [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]))
    return float(low), float(high)


@functools.lru_cache(maxsize=_KEPT)
def _medians(groups: Groups, seed: int) -> NDArray[np.float64]:
    """Return logarithms of the medians of resampled runs; of several machines, of the median of their medians."""
    import numpy as np

    chance = np.random.default_rng(seed)
    drawn = [_resampled(each, chance) for each in groups]
    return np.log(np.median(np.stack(drawn), axis=0))


def _resampled(values: Sequence[float], chance: np.random.Generator) -> NDArray[np.float64]:
    import numpy as np

    drawn: NDArray[np.float64] = chance.choice(np.asarray(values), (_RESAMPLES, len(values)))
    return np.asarray(np.median(drawn, axis=1))
