"""NGC DeepLearningExamples, PyTorch GNMT v2: a `TRAIN` line of every rank per `--print-freq` iterations.

The numbers in brackets are means since the epoch's second iteration, of one device; its first iteration counts nowhere,
and its own line prints 0. They are undone here: a record is what the iterations since the line before add. `Tok/s`
counts source and target tokens, and is a mean of the iterations' speeds, not tokens over time: sentences come in
lengths, and short and long iterations count alike, so that one which stalls hardly shows. Tokens are not printed; time
is, and weighs the intervals. `Performance` is the sum over the devices of such a mean for one epoch; the last
one is quoted. `Validation` is on the same line. `VALIDATION` lines are spelled like `TRAIN` lines. A run of a few
iterations prints no usable `TRAIN` line.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Column,
    Columns,
    Fact,
    Format,
    Indices,
    Reading,
    medians,
    up_to_argument,
)
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.ngc import ONE_NODE, TF32

#: Largest lag of a rank, in printed steps.
_LAG = 3
#: The last digit of a mean speed, in tokens per second.
_SPEED_DIGIT = 1.0
#: The last digit of a mean time, in seconds.
_SECONDS_DIGIT = 1e-3
#: Rounding may be at most this share of the amount that some iterations add to a mean.
_ROUNDED = 0.1


def _intervals(columns: Columns) -> Columns:
    """Return what the iterations since the line before add, by the median of ranks whose lines have no tag."""
    first, group, begun = _once_per_step(columns["epoch"], columns["step"])
    speed, seconds = (medians(columns[name], group) for name in ("_mean_speed", "_mean_seconds"))
    done = columns["step"][first]
    made: dict[str, list[Column]] = {"steps": [], "throughput": [], "duration": []}
    for rows in np.split(np.arange(len(first)), begun[1:]):
        made["steps"].append(steps := np.diff(done[rows], prepend=0.0))
        made["throughput"].append(_undone(done[rows], speed[rows], _SPEED_DIGIT))
        made["duration"].append(steps * _undone(done[rows], seconds[rows], _SECONDS_DIGIT))
    return columns.assign(**{name: np.concatenate(each)[group] for name, each in made.items()}).drop("rank")


def _once_per_step(epochs: Column, steps: Column) -> tuple[Indices, Indices, Indices]:
    """Return the first line of each step, the step of each line, and the steps at which the means begin again.

    They begin again with an epoch, and where the steps go back because the program was started again.
    """
    places, place = np.unique(np.stack([epochs, steps]), axis=1, return_inverse=True)
    place = place.ravel()
    starts = np.cumsum(np.diff(place, prepend=place[:1]) < -_LAG)
    _, first, group = np.unique(starts * places.shape[1] + place, return_index=True, return_inverse=True)
    restarts = (np.diff(epochs[first], prepend=np.nan) != 0) | (np.diff(starts[first], prepend=0) != 0)
    return first, group, np.flatnonzero(restarts)


def _undone(done: Column, mean: Column, digit: float) -> Column:
    """Return the mean of each interval from n means since the epoch began, over `done` iterations each.

    `done` times the mean is off by half a last digit per iteration: late in a long epoch, by more than an interval
    adds. Several intervals then share one mean.
    """
    done, total = np.concatenate([[0.0], done]), np.concatenate([[0.0], done * mean])
    ends = [0]
    for row in range(1, len(total)):
        if _ROUNDED * (total[row] - total[ends[-1]]) >= (done[row] + done[ends[-1]]) * digit / 2:
            ends.append(row)
    ends = [*(ends[:-1] or ends), len(total) - 1]
    return np.repeat(np.diff(total[ends]) / np.diff(done[ends]), np.diff(ends))


_ARGUMENTS = rb"Run arguments: Namespace\("


FORMAT = Format(
    title="NGC PyTorch GNMT",
    framework="NGC PyTorch",
    start=rb"(?m)^(?:0: )?+" + _ARGUMENTS + up_to_argument(rb"beam_size", _ARGUMENTS),
    end="Total training time {:int} s",
    readings=(
        Reading(
            rb"(?:(?P<rank>[0-9]{1,6}+): )?+TRAIN \[<epoch>\]\[(?!0/)<step>/[0-9]++\]\tTime \S++ \(<_mean_seconds>\)\tData \S++ \([^)\s]++\)\t"
            rb"Tok/s \S++ \(<_mean_speed>\)\t(?:Src tok/s [^\t\n]++\tTgt tok/s [^\t\n]++\tLoss/sentence [^\t\n]++\t)?+"
            rb"Loss/tok <loss> \(",
            unit="tokens/s",
            scope="device",
            ranks="median",
            verbs=(_intervals,),
        ),
        Reading("Performance: Epoch: {_}\tTraining: {throughput} Tok/s", unit="tokens/s", span="run"),
    ),
    facts=(
        *TF32,
        Fact("model", rb"^(?:\d++: )?+(GNMT)\("),
        Fact("batch_size", "Run arguments: Namespace({*}train_batch_size={:int}"),
        Fact("accumulation", "Run arguments: Namespace({*}train_iter_size={:int}"),
        Fact("precision", "Run arguments: Namespace({*}math='{}'", words={b"fp16": "fp16", b"manual_fp16": "fp16", b"fp32": "fp32", b"tf32": "tf32"}),
        *PYTORCH_JOB,
        ONE_NODE,
    ),
)  # fmt: skip
