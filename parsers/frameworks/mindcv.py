"""MindCV (`train.py`): the seconds of the steps since the line before, at the first batch of an epoch, each
`log_interval` batches and the last one.

With `dataset_sink_mode`, as is usual, there is one line per epoch. Without, the time is that of the steps alone, without the
wait for data between them, which the timestamps tell. Evaluations and checkpoints lie between epochs. A step is a batch of
each device, however many of them an update accumulates.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, NearMiss, Pause, Postprocessed, Reading, Sample, Trap

_HEAD = rb"Epoch: \[<epoch>/<total_epochs>\], batch: \[<step>/<total_steps>\], "


def _counted(columns: Columns) -> Postprocessed:
    """Return the lines with the steps that they cover, since the line before or the begin of the epoch."""
    step = columns["step"]
    within = (np.diff(columns["epoch"], prepend=np.nan) == 0) & (np.diff(step, prepend=np.nan) > 0)
    return np.arange(len(step)), {**columns, "steps": np.where(within, np.diff(step, prepend=0.0), step)}


FORMAT = Format(
    title="MindCV",
    framework="MindSpore",
    marker=b"], batch: [",
    unproven=True,
    start=rb"Essential Experiment Configurations:",
    end=rb"\bFinish training!",
    readings=(
        Reading(
            _HEAD + rb"loss: <loss>, lr: [0-9.e+-]++, time: <duration>s",
            unit="images/s",
            postprocess=_counted,
            pauses=(
                Pause(
                    "epoch_end",
                    rb"Total time since last epoch: ",
                    b"[2026-11-20 10:01:00] mindcv.utils.callbacks INFO - Total time since last epoch: 60.500000(train: 50.250000, "
                    b"val: 10.000000)s, ETA: 605.000000s",
                    inside="none",
                ),
            ),
            trap=Trap("clock", "outside_step_time", most=3.0),
        ),
    ),
    facts=(
        Fact("devices", rb"^Number of devices: (\d++)$", int),
        Fact("batch_size", rb"^Batch size: (\d++)$", int),
        Fact("model", rb"^Model: ([\w.+-]++)$"),
        Fact("total_epochs", rb"^Number of epochs: (\d++)$", int),
        Fact("precision", rb"^Auto mixed precision: (O[0-3])$", words={b"O0": "fp32", b"O1": "amp", b"O2": "amp", b"O3": "fp16"}),
    ),
    samples=(
        Sample(
            b"[2026-11-20 10:00:40] mindcv.utils.callbacks INFO - Epoch: [1/12], batch: [200/390], loss: 6.875000, lr: 0.050000, time: 25.500000s",
            epoch=1, total_epochs=12, step=200, total_steps=390, loss=6.875, duration=25.5,
        ),
        NearMiss(b"Validation Top_1_Accuracy: 50.0000%, time: 10.000000s", "an evaluation"),
        NearMiss(b"Epoch: [1/12], batch: [200/390], loss: 6.875000, lr: 0.050000, time: 25.5000", "cut inside the time"),
    ),
)  # fmt: skip
