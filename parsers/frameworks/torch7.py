"""Torch7's residual networks (`fb.resnet.torch`) and what is made of them: a line per batch with its seconds.

They hold the wait for data, and count all devices. Neither speed nor batch size is printed. `| Test:` lines are the
validation.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample

FORMAT = Format(
    title="Torch7, residual networks",
    framework="Torch7",
    marker=b"| Epoch: [",
    unproven=True,
    start=rb"=> (?:Creating|Loading) model from file: ",
    before_start=rb"^=> Resuming training from latest checkpoint|^=> Loading checkpoint ",
    readings=(
        Reading(
            rb"\| Epoch: \[<epoch>\]\[<step>/<total_steps>\] ++Time <step_seconds> ++Data <reader_seconds> ++Err <loss> ++top1 ",
            unit="images/s",
            span="step",
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"-batchSize ++([0-9]++)\b", int),
        Fact("devices", rb"-nGPU ++([0-9]++)\b", int),
    ),
    samples=(
        Sample(
            b" | Epoch: [3][200/5004]    Time 0.625  Data 0.125  Err 2.5000  top1  52.500  top5  25.250\n",
            epoch=3, step=200, total_steps=5004, step_seconds=0.625, reader_seconds=0.125, loss=2.5,
        ),
        NearMiss(b" | Test: [3][200/782]    Time 0.625  Data 0.125  top1  52.500 ( 51.250)  top5  25.250 ( 24.125)\n", "the validation"),
        NearMiss(b" | Epoch: [3][200/5004]    Time 0.625  Data 0.12", "cut inside the number"),
    ),
)  # fmt: skip
