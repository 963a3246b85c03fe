"""Ultralytics YOLO, and YOLOv5 before it: a bar per epoch, whose complete state counts.

The bar counts global batches and contains training alone; bars that begin with `Class Images` are validations. Its rate
is smoothed until it is complete, and then a mean over the epoch with one or two decimals; elapsed time is cut to whole
seconds. The seconds of an epoch are those of the rate, kept within that second; YOLOv5 of late 2022 prints no rate. The
bars that Ultralytics draws itself since 2025, without brackets, round their time, to tenths below a minute. Memory is
in GB, and since 8.3.76 in GiB. The last batch of an epoch may be smaller: where the log shows the images of the data
set it counts as a part, elsewhere the figure is too high by less than one batch per epoch. A bar ends with the size of
the images; that of YOLOv5's classifier ends with an accuracy, contains the validation, and is not read. The batch size
is that of all devices; it changes where it is chosen by the memory (`AutoBatch`) or reduced when memory runs out.
"""

from __future__ import annotations

import re

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Condition,
    Fact,
    Format,
    Reading,
    fine,
    lacks,
    listed,
    only,
    says,
    states,
    up_to_argument,
)
from perfledger.parsers.frameworks import SEVERAL

#: The last of the states of a bar that was not completed; they may be in lines of their own, and something else follows.
_UNFINISHED = rb"| *+[0-9]{1,2}%[^0-9\r\n]{1,400}+(?P<_open>[1-9][0-9]*+)/[0-9]++(?=[^\r\n]*+\r?+\n(?! *+[0-9]++/[0-9]++ ++[0-9.]++G )[\s\S])"


def epochs(columns: Columns) -> Columns:
    """Return the last complete state of each epoch's bar; YOLOv5 counts epochs from 0 up to the last.

    If the batches of an epoch are those of the data set, the last one counts as a fraction of a batch. If a run ended
    within its first epoch, its last state is returned. The rate of that state is smoothed, so its time shows the speed.
    """
    within = "_open" in columns and not np.isfinite(columns["steps"]).any()
    bar = columns.assign(steps=columns["_open"]) if within else columns
    found = states("epoch", last=True)(only("steps")(bar))
    steps, elapsed = found["steps"], found["duration"]
    rated = "steps_per_second" in columns
    by_rate = steps * np.fmax(found["step_seconds"], 1 / found["steps_per_second"]) if rated else elapsed
    if len(steps):
        full = columns["_data_set_size"][0] / columns["_batch_size_of_job"][0]
        steps = np.where(np.ceil(full) == steps, full, steps)
    if within or not rated:
        seconds = (found if "_tenths" in columns else fine("duration", 1.0, cut=True)(found))["duration"]
    elif "_tenths" in columns:
        half = np.where(np.isfinite(found["_tenths"]), 0.05, 0.5)
        seconds = np.clip(by_rate, elapsed - half, elapsed + half)
    else:
        seconds = np.clip(by_rate, elapsed, elapsed + 1)
    total = found["total_epochs"] + (columns["epoch"].min() == 0)
    found = found.assign(steps=steps, step_seconds=seconds / steps, total_epochs=total)
    return found.drop("steps_per_second", "duration")


#: Releases that print the memory in GiB, from 8.3.76 on.
_IN_GIB = rb"^Ultralytics (?:8\.3\.(?:7[6-9]|[89][0-9]|[0-9]{3})|8\.(?:[4-9]|[0-9]{2})\.|(?:9|[0-9]{2})\.)"


def _bar(state: bytes, unit: bytes, where: Condition | None = None) -> Reading:
    """Return the reading of a complete bar.

    Args:
        state: a pattern for the text after its steps.
        unit: the unit of its `G`.
        where: a condition on the log.
    """
    return Reading(
        rb"(?<![^\r\n]) *+<epoch>/<total_epochs> ++(?:0G|<memory:"
        + unit
        + rb">G) ++(?:[-+.0-9a-z]++ ++)++[0-9]{2,5}+: (?:100%"
        rb"[^0-9\r\n]{1,400}+(?P<steps>[1-9][0-9]*+)/(?P=steps)" + _UNFINISHED + rb") " + state,
        unit="images/s",
        span="epoch",
        where=where,
        verbs=(epochs,),
    )


