"""The runs of one command: their order, how long they take, what of them is there already, and one after the other."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from runners.cases import RecipeCase, case_folder
from runners.command import Settings, build_run, commit_of
from runners.errors import RunnerError
from runners.job import PlannedRun
from runners.output import command_line, complain, counted, duration, job_json
from runners.recipe import LaunchRecipe
from runners.record import SETTLED_OUTCOMES, FinishedRun, comparable_runs, finished_runs, next_repeat
from runners.run import (
    LAUNCH_JSON,
    STOPPED,
    UNFINISHED,
    AttendedError,
    RunContext,
    Supervision,
    launch,
    pause,
    resume_run,
    unfinished,
)
from runners.transport import AnyTarget

#: Exit status of a command.
COMPLETED, OTHERWISE, REFUSED = 0, 1, 2


class Batch(Struct, frozen=True, kw_only=True):
    """What one command is to run: cases of a recipe, with what the user chose for all of them."""

    recipe: LaunchRecipe
    cases: tuple[RecipeCase, ...]
    settings: Settings
    raw_logs: Path
    round: str = ""

    def first_runs(self) -> list[PlannedRun]:
        """Return the next run of each case, with all that it needs: files may change under a long batch.

        Raises:
            RunnerError: a case cannot be run in this way.
        """
        commit = commit_of(self.recipe.files.values())
        repeats = {case.slug: next_repeat(case_folder(self.recipe, case, self.raw_logs)) for case in self.cases}
        return [
            build_run(
                self.recipe, case, self.raw_logs, self.settings,
                repeat=repeats[case.slug], round=self.round, commit=commit,
            )
            for case in self.cases
        ]  # fmt: skip


def order(firsts: Sequence[PlannedRun], repeats: int, settled: Mapping[str, int] | None = None) -> list[PlannedRun]:
    """Interleave repeats over the cases, so that a machine that warms up or slows down does so for all alike.

    Each repeat goes through the same circle of cases, and begins `len(firsts) / repeats` further on than the one
    before: over all repeats every case is as early as any other.

    Args:
        firsts: the next run of each case.
        repeats: runs of each case.
        settled: repeats that a case (by the name of its folder) has already. They are left out of the front, so that a
            resumed batch goes on in the order it had.
    """
    had = settled or {}
    return [
        _repeat(first, repeat - had.get(first.folder.parent.name, 0))
        for repeat in range(repeats)
        for first in _rotated(firsts, repeat * len(firsts) // repeats)
        if repeat >= had.get(first.folder.parent.name, 0)
    ]


def _rotated(runs: Sequence[PlannedRun], places: int) -> list[PlannedRun]:
    return [*runs[places:], *runs[:places]]


def _repeat(first: PlannedRun, later: int) -> PlannedRun:
    number = first.record.repeat + later
    return structs.replace(
        first, folder=first.folder.parent / str(number), record=structs.replace(first.record, repeat=number)
    )


def plan(batch: Batch, runs: Sequence[PlannedRun], target: AnyTarget, with_jobs: bool) -> Iterator[str]:
    """Yield what each case executes, the runs in their order, and how long they may take; contacts no host.

    Raises:
        RunnerError: the target or the settings do not allow a case.
    """
    started_by: list[str] = []
    firsts: dict[Path, PlannedRun] = {}
    for run in runs:
        firsts.setdefault(run.folder.parent, run)
    for run in firsts.values():
        if (commands := target.commands(run)) != started_by:
            started_by = commands
            yield from ["started by", *(f"  {line}" for line in commands)]
        yield f"{run.folder.parent.name} runs\n  {command_line(run)}\n"
        if with_jobs:
            yield f"by this job:\n{job_json(run)}\n"
    for number, run in enumerate(runs, start=1):
        yield f"[{number}/{len(runs)}] {run.folder}"
    yield f"\n{_time(runs, batch.recipe.cool_down_seconds)}"


def _time(runs: Sequence[PlannedRun], cool_down_seconds: int) -> str:
    """Return how long runs take: by the median of each case's completed runs, or by the timeout, as an upper bound."""
    medians = {run.folder.parent: _median_seconds(run.folder.parent) for run in runs}
    known = [medians[run.folder.parent] for run in runs]
    seconds = sum(run.spec.timeout_seconds if each is None else each for run, each in zip(runs, known, strict=True))
    time = duration(seconds + cool_down_seconds * max(len(runs) - 1, 0))
    text = f"{counted(len(runs), 'run')} of {counted(len(medians), 'case')}"
    unknown = known.count(None)
    if not unknown:
        return f"{text}, about {time}, by the median of each case's earlier runs"
    return f"{text}, at most {time}: for {'all' if unknown == len(runs) else unknown} of them only the timeout is known"


