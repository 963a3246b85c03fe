"""The group of commands, and how their errors become messages and exit statuses."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from perfledger import as_called
from perfledger.runners.batch import COMPLETED, REFUSED, STOPPED
from perfledger.runners.cli.check import check
from perfledger.runners.cli.collect import collect
from perfledger.runners.cli.export import export
from perfledger.runners.cli.init_recipe import init_recipe
from perfledger.runners.cli.list_recipes import list_recipes
from perfledger.runners.cli.plan import plan
from perfledger.runners.cli.run import run
from perfledger.runners.cli.script import script
from perfledger.runners.cli.setup import setup
from perfledger.runners.cli.show import show
from perfledger.runners.display import complain
from perfledger.runners.job import RunnerError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def cli() -> None:
    """Run training benchmarks on this machine, on hosts by SSH or through Slurm, and collect their raw logs.

    Exit status: 0 all runs completed; 1 a run ended otherwise, or is unfinished; 2 wrong input, or a host refused;
    130 stopped.
    """


for command in (init_recipe, list_recipes, show, plan, check, run, setup, script, collect, export):
    cli.add_command(command)


def main(words: Sequence[str]) -> int:
    """Run a command of the command line and return its exit status."""
    try:
        _refuse_other_encodings(words)
        # Not `cli.main`, which would print an empty line when it is interrupted, and end with 1.
        with cli.make_context(as_called("python -m runners"), list(words), obj=tuple(words)) as context:
            status = int(cli.invoke(context) or COMPLETED)
        # Python would do so at its end, and complain there if nobody reads any more.
        sys.stdout.flush()
        return status
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except RunnerError as error:
        complain(error)
        return REFUSED
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        # The reader of our output has gone, as `| head` does; Python would complain once more when it closes.
        sys.stderr.close()
        return REFUSED


def _refuse_other_encodings(words: Sequence[str]) -> None:
    """Raise for a word that no file of a run could contain."""
    try:
        "".join(words).encode()
    except UnicodeEncodeError as error:
        raise RunnerError(f"the command line is not UTF-8 from {error.object[error.start :]!r} on") from None
