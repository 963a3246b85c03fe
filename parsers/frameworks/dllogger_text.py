"""NVIDIA DLLogger's text, of any program that logs through it and has no format of its own here.

From the printers' sources; no real log has been read yet. The keys are those of DLLogger's JSON, and by the convention
of DeepLearningExamples a speed is that of the job. `(0, 5)`, `Epoch: 0 Iteration: 5`, `5` and `epoch 1 | iter 5/90` are
an iteration, `(0,)` and `Epoch: 0` an epoch, `()` and nothing the whole run. The unit behind a number says what is
counted; without one the key does, and otherwise it is items. Evaluation and inference have keys of their own, and the
same units. FastPitch and Jasper print only the values, between bars; their timer leaves the wait for data out, and
where the lines are further apart than it explains, the clocks count. So they do for PaddlePaddle's ResNet-50, which
prints the speed of one step of many. Of EfficientDet the mean seconds since step 10 of the epoch count, not the mean of
speeds beside them.
"""

from __future__ import annotations

from perfledger.parsers.contract import (
    DLLOGGER_CLOCK,
    NUMBER,
    Fact,
    Format,
    NearMiss,
    Pause,
    Reading,
    Sample,
    Span,
    up_to,
)
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.frameworks.dllogger import KERAS_PAUSES, RESTART, as_timed, by_the_clock, since_restart

_PARAMETER = rb" - PARAMETER "
_PREFIX = rb"(?:(?:train(?:ing)?|iter|epoch|avg|average|mean|total|global|best)[._])*+"
_SUFFIX = rb"(?:_train|_avg)?+"
#: Words for what is counted in keys, and units behind numbers.
_KEYS = {
    "images/s": rb"(?:ips|(?:imgs?|images)(?:_per_sec(?:ond)?|/s(?:ec)?))",
    "sequences/s": rb"(?:seqs?|sequences|sentences)(?:_per_sec(?:ond)?|/s(?:ec)?)",
    "tokens/s": rb"(?:tok|tokens)(?:_per_sec(?:ond)?|/s(?:ec)?)",
    "samples/s": rb"samples(?:_per_sec(?:ond)?|/s(?:ec)?|ps)",
    "items/s": rb"(?:throughput|(?:items|examples|frames|utts|mels)(?:_per_sec(?:ond)?|/s(?:ec)?))",
}  # fmt: skip
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
#: PaddlePaddle's ResNet-50 prints the speed of one step of many, beside its seconds.
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
    """Return the reading of a span's lines that hold a training speed in a unit."""
    named = _PREFIX + _KEYS[unit] + _SUFFIX + rb" : (?=[^\s]++(?: {2}|[ \t\r]*+\n| " + _UNITS[unit] + rb"\b))"
    bare = _PREFIX + _KEYS["items/s"] + _SUFFIX + rb" : (?=[^\s]++ " + _UNITS[unit] + rb"\b)"
    if span != "run":
        # MoFlow's means of all speeds since its warm-up, and all that SIM prints of a step of inference.
        named = (
            rb"(?!throughput_train : [^\s]++ ++latency_train_mean : |(?<=\) )samples/s : [^\s]++[ \t\r]*+(?:\n|\Z))"
            + named
        )
    # What sums up a run under a bare `throughput` may be inference.
    trained = rb"(?=" + _GAP + rb"train)" if span == "run" else b""
    return Reading(
        DLLOGGER_CLOCK + rb"(?:Step: )?+" + _STEPS[span] + trained + rb"(?:(?=" + _GAP + _LOSS + rb")|)(?:" + _GAP + rb" )??"
        rb"(?:(?<= )|(?<=\)))(?:" + named + rb"|" + bare + rb")<throughput>(?=\s)",
        unit=unit, span=span, weak=True,
    )  # fmt: skip


_OF_EPOCH = (
    Pause(
        "evaluation",
        rb"avg (?:train|val|dev) ",
        b"DLL 2026-11-20 10:11:12.500000 - epoch    2 |   avg val loss 30.25 |   avg val mel loss 28.50 |  31250.50 frames/s | took 1.25 s\n",
    ),
)  # fmt: skip

_BEHIND_EPOCHS = (
    Pause(
        "evaluation",
        rb"DLL [\d .:-]{26} - Epoch: [0-9]++ ++(?:train|val)\.",
        b"DLL 2026-11-20 10:11:12.500000 - Epoch: 3 train.loss : 6.5  train.epoch_time : 125.5  train.ips : 16384.5 \n",
    ),
)  # fmt: skip


