"""PaddleDetection (`tools/train.py`): a record per `log_iter` iterations, in the words of today or of its static graph.

`ips` is the throughput of one device; `ips` and `batch_cost`, which includes the wait for data, are means of the last
`log_iter` iterations. The static graph counts evaluations and checkpoints in the record that follows them; its first
releases (2019 to 2020) print the seconds alone, as `time`. The first record of a run covers one iteration and the
start-up. If epochs are shorter than that, only their first iterations are printed, and the means contain the start-up
for some epochs: such records are left out. Networks without a sum of their losses print no `loss:`. The program does
not announce itself: a start is recognised by Paddle's lines about the device or the ranks just before the first line of
`ppdet`. The batch size is not printed. Memory is that of the tensors, 0 if unknown.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    Pause,
    Reading,
    only,
)
from perfledger.parsers.paddle import LAUNCHER

#: `log_iter` of all configurations that PaddleDetection ships.
_LOG_ITER = 20

#: The timer of the static graph runs on meanwhile.
_STATIC_PAUSES = (
    Pause("evaluation", rb"Test iter [0-9]"),
    Pause("checkpoint", "INFO: Save model to "),
)

#: Seconds below this are the mean of no iteration, in the line of the first one.
_NONE = 5e-4


def _without_start(columns: Columns) -> Columns:
    """Drop records whose mean contains the start-up, if each record is of another, short epoch.

    Such a record then covers the iterations since the one before it.
    """
    epoch, step, total = columns["epoch"], columns["step"], columns["total_steps"]
    rows = np.arange(len(step))
    if (step > 0).any() or not len(step):
        return columns
    begun = np.diff(epoch, prepend=-np.inf) <= 0
    begun[0] = True
    first = epoch[np.maximum.accumulate(np.where(begun, rows, 0))]
    since = (epoch - first) * total
    made = columns.assign(steps=np.where(since == 0, 1.0, total))
    return made.take((since == 0) | (since >= _LOG_ITER))


FORMAT = Format(
    title="PaddleDetection",
    framework="PaddlePaddle",
    # The gap ends at the next such line, since one that went on to `ppdet.` would scan the same text from each of them.
    start=rb"(?:(?:The server starts to listen on IP_ANY|HybridParallelInfo: rank_id: 0,|Please NOTE: device: \d++, (?:CUDA|GPU Compute) Capa)"
    rb"(?:(?:[^pTHP]++|[THP](?!he server starts to|ybridParallelInfo: rank_id: 0,|lease NOTE: device: \d++, (?:CUDA|GPU Compute) Capa))++|p(?!pdet\.(?!data\.))){0,400}+){1,20}+ppdet\.",
    readings=(
        Reading(
            "Epoch: [{epoch}] [{step}/{total_steps}]{*}{? loss: {loss}{*}} batch_cost: {step_seconds} data_cost: {reader_seconds} ips: {throughput} {images|samples}/s{?{*}max_mem_allocated: {memory} MB}",
            unit="images/s",
            scope="device",
            # The moving average of the weights (`use_ema`) is updated after `batch_cost` has been taken.
            untrue=("clock",),
            verbs=(_without_start,),
        ),
        Reading(
            "{?Epoch:{epoch}: }iter: {step}, lr: {_}, {*}{?'loss': '{loss}',{*}}eta: {*}batch_cost: {step_seconds:sec}, ips: {throughput} images/sec",
            unit="images/s",
            scope="device",
            untrue=("clock",),
            pauses=_STATIC_PAUSES,
            verbs=(only(step_seconds=_NONE),),
        ),
        Reading(
            "{?Epoch:{epoch}: }iter: {step}, lr: {_}, {*}{?'loss': '{loss}',{*}}time: {step_seconds}, eta: ",
            unit="images/s",
            pauses=_STATIC_PAUSES,
            verbs=(only(step_seconds=_NONE),),
        ),
    ),
    facts=(
        *LAUNCHER,
        Fact("model", rb"ppdet\.utils\.checkpoint INFO: Save checkpoint: (?:[^\s/]++/)*+([\w.-]++)$"),
    ),
)  # fmt: skip
