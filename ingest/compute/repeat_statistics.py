"""Statistics of repeats: each machine counts once, by its own median."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache


@dataclass(frozen=True)
class Statistics:
    """The statistics of repeats: median, extremes, and the sample standard deviation over the mean (of one, None).

    `hosts` counts the machines, 0 where none is stated; the spreads within and between them are known of several only.
    """

    value: float
    low: float
    high: float
    spread: float | None
    repeats: int
    hosts: int = 0
    spread_within: float | None = None
    spread_between: float | None = None


@lru_cache(1 << 16)
def statistics_of(values: tuple[float, ...], hosts: tuple[str, ...]) -> Statistics:
    """Return the statistics of repeats; a machine that ran more often than others does not count more.

    Runs that state no machine count as those of one further.
    """
    import statistics

    groups = by_host(values, hosts)
    medians = [statistics.median(each) for each in groups.values()]
    whole = Statistics(statistics.median(medians), min(values), max(values), _spread(values), len(values))
    if not any(groups):
        return whole
    within = _pooled(list(groups.values())) / statistics.fmean(values) if len(values) > len(groups) > 1 else None
    return replace(whole, hosts=len(groups), spread_within=within, spread_between=_spread(medians))


def by_host(values: Sequence[float], hosts: Sequence[str]) -> Mapping[str, Sequence[float]]:
    """Return the values of each machine."""
    found: dict[str, list[float]] = {}
    for value, host in zip(values, hosts, strict=True):
        found.setdefault(host, []).append(value)
    return found


def _spread(values: Sequence[float]) -> float | None:
    """Return the coefficient of variation; None for one value."""
    import statistics

    return statistics.stdev(values) / statistics.fmean(values) if len(values) > 1 else None


def _pooled(groups: Sequence[Sequence[float]]) -> float:
    """Return the standard deviation within groups: their squares over the degrees of freedom that are left."""
    import statistics

    squares = sum(statistics.variance(each) * (len(each) - 1) for each in groups if len(each) > 1)
    return math.sqrt(squares / sum(len(each) - 1 for each in groups))
