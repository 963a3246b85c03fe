"""DINOv2's file of metrics (`training_metrics.json`): a row of JSON per ten iterations.

`iter_time` is seconds per iteration with the wait for data, as a mean over the last twenty iterations: rows overlap, which
is undone up to the twentieth iteration, so that the slow first one counts once. `current_batch_size` is that of a device.
A resumed run appends its rows and does not say so.
"""

from perfledger.parsers.contract import Format, NearMiss, Reading, Sample
from perfledger.parsers.frameworks import row, value
from perfledger.parsers.frameworks.metric_logger import apart

FORMAT = Format(
    title="DINOv2 metrics",
    framework="PyTorch",
    marker=b'"iter_time": ',
    readings=(
        Reading(
            row(
                rb'"iteration": <step>, "iter_time": <step_seconds>, "data_time": <reader_seconds>, ',
                value(rb"current_batch_size", rb"<batch>"), value(rb"total_loss", rb"<loss>"),
            ),
            unit="images/s",
            scope="device",
            postprocess=apart,
        ),
    ),
    samples=(
        Sample(
            b'{"iteration": 120, "iter_time": 3.625, "data_time": 0.9375, "lr": 9.461743249922176e-07, "wd": 0.04, "mom": 0.994, '
            b'"last_layer_lr": 0.0, "current_batch_size": 20.0, "total_loss": 14.5, "koleo_loss": 0.55859375}\n',
            step=120, step_seconds=3.625, reader_seconds=0.9375, batch=20, loss=14.5,
        ),
        NearMiss(b'{"train_loss": 11.125, "train_lr": 0.0005, "train_wd": 0.2218, "epoch": 151}\n', "the mean of an epoch"),
        NearMiss(b'{"iteration": 120, "iter_time": 3.625, "data_time": 0.9375, "lr": 9.4e-07, "current_batch_size": 20.0, "total_lo', "cut"),
    ),
)  # fmt: skip
