"""Bars of tqdm: the seconds since they began, and a speed beside them, of the last few states or the mean since then."""

from __future__ import annotations

import math

import numpy as np

from parsers.contract import Column, Columns, Postprocessed, is_private
from parsers.contract.statistics import median

#: What stands behind the seconds of a bar: those that are left, and its speed.
SPEED = rb"[0-9:?]++(?:, ++(?:(?P<_seconds>[0-9.]++)s/it|(?P<_rate>[0-9.]++)it/s))?+"

#: Speed and time contradict each other by this ratio, over stretches of so many seconds, which are cut to whole ones, and of
#: so many states, of which a few may be slow.
_FAR, _STRETCH, _STATES = 1.5, 20.0, 10
#: States that show a slow start, of a short bar at most this share.
_START, _SHARE = 20, 3


def _contradicts(step: Column, since: Column, seconds: Column) -> bool:
    """Return whether n states of a bar tell other seconds per step by their speeds than by the time since it began.

    The speed may be the mean since then. Both most stretches and all of them together must say so: a smoothed speed shows a
    pause for some states behind it, and what takes time between two states need not be a step.

    Args:
        step: the number of each state.
        since: its seconds since the bar began.
        seconds: the seconds of a step by its speed.
    """
    known = np.flatnonzero(np.isfinite(seconds) & (seconds > 0) & np.isfinite(since) & (step > 0))
    if len(known) < 2 or not _differ(median(since[known] / step[known] / seconds[known])):
        return False
    known = known[min(_START, len(known) // _SHARE) :]
    steps, took = np.diff(step[known]), np.diff(since[known])
    whole = (steps > 0) & (took >= 0)
    claimed = np.cumsum(np.where(whole, steps * seconds[known][1:], 0.0))
    passed = np.cumsum(np.where(whole, took, 0.0))
    if not passed[-1] >= _STRETCH or not claimed[-1] > 0:
        return False
    each = max(math.ceil(_STRETCH * len(steps) / passed[-1]), min(_STATES, len(steps)))
    ends = np.arange(each - 1, len(steps), each)
    with np.errstate(all="ignore"):
        ratios = np.diff(passed[ends], prepend=0.0) / np.diff(claimed[ends], prepend=0.0)
    told = (median(ratios[np.isfinite(ratios)]), float(passed[-1] / claimed[-1]))
    return _differ(min(told)) and _differ(max(told)) and (min(told) > 1) == (max(told) > 1)


def _differ(ratio: float) -> bool:
    return ratio > _FAR or ratio < 1 / _FAR


def told_otherwise(columns: Columns, since: Column) -> dict[str, Column]:
    """Return the seconds of a step by the speed of n states, if the time since the bar began contradicts them."""
    with np.errstate(divide="ignore"):
        seconds = np.where(np.isfinite(columns["_seconds"]), columns["_seconds"], 1.0 / columns["_rate"])
    return {"seconds_otherwise": seconds} if _contradicts(columns["step"], since, seconds) else {}


def states(columns: Columns) -> Postprocessed:
    """Return all states of a bar whose time is their clock, with its speed where it contradicts that."""
    found = {name: each for name, each in columns.items() if not is_private(name)}
    return np.arange(len(columns["step"])), found | told_otherwise(columns, columns["clock"])
