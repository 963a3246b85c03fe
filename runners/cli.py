"""The command line: `list`, `show`, `run`, `script`.

Exit status of `run`: 0 all completed, 1 a run ended otherwise, 2 bad input and nothing or no more was started,
130 stopped.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from runners import backends, recipe, source
from runners.case import choose, command, environment_variables
from runners.errors import RunnerError
from runners.launch import STOPPED, launch
from runners.plan import Run, order
from runners.script import build

REFUSED = 2


def main(arguments: Sequence[str]) -> int:
    """Runs a command of the command line and returns its exit status."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.action(options))
    except RunnerError as error:
        print(f"runners: {error}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        return STOPPED


def show_list(_options: argparse.Namespace) -> int:
    """A line per recipe shipped."""
    names = recipe.names()
    for name in names:
        print(f"{name:<{max(map(len, names))}}  {recipe.load(recipe.find(name)).title}")
    return 0


def show_recipe(options: argparse.Namespace) -> int:
    """What a recipe needs, its cases, and the command of each."""
    chosen = recipe.load(recipe.find(options.recipe))
    print(f"{chosen.name}: {chosen.title}")
    print(f"suite {chosen.suite}, {chosen.framework}, {chosen.model}, on {chosen.device}")
    print(f"{chosen.repeats} repeats, at most {chosen.timeout_seconds} s each")
    print(f"prints the format {chosen.format or 'that the log will show'}")
    for paragraph in filter(None, (chosen.notes, chosen.setup)):
        print(f"\n{paragraph}")
    for case in choose(chosen, {}):
        variables = [f"{name}={shlex.quote(value)}" for name, value in environment_variables(chosen, case).items()]
        print(f"\n{case.slug}\n  {' '.join([*variables, shlex.join(command(chosen, case))])}")
    return 0


def run(options: argparse.Namespace) -> int:
    """Runs all cases chosen, repeats interleaved; an outcome other than completed does not stop the others."""
    runs = _planned(options)
    if options.dry_run:
        return _print_plan(runs)
    version = source.commit(runs[0].recipe.files.values())
    # All of them now: a file of the recipe that is changed later must not run under the version stated.
    scripts = [build(planned, version) for planned in runs]
    worst = 0
    for number, (planned, script) in enumerate(zip(runs, scripts, strict=True), start=1):
        print(f"[{number}/{len(runs)}] {planned.folder}", flush=True)
        status = launch(backends.local(), script)
        if status in (REFUSED, STOPPED):
            return status
        worst = max(worst, 1 if status else 0)
    return worst


def print_script(options: argparse.Namespace) -> int:
    """The script of one case, to be carried to a host by hand: `bash that.sh` there, then bring its folder home."""
    runs = _planned(options)
    if len(runs) > 1:
        slugs = ", ".join(planned.case.slug for planned in runs)
        raise RunnerError(
            f"recipe {options.recipe}: a script is of one case, and these are {slugs}; choose with --case"
        )
    print(build(runs[0], source.commit(runs[0].recipe.files.values())), end="")
    return 0


def _planned(options: argparse.Namespace) -> list[Run]:
    chosen = recipe.load(recipe.find(options.recipe))
    cases = choose(chosen, options.case)
    return order(chosen, cases, options.repeats or chosen.repeats, options.raw_logs)


def _print_plan(runs: list[Run]) -> int:
    for planned in runs:
        build(planned)
        print(f"{planned.folder}\n  {shlex.join(backends.local())}, with a script that runs:")
        print(f"  {shlex.join(command(planned.recipe, planned.case))}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m runners", description="Launch training and bring home its raw log."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="the recipes there are")
    listing.set_defaults(action=show_list)
    showing = commands.add_parser("show", help="what a recipe needs, its cases and their commands")
    showing.add_argument("recipe", metavar="RECIPE")
    showing.set_defaults(action=show_recipe)
    running = commands.add_parser("run", help="run a recipe on this machine")
    running.add_argument("--repeats", type=_positive, metavar="N", help="runs of each case (default: the recipe's)")
    running.add_argument("--dry-run", action="store_true", help="print what would run, in order, and start nothing")
    running.set_defaults(action=run)
    scripting = commands.add_parser("script", help="print the bash script of one case")
    scripting.set_defaults(action=print_script, repeats=1)
    for command_parser in (running, scripting):
        _add_choice(command_parser)
    return parser


def _add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", metavar="RECIPE", help="a name that `list` prints, or a .toml file")
    parser.add_argument(
        "--case", type=_choices, default={}, metavar="KEY=VALUE,...", help="fix keys of the case, such as batch_size=16"
    )
    parser.add_argument("--raw-logs", type=Path, default=Path("raw_logs"), metavar="DIR", help="default: raw_logs")


def _choices(text: str) -> dict[str, str]:
    """`key=value,key=value` as a table; the parser names the argument in its message."""
    pairs = [pair.partition("=") for pair in text.split(",")]
    for key, equals, _ in pairs:
        if not key or not equals:
            raise argparse.ArgumentTypeError(f"{text!r} is not key=value,key=value")
    return {key.strip(): value for key, _, value in pairs}


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)
