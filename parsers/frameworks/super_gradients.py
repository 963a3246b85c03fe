"""SuperGradients (YOLO-NAS, PP-YOLOE and others): a bar per epoch, of which the complete state counts.

It counts batches of all devices, holds training alone and ends with the memory; `Validating epoch 0` is the validation. Its rate
has two decimals and the time whole seconds: the seconds of an epoch are those of the rate, kept within that second. Loaders
drop a last batch that is smaller; where they do not, the number of images tells which part of a batch it is. Batches that an
update accumulates are steps.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample
from parsers.frameworks.ultralytics import RATE


def _epochs(columns: Columns) -> Postprocessed:
    """Return the last complete state of each epoch's bar."""
    rows = np.flatnonzero(np.diff(columns["epoch"], append=np.nan) != 0)
    found = {name: columns[name][rows] for name in ("epoch", "steps", "memory")}
    elapsed = columns["duration"][rows]
    with np.errstate(divide="ignore"):
        by_rate = found["steps"] * np.fmax(columns["step_seconds"], 1 / columns["steps_per_second"])[rows]
    if len(rows):
        full = columns["_data_set_size"][0] / columns["_batch_size_of_job"][0]
        found["steps"] = np.where(np.ceil(full) == found["steps"], full, found["steps"])
    found["step_seconds"] = np.clip(by_rate, elapsed, elapsed + 1) / found["steps"]
    return rows, found


def _parameter(name: bytes) -> bytes:
    """Return the pattern of one of the training parameters, as they are listed before a run."""
    return rb"^[ \t]++- " + name + rb": ++(\d++)\b"


FORMAT = Format(
    title="SuperGradients",
    framework="PyTorch",
    marker=b"Train epoch ",
    unproven=True,
    start=rb"\bTRAINING PARAMETERS:",
    readings=(
        Reading(
            rb"\bTrain epoch <epoch>: 100%\|[^|\r\n]++\| (?P<steps>[1-9][0-9]*+)/(?P=steps) \[(?P<duration>[0-9:]++)<[0-9:]++, ++" + RATE
            + rb", [^\]\r\n]{0,1000}?gpu_mem=<memory>\]",
            unit="images/s",
            span="epoch",
            factors={"memory": 1e9 / 2**20},
            postprocess=_epochs,
            facts=("data_set_size", "batch_size_of_job"),
        ),
    ),
    facts=(
        Fact("devices", _parameter(rb"Number of GPUs"), int),
        Fact("batch_size", _parameter(rb"Batch size per GPU"), int),
        Fact("batch_size_of_job", _parameter(rb"Total batch size"), int),
        Fact("accumulation", _parameter(rb"Batch Accumulate"), int),
        Fact("data_set_size", _parameter(rb"(?:Full d|D)ataset size"), int),
        Fact("total_epochs", rb"\bStarted training for (\d++) epochs\b", int),
    ),
    samples=(
        Sample(
            "Train epoch 3: 100%|██████████| 64/64 [00:26<00:00,  2.44it/s, PPYoloELoss/loss=1.25, PPYoloELoss/loss_cls=0.5, gpu_mem=8]\n".encode(),
            epoch=3, steps=64, duration=26, steps_per_second=2.44, memory=7629.3945,
        ),
        Sample(
            b"\rTrain epoch 0: 100%|##########| 502/502 [2:15:31<00:00, 16.20s/it, PPYoloELoss/loss=2.18, gpu_mem=0]\n",
            epoch=0, steps=502, duration=8131, step_seconds=16.2,
        ),
        NearMiss(b"Validating epoch 3: 100%|##########| 72/72 [05:59<00:00,  4.99s/it]\n", "the validation"),
        NearMiss(b"Train epoch 3: 100%|##########| 79/79 [00:28<00:00,  2.78it/s]\n", "the bar of another program"),
        NearMiss(b"Train epoch 3:  50%|#####     | 32/64 [00:13<00:13,  2.44it/s, PPYoloELoss/loss=1.25, gpu_mem=8]\n", "half of an epoch"),
        NearMiss(b"Train epoch 3: 100%|##########| 64/64 [00:26<00:00,  2.44it/s, PPYoloELoss/loss=1.25, gpu_me", "cut"),
    ),
)  # fmt: skip
