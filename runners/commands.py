"""What each command of the command line does."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runners import progress, resume, setup, shown
from runners.cases import recipe
from runners.cases.case import Case, choose
from runners.cases.recipe import Recipe
from runners.command.script import Settings
from runners.errors import RunnerError
from runners.largest import find, said, smallest_of
from runners.places.place import Place, parse
from runners.runs import carried, finished, launch_file, records, source
from runners.runs.attend import Attention
from runners.runs.interrupts import STOPPED, counted
from runners.runs.launch import UNFINISHED, Session, bring_home
from runners.runs.plan import Run, order
from runners.series import COMPLETED, OTHERWISE, REFUSED, complain, finish, ready, run_all


def list_recipes(_options: argparse.Namespace) -> int:
    """The recipes shipped."""
    shown.printed(shown.listing())
    return COMPLETED


def show(options: argparse.Namespace) -> int:
    """What a recipe needs, its cases, and the command of each."""
    chosen, cases = _chosen(options)
    shown.printed(shown.described(chosen, cases, _settings(options, shown.DATA)))
    return COMPLETED


def plan(options: argparse.Namespace) -> int:
    """What would run, in its order; of a search the first size of each case, for the others follow from it."""
    chosen, cases = _chosen(options)
    repeats = options.repeats or chosen.repeats
    if options.find_max_batch:
        cases, repeats = smallest_of(chosen, cases), 1
    runs = order(chosen, cases, repeats, options.raw_logs, options.round)
    # Whole before it is shown: what cannot run is refused and not listed.
    shown.printed([*shown.planned(runs, _place(options), _settings(options), options.scripts)])
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
    chosen, cases = _chosen(options)
    records.check()
    return (_search if options.find_max_batch else _repeat)(options, chosen, cases)


def set_up(options: argparse.Namespace) -> int:
    """Puts on every host what a recipe needs."""
    chosen = recipe.load(recipe.find(options.recipe))
    setup.set_up(chosen, _place(options), options.work)
    return COMPLETED


def script(options: argparse.Namespace) -> int:
    """One run of one case as a script."""
    chosen, cases = _chosen(options)
    if len(cases) > 1:
        choices = "\n".join(f"  --case {shown.choice(chosen, case)}" for case in cases)
        raise RunnerError(f"recipe {chosen.name}: a script is of one case, and these are {len(cases)}:\n{choices}")
    (one,) = order(chosen, cases, 1, options.raw_logs, options.round)
    print(carried.program(one, _settings(options), source.commit(chosen.files.values())), end="")
    return COMPLETED


def collect(options: argparse.Namespace) -> int:
    """Finishes runs that earlier commands left."""
    folders = [folder for below in options.folders or [options.raw_logs] for folder in _unfinished(below)]
    worst = COMPLETED
    with _attention(len(folders), 0) as attention:
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


def _repeat(options: argparse.Namespace, chosen: Recipe, cases: list[Case]) -> int:
    """The matrix, `--repeats` times over; with `--resume` what is missing of it."""
    repeats = options.repeats or chosen.repeats
    place, settings = _place(options), _settings(options)
    runs = order(chosen, cases, repeats, options.raw_logs, options.round)
    # Said before an earlier run is waited for.
    ready(runs, settings)
    had: dict[str, int] = {}
    if options.resume:
        left = resume.unfinished(chosen, cases, options.raw_logs)
        with _attention(len(left), options.patience) as attention:
            status, others = finish(left, attention)
        if status:
            return status
        had = _settled(runs, place, others)
        runs = order(chosen, cases, repeats, options.raw_logs, options.round, had)
    with _attention(len(runs), options.patience) as attention:
        return run_all(ready(runs, settings), Session(place, settings, attention))


def _settled(runs: list[Run], place: Place, others: set[str]) -> dict[str, int]:
    """How many runs of each case need not be made again; one that another runner attends is taken to be one."""
    counts = dict.fromkeys(others, 1)
    firsts = {run.case.slug: run for run in reversed(runs)}
    if not any(finished.runs(run.folder.parent) for run in firsts.values()):
        return counts
    hardware = resume.hardware(runs[0].recipe, place)
    return {slug: counts.get(slug, 0) + len(resume.settled(run, hardware)) for slug, run in firsts.items()}


def _search(options: argparse.Namespace, chosen: Recipe, cases: list[Case]) -> int:
    """The largest batch size of every case; with `--resume` earlier attempts count."""
    worst = COMPLETED
    with _attention(None, options.patience) as attention:
        session = Session(_place(options), _settings(options), attention)
        hardware = resume.hardware(chosen, session.place) if options.resume else []

        def known(run: Run) -> str:
            if not hardware:
                return ""
            # An attempt that still runs would take memory from the one that asks how much there is.
            left = resume.unfinished(chosen, [run.case], options.raw_logs)
            status, others = finish(left, attention)
            return UNFINISHED if status or others else next((each.outcome for each in resume.settled(run, hardware)), "")

        for case in smallest_of(chosen, cases):
            if attention.requests.count:
                return STOPPED
            found = find(chosen, case, options.raw_logs, options.round, session, known)
            print(said(case, found), flush=True)
            worst = max(worst, OTHERWISE if found.ended else COMPLETED)
    return STOPPED if attention.requests.count else worst


@contextmanager
def _attention(total: int | None, patience: float) -> Iterator[Attention]:
    with counted() as requests, progress.over(total) as display:
        yield Attention(requests, patience, display)


def _chosen(options: argparse.Namespace) -> tuple[Recipe, list[Case]]:
    chosen = recipe.load(recipe.find(options.recipe))
    choices: dict[str, str] = {}
    for key, value in itertools.chain(*options.case):
        if key in choices:
            raise RunnerError(
                f"--case {key}={value}: it is {choices[key]} already; one command fixes a key to one value"
            )
        choices[key] = value
    return chosen, choose(chosen, choices)


def _place(options: argparse.Namespace) -> Place:
    return parse(options.on, options.ssh_config, options.sbatch)


def _settings(options: argparse.Namespace, data: str = "") -> Settings:
    return Settings(options.container, options.work, options.data or data, options.even_if_busy)
