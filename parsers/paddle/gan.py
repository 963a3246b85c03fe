"""PaddleGAN (`tools/main.py`): a record per `log_config.interval` iterations, with the images per second of one device.

`batch_cost` includes the wait for data, and `ips` the images of one device over it; both are means since the last line.
Validations and checkpoints lie outside, and so do the pictures of `visiual_interval`; each record may contain
one: there the timestamps are right. Some releases count one image per iteration in `ips`, whatever the batch: where the
configuration says another batch, or is missing, only the seconds are read. The last iteration of an epoch is printed as its
iteration 0.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    Pause,
    Reading,
    up_to,
)
from perfledger.parsers.paddle import LAUNCHER

_CONFIGS = rb"INFO: Configs: "
_PAUSES = (
    Pause("evaluation", "INFO: Test iter: ", inside="none"),
    Pause("evaluation", "INFO: Metric ", inside="none"),
)  # fmt: skip


def _of_batches(columns: Columns) -> Columns:
    """Give the last iteration of an epoch its number; drop speeds of one image per iteration, unless that is the batch."""
    last = (columns["step"] == 0) & np.isfinite(columns["epoch"])
    numbered = columns.assign(step=np.where(last, columns["total_steps"], columns["step"]))
    one = (np.round(columns["throughput"] * columns["step_seconds"]) == 1).all()
    drops = one and (columns["_batch_size"] != 1).any()
    return numbered.drop("throughput") if drops else numbered


FORMAT = Format(
    title="PaddleGAN",
    framework="PaddlePaddle",
    start=rb"ppgan[\w.]*+ INFO: Configs: ",
    unproven=True,
    readings=(
        Reading(
            "ppgan.engine.trainer INFO: {?Epoch: {epoch}{?/{total_epochs}}, }{Iter|iter|iters}: {step}{?/{total_steps}} {*} batch_cost: {step_seconds} sec reader_cost: {reader_seconds} sec ips: {throughput} images/s",
            unit="images/s",
            scope="device",
            verbs=(_of_batches,),
            pauses=_PAUSES,
            # A picture of each kind is written after the last step of an interval.
            untrue=("clock",),
        ),
    ),
    facts=(
        Fact("batch_size", _CONFIGS + up_to(rb"'train': \{", _CONFIGS) + up_to(rb"'test': \{|'batch_size': ", _CONFIGS) + rb"(?<='batch_size': )(\d++)", int),
        Fact("model", "INFO: Configs: {*}'model': {{{*}'name': '{}'"),
        Fact("total_steps", "INFO: Configs: {*}'total_iters': {:int}"),
        *LAUNCHER,
    ),
)  # fmt: skip
