"""Measure the progress of a session: the counters of its records, and the totals that its log prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from perfledger.parsers.contract import Column
from perfledger.parsers.contract.statistics import median
from perfledger.parsers.engine.table import SessionRecords

Unit = Literal["epoch", "step"]


@dataclass(frozen=True)
class Counters:
    """The progress of a session.

    Attributes:
        unit: the unit that is counted.
        done: number of the last epoch or step, from 1.
        total: planned number of epochs or steps.
        reached: whether `done` is the last planned one, or the last that the program prints.
    """

    unit: Unit
    done: int
    total: int
    reached: bool


def counters(records: Sequence[SessionRecords], stated: Mapping[str, int]) -> Counters | None:
    """Return the progress of a session; None if its log does not print the planned number of epochs or steps.

    A record of the last epoch does not prove that this epoch ended. The last step of an epoch is not the last of the run.

    Args:
        records: of every reading. The first that counts steps is used, or else the first that counts epochs.
        stated: numeric facts; `total_epochs` and `total_steps` are used if the log states them.
    """
    counted = [each for unit in ("step", "epoch") for each in records if len(each) and unit in each][:1]
    if not counted:
        return None
    epochs, steps = (_counter(counted[0], unit, stated) for unit in ("epoch", "step"))
    if epochs and (not epochs.reached or counted[0].reading.span == "epoch"):
        return epochs
    return steps if steps and (epochs or not len(_known(counted[0], "epoch")) or not steps.reached) else None


def _counter(records: SessionRecords, unit: Unit, stated: Mapping[str, int]) -> Counters | None:
    """Return the progress of one counter: epochs of the run, or steps of the run or of its last epoch."""
    totals, numbers = _known(records, f"total_{unit}s"), _known(records, unit)
    total = float(totals[-1]) if len(totals) else float(stated.get(f"total_{unit}s", 0))
    if not total > 0 or not len(numbers):
        return None
    from_zero = bool(numbers.min() == 0)
    last = float(numbers[-1]) + from_zero
    reached = last >= total or (unit == "step" and _is_last_printed(numbers, total + (not from_zero)))
    return Counters(unit, int(min(last, total)), int(total), reached)


def _is_last_printed(steps: Column, beyond: float) -> bool:
    """Return whether the next printed step would be `beyond` or later, at the usual distance between printed steps."""
    gaps = np.diff(steps)
    usual = median(gaps[gaps > 0]) if (gaps > 0).any() else 1.0
    return float(steps[-1]) + usual >= beyond


def _known(records: SessionRecords, name: str) -> Column:
    column = records[name] if name in records else np.empty(0)
    return column[np.isfinite(column)]
