"""NVIDIA NeMo over Lightning until 2023, and AWS's fork for Trainium: bars that print no `train_step_timing`.

The time is that of the bar, in whole seconds since the epoch began. It contains the wait for data, the validations and the
checkpoints. A step is an update of the global batch, of all devices; `global_step` is printed late, so that the count
of the bar is the step. `consumed_samples` is rounded to three digits: over all of the run it shows whether the steps
contain the stated batch, which may still grow. The `iteration_time` of the fork, which leaves out what it logs, is not
read. A state is drawn several times.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, Kept, Pause, Reading, lacks
from perfledger.parsers.frameworks.nemo import FORMAT as NEMO

#: Share by which another batch differs, in addition to rounding.
_OTHER = 0.05
#: Share by which a count of three digits is rounded.
_ROUNDED = 0.005


def _counted(columns: Columns) -> Kept:
    """Return all states, with the samples of a step where those that are counted are not the stated ones.

    They are a mean over all states after the first fifth.
    """
    rows = np.arange(len(columns["step"]))
    found = dict(columns)
    first = len(rows) // 5
    counts, steps = (columns[name][[first, -1]] for name in ("_consumed", "step"))
    with np.errstate(all="ignore"):
        batch = (counts[1] - counts[0]) / (steps[1] - steps[0])
        off = _OTHER + _ROUNDED * counts.sum() / (counts[1] - counts[0])
        ratio = batch / columns["_batch_size_of_job"][0]
    one_epoch = (np.diff(columns["step"]) >= 0).all()  # The bar counts those of an epoch.
    if not (one_epoch and batch > 0 and np.isfinite(ratio) and abs(np.log(ratio)) > np.log1p(off)):
        return rows, found
    return rows, {**found, "batch": np.full(len(rows), batch)}


FORMAT = Format(
    title="NeMo's bars without a timing",
    framework="NeMo",
    unproven=True,
    start=NEMO.start,
    before_start=NEMO.before_start,
    end=NEMO.end,
    readings=(
        Reading(
            "Epoch {epoch}:{*}%|{*}| {step}/{total_steps} [{elapsed}<{_left:length},{*} reduced_train_loss={loss},{*} consumed_samples={_consumed}",
            where=lacks("train_step_timing in s="),
            unit="samples/s",
            per_update=True,
            ranks="median",
            verbs=(_counted,),
            pauses=(
                Pause("evaluation", rb"Validati(?:on(?: DataLoader [0-9]++)?+|ng): "),
                Pause("checkpoint", ", saving model to '"),
            ),
        ),
    ),
    facts=NEMO.facts,
)  # fmt: skip
