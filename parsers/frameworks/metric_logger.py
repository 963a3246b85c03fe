"""`MetricLogger` of torchvision's references, DETR, DeiT, MAE, ConvNeXt, DINO and their many copies: a line per `print_freq`.

`Epoch: [0] [ 20/1251] eta: ... time: 0.3500 data: 0.0010 max mem: 8021`. `time` is seconds per iteration with the wait
for data, as a mean over the last twenty iterations of the epoch. Lines that follow each other more closely overlap:
this is undone up to the twentieth iteration, so that the slow first one counts once. If lines are further apart,
loaders may stall for iterations that no mean includes: the `Total time` of an epoch, which is that of its iterations
alone, contradicts the lines then. `Test:` lines are of an evaluation. An iteration is a batch of each device, however
many of them an update accumulates. torchvision's `img/s` is that of one device without the wait for data, and not read.
Neither speed of the job nor its batch size is printed. LLaMA2-Accessory prints no `eta`.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    EPOCH_TIMER,
    Columns,
    Fact,
    Format,
    Reading,
    undo_window,
)

#: Iterations over which a mean is taken.
_WINDOW = 20
_PRECISION = {b"True": "amp", b"False": "fp32"}
#: Copies name their evaluations `Val Epoch: [0]`, and their training `Train Epoch: [0]` or `Train: data epoch: [0]`. LAVIS counts
#: epochs within a pass over endless data: `Train: data epoch: [0]; inner epoch [3]`.
_EPOCH = (
    rb"(?<!\w)(?<![Vv]al )(?<![Ee]val )(?<![Tt]est )(?<![Vv]alid )(?<![Vv]alidation )(?<![Ee]valuation )"
    rb"(?:Epoch|Train: data epoch): (?:\[[0-9]++\]; inner epoch )?+\[<epoch>(?:/[0-9]++)?+\]"
)
#: VideoMAE and others print the least and the greatest value of the window as well.
_RANGE = rb"(?: \([0-9.]++ -- [0-9.]++\))?+"
#: Some copies print decimals.
_LEFT = rb"(?:[0-9]++ days?, )?+[0-9]++:[0-9]{2}:[0-9]{2}(?:\.[0-9]++)?+"


def apart(columns: Columns) -> Columns:
    """Return the seconds since the line before: the mean runs since the epoch began, or leaves iterations out."""
    begins = np.diff(columns.get("epoch", columns["step"] * 0), prepend=np.nan) != 0
    return undo_window(columns, columns["step"] + 1, np.where(begins, 0.0, _WINDOW))


def _argument(name: bytes, word: bytes) -> bytes:
    """Return the pattern of an argument, as `Namespace(` prints it, on one line or on many."""
    return rb"(?<=[\s(,])" + name + rb"=" + word + rb"[,)]"


def _in_json(name: bytes, word: bytes) -> bytes:
    """Return the pattern of a parameter, as LAVIS and MiniGPT-4 print it: an indented JSON object."""
    return rb'^ {4}"' + name + rb'": ' + word + rb",?+$"


def _key(name: bytes, word: bytes) -> bytes:
    """Return the pattern of a key of the configuration that RT-DETR, D-FINE and DEIM print, as a dictionary or as JSON."""
    return rb"['\"]" + name + rb"['\"]: ['\"]?+" + word + rb"['\"]?+[,}\n]"


#: The batch size of the training; the same key for the validation follows it.
_TRAINING = (
    rb"['\"]train_dataloader['\"]: \{(?:(?!['\"](?:(?:train|val)_dataloader|total_batch_size)['\"])[\s\S]){0,9000}+"
    + _key(rb"total_batch_size", rb"(\d++)")
)


FORMAT = Format(
    title="MetricLogger (torchvision, DETR, DeiT, MAE, DINO)",
    framework="PyTorch",
    # Every process announces itself.
    start=rb"(?:\| distributed init \(rank 0\): |Not using distributed mode|Not init distributed mode\.|Initialized distributed mode\.\.\.)",
    end=rb"^(?:[0-9 :,-]{8,}+ \[INFO\] )?+Training time [0-9]",
    readings=(
        Reading(
            _EPOCH + rb" ++\[ *+<step>/<total_steps>\](?: ++eta: ?+" + _LEFT + rb")?+(?=\s)"
            rb"(?:(?=(?:[^\r\n \[]++| (?!loss: |total_loss: |time: ))*+ (?:total_)?+loss: <loss>(?=\s)))?+"
            rb"(?:[^\r\n \[]++| (?!time: ))*+ time: <step_seconds>" + _RANGE + rb" ++data: <reader_seconds>" + _RANGE
            + rb"(?=\s)(?: ++max mem: (?P<memory>[0-9]++)(?=\s))?+",
            unit="samples/s",
            pauses=(EPOCH_TIMER,),
            verbs=(apart,),
        ),
        # DINOv2 prints no epoch, and restarts its means when it is resumed.
        Reading(
            "Training  [{step}/{total_steps}]  eta: {*}total_loss: {loss} {*} time: {step_seconds}  data: {reader_seconds}{?  max mem: {memory}}",
            unit="samples/s",
            pauses=(EPOCH_TIMER,),
            verbs=(apart,),
        ),
        Reading(
            _EPOCH + rb" Total time: (?P<duration>(?:[0-9]++ days?, )?+[0-9:]++) \(<step_seconds> s / it\)",
            unit="samples/s",
            span="epoch",
            weak=True,
        ),
    ),
    facts=(
        Fact("batch_size", _argument(rb"batch_size", rb"(\d++)"), int),
        Fact("batch_size", "^batch_size_per_gpu: {:int}$"),
        Fact("batch_size", _in_json(rb"batch_size_train", rb"(\d++)"), int),
        Fact("devices", _argument(rb"world_size", rb"(\d++)"), int),
        Fact("devices", _in_json(rb"world_size", rb"(\d++)"), int),
        Fact("devices", "^world_size: {:int}$"),
        Fact("batch_size_of_job", _TRAINING, int),
        Fact("devices", rb"^(Not using distributed mode|Not init distributed mode\.)", lambda _: 1),
        Fact("devices", "^| distributed init (rank {_}, world {:int}): "),
        Fact("accumulation", _argument(rb"(?:accum_iter|update_freq)", rb"(\d++)"), int),
        Fact("accumulation", _in_json(rb"accum_grad_iters", rb"(\d++)"), int),
        Fact("model", _argument(rb"model", rb"'([\w.-]++)'")),
        Fact("model", "^arch: {}$"),
        Fact("model", _in_json(rb"arch", rb'"([\w.-]++)"')),
        Fact("model", _key(rb"config", rb"(?:[^'\"/\\\n]*+[/\\]++)*+([\w-]++(?:\.(?!ya?+ml)[\w-]++)*+)\.ya?+ml")),
        Fact("total_epochs", _argument(rb"epochs", rb"(\d++)"), int),
        Fact("total_epochs", "^epochs: {:int}$"),
        Fact("total_epochs", _in_json(rb"max_epoch", rb"(\d++)"), int),
        Fact("total_epochs", _key(rb"epoches", rb"(\d++)"), int),
        Fact("precision", _argument(rb"amp", rb"(True|False)"), words=_PRECISION),
        Fact("precision", rb"^use_fp16: (True|False)$", words=_PRECISION),
        Fact("precision", _in_json(rb"amp", rb"(true|false)"), words={b"true": "amp", b"false": "fp32"}),
        Fact("precision", _key(rb"use_amp", rb"([Tt]rue|[Ff]alse)"), words={b"true": "amp", b"True": "amp", b"false": "fp32", b"False": "fp32"}),
    ),
)  # fmt: skip
