"""WeNet (`wenet/bin/train.py`), and WeKws after it: a line per `log_interval` batches, with a date and no other time.

Batches may differ in size, which is not printed, so the log shows the time of a batch and no speed; the `steps/sec` of
releases since 2024 count updates, and an update may take several batches. Every process prints the same batches.
"""

from __future__ import annotations

from perfledger.parsers.contract import EPOCH_END, Format, Pause, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="WeNet",
    framework="PyTorch",
    unproven=True,
    readings=(
        Reading(
            "{clock} DEBUG TRAIN {?| {?steps/sec {_}| }}Batch {epoch}/{step} loss {loss}",
            unit="samples/s",
            ranks="median",
            pauses=(
                Pause("evaluation", " DEBUG CV "),
                Pause("checkpoint", "Checkpoint: save to "),
                EPOCH_END,
            ),
        ),
    ),
    facts=PYTORCH_JOB,
)  # fmt: skip
