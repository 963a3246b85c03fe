"""Chinese-CLIP (`cn_clip/training/main.py`): a line per `log_interval` steps.

`Batch Time` is of the one step that is printed, with the wait for data. Where each step is printed it tells the speed;
of those in between it says nothing, since loaders stall for one in so many, and the stamps of the lines tell it: of
these, whose date ends with a comma, the time of day is read. A validation has lines of its own; it, a checkpoint and
the end of an epoch lie in the record after them. A step is an update, and the batch size that of the job over all
batches that it accumulates.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Pause, Postprocessed, Reading
from perfledger.parsers.contract.statistics import median


def _told(columns: Columns) -> Postprocessed:
    """Return the records, without the seconds of single steps where others lie between them."""
    gaps = np.diff(columns["step"])
    apart = len(gaps) > 0 and median(gaps) > 1
    kept = {name: each for name, each in columns.items() if not (apart and name == "step_seconds")}
    return np.arange(len(columns["step"])), kept


def _parameter(name: bytes, word: bytes) -> bytes:
    """Return the pattern of a line of the parameters."""
    return rb" \|   " + name + rb": " + word + rb"\s"


FORMAT = Format(
    title="Chinese-CLIP",
    framework="PyTorch",
    marker=b" | Global Steps: ",
    unproven=True,
    start=rb" \| INFO \| Rank 0 \| Params:",
    readings=(
        Reading(
            rb"(?P<clock>\d\d:\d\d:\d\d) \| INFO \| Rank 0 \| Global Steps: <step>/<total_steps> \| Train Epoch: <epoch> "
            rb"\[[0-9]++/[0-9]++ \([0-9]++%\)\] \| Loss: <loss> \| (?:[^\r\nBG]++|B(?!atch Time: )|G(?!lobal ))*+"
            rb"Batch Time: <step_seconds>s \| (?:[^\r\nG]++|G(?!lobal ))*+Global Batch Size: <batch>(?=\s)",
            unit="samples/s",
            counts="update",
            epoch_end=True,
            verbs=(_told,),
            pauses=(
                Pause("evaluation", rb"\| INFO \| Rank 0 \| Validation Result "),
                Pause("evaluation", rb"Begin to eval on validation set"),
                Pause("checkpoint", rb"Saved checkpoint "),
            ),
        ),
    ),
    facts=(
        Fact("devices", _parameter(rb"world_size", rb"(\d++)"), int),
        Fact("accumulation", _parameter(rb"accum_freq", rb"(\d++)"), int),
        Fact("model", _parameter(rb"vision_model", rb"([\w.-]++)")),
        Fact("total_epochs", _parameter(rb"max_epochs", rb"(\d++)"), int),
        Fact("precision", _parameter(rb"precision", rb"(amp|fp16|fp32)")),
    ),
)  # fmt: skip
