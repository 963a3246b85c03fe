"""Scripts over Accelerate that draw a bar `Steps:` with the learning rate behind its speed, such as those of diffusers.

The bar counts optimiser updates of the whole job, and tells the seconds since the start. The speed that it prints is
smoothed over the last few redraws, so that the figure is of these seconds. Each micro-batch draws the bar again; a step
counts once, when its update first shows. The last step may hold the last checkpoint and is left out. A resumed run
begins its bar at the step it goes on from. What a sample is (an image, a video) the head does not say. The `no_trainer`
examples of transformers print the same head, and draw a bar without a name: the Trainer's format reads it.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Pause, Postprocessed, Reading, grouped
from perfledger.parsers.frameworks import ACCELERATE, PYTORCH_JOB
from perfledger.parsers.frameworks.hf_trainer import FORMAT as TRAINER

#: Nodes that draw their bars side by side may differ by so many steps.
_LAG = 3


def first_drawn(columns: Columns) -> Postprocessed:
    """Return the lines of a bar that first show a step; a bar that begins anew is that of another run."""
    step, clock = columns["step"], columns["clock"]
    anew = np.zeros(len(step), dtype=np.bool_)
    anew[1:] = (np.diff(step) < -_LAG) | (clock[1:] < 0.5 * clock[:-1] - _LAG)
    _, rows = np.unique(np.stack([np.cumsum(anew), step]), axis=1, return_index=True)
    rows = np.sort(rows)
    return rows, {name: each[rows] for name, each in columns.items()}


def bar(name: bytes, postfix: bytes) -> bytes:
    """Return the pattern of a bar with a name, at a step other than the last, and with something behind its speed.

    Where no terminal tells its width, as in Colab, none is drawn between the share and the steps.
    """
    return (
        rb"\b%s: ++[0-9]++%%(?:\|[^|\r\n]{0,400}+\|)?+ (?P<step>[1-9][0-9]*+)/(?!(?P=step) )<total_steps> "
        rb"\[(?P<elapsed>[0-9:]++)<[0-9:?]++(?:, ++[0-9.]++(?:s/it|it/s))?+, %s"
    ) % (name, postfix)


FORMAT = Format(
    title="Accelerate scripts (diffusers)",
    framework="PyTorch",
    marker=b"teps: ",
    start=TRAINER.start,
    before_start=rb"Distributed environment: ",
    over=("frameworks.hf_trainer",),
    readings=(
        Reading(
            # finetrainers says what steps.
            bar(rb"(?:S|Training s)teps", rb"(?:(?!lr=)\w++=[^,\]\r\n]++, )*+lr="),
            unit="samples/s",
            counts="update",
            pauses=(
                Pause("evaluation", rb"Running validation\.\.\."),
                Pause("checkpoint", rb"Saved state to "),
            ),
            verbs=(first_drawn,),
        ),
    ),
    facts=(
        Fact("batch_size", rb"Instantaneous batch size per device = ([0-9,]++)", grouped),
        Fact("batch_size_of_job", rb"Total train batch size \(w\. parallel, distributed & accumulation\) = ([0-9,]++)", grouped),
        Fact("accumulation", rb"Gradient Accumulation steps = ([0-9,]++)", grouped),
        Fact("data_set_size", rb"\bNum examples = ([0-9,]++)$", grouped),
        Fact("total_epochs", rb"\bNum Epochs = ([0-9,]++)$", grouped),
        Fact("total_steps", rb"\bTotal optimization steps = ([0-9,]++)$", grouped),
        # PaddleMIX draws the same bar; its logger fills the level with blanks.
        Fact("framework", rb"(\] \[ ++INFO\] - \*{5} Running training \*{5})", lambda _: "PaddlePaddle"),
        *PYTORCH_JOB,
        *ACCELERATE,
    ),
)  # fmt: skip
