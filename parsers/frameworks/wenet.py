"""WeNet (`wenet/bin/train.py`), and WeKws after it: a line per `log_interval` batches, whose dates are its only time.

Batches may differ in size, which is not printed, so that the log tells the time of a batch and no speed; the
`steps/sec` of releases since 2024 count updates, of which each may take several batches. Every process prints the same
batches.
"""

from __future__ import annotations

from perfledger.parsers.contract import Format, NearMiss, Pause, Reading, Sample
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="WeNet",
    framework="PyTorch",
    marker=b" DEBUG TRAIN ",
    unproven=True,
    readings=(
        Reading(
            rb"(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) DEBUG TRAIN (?:\| (?:steps/sec [0-9.]++\| )?+)?+Batch <epoch>/<step> loss <loss>(?=\s)",
            unit="samples/s",
            repeated=True,
            epoch_end=True,
            pauses=(
                Pause("evaluation", rb" DEBUG CV ", b"2026-11-20 10:00:50,125 DEBUG CV Batch 4/0 loss 28.500 loss_att 24.125 history loss 27.875 rank 0"),
                Pause("checkpoint", rb"Checkpoint: save to ", b"2026-11-20 10:00:50,125 INFO Checkpoint: save to checkpoint exp/4.pt"),
            ),
        ),
    ),
    facts=PYTORCH_JOB,
    samples=(
        Sample(
            b"2026-11-20 10:00:20,500 DEBUG TRAIN Batch 4/203700 loss 12.625 loss_att 10.875 loss_ctc 16.625 lr 0.00032621 rank 0\n",
            epoch=4, step=203700, loss=12.625,
        ),
        Sample(
            b"2026-11-20 10:00:20,500 DEBUG TRAIN | steps/sec 2.125| Batch 0/100 loss 12.625 loss_att 10.875 lr 0.00032621 grad_norm 1.5 rank 0\n",
            epoch=0, step=100, loss=12.625,
        ),
        NearMiss(b"2026-11-20 10:00:50,125 DEBUG CV Batch 4/0 loss 28.500 loss_att 24.125 history loss 27.875 rank 0\n", "a validation"),
        NearMiss(b"2026-11-20 10:00:20,500 DEBUG TRAIN Batch 4/203700 loss 12.62", "cut inside the number"),
    ),
)  # fmt: skip
