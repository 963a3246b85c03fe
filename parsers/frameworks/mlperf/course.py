"""How far a run had come at its events, in samples and in seconds of training, and where lines are lost."""

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

#: Share of a run's seconds, without evaluations, that the events must tell.
MOST = 0.5


@dataclass(frozen=True)
class _Point:
    """A place in a run: its event, the samples until it, the seconds of training, and what is lost until then.

    `evaluated`: the evaluations within these seconds.
    """

    event: Event
    samples: float
    seconds: float
    lost: int
    evaluated: int


@dataclass(frozen=True)
class Course:
    """The points of a run, from its beginning on; samples and seconds rise. `last` tells whether the last one counts.

    `trained`: the seconds of training until each row, and what is lost until then or holds an evaluation.
    `marked`: whether its blocks only mark some of the steps.
    """

    points: Sequence[_Point]
    trained: Mapping[int, tuple[float, int]]
    last: bool = True
    marked: bool = False


def course_of(events: Sequence[Event], batch: float) -> Course | None:
    """Return how far a run had come at its events; None where they tell nothing, or too little of it.

    Some submitters log all epochs at once; their blocks tell the time.
    """
    inside = with_ends(of_run(events))
    for told in (inside, [each for each in inside if not each.kind.startswith("_epoch")]):
        samples, last = positions(told, data_set_size(events, batch), batch)
        if marked := _marks_steps(told, samples):
            told = [each for each in told if each.kind != "_block_stop"]
            samples, last = positions(told, data_set_size(events, batch), batch)
        trained, lost = seconds_trained(told), _lost(told, samples)
        evaluated = _evaluated(told, trained)
        points = _rising([_Point(*each) for each in zip(told, samples, trained, lost, evaluated, strict=True)])
        if len(points) > 1 and _tells_most(told, trained[-1]):
            rows = [each.row for each in told]
            unknown = map(sum, zip(lost, evaluated, strict=True))
            return Course(points, dict(zip(rows, zip(trained, unknown, strict=True), strict=True)), last, marked)
    return None


def _marks_steps(events: Sequence[Event], samples: Sequence[float]) -> bool:
    """Return whether blocks are single steps of many: most is trained between the end of one and the beginning of the next.

    TorchTitan's logger marks one step of every ten so, and tells at its end what it told at its beginning.
    """
    told = [(each.kind, number) for each, number in zip(events, samples, strict=True) if each.kind.startswith("_block")]
    moves = {"_block_start": list[float](), "_block_stop": list[float]()}
    for (before, first), (after, last) in pairwise(told):
        if before != after and isfinite(last - first):
            moves[after].append(last - first)
    between, within = moves["_block_start"], moves["_block_stop"]
    return len(between) >= FEW_BLOCKS and min(between) > 0 and sum(between) >= sum(within) / 2


def seconds_trained(events: Sequence[Event]) -> list[float]:
    """Return the seconds of training until each event: those within all that it is cut into, and outside evaluations."""
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
            # Where training waits for evaluations, the line that ends this one is lost.
            evaluates = evaluates and name not in cuts
        elif end == "stop":
            open_cuts.discard(name)
    return found


def _cuts(events: Sequence[Event]) -> set[str]:
    """Return what training is cut into: that of which ends are logged."""
    return {name for name in ("_epoch", "_block") if any(each.kind == f"{name}_stop" for each in events)}