def _one_step(clocked: bool) -> Reading:
    """Return a step beside many that are not printed, by its seconds or by the clocks of the lines."""
    return Reading(
        DLLOGGER_CLOCK + rb"Epoch: <epoch> Iteration: <step> ++train\.loss : <loss>" + _GAP + _OF_ONE_STEP
        + rb"<duration> ++train\.ips : <throughput>(?=\s)",
        unit="images/s", span="interval" if clocked else "step", weak=True, marker=_OF_ONE_STEP.replace(b"\\", b""),
        pauses=_BEHIND_EPOCHS if clocked else (), postprocess=by_the_clock if clocked else as_timed,
    )  # fmt: skip


def _bars(unit: str, words: bytes, clocked: bool) -> Reading:
    """Return the reading of an iteration between bars, by its seconds or by the clocks of the lines."""
    return Reading(
        DLLOGGER_CLOCK + rb"epoch ++<epoch> \| iter ++<step>(?:/[0-9]++)?+ (?=\| loss ++<loss>)?+"
        rb"(?:\| (?!utts/s| *+[\d.]++ (?:frames|items|samples)/s)(?:[^|\nD]|D(?!LL ))++)*+\| (?:utts/s)?+ *+<throughput> " + words +
        rb" \| (?:took|elapsed) ++<duration> s\b",
        unit=unit, span="interval" if clocked else "step", weak=True,
        pauses=_OF_EPOCH if clocked else (), postprocess=by_the_clock if clocked else as_timed,
    )  # fmt: skip


