"""Tensorpack (ResNet, Faster R-CNN and others): a line per epoch with the seconds of its steps.

What stands behind an epoch, such as an evaluation and the checkpoint, is not in them. Where `ThroughputTracker` prints
the samples per second, which its user counts for the whole job, these count. Steps are of the run; the batch size is
not printed.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Format, NearMiss, Postprocessed, Reading, Sample
from parsers.contract.statistics import median
from parsers.frameworks import TENSORFLOW_GPU

_PARTS = {"_days": 86_400.0, "_hours": 3_600.0, "_minutes": 60.0, "_seconds": 1.0}


def _epochs(columns: Columns) -> Postprocessed:
    """Return the epochs with their seconds, and the steps since the epoch before."""
    step = columns["step"]
    gaps = np.diff(step)
    usual = median(gaps[gaps > 0]) if (gaps > 0).any() else step / np.maximum(columns["epoch"], 1)
    steps = np.diff(step, prepend=np.nan)
    found = {"epoch": columns["epoch"], "step": step, "steps": np.where(steps > 0, steps, usual)}
    seconds = sum(np.nan_to_num(columns[each]) * worth for each, worth in _PARTS.items())
    return np.arange(len(step)), found | {"duration": np.asarray(seconds, dtype=np.float64)}


FORMAT = Format(
    title="Tensorpack",
    framework="TensorFlow",
    marker=b".py:",
    unproven=True,
    start=rb"@logger\.py:[0-9]++\] Argv: ",
    end=rb"@base\.py:[0-9]++\] Training has finished!",
    readings=(
        Reading(
            rb"@monitor\.py:[0-9]++\] (?:[\w.-]++/)?+Throughput \(samples/sec\): <throughput>(?=\s)",
            unit="samples/s",
            marker=b"Throughput (samples/sec): ",
        ),
        Reading(
            rb"@base\.py:[0-9]++\] Epoch <epoch> \(global_step <step>\) finished, time:(?:<_days> days?,? ?)?+(?:<_hours> hours?,? ?)?+"
            rb"(?:<_minutes> minutes?,? ?)?+(?:<_seconds> sec(?:onds?)?+)?+\.",
            unit="samples/s",
            span="epoch",
            marker=b" finished, time:",
            postprocess=_epochs,
        ),
    ),
    facts=(TENSORFLOW_GPU,),
    samples=(
        Sample(
            b"[1120 10:11:12 @base.py:283] Epoch 16 (global_step 8000) finished, time:1 minute 49 seconds.\n",
            epoch=16, step=8000, _minutes=1, _seconds=49,
        ),
        Sample(b"[1120 10:11:12 @base.py:260] Epoch 2 (global_step 1000) finished, time:45.25 sec.\n", epoch=2, step=1000, _seconds=45.25),
        Sample(b"[1120 10:11:12 @base.py:283] Epoch 3 (global_step 90000) finished, time:2 hours 5 minutes.\n", _hours=2, _minutes=5),
        Sample(b"[1120 10:11:12 @monitor.py:474] Throughput (samples/sec): 36.5\n", throughput=36.5),
        NearMiss(b"[1120 10:11:12 @timer.py:45] Load annotations finished, time:0.0203 sec.\n", "something else that took time"),
        NearMiss(b"[1120 10:11:12 @base.py:283] Epoch 16 (global_step 8000) finished, time:1 minute 4", "cut inside the number"),
    ),
)  # fmt: skip
