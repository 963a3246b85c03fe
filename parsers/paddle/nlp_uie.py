"""UIE of PaddleNLP (`uie/finetune.py`), and its copies in PyTorch: steps per second since the last line.

A step is a batch of each device, whose size no line states. The timer restarts after an evaluation and the checkpoint
before it. Scripts that print the same without a logger, or with further values, divide by other numbers, and are not
read.
"""

from __future__ import annotations

from perfledger.parsers.contract import Format, Pause, Reading
from perfledger.parsers.paddle import IN_PADDLE, LAUNCHER, of_two_decimals

FORMAT = Format(
    title="PaddleNLP UIE",
    unproven=True,
    readings=(
        Reading(
            "INFO] - global step {step}, epoch: {epoch}, loss: {loss}, speed: {steps_per_second} step/s$",
            unit="samples/s",
            verbs=(of_two_decimals,),
            pauses=(
                Pause("evaluation", "Evaluation precision: ", inside="none"),
            ),
        ),
    ),
    facts=(IN_PADDLE, *LAUNCHER),
)  # fmt: skip
