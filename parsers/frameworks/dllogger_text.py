"""NVIDIA DLLogger's text, of any program that logs through it and has no format of its own here.

From the printers' sources; no real log has been read yet. The keys are those of DLLogger's JSON, and by the convention
of DeepLearningExamples a speed is that of the job. `(0, 5)`, `Epoch: 0 Iteration: 5`, `5` and `epoch 1 | iter 5/90` are
an iteration, `(0,)` and `Epoch: 0` an epoch, `()` and nothing the whole run. The unit after a number names what is
counted. Without a unit the key names it, and items are assumed if it does not. Evaluation and inference have keys of
their own, and the same units. FastPitch and Jasper print only the values, between bars; their timer leaves the wait for
data out. If the lines are further apart than it explains, the clocks count. The same applies to PaddlePaddle's
ResNet-50, which prints the speed of one step of many. For EfficientDet the mean seconds since step 10 of the epoch
count, not the mean of speeds next to them.
"""

from __future__ import annotations

from perfledger.parsers.contract import (
    NUMBER,
    Fact,
    Format,
    Pause,
    Reading,
    Span,
    only,
    timed,
    up_to,
)
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.frameworks.dllogger import KERAS_PAUSES, RESTART

_PARAMETER = rb" - PARAMETER "
_CLOCK = rb"DLL (?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}) - "
_PREFIX = rb"(?:(?:train(?:ing)?|iter|epoch|avg|average|mean|total|global|best)[._])*+"
_SUFFIX = rb"(?:_train|_avg)?+"
#: Names of the counted things in keys, by unit.
_KEYS = {
    "images/s": rb"(?:ips|(?:imgs?|images)(?:_per_sec(?:ond)?|/s(?:ec)?))",
    "sequences/s": rb"(?:seqs?|sequences|sentences)(?:_per_sec(?:ond)?|/s(?:ec)?)",
    "tokens/s": rb"(?:tok|tokens)(?:_per_sec(?:ond)?|/s(?:ec)?)",
    "samples/s": rb"samples(?:_per_sec(?:ond)?|/s(?:ec)?|ps)",
    "items/s": rb"(?:throughput|(?:items|examples|frames|utts|mels)(?:_per_sec(?:ond)?|/s(?:ec)?))",
}  # fmt: skip
#: Units after numbers.
_UNITS = {
    "images/s": rb"(?:images|imgs?)/s",
    "sequences/s": rb"(?:sequences|seqs?|sentences)/s",
    "tokens/s": rb"tok(?:ens)?/s",
    "samples/s": rb"samples/s",
    "items/s": rb"(?:items|frames|utts|mels|records|users)/s",
}  # fmt: skip
_LOSS = rb"(?<= )(?:train(?:ing)?[._])?(?:step_|total_|iter_)?loss : (?P<loss>" + NUMBER + rb")(?=\s)"
#: The rest of a line; it ends where another begins that has lost its beginning.
_GAP = rb"(?:[^\nD]|D(?!LL ))*?"
#: EfficientDet's step is the last of three numbers.
_IN_EPOCH = rb"\([0-9]++, [0-9]++, [0-9]++\) train_batch_time : "
#: PaddlePaddle's ResNet-50 prints the speed of one step of many, next to its seconds.
_OF_ONE_STEP = rb" train\.batch_time : "
_STEPS: dict[Span, bytes] = {
    "interval": (
        rb"(?!"
        + _IN_EPOCH
        + rb"|"
        + _GAP
        + _OF_ONE_STEP
        + rb")(?:\(|Epoch: (?=[0-9]++ Iteration: ))?+(?:<epoch>(?:, | Iteration: ))?+(?:Iteration: )?+<step>"
        rb"(?:, [0-9]++)*+\)?+ "
    ),
    "epoch": rb"(?:\(|Epoch: )<epoch>(?:,\) |(?= (?!Iteration: )) )",
    "run": rb"(?:\(\)|Summary:)?+ ",
}


