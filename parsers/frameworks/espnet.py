"""ESPnet2 (`espnet2.bin.*_train`): a line per twentieth of an epoch, or per `log_interval` batches, with `train_time`.

That is the seconds of one update, which takes `accum_grad` batches; the log does not print how many. So the dates of the
lines give the time of a batch. The time between two epochs includes the validation, and does not count. Batches differ
in size, which is not printed: the log gives the time of a batch and no speed.
"""

from __future__ import annotations

from perfledger.parsers.contract import EPOCH_TIMER, Format, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="ESPnet2",
    framework="PyTorch",
    unproven=True,
    start=rb"python[0-9.]*+ -m espnet2\.bin\.(?:[a-z0-9]++_)++train ",
    end="INFO: The training was finished at {_} epochs",
    readings=(
        Reading(
            "{clock} (trainer:{_}) INFO: {epoch}epoch:train:{_}-{step}batch: {?{*} loss={loss},}{*} train_time=",
            unit="samples/s",
            pauses=(EPOCH_TIMER,),
        ),
    ),
    facts=PYTORCH_JOB,
)
