"""PaddleClas, dynamic graph (`tools/train.py`): a record per `Global.print_batch_step` iterations.

`ips` is the throughput of one device. Releases of 2024 print its mean since the last line. Releases of 2022 print a
running mean since iteration 5 of the epoch, which is undone where the timestamps tell that it is one. Where they do not
tell, `sustained` averages running means, which is right for a steady speed. `[Eval]` lines have an `ips` of their own,
for inference. Some releases print the configuration before they apply `-o` overrides, so its batch size is checked
against `ips * batch_cost` of the records. `ips` is the size of the last batch of the interval over the mean
`batch_cost`. So the last line of an epoch, whose last batch may be smaller, understates the speed and is corrected
here, or left out if it is of that batch alone. Means of 2021, which log as `root`, run since iteration 5 of the epoch,
which is undone here, until iteration 5 of the next one, with the evaluation in between: lines before that are left out.
Where a sampler of several scales varies the batches, the last ones of all records stand for the others if they are
enough. PLSC 2 and PASSL print these lines under their own names, with the throughput of the whole job; those of
PaddleScience are another format.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perfledger.parsers.contract import (
    Columns,
    Fact,
    Format,
    Pause,
    Postprocessed,
    Reading,
    is_private,
)
from perfledger.parsers.paddle import CLAS, MEMORY

_BEGINS = rb"\[Train\]\[Epoch "
_HEAD = (
    rb"<epoch>/<total_epochs>\]\[Iter: <step>/<total_steps>\](?:[^\r\nbl\[]++|b(?!atch_cost: )|l(?!oss: ))*+"
    rb"(?:loss: <loss>(?:[^\r\nb\[]++|b(?!atch_cost: ))*+)?+"
)
#: `ips` and `batch_cost` have five decimals; both the size of a batch and the usual one are computed from them.
_ROUNDING = 1e-5
#: Sizes that differ by less are one.
_SAME = 0.01
#: Iteration of every epoch at which the means of the first releases begin anew.
_RESTART = 5
#: Share of the records with another size than the usual one from which on the sampler varies the batches.
_VARIED = 0.05
#: Standard error, as a share, up to which the last batches of the records tell the mean of all.
_TOLD = 0.01


#: Stretches by which the timestamps are held against the lines: so many, but of so many seconds at least, since
#: timestamps have whole ones.
_STRETCHES, _LEAST = 16, 20.0
#: What the two ends of a stretch round in seconds, on average at most.
_ROUNDED = 1.0
_A_DAY = 86400

#: The first releases (2021), which log as `root`, have these in the first mean of the next epoch.
_PAUSES = (
    Pause(
        "evaluation",
        rb"\[Eval\]\[Epoch ",
    ),
    Pause(
        "checkpoint",
        rb"Already save model in ",
    ),
)


def _whole_batches(columns: Columns, since: int | None = None) -> Postprocessed:
    """Return the records with the speed of all their batches, where the last batch is smaller than the others.

    Means run since an iteration of the epoch, or else since the line before.

    A record before the epoch's end with an odd batch is left out. Where sizes vary throughout, `batch` is that of the
    last batch of each record, and the steps are unknown if these are too few to tell the mean.
    """
    ips, cost, step = columns["throughput"], columns["step_seconds"], columns["step"]
    rows, made, last = np.arange(len(ips)), dict(columns), step == columns["total_steps"] - 1
    with np.errstate(all="ignore"):
        size = ips * cost
        known = size[~last & np.isfinite(size)]
        usual = np.median(known) if len(known) else np.nan
        odd = np.abs(size - usual) > _SAME * usual + _ROUNDING * (ips + cost)
        if odd[~last].sum() > _VARIED * len(known):
            made["batch"] = np.where(np.isfinite(size), np.round(size), np.nan)
            if not np.std(size) <= _TOLD * np.mean(size) * np.sqrt(len(size)):
                made["steps"] = np.full(len(size), np.nan)
            return rows, made
        within = np.diff(columns["epoch"], prepend=np.nan) == 0
        covered = np.where(within, np.diff(step, prepend=np.nan), np.where(step == 0, 1.0, np.nan))
        if since is not None:
            covered = step - since + 1
        # A running mean says nothing of a batch that a line prints alone.
        smaller = last & odd & (size < usual) & (covered > 1)
        made["throughput"] = np.where(smaller, (usual * (covered - 1) + size) / covered / cost, ips)
    rows = rows[~odd | smaller]
    return rows, {name: column[rows] for name, column in made.items()}


def _are_running(columns: Columns) -> bool:
    """Return whether the timestamps say that the means run since an iteration of the epoch, and not since the last line."""
    step, cost = columns["step"], columns["step_seconds"]
    begins = (np.diff(columns["epoch"]) != 0) | (step[:-1] < _RESTART) | (np.diff(step) <= 0)
    took = np.diff(3600 * columns["_hour"] + 60 * columns["_minute"] + columns["_second"]) % _A_DAY
    since_last, running = cost[1:] * np.diff(step), np.diff(cost * (step - _RESTART + 1))
    told = ~begins & np.isfinite(took + since_last + running)
    if not took[told].sum() >= _LEAST:
        return False
    passed = np.cumsum(took[told])
    stretch = (passed // max(_LEAST, passed[-1] / _STRETCHES)).astype(np.intp)
    off, off_if_running = (
        np.abs(np.bincount(stretch, took[told] - each[told])).sum() for each in (since_last, running)
    )
    return bool(off > _ROUNDED * len(np.unique(stretch)) and off_if_running < off / 2)


def _of_intervals(columns: Columns) -> Postprocessed:
    """Return the same with means since the last line, also where running means are printed."""
    running = _are_running(columns)
    columns = {name: column for name, column in columns.items() if not is_private(name)}
    if not running:
        return _whole_batches(columns)
    kept = np.flatnonzero(columns["step"] >= _RESTART)
    rows, made = _whole_batches({name: column[kept] for name, column in columns.items()}, _RESTART)
    rows, seen = kept[rows], made["step"] - _RESTART + 1
    begins = (np.diff(made["epoch"], prepend=np.nan) != 0) | (np.diff(seen, prepend=np.inf) <= 0)
    seconds = seen * made["step_seconds"]
    steps, took, samples = (
        np.where(begins, each, np.diff(each, prepend=0.0)) for each in (seen, seconds, seconds * made["throughput"])
    )
    with np.errstate(all="ignore"):  # Numbers may be garbled.
        return rows, {**made, "steps": steps, "step_seconds": took / steps, "throughput": samples / took}


def _since_restart(columns: Columns) -> Postprocessed:
    """Return the same of the first releases, without the lines whose mean began in the epoch before."""
    kept = np.flatnonzero((columns["step"] >= _RESTART) | (columns["epoch"] == columns["epoch"][:1]))
    rows, found = _whole_batches({name: column[kept] for name, column in columns.items()}, _RESTART)
    return kept[rows], found


def _time_before(logger: bytes) -> bytes:
    """Return a pattern that, behind the name of a logger, reads the time of day in front of it, if one stands there."""
    at = rb"(?P<_hour>[0-9]{2}):(?P<_minute>[0-9]{2}):(?P<_second>[0-9]{2})\] "
    return rb"(?:(?<=" + at + logger + rb")|)"


def _of_device(logger: bytes) -> Reading:
    """Return the reading of lines behind the name of this logger."""
    return Reading(
        _BEGINS + logger + _HEAD
        + rb"batch_cost: <step_seconds>s, reader_cost: <reader_seconds>s?, "
        rb"ips: <throughput> (?:samples|images)/s(?:ec)?+" + MEMORY,
        unit="images/s",
        scope="device",
        verbs=(_whole_batches,),
    )  # fmt: skip


FORMAT = Format(
    title="PaddleClas (dynamic graph)",
    framework="PaddlePaddle",
    marker=b"[Train][Epoch ",
    start=rb"PaddleClas is powered by PaddlePaddle",
    readings=(
        replace(
            _of_device(b"".join(rb"(?<!%s INFO: " % name + _BEGINS + rb")" for name in (b"root", b"plsc", b"passl", b"ppsci")) + _time_before(rb"ppcls INFO: " + _BEGINS)),
            verbs=(_of_intervals,),
        ),
        replace(
            _of_device(rb"(?<=root INFO: " + _BEGINS + rb")"),
            cumulative_since=_RESTART,
            pauses=_PAUSES,
            epoch_timer=True,
            verbs=(_since_restart,),
        ),
        *(
            Reading(
                name + _time_before(name) + rb" INFO: " + _BEGINS + _HEAD
                + rb"batch_cost: <step_seconds>s?, reader_cost: <reader_seconds>s?, (?:ema_cost: [0-9.]++, )?+ips: <throughput> images/sec",
                unit="images/s",
                verbs=(_of_intervals,),
            )
            for name in (b"plsc", b"passl")
        ),
    ),
    facts=(*CLAS, Fact("framework_version", rb"train with paddle (\d[\w.]*+)")),
)  # fmt: skip
