"""What to run, in which order, and into which folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runners.case import Case, framework_slug
from runners.recipe import Recipe


@dataclass(frozen=True)
class Run:
    """One run to come: `repeat` counts from 1 and names its folder."""

    recipe: Recipe
    case: Case
    repeat: int
    folder: Path


def order(recipe: Recipe, cases: list[Case], repeats: int, raw_logs: Path) -> list[Run]:
    """Repeats interleaved over the cases: the first of every case, then the second, so that drift meets all alike."""
    first = {case.slug: next_repeat(case_folder(recipe, case, raw_logs)) for case in cases}
    return [
        Run(recipe, case, repeat, case_folder(recipe, case, raw_logs) / str(repeat))
        for later in range(repeats)
        for case in cases
        for repeat in (first[case.slug] + later,)
    ]


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
