"""The largest batch size of a case, found by running it: each attempt is an ordinary run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runners.cases.case import Case, choices_of, choose
from runners.cases.recipe import Recipe
from runners.runs.interrupts import pause
from runners.runs.launch import Session, launch
from runners.runs.plan import Run, order
from runners.search import largest, next_size
from runners.series import ready


@dataclass
class Found:
    """Sizes that completed, and those for which memory did not suffice; `ended` says what else ended the search."""

    fits: set[int] = field(default_factory=set)
    fails: set[int] = field(default_factory=set)
    ended: str = ""


def smallest_of(recipe: Recipe, cases: Sequence[Case]) -> list[Case]:
    """Of the cases that differ in nothing but the batch size, the one with the smallest."""
    smallest: dict[tuple[tuple[str, str], ...], Case] = {}
    for case in cases:
        key = tuple((name, text) for name, text in choices_of(recipe, case).items() if name != "batch_size")
        smallest[key] = min(smallest.get(key, case), case, key=lambda each: each.batch_size)
    return list(smallest.values())


def find(
    recipe: Recipe, smallest: Case, raw_logs: Path, round: str, session: Session, known: Callable[[Run], str]
) -> Found:
    """Runs a case with one batch size after the other, and stops where we are asked to.

    `known` gives the outcome of a run that need not be made again, empty for one that must. Raises RunnerError where a
    run cannot be started or finished.
    """
    found = Found()
    while (size := next_size(smallest.batch_size, found.fits, found.fails)) and not found.ended:
        case = choose(recipe, {**choices_of(recipe, smallest), "batch_size": str(size)})[0]
        run = order(recipe, [case], 1, raw_logs, round)[0]
        outcome = known(run) or _run(run, session)
        if session.attention.requests.count:
            found.ended = "stopped"
        elif outcome == "completed":
            found.fits.add(size)
        elif outcome == "oom":
            found.fails.add(size)
        else:
            found.ended = f"batch size {size} came to `{outcome}`"
    return found


def said(case: Case, found: Found) -> str:
    """What the search came to, in a sentence."""
    fits, fails = largest(found.fits, found.fails), min(found.fails, default=0)
    parts = [f"the largest batch size that completed is {fits}" if fits else "no batch size completed"]
    parts += [f"the smallest that ran out of memory is {fails}"] if fails else []
    parts += [f"the search ended early: {found.ended}"] if found.ended else []
    return f"{case.slug}: {'; '.join(parts)}"


def _run(run: Run, session: Session) -> str:
    (each,) = ready([run], session.settings)
    outcome = launch(run, each.script, each.commit, session)
    pause(run.recipe.cool_down_seconds, session.attention.requests)
    return outcome
