"""OpenCLIP (`Train Epoch: 0 [ 6464/109468 (6%)] ... Batch (t): 0.559, 114.490/s`): a record per `log_every_n_steps` batches.

The samples since the epoch began are those of the job over all accumulated batches. `Batch (t)` is the mean seconds of a
batch since the line before, with the wait for data. The speed after it is that of the last batch alone, which may be the
one that stalls, and is not read; nor is that of one device. The date of the stamp ends with a comma, so that its time of day
is read. The time between two epochs is not in a record. Releases before 2022 print no speed, and the seconds of the last
batch alone. OpenLM, which trains language models, prints the same of sequences, and may count checkpoints for epochs.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import EPOCH_TIMER, Columns, Fact, Format, Reading


def _batches(columns: Columns) -> Columns:
    """Return the batches since the line before, whose samples divide all counts: lines follow the first one of many."""
    counts, epochs = columns["_samples"], columns["epoch"]
    batch = float(np.gcd.reduce(counts.astype(np.int64))) if len(counts) > 1 else np.nan
    anew = np.diff(epochs, prepend=np.nan) != 0
    # The first line of the log may be anywhere in its epoch: that of an epoch's first batch counts as it is.
    steps = np.where(anew, 1.0, np.diff(counts, prepend=np.nan) / batch)
    made = columns.assign(
        step=counts / batch, steps=steps, samples=steps * batch, total_steps=columns["_epoch_samples"] // batch
    )
    return made.take(steps > 0)


FORMAT = Format(
    title="OpenCLIP",
    framework="PyTorch",
    # Every process announces itself, and the first one alone prints the rest.
    start=rb" \| INFO \| Running (?:with a single process\.|in distributed mode with multiple processes\. [^\n(]{0,60}+\(global: 0,)",
    readings=(
        Reading(
            "{clock} | INFO | Train {Epoch|Checkpoint}: {epoch} [{_samples}/{_epoch_samples} ({_}%)] {*}Data (t): {reader_seconds} Batch (t): {step_seconds}, {_}/s",
            unit="samples/s",
            pauses=(EPOCH_TIMER,),
            verbs=(_batches,),
        ),
    ),
    facts=(
        Fact("batch_size", rb" \| INFO \|   batch_size: (\d++)\s", int),
        Fact("devices", rb" \| INFO \|   world_size: (\d++)\s", int),
        Fact("accumulation", rb" \| INFO \|   accum_freq: (\d++)\s", int),
        Fact("total_epochs", rb" \| INFO \|   epochs: (\d++)\s", int),
        Fact("model", rb" \| INFO \|   model: ([\w./:-]++)\s"),
        Fact(
            "precision",
            rb" \| INFO \|   precision: (\w++)\s",
            words={b"amp": "amp", b"amp_bf16": "amp", b"amp_bfloat16": "amp", b"fp32": "fp32", b"bf16": "bf16", b"fp16": "fp16"},
        ),
    ),
)  # fmt: skip
