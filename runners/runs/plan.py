"""What to run, in which order, into which folders, and about how long it takes."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runners.cases.case import Case, framework_slug
from runners.cases.recipe import Recipe
from runners.runs import finished


@dataclass(frozen=True)
class Run:
    """One run to come: `repeat` counts from 1 and names its folder; `round` is the benchmark round, if any."""

    recipe: Recipe
    case: Case
    repeat: int
    folder: Path
    round: str = ""


@dataclass(frozen=True)
class Estimate:
    """Seconds that runs may take, cool-down included; `bounded` of the `runs` count with their whole timeout."""

    seconds: float
    runs: int
    bounded: int


def order(
    recipe: Recipe,
    cases: Sequence[Case],
    repeats: int,
    raw_logs: Path,
    round: str = "",
    settled: Mapping[str, int] | None = None,
) -> list[Run]:
    """Repeats interleaved over the cases, so that a machine that warms up or slows down does so for all alike.

    Each repeat goes through the same circle of cases, and begins `len(cases) / repeats` further on than the one before:
    over all repeats every case is as early as any other. `settled` is the number of repeats that a case (by its
    slug) has already; these are left out of the front, so that a resumed matrix goes on in the order it had.
    """
    had = {case.slug: (settled or {}).get(case.slug, 0) for case in cases}
    first = {case.slug: next_repeat(case_folder(recipe, case, raw_logs)) for case in cases}
    return [
        Run(recipe, case, number, case_folder(recipe, case, raw_logs) / str(number), round)
        for turn in range(repeats)
        for case in _turned(cases, turn * len(cases) // repeats)
        if turn >= had[case.slug]
        for number in (first[case.slug] + turn - had[case.slug],)
    ]


def _turned(cases: Sequence[Case], places: int) -> list[Case]:
    return [*cases[places:], *cases[:places]]


def estimate(runs: Sequence[Run]) -> Estimate:
    """The median of a case's completed runs for each of its runs to come, or else the recipe's timeout, as a bound."""
    measured = {run.folder.parent: _median_seconds(run.folder.parent) for run in runs}
    known = [measured[run.folder.parent] for run in runs]
    taken = [
        run.recipe.timeout_seconds if seconds is None else seconds for run, seconds in zip(runs, known, strict=True)
    ]
    pauses = sum(run.recipe.cool_down_seconds for run in runs[1:])
    return Estimate(sum(taken) + pauses, len(runs), known.count(None))


def _median_seconds(folder: Path) -> float | None:
    seconds = [run.wall_seconds for run in finished.runs(folder) if run.outcome == "completed" and run.wall_seconds > 0]
    return statistics.median(seconds) if seconds else None


def case_folder(recipe: Recipe, case: Case, raw_logs: Path) -> Path:
    """`<raw logs>/<suite>/<framework>/<case>`."""
    return raw_logs / recipe.suite / framework_slug(recipe.framework) / case.slug


def next_repeat(folder: Path) -> int:
    """One more than the highest number in a case's folder; an unfinished run keeps its number too."""
    try:
        taken = [int(path.name) for path in folder.iterdir() if path.name.isdecimal()]
    except (FileNotFoundError, NotADirectoryError):
        return 1
    return max(taken, default=0) + 1
