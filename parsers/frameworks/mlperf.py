"""MLPerf training logs: `:::MLLOG` with JSON (since 2020), `:::MLL` (2019) and `:::MLPv0.5.0` (2018).

Such a log tells when training began and ended, whether it reached its target, and at its events how far it had come:
`samples_count`, `epoch_num` or `step`. From these follow the seconds of training without evaluation, and the samples of
each stretch. A `throughput` that the submitter logs, alone or among `tracked_stats`, is that of the job. It counts
where it is logged again and again and the events do not contradict it: one that is lower holds the evaluations too. One
that is logged once is the program's own figure for the run.

`samples_count` counts since the start, but is the size of the block where NVIDIA's callbacks log `block_start` and
`block_stop` with a `step`, and may be that of the validation data at evaluations; the mean over a block, which the
clock is held against, repeats as a line without a step. `epoch_num` counts epochs, parts of epochs, samples, or tokens
(GPT-3, and the accuracies of Llama 3.1 405B). `train_samples` is the size of the data set if logged before the first
epoch ends, and the number of processed samples if logged after it; RetinaNet's counts batches, and U-Net3D fills up its
epochs. An evaluation that goes on beside the next epoch takes no time from it. Hugging Face's LoRA and MaxText log an
evaluation by its accuracy alone: the stretch that ends there holds it, and so does a run of which only the end counts
samples. The last epoch does not count, since it may have ended when the target was met; a burst of events after the run
says nothing. A stretch in which the beginning or the end of a block, an epoch or an evaluation is missing does not
count. Of a program that was started again without a new head only the last run counts, and no time to train, since that
run may go on where the one before broke off; where the stamps of a run go back, nothing counts, unless it is the end of
Stable Diffusion, which is logged later, with the stamp of the checkpoint that met the target. Every node may log the
same figure, which counts once. A speed counts samples; of GPT-3, and of Llama 3.1, whose logs state the length of a
sequence, tokens, whichever of the two is logged.

`d_batch_size` and `gradient_accumulation_steps` mean different things to different submitters, need not divide the
batch of the job, and are not read; nor is `submission_org`, which may be a placeholder, or name whose code it is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise, takewhile
from math import isfinite, isnan, nan

import numpy as np

from parsers.contract import (
    NUMBER,
    Columns,
    Fact,
    Format,
    NearMiss,
    Postprocessed,
    Reading,
    Sample,
    text,
    up_to,
)
from parsers.frameworks import PYTORCH_JOB

_NUMBER = rb"[-+]?+[0-9]++(?:\.[0-9]++)?+(?:[eE][-+]?+[0-9]++)?+"
_TIME = rb"[0-9]++(?:\.[0-9]++)?+"
#: 2018 with the place in the source, 2019 without.
_STAMP = rb':::ML(?:LOG \{"namespace": ?+"[^"\n]*+", ?+"time_ms": ?+|(?:Pv0\.5\.[0-9] \w++|L) (?=[0-9]))'
_KEY = rb'(?:, ?+"event_type": ?+"[A-Z_]++", ?+"key": ?+"| (?:\([^)\r\n]{0,300}+\) )?+)'
_VALUE = rb'", ?+"value": ?+'
#: In 2019, under a Python whose dictionaries have no order.
_PLACE = rb'(?:"metadata": ?+\{[^{}\n]*+\}, ?+)?+'
#: Up to something later in a line; no real one is longer.
_LATER = rb"[^\n]{0,1500}?"
_IN_TRACKED = (
    rb"tracked_stats" + _VALUE + rb'\{(?:"(?!throughput")[^"\n]{0,60}+": ?+[^,"\n{}]{0,60}+, ?+){0,20}+"throughput": ?+'
)
_THROUGHPUT = rb"(?:throughput" + _VALUE + rb"|" + _IN_TRACKED + rb")"
_ENDS = rb"(?![a-z_0-9])"

#: The ends of a run, by the column that captures their times: the key, and what must follow it.
_RUN: Mapping[str, bytes] = {
    "_run_start": rb"run_start" + _ENDS,
    "_missed": rb"run_stop(?=" + _LATER + rb'"(?:status": ?+"(?!success")\w++"|success": ?+false))',
    "_met": rb"run_stop(?=" + _LATER + rb'"(?:status": ?+"success"|success": ?+true))',
    "_run_stop": rb"run_stop" + _ENDS + rb"(?=" + _LATER + rb"\n)",
}  # fmt: skip
_RUN_ENDS = _RUN.keys() - {"_run_start"}
#: What ends a stretch of training.
_ENDINGS = frozenset({"_block_stop", "_epoch_stop"})
#: What is logged before training begins.
_BEGINNINGS = frozenset(
    {"_run_start", "_epoch_start", "_block_start", "_data_set", "_of_epoch", "_staging_start", "_staging_stop"}
)
#: In 2018 runs end without a word on success; what they are judged by tells it.
_JUDGED: Mapping[str, bytes] = {
    "_aim": rb"eval_target: (?=[0-9.]++\s)",
    "_judged": rb"eval_accuracy" + _ENDS,
}
_PRINTED: Mapping[str, bytes] = {"_printed": _THROUGHPUT + _NUMBER + rb"[,}]"}
#: What is counted at the beginning of a block may be its size.
_COUNTED = rb'(?:block_stop|(?:eval|run)_(?:start|stop))"(?=' + _LATER + rb'"samples_count": ?+[0-9])'
_SPEEDS: Mapping[str, bytes] = {**_PRINTED, "_counted": _COUNTED}
#: The mean over a block, by the callbacks of NVIDIA's NeMo: the line of a single step has a step.
_BLOCK_MEAN = (
    rb"tracked_stats" + _VALUE + rb'\{"train_step_time": ?+(?P<_step_seconds>' + _NUMBER + rb")\}"
    rb"(?=" + _LATER + rb'"samples_count": ?+[0-9])(?!' + _LATER + rb'"step")'
)  # fmt: skip
#: All that tells how far a run has come.
_EVENTS: Mapping[str, bytes] = {
    **_RUN,
    **_PRINTED,
    "_epoch_start": rb"(?:epoch_start|train_epoch)" + _ENDS,
    "_epoch_stop": rb"epoch_stop" + _ENDS,
    "_block_start": rb"block_start" + _ENDS,
    "_block_stop": rb"block_stop" + _ENDS,
    "_eval_start": rb"eval_start" + _ENDS,
    "_eval_stop": rb"eval_stop" + _ENDS,
    # MLPerf HPC: copying the data to the machines counts in the run.
    "_staging_start": rb'staging_start"',
    "_staging_stop": rb'staging_stop"',
    **_JUDGED,
    "_loss": rb'train_loss"',
    "_step_done": rb"tracked_stats" + _VALUE + rb'\{"(?!valid)(?=' + _LATER + rb'"step": ?+[0-9])(?=' + _LATER + rb'"samples_count": ?+[0-9])',
    "_data_set": rb"(?:train_samples|input_size|preproc_num_train_examples)" + _ENDS,
    "_of_epoch": rb'samples_per_epoch"',
    "_detection": rb"submission_benchmark" + _VALUE + rb'"(?:retinanet|ssd)"',
}  # fmt: skip
#: What the metadata of an event tell, by the column that captures it.
_TOLD: Mapping[str, bytes] = {
    "_samples": b"samples_count", "_number": b"epoch_num", "_step": b"step", "_count": b"epoch_count", "_first": b"first_epoch_num",
}  # fmt: skip
#: Facts of the session that the positions need.
_FACTS = ("batch_size_of_job", "sequence_length")
#: A data set of images for detection has more images than this, and fewer batches.
_IMAGES = 100_000
#: Of fewer blocks the usual size is not known.
_FEW_BLOCKS = 3
#: A stretch of training is faster than most others by less.
_FASTER = 1.3
#: Two ways to a speed agree up to this.
_AGREES = 0.05
#: And are the same up to this.
_EXACT = 0.01
#: Share of a run's seconds, without evaluations, that the events must tell.
_MOST = 0.5
#: Ranks of one run, which print side by side, begin it within so many seconds; a later beginning is that of another run.
_BEGINS = 10.0
#: A line is printed next to another within so many seconds; no evaluation takes less.
_NEXT = 0.1
#: Stamps go back by less where several ranks write one log.
_BACK = 1.0


def _lines(events: Mapping[str, bytes], told: Mapping[str, bytes] | None = None) -> bytes:
    """Return the pattern of the lines of some events, with what they tell: value and metadata, or a speed alone."""
    times = b"|".join(rb"(?=(?P<%s>%s)%s%s)" % (name.encode(), _TIME, _KEY, key) for name, key in events.items())
    values = rb"(?=(?:" + _THROUGHPUT + rb"(?P<throughput>" + _NUMBER + rb")(?=[,}]))?+)"
    if told is not None:
        values += (
            rb"(?=(?:\w++(?:"
            + _VALUE
            + rb'|: ?+(?:\{(?:"epoch": ?+[0-9]++, ?+)?+'
            + _PLACE
            + rb'"value": ?+)?+)(?P<_value>'
            + _NUMBER
            + rb")(?=[,}\s]))?+)"
        )
    for name, key in (told or {}).items():
        values += rb'(?=(?:%s"%s": ?+(?P<%s>%s)(?=[,}\s]))?+)' % (_LATER, key, name.encode(), _NUMBER)
    return _STAMP + rb"(?:" + times + rb")" + _TIME + _KEY + values


@dataclass(frozen=True)
class _Event:
    """A line: the column that names its kind, its seconds since 1970, and what it tells; NaN for what it does not."""

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
        """Return what tells one stretch of training from another."""
        return next((each for each in (self.samples, self.number, self.step) if isfinite(each)), nan)


def _events(columns: Columns) -> list[_Event]:
    """Return the lines of a log; JSON counts milliseconds."""
    kinds = [name for name in _EVENTS if name in columns]
    times = np.stack([columns[name] for name in kinds], axis=1)
    known = np.argmax(np.isfinite(times), axis=1)
    told = [name for name in ("_value", "_samples", "_number", "_step", "_count", "_first") if name in columns]
    rest = zip(columns["throughput"].tolist(), *(columns[name].tolist() for name in told), strict=True)
    stamps = np.take_along_axis(times, known[:, None], axis=1)[:, 0]
    seconds = np.where(stamps > 1e11, stamps / 1000, stamps).tolist()
    return [
        _Event(row, kinds[at], time, *more)
        for row, (at, time, more) in enumerate(zip(known.tolist(), seconds, rest, strict=True))
    ]


def _of_run(events: Sequence[_Event]) -> list[_Event]:
    """Return the events of the last run, from its beginning to its end; all where neither is logged.

    A program that was started again logs the beginning again, and what went before is of another run.
    """
    begin = _begin(events)
    ends = [at for at, each in enumerate(events) if each.kind in _RUN_ENDS and at > begin]
    return _until_met(events[begin : ends[-1] + 1 if ends else None])


def _begin(events: Sequence[_Event]) -> int:
    """Return where the last run begins; every rank may log that it does."""
    starts = [at for at, each in enumerate(events) if each.kind == "_run_start"] or [0]
    later = [at for before, at in pairwise(starts) if events[at].time - events[before].time > _BEGINS]
    return later[-1] if later else starts[0]


def _goes_back(inside: Sequence[_Event]) -> tuple[int, float] | None:
    """Return the row at which the stamps of a run go back, and the seconds, which are negative; None where they do not."""
    pairs = ((each.row, each.time - before.time) for before, each in pairwise(inside))
    return next(((row, seconds) for row, seconds in pairs if seconds < -_BACK), None)


def _until_met(inside: Sequence[_Event]) -> list[_Event]:
    """Return the events of a run up to the moment at which it met its target, where training went on after that.

    The checkpoints of Stable Diffusion are evaluated when all steps are done, in time that is no training. What is logged
    then, accuracies and the end, has the very stamp of the first one that reached the target.
    """
    if not inside:
        return []
    met = inside[-1].time
    verdict = {each.kind for each in takewhile(lambda each: each.time == met, reversed(inside))}
    if verdict == {"_met", "_judged"} and inside[0].time < met < max(each.time for each in inside) - _BACK:
        return [each for each in inside if each.time <= met and each.kind != "_judged"]
    return list(inside)


@dataclass(frozen=True)
class _Point:
    """A place in a run: its event, the samples until it, the seconds of training, and what is lost until then.

    `evaluated`: the evaluations within these seconds.
    """

    event: _Event
    samples: float
    seconds: float
    lost: int
    evaluated: int


@dataclass(frozen=True)
class _Course:
    """The points of a run, from its beginning on; samples and seconds rise. `last` tells whether the last one counts.

    `trained`: the seconds of training until each row, and what is lost until then or holds an evaluation.
    """

    points: Sequence[_Point]
    trained: Mapping[int, tuple[float, int]]
    last: bool = True


def _course(events: Sequence[_Event], batch: float) -> _Course | None:
    """Return how far a run had come at its events; None where they tell nothing, or too little of it.

    Some submitters log all epochs at once; their blocks tell the time.
    """
    inside = _with_ends(_of_run(events))
    for told in (inside, [each for each in inside if not each.kind.startswith("_epoch")]):
        samples, last = _positions(told, _data_set(events, batch), batch)
        trained, lost = _trained(told), _lost(told, samples)
        evaluated = _evaluated(told, trained)
        points = _rising([_Point(*each) for each in zip(told, samples, trained, lost, evaluated, strict=True)])
        if len(points) > 1 and _tells_most(told, trained[-1]):
            rows = [each.row for each in told]
            unknown = map(sum, zip(lost, evaluated, strict=True))
            return _Course(points, dict(zip(rows, zip(trained, unknown, strict=True), strict=True)), last)
    return None


def _with_ends(events: Sequence[_Event]) -> list[_Event]:
    """Return the events; where no line ends an evaluation, its accuracy does."""
    kinds = {each.kind for each in events}
    if "_eval_start" not in kinds or "_eval_stop" in kinds:
        return list(events)
    return [replace(each, kind="_eval_stop") if each.kind == "_judged" else each for each in events]


def _stated(columns: Columns, fact: str) -> float:
    """Return a number that the session states; NaN where it does not."""
    return float(columns[f"_{fact}"][0]) if len(columns[f"_{fact}"]) else nan


def _data_set(events: Sequence[_Event], batch: float) -> float:
    """Return the samples of an epoch; NaN where they are not known."""
    if padded := [each.value for each in events if each.kind == "_of_epoch"]:
        return padded[-1]
    ends = [each.row for each in events if each.kind == "_epoch_stop"] or [each.row for each in _of_run(events)[-1:]]
    size = next((each.value for each in events if each.kind == "_data_set" and each.row < ends[0]), nan)
    batches = size < _IMAGES and any(each.kind == "_detection" for each in events)
    return size * batch if batches else size


def _trained(events: Sequence[_Event]) -> list[float]:
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


def _cuts(events: Sequence[_Event]) -> set[str]:
    """Return what training is cut into: that of which ends are logged."""
    return {name for name in ("_epoch", "_block") if any(each.kind == f"{name}_stop" for each in events)}


def _lost(events: Sequence[_Event], samples: Sequence[float]) -> list[int]:
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
            again = each.time - events[last].time <= _BEGINS and _tells(events[last]) == _tells(each)
            torn = events[last].kind == each.kind and not again
        if torn:
            begin = 0 if last is None else last + 1
            until = _ended(events, begin, at) if name == "_eval" and end == "start" else at + 1
            unknown[begin:until] = [True] * (until - begin)
        before[name] = at
    return list(accumulate(unknown))


def _moved(events: Sequence[_Event], samples: Sequence[float], pairs: AbstractSet[str]) -> set[int]:
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


def _ended(events: Sequence[_Event], begin: int, at: int) -> int:
    """Return the row before which an evaluation ended whose end is lost: where the next block or epoch begins."""
    starts = (row for row in range(begin, at) if events[row].kind in ("_epoch_start", "_block_start"))
    return next(starts, at + 1)


def _evaluated(events: Sequence[_Event], trained: Sequence[float]) -> list[int]:
    """Return how many evaluations lie within the seconds of training until each event.

    Where no line begins an evaluation, its accuracy is all that tells of it. The block that ended just before holds it:
    of an evaluation behind the block some time has passed.
    """
    inside = [0] * len(events)
    if not any(each.kind == "_eval_start" for each in events):
        rises = [at for at, (before, after) in enumerate(pairwise(trained), 1) if after > before]
        for at, each in enumerate(events):
            last = rises[bisect_right(rises, at) - 1] if each.kind == "_judged" and rises[:1] and rises[0] <= at else 0
            if last and each.time - events[last].time <= _NEXT:
                inside[last] += 1
        # Of a block whose accuracy is lost, the others tell that it held an evaluation.
        if any(each.kind == "_block_stop" and held for each, held in zip(events, inside, strict=True)):
            inside = [int(each.kind == "_block_stop" or held > 0) for each, held in zip(events, inside, strict=True)]
    return list(accumulate(inside))


def _tells(event: _Event) -> str:
    """Return what a line tells besides its time, in a form in which what is not told is equal, too."""
    return repr((event.value, event.samples, event.number, event.step, event.count, event.first))


def _evaluates_beside(events: Sequence[_Event]) -> bool:
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


def _tells_most(events: Sequence[_Event], trained: float) -> bool:
    """Return whether the seconds of training make up most of the run, without evaluations and the staging of data."""
    if events[0].kind != "_run_start" or events[-1].kind not in _RUN:
        return True
    others = ("_eval_start", "_judged", "_staging_start")
    spans = [(each, after) for each, after in pairwise(events) if each.kind in others]
    took = sum(max(0.0, after.time - each.time) for each, after in spans)
    return trained >= _MOST * (events[-1].time - events[0].time - took)


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


def _positions(events: Sequence[_Event], data_set: float, batch: float) -> tuple[list[float], bool]:
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
    if in_samples:
        return [_number_of_samples(each, batch) for each in events], True
    if any(number % 1 for number in numbers):
        first = _first(events)
        return [_part(each, first) * data_set for each in events], True
    return _whole_epochs(events, data_set)


def _without_accuracy(events: Sequence[_Event]) -> list[_Event]:
    """Return the events, accuracies without a place where evaluations tell it: they may count in another unit."""
    told = any(each.kind in ("_eval_start", "_eval_stop") and isfinite(each.place) for each in events)
    return [replace(each, samples=nan, number=nan) if told and each.kind == "_judged" else each for each in events]


def _are_samples(numbers: Sequence[float], events: Sequence[_Event], batch: float) -> bool:
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


def _number_of_samples(event: _Event, batch: float) -> float:
    """Return the samples until an event whose number counts them, though that of an epoch may count epochs."""
    if event.kind.startswith("_epoch") and event.number < batch:
        return _part(event, 0.0) if event.kind == "_epoch_start" else nan
    return event.number


def _batch_of_blocks(events: Sequence[_Event], batch: float) -> float:
    """Return the samples of a step by the blocks that tell both, or else the batch of the job; NaN without such blocks.

    The first block may be longer than it says, and the last one shorter.
    """
    blocks = [each for each in events if each.kind.startswith("_block") and isfinite(each.step)]
    told = [
        after.samples / (after.step - before.step)
        for before, after in pairwise(blocks)
        if after.kind == "_block_stop" and after.step > before.step and isfinite(after.samples)
    ]
    if len(told) < _FEW_BLOCKS:
        return batch if blocks else nan
    return float(np.median(told))


def _counted(event: _Event, batch: float) -> float:
    """Return the samples until an event, by its step in a log whose blocks count steps.

    The count is then the size of a block, or of the data that an evaluation sees. `batch` is NaN in other logs.
    """
    if isfinite(event.step) and isfinite(batch) and event.kind.startswith(("_block", "_eval", "_judged", *_RUN)):
        return event.step * batch
    return event.samples


def _agreed(events: Sequence[_Event], samples: Sequence[float], batch: float) -> list[float]:
    """Return the samples until each event, NaN where the end of a block and the evaluation after it tell other ones.

    A batch may be told before it is trained. Evaluations that always tell the same tell the size of their data.
    """
    evaluated = {number for each, number in zip(events, samples, strict=True) if _of_evaluation(each, number)}
    if len(evaluated) < 2:
        return list(samples)
    found, most = list(samples), batch if isfinite(batch) else 0.0
    told = [at for at, each in enumerate(events) if isfinite(samples[at]) and each.kind != "_judged"]
    for before, after in pairwise(told):
        ended = events[before].kind in _ENDINGS and events[after].time - events[before].time <= _NEXT
        if not (ended or events[before].kind == "_eval_start") or not _of_evaluation(events[after], samples[after]):
            continue
        if isnan(found[before]) or abs(samples[after] - samples[before]) > max(most, _EXACT * samples[after]):
            found[before] = found[after] = nan
    return found


def _of_evaluation(event: _Event, samples: float) -> bool:
    """Return whether an event begins or ends an evaluation and tells samples."""
    return event.kind in ("_eval_start", "_eval_stop") and isfinite(samples)


def _first(events: Sequence[_Event]) -> float:
    """Return what the first epoch is called, 0 or 1, where evaluations count on from it; 0 where they count from 0."""
    numbers = [
        each.number if each.kind == "_epoch_start" else each.first for each in events if each.kind.endswith("_start")
    ]
    begun = [each for each in numbers if each <= 1]
    parts = [each.number for each in events if isfinite(each.number) and each.number % 1]
    return 1.0 if begun[:1] == [1.0] and min(parts) > 1 else 0.0


def _part(event: _Event, first: float) -> float:
    """Return how many epochs were done at an event; the first one may be called 0 or 1, and the last one may end early."""
    if event.kind in ("_epoch_stop", "_block_stop"):
        return nan
    if event.kind == "_epoch_start":
        return 0.0 if event.number <= 1 else nan
    return event.number - first


def _whole_epochs(events: Sequence[_Event], data_set: float) -> tuple[list[float], bool]:
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


def _epoch(event: _Event) -> float:
    """Return the number of an epoch; in 2018 it was the value."""
    return event.number if isfinite(event.number) else event.value


def _blocks(events: Sequence[_Event], data_set: float) -> list[float]:
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


def _records(columns: Columns, unit: str = "samples") -> Postprocessed:
    """Return the speeds that are logged again and again, or else the stretches of the run, with samples and seconds."""
    events, (batch, length) = _events(columns), (_stated(columns, each) for each in _FACTS)
    counts = _Counts(unit, batch, length)
    if back := _goes_back(_of_run(events)):
        # A record that is no training, and that is refused with its line.
        return _table([(back[0], {"samples": 1.0, "duration": back[1]})])
    course = _course(events, batch)
    found = _of_speeds(events, course, counts)
    if not found and course:
        found = list(_of_course(course, batch, counts.of_event))
    return _table(found or _of_whole_run(events, counts.of_event))


_Record = dict[str, float]


@dataclass(frozen=True)
class _Counts:
    """What the events of a log count: `samples`, which the figure counts too; `sequences` or `tokens` of a figure in tokens."""

    unit: str
    batch: float
    length: float

    @property
    def of_event(self) -> float:
        """Return how much of the figure's unit one of the events counts."""
        return self.length if self.unit == "sequences" else 1.0

    def units(self, ratio: float) -> tuple[float, float]:
        """Return how much of the figure's unit one of a logged speed counts, and one of the events beside it.

        Args:
            ratio: logged speed over that which the events tell: 1, or a batch, or the tokens of a sequence.
        """
        in_batches, in_tokens = (each > 1 and abs(ratio / each - 1) <= _AGREES for each in (self.batch, self.length))
        if in_batches == in_tokens:
            return self.of_event, self.of_event
        if in_batches:
            return self.of_event, self.batch * self.of_event
        return (1 / self.length, 1.0) if self.unit == "samples" else (1.0, self.length)


