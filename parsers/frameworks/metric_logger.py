"""`MetricLogger` of torchvision's references, DETR, DeiT, MAE, ConvNeXt, DINO and their many copies: a line per `print_freq`.

`Epoch: [0] [ 20/1251] eta: ... time: 0.3500 data: 0.0010 max mem: 8021`. `time` is seconds per iteration with the wait
for data, as a mean over the last twenty iterations of the epoch. Lines overlap where they follow each other more
closely: up to the twentieth iteration the overlap, which holds the slow first one, is undone. A stall between lines
that are further apart shows only in the `Total time` of the epoch, which is held against the records. `Test:` lines are
of an evaluation. An iteration is a batch of each device, however many of them an update accumulates. torchvision's
`img/s` is that of one device without the wait for data, and not read. Neither speed of the job nor its batch size is
printed.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample

#: Iterations over which a mean is taken.
_WINDOW = 20
_PRECISION = {b"True": "amp", b"False": "fp32"}
#: Copies name their evaluations `Val Epoch: [0]`, and their training `Train Epoch: [0]` or `Train: data epoch: [0]`.
_EPOCH = (
    rb"(?<!\w)(?<![Vv]al )(?<![Ee]val )(?<![Tt]est )(?<![Vv]alid )(?<![Vv]alidation )(?<![Ee]valuation )"
    rb"(?:Epoch|Train: data epoch): \[<epoch>(?:/[0-9]++)?+\]"
)
_HEAD = rb"(?:" + _EPOCH + rb"|(?<!\w)Training) ++"


def _apart(columns: Columns) -> Postprocessed:
    """Return the seconds since the line before where the mean still runs since the beginning of the epoch."""
    done = columns["step"] + 1
    more, found = np.diff(done, prepend=np.nan), dict(columns)
    undone = (more > 0) & (done <= _WINDOW)
    if "epoch" in columns:
        undone &= ~(np.diff(columns["epoch"], prepend=np.nan) != 0)
    for name in ("step_seconds", "reader_seconds"):
        since = np.diff(columns[name] * done, prepend=np.nan) / more
        found[name] = np.where(undone & (since > 0), since, columns[name])
    return np.arange(len(done)), found


def _of_epochs(columns: Columns) -> Postprocessed:
    """Return the seconds of whole epochs."""
    hours = 24 * np.nan_to_num(columns["_days"]) + columns["_hours"]
    seconds = 60 * (60 * hours + columns["_minutes"]) + columns["_seconds"]
    return np.arange(len(seconds)), {"epoch": columns["epoch"], "duration": seconds}


def _argument(name: bytes, word: bytes) -> bytes:
    """Return the pattern of an argument, as `Namespace(` prints it, on one line or on many."""
    return rb"(?<=[\s(,])" + name + rb"=" + word + rb"[,)]"


FORMAT = Format(
    title="MetricLogger (torchvision, DETR, DeiT, MAE, DINO)",
    framework="PyTorch",
    marker=b"]  eta: ",
    # Every process announces itself.
    start=rb"(?:\| distributed init \(rank 0\): |Not using distributed mode)",
    end=rb"^Training time [0-9]",
    readings=(
        Reading(
            _HEAD + rb"\[ *+<step>/<total_steps>\]  eta: [^\r\n:\[]*+:[0-9:]++"
            rb"(?:(?=(?:[^\r\n \[]++| (?!loss: |total_loss: |time: ))*+ (?:total_)?+loss: <loss>(?=\s)))?+"
            rb"(?:[^\r\n \[]++| (?!time: ))*+ time: <step_seconds>  data: <reader_seconds>(?=\s)"
            rb"(?:  max mem: (?P<memory>[0-9]++)(?=\s))?+",
            unit="samples/s",
            epoch_timer=True,
            postprocess=_apart,
        ),
        Reading(
            _EPOCH + rb" Total time: (?:(?P<_days>[0-9]++) days?, )?+"
            rb"(?P<_hours>[0-9]++):(?P<_minutes>[0-9]{2}):(?P<_seconds>[0-9]{2}) \(",
            unit="samples/s",
            span="epoch",
            marker=b"] Total time: ",
            weak=True,
            postprocess=_of_epochs,
        ),
    ),
    facts=(
        Fact("batch_size", _argument(rb"batch_size", rb"(\d++)"), int),
        Fact("batch_size", rb"^batch_size_per_gpu: (\d++)$", int),
        Fact("devices", _argument(rb"world_size", rb"(\d++)"), int),
        Fact("devices", rb"^world_size: (\d++)$", int),
        Fact("devices", rb"^(Not using distributed mode)", lambda _: 1),
        Fact("accumulation", _argument(rb"(?:accum_iter|update_freq)", rb"(\d++)"), int),
        Fact("model", _argument(rb"model", rb"'([\w.-]++)'")),
        Fact("model", rb"^arch: ([\w.-]++)$"),
        Fact("total_epochs", _argument(rb"epochs", rb"(\d++)"), int),
        Fact("total_epochs", rb"^epochs: (\d++)$", int),
        Fact("precision", _argument(rb"amp", rb"(True|False)"), words=_PRECISION),
        Fact("precision", rb"^use_fp16: (True|False)$", words=_PRECISION),
    ),
    samples=(
        Sample(
            b"Epoch: [2]  [  20/1251]  eta: 0:07:10  lr: 0.000100  loss: 6.2500 (6.5000)  time: 0.3500  data: 0.0010  max mem: 8021\n",
            epoch=2, step=20, total_steps=1251, loss=6.25, step_seconds=0.35, reader_seconds=0.001, memory=8021,
        ),
        Sample(
            b"Epoch: [0/100]  [   0/2502]  eta: 1 day, 2:04:31  loss: 10.5 (10.5)  lr: 0.000000 (0.000000)  time: 37.500000  "
            b"data: 30.250000  max mem: 13871\n",
            epoch=0, step=0, step_seconds=37.5, reader_seconds=30.25,
        ),
        Sample(
            b"I20261120 09:37:05 402074 dinov2 helpers.py:102] Training  [  3490/125000]  eta: 14:39:00  lr: 0.0001 (0.0001)  "
            b"total_loss: 2.4500 (2.5000)  time: 0.400125  data: 0.003125  max mem: 14504\n",
            step=3490, loss=2.45, step_seconds=0.400125,
        ),
        Sample(
            b"Train: data epoch: [1]  [   50/5000]  eta: 0:41:17  lr: 0.0001  loss: 2.5000  time: 0.5000  data: 0.0000  max mem: 9021\n",
            epoch=1, step=50, loss=2.5, step_seconds=0.5,
        ),
        Sample(
            b"Epoch: [1]  [ 10/60]  eta: 0:02:17  lr: 0.01  img/s: 64.5  time: 2.2500  data: 0.2500\n",
            epoch=1, step=10, step_seconds=2.25,
        ),
        NearMiss(
            b"Test:  [  0/196]  eta: 0:09:31  loss: 0.9000 (0.9000)  acc1: 80.1 (80.1)  time: 2.9155  data: 2.5000  max mem: 8021\n",
            "an evaluation",
        ),
        NearMiss(
            b"Val Epoch: [1]  [ 10/60]  eta: 0:02:17  loss: 0.9000 (0.9000)  time: 2.2500  data: 0.2500  max mem: 8021\n",
            "an evaluation with the number of its epoch",
        ),
        Sample(b"Epoch: [2] Total time: 0:07:24 (0.3550 s / it)\n", epoch=2, _hours=0, _minutes=7, _seconds=24),
        NearMiss(b"Test: Total time: 0:00:09 (0.9155 s / it)\n", "an evaluation"),
        NearMiss(
            b"Epoch: [2]  [  20/1251]  eta: 0:07:10  lr: 0.000100  loss: 6.2500 (6.5000)  time: 0.3500  data: 0.00", "cut"
        ),
    ),
)  # fmt: skip
