"""How far a session came, by the counters of its records and what its log says that they count up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from parsers.contract import Column
from parsers.engine.table import SessionRecords


@dataclass(frozen=True)
class Progress:
    """The last epoch or step, counted from 1, and how many there were to be."""

    unit: Literal["epoch", "step"]
    done: int
    total: int
    reached: bool


def progress(records: Sequence[SessionRecords], stated: Mapping[str, int]) -> Progress | None:
    """Return how far a session came; None where its log does not say how far it was to go.

    Args:
        records: of every reading. The first that prints its steps is used.
        stated: the facts `total_epochs` and `total_steps`, where the log states them.
    """
    counted = next((each for each in records if len(each) and "step" in each), None)
    counted = counted or next((each for each in records if len(each) and "epoch" in each), None)
    if counted is None:
        return None
    epochs, steps = (_counted(counted, unit, stated) for unit in ("epoch", "step"))
    return epochs if epochs and not epochs.reached else steps or epochs


def _counted(records: SessionRecords, unit: Literal["epoch", "step"], stated: Mapping[str, int]) -> Progress | None:
    """Return how far one counter came: epochs of the run, or steps of the run or of its last epoch."""
    name = f"total_{unit}s"
    totals = _known(records, name)
    total = float(totals[-1]) if len(totals) else float(stated.get(name, 0))
    numbers = _known(records, unit)
    if not total > 0 or not len(numbers):
        return None
    last, from_zero = float(numbers[-1]), bool(numbers.min() == 0)
    reached = last + from_zero >= total or (unit == "step" and _is_last_printed(numbers, total, from_zero))
    return Progress(unit, int(min(last + from_zero, total)), int(total), reached)


def _is_last_printed(steps: Column, total: float, from_zero: bool) -> bool:
    """Return whether the next step that a printer of every nth step prints would lie beyond the total."""
    gaps = np.diff(steps)
    usual = float(np.median(gaps[gaps > 0])) if (gaps > 0).any() else 1.0
    return float(steps[-1]) + usual >= total + (not from_zero)


def _known(records: SessionRecords, name: str) -> Column:
    if name not in records:
        return np.empty(0)
    column = records[name]
    return column[np.isfinite(column)]