FORMAT = Format(
    title="DLLogger",
    # Of a program that draws Keras' bars as well, its own lines have the shorter intervals.
    unproven=True,
    over=("frameworks.keras", "frameworks.lightning"),  # Their bars are drawn as well, nnU-Net's by Lightning.
    marker=b"DLL ",
    end=rb"DLL [\d .:-]{26} - (?: ?+\| avg train |\(\) |Summary: )",
    readings=(
        *(_reading(unit, "interval") for unit in _KEYS),
        *map(_one_step, (False, True)),
        *(_reading(unit, span) for span in ("epoch", "run") for unit in _KEYS),
        Reading(
            DLLOGGER_CLOCK + rb"(?=" + _IN_EPOCH + rb")\(<epoch>, <total_steps>, <step>\) train_batch_time : <step_seconds> ++"
            rb"train_loss : <loss> ++throughput : ",
            unit="images/s", cumulative_since=RESTART, postprocess=since_restart, weak=True,
        ),
        Reading(
            DLLOGGER_CLOCK + rb"PARAMETER TimeHistory : (?P<duration>[0-9.]++) seconds ++(?:None ++)?+examples/second : <throughput> ++(?:None ++)?+"
            rb"steps : \([0-9]++, <step>\)",
            unit="images/s", pauses=KERAS_PAUSES, weak=True,
        ),
        *(
            _bars(unit, words, clocked)
            for unit, words in (("items/s", rb"(?:frames|items)/s"), ("samples/s", rb"samples/s"))
            for clocked in (False, True)
        ),
        # What was seen in an epoch over the time that it took.
        Reading(
            DLLOGGER_CLOCK + rb"epoch ++<epoch> (?=\| ++avg train )(?:\| (?! *+[\d.]++ (?:frames|items)/s)(?:[^|\nD]|D(?!LL ))++)*+"
            rb"\| *+<throughput> (?:frames|items)/s \| (?:took|elapsed) ++<duration> s\b",
            unit="items/s", span="epoch", weak=True, marker=b"avg train ",
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
    samples=(
        Sample(
            b"DLL 2026-11-20 10:11:12.500000 - (0, 40) train_loss : 6.5  train_throughput : 2750.5 samples/s lr : 0.1 \n",
            epoch=0, step=40, loss=6.5, throughput=2750.5,
        ),
        Sample(
            b"DLL 2026-11-20 10:11:12.500000 - Epoch: 1 Iteration: 90  train.loss : 2.25 None train.ips : 1250.5 images/s\n",
            epoch=1, step=90, loss=2.25, throughput=1250.5,
        ),
        Sample(b"DLL 2026-11-20 10:11:12.500000 - 700 training_sequences_per_second : 512.5 \n", step=700, throughput=512.5),
        Sample(b"DLL 2026-11-20 10:11:12.500000 - Iteration: 30  tokens_per_sec : 98304.5  loss : 3.5 \n",
               step=30, throughput=98304.5, loss=3.5),
        Sample(b"DLL 2026-11-20 10:11:12.500000 - (3,) train_items_per_sec : 65536.5 items/s\n", epoch=3, throughput=65536.5),
        Sample(b"DLL 2026-11-20 10:11:12.500000 - () avg_train_throughput : 7.25e+06 samples/s\n", throughput=7250000.0),
        Sample(b"DLL 2026-11-20 10:11:12.500000 - () avg_train_throughput : 98304.5 tokens/s\n", throughput=98304.5),
        Sample(b"DLL 2026-11-20 10:11:12.500000 - () throughput_train : 425.5  latency_train : 37.5 \n", throughput=425.5),
        Sample(
            b"DLL 2026-11-20 10:11:12.500000 - epoch    2 | iter   7/96 | loss 30.25 | mel loss 28.50 | kl loss 0.00500 |  "
            b"31250.50 frames/s | took 1.25 s | lrate 1.00e-03\n",
            epoch=2, step=7, loss=30.25, throughput=31250.5, duration=1.25,
        ),
        Sample(
            b"DLL 2026-11-20 10:11:12.500000 - epoch    2 | iter   7/96 | loss 30.25 | mel loss 28.50 |  31250.50 items/s | "
            b"elapsed 1.25 s | lrate 1.00E-01 -> 1.00E-03\n",
            epoch=2, step=7, loss=30.25, throughput=31250.5, duration=1.25,
        ),
        Sample(
            b"DLL 2026-11-20 10:11:12.500000 - epoch    2 | iter    7/96 | loss  250.25 | wer  98.50 % | utts/s   310 samples/s | "
            b"took  1.25 s | lrate 1.00e-03\n",
            throughput=310.0,
        ),
        Sample(
            b"DLL 2026-11-20 10:11:12.500000 - (2, 1833, 99) train_batch_time : 0.5  train_loss : 1.25  throughput : 960.5  lr : 0.5 \n",
            epoch=2, total_steps=1833, step=99, step_seconds=0.5, loss=1.25,
        ),
        Sample(
            b"DLL 2026-11-20 10:11:12.500000 - PARAMETER TimeHistory : 12.25 seconds  examples/second : 8359.25  steps : (100, 200) \n",
            duration=12.25, throughput=8359.25, step=200,
        ),
        Sample(
            b"DLL 2026-11-20 10:11:12.500000 - epoch    2 | avg train loss 30.25 | avg train mel loss 28.50 |  31250.50 frames/s | took 48.25 s\n",
            epoch=2, throughput=31250.5, duration=48.25,
        ),
        *(
            Sample(b"DLL 2026-11-20 10:11:12.500000 - " + step + b" avg_train_throughput : 1250.5 " + unit + b"\n", throughput=1250.5)
            for step in (b"(1, 2)", b"(1,)", b"()")
            for unit in (b"images/s", b"seq/s", b"tokens/s", b"samples/s", b"items/s")
        ),
        Sample(
            b"DLL 2026-11-20 10:11:12.500000 - Epoch: 0 Iteration: 40  train.loss : 6.5  train.top1 : 0.25  train.data_time : 0.0125  "
            b"train.compute_time : 0.1125  train.batch_time : 0.125  train.ips : 16384.5  train.lr : 0.5 \n",
            epoch=0, step=40, loss=6.5, duration=0.125, throughput=16384.5,
        ),
        Sample(b"DLL 2026-11-20 10:11:12.500000 - Summary: train.loss : 6.5  train.ips : 16384.5 \n", throughput=16384.5),
        Sample(b"DLL 2026-11-20 10:11:12.500000 - (0, 140) samplesps : 9000.5 \n", step=140, throughput=9000.5),
        Sample(b"DLL 2026-11-20 10:11:12.500000 - Step: ()  throughput_train : 32.5  latency_train : 61.5 \n", throughput=32.5),
        NearMiss(b"DLL 2026-11-20 10:11:12.500000 - (0, 40) samples/s : 9000.5 \n", "inference of SIM"),
        NearMiss(
            b"DLL 2026-11-20 10:11:12.500000 - (0, 99, 99) throughput_train : 9000.5  latency_train_mean : 0.25  total_time_train : 250.5 \n",
            "MoFlow's mean of all speeds since its warm-up",
        ),
        NearMiss(b"DLL 2026-11-20 10:11:12.500000 - (0, 40) val_throughput : 9000.5 samples/s\n", "validation"),
        NearMiss(b"DLL 2026-11-20 10:11:12.500000 - () throughput : 9000.5 samples/s\n", "inference, perhaps"),
        NearMiss(b"DLL 2026-11-20 10:11:12.500000 - () throughput_test : 9000.5 images/s latency_test : 7.5 \n", "inference"),
        NearMiss(
            b"DLL 2026-11-20 10:11:12.500000 - epoch    2 |   avg val loss 30.25 |   avg val mel loss 28.50 |  31250.50 frames/s | "
            b"took 1.25 s\n",
            "validation",
        ),
        NearMiss(b"DLL 2026-11-20 10:11:12.500000 - (0, 40) train.compute_ips : 2750.5 images/s\n", "without the wait for data"),
    ),
)  # fmt: skip