def _table(records: Sequence[tuple[int, _Record]]) -> Postprocessed:
    """Return records as columns; all of them have the same."""
    rows = np.array([row for row, _ in records], dtype=np.intp)
    names = records[0][1] if records else ("samples", "duration")
    return rows, {name: np.array([record[name] for _, record in records], dtype=np.float64) for name in names}


def _of_course(course: _Course, batch: float, length: float) -> Iterator[tuple[int, _Record]]:
    """Yield the stretches between the points of a run, numbered by steps where the batch of the job is known.

    Nobody trains much faster than most of the time: where lines are missing, some of the seconds are.
    """
    points = course.points if course.last else course.points[:-1]
    told = [each for each in enumerate(pairwise(points), 1) if each[1][1].lost == each[1][0].lost]
    found, speeds = list[tuple[int, _Record]](), list[float]()
    for number, (before, after) in told:
        samples, seconds = after.samples - before.samples, after.seconds - before.seconds
        step = after.samples / batch if isfinite(batch) else number
        evaluated = float(after.evaluated > before.evaluated)
        record = {"samples": samples * length, "duration": seconds, "step": step, "evaluated": evaluated}
        found.append((after.event.row, record))
        if not evaluated:
            speeds.append(record["samples"] / seconds)
    most = _FASTER * float(np.median(speeds)) if len(speeds) >= _FEW_BLOCKS else np.inf
    yield from (each for each in found if each[1]["samples"] <= most * each[1]["duration"])


