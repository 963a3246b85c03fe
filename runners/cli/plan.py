"""`plan`: what `run` would start."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import click

from perfledger.runners.batch import COMPLETED, Wanted
from perfledger.runners.cli.options import Asked, asked_options
from perfledger.runners.cli.series import Series, aim, series_of, time_of
from perfledger.runners.cli.text import command_line
from perfledger.runners.job import PlannedRun
from perfledger.runners.slurm import Partition


@click.command("plan")
@asked_options
def plan(asked: Asked) -> int:
    """Show what `run` would start.

    Print the command of each case, the order of the runs, and how long they may take; contact no host. RECIPE is a
    name that `list` prints, or a .toml file.
    """
    series = series_of(asked)
    firsts, runs, place = series.firsts, series.runs(), series.target
    if isinstance(place, Partition):
        places = [f"submitted by\n  {shlex.join(place.argv(series.firsts))}"] * len(firsts)
    else:
        for run in firsts:
            place.prepare(run)
        places = [f"on {', '.join(place.hosts[: run.spec.nodes]) or 'this machine'}" for run in firsts]
    print(*_plan_lines(firsts, runs, places), *_order_lines(series, runs, asked.wanted), sep="\n")
    return COMPLETED


def _plan_lines(firsts: Sequence[PlannedRun], runs: Sequence[PlannedRun], places: Sequence[str]) -> Iterator[str]:
    """Yield where and what each case executes, and the runs in their order."""
    shown_places: set[str] = set()
    for run, place in zip(firsts, places, strict=True):
        if place not in shown_places:
            shown_places.add(place)
            yield place
        yield f"{run.folder.parent.name} runs\n  {command_line(run)}\n"
    for number, run in enumerate(runs, start=1):
        yield f"[{number}/{len(runs)}] {run.folder}"


def _order_lines(series: Series, runs: Sequence[PlannedRun], wanted: Wanted) -> Iterator[str]:
    """Yield how long the runs may take, and what their order and their number depend on."""
    yield f"\n{time_of(runs)}"
    if len(runs) > 1:
        given = f"by --seed {wanted.seed}" if wanted.seed is not None else "another one each time without --seed"
        yield f"in random order, {given}"
    if wanted.until_ci:
        yield f"and on, until {aim(wanted)}"