def _lost(events: Sequence[Event], samples: Sequence[float]) -> list[int]:
    """Return a count that rises with each event of a stretch whose beginning or end is missing.

    A torn line leaves two beginnings, or two ends, one after the other, and so does a program that broke off and goes on
    where the block began: what was trained between them is not known. Ranks repeat one that tells the same at once.
    Nor is it known where a program had come further after an evaluation, or when a block began, than before: lines in
    between are missing.
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
            again = each.time - events[last].time <= BEGINS and _tells(events[last]) == _tells(each)
            torn = events[last].kind == each.kind and not again
        if torn:
            begin = 0 if last is None else last + 1
            until = _ended(events, begin, at) if name == "_eval" and end == "start" else at + 1
            unknown[begin:until] = [True] * (until - begin)
        before[name] = at
    return list(accumulate(unknown))


def _moved(events: Sequence[Event], samples: Sequence[float], pairs: AbstractSet[str]) -> set[int]:
    """Return the rows that tell more samples than the row since which nothing is trained; none where most do.

    Args:
        events: n events.
        samples: the samples until each, NaN where it does not tell.
        pairs: what begins and ends: evaluations, and what training is cut into.
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
    """Return the row before which an evaluation ended whose end is lost: where the next block or epoch begins."""
    starts = (row for row in range(begin, at) if events[row].kind in ("_epoch_start", "_block_start"))
    return next(starts, at + 1)


def _evaluated(events: Sequence[Event], trained: Sequence[float]) -> list[int]:
    """Return how many evaluations lie within the seconds of training until each event.

    Where no line begins an evaluation, its accuracy is all that tells of it. The block that ended just before holds it:
    of an evaluation behind the block some time has passed.
    """
    inside = [0] * len(events)
    if not any(each.kind == "_eval_start" for each in events):
        rises = [at for at, (before, after) in enumerate(pairwise(trained), 1) if after > before]
        for at, each in enumerate(events):
            last = rises[bisect_right(rises, at) - 1] if each.kind == "_judged" and rises[:1] and rises[0] <= at else 0
            if last and each.time - events[last].time <= NEXT:
                inside[last] += 1
        # Of a block whose accuracy is lost, the others tell that it held an evaluation.
        if any(each.kind == "_block_stop" and held for each, held in zip(events, inside, strict=True)):
            inside = [int(each.kind == "_block_stop" or held > 0) for each, held in zip(events, inside, strict=True)]
    return list(accumulate(inside))


def _tells(event: Event) -> str:
    """Return what a line tells besides its time, in a form in which what is not told is equal, too."""
    return repr((event.value, event.samples, event.number, event.step, event.count, event.first))


def _evaluates_beside(events: Sequence[Event]) -> bool:
    """Return whether an epoch or a block begins or ends during an evaluation, between its beginning and its own end."""
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


def _tells_most(events: Sequence[Event], trained: float) -> bool:
    """Return whether the seconds of training make up most of the run, without evaluations and the staging of data."""
    if events[0].kind != "_run_start" or events[-1].kind not in RUN:
        return True
    others = ("_eval_start", "_judged", "_staging_start")
    # Where nothing begins an evaluation, it lies between the end of a block and its accuracy.
    spans = [
        (each, after)
        for each, after in pairwise(each for each in events if each.kind != "_printed")
        if each.kind in others or (each.kind in ENDINGS and after.kind == "_judged")
    ]
    took = sum(max(0.0, after.time - each.time) for each, after in spans)
    return trained >= MOST * (events[-1].time - events[0].time - took)


def _rising(points: Sequence[_Point]) -> list[_Point]:
    """Return the points at which more samples and more seconds are told than before.

    Where a line was lost, the seconds may be lost with it, and the points go on behind it.
    """
    found: list[_Point] = []
    for each in points:
        if isfinite(each.samples) and (
            not found
            or (each.samples > found[-1].samples and (each.seconds > found[-1].seconds or each.lost > found[-1].lost))
        ):
            found.append(each)
    return found


def told_to_the_end(inside: Sequence[Event], samples: Sequence[float], known: Sequence[int], within: bool) -> bool:
    """Return whether the rows that tell how far a run came tell it all: lines of its beginning or its end may be lost."""
    trained, lost = seconds_trained(inside), _lost(inside, samples)
    after = trained[-1] - trained[known[-1]]
    return after <= AGREES * trained[-1] and lost[-1] == lost[known[-1]] and (within or not lost[known[0]])
