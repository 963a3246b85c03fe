"""PaddlePaddle/models, TSM and SlowFast in the dynamic graph of 2020: a line per `log_interval` batches.

`batch_cost` holds the wait for data, and `ips` the clips of one device over it; both are means since the last line,
also where an epoch ends between. Validations lie outside. The networks for images beside them print the same of a batch
size that may be that of one device or of all, and are not read.
"""

from perfledger.parsers.contract import Format, Reading
from perfledger.parsers.paddle import LAUNCHER

FORMAT = Format(
    title="PaddlePaddle video models (2020)",
    framework="PaddlePaddle",
    start="---------------- Train Arguments ----------------",
    unproven=True,
    readings=(
        Reading(
            "Epoch{?:} {epoch}, {batch|iter:} {step}{,|]} loss{?:} {loss}, {*}batch_cost: {step_seconds} sec, reader_cost: {reader_seconds} sec, ips: {throughput} samples/sec",
            unit="clips/s",
            scope="device",
            epoch_end=True,
        ),
    ),
    facts=LAUNCHER,
)  # fmt: skip
