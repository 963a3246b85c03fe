"""TensorBoard's event files (`events.out.tfevents.*`): scalars by step and wall time, of whatever program writes them.

An event file is read as lines of text, one for each scalar; the place of a figure is the `offset` of its record, which the
line begins with. The steps are those of one loss of training, the one with most points. A program numbers its points as it
likes, by steps, by epochs or by samples, and the file does not say which: they count as steps if an `epoch` is written
next to them that advances more slowly, if seconds or a rate per step agree with the wall times, if the wait for data of
each iteration is written, or if they advance by several at a time. Reinforcement learning counts steps of the environment
(Stable-Baselines3, CleanRL), and is not read. The time of an evaluation is part of the interval after its scalars. The
Trainer of Hugging Face writes its own figure for the run at the end, with evaluations and saving, and its arguments at the
start.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import (
    Column,
    Columns,
    Fact,
    Format,
    Indices,
    Pause,
    Reading,
    lacks,
    median,
    up_to,
)

#: Least steps of an epoch: with one step per epoch, points by step and by epoch look alike.
_STEPS_PER_EPOCH = 2

_SCALAR = rb"tensorboard offset=[0-9]++ wall_time=<unix> step=<step> series=(?P<_series>[0-9]++) "
_VALIDATION = rb"(?i:val|eval|test|dev[/_])"
_NUMBER = rb"[-+.0-9enaif]++"
#: The epoch that is written after a loss, with its step: Lightning and the Trainer of Hugging Face write it last.
_EPOCH = (
    rb"(?:(?="
    + up_to(
        rb' (?=step=[0-9]++ series=[0-9]++ tag="(?:train/)?+epoch")', rb'[Ll]oss[^"\r\n]{0,400}+" value=', rb"[\s\S]"
    )
    + rb'step=(?P<_epoch_step>[0-9]++) series=[0-9]++ tag="[a-z/]++" value=(?P<_epoch>'
    + _NUMBER
    + rb")(?=\s))|)"
)
#: Megatron-LM and NeMo.
_STEP_SECONDS = rb"iteration-time|train_step_timing in s"
#: TensorFlow's Estimator, and its detection models.
_STEP_RATE = rb"global_step/sec|steps_per_sec"
#: Detectron2 and OpenMMLab.
_WAIT = rb"(?:train/)?+data_time"
#: Columns that show that points are numbered by steps.
_EVIDENCE = ("_step_seconds", "_step_rate", "_wait")


def _training(columns: Columns) -> Columns:
    """Return the points of the loss with most points, if they are steps."""
    series = columns["_series"]
    losses = np.flatnonzero(~np.any([np.isfinite(columns[each]) for each in _EVIDENCE], axis=0))
    numbers, points = np.unique(series[losses], return_counts=True)
    rows = losses[series[losses] == numbers[np.argmax(points)]] if len(losses) else losses
    if not _are_steps(columns, rows):
        rows = rows[:0]
    return columns.take(rows)


def _are_steps(columns: Columns, rows: Indices) -> bool:
    """Return whether other scalars show that points are numbered by steps."""
    steps, (seconds, rate, wait) = columns["step"], (columns[each] for each in _EVIDENCE)
    with_epochs = np.flatnonzero((columns["_epoch_step"] == steps) & np.isin(steps, steps[rows]))
    if len(with_epochs):
        advanced = float(np.ptp(steps[with_epochs]))
        return advanced > 0 and advanced >= _STEPS_PER_EPOCH * float(np.ptp(columns["_epoch"][with_epochs]))
    stated = np.concatenate([seconds[np.isfinite(seconds)], 1 / rate[rate > 0]])
    if len(stated):
        ratio = float(np.median(stated)) / _pace(columns, rows)
        return 1 / _STEPS_PER_EPOCH < ratio < _STEPS_PER_EPOCH
    # Epochs are written one by one.
    return bool(np.isfinite(wait).any()) or median(np.diff(steps[rows])) > 1


def _pace(columns: Columns, rows: Indices) -> float:
    """Return the seconds by the wall times from one number to the next; NaN if the numbers do not advance."""
    advance: Column = np.diff(columns["step"][rows])
    gaps = np.diff(columns["clock"][rows])[advance > 0] / advance[advance > 0]
    return float(np.median(gaps)) if len(gaps) else float("nan")


FORMAT = Format(
    title="TensorBoard",
    unproven=True,
    end=rb' tag="train/train_runtime" value=',
    readings=(
        Reading(
            _SCALAR
            + rb'tag="(?:(?:' + _STEP_SECONDS + rb')" value=(?P<_step_seconds>' + _NUMBER + rb")(?=\s)"
            + rb"|(?:" + _STEP_RATE + rb')" value=(?P<_step_rate>' + _NUMBER + rb")(?=\s)"
            + rb"|" + _WAIT + rb'" value=(?P<_wait>' + _NUMBER + rb")(?=\s)"
            + rb'|(?:(?![Ll]oss|' + _VALIDATION + rb')[^"\r\n])*+[Ll]oss(?:(?!' + _VALIDATION + rb')[^"\r\n])*+" value=<loss>(?=\s)'
            + _EPOCH + rb")",
            unit="samples/s",
            per_update=True,
            pauses=(
                Pause(
                    "evaluation", rb'tag="(?:eval|valid(?:ation)?|val|test)[/_]',
                ),
            ),
            where=lacks(rb' tag="(?:rollout|charts)/'),
            verbs=(_training,),
        ),
        # Composer: of the whole job.
        *(
            Reading(
                f'tensorboard offset={{_}} wall_time={{unix}} step={{step}} series={{_}} tag="throughput/{counted}_per_sec" value={{throughput}}',
                unit=f"{counted}/s",
                per_update=True,
            )
            for counted in ("tokens", "samples")
        ),
        Reading(
            'tensorboard offset={_} wall_time={_} step={step} series={_} tag="train/train_runtime" value={seconds}\n'
            'tensorboard offset={_} wall_time={_} step={_} series={_} tag="train/train_samples_per_second" value={throughput}',
            unit="samples/s",
            span="run",
        ),
    ),
    facts=(
        Fact("model", rb'\\"_name_or_path\\": \\"([\w./-]++)\\"'),
        Fact("batch_size", rb'\\"per_device_train_batch_size\\": ([0-9]++)', int),
        Fact("accumulation", rb'\\"gradient_accumulation_steps\\": ([0-9]++)', int),
        Fact("total_steps", rb'\\"max_steps\\": ([1-9][0-9]*+)', int),
        Fact("precision", rb'\\"(bf16|fp16)\\": true', words={b"bf16": "bf16", b"fp16": "amp"}),
        Fact("framework", rb'\\"(per_device_train_batch_size)\\": ', lambda _: "PyTorch"),
    ),
)  # fmt: skip
