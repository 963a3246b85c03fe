"""Checkpoints that no line announces: the trainers of Hugging Face save them silently, between two of their lines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perfledger.parsers.contract.statistics import median
from perfledger.parsers.contract.verbs import Column, Columns

#: Steps between two checkpoints of the Hugging Face Trainer, if the session does not state another number (its default).
_SAVE_STEPS = 500.0
#: Seconds that a record with a checkpoint takes beyond the usual ones, at least: clocks of bars are cut to whole seconds.
_LEAST_SECONDS = 2.0
#: The same in usual steps, which also vary.
_LEAST_STEPS = 3.0
#: The same as a share of the usual seconds of the record: records of hundreds of steps vary by some percent.
_LEAST_SHARE = 0.1
#: Fewest slow records that show a period of their own.
_FEWEST = 3
#: Least share of the records at the multiples of a period that are slow, if it is that of checkpoints.
_PERIODIC = 0.9
#: Largest time before the first record, as a share of a checkpoint's; optimisers with a slow step in each period begin
#: with such a step.
_FIRST_STEP = 0.5


def silent_checkpoints(columns: Columns) -> Columns:
    """Mark slow records that may contain a checkpoint, in the column `evaluated`.

    The trainer saves after `saved_every` steps (500 by default), or after each epoch. Another period counts if slow
    records follow its multiples. Any other slow record is training.
    """
    step, clock = columns["step"], columns["clock"]
    steps, seconds = np.diff(step, prepend=np.nan), np.diff(clock, prepend=np.nan)
    paces = seconds / steps
    usual = median(paces[np.isfinite(paces)])
    extra = seconds - usual * steps
    slow = extra >= np.maximum(_LEAST_SECONDS + _LEAST_STEPS * usual, _LEAST_SHARE * usual * steps)
    found = np.zeros(len(step), dtype=np.bool_)
    if slow.any():
        first = float(clock[0] - usual * step[0])
        periods = (*_stated_periods(columns), _shown_period(step[:-1], extra[1:], slow[1:], first))
        for period in periods:
            found |= np.floor((step - 1) / period) * period >= np.maximum(step - steps, 1)
    return columns.assign(evaluated=(found & slow).astype(float))


def _stated_periods(columns: Columns) -> tuple[float, float]:
    """Return the steps between two checkpoints and those of an epoch; NaN for a number that is unknown or not whole."""
    total = columns.get("total_steps", columns["_total_steps"])[0]
    stated, epoch = float(columns["_saved_every"][0]), float(total / columns["_total_epochs"][0])
    return stated if np.isfinite(stated) else _SAVE_STEPS, epoch if epoch.is_integer() else np.nan


def _shown_period(begins: Column, extra: Column, slow: NDArray[np.bool_], first: float) -> float:
    """Return the steps between slow records if nearly all multiples of that number are slow, else NaN.

    Args:
        begins: the step after which each of n records begins.
        extra: seconds of each record beyond the usual ones.
        slow: which records are slow.
        first: seconds beyond the usual ones before the first record.
    """
    if slow.sum() < _FEWEST or first > _FIRST_STEP * float(np.median(extra[slow])):
        return np.nan
    period = float(np.median(np.diff(begins[slow])))
    due = (np.mod(begins, period) == 0) & (begins > 0) if period > 0 else np.zeros_like(slow)
    return period if due.sum() >= _FEWEST and slow[due].mean() >= _PERIODIC else np.nan
