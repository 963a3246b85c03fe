"""icefall (k2), and programs made of its recipes: a line per `log_interval` batches, whose dates are its only time.

Batches hold as many seconds of speech as fit, so that their sizes differ, and the line states that of its own batch
alone: the log tells the time of a batch and no speed. A step is a batch of each device; each process writes a log of
its own, and on the screen all of them print the same steps. The recipes for synthesis, of which ZipVoice is one, print
the size of the batch before the losses (source: `train.py` of icefall's `egs/ljspeech/TTS`).
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample
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
                Pause("evaluation", rb"Computing validation loss", b"2026-11-20 10:00:50,125 INFO [train.py:850] (0/4) Computing validation loss"),
                Pause("evaluation", rb", validation loss=", b"2026-11-20 10:00:50,125 INFO [train.py:444] Epoch 0, validation loss=0.500, over 18067.00 frames."),
                Pause("checkpoint", rb"Saving checkpoint to ", b"2026-11-20 10:00:50,125 INFO [checkpoint.py:75] (0/4) Saving checkpoint to exp/epoch-1.pt"),
            ),
        ),
    ),
    facts=(Fact("devices", rb" INFO \[\w++\.py:[0-9]++\] \([0-9]++/([0-9]++)\) ", int), *PYTORCH_JOB),
    samples=(
        Sample(
            b"2026-11-20 10:00:20,500 INFO [train.py:876] (0/4) Epoch 1, batch 50, loss[loss=0.5625, simple_loss=1.125, pruned_loss=8.75, "
            b"over 2432.00 frames. ], tot_loss[loss=0.625, simple_loss=1.25, pruned_loss=8.75, over 49132.00 frames. ], batch size: 32, lr: 3.00e-03\n",
            epoch=1, step=50, loss=0.5625,
        ),
        Sample(
            b"2026-11-20 10:00:20,500 INFO [train.py:518] Epoch 0, batch 2900, loss[ctc_loss=1.125, att_loss=0.875, loss=0.9375, over 2403 "
            b"frames.], tot_loss[ctc_loss=1.125, att_loss=0.875, loss=0.9375, over 477013.25 frames.], batch size: 11\n",
            epoch=0, step=2900, loss=0.9375,
        ),
        Sample(
            b"2026-11-20 10:00:20,500 INFO [train.py:876] (0/4) Epoch 1, batch 50, global_batch_idx: 50, batch size: 32, loss[loss=0.5625, "
            b"over 2432.00 samples.], tot_loss[loss=0.625, over 49132.00 samples.], cur_lr: 3.00e-03, grad_scale: 8.0\n",
            epoch=1, step=50, loss=0.5625,
        ),
        NearMiss(b"2026-11-20 10:00:50,125 INFO [train.py:860] (0/4) Epoch 1, validation: loss=0.5, over 760000.00 frames. \n", "a validation"),
        NearMiss(b"2026-11-20 10:00:20,500 INFO [train.py:876] (0/4) Epoch 1, batch 50, loss[loss=0.5625, over 2432.00 frames. ], tot_lo", "cut"),
    ),
)  # fmt: skip
