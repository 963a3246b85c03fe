"""icefall (k2), and programs made of its recipes: a line per `log_interval` batches, whose dates are its only time.

Batches hold as many seconds of speech as fit, so that their sizes differ, and the line states that of its own batch
alone: the log tells the time of a batch and no speed. A step is a batch of each device; each process writes a log of
its own, and on the screen all of them print the same steps. The recipes for synthesis, of which ZipVoice is one, print
the size of the batch before the losses (source: `train.py` of icefall's `egs/ljspeech/TTS`).
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

_BY = rb" INFO \[\w++\.py:[0-9]++\] (?:\([0-9]++/[0-9]++\) )?+"
_BY_FIRST = rb" INFO \[\w++\.py:[0-9]++\] (?:\(0/[0-9]++\) )?+"

FORMAT = Format(
    title="icefall",
    framework="PyTorch",
    marker=b", tot_loss[",
    unproven=True,
    start=_BY_FIRST + rb"Training started",
    end=_BY_FIRST + rb"Done!",
    readings=(
        Reading(
            rb"(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})" + _BY + rb"Epoch <epoch>, batch <step>, "
            rb"(?:global_batch_idx: [0-9]++, batch size: [0-9]++, )?+loss\[(?:\w++=[^,\]\r\n]++, ){0,9}?loss=<loss>, "
            rb"[^\]\r\n]*+\], tot_loss\[[^\]\r\n]*+\], (?:batch size: [0-9]++(?=[,\s])|cur_lr)",
            unit="samples/s",
            repeated=True,
            epoch_end=True,
            pauses=(
                Pause("evaluation", rb"Computing validation loss"),
                Pause("evaluation", rb", validation loss="),
                Pause("checkpoint", rb"Saving checkpoint to "),
            ),
        ),
    ),
    facts=(Fact("devices", rb" INFO \[\w++\.py:[0-9]++\] \([0-9]++/([0-9]++)\) ", int), *PYTORCH_JOB),
)  # fmt: skip
