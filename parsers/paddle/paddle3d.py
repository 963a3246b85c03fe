"""Paddle3D (`tools/train.py`): a record per `log_interval` iterations, with means of one device since the program started.

The timer starts after the first iteration, but its seconds are divided by all iterations. It runs on during evaluations
and checkpoints. A resumed run continues the count of its iterations, but restarts the timer. Both are undone here. The
batch follows from `ips` and those seconds, and must agree with that of the configuration. The first releases print no
speed: for them, the times of the lines and the batch of the configuration are read.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import EPOCH_END, Columns, Fact, Format, Pause, Reading
from perfledger.parsers.paddle import LAUNCHER

_PAUSES = (
    Pause("evaluation", "evaluate on validate dataset"),
    Pause("checkpoint", "Push model to checkpoint "),
)  # fmt: skip


def _since_last(columns: Columns) -> Columns:
    """Return what each record adds: its steps, their seconds and samples per step."""
    step, resumed, stated = columns["step"], columns["_resumed_from"], columns["_batch_size"]
    seen = step - (resumed[0] if len(resumed) and np.isfinite(resumed[0]) else 0)
    elapsed = columns["_mean"] * seen
    again = np.diff(seen, prepend=np.inf) <= 0  # The first record, and where the program was started again.
    steps = np.where(again, seen - 1, np.diff(seen, prepend=0))
    seconds = np.where(again, elapsed, np.diff(elapsed, prepend=0)) / steps
    batch = np.round(columns["_ips"] * elapsed / (seen - 1))
    made = columns.assign(
        steps=steps,
        step_seconds=seconds,
        throughput=batch / seconds,
        batch=np.full(len(step), stated[0]) if np.isfinite(stated).any() else batch,
    )
    return made.take(seen > 1)


FORMAT = Format(
    title="Paddle3D",
    framework="PaddlePaddle",
    # PaddleSeg prints the same heading, and the platform on its line.
    start=rb"-Environment Information-++(?=\r?\nplatform:[ \t]*+\r?\n)",
    unproven=True,
    readings=(
        Reading(
            "[TRAIN] epoch={epoch}/{total_epochs}, iter={step}/{total_steps} {*}, batch_cost: {_mean} sec, ips: {_ips} images/s | ETA ",
            unit="images/s",
            scope="device",
            verbs=(_since_last,),
            pauses=_PAUSES,
        ),
        Reading(
            "{clock} -  INFO - [TRAIN] epoch={epoch}/{total_epochs}, iter={step}/{total_steps} ,{*} lr={_} | ETA ",
            unit="images/s",
            pauses=(*_PAUSES, EPOCH_END),
        ),
    ),
    facts=(
        Fact("batch_size", "^batch_size: {:int}$"),
        Fact("model", rb"^model:$(?:\n [^\n]*+)*?\n  type: (\w++)$"),
        Fact("resumed_from", "Resume model from {*}, current iter set to {:int}"),
        *LAUNCHER,
    ),
)  # fmt: skip
