"""Chinese-CLIP (`cn_clip/training/main.py`): a line per `log_interval` steps.

`Batch Time` is of the one step that is printed, with the wait for data. Where each step is printed it tells the speed;
of those in between it says nothing, since loaders stall for one in so many, and the stamps of the lines tell it: of
these, whose date ends with a comma, the time of day is read. A validation has lines of its own; it, a checkpoint and
the end of an epoch lie in the record after them. A step is an update, and the batch size that of the job over all
batches that it accumulates.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, NearMiss, Pause, Postprocessed, Reading, Sample
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
            postprocess=_told,
            pauses=(
                Pause("evaluation", rb"\| INFO \| Rank 0 \| Validation Result ", b"2026-11-20,10:00:50 | INFO | Rank 0 | Validation Result (epoch 1 @ 100 steps) | Valid Loss: 0.5"),
                Pause("evaluation", rb"Begin to eval on validation set", b"2026-11-20,10:00:50 | INFO | Rank 0 | Begin to eval on validation set (epoch 1 @ 100 steps)..."),
                Pause("checkpoint", rb"Saved checkpoint ", b"2026-11-20,10:00:50 | INFO | Rank 0 | Saved checkpoint exp/checkpoints/epoch1.pt (epoch 1 @ 100 steps) (writing took 12.5 seconds)"),
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
    samples=(
        Sample(
            b"2026-11-20,10:00:00 | INFO | Rank 0 | Global Steps: 20/735 | Train Epoch: 1 [20480/250880 (8%)] | Loss: 2.250000 | Image2Text Acc: 53.12 | "
            b"Text2Image Acc: 52.50 | Data Time: 0.125s | Batch Time: 1.625s | LR: 0.000010 | logit_scale: 4.605 | Global Batch Size: 1024\n",
            epoch=1, step=20, total_steps=735, loss=2.25, batch=1024, step_seconds=1.625,
        ),
        NearMiss(
            b"2026-11-20,10:00:50 | INFO | Rank 0 | Validation Result (epoch 1 @ 100 steps) | Valid Loss: 0.5 | Image2Text Acc: 53.12 | logit_scale: 4.605 | Valid Batch Size: 128\n",
            "a validation",
        ),
        NearMiss(
            b"2026-11-20,10:00:00 | INFO | Rank 0 | Global Steps: 20/735 | Train Epoch: 1 [20480/250880 (8%)] | Loss: 2.250000 | Data Time: 0.1", "cut"
        ),
    ),
)  # fmt: skip
