"""The command line: `list`, `show`, `plan`, `check`, `run`, `setup`, `script`, `collect`, `export`.

Exit status: 0 all completed, 1 a run ended otherwise or is unfinished, 2 bad input or refused, 130 stopped.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import secrets
import shlex
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

import click
import msgspec
from msgspec import Struct, structs

from perfledger import as_called
from perfledger.runners import batch as batches
from perfledger.runners import plans
from perfledger.runners import recipe as recipes
from perfledger.runners import site as sites
from perfledger.runners.batch import COMPLETED, OTHERWISE, REFUSED, Batch
from perfledger.runners.command import IfBusy, Settings, build_run, setup_steps
from perfledger.runners.draft import init_recipe
from perfledger.runners.job import ContainerTool, PlannedRun, RunnerError, checked
from perfledger.runners.nodes import printable, set_up
from perfledger.runners.recipe import Choices, LaunchRecipe, RecipeCase, case_choices, select_cases
from perfledger.runners.record import case_figures, check_ingest, finished_runs, unfinished
from perfledger.runners.run import STOPPED, RunContext, Supervision, collect_run, complain, standalone, supervise
from perfledger.runners.targets import AnyTarget, parse_target, shown
from perfledger.runners.transport import UnreachableError
from perfledger.runners.wrappers import CONTAINERS
from perfledger.schema.figures import FiguresFound
from perfledger.schema.plans import EXAMPLE_DATA, PLANS_FOLDER

#: Repeats from which `ingest` draws an interval, and those that are made at most until it is narrow.
MANY, MOST_REPEATS = 5, 15
#: Iterations of a smoke run.
SMOKE_ITERATIONS = 5
#: Records that a smoke run prints at least.
SMOKE_RECORDS = 2
#: Between the choices of `--case`. A comma that no key follows is part of a value.
BETWEEN_CHOICES = re.compile(r",\s*(?=[A-Za-z_][A-Za-z0-9_]*\s*=)")
#: Between the values of one key; written twice it is a part of a value.
BETWEEN_VALUES = re.compile(r"(?<!\|)\|(?!\|)")

Chosen = tuple[LaunchRecipe, list[RecipeCase]]
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def main(words: Sequence[str]) -> int:
    """Run a command of the command line and return its exit status."""
    try:
        # Not `cli.main`, which would print an empty line when it is interrupted, and end with 1.
        with cli.make_context(as_called("python -m runners"), list(words)) as context:
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


class _Commands(click.Group):
    """A group that lists its commands in the order in which they are used."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; refuse one that moved."""
        if cmd_name == "submit":
            raise RunnerError("submit is a command of ingest now: python -m ingest submit FOLDER... --submitter NAME")
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they are written below."""
        return list(self.commands)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def cli() -> None:
    """Run training benchmarks on this machine, on hosts by SSH or through Slurm, and collect their raw logs.

    Exit status: 0 all runs completed; 1 a run ended otherwise, or is unfinished; 2 wrong input, or a host refused;
    130 stopped.
    """


def _pairs(text: str) -> dict[str, tuple[str, ...]]:
    """Split `key=value|value,key=value`.

    Raises:
        click.BadParameter: it has another form.
        RunnerError: a key stands there twice.
    """
    choices: dict[str, tuple[str, ...]] = {}
    for key, equals, value in (pair.partition("=") for pair in BETWEEN_CHOICES.split(text)):
        name = key.strip()
        if not name or not equals:
            raise click.BadParameter(f"{text!r} is not key=value,key=value; `show` prints the keys of a recipe")
        values = tuple(each.replace("||", "|") for each in BETWEEN_VALUES.split(value))
        _add_choice(choices, name, values)
    return choices


def _add_choice(choices: dict[str, tuple[str, ...]], name: str, values: tuple[str, ...]) -> None:
    if name in choices:
        known = "|".join(choices[name])
        raise RunnerError(
            f"--case {name}={'|'.join(values)}: it is {known} already; write several values as {name}={known}|..."
        )
    choices[name] = values


def _case_choices(
    _context: click.Context, _parameter: click.Parameter, given: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Read `--case`, given once or several times, each key once."""
    choices: dict[str, tuple[str, ...]] = {}
    for text in given:
        for name, values in _pairs(text).items():
            _add_choice(choices, name, values)
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
        if not equals or not recipes.VARIABLE.fullmatch(name):
            raise click.BadParameter(f"{text!r} is not NAME=VALUE, with the name of an environment variable")
        if fault := recipes.secret_fault(name, checked(value, f"--env {name}")):
            raise RunnerError(f"--env {name}: it {fault}")
        found[name] = value
    return found