def _sound(printed: bytes) -> int:
    """Count the images that can be read: `3 corrupt: 100%|██| 2700` leaves 2697."""
    numbers = re.findall(rb"[0-9]++", printed)
    return int(numbers[-1]) - int(numbers[0])


#: What YOLOv7 and YOLOv5 of 2020 print of their arguments.
_NAMESPACE = rb"\bNamespace\((?=" + up_to_argument(b"total_batch_size") + rb")"


def _named(argument: bytes) -> bytes:
    """Return a pattern for these arguments, up to the value of one of them."""
    return _NAMESPACE + up_to_argument(argument)


#: The devices that these list if the arguments name no device: one process trains on all of them.
_LISTED_DEVICES = (
    rb"^(?:YOLOv5|YOLOR|Using torch) [^\n]*?\b(CUDA:0 \([^\n]*+(?:\n ++CUDA:[0-9]++ \([^\n]*+)*+)\s++"
    + _named(b"device")[2:]
    + rb"''(?=[,)])(?="
    + up_to_argument(b"world_size")
    + rb"1[,)])"
)
RATE = rb"(?:(?P<steps_per_second>[0-9.]++)it/s|(?P<step_seconds>[0-9.]++)s/it)"
#: YOLOv5 prints the name of its script, which is `train_dual` in YOLOv9.
_SCRIPT = rb"train(?:_[a-z]++)?+: weights="
_ARGUMENTS = rb"\b(?:engine/trainer: |" + _SCRIPT + rb")"


def _stated(argument: bytes) -> bytes:
    """Return a pattern for the arguments of YOLOv5 and later, up to the value of one of them."""
    return _ARGUMENTS + _up_to(argument)


def _up_to(argument: bytes) -> bytes:
    return up_to_argument(argument, again=rb"engine/trainer: |: weights=")


#: What YOLOv5 prints where no device is named: one process trains on all devices that it sees. Releases that list the first of
#: them only warn of the others before they start; where a launcher starts several processes, its asterisks precede.
_ONLY_DEVICE = (
    rb"(?<!\*\n)^"
    + _SCRIPT
    + _up_to(b"device")
    + rb", [^\n]*+\n(?:(?!YOLOv5 )[^\n]*+\n){0,20}+YOLOv5 [^\n]*?\b(CUDA:0) \([^\n]*+\n"
    rb"(?! ++CUDA:1)(?:(?!Starting training for |[^\n]*?\bDP not recommended)[^\n]*+\n){0,2000}+Starting training for "
)

#: The end of a line after the elapsed time.
_ENDS = rb"[ \t]*+(?=[\r\n])"
_ELAPSED = rb"(?P<duration>[0-9:]++)" + _ENDS
_OF_TQDM = rb"\[(?P<duration>[0-9:]++)<[0-9:]++, *+" + RATE + rb"[\],]"

