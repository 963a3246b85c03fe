"""The commands of `perfledger`: those of `python -m ingest`, and those that need no repository.

`python -m ingest` writes pages for MkDocs, and is here called `pages`; `build` and `serve` do without a `mkdocs.yml`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfledger import TEMPLATES, __version__
from perfledger.ingest import cli
from perfledger.ingest.cli.build import keep_apart, write_pages
from perfledger.ingest.cli.options import reads_logs, verbose_option
from perfledger.ingest.cli.state import UNDERSTOOD
from perfledger.ingest.common.errors import UsageError

if TYPE_CHECKING:
    from perfledger.ingest.build import Inputs

#: The files of a new repository.
_STARTER = TEMPLATES / "starter"
#: Placeholder in these files for the version of Perfledger.
_VERSION = "@VERSION@"
#: Placeholder in these files for the folder's name.
_NAME = "@NAME@"


@click.group(
    context_settings=cli.SETTINGS,
    epilog="Logs alone mean `figures`: perfledger logs/. " + cli.EXIT_CODES,
)
@click.version_option(__version__, message="perfledger %(version)s")
def commands() -> None:
    """Read training logs: throughput with its evidence, in a terminal, as data, or as a bilingual site."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return cli.run(commands, arguments, "perfledger", "figures")


@commands.command()
@reads_logs
@click.option(
    "--site", type=click.Path(path_type=Path), default=Path("site"), show_default=True, help="Folder of the site."
)
@verbose_option
def build(inputs: Inputs, site: Path, verbose: bool) -> int:
    """Write a finished site of logs, which can be opened from the disk.

    Example: perfledger build logs/ --site report, then open report/index.html.
    """
    finished, target = _site(), site.resolve()
    finished.check_place(target)
    keep_apart(replace(inputs, out=target), "--site")
    with finished.workplace(inputs, target) as folder:
        status = _pages(inputs, folder, verbose)
        _say("building the site ...")
        finished.build(folder, target)
        print(f"{site}/index.html: the site, to open in a browser or to publish")
        return status


@commands.command()
@reads_logs
@click.option(
    "--address", metavar="HOST:PORT", default="127.0.0.1:8000", show_default=True, help="Where the site is shown."
)
@verbose_option
def serve(inputs: Inputs, address: str, verbose: bool) -> int:
    """Show the site of logs in a browser, and follow their changes.

    Example: perfledger serve logs/, then open http://127.0.0.1:8000/.
    """
    if not re.fullmatch(r".+:\d+", address):
        raise UsageError(f"--address {address}: give HOST:PORT, such as 127.0.0.1:8000")
    finished = _site()
    with finished.workplace(inputs) as folder:
        status = _pages(inputs, folder, verbose)
        print(f"http://{address}/: the site, once it is built; Ctrl-C ends it", flush=True)
        finished.serve(folder, address)
        return status


@commands.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def init(folder: Path) -> int:
    """Make a repository for a lab's own logs and site.

    Example: perfledger init benchmarks, then copy logs into benchmarks/raw_logs/. Files that are there already stay.
    """
    made = []
    try:
        for path in sorted(each for each in _STARTER.rglob("*") if each.is_file()):
            target = folder / path.relative_to(_STARTER)
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                text = path.read_text("utf-8").replace(_VERSION, __version__)
                target.write_text(text.replace(_NAME, folder.resolve().name), "utf-8")
                made.append(target)
    except OSError as error:
        raise UsageError(f"{error.filename or folder}: {error.strerror}; give a folder that can be written") from None
    print(
        "\n".join([*map(str, made), f"Next: copy logs into {folder / 'raw_logs'}/, then: cd {folder} && mkdocs serve"])
    )
    return UNDERSTOOD


def _site() -> Any:
    """Return the module that needs MkDocs, which the core lacks."""
    from perfledger import site

    return site


def _pages(inputs: Inputs, folder: Path, verbose: bool) -> int:
    _say("reading logs and writing pages ...")
    return write_pages(replace(inputs, out=folder / "docs"), verbose)


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"perfledger: {text}", file=sys.stderr)


for _name, _command in cli.commands.commands.items():
    commands.add_command(_command, "pages" if _name == "build" else _name)
