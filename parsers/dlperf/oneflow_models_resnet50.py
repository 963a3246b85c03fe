"""OneFlow's models (`oneflow.nn`), ResNet-50 (`train.py`): a line per `--print-interval` iterations, and at each epoch's end.

`throughput` counts the batch of one device since the last line; every rank prints its own unless `--metric-local
False`. Evaluations end with a line of the same form, `[eval]`, and lie outside; a checkpoint lies in the record that
follows it.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample
from perfledger.parsers.dlperf import argument, dotted_start

FORMAT = Format(
    title="OneFlow ResNet-50 (models)",
    framework="OneFlow",
    marker=b"] [train], epoch: ",
    start=dotted_start(rb"zero_init_residual"),
    unproven=True,
    readings=(
        Reading(
            rb"\[rank:[0-9]++\] \[train\], epoch: <epoch>/<total_epochs>, iter: <step>/<total_steps>, loss: <loss>, (?:lr: [0-9.e-]++, )?+"
            rb"top1: <accuracy>, throughput: <throughput>(?:, timestamp: [0-9.]++)?+ \| "
            rb"(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})",
            unit="images/s",
            scope="device",
            repeated=True,
            pauses=(
                Pause(
                    "evaluation",
                    rb"\[eval\], epoch: ",
                    b"[rank:0] [eval], epoch: 0/50, iter: 195/195, loss: 0.00000, top1: 0.12500, throughput: 1200.50 | 2026-11-20 10:05:00.250",
                    inside="none",
                ),
                Pause("checkpoint", rb"Saving model to ", b"Saving model to ./checkpoints/epoch_0_val_acc_0.125"),
            ),
        ),
    ),
    facts=(
        Fact("model", rb"^ *+(zero_init_residual) \.", lambda _: "ResNet50"),
        argument("batch_size", "train_batch_size"),
        argument("batch_size_of_job", "train_global_batch_size"),
        argument("num_classes", "num_classes"),
        Fact("precision", rb"^ *+use_fp16 \.++ (\w++)", words={b"True": "amp", b"False": "fp32"}),
    ),
    samples=(
        Sample(
            b"[rank:0] [train], epoch: 0/50, iter: 100/5004, loss: 6.90625, top1: 0.00125, throughput: 376.25 | 2026-11-20 10:00:00.250\n",
            epoch=0, total_epochs=50, step=100, total_steps=5004, loss=6.90625, accuracy=0.00125, throughput=376.25, clock=1795168800.25,
        ),
        Sample(
            b"[rank:3] [train], epoch: 2/50, iter: 5004/5004, loss: 5.5, lr: 0.256000, top1: 0.00125, throughput: 376.25, timestamp: 1234.567890 "
            b"| 2026-11-20 10:00:00.250\n",
            epoch=2, step=5004, throughput=376.25,
        ),
        NearMiss(
            b"[rank:0] [eval], epoch: 0/50, iter: 195/195, loss: 0.00000, top1: 0.12500, throughput: 1200.50 | 2026-11-20 10:05:00.250\n", "an evaluation",
        ),
        NearMiss(b"[rank:0] [train], epoch: 0/50, iter: 100/5004, loss: 6.90625, top1: 0.00125, throughput: 376.2", "cut inside the number"),
    ),
)  # fmt: skip
