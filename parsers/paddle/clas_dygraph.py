"""PaddleClas, dynamic graph (`tools/train.py`): a record per `Global.print_batch_step` iterations.

`ips` is the throughput of one device. Releases of 2024 print its mean since the last line. Releases of 2022 print a
running mean since iteration 5 of the epoch, which is undone where the timestamps tell that it is one. Where they do not
tell, `sustained` averages running means, which is right for a steady speed. `[Eval]` lines have an `ips` of their own,
for inference. Some releases print the configuration before they apply `-o` overrides, so its batch size is checked
against `ips * batch_cost` of the records. `ips` is the size of the last batch of the interval over the mean
`batch_cost`. So the last line of an epoch, whose last batch may be smaller, understates the speed and is corrected
here, or left out if it is of that batch alone. Means of 2021, which log as `root`, run since iteration 5 of the epoch,
which is undone here, until iteration 5 of the next one, with the evaluation in between: lines before that are left out.
Where a sampler of several scales varies the batches, the last ones of all records stand for the others if they are
enough. PLSC 2 and PASSL print these lines under their own names, with the throughput of the whole job; those of
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
    Postprocessed,
    Reading,
    Scope,
    every,
    take,
    without,
)
from perfledger.parsers.paddle import CLAS, KNOWN_MEMORY, MAX_MEMORY

#: Iteration of every epoch at which running means begin anew.
_RESTART = 5
#: `ips` and `batch_cost` have five decimals; both the size of a batch and the usual one are computed from them.
_ROUNDING = 1e-5
#: Sizes that differ by less are one.
_SAME = 0.01
#: Share of the records with another size than the usual one from which on the sampler varies the batches.
_VARIED = 0.05
#: Standard error, as a share, up to which the last batches of the records tell the mean of all.
_TOLD = 0.01
#: Seconds by which two stamps with whole seconds round their distance.
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


def _since_last(columns: Columns) -> Postprocessed:
    """Keep the lines if their means began with the line before."""
    rows = every(columns)
    return take(columns, rows[:0] if _are_running(columns) else rows)


def _running(columns: Columns) -> Postprocessed:
    """Keep the lines if their means run since iteration 5; those of earlier iterations began in the epoch before."""
    return take(columns, (columns["step"] >= _RESTART) & _are_running(columns))


def _since_restart(columns: Columns) -> Postprocessed:
    """Keep the lines whose means began in their epoch, or with the program."""
    return take(columns, (columns["step"] >= _RESTART) | (columns["epoch"] == columns["epoch"][:1]))


def _whole_batches(columns: Columns, since: int | None = None) -> Postprocessed:
    """Return the records with the speed of all their batches, where the last batch is smaller than the others.

    Means run since an iteration of the epoch, or else since the line before.

    A record before the epoch's end with an odd batch is left out. Where sizes vary throughout, `batch` is that of the
    last batch of each record, and the steps are unknown if these are too few to tell the mean.
    """
    ips, cost, step = columns["throughput"], columns["step_seconds"], columns["step"]
    rows, made, last = np.arange(len(ips)), dict(columns), step == columns["total_steps"] - 1
    with np.errstate(all="ignore"):
        size = ips * cost
        known = size[~last & np.isfinite(size)]
        usual = np.median(known) if len(known) else np.nan
        odd = np.abs(size - usual) > _SAME * usual + _ROUNDING * (ips + cost)
        if odd[~last].sum() > _VARIED * len(known):
            made["batch"] = np.where(np.isfinite(size), np.round(size), np.nan)
            if not np.std(size) <= _TOLD * np.mean(size) * np.sqrt(len(size)):
                made["steps"] = np.full(len(size), np.nan)
            return rows, made
        within = np.diff(columns["epoch"], prepend=np.nan) == 0
        covered = np.where(within, np.diff(step, prepend=np.nan), np.where(step == 0, 1.0, np.nan))
        if since is not None:
            covered = step - since + 1
        # A running mean says nothing of a batch that a line prints alone.
        smaller = last & odd & (size < usual) & (covered > 1)
        made["throughput"] = np.where(smaller, (usual * (covered - 1) + size) / covered / cost, ips)
    rows = rows[~odd | smaller]
    return rows, {name: column[rows] for name, column in made.items()}


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
            Reading(_line(logger), unit="images/s", scope=scope, running_mean=since, verbs=(verb, partial(_whole_batches, since=since), without("clock"), KNOWN_MEMORY))
            for logger, scope in _LOGGERS.items()
            for verb, since in ((_since_last, None), (_running, _RESTART))
        ),
        Reading(
            _line("root"), unit="images/s", scope="device", running_mean=_RESTART, pauses=(*_PAUSES, EPOCH_TIMER),
            verbs=(_since_restart, partial(_whole_batches, since=_RESTART), without("clock"), KNOWN_MEMORY),
        ),
    ),
    facts=(*CLAS, Fact("framework_version", "train with paddle {}")),
)  # fmt: skip
