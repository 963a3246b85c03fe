"""ESPnet2 (`espnet2.bin.*_train`): a line per twentieth of an epoch, or per `log_interval` batches, with `train_time`.

That is the seconds of one update with the wait for its data, as a mean over the batches of the line; an update takes
`accum_grad` of them, which nothing prints: the dates of the lines tell. The time between two epochs, which holds the
validation, is in no line. Batches differ in size, which is not printed, so that the log tells the time of a batch and
no speed.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Format, NearMiss, Postprocessed, Reading, Sample, is_private
from perfledger.parsers.frameworks import PYTORCH_JOB

#: How far the batches per update may lie off a whole number.
_WHOLE = 0.1


def _batches(columns: Columns) -> Postprocessed:
    """Return the lines with the seconds of a batch; NaN where the dates do not tell how many of them an update takes."""
    kept = {name: each for name, each in columns.items() if not is_private(name)}
    steps = columns["step"] - columns["_first"] + 1
    seconds = columns["step_seconds"]
    within = np.diff(columns["epoch"], prepend=np.nan) == 0
    passed = np.diff(columns["clock"], prepend=np.nan) if "clock" in columns else np.full(len(steps), np.nan)
    ratios = (steps * seconds / np.where(passed > 0, passed, np.nan))[within]
    ratio = float(np.median(ratios[np.isfinite(ratios)])) if np.isfinite(ratios).any() else np.nan
    told = ratio > 0.5 and abs(ratio / round(ratio) - 1) < _WHOLE
    return np.arange(len(steps)), kept | {"steps": steps, "step_seconds": seconds / (round(ratio) if told else np.nan)}


FORMAT = Format(
    title="ESPnet2",
    framework="PyTorch",
    marker=b"epoch:train:",
    unproven=True,
    start=rb"python[0-9.]*+ -m espnet2\.bin\.(?:[a-z0-9]++_)++train ",
    end=rb"INFO: The training was finished at [0-9]++ epochs",
    readings=(
        Reading(
            rb"(?:(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) \(trainer:[0-9]++\) INFO: )?+(?<![0-9])<epoch>epoch:train:(?P<_first>[0-9]++)-<step>batch: "
            rb"(?:(?! loss=|\btrain_time=|epoch:train:)[^\r\n])*+(?: loss=<loss>,(?:(?!\btrain_time=|epoch:train:)[^\r\n])*+)?+\btrain_time=<step_seconds>(?=\s)",
            unit="samples/s",
            epoch_timer=True,
            postprocess=_batches,
        ),
    ),
    facts=PYTORCH_JOB,
    samples=(
        Sample(
            b"[host:0/2] 2026-11-20 10:12:20,500 (trainer:753) INFO: 8epoch:train:2901-3000batch: iter_time=0.125, forward_time=0.375, "
            b"loss_ctc=17.125, loss=17.250, backward_time=0.250, grad_norm=37.5, clip=100.000, loss_scale=1.000, optim_step_time=0.025, "
            b"optim0_lr0=3.765e-04, train_time=1.125\n",
            epoch=8, _first=2901, step=3000, loss=17.25, step_seconds=1.125,
        ),
        NearMiss(
            b"[host] 2026-11-20 10:12:20,500 (trainer:243) INFO: 1epoch results: [train] iter_time=0.001, loss=2.875, train_time=0.0125, "
            b"time=1 minute and 42.6 seconds, total_count=7507, [valid] loss=2.375, time=3 seconds, total_count=240",
            "an epoch",
        ),
        NearMiss(b"8epoch:train:2901-3000batch: iter_time=0.125, loss=17.250, train_time=1.12", "cut inside the number"),
    ),
)  # fmt: skip
