"""How many samples a run had processed at its events, by what these count: samples, steps, epochs or parts of epochs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite, isnan, nan

import numpy as np

from perfledger.parsers.frameworks.mlperf.events import NEXT, Event, of_run
from perfledger.parsers.frameworks.mlperf.lines import RUN

#: What ends a stretch of training.
ENDINGS = frozenset({"_block_stop", "_epoch_stop"})
#: A data set of images for detection has more images than this, and fewer batches.
_IMAGES = 100_000
#: Of fewer blocks the usual size is not known.
FEW_BLOCKS = 3
#: Two ways to a speed agree up to this.
AGREES = 0.05
#: And are the same up to this.
EXACT = 0.01


def data_set_size(events: Sequence[Event], batch: float) -> float:
    """Return the samples of an epoch; NaN where they are not known."""
    if padded := [each.value for each in events if each.kind == "_of_epoch"]:
        return padded[-1]
    ends = [each.row for each in events if each.kind == "_epoch_stop"] or [each.row for each in of_run(events)[-1:]]
    size = next((each.value for each in events if each.kind == "_data_set" and each.row < ends[0]), nan)
    batches = size < _IMAGES and any(each.kind == "_detection" for each in events)
    return size * batch if batches else size


def positions(events: Sequence[Event], data_set: float, batch: float) -> tuple[list[float], bool]:
    """Return the samples until each event, NaN where it does not tell, and whether the last of them counts."""
    events = _without_accuracy(events)
    counted = [each.samples for each in events if isfinite(each.samples)]
    numbers = [each.number for each in events if each.number > 0]
    others = [each.number for each in events if each.number > 0 and not each.kind.startswith("_epoch")]
    in_samples = _are_samples(others or numbers, events, batch)
    # Beside numbers that say more, what is counted may be the data that evaluations see.
    if counted and not (in_samples and max(numbers) > max(counted)):
        of_step = _batch_of_blocks(events, batch)
        return _agreed(events, [_counted(each, of_step) for each in events], batch), True
    if not counted and isfinite(batch) and _blocks_count_steps(events):
        return [_counted(each, batch) for each in events], True
    if in_samples:
        begins = _begins_of_epochs(events, batch)
        return [_number_of_samples(each, batch, begins) for each in events], True
    if any(number % 1 for number in numbers):
        first = _first(events)
        return [_part(each, first) * data_set for each in events], True
    return _whole_epochs(events, data_set)


def _without_accuracy(events: Sequence[Event]) -> list[Event]:
    """Return the events, accuracies without a place where evaluations tell it: they may count in another unit."""
    told = any(each.kind in ("_eval_start", "_eval_stop") and isfinite(each.place) for each in events)
    return [replace(each, samples=nan, number=nan) if told and each.kind == "_judged" else each for each in events]


def _are_samples(numbers: Sequence[float], events: Sequence[Event], batch: float) -> bool:
    """Return whether numbers of epochs count samples: in batches, or up to the samples that are logged in the end.

    They do not where blocks of fewer epochs add up to them.
    """
    if not numbers or min(numbers) < batch:
        return False
    logged = {each.value for each in events if each.kind == "_data_set"}
    if (
        any(number % batch for number in numbers)
        and max(each.number for each in events if each.number > 0) not in logged
    ):
        return False
    counts = [each.count for each in events if each.kind == "_block_start" and each.count < batch]
    one_by_one = batch == 1 and any(after - before == 1 for before, after in pairwise(numbers))
    return sum(counts) < min(numbers) and not one_by_one


def _begins_of_epochs(events: Sequence[Event], batch: float) -> Mapping[float, float]:
    """Return the samples at the beginning of each epoch, by its number, where that is the number of samples at its end.

    The beginning and the end of such an epoch have the same number, as in OpenFold. The first epoch is as long as the
    second: if its number is larger, the run goes on from a checkpoint.
    """
    starts, stops = (
        dict.fromkeys(each.number for each in events if each.kind == kind and each.number > 0)
        for kind in ("_epoch_start", "_epoch_stop")
    )
    numbers = list(starts)
    if not numbers or numbers[0] < batch or numbers[0] not in stops:
        return {}
    size = numbers[1] - numbers[0] if len(numbers) > 1 else numbers[0]
    return dict(zip(numbers, [max(0.0, numbers[0] - size), *numbers[:-1]], strict=True))


def _number_of_samples(event: Event, batch: float, begins: Mapping[float, float]) -> float:
    """Return the samples until an event whose number counts them, though that of an epoch may count epochs."""
    if event.kind == "_epoch_start" and event.number in begins:
        return begins[event.number]
    if event.kind.startswith("_epoch") and event.number < batch:
        return _part(event, 0.0) if event.kind == "_epoch_start" else nan
    return event.number


def _batch_of_blocks(events: Sequence[Event], batch: float) -> float:
    """Return the samples of a step by the blocks that tell both, or else the batch of the job; NaN without such blocks.

    The first block may be longer than it says, and the last one shorter. All may tell one step where evaluations count
    what is trained until them, in the batch of the job.
    """
    counted = {(each.samples, each.step) for each in events if of_evaluation(each, each.samples) and each.step > 0}
    if len(counted) >= FEW_BLOCKS and all(samples == step * batch for samples, step in counted):
        return batch
    blocks = [each for each in events if _is_block(each)]
    told = [
        after.samples / (after.step - before.step)
        for before, after in pairwise(blocks)
        if after.kind == "_block_stop" and after.step > before.step and isfinite(after.samples)
    ]
    if len(told) < FEW_BLOCKS:
        return batch if blocks else nan
    return float(np.median(told))


def _blocks_count_steps(events: Sequence[Event]) -> bool:
    """Return whether blocks tell their steps, and neither they nor evaluations tell epochs; an epoch around them may."""
    within = [each.number for each in events if each.kind.startswith(("_block", "_eval", "_judged"))]
    return (
        any(map(_is_block, events))
        and not any(isfinite(each.first) for each in events)
        and not any(each > 0 for each in within)
    )


def _is_block(event: Event) -> bool:
    """Return whether an event begins or ends a block and tells its step."""
    return event.kind.startswith("_block") and isfinite(event.step)


def _counted(event: Event, batch: float) -> float:
    """Return the samples until an event, by its step in a log whose blocks count steps.

    The count is then the size of a block, or of the data that an evaluation sees. `batch` is NaN in other logs.
    """
    if isfinite(event.step) and isfinite(batch) and event.kind.startswith(("_block", "_eval", "_judged", *RUN)):
        return event.step * batch
    return event.samples


def _agreed(events: Sequence[Event], samples: Sequence[float], batch: float) -> list[float]:
    """Return the samples until each event, NaN where the end of a block and the evaluation after it tell other ones.

    A batch may be told before it is trained. Evaluations that always tell the same tell the size of their data.
    """
    evaluated = {number for each, number in zip(events, samples, strict=True) if of_evaluation(each, number)}
    if len(evaluated) < 2:
        return list(samples)
    found, most = list(samples), batch if isfinite(batch) else 0.0
    told = [at for at, each in enumerate(events) if isfinite(samples[at]) and each.kind != "_judged"]
    for before, after in pairwise(told):
        ended = events[before].kind in ENDINGS and events[after].time - events[before].time <= NEXT
        if not (ended or events[before].kind == "_eval_start") or not of_evaluation(events[after], samples[after]):
            continue
        if isnan(found[before]) or abs(samples[after] - samples[before]) > max(most, EXACT * samples[after]):
            found[before] = found[after] = nan
    return found


def of_evaluation(event: Event, samples: float) -> bool:
    """Return whether an event begins or ends an evaluation and tells samples."""
    return event.kind in ("_eval_start", "_eval_stop") and isfinite(samples)


def _first(events: Sequence[Event]) -> float:
    """Return what the first epoch is called, 0 or 1, where evaluations count on from it; 0 where they count from 0."""
    numbers = [
        each.number if each.kind == "_epoch_start" else each.first for each in events if each.kind.endswith("_start")
    ]
    begun = [each for each in numbers if each <= 1]
    parts = [each.number for each in events if isfinite(each.number) and each.number % 1]
    return 1.0 if begun[:1] == [1.0] and min(parts) > 1 else 0.0


def _part(event: Event, first: float) -> float:
    """Return how many epochs were done at an event; the first one may be called 0 or 1, and the last one may end early."""
    if event.kind in ("_epoch_stop", "_block_stop"):
        return nan
    if event.kind == "_epoch_start":
        return 0.0 if event.number <= 1 else nan
    return event.number - first


def _whole_epochs(events: Sequence[Event], data_set: float) -> tuple[list[float], bool]:
    """Return the samples at the ends of epochs that are numbered one by one, or of blocks that tell their number."""
    begun = [each for each in events if each.kind == "_epoch_start"]
    numbers = list(dict.fromkeys(_epoch(each) for each in begun))
    if not numbers:
        return _blocks(events, data_set), False
    if any(after - each != 1 for each, after in pairwise(numbers)):
        return [nan] * len(events), False
    ended = any(each.kind == "_epoch_stop" for each in events)
    ends = "_epoch_stop" if ended else "_epoch_start"
    found = [(_epoch(each) - numbers[0] + ended) * data_set if each.kind == ends else nan for each in events]
    found[events.index(begun[0])] = 0.0
    return found, not ended


def _epoch(event: Event) -> float:
    """Return the number of an epoch; in 2018 it was the value."""
    return event.number if isfinite(event.number) else event.value


def _blocks(events: Sequence[Event], data_set: float) -> list[float]:
    """Return the samples at the beginnings and ends of blocks of epochs; where a beginning tells its epoch, by that."""
    firsts = [each.first for each in events if each.kind == "_block_start"]
    first = firsts[0] if firsts else nan
    if len(firsts) > 1 and max(firsts) == first:
        # Each of the blocks is a part of that epoch.
        return [nan] * len(events)
    found, done, count = [], 0.0, nan
    for each in events:
        if each.kind == "_block_start":
            # The second block may begin with the number of the last epoch of the first one.
            known = done if isfinite(done) else 0.0
            done, count = max(known, each.first - first) if isfinite(each.first - first) else done, each.count
            found.append(done * data_set if done == 0 or isfinite(each.first - first) else nan)
        elif each.kind == "_block_stop":
            done, count = done + count, nan
            found.append(done * data_set)
        else:
            found.append(nan)
    return found
