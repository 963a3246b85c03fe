"""MindSpore's model zoo (BERT, ResNet-50 and others): a line with the state, then a line with the time it took.

The time is that of a sink, the steps that run without the host; it is printed as `epoch time` whatever it covers. All
ranks write to one file, untagged, and may be out of step: times are assigned to states first in, first out, and the
times that several ranks print for one step count once. Callbacks print the `step` of the run (BERT, `outputs are`) or
of the epoch (`loss is`), for each step or only for the last of the sink. Newer releases begin with `Train epoch time`;
some print seconds instead of milliseconds. `Eval epoch time` is an evaluation. If it precedes the time of the
epoch, the evaluation took place within it, or restarted the timer: such a time is not a record. Times of programs that
print no such states are counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perfledger.parsers.contract import Column, Columns, Format, Indices, Reading, either


def _timed_steps(printed: Columns) -> Columns:
    """Return the rows that print a time, with the step at which it ended."""
    duration = printed["duration"]
    times, states = np.flatnonzero(~np.isnan(duration)), np.flatnonzero(~np.isnan(printed["step"]))
    if not len(states):
        return _times_alone(printed, times)
    times, states = _paired(times, states)
    trained = ~_evaluated(times, printed)
    times, states = times[trained], states[trained]
    steps = np.round(duration[times] / printed["step_seconds"][times])
    step, epoch = printed["step"][states], printed["epoch"][states]
    steps = np.where(np.isfinite(steps) & (steps >= 1), steps, _stride(step, epoch))
    ends = np.where(np.isnan(epoch), step, epoch * steps)
    return printed.take(times).select("duration").assign(step=ends, steps=steps, loss=printed["loss"][states])


def _times_alone(printed: Columns, times: Indices) -> Columns:
    """Return the times of a program that prints no states, with the steps that they divide into, counted from its first."""
    before = np.concatenate([[-1], times[:-1]]).astype(np.intp)
    evaluations = np.flatnonzero(np.isfinite(printed["_evaluation"]))
    trained = np.searchsorted(evaluations, times) == np.searchsorted(evaluations, before)
    found = printed.take(times[trained])
    steps = np.round(found["duration"] / found["step_seconds"])
    kept = np.isfinite(steps) & (steps >= 1)
    return found.take(kept).select("duration", "loss").assign(step=np.cumsum(steps[kept]), steps=steps[kept])


def _evaluated(times: Indices, printed: Columns) -> NDArray[np.bool_]:
    """Return which times have an evaluation between them and the last state before them."""
    rows = np.arange(len(printed["step"]))
    state, evaluation = (
        np.maximum.accumulate(np.where(np.isfinite(printed[each]), rows, -1)) for each in ("step", "_evaluation")
    )
    return np.asarray(evaluation[times] > state[times])


def _paired(times: Indices, states: Indices) -> tuple[Indices, Indices]:
    """Pair each time with its state. Times before any state, as in a log without its head, are dropped.

    One state to a time: first in, first out. Several, one for each step of a sink: the last before the time.
    """
    if len(states) > 1.5 * len(times):
        before = np.searchsorted(states, times)
        return times[before > 0], states[before[before > 0] - 1]
    rows = np.sort(np.concatenate([times, states]))
    waiting = np.cumsum(np.where(np.isin(rows, states), 1, -1))
    fewest = np.minimum(np.minimum.accumulate(waiting), 0)
    without = rows[np.diff(fewest, prepend=0) < 0]
    kept = times[~np.isin(times, without)]
    return kept, states[: len(kept)]


def _stride(step: Column, epoch: Column) -> Column:
    """Return the steps per record: the last of the epoch, or the usual gap between the steps of the run."""
    distinct = np.unique(step)
    gap = np.median(np.diff(distinct, prepend=0.0)) if len(distinct) else 1.0
    return np.where(np.isnan(epoch), gap, distinct.max(initial=1.0))


FORMAT = Format(
    title="MindSpore model zoo",
    framework="MindSpore",
    needs=b", per step time: ",
    readings=(
        Reading(
            "epoch: {epoch}{?,} step: {step}, loss is {loss}\n\n"
            "epoch: {_},{? current epoch percent: {_},} step: {_step:int}, outputs are (Tensor({*}Float32, {?value=}{? }{?[}{_loss}\n\n"
            "Eval epoch time: {_evaluation:ms}, per step time: \n\n"
            "epoch time: {duration:ms}, per step time: {step_seconds:ms}\n\n"
            "epoch time: {_seconds:s}, per step time: {_} s",
            unit="samples/s",
            ranks="median",
            verbs=(either("step", "_step"), either("loss", "_loss"), either("duration", "_seconds"), _timed_steps),
        ),
    ),
)
