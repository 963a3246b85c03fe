"""`run`: runs recipes, one case after the other, and prints what came out."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from perfledger.runners import batch as batches
from perfledger.runners.batch import COMPLETED, MANY
from perfledger.runners.cli.options import Asked, asked_options
from perfledger.runners.cli.series import Series, aim, series_of, time_of
from perfledger.runners.cli.text import aligned, counted
from perfledger.runners.folders import AnyTarget, finished_runs, is_disturbed
from perfledger.runners.ingest_link import ask_ingest, check_ingest
from perfledger.runners.job import PlannedRun, RunnerError
from perfledger.runners.run import supervise
from perfledger.runners.slurm import Partition, Slurm
from perfledger.schema.figures import FiguresFound


@click.command("run")
@asked_options
@click.option("--resume", is_flag=True, help="Finish the runs that were begun, then add those that are missing.")
@click.option("--wait", is_flag=True, help="With slurm:PARTITION: show what the job prints until it ends.")
@click.pass_context
def run(context: click.Context, asked: Asked, resume: bool, wait: bool) -> int:
    """Run recipes and collect their logs.

    All of their cases run in random order, or those that --case chooses. RECIPE is a name that `list` prints, or a
    .toml file.
    """
    if wait and not isinstance(asked.target, Slurm | Partition):
        raise RunnerError("--wait: it is for --on slurm:PARTITION; leave it out")
    series = series_of(asked)
    check_ingest({each.recipe.name: each.recipe.records.format for each in asked.chosen})
    _announce(series, resume)
    firsts, target = series.firsts, series.target
    if isinstance(target, Partition):
        return target.submit(series.firsts, context.obj, wait)
    settled: Mapping[Path, int] = {}
    if resume:
        with supervise(len(batches.unfinished_of(firsts))) as supervision:
            status, others = batches.finish_earlier(firsts, supervision)
        if status:
            return status
        settled = batches.settled_counts(firsts, target, others)
    runs = series.runs(settled)
    if not runs and not series.wanted.until_ci:
        print("nothing is left to run")
        return COMPLETED
    return _run(series, target, runs, asked.settings.if_busy == "wait")


def _announce(series: Series, resume: bool) -> None:
    """Print how many runs there will be and how long they may take, before a person waits for hours by mistake."""
    runs = series.runs()
    if series.wanted.until_ci:
        # Earlier runs count, so that there may be fewer than `plan` says, or none.
        print(f"{counted(len(series.firsts), 'case')}, until {aim(series.wanted)}", flush=True)
    elif len(runs) > 1 and not resume:
        print(time_of(runs), flush=True)


def _run(series: Series, target: AnyTarget, fixed: Sequence[PlannedRun], waits: bool) -> int:
    """Make the runs, or with `--until-ci` as many as its aim needs, and print the figures of their cases."""
    wanted, firsts = series.wanted, series.firsts
    if len(fixed) > 1:
        print(f"in random order, seed {series.seed}", flush=True)
    with supervise(None if wanted.until_ci else len(fixed), waits) as supervision:
        runs: Iterable[PlannedRun] = fixed
        if wanted.until_ci:
            # Earlier runs count towards the interval of their case.
            for folder in (run.folder.parent for run in firsts if finished_runs(run.folder.parent)):
                supervision.figures[folder] = ask_ingest(folder)
            earlier = batches.earlier_numbers(firsts, target)
            runs = batches.until_narrow(firsts, wanted, series.seed, supervision, earlier)
        status = batches.run_all(runs, series.cool_down_seconds, target, supervision)
    for line in result_lines(firsts, supervision.figures):
        print(line)
    if wanted.smoke and status == COMPLETED:
        print("every case ran; leave --smoke out to measure")
    return status


def result_lines(firsts: Sequence[PlannedRun], figures: Mapping[Path, FiguresFound]) -> Iterator[str]:
    """Yield a table of the cases that ran, and what to do next."""
    rows = [_result_row(run.folder.parent, figures.get(run.folder.parent)) for run in firsts]
    if not any(rows):
        earlier = (run for first in firsts for run in finished_runs(first.folder.parent))
        if any(is_disturbed(run) and not run.smoke for run in earlier):
            yield "results leave out disturbed runs; repeat them with --resume --if-busy wait, or with --if-busy count"
        return
    heads = ["case", "repeats", "median", "95 % interval", "spread"]
    yield ""
    yield from aligned([heads, *filter(None, rows)])
    raw_logs = firsts[0].folder.parents[3]
    yield f"\nnext: python -m perfledger build {shlex.quote(str(raw_logs))} --site site writes site/index.html"


def _result_row(folder: Path, found: FiguresFound | None) -> list[str]:
    current = batches.current_figure(found)
    if found is None or current is None or not current.value:
        return []
    low, high = current.interval or (0.0, 0.0)
    return [
        f"{folder.parent.name}/{folder.name}",
        str(current.repeats),
        f"{current.value:.4g} {current.unit}",
        f"{low:.4g} to {high:.4g}" if current.interval else f"from {MANY} repeats on",
        "" if current.spread is None else f"{100 * current.spread:.1f} %",
    ]
