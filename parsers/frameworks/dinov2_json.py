"""DINOv2's file of metrics (`training_metrics.json`): a row of JSON per ten iterations.

`iter_time` is seconds per iteration with the wait for data, as a mean over the last twenty iterations: rows overlap, which
is undone up to the twentieth iteration, so that the slow first one counts once. `current_batch_size` is that of a device.
A resumed run appends its rows and does not say so.
"""

from perfledger.parsers.contract import Format, Reading, Rows
from perfledger.parsers.frameworks.metric_logger import apart

FORMAT = Format(
    title="DINOv2 metrics",
    framework="PyTorch",
    readings=(
        Reading(
            Rows(
                '^{"iteration": ',
                step="iteration", step_seconds="iter_time", reader_seconds="data_time", batch="current_batch_size", loss="total_loss",
            ),
            unit="images/s",
            scope="device",
            verbs=(apart,),
        ),
    ),
)  # fmt: skip
