"""MindCV (`train.py`): the seconds of the steps since the line before, at the first batch of an epoch, each
`log_interval` batches and the last one.

With `dataset_sink_mode`, as is usual, there is one line per epoch. Without, the time is that of the steps alone, without the
wait for data between them, which the timestamps tell. Evaluations and checkpoints lie between epochs. A step is a batch of
each device, however many of them an update accumulates.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Pause, Postprocessed, Reading, Trap

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
            verbs=(_counted,),
            pauses=(
                Pause(
                    "epoch_end",
                    rb"Total time since last epoch: ",
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
)  # fmt: skip
