"""`new-suite`, `new-format`, `check-layout`, `unwrap`: what a user adds, and logs that another tool exported."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from perfledger import as_called
from perfledger.ingest.cli.options import out_option
from perfledger.ingest.cli.state import NOT_ALL, UNDERSTOOD
from perfledger.ingest.common.errors import UsageError, one_line, printable


@click.command("new-suite")
@click.argument("name")
@out_option
def new_suite(name: str, out: Path | None) -> int:
    """Write the file of a model's page.

    Example: new-suite vgg16. The file, suites/vgg16.toml of the project, is filled from the runs of that model in
    docs/data.
    """
    from perfledger.ingest import new_suite as creation
    from perfledger.ingest.record.store import FOLDER

    print(printable(creation.create(name, (out or Path("docs")) / FOLDER)))
    return UNDERSTOOD


@click.command("new-format")
@click.argument("name")
@click.argument("log", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Take every proposal, and ask nothing.")
def new_format(name: str, log: Path, yes: bool) -> int:
    """Draft a format for a log that no format reads.

    Example: new-format our_trainer train.log. It finds the lines that repeat with changing numbers, asks what the
    numbers are, and writes formats/our_trainer.py of the project with a golden folder.
    """
    from perfledger.ingest import new_format as creation

    def ask(question: str, usual: str) -> str:
        return usual if yes else str(click.prompt(question, default=usual, show_default=bool(usual)))

    print(printable(as_called(creation.create(name, log, ask))))
    return UNDERSTOOD


@click.command("check-layout")
@click.argument("layout", metavar="NAME|FILE")
@click.argument("paths", metavar="PATH...", nargs=-1, type=click.Path(path_type=Path))
def check_layout(layout: str, paths: tuple[Path, ...]) -> int:
    """List the paths that a layout cannot read.

    Example: check-layout layouts/ours.toml old-logs/. Logs that fit a template and have the files that it asks for
    are not listed. No log is opened.
    """
    from perfledger.ingest.common.problems import message
    from perfledger.ingest.read import beside
    from perfledger.ingest.read import layout as layouts
    from perfledger.ingest.read.walk import walk

    if not paths:
        raise UsageError("no PATH given; give the folder that the layout describes")
    named = layouts.load(layout)
    found = named.logs_of(walk(paths))
    by_name = {each.name: beside.path_facts(each, named) for each in found.inputs}
    wrong = dict.fromkeys(message(problem) for each in by_name.values() for problem in each.problems)
    lines = [one_line(f"{name}: matches no template") for name, each in by_name.items() if each.path is None]
    print("\n".join([*lines, *wrong, f"{len(by_name)} paths, of which {len(lines)} fit no template"]))
    return NOT_ALL if lines or wrong else UNDERSTOOD


@click.command("unwrap")
@click.option(
    "--from", "name", metavar="NAME", default="", help="What exported the log; without it the names are listed."
)
@click.argument("export", metavar="FILE", required=False, type=click.Path(path_type=Path))
def unwrap(name: str, export: Path | None) -> int:
    """Print the log that another tool exported, as its program printed it.

    Example: unwrap --from loki answer.json > train.log
    """
    from perfledger.parsers.unwrap import FILTERS

    if name not in FILTERS or export is None:
        filters = "\n".join(f"  {each:9} {str(made.__doc__).partition(chr(10))[0]}" for each, made in FILTERS.items())
        raise UsageError(f"give --from NAME FILE, where NAME is one of\n{filters}")
    try:
        stream = export.open("rb")
    except OSError as error:
        raise UsageError(f"{export}: {error.strerror}; check the path") from None
    with stream:
        try:
            for line in FILTERS[name](stream):
                sys.stdout.buffer.write(line)
        except ValueError as error:
            raise UsageError(f"{export}: {error}") from None
    return UNDERSTOOD
