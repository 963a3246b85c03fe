"""Mozilla's DeepSpeech and Coqui's STT: a bar per epoch with the seconds since its beginning and the steps in them.

The last state of an epoch counts; its seconds are cut to whole ones, which tell nothing of short epochs. The evaluation
has a bar of its own behind it. The batch size of one device is read from a command that the log holds; how many devices
train is not printed.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample
from parsers.contract.coarse import whole_seconds


def _epochs(columns: Columns) -> Postprocessed:
    """Return the last state of each bar as the seconds and the steps of an epoch."""
    epoch, steps = columns["epoch"], columns["steps"]
    begins = (np.diff(epoch, append=np.nan) != 0) | (np.diff(steps, append=np.nan) < 0)
    rows = np.flatnonzero(begins & (steps > 0))
    found = {name: each[rows] for name, each in columns.items()}
    return rows, found | {"duration": whole_seconds(found["duration"])}


FORMAT = Format(
    title="DeepSpeech",
    framework="TensorFlow",
    marker=b" | Elapsed Time: ",
    unproven=True,
    start=rb"\bI STARTING Optimization",
    before_start=rb"\bI (?:Could not find best validating checkpoint|Could not find most recent checkpoint|Initializing all variables|Loading \w++ )",
    end=rb"\bI FINISHED optimization",
    readings=(
        Reading(
            rb"\bEpoch <epoch> \| ++Training \| Elapsed Time: (?P<duration>(?:[0-9]++ days?, )?+[0-9]++:[0-9]{2}:[0-9]{2}) \| Steps: "
            rb"(?P<steps>[0-9]++) \| Loss: <loss>(?=\s)",
            unit="samples/s",
            span="epoch",
            postprocess=_epochs,
        ),
    ),
    facts=(
        Fact("batch_size", rb"--train_batch_size(?:=|\s++)([0-9]++)\b", int),
        Fact("total_epochs", rb"--epochs?(?:=|\s++)([0-9]++)\b", int),
    ),
    samples=(
        Sample(
            b"Epoch 3 |   Training | Elapsed Time: 0:02:05 | Steps: 500 | Loss: 39.250000                    \n",
            epoch=3, duration=125, steps=500, loss=39.25,
        ),
        NearMiss(b"Epoch 3 | Validation | Elapsed Time: 0:00:05 | Steps: 22 | Loss: 31.250000 | Dataset: dev.csv\n", "an evaluation"),
        NearMiss(b"Epoch 3 |   Training | Elapsed Time: 0:02:05 | Steps: 50", "cut inside the number"),
    ),
)  # fmt: skip
