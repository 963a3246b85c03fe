"""Options that several commands share, packed into records: a command takes an `Asked` instead of twenty values."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import click
from msgspec import Struct

from perfledger.runners import recipes
from perfledger.runners.batch import MANY, MOST_REPEATS, Wanted
from perfledger.runners.cases import Choices, RecipeCase, select_cases
from perfledger.runners.folders import AnyTarget
from perfledger.runners.job import RunnerError
from perfledger.runners.recipes import VARIABLE, LaunchRecipe, secret_fault
from perfledger.runners.settings import IfBusy, Settings
from perfledger.runners.slurm import PARTITION, Partition, own_job
from perfledger.runners.ssh import Ssh
from perfledger.runners.transport import Local
from perfledger.runners.wrappers import CONTAINERS

#: Between the choices of `--case`. A comma that no key follows is part of a value.
BETWEEN_CHOICES = re.compile(r",\s*(?=[A-Za-z_][A-Za-z0-9_]*\s*=)")

#: What `--on` can name: a partition is where a job is submitted, whose nodes are the target.
AnyPlace = AnyTarget | Partition
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Chosen(Struct, frozen=True):
    """A recipe, and those of its cases that `--case` chooses."""

    recipe: LaunchRecipe
    cases: tuple[RecipeCase, ...]


class Asked(Struct, frozen=True, kw_only=True):
    """The cases that a command plans, checks or runs, with their hosts, their number, and the folder of their logs."""

    chosen: tuple[Chosen, ...]
    target: AnyPlace
    settings: Settings
    site: str
    wanted: Wanted = Wanted()
    raw_logs: Path = Path("raw_logs")


def _packed(name: str, make: Callable[..., Any], *options: Decorator) -> Decorator:
    """Add options to a command and pass it, as `name`, what `make` returns for those of their values that it takes."""
    keys = tuple(inspect.signature(make).parameters)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def command(**values: Any) -> Any:
            made = make(**{key: values.pop(key) for key in keys if key in values})
            return function(**{name: made}, **values)

        decorated: Callable[..., Any] = command
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def parse_target(on: str, sbatch: Sequence[str] = ()) -> AnyPlace:
    """Return the target, or the partition, that `--on` names.

    Raises:
        RunnerError: the target is unknown, or an option is for another kind of target.
    """
    kind, _, rest = on.partition(":")
    if sbatch and kind != "slurm":
        raise RunnerError(f"--sbatch {sbatch[0]}: it is for --on slurm:PARTITION, and this is --on {on}; leave it out")
    if on == "local":
        return Local()
    if kind == "ssh":
        try:
            return Ssh(tuple(rest.split(",")))
        except ValueError as error:
            raise RunnerError(f"--on {on}: {error}; a port or a key belongs in the ssh configuration") from None
    if on == "slurm":
        return own_job()
    if kind == "slurm":
        if not PARTITION.fullmatch(rest):
            raise RunnerError(f"--on {on}: {rest!r} is not the name of a partition; `sinfo` lists them")
        return Partition(rest, tuple(sbatch))
    forms = "it is local, ssh:HOST1,HOST2, slurm:PARTITION or, inside of a Slurm job, slurm"
    raise RunnerError(f"--on {on}: this target is unknown; {forms}")


def _pairs(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the keys and values of `key=value|value,key=value`.

    Raises:
        click.BadParameter: it has another form.
    """
    for key, equals, value in (pair.partition("=") for pair in BETWEEN_CHOICES.split(text)):
        if not key.strip() or not equals:
            raise click.BadParameter(f"{text!r} is not key=value,key=value; `show` prints the keys of a recipe")
        yield key.strip(), tuple(value.split("|"))


