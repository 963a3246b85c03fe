"""PaddleScience (`ppsci`): a line per `log_freq` iterations, with the points per second of one device.

`batch_cost` and `ips` are running means since iteration 5 of the epoch, or since the program started if each epoch has
one iteration. They are undone to what each line adds. Epochs of two to four iterations are not read. Evaluations and
checkpoints lie outside. The lines of the first iterations of an epoch contain those of the epoch before, and do not
count. Releases since 2024 print `ips` with two decimals and no unit.
"""

from __future__ import annotations

from perfledger.parsers.contract import EPOCH_TIMER, Format, Reading, only
from perfledger.parsers.paddle import LAUNCHER

#: Iteration of every epoch at which the means restart.
_RESTART = 5

_VALUES = "lr: {_}, loss: {loss}, {*}batch_cost: {step_seconds:s}, reader_cost: {reader_seconds:s}, ips: {throughput}{ samples/s|, eta: }"

FORMAT = Format(
    title="PaddleScience",
    framework="PaddlePaddle",
    unproven=True,
    readings=(
        Reading(
            "ppsci {INFO|MESSAGE}: [Train][Epoch {epoch}/{total_epochs}][Iter{?:} {step}/{total_steps}] " + _VALUES,
            unit="samples/s",
            scope="device",
            pauses=(EPOCH_TIMER,),
            running_mean=_RESTART,
            verbs=(only(step=_RESTART, total_steps=_RESTART),),
        ),
        # Epochs of one iteration: the means run since the start.
        Reading(
            "ppsci {INFO|MESSAGE}: [Train][Epoch {step}/{total_steps}][Iter{?:} 1/1] " + _VALUES,
            unit="samples/s",
            scope="device",
            running_mean=1,
        ),
    ),
    facts=LAUNCHER,
)  # fmt: skip
