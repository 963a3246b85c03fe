"""The arguments that commands share: how they are given, and what they mean."""

from __future__ import annotations

import argparse
import itertools
import re
from pathlib import Path

from runners.cases import recipe
from runners.cases.case import Case, choose
from runners.cases.recipe import Recipe
from runners.command.containers import CONTAINERS
from runners.command.script import Settings
from runners.errors import RunnerError
from runners.places.place import Place, parse

PATIENCE_SECONDS = 300
#: Between the choices of `--case`. A comma that no key follows is part of a value.
BETWEEN = re.compile(r",\s*(?=[A-Za-z_][A-Za-z0-9_]*\s*=)")


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """What to run."""
    parser.add_argument("recipe", metavar="RECIPE", help="a name that `list` prints, or a .toml file")


def add_case(parser: argparse.ArgumentParser) -> None:
    """The recipe, and what fixes its case."""
    add_recipe(parser)
    parser.add_argument(
        "--case",
        type=_choices,
        action="append",
        default=[],
        metavar="KEY=VALUE,...",
        help="fix keys of the case, such as devices=8,precision=amp; may be given several times, each key once",
    )


def add_place(parser: argparse.ArgumentParser) -> None:
    """Where to run."""
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


def add_settings(parser: argparse.ArgumentParser) -> None:
    """What the hosts are told beyond the recipe."""
    parser.add_argument(
        "--container", choices=("none", *CONTAINERS), default="none", help="the tool that runs the image"
    )
    parser.add_argument("--work", default="", metavar="DIR", help="where the sources are there")
    parser.add_argument("--data", default="", metavar="DIR", help="where the data set is there, from / on")
    parser.add_argument("--even-if-busy", action="store_true", help="start on a GPU that others use")


def add_raw_logs(parser: argparse.ArgumentParser) -> None:
    """Where runs lie at home."""
    parser.add_argument("--raw-logs", type=Path, default=Path("raw_logs"), metavar="DIR", help="default: raw_logs")


def add_folders(parser: argparse.ArgumentParser) -> None:
    """Where runs go at home, and the round they are of."""
    add_raw_logs(parser)
    parser.add_argument("--round", type=_round, default="", metavar="NAME", help="the benchmark round, such as 2026Q4")


def add_patience(parser: argparse.ArgumentParser) -> None:
    """How long silence is borne."""
    parser.add_argument(
        "--patience",
        type=_seconds,
        default=float(PATIENCE_SECONDS),
        metavar="SECONDS",
        help=f"how long a host may be out of reach before its run is left (default: {PATIENCE_SECONDS})",
    )


def chosen(options: argparse.Namespace) -> tuple[Recipe, list[Case]]:
    """The recipe and those of its cases that were chosen; raises RunnerError where there are none such."""
    loaded = recipe.load(recipe.find(options.recipe))
    choices: dict[str, str] = {}
    for key, value in itertools.chain(*options.case):
        if key in choices:
            raise RunnerError(
                f"--case {key}={value}: it is {choices[key]} already; one command fixes a key to one value"
            )
        choices[key] = value
    return loaded, choose(loaded, choices)


def place(options: argparse.Namespace) -> Place:
    """The place to run at; raises RunnerError for what is none."""
    return parse(options.on, options.ssh_config, options.sbatch)


def settings(options: argparse.Namespace, data: str = "") -> Settings:
    """What the hosts are told beyond the recipe; `data` where no folder of data was named."""
    return Settings(options.container, options.work, options.data or data, options.even_if_busy)


def _choices(text: str) -> list[tuple[str, str]]:
    """Keys and values of `key=value,key=value`; the parser names the argument in its message."""
    pairs = [pair.partition("=") for pair in BETWEEN.split(text)]
    for key, equals, _ in pairs:
        if not key.strip() or not equals:
            raise argparse.ArgumentTypeError(f"{text!r} is not key=value,key=value")
    return [(key.strip(), value) for key, _, value in pairs]


def positive(text: str) -> int:
    """A whole number from 1."""
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
