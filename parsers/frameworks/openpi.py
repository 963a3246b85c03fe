"""openpi (`train.py` for JAX, `train_pytorch.py`) and other programs with its loop, which train policies of robots.

In PyTorch, a line per `log_interval` steps has the seconds since the line before, including the time that saves a
checkpoint. The line of the first step has the seconds of one step and of the start. In JAX, the bar is logged about
every ten seconds. Its steps have three digits (`12.3kit`), so a record spans as many lines as needed for an error of
two per cent or less. Checkpoints are saved in the background. The batch size is that of the job.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Column, Columns, Fact, Format, Indices, Pause, Reading

#: Least steps of a record, in units of the last printed digit: rounding then changes them by 2 % at most.
_LEAST_STEPS = 50


def _far_enough(steps: Column, least: Column) -> Indices:
    """Return the first row, rows at which the steps restart, and rows at least `least` steps after the last one."""
    rows: list[int] = []
    for row in range(len(steps)):
        if not rows or steps[row] < steps[row - 1] or steps[row] - steps[rows[-1]] >= least[row]:
            rows.append(row)
    return np.array(rows, dtype=np.intp)


def _rows_far_apart(columns: Columns) -> Columns:
    """Return the lines between which the printed steps differ by enough."""
    thousands = columns["_thousands"]
    steps: Column = np.round(np.where(np.isfinite(thousands), 1000 * thousands, columns["_units"])).astype(np.float64)
    last_digit = np.power(10.0, np.maximum(np.floor(np.log10(np.maximum(steps, 1))) - 2, 0))
    return columns.assign(step=steps).take(_far_enough(steps, _LEAST_STEPS * last_digit))


FORMAT = Format(
    title="openpi",
    unproven=True,
    start=rb"\[I\] Running on: [\w.-]++ ++\(|\[I\] (?:Created|Using existing) experiment checkpoint directory: ",
    end="[I] Waiting for checkpoint manager to finish",
    readings=(
        Reading(
            "{clock} [I] step={step} loss={loss} lr={_} {?grad_norm={_} }time={duration}s",
            unit="samples/s",
            pauses=(
                Pause("checkpoint", "[I] Saved checkpoint at step "),
            ),
        ),
        Reading(
            rb"\[I\] Progress on: (?:(?P<_units>[0-9.]++)it|(?P<_thousands>[0-9.]++)kit)/[0-9.]++[kM]?+it "
            rb"rate:(?:[0-9.,]++it/s|-) remaining:[0-9:?]++ elapsed:(?P<elapsed>[0-9:]++) postfix:",
            unit="samples/s",
            verbs=(_rows_far_apart,),
        ),
    ),
    facts=(
        Fact("framework", rb"\[I\] (Training config: batch_size|Initialized data loader)",
             words={b"Training config: batch_size": "PyTorch", b"Initialized data loader": "JAX"}),
        Fact("devices", "[I] Running on: {_} | world_size={:int}"),
        Fact("batch_size_of_job", "[I] Training config: batch_size={:int}"),
        Fact("batch_size_of_job", "^[1]{?.value}: ({:int}, {_}, {_})@"),
        Fact("total_steps", "[I] Training config: batch_size={_}, effective_batch_size={_}, num_train_steps={:int}"),
        Fact("total_steps", "[I] Progress on: -/{:int} "),
        Fact("precision", "[I] Training precision: {}", words={b"bfloat16": "bf16", b"float32": "fp32"}),
    ),
)  # fmt: skip
