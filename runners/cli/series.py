"""The common part of `plan`, `check` and `run`: the runs of all recipes, and their target."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from perfledger.runners.batch import MANY, Wanted, rounds
from perfledger.runners.cases import RecipeCase, case_choices, select_cases
from perfledger.runners.cli.options import AnyPlace, Asked, Chosen
from perfledger.runners.cli.text import counted, duration
from perfledger.runners.command import plan_run
from perfledger.runners.job import PlannedRun, RunnerError
from perfledger.runners.settings import SitePlace, find_site
from perfledger.runners.slurm import Partition, Slurm
from perfledger.runners.ssh import Ssh

#: Iterations of a smoke run.
SMOKE_ITERATIONS = 5
#: Records that a smoke run prints at least.
SMOKE_RECORDS = 2


class Series(Struct, frozen=True):
    """The runs of one command.

    Attributes:
        firsts: the next run of each case.
        target: where they run.
        wanted: their number and order.
        seed: of their order, which all runs record.
        repeats: runs of a case, by the name of its recipe.
        cool_down_seconds: between two runs; the most that one of the recipes asks for.
    """

    firsts: tuple[PlannedRun, ...]
    target: AnyPlace
    wanted: Wanted
    seed: int
    repeats: Mapping[str, int]
    cool_down_seconds: int

    def runs(self, settled: Mapping[Path, int] | None = None) -> list[PlannedRun]:
        """Return all runs in their order, without the repeats of a case that are there already.

        With `--until-ci`, they are as many as give an interval at all.
        """
        fixed = 1 if self.wanted.smoke else MANY if self.wanted.until_ci else self.wanted.repeats
        left = {run.folder.parent: fixed or self.repeats[run.record.recipe.name] for run in self.firsts}
        for folder, count in (settled or {}).items():
            left[folder] -= count
        return [*rounds(self.firsts, self.seed, lambda folder, made: made < left[folder])]


def series_of(asked: Asked) -> Series:
    """Return the runs of the chosen cases of each recipe.

    Raises:
        RunnerError: a case cannot be run in this way, or two recipes would write into one folder.
    """
    seed = secrets.randbelow(2**32) if asked.wanted.seed is None else asked.wanted.seed
    place, target = at_site(asked.target, asked.site)
    firsts = dict[Path, PlannedRun]()
    for each in asked.chosen:
        settings = replace(asked.settings.at(place, each.recipe), smoke=asked.wanted.smoke, order_seed=seed)
        for case in _few_iterations(each) if settings.smoke else each.cases:
            run = plan_run(each.recipe, case, asked.raw_logs, settings)
            if other := firsts.get(run.folder.parent):
                both = f"{other.record.recipe.name} and {each.recipe.name}"
                remedy = "give one of them a `label`, or run them apart"
                raise RunnerError(f"recipes {both} both write to {run.folder.parent}; {remedy}")
            firsts[run.folder.parent] = run
    repeats = {each.recipe.name: each.recipe.repeats for each in asked.chosen}
    rest = max(each.recipe.cool_down_seconds for each in asked.chosen)
    return Series(tuple(firsts.values()), target, asked.wanted, seed, repeats, rest)


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


def at_site(target: AnyPlace, file: str) -> tuple[SitePlace, AnyPlace]:
    """Return the additions of the site for a target, and the target with its own."""
    found = find_site(file)
    match target:
        case Ssh():
            addresses = found.addresses(target.hosts)
            return found.of("hosts", target.hosts), replace(target, addresses=addresses if any(addresses) else ())
        case Partition():
            place = found.of("partitions", [target.name])
            # The site's arguments come first: of two that disagree, sbatch takes the last.
            return place, replace(target, sbatch=(*place.sbatch, *target.sbatch))
        case Slurm():
            return found.of("partitions", [target.partition]), target
        case _:
            return found.of("hosts", ["local"]), target


def aim(wanted: Wanted) -> str:
    """Return what `--until-ci` aims at."""
    return f"half the interval is {100 * wanted.until_ci:g} % of the median, with {wanted.max_repeats} repeats at most"


def time_of(runs: Sequence[PlannedRun]) -> str:
    """Return the number of runs, and when each is stopped."""
    cases = len({run.folder.parent for run in runs})
    longest = duration(max((run.spec.timeout_seconds for run in runs), default=0))
    text = f"{counted(len(runs), 'run')} of {counted(cases, 'case')}"
    return f"{text}; one that takes longer than {longest} is stopped"