FORMAT = Format(
    title="Ultralytics YOLO",
    framework="PyTorch",
    needs=b": 100%",
    # With several devices the command and its first process both print them.
    start=_ARGUMENTS + rb"(?:(?:(?!GPU_mem|gpu_mem|" + _ARGUMENTS + rb")[\s\S]){0,60000}+" + _ARGUMENTS + rb")*+|" + _NAMESPACE,
    # The validation at the end begins like a run.
    before_start=rb"^(?:Ultralytics|YOLOv5|YOLOR) [^\n]*+\n(?: ++CUDA:[^\n]*+\n)*+(?!\S++ summary \(fused\))",
    end="^{_} epochs completed in {_} hours",
    readings=(
        _bar(RATE + rb" (?P<duration>[0-9:]++(?P<_tenths>\.[0-9])?+)s?+(?:<[0-9:.]++s?+)?+" + _ENDS, b"GiB"),
        _bar(_OF_TQDM, b"decimal GB", lacks(_IN_GIB)),
        _bar(_OF_TQDM, b"GiB", says(_IN_GIB)),
        _bar(_ELAPSED, b"decimal GB"),
        Reading(
            "^{_} epochs completed in {seconds:hours}",
            unit="images/s",
            span="run",
            weak=True,
        ),
    ),
    facts=(
        Fact("model", rb"^((?:YOLO|yolo|gelan|rtdetr|RT-?DETR)[\w-]*+) summary: "),
        Fact("model", _ARGUMENTS + rb"(?:" + _up_to(b"model") + rb")?+(?:[^,\s/]++/)*+(yolo[\w-]++|rtdetr[\w-]++)\.(?:pt|yaml)\b"),
        Fact("model", _ARGUMENTS + rb", cfg=(?:[^,\s/]++/)*+((?:yolo|gelan)[\w-]++)\.yaml,"),
        Fact("model", _named(b"cfg") + rb"'(?:[^',\s/]++/)*+(yolo[\w-]++)\.yaml'"),
        Fact("batch_size_of_job", "Reducing to batch={:int} and retrying (3/3)"),
        Fact("batch_size_of_job", "Reducing to batch={:int} and retrying (2/3)"),
        Fact("batch_size_of_job", "Reducing to batch={:int} and retrying (1/3)"),
        Fact("batch_size_of_job", "Using batch-size {:int} for CUDA"),
        Fact("batch_size_of_job", _stated(rb"batch(?:_size)?+") + rb"([0-9]++),", int),
        Fact("batch_size_of_job", _named(b"total_batch_size") + rb"([0-9]++)[,)]", int),
        Fact("devices", _stated(b"device") + rb"[\[(]?((?:cuda:|-)?+[0-9]++(?:, ?(?:cuda:|-)?+[0-9]++)*+)[\])]?, [a-z]", listed),
        Fact("devices", _stated(b"device") + rb"(None|mps|cpu|cuda), [a-z]", lambda _: 1),
        Fact("devices", _ONLY_DEVICE, lambda _: 1),
        # Without processes of its own one program trains on the devices that it names.
        Fact("devices", _named(b"world_size") + rb"(" + SEVERAL + rb")[,)]", int),
        Fact("devices", _named(b"device") + rb"'((?:cuda:)?+[0-9]++(?:,[0-9]++)*+)'", listed),
        Fact("devices", _named(b"device") + rb"'(cpu)'", lambda _: 1),
        Fact("devices", _LISTED_DEVICES, lambda printed: printed.count(b"CUDA:")),
        Fact("data_set_size", rb"\btrain: Scanning (?:(?!Scanning |[0-9]++ corrupt(?:ed)?+: )[^\r\n])*+([0-9]++ corrupt(?:ed)?+: 100%[^\r\n0-9]{0,400}+[0-9]++)/", _sound),
        # YOLOv5 of 2020 says so of the training before the validation.
        Fact("data_set_size", rb"\b(?:Scanning|Caching) labels [^\r\n(]{1,200}+\([0-9]++ found, (?:[0-9]++ \w++, ){1,9}+for ([0-9]++) images\): ", int, first=True),
        Fact("gpu", rb"^(?:Ultralytics|YOLOv5|YOLOR|Using(?= torch)) [^\n]*?\bCUDA:0 \(([^,)\n]++), "),
        Fact("framework_version", rb"^(?:Ultralytics|YOLOv5|YOLOR|Using(?= torch)) [^\n]*?\btorch[- ](\d\S*+)"),
        Fact("precision", rb"AMP: checks (passed|failed|skipped)", words={b"passed": "amp", b"failed": "fp32", b"skipped": "amp"}),
        Fact("precision", rb"\bengine/trainer: " + _up_to(b"amp") + rb"(False),", words={b"False": "fp32"}),
    ),
)  # fmt: skip
