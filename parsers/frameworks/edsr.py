"""EDSR (`trainer.py`) and the networks of super-resolution made of it (RCAN, HAN ...): a line per `print_every` batches.

`[1600/16000]` are the images of the epoch so far, patches of all devices, and `20.1+0.5s` the seconds of the model and
those of the wait for data since the line before, which together are all of them. Evaluations stand between epochs, in
neither.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Format, NearMiss, Postprocessed, Reading, Sample
from parsers.contract.statistics import median

#: How far two numbers of one decimal round, and the share of an interval that this may make up.
_ROUNDS, _COARSE = 0.1, 0.03


def _intervals(columns: Columns) -> Postprocessed:
    """Return the images and seconds of each line; counts begin anew with each epoch, and a step is an interval.

    The seconds are those of one interval, however many lines are lost before theirs.
    """
    counts, took = columns["samples"], columns["duration"] + columns["_data"]
    since = np.diff(counts, prepend=0.0)
    usual = median(since[since > 0]) if (since > 0).any() else np.nan
    if len(took) and median(took) * _COARSE < _ROUNDS:
        took = np.full(len(took), np.nan)
    found = {"step": counts / usual, "total_steps": columns["_of"] // usual}
    return np.arange(len(counts)), found | {
        "samples": np.minimum(np.where(since > 0, since, counts), usual),
        "duration": took,
    }


FORMAT = Format(
    title="EDSR",
    framework="PyTorch",
    marker=b"]\t[",
    unproven=True,
    start=rb"\[Epoch 1\]\tLearning rate: ",
    before_start=rb"^(?:Making model\.\.\.|Preparing loss function:)",
    readings=(
        Reading(
            rb"(?<![^\r\n])(?:==> )?+\[(?P<samples>[1-9][0-9]*+)/(?P<_of>[1-9][0-9]*+)\]\t(?:\[[\w*.-]++: [-+.0-9einaf]++\])++[\t ]++"
            rb"(?P<duration>[0-9]++\.[0-9])\+(?P<_data>[0-9]++\.[0-9])s(?=\s)",
            unit="images/s",
            epoch_timer=True,
            postprocess=_intervals,
        ),
    ),
    samples=(
        Sample(b"[1600/16000]\t[L1: 8.2500]\t20.5+0.5s\n", samples=1600, _of=16000, duration=20.5, _data=0.5),
        Sample(b"[3200/16000]\t[1*L1: 8.2500][0.1*VGG54: 1.2500][Total: 8.3750]\t40.0+1.5s\n", samples=3200, duration=40, _data=1.5),
        NearMiss(b"[Set5 x2]\tPSNR: 37.500 (Best: 37.750 @epoch 12)\n", "an evaluation"),
        NearMiss(b"[1600/16000]\t[L1: 8.2500]\t20.5+0.", "cut"),
    ),
)  # fmt: skip
