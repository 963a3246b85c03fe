"""prime-rl's trainer: a line per step with tokens per second of the job.

The tokens are divided by a time that depends on the version. The first ones and the fine-tuning print a mean over the
last ten steps, including all pauses: a slow step or a checkpoint shows for ten steps. The first step prints 0, before
any measurement. The fine-tuning of late 2026 prints the speed of the step alone, which its seconds show. Later
reinforcement learning, whose lines contain `Entropy`, divides by the seconds of forward pass, backward pass and update
alone, without the wait for rollouts: that is not read, and the figure needs the tokens of a step. The seconds of the
line are those of the step, with that wait; from a minute on they are cut to whole seconds, from an hour on to whole
minutes. With context parallelism the fine-tuning printed a part of its tokens until May 2026: if a log states context
parallelism, these lines are not read.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Format,
    Pause,
    Reading,
    lacks,
    median,
    only,
    only_if,
)
from perfledger.parsers.frameworks import PYTORCH_JOB, SEVERAL


def _of_passes(columns: Columns) -> bool:
    """Return whether the speed counts the seconds of two passes and the update alone.

    A mean over the last steps has none to begin with; that of two passes is never 0.
    """
    return bool(np.isfinite(columns["_entropy"]).any() and not (columns["throughput"] == 0).any())


def _of_one_step(columns: Columns) -> bool:
    """Return whether each line shows its own step alone; the speeds of others are means over the last steps."""
    tokens = columns["throughput"] * columns["step_seconds"]
    return _of_passes(columns) or bool((np.abs(tokens / median(tokens) - 1) < _ROUNDS_SECONDS).all())


def _speeds(columns: Columns) -> Columns:
    """Return the lines with their throughput, if it counts whole steps."""
    return columns.drop("throughput") if _of_passes(columns) else columns.take(columns["throughput"] != 0)


#: Share that is lost of seconds, which are cut to whole ones from a minute on.
_ROUNDS_SECONDS = 0.02

_CHECKPOINT = Pause("checkpoint", "Saving checkpoint at step ")
_LINE = Reading(
    "Step {step} | {step_seconds:length} | Loss {loss} |{? Entropy {_entropy} |}{*} Throughput {throughput} tokens/s |{?{*} Peak Mem. {memory:in GiB}{?/{_}} GiB}",
    unit="tokens/s",
    per_update=True,
    # A mean over the last ten steps.
    pauses=(replace(_CHECKPOINT, records=10),),
    where=lacks(rb"(?:--model\.cp[= ]|^cp = )" + SEVERAL),
    verbs=(only_if(_of_one_step, False), _speeds),
)

FORMAT = Format(
    title="prime-rl",
    framework="PyTorch",
    unproven=True,
    readings=(
        _LINE,
        replace(_LINE, pauses=(_CHECKPOINT,), verbs=(only_if(_of_one_step), _speeds)),
        # The first versions.
        replace(
            _LINE,
            pattern="Step {step} | Time: {step_seconds:s} | Loss: {loss} |{*} Throughput: {throughput} tokens/s |{?{*} Peak Mem.: {memory:in GiB}{?/{_}} GiB}",
            verbs=(only(throughput=1.0),),
        ),
    ),
    facts=PYTORCH_JOB,
)  # fmt: skip
