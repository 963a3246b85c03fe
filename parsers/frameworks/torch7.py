"""Torch7's networks for ImageNet (`fb.resnet.torch`, `imagenet-multiGPU.torch`) and what is made of them: a line per batch.

The seconds count all devices. Those of `fb.resnet.torch` hold the wait for data; those of `imagenet-multiGPU.torch` do
not, and a step is both together. There the wait of an epoch's first batch holds the validation and the checkpoint before
it. No speed is printed. `| Test:` and `Testing` lines are the validation.
"""

import numpy as np

from parsers.contract import Columns, Fact, Format, NearMiss, Pause, Postprocessed, Reading, Sample


def _with_data(columns: Columns) -> Postprocessed:
    """Return all lines, with the seconds of a step: those of the batch, and those of the wait before it."""
    found = {name: each for name, each in columns.items() if name != "_batch"}
    rows = np.arange(len(columns["step"]))
    return rows, found | {"step_seconds": columns["_batch"] + columns["reader_seconds"]}


FORMAT = Format(
    title="Torch7, networks for ImageNet",
    framework="Torch7",
    marker=b" Err ",
    unproven=True,
    start=rb"=> (?:Creating|Loading) model from file: ",
    before_start=rb"^=> Resuming training from latest checkpoint|^=> Loading checkpoint ",
    readings=(
        Reading(
            rb"\| Epoch: \[<epoch>\]\[<step>/<total_steps>\] ++Time <step_seconds> ++Data <reader_seconds> ++Err <loss> ++top1 ",
            unit="images/s",
            span="step",
        ),
        Reading(
            rb"Epoch: \[<epoch>\]\[<step>/<total_steps>\]\s++Time (?P<_batch>[0-9.]++) Err <loss> Top1-%: \S++ LR \S++ DataLoadingTime <reader_seconds>(?=\s)",
            unit="images/s",
            span="step",
            postprocess=_with_data,
            pauses=(
                Pause(
                    "evaluation",
                    rb"==> doing epoch on validation data:",
                    b"==> doing epoch on validation data:\n",
                ),
            ),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"-batchSize ++([0-9]++)\b", int),
        Fact("devices", rb"-nGPU ++([0-9]++)\b", int),
        # A table as Lua prints it.
        Fact("batch_size_of_job", rb"^ *+batchSize : ([0-9]++)$", int),
        Fact("devices", rb"^ *+nGPU : ([0-9]++)$", int),
    ),
    samples=(
        Sample(
            b" | Epoch: [3][200/5004]    Time 0.625  Data 0.125  Err 2.5000  top1  52.500  top5  25.250\n",
            epoch=3, step=200, total_steps=5004, step_seconds=0.625, reader_seconds=0.125, loss=2.5,
        ),
        Sample(
            b"Epoch: [3][200/10000]\tTime 0.625 Err 2.5000 Top1-%: 52.50 LR 1e-02 DataLoadingTime 0.125\n",
            epoch=3, step=200, total_steps=10000, _batch=0.625, reader_seconds=0.125, loss=2.5,
        ),
        NearMiss(b" | Test: [3][200/782]    Time 0.625  Data 0.125  top1  52.500 ( 51.250)  top5  25.250 ( 24.125)\n", "the validation"),
        NearMiss(b" | Epoch: [3][200/5004]    Time 0.625  Data 0.12", "cut inside the number"),
        NearMiss(b"Epoch: [3][200/10000]\tTime 0.625 Err 2.5000 Top1-%: 52.50 LR 1e-02 DataLoadingTime 0.12", "cut inside the number"),
    ),
)  # fmt: skip
