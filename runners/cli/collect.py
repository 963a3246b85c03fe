"""`collect`: finishes runs that were left unfinished."""

from __future__ import annotations

from pathlib import Path

import click

from perfledger.runners.batch import COMPLETED, OTHERWISE, REFUSED, STOPPED
from perfledger.runners.cli.options import raw_logs_option
from perfledger.runners.display import complain
from perfledger.runners.folders import unfinished
from perfledger.runners.job import RunnerError
from perfledger.runners.run import collect_run, supervise


@click.command("collect")
@click.argument("folders", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[FOLDER]...")
@raw_logs_option
@click.option(
    "--abandon",
    is_flag=True,
    help="Stop what still runs, and finish as failed what cannot be reached, with the files that are here.",
)
@click.option("--stop", is_flag=True, help="Stop what still runs, and collect it as stopped.")
def collect(folders: tuple[Path, ...], raw_logs: Path, abandon: bool, stop: bool) -> int:
    """Finish runs that were left unfinished.

    FOLDER is that of an unfinished run, or one above it; without any, all below --raw-logs are finished. A run that
    another runner supervises is left to it.
    """
    found = [folder for below in folders or (raw_logs,) for folder in unfinished(below)]
    if not found:
        print(f"{' '.join(map(str, folders or (raw_logs,)))}: nothing there is unfinished")
    wanted = ("completed", "stopped") if stop else ("completed",)
    worst = COMPLETED
    with supervise(len(found)) as supervision:
        for folder in found:
            if supervision.signals.count:
                return STOPPED
            try:
                outcome = collect_run(folder, supervision, "abandon" if abandon else "stop" if stop else "look")
            except RunnerError as error:
                complain(error)
                worst = REFUSED
                continue
            worst = max(worst, COMPLETED if outcome in wanted else OTHERWISE)
    return worst
