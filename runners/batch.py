"""The runs of one command: their order, what of them is there already, one after the other; and `--find-max-batch`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct, structs

from runners.command import Settings, build_run, commit_of
from runners.job import PlannedRun, RunnerError
from runners.recipe import LaunchRecipe, RecipeCase, case_choices, case_folder, select_cases
from runners.record import (
    LAUNCH_JSON,
    SETTLED_OUTCOMES,
    AttendedError,
    FinishedRun,
    comparable_runs,
    finished_runs,
    next_repeat,
    unfinished,
)
from runners.run import STOPPED, UNFINISHED, RunContext, Supervision, complain, launch, pause, resume_run
from runners.transport import AnyTarget

#: Exit status of a command.
COMPLETED, OTHERWISE, REFUSED = 0, 1, 2
#: Above it only multiples of STEP are tried: hardware computes in such steps, and nothing in between is asked for.
FINE_UP_TO = 16
STEP = 8


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
    iterations = run.record.recipe.case.get("iterations")
    return [
        each
        for each in found
        if each.outcome in SETTLED_OUTCOMES and (not each.smoke or each.recipe.case.get("iterations") == iterations)
    ]


def settled_counts(firsts: Sequence[PlannedRun], target: AnyTarget, others: set[str]) -> dict[str, int]:
    """Return how many runs of each case need not be made again; one that another runner attends counts, too."""
    counts = dict.fromkeys(others, 1)
    if not any(finished_runs(run.folder.parent) for run in firsts):
        return counts
    hardware = target.hardware(firsts[0].spec.device)
    names = {run.folder.parent.name: run for run in firsts}
    return {name: counts.get(name, 0) + len(settled_runs(run, hardware)) for name, run in names.items()}


# --- The largest batch size: doubled until memory runs out, then halved in between; each attempt is an ordinary run ---


@dataclass
class Search:
    """Sizes of a case that completed, and those that ran out of memory; `ended` says what else ended the search."""

    case: RecipeCase
    fits: set[int] = field(default_factory=set)
    fails: set[int] = field(default_factory=set)
    ended: str = ""

    def __str__(self) -> str:
        """Return the result as a sentence."""
        fits, fails = largest_fitting(self.fits, self.fails), min(self.fails, default=0)
        parts = [f"the largest batch size that completed is {fits}" if fits else "no batch size completed"]
        parts += [f"the smallest that ran out of memory is {fails}"] if fails else []
        parts += [f"the search ended early: {self.ended}"] if self.ended else []
        return f"{self.case.slug}: {'; '.join(parts)}"


def next_size(smallest: int, fits: Collection[int], fails: Collection[int]) -> int | None:
    """Return the batch size to try next, or None where the limit is known.

    Args:
        smallest: where the search begins.
        fits: sizes that completed.
        fails: sizes that ran out of memory; one below a size that fits counts, too.
    """
    if not fails:
        return 2 * max(fits) if fits else smallest
    above, below = min(fails), largest_fitting(fits, fails)
    between = [size for size in range(below + 1, above) if size <= FINE_UP_TO or size % STEP == 0]
    return min(between, key=lambda size: abs(2 * size - below - above)) if between else None


def largest_fitting(fits: Collection[int], fails: Collection[int]) -> int:
    """Return the largest size that fits below all that fail; 0 where none does."""
    return max((size for size in fits if size < min(fails, default=size + 1)), default=0)


def smallest_sizes(recipe: LaunchRecipe, cases: Sequence[RecipeCase]) -> list[RecipeCase]:
    """Return, of the cases that differ in nothing but the batch size, the one with the smallest."""
    smallest: dict[tuple[tuple[str, str], ...], RecipeCase] = {}
    for case in cases:
        key = tuple((name, text) for name, text in case_choices(recipe, case).items() if name != "batch_size")
        smallest[key] = min(smallest.get(key, case), case, key=lambda each: each.batch_size)
    return list(smallest.values())


def find_max_batch(batch: Batch, session: RunContext, resume: bool) -> int:
    """Search the largest batch size of every case, print each result, and return the exit status.

    With `resume` earlier attempts on the same hardware count.
    """
    hardware = session.target.hardware(batch.recipe.device) if resume else []
    signals, worst = session.supervision.signals, COMPLETED
    for case in smallest_sizes(batch.recipe, batch.cases):
        if signals.count:
            return STOPPED
        found = _search(batch, case, session, hardware)
        print(found, flush=True)
        worst = max(worst, OTHERWISE if found.ended else COMPLETED)
    return STOPPED if signals.count else worst


def _search(batch: Batch, smallest: RecipeCase, session: RunContext, hardware: Sequence[str]) -> Search:
    found = Search(smallest)
    while (size := next_size(smallest.batch_size, found.fits, found.fails)) and not found.ended:
        choices = {**case_choices(batch.recipe, smallest), "batch_size": str(size)}
        (run,) = structs.replace(batch, cases=tuple(select_cases(batch.recipe, choices)[:1])).first_runs()
        outcome = _earlier_outcome(run, session, hardware) or _outcome(run, batch.recipe.cool_down_seconds, session)
        if session.supervision.signals.count:
            found.ended = "stopped"
        elif outcome == "completed":
            found.fits.add(size)
        elif outcome == "oom":
            found.fails.add(size)
        else:
            found.ended = f"batch size {size} came to `{outcome}`"
    return found


def _earlier_outcome(run: PlannedRun, session: RunContext, hardware: Sequence[str]) -> str:
    """Return the outcome of an earlier run of the same case, empty where there is none or none counts."""
    if not hardware:
        return ""
    # An attempt that still runs would take memory from the next one.
    status, others = finish_earlier([run], session.supervision)
    if status or others:
        return UNFINISHED
    return next((each.outcome for each in settled_runs(run, hardware)), "")


def _outcome(run: PlannedRun, cool_down_seconds: int, session: RunContext) -> str:
    outcome = launch(run, session)
    pause(cool_down_seconds, session.supervision.signals)
    return outcome