def _secrets(_context: click.Context, _parameter: click.Parameter, given: Sequence[str]) -> tuple[str, ...]:
    for name in given:
        if not recipes.VARIABLE.fullmatch(name):
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


class Wanted(Struct, frozen=True):
    """How often cases run, and in which order; `repeats` None stands for the recipe's, `until_ci` 0 for no such aim."""

    repeats: int | None = None
    seed: int | None = None
    until_ci: float = 0
    max_repeats: int = MOST_REPEATS
    smoke: bool = False

    def __post_init__(self) -> None:
        """Refuse options that contradict each other."""
        if self.repeats and self.until_ci:
            raise RunnerError(
                "--repeats: with --until-ci the figures say how many are needed; leave one of the two out"
            )
        if self.smoke and (self.repeats or self.until_ci):
            raise RunnerError("--smoke: it tries each case once; leave --repeats and --until-ci out")

    def drawn(self) -> int:
        """Return the seed, a random one where none was stated."""
        return secrets.randbelow(2**32) if self.seed is None else self.seed

    def counts(self, series: Sequence[Batch], firsts: Sequence[PlannedRun]) -> dict[Path, int]:
        """Return the runs of each case, by its folder; with `until_ci` as many as give an interval at all."""
        own = {batch.recipe.name: batch.recipe.repeats for batch in series}
        fixed = 1 if self.smoke else MANY if self.until_ci else self.repeats
        return {run.folder.parent: fixed or own[run.record.recipe.name] for run in firsts}


def _packed(name: str, make: Callable[..., Any], *options: Decorator) -> Decorator:
    """Add options to a command and pass it, as `name`, what `make` returns for their values."""
    keys = tuple(inspect.signature(make).parameters)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def command(**values: Any) -> Any:
            made = make(**{key: values.pop(key) for key in keys})
            return function(**{name: made}, **values)

        decorated: Callable[..., Any] = command
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def _chosen(recipe: str, case: Choices) -> Chosen:
    loaded = recipes.load(recipes.find(recipe))
    return loaded, select_cases(loaded, case)


def _all_chosen(recipes: Sequence[str], case: Choices) -> list[Chosen]:
    if repeated := [name for name in recipes if recipes.count(name) > 1]:
        raise RunnerError(f"recipe {repeated[0]}: it is named twice; --repeats says how often its cases run")
    return [_chosen(name, case) for name in recipes]


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
        "--on", default="local", metavar="TARGET", show_default=True, help="local, ssh:HOST,... or slurm:PARTITION."
    ),
    click.option("--ssh-config", default="", metavar="FILE", help="Use this ssh configuration instead of your own."),
    click.option(
        "--sbatch",
        multiple=True,
        metavar="ARG",
        help="Pass a further argument to sbatch, joined by =, as in --sbatch=--account=mine. May be repeated.",
    ),
)


def _settings(
    container: ContainerTool | Literal["none"],
    work: str,
    data: str,
    if_busy: IfBusy,
    variables: dict[str, str],
    secrets: tuple[str, ...],
) -> Settings:
    return Settings(container, work, data, if_busy, variables, secrets)


