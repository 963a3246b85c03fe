"""The common part of `plan`, `check` and `run`: the batches of all recipes, and their target."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from perfledger.runners import batch as batches
from perfledger.runners.batch import Batch
from perfledger.runners.cases import RecipeCase, case_choices, select_cases
from perfledger.runners.cli.options import MANY, Asked, Chosen, Wanted
from perfledger.runners.cli.text import counted, duration
from perfledger.runners.command import Numbered
from perfledger.runners.job import PlannedRun, RunnerError
from perfledger.runners.recipe import LaunchRecipe
from perfledger.runners.sbatch import Needs, needs
from perfledger.runners.settings import Settings, find_site
from perfledger.runners.targets import AnyPlace

#: Iterations of a smoke run.
SMOKE_ITERATIONS = 5
#: Records that a smoke run prints at least.
SMOKE_RECORDS = 2


class Series(Struct, frozen=True):
    """The batches of one command, where they run, and the seed of their order, which all runs record."""

    batches: tuple[Batch, ...]
    target: AnyPlace
    wanted: Wanted
    seed: int

    @property
    def cool_down_seconds(self) -> int:
        """The seconds between two runs: the most that one of the recipes asks for."""
        return max(batch.recipe.cool_down_seconds for batch in self.batches)

    def firsts(self) -> list[PlannedRun]:
        """Return the next run of each case.

        Raises:
            RunnerError: a case cannot be run in this way.
        """
        return batches.first_runs_of(self.batches)

    def runs(self, firsts: Sequence[PlannedRun], settled: Mapping[Path, int] | None = None) -> list[PlannedRun]:
        """Return all runs in their order, without the repeats of a case that are there already.

        With `--until-ci`, they are as many as give an interval at all.
        """
        wanted = self.wanted
        own = {batch.recipe.name: batch.recipe.repeats for batch in self.batches}
        fixed = 1 if wanted.smoke else MANY if wanted.until_ci else wanted.repeats
        repeats = {run.folder.parent: fixed or own[run.record.recipe.name] for run in firsts}
        return batches.order(firsts, repeats, self.seed, settled)

    def needs(self, firsts: Sequence[PlannedRun]) -> Needs:
        """Return what a job of Slurm needs for as many runs as there can be."""
        many = self.wanted.until_ci and self.wanted.max_repeats
        return needs(list(firsts) * many if many else self.runs(firsts), self.cool_down_seconds)


def series_of(asked: Asked) -> Series:
    """Return the batches of each recipe, and their target.

    Raises:
        RunnerError: the site files of the recipes differ in the target.
    """
    seed = secrets.randbelow(2**32) if asked.wanted.seed is None else asked.wanted.seed
    at_sites = [at_site(each.recipe, asked.settings, asked.target, asked.site) for each in asked.chosen]
    target = at_sites[0][1]
    if any(other != target for _, other in at_sites):
        raise RunnerError("the site files beside these recipes differ in addresses or sbatch; name one with --site")
    numbered = Numbered(round=asked.round, smoke=asked.wanted.smoke, order_seed=seed)
    found = []
    for chosen, (settings, _) in zip(asked.chosen, at_sites, strict=True):
        recipe, cases = chosen.recipe, _few_iterations(chosen) if numbered.smoke else chosen.cases
        batch = Batch(recipe=recipe, cases=cases, settings=settings, raw_logs=asked.raw_logs, numbered=numbered)
        found.append(batch)
    return Series(tuple(found), target, asked.wanted, seed)


def _few_iterations(chosen: Chosen) -> tuple[RecipeCase, ...]:
    """Return the cases of a smoke run: they print a few records each."""
    recipe = chosen.recipe
    few = max(SMOKE_ITERATIONS, -(-SMOKE_RECORDS * recipe.iterations // recipe.records.at_least))
    found: dict[str, RecipeCase] = {}
    for each in chosen.cases:
        iterations = min(few, int(each.slots["iterations"]))
        choices = {**case_choices(recipe, each), "iterations": str(iterations)}
        found |= {case.slug: case for case in select_cases(recipe, choices)}
    return tuple(found.values())


def at_site(recipe: LaunchRecipe, settings: Settings, target: AnyPlace, file: str) -> tuple[Settings, AnyPlace]:
    """Return settings and target after the additions of the site for a recipe."""
    found = find_site(file, recipe.folder)
    kind, names = target.site_names()
    place = found.of(kind, names)
    return settings.at(place, recipe), target.at_site(found.addresses(names), place.sbatch)


def aim(wanted: Wanted) -> str:
    """Return what `--until-ci` aims at."""
    return f"half the interval is {100 * wanted.until_ci:g} % of the median, with {wanted.max_repeats} repeats at most"


def time_of(runs: Sequence[PlannedRun]) -> str:
    """Return the number of runs, and when each is stopped."""
    cases = len({run.folder.parent for run in runs})
    longest = duration(max((run.spec.timeout_seconds for run in runs), default=0))
    text = f"{counted(len(runs), 'run')} of {counted(cases, 'case')}"
    return f"{text}; one that takes longer than {longest} is stopped"
