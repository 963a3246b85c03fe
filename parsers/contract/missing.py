"""Lines that are missing, of printers that print at a fixed interval and tell what one interval holds."""

from __future__ import annotations

import numpy as np

from parsers.contract import Column

#: Steps that a line tells are those of an interval within this share.
_SAME = 0.1


def intervals(step: Column, told: Column) -> Column:
    """Return how many intervals of the printer lie between each line and the one before that is there; mostly 1.

    What a line tells of its interval stands for all of them then.

    Args:
        step: the printed steps of n lines, multiples of the interval.
        told: for how many steps the other numbers of each line are; NaN where they do not tell.
    """
    gaps = np.diff(step, prepend=np.nan)
    every = gaps[gaps > 0].min(initial=np.inf)
    if not (step % every == 0).all():
        return np.ones(len(step))
    with np.errstate(all="ignore"):  # Numbers may be garbled.
        return np.where((gaps > every) & (np.abs(told / every - 1) <= _SAME), gaps / every, 1.0)
