"""The command line: `list`, `show`, `plan`, `run`, `setup`, `script`, `collect`.

Exit status: 0 all completed, 1 a run ended otherwise or is unfinished, 2 bad input or refused, 130 stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from runners import arguments, commands
from runners.errors import RunnerError
from runners.runs.interrupts import STOPPED
from runners.series import REFUSED, complain


def main(words: Sequence[str]) -> int:
    """Runs a command of the command line and returns its exit status."""
    options = _parser().parse_args(words)
    try:
        return int(options.action(options))
    except RunnerError as error:
        complain(error)
        return REFUSED
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        # The reader of our output has gone, as `| head` does; Python would complain once more when it closes.
        sys.stderr.close()
        return REFUSED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m runners", description="Launch training and bring home its raw log."
    )
    adding = parser.add_subparsers(required=True, metavar="COMMAND")
    adding.add_parser("list", help="the recipes there are").set_defaults(action=commands.list_recipes)
    _show(adding.add_parser("show", help="what a recipe needs, its cases and their commands"))
    _plan(adding.add_parser("plan", help="what would run, in which order, and for how long; starts nothing"))
    _run(adding.add_parser("run", help="run a recipe"))
    _setup(adding.add_parser("setup", help="run a recipe's setup steps on every host"))
    _script(adding.add_parser("script", help="print one case as a script for a host that has bash only"))
    _collect(adding.add_parser("collect", help="finish what earlier commands left unfinished"))
    return parser


def _show(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action=commands.show)
    arguments.add_case(parser)
    arguments.add_settings(parser)


def _plan(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action=commands.plan, resume=False, find_max_batch=False)
    _add_runs(parser)
    parser.add_argument("--scripts", action="store_true", help="print the script of each case too")


def _run(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action=commands.run, scripts=False)
    _add_runs(parser)
    parser.add_argument("--dry-run", action="store_true", help="as `plan`: start nothing")
    parser.add_argument("--resume", action="store_true", help="finish what was begun, then add what is missing")
    parser.add_argument(
        "--find-max-batch", action="store_true", help="search the largest batch size of each case instead of repeats"
    )
    arguments.add_patience(parser)


def _setup(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action=commands.set_up)
    arguments.add_recipe(parser)
    arguments.add_place(parser)
    parser.add_argument("--work", default="", metavar="DIR", help="where the sources go there")


def _script(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action=commands.script)
    arguments.add_case(parser)
    arguments.add_settings(parser)
    arguments.add_folders(parser)


def _collect(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action=commands.collect)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="of unfinished runs, or above them")
    arguments.add_raw_logs(parser)
    parser.add_argument(
        "--abandon", action="store_true", help="stop what still runs, and give up what cannot be reached: it failed"
    )


def _add_runs(parser: argparse.ArgumentParser) -> None:
    arguments.add_case(parser)
    arguments.add_place(parser)
    parser.add_argument(
        "--repeats", type=arguments.positive, metavar="N", help="runs of each case (default: the recipe's)"
    )
    arguments.add_settings(parser)
    arguments.add_folders(parser)
