"""Orbit, the training loop of TensorFlow's Model Garden since 2021 (`train | step: 100 | steps/sec: 4.2 | output: ...`).

A record is a loop of steps of the whole job. Its timer runs on through evaluations and checkpoints, and its rate has
one decimal, so the clocks of the log count if there are any: from the line that ends the loop before, that begins
training after an evaluation, or that says that a checkpoint is saved. Each message is printed twice, by the logger to
stderr and without a clock to stdout, which comes late unless it is a terminal. The batch size of the job is in the
parameters of the experiment, above that of the evaluation.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Pause, Reading, fine, up_to
from perfledger.parsers.frameworks import TENSORFLOW

_STAMP = (
    rb"[IWE](?:[0-9]{4} )?+(?P<_hours>[0-9]{2}):(?P<_minutes>[0-9]{2}):(?P<_seconds>[0-9]{2}\.[0-9]++) ++"
    rb"[0-9]++ [\w.-]++:[0-9]++\] "
)
_DAY = 86_400.0
_PARAMETER = rb"'%s': "


def _by_the_clock(columns: Columns) -> Columns:
    """Return the loops with a clock that does not advance between the line that ends one and the last before the next."""
    step = np.where(np.isnan(columns["step"]), columns["_saved"], columns["step"])
    # A name of a checkpoint that was broken off states no step: that of the line before, unless lines are missing.
    step = step[np.maximum.accumulate(np.where(np.isnan(step), 0, np.arange(len(step))))]
    at = 3600 * columns["_hours"] + 60 * columns["_minutes"] + columns["_seconds"]
    took, steps = np.diff(at, prepend=at[:1]) % _DAY, np.diff(step, prepend=step[:1])
    rows = np.flatnonzero(~np.isnan(columns["steps_per_second"]))
    trained = at[rows[:1]] + np.cumsum(took[rows]) - took[rows[:1]]
    found = columns.assign(step=step, steps=steps).take(rows).assign(clock=trained)
    return found.drop("steps_per_second")


FORMAT = Format(
    title="Orbit (TensorFlow Model Garden)",
    framework="TensorFlow",
    start="Final experiment parameters:",
    before_start=rb"Creat(?:ing|ed) (?:TensorFlow )?device|Your CPU supports instructions|Found device 0 with properties",
    readings=(
        Reading(
            _STAMP + rb"(?:train \| step: ++<step> \| (?:steps/sec: ++<steps_per_second> \||training until step [0-9])|"
            rb"saved checkpoint to (?:" + up_to(rb"-(?=[0-9]++\.(?!\w))", rb"saved checkpoint to ") + rb"(?P<_saved>[0-9]++))?+)",
            unit="samples/s",
            verbs=(_by_the_clock,),
        ),
        Reading(
            "^train | step: {step} | steps/sec: {steps_per_second} |",
            unit="samples/s",
            pauses=(
                Pause("evaluation", "eval | step: "),
                Pause("checkpoint", "saved checkpoint to "),
            ),
            verbs=(fine("steps_per_second", 0.1),),
        ),
    ),
    facts=(
        Fact(
            "batch_size_of_job",
            _PARAMETER % rb"train_data" + rb"\{"
            + up_to(_PARAMETER % rb"global_batch_size", _PARAMETER % rb"(?:train|validation)_data", rb"[\s\S]") + rb"(\d++)",
            int,
        ),
        Fact(
            "devices",
            _PARAMETER % rb"distribution_strategy" + rb"'mirrored'"
            + up_to(_PARAMETER % rb"num_gpus", _PARAMETER % rb"(?:distribution_strategy|task)", rb"[\s\S]") + rb"(\d++)",
            int,
        ),
        *TENSORFLOW,
        Fact("total_steps", _PARAMETER % rb"train_steps" + rb"(\d++)", int),
        Fact(
            "precision",
            _PARAMETER % rb"mixed_precision_dtype" + rb"'(\w++)'",
            words={b"float16": "amp", b"bfloat16": "bf16", b"float32": "fp32"},
        ),
    ),
)  # fmt: skip
