"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from perfledger.ingest.common.errors import UsageError

layout_option = click.option(
    "--layout",
    metavar="[FOLDER=]NAME|FILE",
    multiple=True,
    help="How the tree, or a folder of it, names its logs: one of ingest/layouts, such as paddle-perf, or a .toml "
    "file. A layout.toml in a folder is used without this option [default: perfledger].",
)
assume_option = click.option(
    "--assume",
    metavar="KEY=VALUE",
    multiple=True,
    help="Fill in a fact that the logs do not state, such as devices=8. A facts.toml does so for some logs.",
)
out_option = click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Folder of the pages and the data [default: docs]."
)
ledger_option = click.option(
    "--ledger",
    metavar="DIR|URL",
    default="",
    help="Folder of the ledger, here or in an object store, as a Parquet dataset [default: data/runs below the pages].",
)
verbose_option = click.option("--verbose", is_flag=True, help="Print every problem, however many there are.")


def chosen_layout(given: tuple[str, ...]) -> str:
    """Return the layouts of `--layout` options as one text; a layout may be of a folder alone."""
    from perfledger.ingest.common.project import joined_layouts

    whole = [each for each in given if "=" not in each]
    pairs = [each.rpartition("=") for each in given if "=" in each]
    for folder, _, _ in pairs:
        if not Path(folder).is_dir():
            raise UsageError(f"--layout {folder}=: {folder} is not a folder; give FOLDER=NAME")
    if len(whole) > 1:
        raise UsageError(f"--layout {whole[1]}: is the second one of all logs; give FOLDER=NAME for those of a folder")
    return joined_layouts(whole[0] if whole else "perfledger", {at: name for at, _, name in pairs})


def reads_logs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the arguments of every command that reads a tree of logs, and give them to it as `inputs`."""

    @wraps(command)
    def reading(
        paths: tuple[str, ...], layout: tuple[str, ...], assume: tuple[str, ...], jobs: int, on: str, **others: Any
    ) -> Any:
        from perfledger.ingest.build import Inputs
        from perfledger.ingest.read import reader_facts
        from perfledger.ingest.read.objects import is_url

        here, there = [Path(each) for each in paths if not is_url(each)], [each for each in paths if is_url(each)]
        assumed = tuple(reader_facts.parsed(assume).items())
        inputs = Inputs(tuple(here), chosen_layout(layout), jobs, on=on, stores=tuple(there), assumed=assumed)
        return command(inputs=inputs, **others)

    options = (
        click.argument("paths", metavar="PATH...", nargs=-1),
        layout_option,
        assume_option,
        click.option(
            "--jobs", metavar="N", type=int, default=0, help="Processes that read logs [default: as many as pay off]."
        ),
        click.option(
            "--on",
            metavar="CLUSTER",
            default="",
            help="Read logs on a Dask cluster: dask for one of this machine, or tcp://HOST:PORT of a scheduler.",
        ),
    )
    made: Callable[..., Any] = reading
    for option in reversed(options):
        made = option(made)
    return made