container_option = click.option(
    "--container",
    type=click.Choice(["none", *CONTAINERS]),
    default="none",
    show_default=True,
    help="Run the recipe's image with this tool.",
)
site_option = click.option(
    "--site", default="", metavar="FILE", help="What the site adds.  [default: site.toml beside the recipe]"
)
settings_options = _packed(
    "settings",
    _settings,
    container_option,
    work_option,
    click.option("--data", default="", metavar="DIR", help="Folder of the data set on the hosts, an absolute path."),
    click.option(
        "--if-busy",
        type=click.Choice(get_args(IfBusy)),
        default="refuse",
        show_default=True,
        help="On a host that others use: refuse the run; wait an hour at most; run, and leave it out of results; or "
        "run, and count it.",
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


cli.add_command(init_recipe)


@cli.command("list")
def list_recipes() -> int:
    """List the recipes.

    Each line has name, device, launcher and title.
    """
    return _print(_recipe_list())


@cli.command()
@case_options
@settings_options
def show(chosen: Chosen, settings: Settings) -> int:
    """Show a recipe: what it needs, its cases.

    Each case is shown with its command and with the --case that chooses it. RECIPE is a name that `list` prints, or a
    .toml file.
    """
    _print(_describe(*chosen, structs.replace(settings, data=settings.data or EXAMPLE_DATA)))
    # After the description, which a Python without what `ingest` needs can print, too.
    check_ingest({chosen[0].name: chosen[0].records.format})
    return COMPLETED


@cli.command()
@series_options
@target_options
@repeats_options
@settings_options
@site_option
@raw_logs_option
@round_option
@click.option("--scripts", is_flag=True, help="Also print, for each case, what its nodes are sent, as JSON.")
def plan(
    chosen: list[Chosen],
    target: AnyTarget,
    wanted: Wanted,
    settings: Settings,
    site: str,
    raw_logs: Path,
    round: str,
    scripts: bool,
) -> int:
    """Show what `run` would start.

    Print the command of each case, the order of the runs, and how long they may take; contact no host. RECIPE is a
    name that `list` prints, or a .toml file.
    """
    series, target = _series(chosen, settings, raw_logs, round, wanted, target, site)
    return _plan(series, target, wanted, scripts)


@cli.command()
@series_options
@target_options
@settings_options
@site_option
def check(chosen: list[Chosen], target: AnyTarget, settings: Settings, site: str) -> int:
    """Check hosts for a run, and start nothing.

    It makes the checks that come before each run (container tool, GPUs, sources, programs, packages, space, load), for
    each case that needs others. RECIPE is a name that `list` prints, or a .toml file.
    """
    series, target = _series(chosen, settings, Path("raw_logs"), "", Wanted(), target, site)
    check_ingest({recipe.name: recipe.records.format for recipe, _ in chosen})
    _warn_of_unpinned(recipe for recipe, _ in chosen)
    return _check(batches.first_runs_of(series), target)


@cli.command()
@series_options
@target_options
@repeats_options
@settings_options
@site_option
@raw_logs_option
@round_option
@click.option("--resume", is_flag=True, help="Finish the runs that were begun, then add those that are missing.")
def run(
    chosen: list[Chosen],
    target: AnyTarget,
    wanted: Wanted,
    settings: Settings,
    site: str,
    raw_logs: Path,
    round: str,
    resume: bool,
) -> int:
    """Run recipes and collect their logs.

    All of their cases run in random order, or those that --case chooses. RECIPE is a name that `list` prints, or a
    .toml file.
    """
    series, target = _series(chosen, settings, raw_logs, round, wanted, target, site)
    check_ingest({recipe.name: recipe.records.format for recipe, _ in chosen})
    _warn_of_unpinned(recipe for recipe, _ in chosen)
    _announce(series, wanted, resume)
    return _repeat(series, target, wanted, resume)


@cli.command()
@click.argument("chosen", nargs=-1, required=True, metavar="RECIPE...")
@target_options
@container_option
@work_option
@site_option
def setup(
    chosen: tuple[str, ...], target: AnyTarget, container: ContainerTool | Literal["none"], work: str, site: str
) -> int:
    """Install what recipes need.

    The steps of each run in a Python environment of its own below --work, or in its image with --container, on all
    hosts at the same time, one recipe after the other; Ctrl-C ends them. RECIPE is a name that `list` prints, or a
    .toml file.
    """
    loaded = [recipes.load(recipes.find(name)) for name in dict.fromkeys(chosen)]
    at_site = [_at_site(each, Settings(container, work), target, site) for each in loaded]
    steps = [setup_steps(each, settings) for each, (settings, _) in zip(loaded, at_site, strict=True)]
    _warn_of_unpinned(loaded)
    failures = []
    for each, (_, there), wanted in zip(loaded, at_site, steps, strict=True):
        try:
            set_up(there.places("cpu"), wanted)
        except RunnerError as error:  # the other recipes do not need this one
            failures.append(f"recipe {each.name}: {error}")
    if failures:
        raise RunnerError("\n".join(failures))
    return COMPLETED


@cli.command()
@case_options
@settings_options
@click.option("--host", default="", metavar="NAME", help="The host of the site file that the case is for.")
@site_option
@raw_logs_option
@round_option
@click.option(
    "-o", "--output", required=True, metavar="FILE", type=click.Path(path_type=Path), help="The file to write."
)
def script(chosen: Chosen, settings: Settings, host: str, site: str, raw_logs: Path, round: str, output: Path) -> int:
    """Write one case into a file that Python runs, such as job.pyz.

    The file is for a host that cannot be reached from here and has Python 3.6 or newer: run it there with `python3`,
    copy the folder that it makes to --raw-logs here, and `collect` it. RECIPE is a name that `list` prints, or a .toml
    file.
    """
    recipe, cases = chosen
    if len(cases) > 1:
        choices = "\n".join(f"  --case {_case_option(recipe, case)}" for case in cases)
        raise RunnerError(f"recipe {recipe.name}: a script is of one case, and these are {len(cases)}:\n{choices}")
    if host:
        settings, _ = _at_site(recipe, settings, parse_target(f"ssh:{host}"), site)
    elif site:
        raise RunnerError(f"--site {site}: a script is for another host than this one; name it with --host, too")
    (one,) = _batch(chosen, settings, raw_logs, round).first_runs()
    try:
        output.write_bytes(standalone(one))
    except OSError as error:
        raise RunnerError(f"{output}: it cannot be written: {error.strerror}; name another file with -o") from error
    return COMPLETED


@cli.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDER]...")
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
    found = [folder for below in folders or (raw_logs,) for folder in _unfinished(below)]
    wanted = ("completed", "stopped") if stop else ("completed",)
    worst = COMPLETED
    with supervise(len(found)) as supervision:
        for folder in found:
            if supervision.signals.count:
                return STOPPED
            try:
                outcome = collect_run(folder, supervision, abandon, stop)
            except RunnerError as error:
                complain(error)
                worst = REFUSED
                continue
            worst = max(worst, COMPLETED if outcome in wanted else OTHERWISE)
    return worst


@cli.command()
@click.argument("chosen", nargs=-1, metavar="[RECIPE]...")
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    default=Path("raw_logs") / PLANS_FOLDER,
    metavar="DIR",
    show_default=True,
    help="Folder that the plans are written to.",
)
def export(chosen: tuple[str, ...], to: Path) -> int:
    """Write recipes as plans, which the pages show.

    A plan lists the cases of a recipe with their commands. `python -m ingest` reads those in the folder `plans` beside
    the logs: pages then say how to make each case, and which were not run yet. RECIPE is a name that `list` prints, or
    a .toml file; without any, all that `list` prints are written.
    """
    loaded = [recipes.load(recipes.find(name)) for name in chosen or recipes.names()]
    return _print(f"{path}" for path in plans.write(loaded, to))


