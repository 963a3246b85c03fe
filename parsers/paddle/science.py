"""PaddleScience (`ppsci`): a line per `log_freq` iterations, with the points per second of one device.

`batch_cost` and `ips` are running means: since iteration 5 of the epoch, or, where epochs are shorter than that, since
the program started. This is undone here, by the one of more digits: releases since 2024 print `ips` with two decimals
and no unit. Evaluations and checkpoints lie outside. A line of the first iterations of an epoch holds those of the
epoch before, and is left out.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, Postprocessed, Reading
from perfledger.parsers.paddle import LAUNCHER

#: Iteration of every epoch at which the means begin anew.
_RESTART = 5
#: What the last of five decimals, and of two, rounds, and how far a product may lie from the whole number that it stands
#: for.
_ROUNDING, _COARSE, _TOLD = 5e-6, 5e-3, 0.4


def _since_last(columns: Columns) -> Postprocessed:
    """Return what each record adds: its steps and their mean seconds, with the points of a step over them."""
    epoch, step, total = (columns[each] for each in ("epoch", "step", "total_steps"))
    restarts = total >= _RESTART
    seen = np.where(restarts, step - _RESTART + 1, (epoch - 1) * total + step)
    rows = np.flatnonzero(seen >= 1)
    made = {name: column[rows] for name, column in columns.items() if name != "_mean"}
    epoch, seen, ips, mean = epoch[rows], seen[rows], made["throughput"], columns["_mean"][rows]
    with np.errstate(all="ignore"):  # Numbers may be garbled.
        speed, seconds = (np.median(each) if len(rows) else np.nan for each in (ips, mean))
        points = np.median(ips * mean) if len(rows) else np.nan
        # The points of a batch are a whole number, which short seconds do not tell.
        whole = points * _ROUNDING / seconds < _TOLD
        coarse = bool((np.abs(ips * 100 - np.round(ips * 100)) < 1e-6).all())
        elapsed = seen / ips  # in seconds per point of a batch
        if whole and coarse and _COARSE / speed > _ROUNDING / seconds:
            elapsed = seen * mean / np.round(points)
        anew = restarts[rows] & (np.diff(epoch, prepend=np.nan) != 0) | (np.diff(seen, prepend=np.nan) <= 0)
        made["steps"] = np.where(anew, seen, np.diff(seen, prepend=0))
        made["throughput"] = made["steps"] / np.where(anew, elapsed, np.diff(elapsed, prepend=0))
        if whole:
            made["step_seconds"] = np.round(points) / made["throughput"]
    return rows, made


FORMAT = Format(
    title="PaddleScience",
    framework="PaddlePaddle",
    marker=b"[Train][Epoch ",
    unproven=True,
    readings=(
        Reading(
            "ppsci {INFO|MESSAGE}: [Train][Epoch {epoch}/{total_epochs}][Iter{?:} {step}/{total_steps}] lr: {_}, loss: {loss}, {*}batch_cost: {_mean:s}, reader_cost: {reader_seconds:s}, ips: {throughput}{ samples/s|, eta: }",
            unit="samples/s",
            scope="device",
            epoch_timer=True,
            verbs=(_since_last,),
        ),
    ),
    facts=LAUNCHER,
)  # fmt: skip
