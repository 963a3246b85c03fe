"""The runs of one command: their order, what of them is there already, and one after the other."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from perfledger.runners.display import complain
from perfledger.runners.folders import (
    LAUNCH_JSON,
    SETTLED_OUTCOMES,
    AnyTarget,
    SupervisedError,
    finished_runs,
    is_disturbed,
    unfinished,
)
from perfledger.runners.job import JobSpec, PlannedRun, RunnerError
from perfledger.runners.run import UNFINISHED, Supervision, collect_run, launch, pause
from perfledger.runners.transport import UnreachableError
from perfledger.schema.figures import CaseFigure, FiguresFound
from perfledger.schema.run_json import RunJson

#: Repeats that `ingest` needs for an interval.
MANY = 5
#: Repeats that are made at most until the interval is narrow.
MOST_REPEATS = 15
#: Exit statuses of a command.
COMPLETED = 0
#: A run ended differently, or was left unfinished.
OTHERWISE = 1
#: The input is wrong, or a host refused.
REFUSED = 2
#: Ctrl-C or SIGTERM.
STOPPED = 130


def rounds(firsts: Sequence[PlannedRun], seed: int, is_wanted: Callable[[Path, int], bool]) -> Iterator[PlannedRun]:
    """Yield repeats of all cases, round by round in random order, so that heat, page cache and drift affect all alike.

    The case that ran last does not come first. The same seed gives the same order.

    Args:
        firsts: the next run of each case.
        seed: of the order.
        is_wanted: whether a round has a run of a case, by its folder and the number of its runs before.
    """
    chance, made, last = random.Random(seed), Counter[Path](), Path()
    while left := [run for run in firsts if is_wanted(run.folder.parent, made[run.folder.parent])]:
        shuffled = chance.sample(left, len(left))
        if len(shuffled) > 1 and shuffled[0].folder.parent == last:
            shuffled.append(shuffled.pop(0))
        for first in shuffled:
            last = first.folder.parent
            yield _repeat(first, made[last])
            made[last] += 1


def _repeat(first: PlannedRun, later: int) -> PlannedRun:
    number = first.record.repeat + later
    return structs.replace(
        first, folder=first.folder.parent / str(number), record=structs.replace(first.record, repeat=number)
    )


class Wanted(Struct, frozen=True):
    """Number and order of the runs of a case; `repeats` is None for that of the recipe, `until_ci` 0 without an aim."""

    repeats: int | None = None
    seed: int | None = None
    until_ci: float = 0
    max_repeats: int = MOST_REPEATS
    smoke: bool = False

    def __post_init__(self) -> None:
        """Refuse options that contradict each other."""
        if self.repeats and self.until_ci:
            raise RunnerError(
                "--repeats: with --until-ci the figures say how many are needed; leave one of the two out"
            )
        if self.smoke and (self.repeats or self.until_ci):
            raise RunnerError("--smoke: it tries each case once; leave --repeats and --until-ci out")

    def verdict(self, found: CaseFigure | None, made: int) -> str:
        """Return why a case needs no further run after `made` runs; empty if it needs one."""
        repeats, width = (found.repeats, found.half_width) if found else (0, None)
        shown = "no interval" if width is None else f"±{100 * width:.2g} %"
        if width is not None and width <= self.until_ci:
            return f"{shown} after {repeats} repeats"
        if max(repeats, made) >= self.max_repeats:
            allowed = f"{self.max_repeats} repeats were allowed"
            return f"stopped at {shown}: {allowed}, and ±{100 * self.until_ci:.2g} % asked"
        return ""


def until_narrow(
    firsts: Sequence[PlannedRun],
    wanted: Wanted,
    seed: int,
    supervision: Supervision,
    earlier: Mapping[Path, Collection[int]],
) -> Iterator[PlannedRun]:
    """Yield runs in random order, round by round, of the cases whose interval is not narrow enough yet.

    Args:
        firsts: the next run of each case.
        wanted: when it is narrow enough.
        seed: of the order.
        supervision: its figures and refused cases are looked up after each round.
        earlier: the numbers of earlier runs on the same hardware and in the same round, which count; by the same.
    """
    counted = {run.folder.parent: set(earlier.get(run.folder.parent, ())) for run in firsts}
    made = Counter[Path]()

    def verdict(folder: Path) -> str:
        if folder in supervision.refused:
            return "stopped: it was refused"
        return wanted.verdict(current_figure(supervision.figures.get(folder), counted[folder]), made[folder])

    for run in rounds(firsts, seed, lambda folder, _: not verdict(folder)):
        counted[run.folder.parent].add(run.record.repeat)
        made[run.folder.parent] += 1
        yield run
    for folder in counted:
        print(f"{folder}: {verdict(folder)}", flush=True)


def current_figure(found: FiguresFound | None, counted: Collection[int] | None = None) -> CaseFigure | None:
    """Return the figure of the case that the last of its runs counts in; None where none does.

    Where `counted` numbers some runs, all others are passed over: those of other hardware or of an earlier round.
    """
    cases = [case for case in found.cases if case.value is not None] if found else []
    last = {at: max(map(_number, case.runs)) for at, case in enumerate(cases)}
    at = max((at for at in last if counted is None or last[at] in counted), key=last.__getitem__, default=None)
    return None if at is None else cases[at]


def _number(path: str) -> int:
    """Return the number of a repeat from the path of its log, `case/3/train.log`."""
    name = Path(path).parent.name
    return int(name) if name.isdecimal() else 0


def run_all(runs: Iterable[PlannedRun], cool_down_seconds: int, target: AnyTarget, supervision: Supervision) -> int:
    """Run one after the other; return the exit status.

    An outcome other than completed does not stop the others. A case that was refused is not tried again, nor is any
    whose hosts would check the same, nor any at all if a host cannot be reached: see `refused` of the supervision.
    """
    signals, worst, refused = supervision.signals, COMPLETED, set[bytes]()
    for number, run in enumerate(runs):
        if checked_part(run.spec) in refused:
            supervision.refused.add(run.folder.parent)
            continue
        if number:
            pause(cool_down_seconds, signals)
        if signals.count:
            return STOPPED
        try:
            outcome = launch(run, target, supervision)
        except RunnerError as error:
            complain(error)
            refused.add(checked_part(run.spec))
            supervision.refused.add(run.folder.parent)
            worst = REFUSED
            if isinstance(error, UnreachableError):
                break
            continue
        worst = max(worst, COMPLETED if outcome == "completed" else OTHERWISE)
        # A run that still goes on there would slow down the next one.
        if signals.count or outcome == UNFINISHED:
            break
    return STOPPED if signals.count else worst


def checked_part(spec: JobSpec) -> bytes:
    """Return the part of a job that the checks of its hosts read; most cases of a recipe have the same."""
    return msgspec.json.encode(structs.replace(spec, command=spec.command[:1], variables={}, files={}, threads=""))


def finish_earlier(runs: Sequence[PlannedRun], supervision: Supervision) -> tuple[int, set[Path]]:
    """Supervise the unfinished runs of some cases to their end, the oldest first.

    Returns:
        An exit status, 0 if each run ended or is supervised by another runner; and the folders of the cases that
        other runners supervise.
    """
    folders = unfinished_of(runs)
    others = set[Path]()
    for folder in folders:
        try:
            outcome = collect_run(folder, supervision, "wait")
        except SupervisedError as error:
            complain(error)
            others.add(folder.parent)
            continue
        if supervision.signals.count or outcome == UNFINISHED:
            return STOPPED if supervision.signals.count else OTHERWISE, others
    return COMPLETED, others


def unfinished_of(runs: Sequence[PlannedRun]) -> list[Path]:
    """Return the folders of unfinished runs of the cases of `runs`, the oldest first."""
    folders = [folder for parent in dict.fromkeys(run.folder.parent for run in runs) for folder in unfinished(parent)]
    return sorted(folders, key=lambda folder: (folder / LAUNCH_JSON).stat().st_mtime_ns)


def is_settled(earlier: RunJson, planned: PlannedRun) -> bool:
    """Return whether a run need not be made again: it completed, or ran out of memory.

    A disturbed one is made again, since no result counts it, and so is a smoke run if this one is not.
    """
    return earlier.outcome in SETTLED_OUTCOMES and not is_disturbed(earlier) and earlier.smoke <= planned.record.smoke


def settled_counts(firsts: Sequence[PlannedRun], target: AnyTarget, others: set[Path]) -> dict[Path, int]:
    """Return how many runs of each case need not be made again; one that another runner supervises counts, too."""
    counts = Counter(others)
    for run, earlier in comparable(firsts, target):
        counts[run.folder.parent] += sum(is_settled(each, run) for each in earlier)
    return counts


def earlier_numbers(firsts: Sequence[PlannedRun], target: AnyTarget) -> dict[Path, list[int]]:
    """Return the numbers of the finished runs of each case on the same hardware and in the same round."""
    return {run.folder.parent: [each.repeat or 0 for each in earlier] for run, earlier in comparable(firsts, target)}


def comparable(firsts: Sequence[PlannedRun], target: AnyTarget) -> Iterator[tuple[PlannedRun, list[RunJson]]]:
    """Yield each run with the finished runs of its case on the same hardware and in the same round."""
    for run in firsts:
        if found := finished_runs(run.folder.parent):
            # The figures are in the log of this node. The nodes of a cluster are assumed to be alike.
            asked, rank = target.hardware(run.spec), run.spec.nodes - 1 if run.wanted.node == "last" else 0
            same = (asked[min(rank, len(asked) - 1)], run.record.round)
            yield run, [each for each in found if (each.case.hardware, each.round or "") == same]
