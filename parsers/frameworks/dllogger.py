"""NVIDIA DLLogger's JSON lines, of any program that logs through it; on the screen they begin with `DLLL `.

Each program chooses the key of its speed: `throughput`, `train.total_ips`, `training_sequences_per_second`, `items/s`
and so on. By the convention of DeepLearningExamples it is the speed of the job. If a key does not name what it counts,
the unit is items. A line is an iteration if its step is two numbers or more, an epoch if it is one number in brackets,
and the whole run if the brackets are empty. Evaluation and inference use keys with the same endings. `compute_ips`
leaves out the wait for data. Some programs print only losses, and one figure at the end. Other formats read the text
form of the same programs.

The ConvNets print means of the speeds of single iterations. Such a mean hides a stall: if one iteration of ten waits,
the mean is still nine tenths of the full speed. Their next line has the mean times, which show the stall, so the times
count, and need the batch size and the devices. The mean speed of a run stays as the program's own figure.

EfficientDet also prints such means, next to the mean seconds since step 10 of the epoch. The seconds count, and need
the batch size and the devices. Its step is the last of three numbers. EfficientNet for TensorFlow 2 prints the speed
and the seconds of its steps as `PARAMETER`. Wide & Deep and the medical U-Net for TensorFlow 2 print the planned steps
after the step.

FastPitch, HiFi-GAN, Jasper, QuartzNet, Tacotron 2 and WaveGlow start their timer after a batch is loaded. If their
lines are further apart than the printed seconds explain, the clocks count, and the samples are those of the iteration
that the line prints. The same applies to PaddlePaddle's ResNet-50, which prints the speed of one step of many, and to
TFT, whose seconds per step follow from the batch size. BART prints the mean of such speeds since the start. So only the
clocks of its lines are read, and the batch size is needed. SE(3)-Transformer sums up a run by the mean of the speeds of
its steps; here the mean of their milliseconds counts.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    Pause,
    Reading,
    Rows,
    Span,
    carry,
    lacks,
    only,
    timed,
    total,
    up_to,
    up_to_argument,
)
from perfledger.parsers.frameworks import PYTORCH_JOB

_PARAMETER = rb'"PARAMETER", "data": \{'
_LINE = '{"timestamp":'
#: Words before the counted thing in the key of a training speed. Evaluation and inference have others.
_TRAIN = "{avg_|average_|}{train.|train_|training_|}{epoch_|}{avg_|total_|}"
#: The same of a run, which may be one of inference if the key does not say that it trains.
_TRAINED = "{avg_|average_|}{train.|train_|training_}{epoch_|}{avg_|total_|}"

_SECOND = "{/s|/sec|_per_sec|_per_second}"
#: Alternatives for the end of a key, by unit.
_COUNTED = {
    "images/s": ("ips", "{img|imgs|images}" + _SECOND),
    "sequences/s": ("{seq|seqs|sequences}" + _SECOND, "sentences_per_sec"),
    "tokens/s": ("{tok|tokens}" + _SECOND,),
    "items/s": (
        "{throughput|throughput_train|throughput_avg|samplesps|samples_per_sec}",
        "{items|examples|frames|utts|mels}" + _SECOND,
    ),
}
_LOSS = "data.{train.|train_|training.|training_|}{step_|total_|iter_|}loss"
#: A step is `[epoch, step]`, `[epoch, step, steps of the epoch]` or a number.
_STEP = {"unix": "timestamp", "epoch": "step[0]?", "step": "step[1]|step"}
_PLACES: dict[Span, dict[str, str]] = {
    "interval": _STEP,
    "epoch": {"unix": "timestamp", "epoch": "step[0]"},
    "run": {"unix": "timestamp"},
}
#: The programs for images print mean times on the line after the mean speeds.
_WITH_TIMES = rb'"train\.data_time": '
#: EfficientDet and MoFlow print means so far, PaddlePaddle's ResNet-50 one step of many.
_CONDITIONS: dict[Span, tuple[str, ...]] = {
    "interval": ("!data.train_batch_time|data.latency_train_mean|data.train.batch_time",),
    "epoch": ("!step[1]", "!data.latency_train_mean|data.avg_train_throughput"),
    "run": ("step == []", "!data.total_time_train"),
}
#: The step at which its running means restart.
RESTART = 10


def _of_batches(columns: Columns) -> Columns:
    """Add the seconds of an iteration by its speed and the batch, NaN where that is unknown."""
    batch = columns["_batch_size"] * columns["_devices"]
    return columns.assign(epoch=np.zeros(len(batch)), duration=batch / columns["throughput"])


def _by_latency(columns: Columns) -> Columns:
    """Return runs with the rate of steps by the mean of their milliseconds."""
    return columns.assign(steps_per_second=1e3 / columns["_latency"]).drop("clock")


def _before_the_plan(columns: Columns) -> Columns:
    """Return the lines, with the first of two numbers as the step where the second is the steps that are planned.

    Wide & Deep and the medical U-Net of TensorFlow 2 print both. An epoch follows the one before it.
    """
    first, second = columns["epoch"], columns["step"]
    counts = len(first) > 1 and (second == second[0]).all() and np.diff(first).min() > 0 and np.diff(first).max() > 1
    return columns.assign(epoch=np.zeros(len(first)), step=first) if counts else columns


def _speed(unit: str, words: str = _TRAIN) -> str:
    """Return the paths of a training speed in a unit, with words before what it counts."""
    return "|".join(f"data.{words}{each}" for each in _COUNTED[unit])


def _reading(unit: str, span: Span) -> Reading:
    """Return the reading of the lines of a span that print a training speed in a unit."""
    untrained = span == "run" and unit == "items/s"
    speed = _speed(unit, _TRAINED) + "|data.throughput_train" if untrained else _speed(unit)
    columns = {**_PLACES[span], "loss": _LOSS + "?"}
    if span == "run":
        columns["seconds"] = "data.raw_train_time?"
    if span == "interval":
        columns["flops"] = "data.{train.|}{tflops_per_gpu|tflops_per_device}?"
    return Reading(
        Rows(_LINE, *_CONDITIONS[span], **columns, throughput=speed),
        unit=unit,
        span=span,
        untrue=("summary",) if span == "run" and unit in ("images/s", "items/s") else (),
        where=lacks(_WITH_TIMES) if span != "run" and unit == "images/s" else None,
        pauses=_EPOCH_ENDS if span == "interval" and unit == "images/s" else (),
    )


#: The end of an epoch of the programs for images; its last line may include it.
_EPOCH_ENDS = (Pause("epoch_end", rb'"step": ?+\[[0-9]++\], ?+"data": ?+\{"train\.', inside="last"),)
_AFTER_EPOCH = Pause("evaluation", rb'"step": ?+\[[0-9]++\], ?+"data": ?+\{"')
#: Keras' lines after a validation and for a checkpoint; the interval of a line of EfficientNet may include both.
KERAS_PAUSES = (Pause("epoch_end", rb" - val_loss: "), Pause("checkpoint", rb": saving model to "))

FORMAT = Format(
    title="DLLogger JSON",
    # If a program also draws Keras' bars, its own lines have the shorter intervals.
    over=("frameworks.keras",),
    # The arguments of BERT and of the programs for images; what others print first has no words of its own.
    start=rb'"step": ?+"PARAMETER", ?+"data": ?+\{(?:"Config": |(?=[^\n{}]{0,4000}?"optimizer_batch_size": ))',
    before_start=rb'"type": ?+"METADATA", ',
    end=rb'"type": ?+"LOG", ?+"step": ?+\[\], ?+"data": ?+\{',
    readings=(
        _reading("images/s", "interval"),
        Reading(
            Rows(_LINE, "!data.train.batch_time", **_STEP, reader_seconds="data.train.data_time", _computes="data.train.compute_time"),
            unit="images/s",
            verbs=(total("step_seconds", "reader_seconds", "_computes"),),
            pauses=_EPOCH_ENDS,
        ),
        Reading(
            '{{"timestamp": "{unix}"{*}"step": "PARAMETER", "data": {{"TimeHistory": "{duration} seconds", "examples/second": {throughput}, "steps": [{_}, {step}]',
            unit="images/s",
            pauses=KERAS_PAUSES,
        ),
        # TFT
        *timed(
            Reading(
                Rows(_LINE, "data.P10", **_STEP, loss=_LOSS + "?", throughput="data.items/s"),
                unit="samples/s",
                verbs=(_of_batches,),
            ),
            Pause("evaluation", rb'"data": ?+\{"val_P10": '),
        ),
        # BART
        Reading(
            Rows(_LINE, "!step[1]", "data.avg_train_throughput", unix="timestamp", step="step[0]", loss="data.total_loss"),
            unit="sequences/s",
            per_update=True,
        ),
        # FastPitch, HiFi-GAN, Jasper, QuartzNet; Tacotron 2 and WaveGlow print the seconds on a line of their own.
        *timed(
            Reading(
                Rows(
                    _LINE, *_CONDITIONS["interval"], "data.{train_|}took|data.train_items_per_sec|data.train_iter_time",
                    **_STEP, throughput=_speed("items/s") + "?", duration="data.{train_|}took|data.train_iter_time?", loss=_LOSS + "?",
                ),
                unit="items/s",
                verbs=(carry("throughput", "loss"), only("duration", "throughput")),
            ),
            _AFTER_EPOCH,
        ),
        # ResNet-50 for PaddlePaddle
        *timed(
            Reading(
                Rows(_LINE, **_STEP, throughput="data.train.ips", duration="data.train.batch_time", loss=_LOSS + "?"),
                unit="images/s",
            ),
            _AFTER_EPOCH,
        ),
        # SIM: its inference prints no loss.
        Reading(Rows(_LINE, **_STEP, throughput="data.samples/s", loss=_LOSS), unit="samples/s"),
        *(_reading(unit, span) for span in ("interval", "epoch", "run") for unit in _COUNTED if (unit, span) != ("images/s", "interval")),
        # SE(3)-Transformer
        Reading(
            Rows(_LINE, "step == []", "data.throughput_train", "data.total_time_train", unix="timestamp", _latency="data.latency_train_mean"),
            unit="samples/s",
            span="run",
            verbs=(_by_latency,),
        ),
        # EfficientDet
        Reading(
            Rows(
                _LINE,
                unix="timestamp", epoch="step[0]", total_steps="step[1]", step="step[2]", step_seconds="data.train_batch_time", loss="data.train_loss",
            ),
            unit="images/s",
            running_mean=RESTART,
            verbs=(only(step=RESTART),),
        ),
        # BERT, Wide & Deep, U-Net: no speed.
        Reading(
            Rows(_LINE, **_STEP, loss=_LOSS),
            unit="samples/s",
            per_update=True,
            verbs=(_before_the_plan,),
            pauses=(
                Pause("evaluation", rb'"data": ?+\{"map_validation": '),
                Pause("checkpoint", rb'"checkpoint_step": '),
                Pause("epoch_end", rb'"step": ?+\[[0-9]++\], ?+"data": ?+\{'),
            ),
        ),
    ),
    facts=(
        Fact("model", _PARAMETER + up_to(rb'"(?:arch|model_name|model)": "', _PARAMETER) + rb'([\w.+/-]++)"'),
        Fact("model", rb"[(, ]bert_model='([\w.+/-]++)'"),
        Fact("batch_size", rb'"(?:batch_size_per_gpu|per_gpu_batch_size|batch_size_per_device|local_batch_size)": ([0-9]++)\b', int),
        Fact("batch_size", rb'"PARAMETER", "data": \{"dataset path": ' + up_to(rb'"batch size": ', rb'"dataset path": ') + rb"([0-9]++)\b", int),
        Fact("batch_size", _PARAMETER + rb"(?=" + up_to(rb'"num_degrees": ', _PARAMETER) + rb")" + up_to(rb'"batch_size": ', _PARAMETER) + rb"([0-9]++)\b", int),
        Fact("batch_size", rb'"HPARAMS", "data": \{' + up_to(rb'"batch_size": ', rb'"HPARAMS"') + rb"([0-9]++)\b", int),
        Fact("batch_size", _PARAMETER + rb"(?=" + up_to(rb'"optimizer_batch_size": ', _PARAMETER) + rb")" + up_to(rb'"batch_size": ', _PARAMETER) + rb"([0-9]++)\b", int),
        # BERT's fine-tuning; of several batches per update the printed steps count none but the last.
        Fact("batch_size", rb"Namespace\((?=" + up_to_argument(b"doc_stride") + rb")(?=" + up_to_argument(b"gradient_accumulation_steps") + rb"1\b)" + up_to_argument(b"train_batch_size") + rb"([0-9]++)\b", int),
        Fact("batch_size_of_job", rb'"global_batch_size": ([0-9]++)\b', int),
        Fact("accumulation", rb'"gradient_accumulation(?:_steps)?": ([0-9]++)\b', int),
        Fact("accumulation", rb"[(, ]gradient_accumulation_steps=([0-9]++)\b", int),
        Fact("devices", rb'"(?:distributed_)?+world_size": ([0-9]++)\b', int),
        *PYTORCH_JOB,
        Fact("num_classes", _PARAMETER + up_to(rb'"num_classes": ', _PARAMETER) + rb"([0-9]++)\b", int),
        Fact("data_format", _PARAMETER + up_to(rb'"memory_format": "', _PARAMETER) + rb'(nchw|nhwc)"', words={b"nchw": "NCHW", b"nhwc": "NHWC"}),
        Fact("sequence_length", rb"[(, ]max_seq_length=([0-9]++)\b", int),
        Fact("precision", _PARAMETER + up_to(rb'"(?:amp|use_amp)": ', _PARAMETER) + rb"(true|false)\b", words={b"true": "amp", b"false": "fp32"}),
        Fact("precision", rb"[(, ](?:fp16|amp)=(True)\b", words={b"True": "amp"}),
    ),
)  # fmt: skip
