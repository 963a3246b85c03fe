"""UIE of PaddleNLP (`uie/finetune.py`), and its copies in PyTorch: steps per second since the last line.

A step is a batch of each device, whose size no line tells. The timer begins anew behind an evaluation with what is
saved before it. Scripts that print the same without a logger, or with further values, divide by numbers of their own,
and are not read.
"""

from __future__ import annotations

from perfledger.parsers.contract import Format, NearMiss, Pause, Reading, Sample
from perfledger.parsers.paddle import IN_PADDLE, LAUNCHER, of_two_decimals

FORMAT = Format(
    title="PaddleNLP UIE",
    marker=b" step/s",
    unproven=True,
    readings=(
        Reading(
            rb"INFO\] - global step <step>, epoch: <epoch>, loss: <loss>, speed: <steps_per_second> step/s(?=[ \t\r]*+\n)",
            unit="samples/s",
            postprocess=of_two_decimals,
            pauses=(
                Pause(
                    "evaluation",
                    rb"Evaluation precision: ",
                    b"[2026-11-20 13:14:40,123] [    INFO] - Evaluation precision: 0.50000, recall: 0.50000, F1: 0.50000",
                    inside="none",
                ),
            ),
        ),
    ),
    facts=(IN_PADDLE, *LAUNCHER),
    samples=(
        Sample(
            b"[2026-11-20 13:14:40,123] [    INFO] - global step 220, epoch: 28, loss: 0.00500, speed: 1.25 step/s\n",
            step=220, epoch=28, loss=0.005, steps_per_second=1.25,
        ),
        NearMiss(b"global step 220, epoch: 28, loss: 0.00500, speed: 1.25 step/s\n", "divided by numbers of its own"),
        NearMiss(
            b"[2026-11-20 13:14:40,123] [    INFO] - global step 220, epoch: 28, loss: 0.00500, speed: 1.25 step/s, time: 3.25 s\n",
            "divided by numbers of its own",
        ),
        NearMiss(b"[2026-11-20 13:14:40,123] [    INFO] - global step 220, epoch: 28, loss: 0.00500, speed: 1.2", "cut inside the number"),
    ),
)  # fmt: skip
