"""UIE of PaddleNLP (`uie/finetune.py`), and its copies in PyTorch: steps per second since the last line.

A step is a batch of each device, whose size no line states. The timer restarts after an evaluation and the checkpoint
before it. Scripts that print the same without a logger, or with further values, divide by other numbers, and are not
read.
"""

from __future__ import annotations

from perfledger.parsers.contract import Format, Pause, Reading, fine
from perfledger.parsers.paddle import IN_PADDLE, LAUNCHER

FORMAT = Format(
    title="PaddleNLP UIE",
    unproven=True,
    readings=(
        Reading(
            "INFO] - global step {step}, epoch: {epoch}, loss: {loss}, speed: {steps_per_second} step/s$",
            unit="samples/s",
            verbs=(fine("steps_per_second", 0.01),),
            pauses=(
                Pause("evaluation", "Evaluation precision: ", inside="none"),
            ),
        ),
    ),
    facts=(IN_PADDLE, *LAUNCHER),
)  # fmt: skip
