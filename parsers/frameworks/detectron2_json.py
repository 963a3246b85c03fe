"""Detectron2's `metrics.json`: a row per 20 iterations, with its keys in the order of the alphabet.

`time` is the median of the seconds per iteration over the last 20. It includes the wait for data and excludes the work
of hooks between iterations, so stalls do not show. Rows of evaluations have an iteration and no time. The batch size is
only in the configuration.
"""

from perfledger.parsers.contract import Format, Reading, Rows

FORMAT = Format(
    title="Detectron2 metrics.json",
    framework="PyTorch",
    unproven=True,
    readings=(
        Reading(
            Rows(
                "^{", "eta_seconds",
                step="iteration", step_seconds="time", loss="total_loss", reader_seconds="data_time?",
            ),
            unit="images/s",
        ),
    ),
)  # fmt: skip
