"""timm's `train.py` and its many copies (`Train: 0 [  50/5004 (  1%)]  Loss: ...  Time: ...`): the means of an epoch.

Two pairs of seconds and samples per second are printed, both of the job over all accumulated batches. The first is of
the last update alone, and too high by 1 to 3 % since stalls fall between the printed updates. The second is the mean
since the epoch began, which counts every update; it is undone to what each line adds. `Test` lines carry seconds as
well, of an evaluation, which is outside the means. The batch size is printed only if the learning rate follows from it.

The mean speed is that of the samples of the last update, as if all before had as many. The last update of an epoch may
accumulate fewer batches, or a smaller one: then the samples of all updates are used instead. If three batches or more
are accumulated, those that are left at the end of an epoch may become smaller updates, numbered beyond the updates of
the epoch (`[ 50/26 (200%)]`). These lines are left out.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Reading, median
from perfledger.parsers.frameworks import PYTORCH_JOB

_START = rb"Training (?:with a single process on|in distributed mode with multiple processes)"
#: An update is smaller if it has less than this share of the samples of others; rounding may explain the rest.
_FEWER = 0.9
#: Seconds above this show, with their three decimals, the samples of an update to 2 %.
_FINE = 0.025


def _with_full_updates(columns: Columns) -> Columns:
    """Return the mean speeds, those of epochs that end with a smaller update with the samples of all their updates."""
    columns = columns.take(columns["step"] < columns["total_steps"])
    done, seconds, speed = columns["step"] + 1, columns["step_seconds"], columns["throughput"]
    samples = seconds * speed
    usual = median(samples[np.isfinite(samples)])
    smaller = (done == columns["total_steps"]) & (samples < _FEWER * usual) & (seconds > _FINE)
    corrected = ((done - 1) * usual + samples) / (done * seconds)
    return columns.assign(throughput=np.where(smaller, corrected, speed))


FORMAT = Format(
    title="timm",
    framework="PyTorch",
    # Every process announces itself.
    start=_START + rb"(?:(?:(?!Train: |" + _START + rb")[\s\S]){0,20000}+" + _START + rb")*+",
    end="*** Best metric: ",
    readings=(
        Reading(
            "Train: {epoch}{?/{_}} [{step}/{total_steps} ({? }{_}%)]  {?Loss:  {_} ({loss})  }{*}Time: {_}s,  {_}/s  ({step_seconds}s, {throughput}/s)",
            unit="images/s",
            running_mean=0,
            per_update=True,
            verbs=(_with_full_updates,),
        ),
    ),
    facts=(
        Fact("model", "Model {} created, param count:{? }{_}"),
        Fact("parameters", "Model {_} created, param count:{:,}"),
        Fact("total_epochs", "Scheduled epochs: {:int}"),
        Fact("devices", rb"Training in distributed mode with multiple processes, [^\n]{0,40}?Process [0-9]++, total ([0-9]++)\b", int),
        Fact("devices", rb"Training (with a single process on 1) ", lambda _: 1),
        *PYTORCH_JOB,
        # Of an update: batches that it accumulates are in it.
        Fact("batch_size_of_job", rb"Learning rate \([^()\n]++\) calculated from [^()\n]++\([^()\n]++\) and (?:effective )?+global batch size \((\d++)\)", int),
        Fact("precision", rb"Training in (mixed precision|float32)\.", words={b"mixed precision": "amp", b"float32": "fp32"}),
    ),
)  # fmt: skip
