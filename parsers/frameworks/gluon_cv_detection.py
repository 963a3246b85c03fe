"""GluonCV's detection scripts (SSD, YOLOv3, CenterNet, Faster and Mask R-CNN): the seconds of each epoch.

`Speed` of SSD, YOLOv3 and CenterNet is that of the last batch alone, up to four times too high, and not read;
`Training cost` is the epoch without its validation. An epoch contains all images of the data set, since an incomplete
batch rolls over to the next. SSD does not print their number, and `dataset='voc'` may be a custom set in that layout:
the printed batches must agree with the number of images. `Speed` of R-CNNs is that of the interval. Batch sizes are
those of the job.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    Reading,
    listed,
    median,
    undo_mean,
    up_to_argument,
)

#: A terminal shows the lines of the root logger with its level and name; its file does not.
_ARGUMENTS = rb"^(?:INFO:root:)?+Namespace\("


def _named(argument: bytes) -> bytes:
    """Return a pattern for the arguments, up to the value of one of them."""
    return _ARGUMENTS + up_to_argument(argument)


#: Epochs of a few batches print no batch, and then the log does not show whose images they are.
_SET = (
    _named(b"dataset")
    + rb"'(%s)'"
    + up_to_argument(b"save_prefix")
    + rb"'[^'\n]{0,200}?(?:ssd|yolo|center_net)(?:(?!Training cost: |Namespace\()[\s\S]){0,9000}?\]\[Batch "
)


def _number(key: bytes) -> bytes:
    """Return a pattern for a number of the arguments."""
    return _named(key) + rb"([1-9][0-9]*+)[,)]"


def _epochs(columns: Columns) -> Columns:
    """Return the epochs with the batches of the data set, clipped to the range that the printed batches allow."""
    rows = np.flatnonzero(np.isfinite(columns["duration"]))
    found = columns.take(rows)
    done, full = columns["_batch"] + 1, columns["_data_set_size"] / columns["_batch_size_of_job"]
    gaps = np.diff(done, prepend=0.0)
    if not len(rows) or not (gaps > 0).any() or not np.isfinite(full).all():
        return found
    begun = np.concatenate([[0], rows[:-1] + 1])
    last = np.median([np.nanmax(done[first:row], initial=0.0) for first, row in zip(begun, rows, strict=True)])
    # Images left over from the epoch before may add one batch.
    return found.assign(steps=np.full(len(rows), np.clip(full[0], last - 1, last + median(gaps[gaps > 0]) + 1)))


FORMAT = Format(
    title="GluonCV detection",
    framework="MXNet",
    start="Start training from [Epoch {_}]",
    before_start=_ARGUMENTS,
    readings=(
        Reading(
            rb"\[Epoch <epoch>\](?:\[Batch (?P<_batch>[0-9]++)\], (?:LR: \S++ )?+Speed: [0-9.]++ samples/sec, | Training cost: <duration>, )"
            rb"(?!RPN_)(?=[A-Z]\w*+=)",
            unit="images/s",
            span="epoch",
            verbs=(_epochs,),
        ),
        Reading(
            "[Epoch {epoch}][Batch {step}], Speed: {throughput} samples/sec, RPN_Conf=",
            unit="images/s",
            # Counts the steps, also of an epoch that prints a single line; no mean needs undoing.
            verbs=(undo_mean(first=1),),
        ),
        Reading("[Epoch {epoch}] Training cost: {duration}, RPN_Conf=", unit="images/s", span="epoch"),
    ),
    facts=(
        Fact("model", _named(b"save_prefix") + rb"'(?:[^'/\n]++/)*+([^'/\n]++)'"),
        Fact("batch_size_of_job", _number(rb"batch_size"), int),
        # With Horovod each worker names its own.
        Fact("devices", _ARGUMENTS + rb"(?!" + up_to_argument(b"horovod") + rb"True\b)" + up_to_argument(b"gpus") + rb"'([0-9,]++)'", listed),
        Fact("total_epochs", _number(rb"epochs"), int),
        Fact("data_set_size", _number(rb"num_samples"), int),
        Fact("data_set_size", _SET % rb"voc", lambda _: 16_551),
        Fact("data_set_size", _SET % rb"coco", lambda _: 117_266),
        Fact("precision", _named(b"amp") + rb"(True|False)\b", words={b"True": "amp", b"False": "fp32"}),
    ),
)  # fmt: skip
