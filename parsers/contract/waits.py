"""Account for waits for data that a printer's timer omits: it starts after a batch has arrived.

If the lines are further apart than their seconds explain, the clocks of the lines count.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from perfledger.parsers.contract.reading import Pause, Reading
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.contract.verbs import Columns, only_if

#: Largest time between the iterations that is ignored, as a share of the printed seconds.
UNSAID = 0.02
#: Unit of the last digit that bars print, in seconds.
_HUNDREDTH = 0.01
#: Largest floating-point error of a number with two decimals, in seconds.
_EXACT = 1e-9


def timed(reading: Reading, *pauses: Pause) -> tuple[Reading, Reading]:
    """Return the readings of single iterations by their seconds, and by the clocks if the program waited between them.

    Args:
        reading: the lines, with a speed and a `duration`.
        pauses: lines of other work, which the clocks include.
    """
    return (
        replace(reading, span="step", verbs=(*reading.verbs, only_if(_waited, False))),
        replace(reading, pauses=pauses, verbs=(*reading.verbs, only_if(_waited), _by_the_clock)),
    )


def _waited(columns: Columns) -> bool:
    """Return whether the clocks show time between the iterations."""
    inside, steps, printed = _inside(columns), np.diff(columns["step"], prepend=np.nan), columns["duration"]
    # Bars print hundredths.
    most = printed + (
        0.5 * _HUNDREDTH if (np.abs(np.round(printed / _HUNDREDTH) * _HUNDREDTH - printed) < _EXACT).all() else 0.0
    )
    took = np.diff(columns["clock"], prepend=np.nan)
    return bool(took[inside].sum() > (1 + UNSAID) * (most * steps)[inside].sum())


def _inside(columns: Columns) -> NDArray[np.bool_]:
    """Return which lines follow a line of the same epoch."""
    same = np.diff(columns["epoch"], prepend=np.nan) == 0
    later = (np.diff(columns["step"], prepend=np.nan) > 0) & (np.diff(columns["clock"], prepend=np.nan) > 0)
    return np.asarray(same & later & np.isfinite(columns["duration"]))


def _by_the_clock(columns: Columns) -> Columns:
    """Return the clocks of the lines and the samples between them."""
    steps = np.where(_inside(columns), np.diff(columns["step"], prepend=np.nan), 1.0)
    # The seconds of a line may be missing, such as those of the last line.
    printed = columns["duration"]
    seconds = np.where(np.isnan(printed), median(printed[np.isfinite(printed)]), printed)
    return columns.assign(samples=columns["throughput"] * seconds * steps).drop("throughput", "duration")
