"""Detectron of 2018 (Caffe2, `tools/train_net.py`): a row of JSON per 20 iterations.

`time` is the mean seconds of an iteration since the timer was begun anew, which it is once, behind the second row of
the program; rows up to there hold the slow first iterations and are left out. It leaves out what happens between
iterations, such as checkpoints. `IMS_PER_BATCH` is that of a device.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample
from parsers.frameworks import value

#: Rows before the timer is begun anew.
_FIRST = 2


def _since_begun(columns: Columns) -> Postprocessed:
    """Return the rows behind the second, with the iterations since the timer was begun anew; the last of these is printed."""
    rows = np.arange(min(_FIRST, len(columns["step"])), len(columns["step"]))
    found = {name: each[rows] for name, each in columns.items()}
    return rows, found | {"step": found["step"] - columns["step"][:_FIRST].max(initial=0.0)}


FORMAT = Format(
    title="Detectron",
    framework="Caffe2",
    marker=b"json_stats: {",
    unproven=True,
    start=rb"\bINFO train_net\.py: ++[0-9]++: Called with args:",
    readings=(
        Reading(
            rb"json_stats: \{"
            + value(rb"iter", rb"<step>")
            + value(rb"loss", rb"<loss>")
            + value(rb"mb_qsize", rb"[0-9]++")
            + value(rb"mem", rb"(?P<memory>[0-9]++)", needed=False)
            + value(rb"time", rb"<step_seconds>")
            + rb"[^\r\n{}]++\}",
            unit="images/s",
            cumulative_since=1,
            postprocess=_since_begun,
        ),
    ),
    facts=(
        Fact("batch_size", rb"'IMS_PER_BATCH': (\d++)[,}]", int),
        Fact("devices", rb"'NUM_GPUS': (\d++)[,}]", int),
        Fact("total_steps", rb"'MAX_ITER': (\d++)[,}]", int),
        Fact("model", rb"\bcfg_file='(?:[^'/\n]*+/)*+([\w+-]++)\.yaml'"),
    ),
    samples=(
        Sample(
            b'json_stats: {"accuracy_cls": 0.875000, "eta": "0:21:51", "iter": 5500, "loss": 0.625000, "loss_bbox": 0.125000, "lr": 0.002500, '
            b'"mb_qsize": 64, "mem": 3084, "time": 0.250500}\n',
            step=5500, loss=0.625, memory=3084, step_seconds=0.2505,
        ),
        NearMiss(
            b'json_stats: {"_type": "train_iter", "epoch": "3/200", "eta": "1:12:41", "iter": "20/344", "loss": 1.63, "time_diff": 0.5}\n',
            "PySlowFast",
        ),
        NearMiss(b'json_stats: {"eta": "0:21:51", "iter": 5500, "loss": 0.625000, "lr": 0.002500, "mb_qsize": 64, "mem": 3084, "time": 0.2', "cut"),
    ),
)  # fmt: skip
