"""NanoDet (`tools/train.py`): a line per `log.interval` iterations, by the clock, in whole seconds.

No time and no batch size are printed. A validation has lines of the same shape that begin with `Val`; it, a checkpoint
and the end of an epoch lie in the record after them. The first number after `Iter` counts the iterations of the run.
"""

from perfledger.parsers.contract import EPOCH_END, Format, Pause, Reading

FORMAT = Format(
    title="NanoDet",
    framework="PyTorch",
    unproven=True,
    start="INFO:{? }Setting up data...",
    readings=(
        Reading(
            "[NanoDet][{_} {clock}]INFO:{? }Train|Epoch{epoch}/{total_epochs}|Iter{step}({*})| {?mem:{*}| }lr:",
            unit="images/s",
            pauses=(
                Pause("evaluation", "INFO:{? }Val|Epoch"),
                Pause("checkpoint", "INFO:{? }Saving model to "),
                EPOCH_END,
            ),
        ),
    ),
)  # fmt: skip