def _median_seconds(folder: Path) -> float | None:
    found = [run.wall_seconds for run in finished_runs(folder) if run.outcome == "completed" and run.wall_seconds > 0]
    return statistics.median(found) if found else None


def run_all(runs: Sequence[PlannedRun], cool_down_seconds: int, session: RunContext) -> int:
    """Run one after the other; return the exit status.

    It is 0 where all completed, 1 where a run ended otherwise or was left, 2 where one was refused, 130 where we were
    stopped. An outcome other than completed does not stop the others; a case that was refused is not tried again.
    """
    signals, worst, refused = session.supervision.signals, COMPLETED, set()
    for number, run in enumerate(runs):
        if run.folder.parent in refused:
            continue
        if number:
            pause(cool_down_seconds, signals)
        if signals.count:
            return STOPPED
        try:
            outcome = launch(run, session)
        except RunnerError as error:
            complain(error)
            refused.add(run.folder.parent)
            worst = REFUSED
            continue
        worst = max(worst, COMPLETED if outcome == "completed" else OTHERWISE)
        # What may still run there would slow down whatever came next.
        if signals.count or outcome == UNFINISHED:
            break
    return STOPPED if signals.count else worst


def finish_earlier(runs: Sequence[PlannedRun], supervision: Supervision) -> tuple[int, set[str]]:
    """Attend the unfinished runs of some cases to their end, in the order in which they were begun.

    Returns:
        An exit status, 0 where every run came to its end, whichever, or is attended by another runner; and the folder
        names of the cases that other runners are at work at.
    """
    folders = unfinished_of(runs)
    others = set()
    for folder in folders:
        try:
            outcome = resume_run(folder, supervision)
        except AttendedError as error:
            complain(error)
            others.add(folder.parent.name)
            continue
        if supervision.signals.count or outcome == UNFINISHED:
            return STOPPED if supervision.signals.count else OTHERWISE, others
    return COMPLETED, others


def unfinished_of(runs: Sequence[PlannedRun]) -> list[Path]:
    """Return the folders of unfinished runs of the cases of `runs`, in the order in which they were begun."""
    folders = [folder for parent in dict.fromkeys(run.folder.parent for run in runs) for folder in unfinished(parent)]
    return sorted(folders, key=lambda folder: (folder / LAUNCH_JSON).stat().st_mtime_ns)


def settled_runs(run: PlannedRun, hardware: Sequence[str]) -> list[FinishedRun]:
    """Return the runs of a case that need not be made again: completed or out of memory, same hardware and round.

    Args:
        run: one of the case.
        hardware: of the hosts of the target, in order of rank.
    """
    rank = run.spec.nodes - 1 if run.wanted.node == "last" else 0
    # Of the node whose log holds the figures. Nodes that a cluster chooses are taken to be alike.
    own = hardware[min(rank, len(hardware) - 1)]
    found = comparable_runs(run.folder.parent, own, run.record.round)
    return [each for each in found if each.outcome in SETTLED_OUTCOMES]


def settled_counts(firsts: Sequence[PlannedRun], target: AnyTarget, others: set[str]) -> dict[str, int]:
    """Return how many runs of each case need not be made again; one that another runner attends counts, too."""
    counts = dict.fromkeys(others, 1)
    if not any(finished_runs(run.folder.parent) for run in firsts):
        return counts
    hardware = target.hardware(firsts[0].spec.device)
    names = {run.folder.parent.name: run for run in firsts}
    return {name: counts.get(name, 0) + len(settled_runs(run, hardware)) for name, run in names.items()}
