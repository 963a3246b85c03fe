"""Account for waits for data that a printer's timer omits: it starts after a batch has arrived.

If the lines are further apart than their seconds explain, the clocks of the lines count.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perfledger.parsers.contract.reading import Pause, Reading
from perfledger.parsers.contract.verbs import Column, Columns

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
        replace(reading, span="step", verbs=(*reading.verbs, _as_timed)),
        replace(reading, pauses=pauses, verbs=(*reading.verbs, _by_the_clock)),
    )


def _waited(columns: Columns) -> tuple[bool, Column]:
    """Return whether the clocks show time between the iterations, and the iterations since each previous line."""
    steps = np.diff(columns["step"], prepend=np.nan)
    printed = columns["duration"]
    # Bars print hundredths.
    most = printed + (
        0.5 * _HUNDREDTH if (np.abs(np.round(printed / _HUNDREDTH) * _HUNDREDTH - printed) < _EXACT).all() else 0.0
    )
    took, claimed = np.diff(columns["clock"], prepend=np.nan), most * steps
    inside = (np.diff(columns["epoch"], prepend=np.nan) == 0) & (steps > 0) & (took > 0) & np.isfinite(claimed)
    return bool(took[inside].sum() > (1 + UNSAID) * claimed[inside].sum()), np.where(inside, steps, 1.0)


def _as_timed(columns: Columns) -> Columns:
    """Return the lines of iterations with their seconds, unless the program waited for data between them."""
    return columns.take(slice(0 if _waited(columns)[0] else None))


def _by_the_clock(columns: Columns) -> Columns:
    """Return the clocks of these lines and the samples between them if the program waited for data."""
    waited, steps = _waited(columns)
    # The seconds of a line may be missing, such as those of the last line.
    printed = columns["duration"]
    seconds = np.where(np.isnan(printed), np.nanmedian(printed), printed) if waited else printed
    made = columns.assign(samples=columns["throughput"] * seconds * steps).drop("throughput", "duration")
    return made.take(slice(None if waited else 0))
