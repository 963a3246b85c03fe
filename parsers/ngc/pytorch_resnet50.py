"""NGC DeepLearningExamples, PyTorch ResNet-50 v1.5 (ConvNets `main.py`): a DLLogger record per iteration.

`total_ips` includes the time spent waiting for data, `compute_ips` does not; both are of the whole job. Epoch and
`Summary` lines have the same keys; the word `None` is printed as a unit; the last iteration of an epoch can be very
slow.

A line of several iterations prints the means of their speeds, which hide a stall: of nine iterations at full speed and
one that waits, the mean is nine tenths. Where such lines take longer than they say, the seconds between them count, and
need the devices; the mean times of an epoch tell those of its first line. The means of the run are then no figures.
"""

import itertools

import numpy as np

from perfledger.parsers.contract import (
    DLLOGGER_CLOCK,
    NUMBER,
    Column,
    Columns,
    Fact,
    Format,
    Indices,
    Pause,
    Postprocessed,
    Reading,
    up_to,
)
from perfledger.parsers.contract.waits import EVEN, UNSAID, even
from perfledger.parsers.ngc import TF32

_COMMAND = rb"'\./main\.py', "

_LINE = rb"DLL [\d .:-]{26} - "
_SPEED = rb"(?P<%s>" + NUMBER + rb") (?:images|img)/s"


def _to(key: bytes) -> bytes:
    """Return a pattern for the rest of a line up to a key of training."""
    return rb"(?:[^\r\ntD]++|t(?!rain\.%s : )|D(?!LL ))*+train\.%s : " % (key, key)


#: Both speeds, of which older releases print one here.
_SPEEDS = (
    rb"(?:[^\r\ntD]++|t(?!rain\.(?:compute|total)_ips : )|D(?!LL ))*+(?:train\.compute_ips : " + _SPEED % rb"_compute_speed"
    + rb" ++)?+train\.total_ips : " + _SPEED % rb"throughput"
)  # fmt: skip


def _even_run(columns: Columns) -> Postprocessed:
    """Return the mean speeds of runs, other than those to which the mean times behind them say no."""
    speed, later = columns["_compute_speed"], columns["_compute_speed_later"]
    return even({**columns, "_compute_speed": np.where(np.isnan(speed), later, speed)})


def _seconds(columns: Columns, lines: Indices) -> tuple[Column, Column]:
    """Return the iterations of each line and their seconds; NaN for the first line of an epoch that was not finished.

    Of an epoch that is finished the mean times count all its iterations; against them no clock is right that was set.
    """
    epoch, step, clock = (columns[name][lines] for name in ("epoch", "step", "clock"))
    first = np.diff(epoch, prepend=np.nan) != 0
    steps = np.where(first, step, np.diff(step, prepend=0.0))
    took = np.where(first, np.nan, np.diff(clock, prepend=np.nan))
    told = np.isfinite(columns["_epoch"])
    means = dict(zip(columns["_epoch"][told], (columns["_waits"] + columns["_computes"])[told], strict=True))
    for begin, end in itertools.pairwise([*np.flatnonzero(first), len(lines)]):
        mean, others = means.get(epoch[begin], np.nan), np.nansum(took[begin:end])
        if others > mean * (step[end - 1] + np.median(steps)):
            took[begin:end] = mean * steps[begin:end]
        elif others < mean * step[end - 1]:
            took[begin] = mean * step[end - 1] - others
    return steps, took


def _held(columns: Columns) -> tuple[Indices, Columns | None]:
    """Return the lines of iterations, and the seconds of these where their speeds hide what they waited for.

    Where the devices are not stated, the line that hides least tells the batch of the job; where all have waited, none
    does.
    """
    lines = np.flatnonzero(np.isfinite(columns["step"]))
    speed, batch = columns["throughput"][lines], columns["_batch_size"][lines] * columns["_devices"][lines]
    steps, took = _seconds(columns, lines)
    timed = (took > 0) & (steps > 0)
    # The first line holds the start of the program.
    timed[:1] = False
    if not timed.any() or np.median(steps) <= 1:
        return lines, None
    claims, known = steps / speed, bool(np.isfinite(batch[0]))
    told = float(batch[0] if known else np.min((took / claims)[timed]))
    waited = np.median(speed / columns["_compute_speed"][lines]) < 1 - EVEN
    if not took[timed].sum() > (1 + UNSAID) * told * claims[timed].sum() and (known or not waited):
        return lines, None
    counted = {"duration": took[timed], "steps": steps[timed]} | ({"batch": batch[timed]} if known else {})
    return lines[timed], counted