def _case_choices(
    _context: click.Context, _parameter: click.Parameter, given: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Read `--case`, given once or several times, each key once."""
    choices: dict[str, tuple[str, ...]] = {}
    for name, values in (pair for text in given for pair in _pairs(text)):
        if name in choices:
            known = "|".join(choices[name])
            what = f"--case {name}={'|'.join(values)}: it is {known} already"
            raise RunnerError(f"{what}; write several values as {name}={known}|...")
        choices[name] = values
    return choices


def _round(_context: click.Context, _parameter: click.Parameter, text: str) -> str:
    if len(text.strip()) > 40:
        raise click.BadParameter(f"{text!r} is longer than 40 characters; shorten it")
    return text.strip()


def _variables(_context: click.Context, _parameter: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    """Read `NAME=VALUE`, given once or several times."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not VARIABLE.fullmatch(name):
            raise click.BadParameter(f"{text!r} is not NAME=VALUE, with the name of an environment variable")
        if fault := secret_fault(name, value):
            raise RunnerError(f"--env {name}: it {fault}")
        found[name] = value
    return found


def _secrets(_context: click.Context, _parameter: click.Parameter, given: Sequence[str]) -> tuple[str, ...]:
    for name in given:
        if not VARIABLE.fullmatch(name):
            # The text may be a value that was meant to stay secret, so it is not repeated.
            raise click.BadParameter("it takes the name of an environment variable, without its value")
    return tuple(given)


def _share(_context: click.Context, _parameter: click.Parameter, text: str | None) -> float:
    """Read `2%` or `2` as 0.02."""
    try:
        share = 0.0 if text is None else float(text.strip().removesuffix("%")) / 100
    except ValueError:
        share = -1
    if not (0 < share < 1 or text is None):
        raise click.BadParameter(f"{text!r} is not a percentage between 0 and 100, such as 2%")
    return share


def _chosen(recipe: str, case: Choices) -> Chosen:
    loaded = recipes.load(recipes.find(recipe))
    return Chosen(loaded, tuple(select_cases(loaded, case)))


def _all_chosen(recipes: Sequence[str], case: Choices) -> tuple[Chosen, ...]:
    if repeated := [name for name in recipes if recipes.count(name) > 1]:
        raise RunnerError(f"recipe {repeated[0]}: it is named twice; --repeats says how often its cases run")
    return tuple(_chosen(name, case) for name in recipes)


case_option = click.option(
    "--case",
    multiple=True,
    callback=_case_choices,
    metavar="KEY=VALUE,...",
    help="Fix keys of the case, for example 'devices=8,batch_size=64|128'. May be repeated, each key once.",
)
case_options = _packed("chosen", _chosen, click.argument("recipe", metavar="RECIPE"), case_option)
series_options = _packed(
    "chosen", _all_chosen, click.argument("recipes", nargs=-1, required=True, metavar="RECIPE..."), case_option
)
work_option = click.option(
    "--work", default="", metavar="DIR", help="Folder of the sources on the hosts.  [default: ~/.perfledger/work]"
)
target_options = _packed(
    "target",
    parse_target,
    click.option(
        "--on",
        default="local",
        metavar="TARGET",
        show_default=True,
        help="local, ssh:HOST,..., slurm:PARTITION, or slurm inside of a job.",
    ),
    click.option(
        "--sbatch",
        multiple=True,
        metavar="ARG",
        help="Pass a further argument to sbatch, joined by =, as in --sbatch=--account=mine. May be repeated.",
    ),
)
container_option = click.option(
    "--container",
    type=click.Choice(["none", *CONTAINERS]),
    default="none",
    show_default=True,
    help="Run the recipe's image with this tool.",
)
site_option = click.option(
    "--site", default="", metavar="FILE", help="What the site adds.  [default: site.toml in this folder]"
)
settings_options = _packed(
    "settings",
    Settings,
    container_option,
    work_option,
    click.option("--data", default="", metavar="DIR", help="Folder of the data set on the hosts, an absolute path."),
    click.option(
        "--if-busy",
        type=click.Choice(get_args(IfBusy)),
        default="refuse",
        show_default=True,
        help="If another run measures on a host, or others use its GPUs: refuse the run; wait an hour at most; run; or "
        "run, and count it although it is disturbed. Busy processors do not refuse a run, and `wait` waits for them, "
        "too.",
    ),
    click.option(
        "--env",
        "variables",
        multiple=True,
        callback=_variables,
        metavar="NAME=VALUE",
        help="Set a variable for the command; it is recorded. May be repeated.",
    ),
    click.option(
        "--secret",
        "secrets",
        multiple=True,
        callback=_secrets,
        metavar="NAME",
        help="Pass on a variable of this shell; its name alone is recorded. May be repeated.",
    ),
)
raw_logs_option = click.option(
    "--raw-logs",
    type=click.Path(path_type=Path),
    default=Path("raw_logs"),
    metavar="DIR",
    show_default=True,
    help="Folder that runs are stored in.",
)
round_option = click.option(
    "--round", default="", callback=_round, metavar="NAME", help="Name of the benchmark round, for example 2026Q4."
)
repeats_options = _packed(
    "wanted",
    Wanted,
    click.option(
        "--repeats", type=click.IntRange(min=1), metavar="N", help="Runs of each case.  [default: the recipe's]"
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        metavar="N",
        help="Seed of the random order of the runs.  [default: a random one, which is printed]",
    ),
    click.option(
        "--until-ci",
        callback=_share,
        metavar="PERCENT",
        help="Repeat each case until its median is known to this, such as 2%, by its 95 % bootstrap interval.",
    ),
    click.option(
        "--max-repeats",
        type=click.IntRange(min=MANY),
        default=MOST_REPEATS,
        metavar="N",
        show_default=True,
        help="Repeats of a case at most, with --until-ci; earlier ones of the same round count.",
    ),
    click.option("--smoke", is_flag=True, help="Try each case once with few iterations; nothing of it is published."),
)
asked_options = _packed(
    "asked",
    Asked,
    series_options,
    target_options,
    repeats_options,
    settings_options,
    site_option,
    raw_logs_option,
    round_option,
)
check_options = _packed("asked", Asked, series_options, target_options, settings_options, site_option)
