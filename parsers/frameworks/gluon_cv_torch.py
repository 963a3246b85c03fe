"""GluonCV's trainers in PyTorch (video classification, DirectPose) and the many loops made after them.

Source: GluonCV's `gluoncv/torch/utils/task_utils`. Every few steps four lines describe one step on rank 0: its seconds,
with the wait for its data, in three decimals. Those of DirectPose are one line, with the slowest rank's. The steps
between are in no line, so that a stall shows by chance only. No line states the batch.
"""

from __future__ import annotations

from perfledger.parsers.contract import Format, NearMiss, Reading, Sample
from perfledger.parsers.frameworks import PYTORCH_JOB

_TIMES = rb"data_time: <reader_seconds>, batch time: <step_seconds>"

FORMAT = Format(
    title="GluonCV (PyTorch)",
    framework="PyTorch",
    marker=b"batch time: ",
    unproven=True,
    readings=(
        Reading(
            rb"(?<![^\r\n])Epoch: \[<epoch>\]\[<step>/<total_steps>\][ \t\r]*+\n(?:memory used: [0-9]++MB[ \t\r]*+\n)?+"
            + _TIMES + rb"[ \t\r]*+\nloss: <loss>(?=[\s,])",
            unit="samples/s",
            span="step",
        ),
        Reading(
            rb"Iter: \[<step>/<total_steps>\](?: ETA: (?:[0-9]++ days?+, )?+[0-9:]++)?+ ++" + _TIMES + rb" loss: <loss>(?=\s)",
            unit="samples/s",
            span="step",
        ),
    ),
    facts=PYTORCH_JOB,
    samples=(
        Sample(
            b"lr:  0.01\nEpoch: [2][40/900]\ndata_time: 0.125, batch time: 0.875\nloss: 4.50000\nTop-1 accuracy: 5.00%, Top-5 accuracy: 15.00%\n",
            epoch=2, step=40, total_steps=900, reader_seconds=0.125, step_seconds=0.875, loss=4.5,
        ),
        Sample(
            b"Epoch: [2][40/900]\nmemory used: 9000MB\ndata_time: 0.125, batch time: 0.875\nloss: 4.50000, grad_norm: 1.50000\n", step=40, loss=4.5,
            step_seconds=0.875,
        ),
        Sample(
            b"Iter: [40/9000] ETA: 1 day, 2:03:04  data_time: 0.125, batch time: 0.875 loss: 4.50000 loss_cls: 1.25\n",
            step=40, total_steps=9000, reader_seconds=0.125, step_seconds=0.875, loss=4.5,
        ),
        NearMiss(b"----validation----\nProcess: [40/90]\ndata_time: 0.125, batch time: 0.875\n", "a validation"),
        NearMiss(b"Epoch: [2][40/900]\ndata_time: 0.125, batch time: 0.8", "cut inside the number"),
    ),
)  # fmt: skip
