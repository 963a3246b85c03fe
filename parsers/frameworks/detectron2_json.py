"""Detectron2's `metrics.json`: a row per 20 iterations, with its keys in the order of the alphabet.

`time` is the median of the seconds per iteration over the last 20, the wait for data included and what hooks do between
iterations left out, so that stalls do not show. `eta_seconds` is such a time for all iterations that are left: over
`time` it falls by one with each iteration, or contradicts it. Rows of evaluations have an iteration and no time. The
batch size stands in the configuration only.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Format, NearMiss, Postprocessed, Reading, Sample, is_private
from parsers.contract.statistics import median
from parsers.frameworks import row, value

#: Share of the rows at the beginning and at the end that tell how many iterations are left, and so many rows at least.
_SHARE, _LEAST = 5, 4
#: Ratio up to which two times are as good as the same.
_ALIKE = 1.25


def _held_against_eta(columns: Columns) -> Postprocessed:
    """Return the rows; with the times that `eta_seconds` tells, where the iterations that it leaves do not fall as they should."""
    step, took = columns["step"], columns["step_seconds"]
    rows, found = np.arange(len(step)), {name: each for name, each in columns.items() if not is_private(name)}
    few = len(step) // _SHARE
    if few < _LEAST or (np.diff(step) <= 0).any():
        return rows, found
    with np.errstate(all="ignore"):
        left = columns["_eta"] / took
        fell = (median(left[:few]) - median(left[-few:])) / (median(step[-few:]) - median(step[:few]))
        far = fell > 0 and not 1 / _ALIKE < fell < _ALIKE
    return rows, found | ({"seconds_otherwise": took * fell} if far else {})


FORMAT = Format(
    title="Detectron2 metrics.json",
    framework="PyTorch",
    marker=b'"eta_seconds": ',
    unproven=True,
    readings=(
        Reading(
            row(
                rb"",
                value(rb"eta_seconds", rb"(?P<_eta>[0-9.e+]++)"), value(rb"iteration", rb"<step>"), value(rb"time", rb"<step_seconds>"),
                value(rb"total_loss", rb"<loss>"), value(rb"data_time", rb"<reader_seconds>", needed=False),
            ),
            unit="images/s",
            postprocess=_held_against_eta,
        ),
    ),
    samples=(
        Sample(
            b'{"data_time": 0.0025, "eta_seconds": 600.5, "fast_rcnn/cls_accuracy": 0.9, "iteration": 39, "loss_cls": 1.25, "lr": 0.00039, '
            b'"rank_data_time": 0.0025, "time": 0.25, "total_loss": 4.125}\n',
            step=39, step_seconds=0.25, loss=4.125, reader_seconds=0.0025, _eta=600.5,
        ),
        NearMiss(b'{"bbox/AP": 38.5, "bbox/AP50": 58.5, "iteration": 89999}\n', "an evaluation"),
        NearMiss(b'{"data_time": 0.0025, "iteration": 39, "total_loss": 4.125}\n', "the first rows: no time yet"),
        NearMiss(b'{"data_time": 0.0025, "eta_seconds": 600.5, "iteration": 39, "time": 0.25, "total_loss": 4.1', "cut inside the number"),
    ),
)  # fmt: skip
