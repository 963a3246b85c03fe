"""PyTorch examples, ImageNet (`main.py`) and scripts derived from it: a record per `--print-freq` batches.

`Time` covers the one printed batch and does not show the batches in between, where a loader may stall. The mean in
brackets runs since the start of the epoch. If batches are left out, the seconds between two lines follow from it, over
stretches that are long enough for its three decimals, up to the last line of each epoch. Steps that are too fast for
these get no figure. Scripts that do not restart it with the epoch keep the printed batches. Every process of a node
prints to one file, so each step is printed once per device of the node. DLPerf counted lines: its hundred lines of
eight devices span twelve steps. `Test:` lines are the validation. A `Time` of ten seconds or more leaves no blank
before it. Steps count from 0, since 2022 from 1. Neither speed nor batch size is printed; the unit is samples of all
devices. If each epoch prints one line amid its steps, those after it are unknown, and it is not read. Copies print the
unit `s`, a speed of the printed batch, which is not read, the learning rate, the memory or no `Data`.

The examples of Apex and DALI look alike, and are not: `Time` is the mean of the batches since the line before, and
`Speed` that of the job. Their first line of an epoch divides one batch by the batches of an interval, which is undone.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import ROUNDS, Columns, Fact, Format, Reading, median, stretches


def _of_intervals(columns: Columns) -> Columns:
    """Return the records of Apex; those of scripts whose means in brackets are of all batches are of one batch each.

    The first line of an epoch divides its batch by the batches of an interval.
    """
    steps, took = columns["step"], columns["step_seconds"]
    gaps = np.diff(steps)
    usual = median(gaps[gaps > 0]) if (gaps > 0).any() else 1.0
    lines = np.floor(steps / usual) + 1
    inside = np.flatnonzero((gaps > 0) & (np.diff(columns["epoch"]) == 0)) + 1
    added = np.diff(columns["_mean_seconds"] * lines, prepend=np.nan)
    if (np.abs(added - took) > 2 * ROUNDS * lines)[inside].any():
        return stretches(columns.drop("throughput"))
    first = np.where(steps == 0, usual, 1.0)
    return columns.assign(step_seconds=took * first, throughput=columns["throughput"] / first)


FORMAT = Format(
    title="PyTorch examples, ImageNet",
    framework="PyTorch",
    start="Use GPU: 0 for training",
    readings=(
        Reading(
            "Epoch: [{epoch}{?/{_epochs}}][{step}{?/{total_steps}}]{?, lr: {_}}  Time{?:} {step_seconds}{?s} ({_mean_seconds}{?s}){?  Speed {_} samples/s}{?  Data{?:} {reader_seconds}{?s} ({_mean_wait}{?s})}{?  {LR|LearningRate|Mem (GB)} {_} ({*})}  {L|l}oss{?{_}} {loss} ",
            unit="images/s",
            span="step",
            ranks="median",
            verbs=(stretches,),
        ),
        Reading(
            "Epoch: [{epoch}][{step}/{total_steps}]  Time {step_seconds} ({_mean_seconds})  Speed {throughput} ({*})  Loss {loss} ",
            unit="images/s",
            verbs=(_of_intervals,),
        ),
    ),
    facts=(Fact("model", rb"^=> (?:creating model|using pre-trained model) '([\w-]++)'"),),
)  # fmt: skip
