"""Samples that a run had processed at its events, which count samples, steps, epochs or parts of epochs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite, nan

from perfledger.parsers.frameworks.mlperf.events import Event, of_run
from perfledger.parsers.frameworks.mlperf.lines import RUN

#: A data set of images for detection has more images than this, and fewer batches.
_IMAGES = 100_000
#: Blocks that are needed to compute a usual size.
FEW_BLOCKS = 3


def data_set_size(events: Sequence[Event], batch: float) -> float:
    """Return the samples of an epoch; NaN if unknown."""
    if padded := [each.value for each in events if each.kind == "_of_epoch"]:
        return padded[-1]
    ends = [each.row for each in events if each.kind == "_epoch_stop"] or [each.row for each in of_run(events)[-1:]]
    size = next((each.value for each in events if each.kind == "_data_set" and each.row < ends[0]), nan)
    batches = size < _IMAGES and any(each.kind == "_detection" for each in events)
    return size * batch if batches else size


def positions(events: Sequence[Event], data_set: float, batch: float) -> tuple[list[float], bool]:
    """Return the samples until each event, NaN if unknown, and whether the last of them counts."""
    events = _without_accuracy(events)
    counted = [each.samples for each in events if isfinite(each.samples)]
    numbers = [each.number for each in events if each.number > 0]
    others = [each.number for each in events if each.number > 0 and not each.kind.startswith("_epoch")]
    in_samples = _are_samples(others or numbers, events, batch)
    # If the numbers of epochs are larger, the counts may be of the data of evaluations.
    if counted and not (in_samples and max(numbers) > max(counted)):
        of_step = batch if any(map(_is_block, events)) else nan
        return [_counted(each, of_step) for each in events], True
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
    """Return the events; accuracies lose their counts if evaluations have some, since the units may differ."""
    counted = any(each.kind in ("_eval_start", "_eval_stop") and isfinite(each.place) for each in events)
    return [replace(each, samples=nan, number=nan) if counted and each.kind == "_judged" else each for each in events]


def _are_samples(numbers: Sequence[float], events: Sequence[Event], batch: float) -> bool:
    """Return whether the numbers of epochs are counts of samples.

    Counts of samples are multiples of the batch, or end at the number of samples that is logged. Numbers to which the
    epochs of blocks add up are not counts of samples.
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
    """Return the samples at the beginning of each epoch, by its number, if that is the samples at the epoch's end.

    The beginning and the end of such an epoch have the same number, as in OpenFold. The first epoch is as long as the
    second: if its number is larger, the run continues from a checkpoint. The result is empty for other numbers.
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
    """Return the samples until an event whose number counts samples; the number of an epoch may still count epochs."""
    if event.kind == "_epoch_start" and event.number in begins:
        return begins[event.number]
    if event.kind.startswith("_epoch") and event.number < batch:
        return _part(event, 0.0) if event.kind == "_epoch_start" else nan
    return event.number


def _blocks_count_steps(events: Sequence[Event]) -> bool:
    """Return whether blocks state steps, while neither blocks nor evaluations state epochs; an epoch around them may."""
    within = [each.number for each in events if each.kind.startswith(("_block", "_eval", "_judged"))]
    return (
        any(map(_is_block, events))
        and not any(isfinite(each.first) for each in events)
        and not any(each > 0 for each in within)
    )


def _is_block(event: Event) -> bool:
    """Return whether an event begins or ends a block and states its step."""
    return event.kind.startswith("_block") and isfinite(event.step)


def _counted(event: Event, batch: float) -> float:
    """Return the samples until an event, from its step if blocks count steps.

    The count is then the size of a block, or of the data of an evaluation. `batch` is NaN if blocks do not count steps.
    """
    if isfinite(event.step) and isfinite(batch) and event.kind.startswith(("_block", "_eval", "_judged", *RUN)):
        return event.step * batch
    return event.samples


def _first(events: Sequence[Event]) -> float:
    """Return the number of the first epoch if evaluations continue its numbers, 0 or 1; 0 if they count from 0."""
    numbers = [
        each.number if each.kind == "_epoch_start" else each.first for each in events if each.kind.endswith("_start")
    ]
    begun = [each for each in numbers if each <= 1]
    parts = [each.number for each in events if isfinite(each.number) and each.number % 1]
    return 1.0 if begun[:1] == [1.0] and min(parts) > 1 else 0.0


def _part(event: Event, first: float) -> float:
    """Return how many epochs were done at an event, NaN at ends of epochs, since the last epoch may end early.

    Args:
        event: an event.
        first: the number of the first epoch, 0 or 1.
    """
    if event.kind in ("_epoch_stop", "_block_stop"):
        return nan
    if event.kind == "_epoch_start":
        return 0.0 if event.number <= 1 else nan
    return event.number - first


def _whole_epochs(events: Sequence[Event], data_set: float) -> tuple[list[float], bool]:
    """Return the samples at the ends of numbered epochs, or else of blocks, and whether the last one counts."""
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
    """Return the samples at the beginnings and ends of blocks of epochs, from their first epochs if stated."""
    firsts = [each.first for each in events if each.kind == "_block_start"]
    first = firsts[0] if firsts else nan
    if len(firsts) > 1 and max(firsts) == first:
        # All blocks are parts of one epoch.
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
