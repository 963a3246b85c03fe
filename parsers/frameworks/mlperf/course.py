"""The course of a run: samples and seconds of training until each event, and the places of lost lines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import isfinite

from perfledger.parsers.frameworks.mlperf.events import BEGINS, NEXT, Event, of_run, with_ends
from perfledger.parsers.frameworks.mlperf.lines import RUN
from perfledger.parsers.frameworks.mlperf.positions import AGREES, ENDINGS, FEW_BLOCKS, data_set_size, positions

#: Share of a run's seconds, without evaluations, that the events must cover.
MOST = 0.5


@dataclass(frozen=True)
class _Point:
    """A place in a run: an event, with the samples and the seconds of training until it.

    `lost` rises with each event of a stretch with lost lines. `evaluated` is the number of evaluations that the seconds
    include.
    """

    event: Event
    samples: float
    seconds: float
    lost: int
    evaluated: int


@dataclass(frozen=True)
class Course:
    """The points of a run in order, with rising samples and seconds; `last` says whether the last one counts.

    `trained` has for each row the seconds of training until it, and a count that rises with lost lines and included
    evaluations. `marked` says whether the blocks mark single steps of many.
    """

    points: Sequence[_Point]
    trained: Mapping[int, tuple[float, int]]
    last: bool = True
    marked: bool = False


def course_of(events: Sequence[Event], batch: float) -> Course | None:
    """Return the course of the last run; None if its events do not show it, or cover too little of the run.

    Some submitters log all epochs at once; then the blocks without the epochs show it.
    """
    inside = with_ends(of_run(events))
    for used in (inside, [each for each in inside if not each.kind.startswith("_epoch")]):
        samples, last = positions(used, data_set_size(events, batch), batch)
        if marked := _marks_steps(used, samples):
            used = [each for each in used if each.kind != "_block_stop"]
            samples, last = positions(used, data_set_size(events, batch), batch)
        trained, lost = seconds_trained(used), _lost(used, samples)
        evaluated = _evaluated(used, trained)
        points = _rising([_Point(*each) for each in zip(used, samples, trained, lost, evaluated, strict=True)])
        if len(points) > 1 and _covers_most(used, trained[-1]):
            rows = [each.row for each in used]
            unknown = map(sum, zip(lost, evaluated, strict=True))
            return Course(points, dict(zip(rows, zip(trained, unknown, strict=True), strict=True)), last, marked)
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
    """Return the seconds of training until each event: the time within epochs and blocks, and outside evaluations."""
    cuts = _cuts(events)
    waits = not _evaluates_beside(events)
    found, total, open_cuts, evaluates = [], 0.0, set[str](), False
    for before, each in pairwise([*events[:1], *events]):
        if cuts <= open_cuts and not evaluates:
            total += max(0.0, each.time - before.time)
        found.append(total)
        name, _, end = each.kind.rpartition("_")
        if name == "_eval":
            evaluates = waits and end == "start"
        elif end == "start":
            open_cuts.add(name)
            # If training waits for evaluations, the line that ends this evaluation is lost.
            evaluates = evaluates and name not in cuts
        elif end == "stop":
            open_cuts.discard(name)
    return found


def _cuts(events: Sequence[Event]) -> set[str]:
    """Return the parts of training, epochs or blocks, whose ends are logged."""
    return {name for name in ("_epoch", "_block") if any(each.kind == f"{name}_stop" for each in events)}


def _lost(events: Sequence[Event], samples: Sequence[float]) -> list[int]:
    """Return a count that rises with each event of a stretch whose beginning or end is missing.

    A torn line leaves two successive beginnings or two successive ends. So does a program that was interrupted and
    continues from the beginning of the block. The training between them is unknown. Ranks may repeat an equal line at
    once, which is not a loss. If the samples rise during an evaluation, or between two blocks, lines are missing, too.
    """
    pairs = _cuts(events)
    if {"_eval_start", "_eval_stop"} <= {each.kind for each in events} and not _evaluates_beside(events):
        pairs.add("_eval")
    before, unknown = dict[str, int](), [False] * len(events)
    moved = _moved(events, samples, pairs)
    for at, each in enumerate(events):
        name, _, end = each.kind.rpartition("_")
        if name not in pairs:
            continue
        last = before.get(name)
        if last is None:
            torn = end == "stop"
        elif at in moved:
            torn = True
        else:
            again = each.time - events[last].time <= BEGINS and _content(events[last]) == _content(each)
            torn = events[last].kind == each.kind and not again
        if torn:
            begin = 0 if last is None else last + 1
            until = _ended(events, begin, at) if name == "_eval" and end == "start" else at + 1
            unknown[begin:until] = [True] * (until - begin)
        before[name] = at
    return list(accumulate(unknown))


def _moved(events: Sequence[Event], samples: Sequence[float], pairs: AbstractSet[str]) -> set[int]:
    """Return the rows where the samples rose although training was idle; an empty set if that is so in most places.

    Args:
        events: n events.
        samples: the samples until each, NaN if unknown.
        pairs: kinds with a beginning and an end: evaluations, and the parts of training.
    """
    before, still, moved = dict[str, int](), 0, set[int]()
    for at, each in enumerate(events):
        name, _, end = each.kind.rpartition("_")
        if name not in pairs or not isfinite(samples[at]):
            continue
        last = before.get(name)
        idle = end == ("stop" if name == "_eval" else "start")
        if idle and last is not None and events[last].kind != each.kind:
            still += 1
            moved |= {at} if samples[at] > samples[last] else set()
        before[name] = at
    return moved if 2 * len(moved) < still else set()


def _ended(events: Sequence[Event], begin: int, at: int) -> int:
    """Return the row of the next block or epoch, which begins after an evaluation whose end is lost."""
    starts = (row for row in range(begin, at) if events[row].kind in ("_epoch_start", "_block_start"))
    return next(starts, at + 1)


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
        # If one block includes an evaluation, all do: the accuracies of the others are lost.
        if any(each.kind == "_block_stop" and number for each, number in zip(events, inside, strict=True)):
            inside = [
                int(each.kind == "_block_stop" or number > 0) for each, number in zip(events, inside, strict=True)
            ]
    return list(accumulate(inside))


def _content(event: Event) -> str:
    """Return the numbers of a line without its time, as a text, so that missing numbers (NaN) are equal."""
    return repr((event.value, event.samples, event.number, event.step, event.count, event.first))


def _evaluates_beside(events: Sequence[Event]) -> bool:
    """Return whether an epoch or a block begins or ends during an evaluation."""
    evaluates = beside = False
    for each in events:
        if each.kind == "_eval_start":
            evaluates, beside = True, False
        elif each.kind == "_eval_stop":
            if evaluates and beside:
                return True
            evaluates = False
        elif each.kind.startswith(("_epoch", "_block")):
            beside = True
    return False


def _covers_most(events: Sequence[Event], trained: float) -> bool:
    """Return whether the seconds of training make up most of the run, without evaluations and the staging of data."""
    if events[0].kind != "_run_start" or events[-1].kind not in RUN:
        return True
    others = ("_eval_start", "_judged", "_staging_start")
    # An evaluation without a beginning is the time between the end of a block and the accuracy.
    spans = [
        (each, after)
        for each, after in pairwise(each for each in events if each.kind != "_printed")
        if each.kind in others or (each.kind in ENDINGS and after.kind == "_judged")
    ]
    took = sum(max(0.0, after.time - each.time) for each, after in spans)
    return trained >= MOST * (events[-1].time - events[0].time - took)


def _rising(points: Sequence[_Point]) -> list[_Point]:
    """Return the points with more samples and more seconds than the point before.

    If a line was lost, its seconds may be lost, too; then more samples are enough.
    """
    found: list[_Point] = []
    for each in points:
        if isfinite(each.samples) and (
            not found
            or (each.samples > found[-1].samples and (each.seconds > found[-1].seconds or each.lost > found[-1].lost))
        ):
            found.append(each)
    return found


def covers_all(inside: Sequence[Event], samples: Sequence[float], known: Sequence[int], within: bool) -> bool:
    """Return whether the rows with known samples cover the whole run.

    Args:
        inside: the events of the run.
        samples: the samples until each, NaN if unknown.
        known: indices of the events with known samples.
        within: whether the last of them counts.
    """
    trained, lost = seconds_trained(inside), _lost(inside, samples)
    after = trained[-1] - trained[known[-1]]
    return after <= AGREES * trained[-1] and lost[-1] == lost[known[-1]] and (within or not lost[known[0]])