def _of_speeds(events: Sequence[_Event], course: _Course | None, counts: _Counts) -> list[tuple[int, _Record]]:
    """Return the logged speeds of a run, none where one only is logged, or where they hold evaluations as well.

    They come with the samples and seconds that the events tell, where these tell them for half of them; the others are
    left out then, most often the first one, at which the events begin to tell. Where the events do not, nothing tells
    sequences from tokens.
    """
    printed = [each for each in _of_run(events) if each.kind == "_printed"]
    places = [each.place if isfinite(each.place) else float(number) for number, each in enumerate(printed)]
    if len(set(places)) < 2:
        return []
    told = _between(printed, places, course) if course else {}
    # Before the first point, behind the last, and where a line was lost, the events tell nothing of a speed.
    if 2 * len(told) < len(set(places)):
        if counts.unit == "sequences" or (course and not _may_be(printed, course)):
            return []
        return [
            (each.row, {"throughput": each.throughput, "step": place})
            for each, place in zip(printed, places, strict=True)
        ]
    known = [(each, place, *told[place]) for each, place in zip(printed, places, strict=True) if place in told]
    ratio = float(np.median([each.throughput * seconds / samples for each, _, samples, seconds in known]))
    of_speed, of_event = counts.units(ratio)
    if ratio * of_speed / of_event < 1 - _AGREES and _holds_evaluations(known, printed, of_speed / of_event):
        return []
    return [
        (
            each.row,
            {
                "throughput": each.throughput * of_speed,
                "step": place,
                "samples": samples * of_event,
                "duration": seconds,
            },
        )
        for each, place, samples, seconds in known
    ]


