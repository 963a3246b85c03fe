"""ESPnet2 (`espnet2.bin.*_train`): a line per twentieth of an epoch, or per `log_interval` batches, with `train_time`.

That is the seconds of one update with the wait for its data, as a mean over the batches of the line; an update takes
`accum_grad` of them, which is not printed: the dates of the lines give it. The time between two epochs, which includes
the validation, is in no line. Batches differ in size, which is not printed, so that the log gives the time of a batch
and no speed.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import EPOCH_TIMER, Columns, Format, Postprocessed, Reading, every
from perfledger.parsers.frameworks import PYTORCH_JOB

#: How far the batches per update may lie off a whole number.
_WHOLE = 0.1


def _batches(columns: Columns) -> Postprocessed:
    """Return the lines with the seconds of a batch; NaN if the dates do not show how many of them an update takes."""
    steps = columns["step"] - columns["_first"] + 1
    seconds = columns["step_seconds"]
    within = np.diff(columns["epoch"], prepend=np.nan) == 0
    passed = np.diff(columns["clock"], prepend=np.nan)
    ratios = (steps * seconds / np.where(passed > 0, passed, np.nan))[within]
    ratio = float(np.median(ratios[np.isfinite(ratios)])) if np.isfinite(ratios).any() else np.nan
    whole = ratio > 0.5 and abs(ratio / round(ratio) - 1) < _WHOLE
    return every(columns), {**columns, "steps": steps, "step_seconds": seconds / (round(ratio) if whole else np.nan)}


FORMAT = Format(
    title="ESPnet2",
    framework="PyTorch",
    unproven=True,
    start=rb"python[0-9.]*+ -m espnet2\.bin\.(?:[a-z0-9]++_)++train ",
    end="INFO: The training was finished at {_} epochs",
    readings=(
        Reading(
            "{clock} (trainer:{_}) INFO: {epoch}epoch:train:{_first:int}-{step}batch: {?{*} loss={loss},}{*} train_time={step_seconds}",
            unit="samples/s",
            pauses=(EPOCH_TIMER,),
            verbs=(_batches,),
        ),
    ),
    facts=PYTORCH_JOB,
)
