"""PaddlePaddle/models, TSM and SlowFast in the dynamic graph of 2020: a line per `log_interval` batches.

`batch_cost` includes the wait for data, and `ips` is the clips of one device over it. Both are means since the last
line, even if an epoch ends in between. They exclude validations. The repository's networks for images print the same
line, but their batch size may be that of one device or of all devices, so they are not read.
"""

from perfledger.parsers.contract import EPOCH_END, Format, Reading
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
            pauses=(EPOCH_END,),
        ),
    ),
    facts=LAUNCHER,
)  # fmt: skip
