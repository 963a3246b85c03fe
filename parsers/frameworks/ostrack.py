"""OSTrack and the trackers derived from it, on the trainer of PyTracking: a line per `print_interval` batches of an epoch.

`FPS` is a mean over all batches since the epoch began, with the wait for data, which is undone; in brackets stands the
speed of the last batch. It counts the samples of one process, and so of one device. `TotalTime` is the seconds of a
batch by the same clock, and may only contradict it. The log file is that of the first process; on the screen each
prints its own. PyTracking and STARK print no `TotalTime`: there one process may train on several devices, and no line
says so.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample, is_private
from parsers.contract.coarse import far_enough
from parsers.contract.proportional import in_proportion

#: What is lost of seconds with three decimals, and what two speeds have lost together by one decimal, as a share of the
#: seconds of a record.
_ROUNDS, _LOST, _SHARE = 0.0005, 0.1, 0.02


def _against_seconds(columns: Columns) -> Postprocessed:
    """Return the lines that tell enough of what is new, with how far their speeds are those of a batch over its seconds."""
    speeds, seconds, batch = columns["throughput"], columns["_seconds"], float(columns["_batch_size"][0])
    with np.errstate(all="ignore"):
        rate = 1.0 / seconds
        agreement = in_proportion(speeds, rate, rate * _ROUNDS / seconds, batch if np.isfinite(batch) else None)
        rows = far_enough(columns["step"], columns["step"] * _LOST / _SHARE / speeds)
    found = {**columns, **agreement}
    return rows, {name: each[rows] for name, each in found.items() if not is_private(name)}


_IN_TRAIN = rb"^TRAIN configuration: (?:[^\n']++|'(?!%s': ))*+'%s': ([0-9]++)\b"

FORMAT = Format(
    title="OSTrack",
    framework="PyTorch",
    unproven=True,
    marker=b"  ,  TotalTime: ",
    start=rb"(?m)^New configuration is shown below\.",
    before_start=rb"^script_name: ",
    end=rb"^Finished training!",
    readings=(
        Reading(
            rb"\[train: <epoch>, <step> / <total_steps>\] FPS: <throughput> \([0-9.]++\)  ,  DataTime: [0-9.]++ \([0-9.]++\)  ,  "
            rb"ForwardTime: [0-9.]++  ,  TotalTime: (?P<_seconds>[0-9.]++)(?:  ,  Loss/total: <loss>)?+(?=\s)",
            unit="samples/s",
            scope="device",
            cumulative_since=1,
            repeated=True,
            postprocess=_against_seconds,
            facts=("batch_size",),
        ),
    ),
    facts=(
        Fact("batch_size", _IN_TRAIN % (rb"BATCH_SIZE", rb"BATCH_SIZE"), int),
        Fact("total_epochs", _IN_TRAIN % (rb"EPOCH", rb"EPOCH"), int),
    ),
    samples=(
        Sample(
            b"[train: 2, 50 / 1875] FPS: 64.0 (60.5)  ,  DataTime: 0.125 (0.002)  ,  ForwardTime: 0.373  ,  TotalTime: 0.500  ,  "
            b"Loss/total: 1.25000  ,  Loss/giou: 0.50000  ,  IoU: 0.62500\n",
            epoch=2, step=50, total_steps=1875, throughput=64, loss=1.25,
        ),
        NearMiss(
            b"[val: 20, 50 / 312] FPS: 128.0 (120.5)  ,  DataTime: 0.125 (0.002)  ,  ForwardTime: 0.123  ,  TotalTime: 0.250  ,  Loss/total: 1.25000\n",
            "an evaluation",
        ),
        NearMiss(
            b"[train: 2, 50 / 1000] FPS: 64.0 (60.5)  ,  Loss/total: 1.25000  ,  Loss/iou: 0.50000\n", "one process of one or of several devices"
        ),
        NearMiss(
            b"[train: 2, 50 / 1875] FPS: 64.0 (60.5)  ,  DataTime: 0.125 (0.002)  ,  ForwardTime: 0.373  ,  TotalTime: 0.5", "cut inside the number"
        ),
    ),
)  # fmt: skip
