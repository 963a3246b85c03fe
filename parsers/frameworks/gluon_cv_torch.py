"""GluonCV's trainers in PyTorch (video classification, DirectPose) and the many loops made after them.

Source: GluonCV's `gluoncv/torch/utils/task_utils`. Every few steps four lines describe one step on rank 0: its seconds,
with the wait for its data, in three decimals. Those of DirectPose are one line, with the slowest rank's. The steps
between are in no line, so that a stall shows by chance only. No line states the batch.
"""

from __future__ import annotations

from perfledger.parsers.contract import Format, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="GluonCV (PyTorch)",
    framework="PyTorch",
    unproven=True,
    readings=(
        Reading(
            "^Epoch: [{epoch}][{step}/{total_steps}]\n{?memory used: {_}\n}data_time: {reader_seconds}, batch time: {step_seconds}\nloss: {loss}",
            unit="samples/s",
            span="step",
        ),
        Reading(
            "Iter: [{step}/{total_steps}]{*}data_time: {reader_seconds}, batch time: {step_seconds} loss: {loss}",
            unit="samples/s",
            span="step",
        ),
    ),
    facts=PYTORCH_JOB,
)  # fmt: skip
