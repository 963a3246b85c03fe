"""The events of a log, and those of its last run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import isfinite, nan

import numpy as np

from perfledger.parsers.contract import Columns
from perfledger.parsers.frameworks.mlperf.lines import EVENTS, RUN

RUN_ENDS = RUN.keys() - {"_run_start"}
#: Seconds between the beginnings that ranks of one run log; a later beginning is that of another run.
BEGINS = 10.0
#: Seconds between two lines that are printed together; every evaluation takes longer.
NEXT = 0.1
#: Seconds that stamps may go back, since several ranks write one log.
_BACK = 1.0


@dataclass(frozen=True)
class Event:
    """A line: its kind, which is the name of a column, its seconds since 1970, and its numbers, NaN if missing."""

    row: int
    kind: str
    time: float
    throughput: float
    value: float = nan
    samples: float = nan
    number: float = nan
    step: float = nan
    count: float = nan
    first: float = nan

    @property
    def place(self) -> float:
        """Return the number that identifies a stretch of training: samples, epoch or step; NaN if all are missing."""
        return next((each for each in (self.samples, self.number, self.step) if isfinite(each)), nan)


def events_of(columns: Columns) -> list[Event]:
    """Return the lines of a log as events. Times in JSON are milliseconds and are converted to seconds."""
    kinds = [name for name in EVENTS if name in columns]
    times = np.stack([columns[name] for name in kinds], axis=1)
    known = np.argmax(np.isfinite(times), axis=1)
    numbers = [name for name in ("_value", "_samples", "_number", "_step", "_count", "_first") if name in columns]
    rest = zip(columns["throughput"].tolist(), *(columns[name].tolist() for name in numbers), strict=True)
    stamps = np.take_along_axis(times, known[:, None], axis=1)[:, 0]
    seconds = np.where(stamps > 1e11, stamps / 1000, stamps).tolist()
    return [
        Event(row, kinds[at], time, *more)
        for row, (at, time, more) in enumerate(zip(known.tolist(), seconds, rest, strict=True))
    ]


def of_run(events: Sequence[Event]) -> list[Event]:
    """Return the events of the last run, from its beginning to its end; all events if neither is logged.

    A program that was started again logs the beginning again; the events before it belong to another run.
    """
    begin = begin_of_run(events)
    ends = [at for at, each in enumerate(events) if each.kind in RUN_ENDS and at > begin]
    return _until_end(events[begin : ends[-1] + 1 if ends else None])


def begin_of_run(events: Sequence[Event]) -> int:
    """Return the index of the event that begins the last run; every rank may log one."""
    starts = [at for at, each in enumerate(events) if each.kind == "_run_start"] or [0]
    later = [at for before, at in pairwise(starts) if events[at].time - events[before].time > BEGINS]
    return later[-1] if later else starts[0]


def goes_back(inside: Sequence[Event]) -> tuple[int, float] | None:
    """Return the row where the stamps of a run go back, and the negative seconds; None if they never do."""
    pairs = ((each.row, each.time - before.time) for before, each in pairwise(inside))
    return next(((row, seconds) for row, seconds in pairs if seconds < -_BACK), None)


def _until_end(inside: Sequence[Event]) -> list[Event]:
    """Drop the events that are dated after the end of the run.

    Stable Diffusion evaluates its checkpoints after the last step, in time that does not count. Then it prints the end of
    the run with the time at which the checkpoint that met the target was written. Accuracies may be dated back, too.
    """
    if inside[-1].kind not in RUN_ENDS or inside[-1].time <= inside[0].time:
        return list(inside)
    end, latest = inside[-1], list(accumulate((each.time for each in inside), max))
    if end.time >= latest[-1] - _BACK or goes_back(
        [each for each in inside if each.kind not in {*RUN_ENDS, "_judged"}]
    ):
        return list(inside)
    dated_back = {each.row for each, now in zip(inside, latest, strict=True) if each.time < now - _BACK}
    return [each for each in inside[:-1] if each.time <= end.time + NEXT and each.row not in dated_back] + [end]


def stated(columns: Columns, fact: str) -> float:
    """Return a number that the session states, or NaN."""
    return float(columns[f"_{fact}"][0]) if len(columns[f"_{fact}"]) else nan


def is_whole(inside: Sequence[Event]) -> bool:
    """Return whether both the beginning and the end of the run are logged."""
    return inside[0].kind == "_run_start" and inside[-1].kind in RUN and len(inside) > 1
