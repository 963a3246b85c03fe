"""Coqui's trainer (TTS, XTTS, VITS): a block per `print_step` batches, whose date is its only whole time.

`step_time` and `loader_time` below it are those of the last batch alone, and not read. The batch size is not printed,
so the log gives the time of a batch and no speed. `STEP` restarts with each epoch, and `GLOBAL_STEP` continues. Blocks
without `TIME`, as releases of 2021 print them, are not read.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Pause, Reading

FORMAT = Format(
    title="Coqui's trainer",
    framework="PyTorch",
    unproven=True,
    start="Training Environment:",
    readings=(
        Reading(
            "--> TIME: {clock} -- STEP: {_}/{_} -- GLOBAL_STEP: {step}",
            unit="samples/s",
            pauses=(
                Pause("evaluation", "--> EVAL PERFORMANCE"),
                Pause("checkpoint", "BEST MODEL : "),
                Pause("checkpoint", "CHECKPOINT : "),
            ),
        ),
    ),
    facts=(Fact("parameters", "Model has {:int} parameters"),),
)