def _holds_evaluations(
    known: Sequence[tuple[_Event, float, float, float]], printed: Sequence[_Event], factor: float
) -> bool:
    """Return whether logged speeds count the time of all that lies between them, so that they are not below that.

    Those that are lower still contradict the events, by which nobody trained as slowly.
    """
    before = dict(pairwise(sorted(printed, key=lambda each: -each.time)))
    told = [
        factor * each.throughput * (each.time - before[each].time) / samples
        for each, _, samples, _ in known
        if each in before and each.time > before[each].time
    ]
    return not told or float(np.median(told)) >= 1 - _AGREES


def _may_be(printed: Sequence[_Event], course: _Course) -> bool:
    """Return whether logged speeds may be those of a course that holds evaluations: not slower, nor much faster."""
    first, last = course.points[0], course.points[-1]
    told = (last.samples - first.samples) / (last.seconds - first.seconds) if last.seconds > first.seconds else nan
    speed = float(np.median([each.throughput for each in printed]))
    return not (speed < (1 - _AGREES) * told or speed > told / _MOST)


def _between(printed: Sequence[_Event], places: Sequence[float], course: _Course) -> dict[float, tuple[float, float]]:
    """Return samples and seconds of training since the speed that was logged before, by the places where both are told."""
    samples, seconds = ([getattr(each, name) for each in course.points] for name in ("samples", "seconds"))
    first, found = course.points[0], dict[float, tuple[float, float]]()
    before, lost = first.seconds, first.lost + first.evaluated
    seen = set[float]()
    for each, place in zip(printed, places, strict=True):
        if place in seen or each.row not in course.trained:
            continue
        seen.add(place)
        now, lost_now = course.trained[each.row]
        done = np.interp([before, now], seconds, samples)
        if lost_now == lost and before < now <= seconds[-1] + _MOST and done[0] < done[1]:
            found[place] = (float(done[1] - done[0]), now - before)
        before, lost = max(before, now), lost_now
    return found


