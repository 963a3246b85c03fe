"""The course of a run: samples and seconds of training until each event."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import isfinite

from perfledger.parsers.frameworks.mlperf.events import NEXT, Event, of_run
from perfledger.parsers.frameworks.mlperf.positions import FEW_BLOCKS, data_set_size, positions


@dataclass(frozen=True)
class _Point:
    """A place in a run: an event, with the samples and the seconds of training until it.

    `evaluated` is the number of evaluations that the seconds include.
    """

    event: Event
    samples: float
    seconds: float
    evaluated: int


@dataclass(frozen=True)
class Course:
    """The points of a run in order, with rising samples and seconds; `last` says whether the last one counts.

    `trained` has for each row the seconds of training until it, and the number of evaluations that these include.
    `marked` says whether the blocks mark single steps of many.
    """

    points: Sequence[_Point]
    trained: Mapping[int, tuple[float, int]]
    last: bool
    marked: bool


def course_of(events: Sequence[Event], batch: float) -> Course | None:
    """Return the course of the last run; None if its events do not show it.

    Some submitters log all epochs at once; then the blocks without the epochs show it.
    """
    inside, data_set = of_run(events), data_set_size(events, batch)
    for used in (inside, [each for each in inside if not each.kind.startswith("_epoch")]):
        samples, last = positions(used, data_set, batch)
        if marked := _marks_steps(used, samples):
            used = [each for each in used if each.kind != "_block_stop"]
            samples, last = positions(used, data_set, batch)
        trained = seconds_trained(used)
        evaluated = _evaluated(used, trained)
        points = _rising([_Point(*each) for each in zip(used, samples, trained, evaluated, strict=True)])
        if len(points) > 1:
            rows = [each.row for each in used]
            return Course(points, dict(zip(rows, zip(trained, evaluated, strict=True), strict=True)), last, marked)
    return None


def _marks_steps(events: Sequence[Event], samples: Sequence[float]) -> bool:
    """Return whether blocks are single steps of many, so that most training happens between two blocks.

    TorchTitan's logger marks one step of every ten, and repeats at its end the samples of its beginning.
    """
    blocks = [
        (each.kind, number) for each, number in zip(events, samples, strict=True) if each.kind.startswith("_block")
    ]
    moves = {"_block_start": list[float](), "_block_stop": list[float]()}
    for (before, first), (after, last) in pairwise(blocks):
        if before != after and isfinite(last - first):
            moves[after].append(last - first)
    between, within = moves["_block_start"], moves["_block_stop"]
    return len(between) >= FEW_BLOCKS and min(between) > 0 and sum(between) >= sum(within) / 2


def seconds_trained(events: Sequence[Event]) -> list[float]:
    """Return the seconds of training until each event: the time within epochs and blocks, and outside evaluations.

    An evaluation ends at the latest when the next epoch or block begins; if no line ends it, with its accuracy.
    """
    ended = any(each.kind == "_eval_stop" for each in events)
    parts = {name for name in ("_epoch", "_block") if any(each.kind == f"{name}_stop" for each in events)}
    found, total, begun, evaluates = [], 0.0, set[str](), False
    for before, each in pairwise([*events[:1], *events]):
        if parts <= begun and not evaluates:
            total += max(0.0, each.time - before.time)
        found.append(total)
        name, _, end = each.kind.rpartition("_")
        if name == "_eval":
            evaluates = end == "start"
        elif end == "start":
            begun.add(name)
            evaluates = evaluates and name not in parts
        elif end == "stop":
            begun.discard(name)
        elif each.kind == "_judged":
            evaluates = evaluates and ended
    return found


def _evaluated(events: Sequence[Event], trained: Sequence[float]) -> list[int]:
    """Return the number of evaluations that the seconds of training until each event include.

    If no line begins an evaluation, only its accuracy is logged. If a block ended just before the accuracy, the block
    includes the evaluation, since an evaluation after the block would have taken some time.
    """
    inside = [0] * len(events)
    if not any(each.kind == "_eval_start" for each in events):
        rises = [at for at, (before, after) in enumerate(pairwise(trained), 1) if after > before]
        for at, each in enumerate(events):
            last = rises[bisect_right(rises, at) - 1] if each.kind == "_judged" and rises[:1] and rises[0] <= at else 0
            if last and each.time - events[last].time <= NEXT:
                inside[last] += 1
    return list(accumulate(inside))


def _rising(points: Sequence[_Point]) -> list[_Point]:
    """Return the points with more samples and more seconds than the point before."""
    found: list[_Point] = []
    for each in points:
        if isfinite(each.samples) and (
            not found or (each.samples > found[-1].samples and each.seconds > found[-1].seconds)
        ):
            found.append(each)
    return found