def _print(lines: Iterator[str]) -> int:
    for line in lines:
        print(line)
    return COMPLETED


def _at_site(recipe: LaunchRecipe, settings: Settings, target: AnyTarget, file: str) -> tuple[Settings, AnyTarget]:
    """Return settings and target with what the site adds for a recipe."""
    found = sites.find(file, recipe.folder)
    kind, names = target.site_names()
    place = found.of(kind, names)
    return settings.at(place, recipe), target.at_site(found.addresses(names), place.sbatch)


def _batch(chosen: Chosen, settings: Settings, raw_logs: Path, round: str) -> Batch:
    recipe, cases = chosen
    return Batch(recipe=recipe, cases=tuple(cases), settings=settings, raw_logs=raw_logs, round=round)


def _warn_of_unpinned(loaded: Iterable[LaunchRecipe]) -> None:
    """Say which recipes fetch sources without naming their commit."""
    for recipe in loaded:
        if recipe.source.folder and recipe.source.repository and not recipe.source.commit:
            where = f"recipe {recipe.name}: it names no commit of {recipe.source.repository}"
            print(f"{where}, so what it runs may change; run.json records the one that ran", file=sys.stderr)


def _series(
    chosen: Sequence[Chosen],
    settings: Settings,
    raw_logs: Path,
    round: str,
    wanted: Wanted,
    target: AnyTarget,
    site: str,
) -> tuple[list[Batch], AnyTarget]:
    """Return what is to run of each recipe, and where; the seed of the order is drawn here, so that all runs record it.

    Raises:
        RunnerError: the sites beside the recipes make two targets of one.
    """
    seed = wanted.drawn()
    at_sites = [_at_site(recipe, settings, target, site) for recipe, _ in chosen]
    if any(each != at_sites[0][1] for _, each in at_sites):
        raise RunnerError("the site files beside these recipes differ in addresses or sbatch; name one with --site")
    found = [_batch(each, own, raw_logs, round) for each, (own, _) in zip(chosen, at_sites, strict=True)]
    series = [structs.replace(_smoke(batch) if wanted.smoke else batch, order_seed=seed) for batch in found]
    return series, at_sites[0][1]


