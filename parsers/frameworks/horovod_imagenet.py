"""Horovod's `pytorch_imagenet_resnet50.py` and what is made of it: a bar per epoch, drawn by the first process.

The first complete state counts, by the time of the epoch, which is cut to whole seconds. Bars of the validation begin
with other words. A step is a batch of each device; the batch size and the number of devices are not printed.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Format, NearMiss, Postprocessed, Reading, Sample
from parsers.contract.coarse import whole_seconds


def _epochs(columns: Columns) -> Postprocessed:
    """Return the first complete state of each epoch's bar; no seconds where they are too few to be told."""
    rows = np.flatnonzero(np.diff(columns["epoch"], prepend=np.nan) != 0)
    found = {name: each[rows] for name, each in columns.items()}
    return rows, found | {"duration": whole_seconds(found["duration"])}


FORMAT = Format(
    title="Horovod, ImageNet",
    framework="PyTorch",
    marker=b"Train Epoch ",
    unproven=True,
    readings=(
        Reading(
            rb"Train Epoch ++#<epoch>: 100%\|[^|\r\n]++\| (?P<steps>[0-9]++)/(?P=steps) \[(?P<duration>[0-9:]++)<[0-9:]++, "
            rb"++[0-9.]++(?:it/s|s/it), loss=<loss>(?=[,\]])",
            unit="images/s",
            span="epoch",
            postprocess=_epochs,
        ),
    ),
    samples=(
        Sample(
            b"\rTrain Epoch     #3: 100%|##########| 625/625 [05:12<00:00,  2.00it/s, loss=5.25, accuracy=4.5]\n",
            epoch=3, steps=625, duration=312, loss=5.25,
        ),
        NearMiss(b"\rTrain Epoch     #3:  72%|#######1  | 450/625 [03:45<01:27,  2.00it/s, loss=5.25, accuracy=4.5]\n", "half of an epoch"),
        NearMiss(b"\rValidate Epoch  #3: 100%|##########| 25/25 [00:12<00:00,  2.00it/s, loss=5.25, accuracy=4.5]\n", "validation"),
        NearMiss(b"\rTrain Epoch     #3: 100%|##########| 625/625 [05:12<00:00,  2.00it/s, loss=5.2", "cut inside the number"),
    ),
)  # fmt: skip
