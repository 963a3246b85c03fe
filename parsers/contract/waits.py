"""Account for waits for data that a printer's timers omit or its mean speeds hide.

A timer that starts after a batch has arrived omits the wait for it. If the lines are further apart than their seconds
explain, the clocks of the lines count. A mean of the speeds of single iterations hides a stall: it is 0.9 of full speed
for nine fast iterations and a tenth that waits. The mean times on the same line show the stall.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract.columns import is_private
from perfledger.parsers.contract.verbs import Column, Columns, Kept

#: Iterations take the same time if the two estimates of the batch differ by at most this share.
EVEN = 0.05


def _batches(columns: Columns) -> Column | None:
    """Return two estimates of the batch, one row each: mean speed times mean time, with and without the wait for data.

    Return None if they are not printed. Both are the batch of the job if all iterations take the same time; else they are
    larger.
    """
    if not {"_waits", "_computes", "_compute_speed"} <= columns.keys():
        return None
    computes = columns["_computes"]
    return np.stack([columns["throughput"] * (columns["_waits"] + computes), columns["_compute_speed"] * computes])


def even(columns: Columns) -> Kept:
    """Return the mean speeds of epochs and runs, except those that the mean times contradict."""
    kept = {name: each for name, each in columns.items() if not is_private(name)}
    batches, rows = _batches(columns), np.arange(len(columns["throughput"]))
    if batches is not None:
        rows = rows[~(np.abs(batches[0] - batches[1]) > EVEN * batches[1])]
    return rows, {name: each[rows] for name, each in kept.items()}


def by_times(columns: Columns) -> Kept:
    """Return lines of speeds with the mean times that they print, and the samples of an iteration."""
    kept = {name: each for name, each in columns.items() if not is_private(name)}
    rows, batches = np.arange(len(columns["throughput"])), _batches(columns)
    known = np.isfinite(batches).all(axis=0) & (batches > 0).all(axis=0) if batches is not None else rows < 0
    if batches is None or not known.any():
        return rows, kept
    least, stated = float(batches[:, known].min()), columns["_batch_size"]
    of_device = float(stated[0]) if len(stated) and stated[0] > 0 else 1.0
    batch = of_device * max(1, round(least / of_device))
    seconds = np.where(known, columns["_waits"] + columns["_computes"], batch / kept.pop("throughput"))
    return rows, kept | {"step_seconds": seconds, "batch": np.full(len(rows), batch)}


#: Largest time between the iterations that is ignored, as a share of the printed seconds.
UNSAID = 0.02
#: Unit of the last digit that bars print, in seconds.
_HUNDREDTH = 0.01
#: Largest floating-point error of a number with two decimals, in seconds.
_EXACT = 1e-9


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


def as_timed(columns: Columns) -> Kept:
    """Return the lines of iterations with their seconds, unless the program waited for data between them."""
    rows = np.arange(0 if _waited(columns)[0] else len(columns["clock"]))
    return rows, {name: each[rows] for name, each in columns.items()}


def by_the_clock(columns: Columns) -> Kept:
    """Return the clocks of these lines and the samples between them if the program waited for data."""
    waited, steps = _waited(columns)
    rows = np.arange(len(steps) if waited else 0)
    # The seconds of a line may be missing, such as those of the last line.
    printed = columns["duration"]
    seconds = np.where(np.isnan(printed), np.nanmedian(printed), printed) if waited else printed
    samples = columns["throughput"] * seconds * steps
    kept = {name: each for name, each in columns.items() if name not in ("throughput", "duration")}
    return rows, {name: each[rows] for name, each in {**kept, "samples": samples}.items()}
