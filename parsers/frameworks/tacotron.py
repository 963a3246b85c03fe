"""Tacotron in TensorFlow (keithito's, Tacotron-2 and what is made of them): a line per step, with a mean of seconds.

The mean is of the last hundred steps of the program, so that every hundredth line counts, from the hundredth on: then no
step counts twice. The seconds are those of the step, with the wait for its data; checkpoints and evaluations are not in them.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample

#: Over how many steps the mean is taken.
_STEPS = 100


def _once(columns: Columns) -> Postprocessed:
    """Return every hundredth line, whose means have no step in common."""
    step = columns["step"]
    since = step - step[:1] + 1
    rows = np.flatnonzero((since >= _STEPS) & (since % _STEPS == 0))
    found = {name: each[rows] for name, each in columns.items()}
    return rows, found | {"steps": np.full(len(rows), float(_STEPS))}


FORMAT = Format(
    title="Tacotron",
    framework="TensorFlow",
    marker=b" sec/step, loss=",
    unproven=True,
    start=rb"Starting new training run at commit: |Resuming from checkpoint: \S++ at commit: ",
    before_start=rb"^Checkpoint path: |^Loading training data from: |^Using model: |^Hyperparameters:",
    readings=(
        Reading(
            rb"\bStep ++<step> ++\[<step_seconds> sec/step, loss=<loss>, avg_loss=",
            unit="samples/s",
            postprocess=_once,
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"^ *+(?:tacotron_)?+batch_size: ([0-9]++)$", int),
        Fact("devices", rb"^ *+tacotron_num_gpus: ([0-9]++)$", int),
    ),
    samples=(
        Sample(b"Step 200     [1.250 sec/step, loss=0.12500, avg_loss=0.25000]\n", step=200, step_seconds=1.25, loss=0.125),
        Sample(
            b"[2026-11-20 12:00:00.500]  Step     200 [1.250 sec/step, loss=0.12500, avg_loss=0.25000]\n", step=200, step_seconds=1.25,
        ),
        NearMiss(b"Generated 32 batches of size 32 in 12.500 sec\n", "the data"),
        NearMiss(b"Step 200     [1.250 sec/step, loss=0.12500, av", "cut"),
    ),
)  # fmt: skip