def _of_whole_run(events: Sequence[_Event], length: float) -> list[tuple[int, _Record]]:
    """Return the whole run as a record, where the samples that it has processed are logged at its end.

    Its evaluations are no training as far as their times are logged, unless the speed that is logged of the run counts
    their time.
    """
    inside = _of_run(events)
    ends = [each.row for each in events if each.kind == "_epoch_stop"] or [inside[-1].row]
    first = next((each for each in events if each.kind == "_data_set"), None)
    if first is None or first.row < ends[0] or not _is_whole(inside):
        return []
    told = [each for each in inside if not each.kind.startswith(("_epoch", "_block"))]
    trained = _trained(told)
    samples, whole = first.value * length, inside[-1].time - inside[0].time
    logged = [each.throughput for each in events if each.kind == "_printed"]
    claimed = samples / float(np.median(logged)) if logged else nan
    seconds = whole if abs(claimed / whole - 1) <= _EXACT < abs(claimed / trained[-1] - 1) else trained[-1]
    return [(inside[-1].row, {"samples": samples, "duration": seconds})] if seconds > 0 else []


def _is_whole(inside: Sequence[_Event]) -> bool:
    """Return whether both ends of the run are logged."""
    return inside[0].kind == "_run_start" and inside[-1].kind in _RUN and len(inside) > 1


def _block_means(columns: Columns, unit: str = "samples") -> Postprocessed:
    """Return the speed of each block by the program's own timer, in batches of the job."""
    batch, length = (_stated(columns, each) for each in _FACTS)
    speeds = batch * (length if unit == "sequences" else 1.0) / columns["_step_seconds"]
    rows = np.flatnonzero(np.isfinite(speeds) & (speeds > 0))
    return rows, {"throughput": speeds[rows]}