def _as_printed(columns: Columns) -> Postprocessed:
    """Return the lines of iterations, unless their speeds hide what they waited for."""
    lines, counted = _held(columns)
    lines = lines if counted is None else lines[:0]
    return lines, {name: each[lines] for name, each in columns.items()}


def _by_seconds(columns: Columns) -> Postprocessed:
    """Return the seconds between these lines if their speeds hide what they waited for."""
    lines, counted = _held(columns)
    lines = lines if counted else lines[:0]
    kept = {name: columns[name][lines] for name in ("epoch", "step", "clock", "loss")}
    return lines, {**kept, **(counted or {})}


_TIMES = (
    _to(rb"data_time") + rb"(?P<_waits>" + NUMBER + rb") s ++train\.compute_time : (?P<_computes>" + NUMBER + rb") s"
)  # fmt: skip
_ITERATION = (
    DLLOGGER_CLOCK + rb"Epoch: (?:<epoch> Iteration: <step> ++train\.loss : <loss>" + _SPEEDS
    + rb"|(?P<_epoch>[0-9]++) ++(?!train\.loss|Iteration)" + _TIMES + rb")"
)  # fmt: skip
_RUN = (
    _LINE + rb"Summary: " + _SPEEDS + rb"(?:[^\n]*+\n" + _LINE
    + rb"Summary: ++(?:(?=" + _to(rb"compute_ips") + _SPEED % rb"_compute_speed_later" + rb")|)" + _TIMES + rb")?+"
)  # fmt: skip

FORMAT = Format(
    title="NGC PyTorch ResNet-50",
    framework="NGC PyTorch",
    over=("frameworks.dllogger_text",),
    start=rb" - PARAMETER (?:data|data_backend) : (?=(?:[^\r\nbfP]++|b(?!atch_size : )|f(?!eature_spec_file : )|P(?!ARAMETER ))*+batch_size : )",
    end=" - Summary: ",
    readings=(
        Reading(
            _ITERATION,
            unit="images/s",
            span="step",
            pauses=(
                Pause("epoch_end", rb" - Epoch: [0-9]++ ++train\.(?!data_time)", inside="last"),
            ),
            verbs=(_as_printed,),
        ),
        Reading(_ITERATION, unit="images/s", verbs=(_by_seconds,)),
        Reading(
            _RUN, unit="images/s", span="run", verbs=(_even_run,), untrue=("summary",),
        ),
        # Without the loading of data; what Lambda publishes.
        Reading("DLL {_} {_} - Summary: {*}train.compute_ips : {throughput} {images|img}/s  train.total_ips : ", unit="images/s", span="run", untrue=("summary",)),
    ),
    facts=(
        *TF32,
        Fact("model", " - PARAMETER{*} arch : {}"),
        Fact("batch_size", " - PARAMETER {*} batch_size : {:int}"),
        Fact("batch_size", "'-b', '{:int}'"),
        Fact("devices", " - PARAMETER {*} world_size : {:int}"),
        Fact("num_classes", " - PARAMETER {*} num_classes : {:int}"),
        Fact("data_format", " - PARAMETER {*} memory_format : {}", words={b"nchw": "NCHW", b"nhwc": "NHWC"}),
        # Before AMP the trainer cast the network itself; then `amp` is False.
        Fact("precision", " - PARAMETER {*} fp16 : {}", words={b"True": "fp16"}),
        Fact("precision", " - PARAMETER {*} amp : {}", words={b"True": "amp", b"False": "fp32"}),
        Fact("precision", _COMMAND + up_to(rb"'--(?=(?:amp|fp16)')", _COMMAND, rb"[^\n\]]") + rb"(amp|fp16)'", lambda _: "amp"),
        Fact("dali", rb" data_backend : (dali)[\w-]*+ ", words={b"dali": "True"}),
    ),
)  # fmt: skip
