"""FastEstimator: a line per `log_steps` steps, which tells the steps, or in 2019 the examples, of a second.

The timer stands still between two epochs, so that the speed holds no evaluation. `epoch_time` is that of all steps of an
epoch, and contradicts a speed that is far from theirs. No batch size is printed; a batch is that of all devices.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample

#: Ratio up to which the time of a step is as good as the mean of an epoch.
_ALIKE = 1.1


def _held_against_epochs(columns: Columns) -> Postprocessed:
    """Return the records; of those behind an epoch the time of its steps, where it is far from theirs."""
    rows = np.flatnonzero(np.isfinite(columns["steps_per_second"]))
    ends = np.flatnonzero(np.isfinite(columns["_epoch_time"]))
    step, speed = columns["step"], columns["steps_per_second"][rows]
    with np.errstate(all="ignore"):
        means = np.append(np.nan, columns["_epoch_time"][ends] / np.diff(step[ends], prepend=np.nan))
        told = means[np.searchsorted(ends, rows)]
        alike = np.abs(np.log(told * speed)) < np.log(_ALIKE)
        otherwise = np.where(alike, 1 / speed, np.where(told > 0, told, np.nan))
    return rows, {"step": step[rows], "steps_per_second": speed, "seconds_otherwise": otherwise}


_FIELDS = rb"(?:(?!(?:step|example)s/sec: |epoch: )[^\r\n;]{1,60}+; ?+){0,20}+"

FORMAT = Format(
    title="FastEstimator",
    marker=b"FastEstimator-Train: ",
    unproven=True,
    start=rb"FastEstimator-Start: step: ",
    end=rb"FastEstimator-Finish: step: ",
    readings=(
        Reading(
            rb"FastEstimator-Train: step: <step>; (?:epoch: [0-9]++; epoch_time: (?P<_epoch_time>[0-9.]++) sec;|"
            + _FIELDS + rb"steps/sec: <steps_per_second>;)",
            unit="samples/s",
            postprocess=_held_against_epochs,
        ),
        Reading(rb"FastEstimator-Train: step: <step>; " + _FIELDS + rb"examples/sec: <throughput>;", unit="samples/s"),
    ),
    facts=(
        Fact("devices", rb"FastEstimator-Start: [^\n]{0,200}?\bnum_device: (\d++);", int),
        Fact("total_steps", rb"FastEstimator-Start: [^\n]{0,200}?\btotal_train_steps: (\d++);", int),
    ),
    samples=(
        Sample(b"FastEstimator-Train: step: 500; ce: 0.25; steps/sec: 145.25; model_lr: 0.001;\n", step=500, steps_per_second=145.25),
        Sample(b"FastEstimator-Train: step: 500; ce: 0.25; model_lr: 0.001; steps/sec: 145.25; \n", step=500, steps_per_second=145.25),
        Sample(b"FastEstimator-Train: step: 200; loss: 0.25; examples/sec: 5513.5; progress: 3.5%; \n", step=200, throughput=5513.5),
        Sample(b"FastEstimator-Train: step: 1875; epoch: 1; epoch_time: 12.75 sec;\n", step=1875, _epoch_time=12.75),
        NearMiss(b"FastEstimator-Train: step: 1; ce: 2.25; model_lr: 0.001;\n", "the first step"),
        NearMiss(b"FastEstimator-Eval: step: 1875; epoch: 1; accuracy: 0.975; ce: 0.125;\n", "an evaluation"),
        NearMiss(b"FastEstimator-Train: step: 500; ce: 0.25; steps/sec: 145.2", "cut"),
    ),
)  # fmt: skip