def _smoke(batch: Batch) -> Batch:
    """Return a batch whose cases have few iterations each."""
    recipe = batch.recipe
    few = max(SMOKE_ITERATIONS, -(-SMOKE_RECORDS * recipe.iterations // recipe.records.at_least))
    cases = {
        case.slug: case
        for each in batch.cases
        for case in select_cases(
            recipe, {**case_choices(recipe, each), "iterations": str(min(few, int(each.slots["iterations"])))}
        )
    }
    return structs.replace(batch, cases=tuple(cases.values()), smoke=True)


def _plan(series: Sequence[Batch], target: AnyTarget, wanted: Wanted, with_jobs: bool = False) -> int:
    firsts, runs = _runs(series, wanted)
    target = target.for_series(runs, _cool_down(series))
    # Whole before it is printed: what cannot run is refused, not listed.
    return _print(iter([*_plan_lines(firsts, runs, target, with_jobs), *_order_lines(series, runs, wanted)]))


def _runs(series: Sequence[Batch], wanted: Wanted) -> tuple[list[PlannedRun], list[PlannedRun]]:
    """Return the first run of each case, and all runs in their order."""
    firsts = batches.first_runs_of(series)
    return firsts, batches.order(firsts, wanted.counts(series, firsts), _seed(series))


def _seed(series: Sequence[Batch]) -> int:
    return next(batch.order_seed for batch in series if batch.order_seed is not None)


def _announce(series: Sequence[Batch], wanted: Wanted, resume: bool) -> None:
    """Say how many runs there will be and how long they may take, before a person waits for hours by mistake."""
    firsts, runs = _runs(series, wanted)
    if wanted.until_ci:
        # Earlier runs count, so that there may be fewer than `plan` says, or none.
        print(f"{_counted(len(firsts), 'case')}, until {_aim(wanted)}", flush=True)
    elif len(runs) > 1 and not resume:
        print(_time(runs, _cool_down(series)), flush=True)


def _check(firsts: Sequence[PlannedRun], target: AnyTarget) -> int:
    """Check the hosts once for all cases that ask the same of them; return 2 where one is refused."""
    asked: dict[bytes, PlannedRun] = {}
    for first in firsts:
        spec = structs.replace(first.spec, command=first.spec.command[:1], variables={}, files={})
        asked.setdefault(msgspec.json.encode(spec), first)
    worst = COMPLETED
    for each in asked.values():
        try:
            warnings = target.check(each)
        except UnreachableError:
            raise
        except RunnerError as error:
            complain(RunnerError(f"{each.folder.parent.name}: {error}"))
            worst = REFUSED
            continue
        for warning in (*warnings.warnings, *warnings.disturbances):
            print(f"{each.folder.parent.name}: warning: {printable(warning)}")
        hosts = ", ".join(target.public_names()[: each.spec.nodes])
        print(f"{each.folder.parent.name}: can run{' on ' + hosts if hosts else ''}")
    return worst


def _repeat(series: Sequence[Batch], target: AnyTarget, wanted: Wanted, resume: bool) -> int:
    """Run the cases as often as is wanted; with `resume` what is missing of it."""
    # Before earlier runs are waited for: a case that cannot run is refused at once.
    firsts = batches.first_runs_of(series)
    settled: dict[Path, int] = {}
    if resume:
        with supervise(len(batches.unfinished_of(firsts))) as supervision:
            status, others = batches.finish_earlier(firsts, supervision)
        if status:
            return status
        settled = batches.settled_counts(firsts, target, others)
    seed = _seed(series)
    fixed = batches.order(firsts, wanted.counts(series, firsts), seed, settled)
    if not fixed and not wanted.until_ci:
        print("nothing is left to run")
        return COMPLETED
    if len(fixed) > 1:
        print(f"in random order, seed {seed}", flush=True)
    pause_seconds = _cool_down(series)
    with supervise(None if wanted.until_ci else len(fixed)) as supervision:
        runs: Iterable[PlannedRun] = fixed
        refused = set[Path]()
        if wanted.until_ci:
            aim = batches.Aim(half_width=wanted.until_ci, most=wanted.max_repeats)
            _read_figures(firsts, supervision)
            earlier = batches.earlier_numbers(firsts, target)
            runs = batches.until_narrow(firsts, aim, seed, supervision.figures, earlier, refused)
        most = [run for run in firsts for _ in range(wanted.max_repeats)] if wanted.until_ci else fixed
        with _series_on(target, most, pause_seconds) as place:
            status = batches.run_all(
                runs, pause_seconds, RunContext(place, supervision, series[0].settings.if_busy == "wait"), refused
            )
    for line in _result_lines(firsts, supervision.figures):
        print(line)
    if wanted.smoke and status == COMPLETED:
        print("every case ran; leave --smoke out to measure")
    return status


def _cool_down(series: Sequence[Batch]) -> int:
    return max(batch.recipe.cool_down_seconds for batch in series)


@contextmanager
def _series_on(target: AnyTarget, runs: Sequence[PlannedRun], cool_down_seconds: int) -> Iterator[AnyTarget]:
    """Yield the target for a series of runs, and give back what it holds for them at the end."""
    place = target.for_series(runs, cool_down_seconds)
    try:
        yield place
    finally:
        place.release()


def _read_figures(firsts: Sequence[PlannedRun], supervision: Supervision) -> None:
    """Look up what earlier runs give, which count towards the interval of their case."""
    for folder in (run.folder.parent for run in firsts if finished_runs(run.folder.parent)):
        supervision.figures[folder] = case_figures(folder)


def _result_lines(firsts: Sequence[PlannedRun], figures: Mapping[Path, FiguresFound]) -> Iterator[str]:
    """Yield a table of the cases that ran, against the last round where there is one, and what to do next."""
    rows = [_result_row(run.folder.parent, figures.get(run.folder.parent)) for run in firsts]
    if not any(rows):
        return
    heads = ["case", "repeats", "median", "95 % interval", "spread", "last round"]
    yield ""
    yield from _aligned([heads, *filter(None, rows)])
    raw_logs = firsts[0].folder.parents[3]
    yield as_called(f"\nnext: python -m ingest build {shlex.quote(str(raw_logs))} writes the site")


def _result_row(folder: Path, found: FiguresFound | None) -> list[str]:
    current = batches.current_figure(found)
    if found is None or current is None or not current.value:
        return []
    low, high = current.interval or (0.0, 0.0)
    before = batches.earlier_figure(found, current)
    change = "" if before is None or not before.value else f"{100 * (current.value / before.value - 1):+.1f} %"
    named = "" if before is None else before.round or before.version or "without a round"
    return [
        f"{folder.parent.name}/{folder.name}",
        str(current.repeats),
        f"{current.value:.4g} {current.unit}",
        f"{low:.4g} to {high:.4g}" if current.interval else f"from {MANY} repeats on",
        "" if current.spread is None else f"{100 * current.spread:.1f} %",
        f"{change} ({named})" if change else "",
    ]


def _unfinished(below: Path) -> list[Path]:
    if not below.is_dir():
        raise RunnerError(f"{below}: there is no such folder; name that of a run, or one above it")
    found = unfinished(below)
    if not found:
        print(f"{below}: nothing there is unfinished")
    return found


# --- What `list`, `show` and `plan` print -----------------------------------------------------------------------------


def _recipe_list() -> Iterator[str]:
    """Yield the recipes shipped, by the folder they lie in: name, device, launcher, title."""
    loaded = {path: recipes.load(path) for path in map(recipes.find, recipes.names())}
    rows = {path: (each.name, each.device, each.launcher.name, each.title) for path, each in loaded.items()}
    widths = [max(len(row[column]) for row in rows.values()) for column in range(3)]
    # What ran once comes last.
    for folder in sorted({path.parent for path in rows}, key=lambda path: ("archive" in path.parts, path)):
        yield f"{folder.relative_to(recipes.FOLDER.parent)}:"
        for row in (row for path, row in rows.items() if path.parent == folder):
            cells = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
            yield "  ".join(["", *cells, row[-1]])


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows as lines, with the cells of a column below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _describe(recipe: LaunchRecipe, cases: Sequence[RecipeCase], settings: Settings) -> Iterator[str]:
    """Yield what a recipe needs, and its cases with the command of each."""
    yield f"{recipe.name}: {recipe.title}"
    yield f"suite {recipe.suite}: {recipe.model} in {recipe.framework}, on {recipe.device}"
    yield f"{recipe.repeats} repeats, at most {recipe.timeout_seconds} s each, {recipe.cool_down_seconds} s apart"
    records = recipe.records
    yield f"{records.at_least} records of format {records.format} must be in the log of the {records.node} node"
    yield from _requirements(recipe)
    for text in filter(None, (recipe.notes, recipe.setup.text)):
        yield f"\n{text}"
    if recipe.setup.lock:
        yield f"  $ python -m pip install --require-hashes -r {recipe.setup.lock}"
    for step in recipe.setup.steps:
        yield f"  $ {step}"
    for case in cases:
        run = build_run(recipe, case, Path("raw_logs"), settings)
        yield f"\n{case.slug}\n  --case {_case_option(recipe, case)}\n  {_command_line(run)}"


def _requirements(recipe: LaunchRecipe) -> Iterator[str]:
    source, image = recipe.source, recipe.container
    if source.repository:
        folder = f", in {source.folder} below --work" if source.folder else ""
        pinned = source.commit or ("at no stated commit" if source.folder else "")
        yield f"source {source.repository} {pinned}".rstrip() + folder
    if image:
        yield f"image {image.image} {image.digest}".rstrip()
    if recipe.setup.packages:
        yield f"{recipe.setup.python} with {', '.join(recipe.setup.packages)}"
    data = recipe.data
    if stated := ", ".join(filter(None, (data.name, data.address, data.checksum))):
        yield f"data {stated}"
    if data.layout:
        yield f"in {data.below}: {', '.join(data.layout)}"


def _case_option(recipe: LaunchRecipe, case: RecipeCase) -> str:
    """Return the value of `--case` that gives exactly this case, quoted for a shell."""
    choices = case_choices(recipe, case).items()
    return shlex.quote(",".join(f"{key}={value.replace('|', '||')}" for key, value in choices))


def _command_line(run: PlannedRun) -> str:
    return plans.command_text(run.record.environment_variables, run.record.argv)


def _plan_lines(
    firsts: Sequence[PlannedRun], runs: Sequence[PlannedRun], target: AnyTarget, with_jobs: bool
) -> Iterator[str]:
    """Yield what each case executes, and the runs in their order; contacts no host.

    Raises:
        RunnerError: the target or the settings do not allow a case.
    """
    places: set[str] = set()
    for run in firsts:
        if (place := shown(target, run)) not in places:
            places.add(place)
            yield place
        yield f"{run.folder.parent.name} runs\n  {_command_line(run)}\n"
        if with_jobs:
            yield f"by this job:\n{msgspec.json.format(msgspec.json.encode(run.spec), indent=2).decode()}\n"
    for number, run in enumerate(runs, start=1):
        yield f"[{number}/{len(runs)}] {run.folder}"


def _order_lines(series: Sequence[Batch], runs: Sequence[PlannedRun], wanted: Wanted) -> Iterator[str]:
    """Yield how long the runs may take, and what their order and their number depend on."""
    yield f"\n{_time(runs, _cool_down(series))}"
    if len(runs) > 1:
        given = f"by --seed {wanted.seed}" if wanted.seed is not None else "another one each time without --seed"
        yield f"in random order, {given}"
    if wanted.until_ci:
        yield f"and on, until {_aim(wanted)}"


def _aim(wanted: Wanted) -> str:
    return f"half the interval is {100 * wanted.until_ci:g} % of the median, with {wanted.max_repeats} repeats at most"


def _time(runs: Sequence[PlannedRun], cool_down_seconds: int) -> str:
    """Return how long runs take: by the median of each case's completed runs, or by the timeout, as an upper bound."""
    medians = {run.folder.parent: _median_seconds(run) for run in runs}
    known = [medians[run.folder.parent] for run in runs]
    seconds = sum(run.spec.timeout_seconds if each is None else each for run, each in zip(runs, known, strict=True))
    time = _duration(seconds + cool_down_seconds * max(len(runs) - 1, 0))
    text = f"{_counted(len(runs), 'run')} of {_counted(len(medians), 'case')}"
    unknown = known.count(None)
    if not unknown:
        return f"{text}, about {time}, by the median of each case's earlier runs"
    if all(run.record.smoke for run in runs):
        longest = _duration(max(run.spec.timeout_seconds for run in runs))
        return f"{text} with few iterations each; one that takes longer than {longest} is stopped"
    return f"{text}, at most {time}: for {'all' if unknown == len(runs) else unknown} of them only the timeout is known"


def _median_seconds(planned: PlannedRun) -> float | None:
    """Return how long completed runs of a case took; those of other iterations, such as trials, tell nothing."""
    iterations = planned.record.recipe.case.get("iterations")
    found = [
        run.wall_seconds
        for run in finished_runs(planned.folder.parent)
        if run.outcome == "completed" and run.wall_seconds > 0 and run.recipe.case.get("iterations") == iterations
    ]
    return statistics.median(found) if found else None


def _counted(count: int, what: str) -> str:
    """Return `1 run`, `2 runs`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def _duration(seconds: float) -> str:
    """Return hours and minutes, rounded up."""
    hours, minutes = divmod(math.ceil(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
