"""PaddleScience (`ppsci`): a line per `log_freq` iterations, with the points per second of one device.

`batch_cost` and `ips` are running means: since iteration 5 of the epoch, or, where epochs are shorter than that, since
the program started. This is undone here, by the seconds: releases since 2024 print `ips` with two decimals
and no unit. Evaluations and checkpoints lie outside. A line of the first iterations of an epoch holds those of the
epoch before, and is left out.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import EPOCH_TIMER, Columns, Format, Postprocessed, Reading, take
from perfledger.parsers.paddle import LAUNCHER

#: Iteration of every epoch at which the means begin anew.
_RESTART = 5


def _since_last(columns: Columns) -> Postprocessed:
    """Return what each record adds to the running means: its steps, their mean seconds, and the points of a step."""
    epoch, step, total = (columns[each] for each in ("epoch", "step", "total_steps"))
    restarts = total >= _RESTART
    seen = np.where(restarts, step - _RESTART + 1, (epoch - 1) * total + step)
    rows, columns = take({**columns, "_seen": seen}, seen >= 1)
    seen, mean = columns["_seen"], columns["step_seconds"]
    anew = restarts[rows] & (np.diff(columns["epoch"], prepend=np.nan) != 0) | (np.diff(seen, prepend=np.inf) <= 0)
    steps, seconds = (np.where(anew, each, np.diff(each, prepend=0.0)) for each in (seen, seen * mean))
    with np.errstate(all="ignore"):  # Numbers may be garbled.
        points = columns["throughput"] * mean
        made = {"steps": steps, "step_seconds": seconds / steps, "throughput": points * steps / seconds}
    return rows, {**columns, **made}


FORMAT = Format(
    title="PaddleScience",
    framework="PaddlePaddle",
    unproven=True,
    readings=(
        Reading(
            "ppsci {INFO|MESSAGE}: [Train][Epoch {epoch}/{total_epochs}][Iter{?:} {step}/{total_steps}] lr: {_}, loss: {loss}, {*}batch_cost: {step_seconds:s}, reader_cost: {reader_seconds:s}, ips: {throughput}{ samples/s|, eta: }",
            unit="samples/s",
            scope="device",
            pauses=(EPOCH_TIMER,),
            verbs=(_since_last,),
        ),
    ),
    facts=LAUNCHER,
)  # fmt: skip
