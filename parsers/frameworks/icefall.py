"""icefall (k2), and programs made of its recipes: a line per `log_interval` batches, whose dates are its only time.

Batches contain as many seconds of speech as fit, so their sizes differ, and a line states only the size of its own
batch: the log shows the time of a batch and no speed. A step is a batch of each device; each process writes a log of
its own, and on the screen all of them print the same steps. The recipes for synthesis, such as ZipVoice, print the size
of the batch before the losses (source: `train.py` of icefall's `egs/ljspeech/TTS`).
"""

from __future__ import annotations

from perfledger.parsers.contract import EPOCH_END, Fact, Format, Pause, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="icefall",
    framework="PyTorch",
    unproven=True,
    start=" INFO [{_}] {?(0/{_}) }Training started",
    end=" INFO [{_}] {?(0/{_}) }Done!",
    readings=(
        Reading(
            "{clock} INFO [{_}] {?({_}) }Epoch {epoch}, batch {step}, {*}loss[{*}loss={loss}, {*}tot_loss[",
            unit="samples/s",
            ranks="median",
            pauses=(
                Pause("evaluation", "Computing validation loss"),
                Pause("evaluation", ", validation loss="),
                Pause("checkpoint", "Saving checkpoint to "),
                EPOCH_END,
            ),
        ),
    ),
    facts=(Fact("devices", " INFO [{_}] ({_}/{:int}) "), *PYTORCH_JOB),
)  # fmt: skip
