"""Detectron2's `metrics.json`: a row per 20 iterations, with its keys in the order of the alphabet.

`time` is the median of the seconds per iteration over the last 20, the wait for data included and what hooks do between
iterations left out, so that stalls do not show. Rows of evaluations have an iteration and no time. The batch size
stands in the configuration only.
"""

from perfledger.parsers.contract import Format, Reading
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
)  # fmt: skip
