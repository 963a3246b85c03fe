"""Detectron2's `metrics.json`: a row per 20 iterations, with its keys in the order of the alphabet.

`time` is the median of the seconds per iteration over the last 20, the wait for data included and what hooks do between
iterations left out, so that stalls do not show. Rows of evaluations have an iteration and no time. The batch size
stands in the configuration only.
"""

from perfledger.parsers.contract import Format, NearMiss, Reading, Sample
from perfledger.parsers.frameworks import row, value

FORMAT = Format(
    title="Detectron2 metrics.json",
    framework="PyTorch",
    marker=b'"eta_seconds": ',
    unproven=True,
    readings=(
        Reading(
            row(
                rb"",
                value(rb"eta_seconds", rb"[0-9.e+]++"), value(rb"iteration", rb"<step>"), value(rb"time", rb"<step_seconds>"),
                value(rb"total_loss", rb"<loss>"), value(rb"data_time", rb"<reader_seconds>", needed=False),
            ),
            unit="images/s",
        ),
    ),
    samples=(
        Sample(
            b'{"data_time": 0.0025, "eta_seconds": 600.5, "fast_rcnn/cls_accuracy": 0.9, "iteration": 39, "loss_cls": 1.25, "lr": 0.00039, '
            b'"rank_data_time": 0.0025, "time": 0.25, "total_loss": 4.125}\n',
            step=39, step_seconds=0.25, loss=4.125, reader_seconds=0.0025,
        ),
        NearMiss(b'{"bbox/AP": 38.5, "bbox/AP50": 58.5, "iteration": 89999}\n', "an evaluation"),
        NearMiss(b'{"data_time": 0.0025, "iteration": 39, "total_loss": 4.125}\n', "the first rows: no time yet"),
        NearMiss(b'{"data_time": 0.0025, "eta_seconds": 600.5, "iteration": 39, "time": 0.25, "total_loss": 4.1', "cut inside the number"),
    ),
)  # fmt: skip
