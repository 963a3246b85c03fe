"""PaddleNLP's examples until 2022 (text classification, matching) and their copies: steps per second since the last line.

Source: `train.py` of PaddleNLP's `examples/text_classification` and `examples/text_matching`. A step is a batch of each
device, whose size no line states; rank 0 prints. An evaluation is part of the record after it. The speed has only two
decimals. Copies in PyTorch that print a learning rate after the speed print a mean since the start, and are not read.
"""

from __future__ import annotations

from perfledger.parsers.contract import Format, Pause, Reading, fine
from perfledger.parsers.paddle import IN_PADDLE, LAUNCHER

FORMAT = Format(
    title="PaddleNLP examples",
    unproven=True,
    readings=(
        Reading(
            "global step {step}, epoch: {epoch}, batch: {_}, loss: {loss}, {?{acc|accu|accuracy}: {_}, }speed: {steps_per_second} step/s$",
            unit="samples/s",
            verbs=(fine("steps_per_second", 0.01),),
            pauses=(Pause("evaluation", "eval {?dev }loss: "),),
        ),
    ),
    facts=(IN_PADDLE, *LAUNCHER),
)  # fmt: skip
