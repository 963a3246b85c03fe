"""PaddleScience (`ppsci`): a line per `log_freq` iterations, with the points per second of one device.

`batch_cost` and `ips` are running means: since iteration 5 of the epoch, or, where epochs are shorter than that, since
the program started. This is undone here, by the one of more digits: releases since 2024 print `ips` with two decimals
and no unit. Evaluations and checkpoints lie outside. A line of the first iterations of an epoch holds those of the
epoch before, and is left out.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, NearMiss, Postprocessed, Reading, Sample, up_to
from perfledger.parsers.paddle import LAUNCHER

_BEGINS = rb"ppsci (?:INFO|MESSAGE): \[Train\]\[Epoch "
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
            _BEGINS + rb" *+<epoch>/<total_epochs>\]\[Iter:? ++<step>/<total_steps>\] lr: [0-9.e+-]++, loss: <loss>, " + up_to(rb"\bbatch_cost: ", _BEGINS)
            + rb"<_mean>s, reader_cost: <reader_seconds>s, ips: <throughput>(?: samples/s|(?=, eta: ))",
            unit="samples/s",
            scope="device",
            epoch_timer=True,
            postprocess=_since_last,
        ),
    ),
    facts=LAUNCHER,
    samples=(
        Sample(
            b"[2026/11/20 13:14:40] ppsci INFO: [Train][Epoch 1/10][Iter: 60/100] lr: 0.00100000, loss: 0.50000, EQ: 0.50000, "
            b"batch_cost: 0.00200s, reader_cost: 0.00010s, ips: 16000.00000 samples/s, eta: 0:00:00",
            epoch=1, total_epochs=10, step=60, total_steps=100, loss=0.5, _mean=0.002, reader_seconds=0.0001, throughput=16000,
        ),
        Sample(
            b"[2026/11/20 13:14:40] ppsci INFO: [Train][Epoch  2/30][Iter 20/20] lr: 0.00100, loss: 1.50000, EQ: 1.50000, "
            b"batch_cost: 0.25000s, reader_cost: 0.00050s, ips: 384.00, eta: 0:02:14",
            epoch=2, total_epochs=30, step=20, total_steps=20, loss=1.5, _mean=0.25, throughput=384,
        ),
        NearMiss(
            b"[2026/11/20 13:14:40] ppsci INFO: [Train][Epoch  2/30][Iter 20/20] lr: 0.00100, loss: 1.50000, batch_cost: 0.25000s, reader_cost: 0.00050s, ips: 384.0",
            "cut inside the number",
        ),
        NearMiss(
            b"[2026/11/20 13:14:40] ppsci INFO: [Train][Epoch 1/10][Avg] loss: 0.50000, EQ: 0.50000", "an epoch's average",
        ),
        NearMiss(
            b"[2026/11/20 13:14:40] ppsci INFO: [Eval][Epoch 1][Iter: 6/10] residual: 0.50000, batch_cost: 0.25000s, reader_cost: 0.00010s, "
            b"ips: 16000.00000samples/s, eta: 0:00:00", "an evaluation",
        ),
    ),
)  # fmt: skip