def _reported(columns: Columns) -> Postprocessed:
    """Return the speed that is logged only once, or by several machines at one step: the program's own for the run."""
    rows = np.flatnonzero(np.isfinite(columns["throughput"]))
    rows = rows[np.argsort(columns["throughput"][rows], kind="stable")]
    once = len(rows) == 1 or len(set(columns["_step"][rows].tolist())) == 1
    middle = rows[len(rows) // 2 : len(rows) // 2 + 1] if once else rows[:0]
    return middle, {"throughput": columns["throughput"][middle]}


def _target(columns: Columns) -> Postprocessed:
    """Return the run as a record: its seconds until the end, and whether it reached its target."""
    events = _events(columns)
    inside = _of_run(events)
    if not inside or inside[0].kind != "_run_start":
        return _table([])
    before = events[: _begin(events)]
    if any(each.kind == "_run_start" for each in before) and before[-1].kind not in _RUN_ENDS:
        # What was begun first has no end, and whether the last run goes on where it broke off is not told here.
        return _table([(before[-1].row, {"target_seconds": nan, "reached": nan})])
    last, whole = inside[-1], _is_whole(inside)
    # Seconds since 1970 have no digits beyond the microsecond.
    seconds = round(last.time - inside[0].time, 6) if whole else nan
    reached = {"_met": 1.0, "_missed": 0.0, "_run_stop": _judged(inside)}.get(last.kind, nan)
    if (back := _goes_back(inside)) and reached == 1:
        # No time at all, which is refused with its line.
        return _table([(back[0], {"target_seconds": nan, "reached": reached})])
    return _table([(last.row, {"target_seconds": seconds, "reached": reached})])


def _judged(events: Sequence[_Event]) -> float:
    """Return 1 where the last accuracy is up to the target that the log states; that it is not may be a matter of units."""
    aim, judged = ([each.value for each in events if each.kind == kind] for kind in ("_aim", "_judged"))
    return 1.0 if aim and judged and judged[-1] >= aim[0] else nan


def _run_seconds(columns: Columns) -> Postprocessed:
    """Return the same with the length of the run, which its stretches are held against."""
    rows, found = _target(columns)
    return rows, {**found, **({"seconds": found["target_seconds"]} if len(rows) else {})}


def _target_samples(columns: Columns) -> Postprocessed:
    """Return the samples until the end of the run, as its last event that counts them tells."""
    events, batch = _events(columns), _stated(columns, "batch_size_of_job")
    inside = _of_run(events)
    if not inside or not _is_whole(inside):
        return _table([])
    samples, within = _positions(inside, _data_set(events, batch), batch)
    if not within and not _evaluated_last(inside):
        # The target may have been met, or all steps done, within the last epoch.
        return _table([])
    # Where epochs have no end, nothing counts the last one.
    told = [number if each.kind != "_epoch_start" else nan for number, each in zip(samples, inside, strict=True)]
    known = [at for at, number in enumerate(told) if number > 0]
    if not known or not _told_to_the_end(inside, samples, known, within):
        return _table([])
    before, until = _before_training(inside, samples), max(told[at] for at in known)
    if until <= before or _contradicts(until, inside, samples, batch):
        return _table([])
    # The first samples may be counted before they are trained, and the rules may let all runs begin with a checkpoint.
    resumed = before if before > batch and not isfinite(_stated(columns, "resumed_from")) else 0.0
    return _table([(inside[-1].row, {"target_samples": until - before, "samples_before": resumed})])


def _told_to_the_end(inside: Sequence[_Event], samples: Sequence[float], known: Sequence[int], within: bool) -> bool:
    """Return whether the rows that tell how far a run came tell it all: lines of its beginning or its end may be lost."""
    trained, lost = _trained(inside), _lost(inside, samples)
    after = trained[-1] - trained[known[-1]]
    return after <= _AGREES * trained[-1] and lost[-1] == lost[known[-1]] and (within or not lost[known[0]])


def _contradicts(until: float, inside: Sequence[_Event], samples: Sequence[float], batch: float) -> bool:
    """Return whether the last end of a block or of an evaluation tells fewer samples, or tells others than the next event."""
    varied = len({each.samples for each in inside if _of_evaluation(each, each.samples)}) > 1
    ends = [
        number
        for each, number in zip(inside, samples, strict=True)
        if isfinite(each.samples) and (each.kind in _ENDINGS or (varied and _of_evaluation(each, each.samples)))
    ]
    if len(set(ends)) < 2:
        return False
    return any(map(isnan, ends)) or until - ends[-1] > max(_EXACT * until, batch if isfinite(batch) else 0.0)


def _evaluated_last(inside: Sequence[_Event]) -> bool:
    """Return whether an evaluation ended the last epoch, or the last block where epochs have no end.

    It follows the end, or comes once in each of them.
    """
    kinds = {each.kind for each in inside}
    end = "_epoch_stop" if "_epoch_stop" in kinds else "_block_stop"
    evaluation = "_eval_start" if "_eval_start" in kinds else "_judged"
    told = [each.kind for each in inside if each.kind in (end, evaluation)]
    return told[-1:] != [end] or (len(told) > 2 and told == [evaluation, end] * (len(told) // 2))


def _before_training(inside: Sequence[_Event], samples: Sequence[float]) -> float:
    """Return the samples that a resumed run counts at its beginning, 0 where it tells none."""
    begun = takewhile(lambda each: each[0].kind in _BEGINNINGS, zip(inside, samples, strict=True))
    return next((number for _, number in begun if number > 0), 0.0)


#: What NVIDIA's launch scripts say of the machines.
_SYSTEM = rb":::SYSJSON \{"
_BENCHMARK = rb'"submission_benchmark' + _VALUE + rb'"'
#: Submitters of GPT-3 count in tokens, those of everything else in samples.
_IN_TOKENS = _BENCHMARK + rb'gpt3?"'
#: Networks that see whole sequences of tokens, and a log that states their length.
_IN_SEQUENCES = (
    rb"(?=[\s\S]*?" + _BENCHMARK + rb"(?:llama3|deepseek|gpt_oss|mixtral))(?=[\s\S]*?" + rb'"max_sequence_length' + _VALUE + rb"[0-9])"
)  # fmt: skip
_IN_SAMPLES = rb"\A(?![\s\S]*?" + _IN_TOKENS + rb")(?!" + _IN_SEQUENCES + rb")"


_OF_2019 = rb":::MLL [0-9.]++ %s: \{" + _PLACE + rb'"value": '
#: What every run states since the round v6.1, and some before.
_PRECISIONS: Mapping[bytes, str] = {
    b"fp32": "fp32", b"tf32": "tf32", b"fp16": "fp16", b"bfloat16": "bf16", b"fp8": "fp8", b"mxfp8": "mxfp8", b"nvfp4": "nvfp4", b"int8": "int8",
}  # fmt: skip
_SPLIT = ("tensor", "pipeline", "context", "expert")


def _benchmark(printed: bytes) -> str:
    """Return the network of a benchmark: by the rules of every round, `bert` is BERT-large."""
    return {b"bert": "BERT-large"}.get(printed) or text(printed)


def _stretches(unit: str, where: bytes, counted: str = "samples") -> Reading:
    """Return the reading of how far a run came, in the unit of its benchmark."""
    return Reading(
        _lines(_EVENTS, _TOLD), unit=unit, span="epoch", repeated=True, weak=True, marker=b":::ML", where=where,
        postprocess=partial(_records, unit=counted), facts=_FACTS,
    )  # fmt: skip


def _means(unit: str, where: bytes, counted: str = "samples") -> Reading:
    """Return the reading of the means over blocks, which the clock between the events is held against."""
    return Reading(
        _STAMP + rb"[0-9]++" + _KEY + _BLOCK_MEAN, unit=unit, span="epoch", exact=True, weak=True, marker=b"train_step_time",
        where=where, postprocess=partial(_block_means, unit=counted), facts=_FACTS,
    )  # fmt: skip


FORMAT = Format(
    title="MLPerf",
    marker=b":::ML",
    over=("*",),
    # TensorFlow's logger prints the lines of 2018 again, with a stamp in front.
    # Every rank may say which benchmark it is, and the sizes of the data sets may stand before that.
    start=rb'"key": ?+"(?:train_samples"[^\n]*+\n[^\n]{0,200}?"key": ?+"eval_samples"[^\n]*+\n[^\n]{0,200}?"key": ?+")?+submission_benchmark"(?:[^\n]*+\n[^\n]{0,200}?"key": ?+"submission_benchmark")*+|(:::MLPv0\.5\.[0-9] \w++ [0-9.]++ \([^)\r\n]{0,300}+\) run_start)'
    rb"(?:[ \t\r]*+\n[^\n]{0,200}?\1)?+"
    rb"|:::MLL [0-9.]++ submission_benchmark: (?:[^\n]*+\n[^\n]{0,200}?:::MLL [0-9.]++ submission_benchmark: )*+",
    before_start=rb'"key": ?+"(?:cache_clear|init_start|global_batch_size)"|\) run_clear_caches|:::MLL [0-9.]++ init_start: ',
    end=rb'"key": ?+"run_stop"|:::MLPv0\.5\.[0-9] \w++ [0-9.]++ \([^)\r\n]{0,300}+\) run_final|:::MLL [0-9.]++ run_stop: ',
    readings=(
        _stretches("samples/s", _IN_SAMPLES),
        _stretches("tokens/s", _IN_TOKENS, "tokens"),
        _stretches("tokens/s", rb"\A" + _IN_SEQUENCES, "sequences"),
        _means("samples/s", _IN_SAMPLES),
        _means("tokens/s", rb"\A" + _IN_SEQUENCES, "sequences"),
        # Other programs print between the lines of MLPerf, and say more where these count no samples.
        Reading(_lines(_SPEEDS, {"_step": _TOLD["_step"]}), unit="samples/s", span="run", where=_IN_SAMPLES, postprocess=_reported),
        Reading(_lines({**_RUN, **_JUDGED}, {}), span="run", weak=True, marker=b":::ML", postprocess=_run_seconds),
        Reading(
            _lines(_EVENTS, _TOLD), span="run", weak=True, marker=b":::ML", where=rb"\A(?![\s\S]*?" + _IN_TOKENS + rb")",
            postprocess=_target_samples, facts=(*_FACTS, "resumed_from"),
        ),
        Reading(
            rb'(?:"eval_accuracy' + _VALUE + rb'|[ )]eval_accuracy: \{(?:"epoch": [0-9]++, )?+' + _PLACE + rb'"value": )(?P<accuracy>' + NUMBER + rb")(?=[,}])",
            weak=True,
        ),
        Reading(
            rb':::MLLOG \{[^\n]{0,400}?"(?:reduced_)?+train_loss(?:' + _VALUE + rb'|": ?+)(?P<loss>' + NUMBER + rb")(?=[,}])",
            weak=True, marker=b'train_loss"',
        ),
    ),
    frames=(Reading(_lines({**_RUN, **_JUDGED}, {}), span="run", weak=True, marker=b":::ML", postprocess=_target),),
    facts=(
        Fact("model", _BENCHMARK + rb'([^"\n]++)"', _benchmark),
        Fact("model", _OF_2019 % b"submission_benchmark" + rb'"([^"\n]++)"', _benchmark),
        Fact("model", rb":::MLPv0\.5\.[0-9] (\w++) ", _benchmark),
        Fact("batch_size_of_job", rb'"global_batch_size' + _VALUE + rb"([0-9]++)\b", int),
        Fact("batch_size_of_job", _OF_2019 % b"global_batch_size" + rb"([0-9]++)\b", int),
        # NVIDIA's launch scripts say on what they run.
        Fact("nodes", _SYSTEM + up_to(rb'"number_of_nodes":"', _SYSTEM) + rb'([0-9]++)"', int),
        Fact("devices_per_node", _SYSTEM + up_to(rb'"accelerators_per_node":"', _SYSTEM) + rb'([0-9]++)"', int),
        Fact("gpu", _SYSTEM + up_to(rb'"accelerator_model_name":"', _SYSTEM) + rb'([^"\n]++)"'),
        Fact("framework", _SYSTEM + up_to(rb'"framework":"', _SYSTEM) + rb'(PyTorch|MXNet|TensorFlow|HugeCTR|PaddlePaddle|JAX|DGL)\b'),
        # By the rules of MLPerf HPC.
        Fact("nodes", rb'"number_of_nodes' + _VALUE + rb"([0-9]++)\b", int),
        Fact("devices_per_node", rb'"accelerators_per_node' + _VALUE + rb"([0-9]++)\b", int),
        Fact("nodes", rb"\bDGXNNODES=([0-9]++)\b", int),
        Fact("devices_per_node", rb"\bDGXNGPU=([0-9]++)\b", int),
        *PYTORCH_JOB,
        Fact("devices_per_node", rb'"submission_platform' + _VALUE + rb'"[0-9]++x ?+(?:NVIDIA )?+(DGX[ -]?(?:1|A100|H100|H200|B200|B300))\b', lambda _: 8),
        Fact("devices_per_node", rb'"submission_platform' + _VALUE + rb'"[0-9]++x ?+(?:NVIDIA )?+(DGX-2H?)\b', lambda _: 16),
        Fact("nodes", rb'"submission_platform' + _VALUE + rb'"([0-9]++)x ?+(?:NVIDIA )?+DGX', int),
        Fact("optimizer", rb'"opt_name' + _VALUE + rb'"([^"\n]++)"'),
        Fact("sequence_length", rb'"max_sequence_length' + _VALUE + rb"([0-9]++)\b", int),
        Fact("precision", rb'"lowest_numerical_precision_(?:in_)?+linear' + _VALUE + rb'"(\w++)"', words=_PRECISIONS),
        *(Fact(f"{name}_parallel", rb'"%s_parallelism' % name.encode() + _VALUE + rb"([0-9]++)\b", int) for name in _SPLIT),
        Fact("micro_batch", rb'"micro_batch_size' + _VALUE + rb"([0-9]++)\b", int),
        Fact("resumed_from", rb'"init_checkpoint_step' + _VALUE + rb"([1-9][0-9]*+)\b", int),
        Fact("seed", rb'"seed' + _VALUE + rb"([0-9]++)\b"),
        Fact("optimizer", _OF_2019 % b"opt_name" + rb'"([^"\n]++)"'),
        Fact("seed", rb":::ML(?:Pv0\.5\.[0-9] \w++|L) [0-9.]++ (?:\([^)\r\n]{0,300}+\) )?+(?:run_set_random_seed: |seed: \{" + _PLACE + rb"\"value\": )([0-9]++)"),
    ),
    samples=(
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "throughput", '
            b'"value": 26500.25, "metadata": {"file": "fit.py", "lineno": 958}}',
            throughput=26500.25, _step=float("nan"),
        ),
        Sample(
            b'0: :::MLLOG {"namespace": "worker", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "tracked_stats", '
            b'"value": {"train_step_time": 0.25, "throughput": 3750.5}, "metadata": {"file": "run.py", "lineno": 1850, "epoch_num": 150586}}',
            throughput=3750.5, _number=150586,
        ),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "tracked_stats", '
            b'"value": {"throughput": 375.5}, "metadata": {"file": "run.py", "lineno": 18, "step": 32, "samples_count": 4096}}',
            throughput=375.5, _step=32, _samples=4096,
        ),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "tracked_stats", "value": '
            b'{"train_step_time": 0.125, "reduced_train_loss": 8.25}, "metadata": {"file": "callbacks.py", "lineno": 480, "step": 31.0, "samples_count": 2048.0}}',
            _step_done=1795169472500, _step=31, _samples=2048,
        ),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "tracked_stats", '
            b'"value": {"train_step_time": 0.25}, "metadata": {"file": "callbacks.py", "lineno": 50, "samples_count": 12288}}',
            _step_seconds=0.25,
        ),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "train_loss", "value": 1.25, '
            b'"metadata": {"file": "callbacks.py", "lineno": 80, "samples_count": 960, "lr": 0.0004}}',
            _loss=1795169472500, _samples=960,
        ),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "INTERVAL_END", "key": "block_stop", '
            b'"value": null, "metadata": {"file": "callbacks.py", "lineno": 258, "samples_count": 12288, "step": 192}}',
            _block_stop=1795169472500, _samples=12288, _step=192, _run_stop=float("nan"),
        ),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "INTERVAL_START", "key": "epoch_start", '
            b'"value": null, "metadata": {"file": "train.py", "lineno": 258, "epoch_num": 2}}',
            _epoch_start=1795169472500, _number=2, _run_start=float("nan"),
        ),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "INTERVAL_START", "key": "block_start", '
            b'"value": null, "metadata": {"first_epoch_num": 1, "epoch_count": 4, "file": "train.py", "lineno": 258}}',
            _block_start=1795169472500, _count=4, _first=1, _number=float("nan"),
        ),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "train_samples", '
            b'"value": 2400384, "metadata": {"file": "train.py", "lineno": 224}}',
            _data_set=1795169472500, _value=2400384, _epoch_start=float("nan"),
        ),
        Sample(
            b":::MLPv0.5.0 resnet 1795169472.500000000 (/workspace/log_utils.py:49) train_epoch: 7\n",
            _epoch_start=1795169472.5, _value=7,
        ),
        Sample(b":::MLPv0.5.0 resnet 1795169472.500000000 (/workspace/log_utils.py:49) run_stop: {}\n", _run_stop=1795169472.5),
        Sample(b":::MLPv0.5.0 resnet 1795169472.500000000 (/workspace/log_utils.py:49) eval_target: 0.749\n", _aim=1795169472.5, _value=0.749),
        Sample(b':::MLPv0.5.0 ssd 1795169472.500000000 (train.py:49) run_stop: {"success": false}\n', _missed=1795169472.5),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "INTERVAL_END", "key": "run_stop", '
            b'"value": null, "metadata": {"file": "train.py", "lineno": 300, "status": "success"}}',
            _met=1795169472500, _run_start=float("nan"),
        ),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "INTERVAL_END", "key": "run_stop", '
            b'"value": null, "metadata": {"file": "train.py", "lineno": 300, "status": "aborted"}}',
            _missed=1795169472500, _met=float("nan"),
        ),
        Sample(b":::MLPv0.5.0 resnet 1795169472.500000000 (/workspace/log_utils.py:49) input_size: 1281167\n",
               _data_set=1795169472.5, _value=1281167),
        Sample(b':::MLL 1795169472.500 epoch_start: {"value": null, "metadata": {"epoch_num": 3, "lineno": 7}}',
               _epoch_start=1795169472.5, _number=3),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "eval_accuracy", '
            b'"value": 0.75, "metadata": {"file": "train.py", "lineno": 280, "epoch_num": 1}}',
            _judged=1795169472500, _number=1,
        ),
        NearMiss(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "tracked_stats", '
            b'"value": {"val_accuracy": 0.5}, "metadata": {"file": "run.py", "lineno": 1850}}',
            "statistics without a speed",
        ),
        NearMiss(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "tracked_stats", '
            b'"value": {"validation_step_time": 5.5}, "metadata": {"file": "callbacks.py", "lineno": 50, "step": 16, "samples_count": 19584}}',
            "a step of the evaluation",
        ),
        NearMiss(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "tracked_stats", '
            b'"value": {"warmup_time": 249.5}, "metadata": {"file": "callbacks.py", "lineno": 50, "step": 0}}',
            "before the run",
        ),
        NearMiss(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "throughput", "value": 265',
            "cut inside the number",
        ),
        NearMiss(b":::MLPv0.5.0 resnet 1795169472.500000000 (/workspace/log_utils.py:49) eval_size: 50000", "of the evaluation"),
    ),
)  # fmt: skip
