"""The command line: `list`, `show`, `plan`, `run`, `setup`, `script`, `collect`.

Exit status: 0 all completed, 1 a run ended otherwise or is unfinished, 2 bad input or refused, 130 stopped.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from runners import commands
from runners.command.containers import CONTAINERS
from runners.errors import RunnerError
from runners.runs.interrupts import STOPPED
from runners.series import REFUSED, complain

PATIENCE_SECONDS = 300
#: Between the choices of `--case`. A comma that no key follows is part of a value.
BETWEEN = re.compile(r",\s*(?=[A-Za-z_][A-Za-z0-9_]*\s*=)")


def main(arguments: Sequence[str]) -> int:
    """Runs a command of the command line and returns its exit status."""
    options = _parser().parse_args(arguments)
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
    _add_case(parser)
    _add_settings(parser)


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
    _add_patience(parser)


def _setup(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action=commands.set_up)
    parser.add_argument("recipe", metavar="RECIPE", help="a name that `list` prints, or a .toml file")
    _add_place(parser)
    parser.add_argument("--work", default="", metavar="DIR", help="where the sources go there")


def _script(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action=commands.script, repeats=1)
    _add_case(parser)
    _add_settings(parser)
    _add_folders(parser)


def _collect(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action=commands.collect, patience=0.0)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="of unfinished runs, or above them")
    parser.add_argument("--raw-logs", type=Path, default=Path("raw_logs"), metavar="DIR", help="default: raw_logs")
    parser.add_argument(
        "--abandon", action="store_true", help="stop what still runs, and give up what cannot be reached: it failed"
    )


def _add_runs(parser: argparse.ArgumentParser) -> None:
    _add_case(parser)
    _add_place(parser)
    parser.add_argument("--repeats", type=_positive, metavar="N", help="runs of each case (default: the recipe's)")
    _add_settings(parser)
    _add_folders(parser)


def _add_case(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", metavar="RECIPE", help="a name that `list` prints, or a .toml file")
    parser.add_argument(
        "--case",
        type=_choices,
        action="append",
        default=[],
        metavar="KEY=VALUE,...",
        help="fix keys of the case, such as devices=8,precision=amp; may be given several times, each key once",
    )


def _add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--on", default="local", metavar="PLACE", help="local (default), ssh:HOST,... or slurm:PARTITION"
    )
    parser.add_argument("--ssh-config", default="", metavar="FILE", help="instead of your own ssh configuration")
    parser.add_argument(
        "--sbatch",
        action="append",
        default=[],
        metavar="ARG",
        help="a further argument of sbatch, joined by =, as in --sbatch=--account=mine",
    )


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--container", choices=("none", *CONTAINERS), default="none", help="the tool that runs the image")
    parser.add_argument("--work", default="", metavar="DIR", help="where the sources are there")
    parser.add_argument("--data", default="", metavar="DIR", help="where the data set is there, from / on")
    parser.add_argument("--even-if-busy", action="store_true", help="start on a GPU that others use")


def _add_folders(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--raw-logs", type=Path, default=Path("raw_logs"), metavar="DIR", help="default: raw_logs")
    parser.add_argument("--round", type=_round, default="", metavar="NAME", help="the benchmark round, such as 2026Q4")


def _add_patience(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--patience",
        type=_seconds,
        default=float(PATIENCE_SECONDS),
        metavar="SECONDS",
        help=f"how long a host may be out of reach before its run is left (default: {PATIENCE_SECONDS})",
    )


def _choices(text: str) -> list[tuple[str, str]]:
    """Keys and values of `key=value,key=value`; the parser names the argument in its message."""
    pairs = [pair.partition("=") for pair in BETWEEN.split(text)]
    for key, equals, _ in pairs:
        if not key.strip() or not equals:
            raise argparse.ArgumentTypeError(f"{text!r} is not key=value,key=value")
    return [(key.strip(), value) for key, _, value in pairs]


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def _seconds(text: str) -> float:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of seconds")
    return float(text)


def _round(text: str) -> str:
    if len(text.strip()) > 40:
        raise argparse.ArgumentTypeError(f"{text!r} is not a name of at most 40 characters")
    return text.strip()
