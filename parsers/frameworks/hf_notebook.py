"""Hugging Face Trainer in a notebook: a bar without a speed, `[300/300 04:12, Epoch 1/1]`, with a table of losses below.

Its steps and its time, cut to whole seconds, are those of the whole run, with evaluations and checkpoints; the speed that
it shows before the end is their quotient. If a run was resumed, the time is that of the last part only: the table then
begins late, and the bar is not read. Several bars in a notebook are not read, since the log does not say which run each
shows. All other lines are those of the Trainer; if the call's own figure is printed (`TrainOutput`), that figure counts.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Format,
    Reading,
    fine,
)
from perfledger.parsers.frameworks.hf_trainer import FORMAT as TRAINER

#: Largest number of intervals before the first row of a table, if the run was not resumed.
_LATE = 1.5


def _whole_run(columns: Columns) -> Columns:
    """Return the rate of the bar of a notebook with one bar, unless it continues from a checkpoint."""
    first, second = columns["_first"], columns["_second"]
    late = first > _LATE * (second - first)
    found = columns.assign(steps_per_second=columns["_done"] / columns["duration"]).drop("duration")
    return found.take(~late & (len(first) == 1) & np.isfinite(found["steps_per_second"]))


FORMAT = Format(
    title="Hugging Face Trainer (notebooks)",
    framework="PyTorch",
    unproven=True,
    start=TRAINER.start,
    before_start=TRAINER.before_start,
    end=rb"\[ *+(?P<total>[0-9]++)/(?P=total) [0-9:]++, Epoch ",
    over=("frameworks.hf_trainer", "frameworks.nvlog"),
    readings=(
        Reading(
            rb"\[ *+(?P<_done>[0-9]++)/[0-9]++ (?P<duration>[0-9:]++)(?: < [0-9:]++, [0-9.]++ (?:it/s|s/it))?+, Epoch [0-9.]++/[0-9]++\]"
            # The first two rows of the table.
            rb"(?:[^\[\]]{0,400}?[\s>](?:Step|Epoch)[\s<][^\[\]]{0,800}?[\s>](?P<_first>[0-9]++)[\s<]"
            rb"(?:[^\[\]]{0,800}?[\s>](?P<_second>[0-9]++)[\s<])?+)?+",
            unit="samples/s",
            span="run",
            per_update=True,
            weak=True,
            verbs=(fine("duration", 1.0, cut=True), _whole_run),
        ),
    ),
    facts=TRAINER.facts,
)  # fmt: skip
