"""What each command of the command line does."""

from __future__ import annotations

import argparse
from pathlib import Path

from runners import arguments, setup, shown
from runners.cases import recipe
from runners.errors import RunnerError
from runners.execution import attention_of, repeat, search
from runners.largest import smallest_of
from runners.runs import carried, launch_file, records, source
from runners.runs.interrupts import STOPPED
from runners.runs.launch import bring_home
from runners.runs.plan import order
from runners.series import COMPLETED, OTHERWISE, REFUSED, complain


def list_recipes(_options: argparse.Namespace) -> int:
    """The recipes shipped."""
    shown.printed(shown.listing())
    return COMPLETED


def show(options: argparse.Namespace) -> int:
    """What a recipe needs, its cases, and the command of each."""
    chosen, cases = arguments.chosen(options)
    shown.printed(shown.described(chosen, cases, arguments.settings(options, shown.DATA)))
    return COMPLETED


def plan(options: argparse.Namespace) -> int:
    """What would run, in its order; of a search the first size of each case, for the others follow from it."""
    chosen, cases = arguments.chosen(options)
    repeats = options.repeats or chosen.repeats
    if options.find_max_batch:
        cases, repeats = smallest_of(chosen, cases), 1
    runs = order(chosen, cases, repeats, options.raw_logs, options.round)
    # Whole before it is shown: what cannot run is refused and not listed.
    shown.printed([*shown.planned(runs, arguments.place(options), arguments.settings(options), options.scripts)])
    if options.find_max_batch:
        print("each of them once, then with other batch sizes, until the largest that completes is found")
    if options.resume:
        print("--resume leaves out what has completed on the hardware of these hosts, which a plan does not ask")
    return COMPLETED


def run(options: argparse.Namespace) -> int:
    """Runs all cases chosen, or searches their largest batch size."""
    if options.find_max_batch and options.repeats:
        raise RunnerError("--repeats: with --find-max-batch each batch size runs once; leave one of the two out")
    if options.dry_run:
        return plan(options)
    chosen, cases = arguments.chosen(options)
    records.check()
    return (search if options.find_max_batch else repeat)(options, chosen, cases)


def set_up(options: argparse.Namespace) -> int:
    """Puts on every host what a recipe needs."""
    chosen = recipe.load(recipe.find(options.recipe))
    setup.set_up(chosen, arguments.place(options), options.work)
    return COMPLETED


def script(options: argparse.Namespace) -> int:
    """One run of one case as a script."""
    chosen, cases = arguments.chosen(options)
    if len(cases) > 1:
        choices = "\n".join(f"  --case {shown.choice(chosen, case)}" for case in cases)
        raise RunnerError(f"recipe {chosen.name}: a script is of one case, and these are {len(cases)}:\n{choices}")
    (one,) = order(chosen, cases, 1, options.raw_logs, options.round)
    print(carried.program(one, arguments.settings(options), source.commit(chosen.files.values())), end="")
    return COMPLETED


def collect(options: argparse.Namespace) -> int:
    """Finishes runs that earlier commands left."""
    folders = [folder for below in options.folders or [options.raw_logs] for folder in _unfinished(below)]
    worst = COMPLETED
    with attention_of(len(folders), 0) as attention:
        for folder in folders:
            if attention.requests.count:
                return STOPPED
            try:
                outcome = bring_home(folder, attention, options.abandon)
            except RunnerError as error:
                complain(error)
                worst = REFUSED
                continue
            worst = max(worst, COMPLETED if outcome == "completed" else OTHERWISE)
    return worst


def _unfinished(below: Path) -> list[Path]:
    if not below.is_dir():
        raise RunnerError(f"{below}: there is no such folder; name that of a run, or one above it")
    found = launch_file.unfinished(below)
    if not found:
        print(f"{below}: nothing there is unfinished")
    return found
