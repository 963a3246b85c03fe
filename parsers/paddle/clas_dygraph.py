"""PaddleClas, dynamic graph (`tools/train.py`): a record per `Global.print_batch_step` iterations.

`ips` is the throughput of one device. Each release averages it differently. Releases of 2024 print the mean since the
last line. Releases of 2022 print a running mean since iteration 5 of the epoch. If the timestamps prove a running mean,
it is undone here. If they do not, `sustained` averages running means, which is right for a steady speed. Releases of
2021, which log as `root`, print a running mean that always starts at iteration 5 of the epoch. It continues until
iteration 5 of the next epoch and includes the evaluation in between. It is undone here, and the lines before iteration
5 are left out, except in the first epoch.

`[Eval]` lines have an `ips` of their own, for inference. Some releases print the configuration before they apply `-o`
overrides, so its batch size is checked against `ips * batch_cost` of the records.

`ips` is the size of the last batch of the interval divided by the mean `batch_cost`. The last batch of an epoch may be
smaller, and its line then understates the speed. Such a line is corrected here, or left out if it covers this batch
alone. A multi-scale sampler varies the size of the batches. Then the last batches of all records represent the others,
if there are enough records.

PLSC 2 and PASSL print these lines under their own names, with the throughput of the whole job. The lines of
PaddleScience are another format.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from perfledger.parsers.contract import (
    EPOCH_TIMER,
    Columns,
    Fact,
    Format,
    Pause,
    Reading,
    Scope,
    only,
    only_if,
)
from perfledger.parsers.paddle import CLAS, MAX_MEMORY

#: Iteration of every epoch at which running means restart.
_RESTART = 5
#: `ips` and `batch_cost` have five decimals; both the size of a batch and the usual one are computed from them.
_ROUNDING = 1e-5
#: Batch sizes that differ by less than this share are equal.
_SAME = 0.01
#: The sampler varies the batches if more than this share of the records has an unusual size.
_VARIED = 0.05
#: The last batches of the records give the mean of all batches if its standard error is at most this share.
_PRECISE = 0.01
#: Rounding error of the difference of two stamps in whole seconds, in seconds.
_ROUNDED = 1.0

#: The first releases (2021), which log as `root`, have these in the first mean of the next epoch.
_PAUSES = (Pause("evaluation", "[Eval][Epoch "), Pause("checkpoint", "Already save model in "))


def _are_running(columns: Columns) -> bool:
    """Return whether the stamps agree with means since iteration 5 of the epoch, and not since the last line."""
    step, cost = columns["step"], columns["step_seconds"]
    inside = (np.diff(columns["epoch"]) == 0) & (step[:-1] >= _RESTART) & (np.diff(step) > 0)
    took = np.diff(columns["clock"])
    since_last, running = cost[1:] * np.diff(step), np.diff(cost * (step - _RESTART + 1))
    off, off_if_running = (np.abs(np.cumsum((took - each)[inside])).max(initial=0) for each in (since_last, running))
    return bool(off > _ROUNDED and off_if_running < off / 2)


def _since_restart(columns: Columns) -> Columns:
    """Keep the lines whose means began in their epoch, or with the program."""
    return columns.take((columns["step"] >= _RESTART) | (columns["epoch"] == columns["epoch"][:1]))


def _without_clock(columns: Columns) -> Columns:
    """Drop the stamps, which only show whether the means run."""
    return columns.drop("clock")


def _whole_batches(columns: Columns, since: int | None = None) -> Columns:
    """Correct the speed of records whose last batch is smaller than the others.

    Means run from iteration `since` of the epoch, or from the line before if that is None.

    A record before the epoch's end with an odd batch is left out. If sizes vary throughout, `batch` is the size of the
    last batch of each record. The steps are then unknown if the records are too few for a precise mean.
    """
    ips, cost, step = columns["throughput"], columns["step_seconds"], columns["step"]
    last = step == columns["total_steps"] - 1
    size = ips * cost
    known = size[~last & np.isfinite(size)]
    usual = np.median(known) if len(known) else np.nan
    odd = np.abs(size - usual) > _SAME * usual + _ROUNDING * (ips + cost)
    if odd[~last].sum() > _VARIED * len(known):
        columns = columns.assign(batch=np.where(np.isfinite(size), np.round(size), np.nan))
        precise = np.std(size) <= _PRECISE * np.mean(size) * np.sqrt(len(size))
        return columns if precise else columns.assign(steps=np.full(len(size), np.nan))
    within = np.diff(columns["epoch"], prepend=np.nan) == 0
    covered = np.where(within, np.diff(step, prepend=np.nan), np.where(step == 0, 1.0, np.nan))
    if since is not None:
        covered = step - since + 1
    # A line that covers one batch alone cannot be corrected.
    smaller = last & odd & (size < usual) & (covered > 1)
    corrected = (usual * (covered - 1) + size) / covered / cost
    return columns.assign(throughput=np.where(smaller, corrected, ips)).take(~odd | smaller)


#: Loggers, and what their speed counts.
_LOGGERS: Mapping[str, Scope] = {"ppcls": "device", "{plsc|passl}": "job"}


def _line(logger: str) -> str:
    return (
        f"[{{clock}}] {logger} INFO: [Train][Epoch {{epoch}}/{{total_epochs}}][Iter: {{step}}/{{total_steps}}]{{*}}loss: {{loss}},{{*}} batch_cost: {{step_seconds}}{{?s}}, "
        "reader_cost: {reader_seconds}{?s}, {?ema_cost: {_}, }ips: {throughput} {images|samples}/s" + MAX_MEMORY
    )  # fmt: skip


FORMAT = Format(
    title="PaddleClas (dynamic graph)",
    framework="PaddlePaddle",
    start="PaddleClas is powered by PaddlePaddle",
    readings=(
        *(
            Reading(_line(logger), unit="images/s", scope=scope, running_mean=since, verbs=(*verbs, partial(_whole_batches, since=since), _without_clock))
            for logger, scope in _LOGGERS.items()
            for verbs, since in (((only_if(_are_running, False),), None), ((only_if(_are_running), only(step=_RESTART)), _RESTART))
        ),
        Reading(
            _line("root"), unit="images/s", scope="device", running_mean=_RESTART, pauses=(*_PAUSES, EPOCH_TIMER),
            verbs=(_since_restart, partial(_whole_batches, since=_RESTART), _without_clock),
        ),
    ),
    facts=(*CLAS, Fact("framework_version", "train with paddle {}")),
)  # fmt: skip
