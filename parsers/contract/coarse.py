"""Times and rates that are printed with too few digits: what these cannot tell is not known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from perfledger.parsers.contract import Column, Columns, Indices, Postprocessed

#: What cutting seconds to whole ones takes off on average, and the share of them that this may make up.
_CUT, _SHARE = 0.5, 0.02
#: Of means with two decimals that are undone from line to line: smaller ones are rounded by more than a hundredth.
FINE_MEAN = 0.5


def whole_seconds(seconds: Column) -> Column:
    """Return n seconds that were cut to whole ones, with what this took off on average; NaN where that is too much."""
    took = seconds + _CUT
    return np.where(took * _SHARE < _CUT, np.nan, took)


def far_enough(steps: Column, least: Column) -> Indices:
    """Return the rows that are told well enough: the first of all and of each new count, and those far from the last.

    Args:
        steps: n counts of steps, which begin anew with an epoch or a run.
        least: steps that must lie between a row and the one before it, so that what is lost of both hardly matters.
    """
    rows: list[int] = []
    for row in range(len(steps)):
        if not rows or steps[row] < steps[row - 1] or steps[row] - steps[rows[-1]] >= least[row]:
            rows.append(row)
    return np.array(rows, dtype=np.intp)


def fine_rates(least: float) -> Callable[[Columns], Postprocessed]:
    """Return a verb that keeps all records, without the `steps_per_second` below the least that tells enough."""

    def made(columns: Columns) -> Postprocessed:
        rate = columns["steps_per_second"]
        return np.arange(len(rate)), {**columns, "steps_per_second": np.where(rate < least, np.nan, rate)}

    return made


def fine_seconds(least: float) -> Callable[[Columns], Postprocessed]:
    """Return a verb that keeps all records, without `step_seconds` where some are below the least that tells enough.

    There the clocks of the lines count; where lines have none, nothing is known.
    """

    def made(columns: Columns) -> Postprocessed:
        seconds = columns["step_seconds"]
        rows = np.arange(len(seconds))
        if not (seconds < least).any():
            return rows, columns
        if "clock" in columns and np.isfinite(columns["clock"]).all():
            return rows, {name: each for name, each in columns.items() if name != "step_seconds"}
        return rows, {**columns, "step_seconds": np.full(len(rows), np.nan)}

    return made
