"""The search for the largest batch size: doubled until memory runs out, then halved in between.

Each attempt is an ordinary run, with its log and its `run.json`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from msgspec import structs

from runners.batch import COMPLETED, OTHERWISE, Batch, finish_earlier, settled_runs
from runners.cases import RecipeCase, case_choices, select_cases
from runners.job import PlannedRun
from runners.recipe import LaunchRecipe
from runners.run import STOPPED, UNFINISHED, RunContext, launch, pause

#: Above it only multiples of STEP are tried: hardware computes in such steps, and nothing in between is asked for.
FINE_UP_TO = 16
STEP = 8


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