def _reading(unit: str, span: Span) -> Reading:
    """Return the reading of a span's lines with a training speed in a unit."""
    named = _PREFIX + _KEYS[unit] + _SUFFIX + rb" : (?=[^\s]++(?: {2}|[ \t\r]*+\n| " + _UNITS[unit] + rb"\b))"
    bare = _PREFIX + _KEYS["items/s"] + _SUFFIX + rb" : (?=[^\s]++ " + _UNITS[unit] + rb"\b)"
    if span != "run":
        # MoFlow's means of all speeds since its warm-up, and all that SIM prints of a step of inference.
        named = (
            rb"(?!throughput_train : [^\s]++ ++latency_train_mean : |(?<=\) )samples/s : [^\s]++[ \t\r]*+(?:\n|\Z))"
            + named
        )
    # A bare `throughput` that sums up a run may be that of inference.
    trained = rb"(?=" + _GAP + rb"train)" if span == "run" else b""
    return Reading(
        _CLOCK + rb"(?:Step: )?+" + _STEPS[span] + trained + rb"(?:(?=" + _GAP + _LOSS + rb")|)(?:" + _GAP + rb" )??"
        rb"(?:(?<= )|(?<=\)))(?:" + named + rb"|" + bare + rb")<throughput>(?=\s)",
        unit=unit, span=span, weak=True,
    )  # fmt: skip


_ONE_STEP = Reading(
    "DLL {clock} - Epoch: {epoch} Iteration: {step}  train.loss : {loss} {*}train.batch_time : {duration}  train.ips : {throughput}",
    unit="images/s", weak=True,
)  # fmt: skip


def _bars(unit: str, words: bytes) -> Reading:
    """Return the reading of an iteration between bars."""
    return Reading(
        _CLOCK + rb"epoch ++<epoch> \| iter ++<step>(?:/[0-9]++)?+ (?=\| loss ++<loss>)?+"
        rb"(?:\| (?!utts/s| *+[\d.]++ (?:frames|items|samples)/s)(?:[^|\nD]|D(?!LL ))++)*+\| (?:utts/s)?+ *+<throughput> " + words +
        rb" \| (?:took|elapsed) ++<duration> s\b",
        unit=unit, weak=True,
    )  # fmt: skip


_OF_EPOCH = Pause("evaluation", rb"avg (?:train|val|dev) ")

FORMAT = Format(
    title="DLLogger",
    unproven=True,
    # If a program also draws Keras' or Lightning's bars (nnU-Net), its own lines have the shorter intervals.
    over=("frameworks.keras", "frameworks.lightning"),
    end=rb"DLL [\d .:-]{26} - (?: ?+\| avg train |\(\) |Summary: )",
    readings=(
        *(_reading(unit, "interval") for unit in _KEYS),
        *timed(_ONE_STEP, Pause("evaluation", rb"DLL [\d .:-]{26} - Epoch: [0-9]++ ++(?:train|val)\.")),
        *(_reading(unit, span) for span in ("epoch", "run") for unit in _KEYS),
        Reading(
            "DLL {clock} - ({epoch}, {total_steps}, {step}) train_batch_time : {step_seconds}  train_loss : {loss}  throughput : ",
            unit="images/s", running_mean=RESTART, verbs=(only(step=RESTART),), weak=True,
        ),
        Reading(
            "DLL {clock} - PARAMETER TimeHistory : {duration} seconds  {?None  }examples/second : {throughput}  {?None  }steps : ({_}, {step})",
            unit="images/s", pauses=KERAS_PAUSES, weak=True,
        ),
        *timed(_bars("items/s", rb"(?:frames|items)/s"), _OF_EPOCH),
        *timed(_bars("samples/s", rb"samples/s"), _OF_EPOCH),
        # The items of an epoch over its seconds.
        Reading(
            _CLOCK + rb"epoch ++<epoch> (?=\| ++avg train )(?:\| (?! *+[\d.]++ (?:frames|items)/s)(?:[^|\nD]|D(?!LL ))++)*+"
            rb"\| *+<throughput> (?:frames|items)/s \| (?:took|elapsed) ++<duration> s\b",
            unit="items/s", span="epoch", weak=True,
        ),
    ),
    facts=(
        Fact("model", _PARAMETER + up_to(rb"\b(?:arch|model_name) : ++", _PARAMETER) + rb"([\w.+/-]++)"),
        Fact("batch_size", rb"\b(?:batch_size_per_gpu|per_gpu_batch_size|batch_size_per_device|local_batch_size) : ++([0-9]++)\b", int),
        Fact("batch_size_of_job", rb"\bglobal_batch_size : ++([0-9]++)\b", int),
        Fact("accumulation", rb"\bgradient_accumulation(?:_steps)? : ++([0-9]++)\b", int),
        Fact("devices", rb"\bworld_size : ++([0-9]++)\b", int),
        *PYTORCH_JOB,
        Fact("precision", _PARAMETER + up_to(rb"\b(?:use_)?amp : ++", _PARAMETER) + rb"(True|False)\b", words={b"True": "amp", b"False": "fp32"}),
    ),
)  # fmt: skip
