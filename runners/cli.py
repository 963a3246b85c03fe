"""The command line: `list`, `show`, `plan`, `run`, `setup`, `script`, `collect`, `export`.

Exit status: 0 all completed, 1 a run ended otherwise or is unfinished, 2 bad input or refused, 130 stopped.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import shlex
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec import structs

from runners import batch as batches
from runners import plans
from runners import recipe as recipes
from runners.batch import COMPLETED, OTHERWISE, REFUSED, Batch, find_max_batch, smallest_sizes
from runners.command import CONTAINERS, Settings, build_run
from runners.job import PlannedRun, RunnerError
from runners.nodes import set_up
from runners.recipe import Choices, LaunchRecipe, RecipeCase, case_choices, select_cases
from runners.record import check_ingest, finished_runs, unfinished
from runners.run import STOPPED, RunContext, collect_run, complain, standalone, supervise
from runners.transport import AnyTarget, parse_target
from schema.plans import EXAMPLE_DATA, PLANS_FOLDER

PATIENCE_SECONDS = 300
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
        with cli.make_context("python -m runners", list(words)) as context:
            return int(cli.invoke(context) or COMPLETED)
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


def _without(
    _context: click.Context, _parameter: click.Parameter, given: Sequence[str]
) -> list[dict[str, tuple[str, ...]]]:
    """Read `--without`, each time one combination of values."""
    return [_pairs(text) for text in given]


def _round(_context: click.Context, _parameter: click.Parameter, text: str) -> str:
    if len(text.strip()) > 40:
        raise click.BadParameter(f"{text!r} is longer than 40 characters; shorten it")
    return text.strip()


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


def _chosen(recipe: str, case: Choices, without: Sequence[Choices]) -> Chosen:
    loaded = recipes.load(recipes.find(recipe))
    return loaded, select_cases(loaded, case, without)


recipe_argument = click.argument("recipe", metavar="RECIPE")
case_options = _packed(
    "chosen",
    _chosen,
    recipe_argument,
    click.option(
        "--case",
        multiple=True,
        callback=_case_choices,
        metavar="KEY=VALUE,...",
        help="Fix keys of the case, for example 'devices=8,batch_size=64|128'. May be repeated, each key once.",
    ),
    click.option(
        "--without",
        multiple=True,
        callback=_without,
        metavar="KEY=VALUE,...",
        help="Leave out the cases that have all of these values. May be repeated.",
    ),
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
settings_options = _packed(
    "settings",
    Settings,
    click.option(
        "--container",
        type=click.Choice(["none", *CONTAINERS]),
        default="none",
        show_default=True,
        help="Run the recipe's image with this tool.",
    ),
    work_option,
    click.option("--data", default="", metavar="DIR", help="Folder of the data set on the hosts, an absolute path."),
    click.option("--even-if-busy", is_flag=True, help="Start even on a GPU that others use."),
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
repeats_option = click.option(
    "--repeats", type=click.IntRange(min=1), metavar="N", help="Runs of each case.  [default: the recipe's]"
)


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
    return _print(_describe(*chosen, structs.replace(settings, data=settings.data or EXAMPLE_DATA)))


@cli.command()
@case_options
@target_options
@repeats_option
@settings_options
@raw_logs_option
@round_option
@click.option("--scripts", is_flag=True, help="Also print, for each case, what its nodes are sent, as JSON.")
def plan(
    chosen: Chosen,
    target: AnyTarget,
    settings: Settings,
    repeats: int | None,
    raw_logs: Path,
    round: str,
    scripts: bool,
) -> int:
    """Show what `run` would start.

    Print the command of each case, the order of the runs, and how long they may take; contact no host. RECIPE is a
    name that `list` prints, or a .toml file.
    """
    return _plan(_batch(chosen, settings, raw_logs, round), target, repeats, scripts)


@cli.command()
@case_options
@target_options
@repeats_option
@settings_options
@raw_logs_option
@round_option
@click.option("--dry-run", is_flag=True, help="Start nothing; print what `plan` prints.")
@click.option("--resume", is_flag=True, help="Finish the runs that were begun, then add those that are missing.")
@click.option("--find-max-batch", is_flag=True, help="Search the largest batch size of each case; no repeats.")
@click.option(
    "--patience",
    type=click.IntRange(min=0),
    default=PATIENCE_SECONDS,
    metavar="SECONDS",
    show_default=True,
    help="How long a host may be unreachable before its run is left unfinished.",
)
def run(
    chosen: Chosen,
    target: AnyTarget,
    settings: Settings,
    repeats: int | None,
    raw_logs: Path,
    round: str,
    dry_run: bool,
    resume: bool,
    find_max_batch: bool,
    patience: int,
) -> int:
    """Run a recipe and collect its logs.

    All of its cases run, or those that --case chooses. RECIPE is a name that `list` prints, or a .toml file.
    """
    if find_max_batch and repeats:
        raise RunnerError("--repeats: with --find-max-batch each batch size runs once; leave one of the two out")
    batch = _batch(chosen, settings, raw_logs, round)
    if dry_run:
        return _dry_run(batch, target, repeats, resume, find_max_batch)
    check_ingest({batch.recipe.name: batch.recipe.records.format})
    if find_max_batch:
        return _search(batch, target, resume, patience)
    return _repeat(batch, target, repeats or batch.recipe.repeats, resume, patience)


@cli.command()
@recipe_argument
@target_options
@work_option
def setup(recipe: str, target: AnyTarget, work: str) -> int:
    """Run the setup steps of a recipe.

    They run on all hosts at the same time; Ctrl-C ends them. RECIPE is a name that `list` prints, or a .toml file.
    """
    loaded = recipes.load(recipes.find(recipe))
    if not loaded.setup.steps:
        raise RunnerError(f"recipe {loaded.name}: it has no setup steps; `show` says in words what it needs")
    set_up(target.places("cpu"), loaded.setup.steps, work)
    return COMPLETED


@cli.command()
@case_options
@settings_options
@raw_logs_option
@round_option
def script(chosen: Chosen, settings: Settings, raw_logs: Path, round: str) -> int:
    """Print one case as a Python file.

    The file is for a host that cannot be reached from here and has Python 3.6 or newer: run it there with `python3`,
    copy the folder that it makes to --raw-logs here, and `collect` it. RECIPE is a name that `list` prints, or a .toml
    file.
    """
    recipe, cases = chosen
    if len(cases) > 1:
        choices = "\n".join(f"  --case {_case_option(recipe, case)}" for case in cases)
        raise RunnerError(f"recipe {recipe.name}: a script is of one case, and these are {len(cases)}:\n{choices}")
    (one,) = _batch(chosen, settings, raw_logs, round).first_runs()
    print(standalone(one), end="")
    return COMPLETED


@cli.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDER]...")
@raw_logs_option
@click.option(
    "--abandon",
    is_flag=True,
    help="Stop what still runs, and finish as failed what cannot be reached, with the files that are here.",
)
def collect(folders: tuple[Path, ...], raw_logs: Path, abandon: bool) -> int:
    """Finish runs that were left unfinished.

    FOLDER is that of an unfinished run, or one above it; without any, all below --raw-logs are finished.
    """
    found = [folder for below in folders or [raw_logs] for folder in _unfinished(below)]
    worst = COMPLETED
    with supervise(len(found), 0) as supervision:
        for folder in found:
            if supervision.signals.count:
                return STOPPED
            try:
                outcome = collect_run(folder, supervision, abandon)
            except RunnerError as error:
                complain(error)
                worst = REFUSED
                continue
            worst = max(worst, COMPLETED if outcome == "completed" else OTHERWISE)
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


def _batch(chosen: Chosen, settings: Settings, raw_logs: Path, round: str) -> Batch:
    recipe, cases = chosen
    return Batch(recipe=recipe, cases=tuple(cases), settings=settings, raw_logs=raw_logs, round=round)


def _plan(batch: Batch, target: AnyTarget, repeats: int | None, with_jobs: bool = False) -> int:
    runs = batches.order(batch.first_runs(), repeats or batch.recipe.repeats)
    # Whole before it is printed: what cannot run is refused, not listed.
    return _print(iter([*_plan_lines(batch, runs, target, with_jobs)]))


def _dry_run(batch: Batch, target: AnyTarget, repeats: int | None, resume: bool, find_max_batch: bool) -> int:
    if find_max_batch:
        # The first size of each case; the others follow from its outcome.
        _plan(structs.replace(batch, cases=tuple(smallest_sizes(batch.recipe, batch.cases))), target, 1)
        print("each of them once, then with other batch sizes, until the largest that completes is found")
    else:
        _plan(batch, target, repeats)
    if resume:
        print("--resume leaves out what has completed on the hardware of these hosts, which a plan does not ask")
    return COMPLETED


def _repeat(batch: Batch, target: AnyTarget, repeats: int, resume: bool, patience: int) -> int:
    """Run the matrix `repeats` times over; with `resume` what is missing of it."""
    # Before earlier runs are waited for: a case that cannot run is refused at once.
    firsts = batch.first_runs()
    settled: dict[str, int] = {}
    if resume:
        with supervise(len(batches.unfinished_of(firsts)), patience) as supervision:
            status, others = batches.finish_earlier(firsts, supervision)
        if status:
            return status
        settled = batches.settled_counts(firsts, target, others)
    runs = batches.order(firsts, repeats, settled)
    if not runs:
        print("nothing is left to run")
    with supervise(len(runs), patience) as supervision:
        return batches.run_all(runs, batch.recipe.cool_down_seconds, RunContext(target, supervision))


def _search(batch: Batch, target: AnyTarget, resume: bool, patience: int) -> int:
    with supervise(None, patience) as supervision:
        return find_max_batch(batch, RunContext(target, supervision), resume)


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
    for folder in sorted({path.parent for path in rows}):
        yield f"{folder.relative_to(recipes.FOLDER.parent)}:"
        for row in (row for path, row in rows.items() if path.parent == folder):
            cells = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
            yield "  ".join(["", *cells, row[-1]])


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
    for step in recipe.setup.steps:
        yield f"  $ {step}"
    for case in cases:
        run = build_run(recipe, case, Path("raw_logs"), settings)
        yield f"\n{case.slug}\n  --case {_case_option(recipe, case)}\n  {_command_line(run)}"


def _requirements(recipe: LaunchRecipe) -> Iterator[str]:
    source, image = recipe.source, recipe.container
    if source.repository:
        folder = f", in {source.folder} below --work" if source.folder else ""
        yield f"source {source.repository} {source.commit}".rstrip() + folder
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


def _plan_lines(batch: Batch, runs: Sequence[PlannedRun], target: AnyTarget, with_jobs: bool) -> Iterator[str]:
    """Yield what each case executes, the runs in their order, and how long they may take; contacts no host.

    Raises:
        RunnerError: the target or the settings do not allow a case.
    """
    started_by: list[str] = []
    firsts: dict[Path, PlannedRun] = {}
    for run in runs:
        firsts.setdefault(run.folder.parent, run)
    for run in firsts.values():
        if (commands := target.commands(run)) != started_by:
            started_by = commands
            yield from ["started by", *(f"  {line}" for line in commands)]
        yield f"{run.folder.parent.name} runs\n  {_command_line(run)}\n"
        if with_jobs:
            yield f"by this job:\n{msgspec.json.format(msgspec.json.encode(run.spec), indent=2).decode()}\n"
    for number, run in enumerate(runs, start=1):
        yield f"[{number}/{len(runs)}] {run.folder}"
    yield f"\n{_time(runs, batch.recipe.cool_down_seconds)}"


def _time(runs: Sequence[PlannedRun], cool_down_seconds: int) -> str:
    """Return how long runs take: by the median of each case's completed runs, or by the timeout, as an upper bound."""
    medians = {run.folder.parent: _median_seconds(run.folder.parent) for run in runs}
    known = [medians[run.folder.parent] for run in runs]
    seconds = sum(run.spec.timeout_seconds if each is None else each for run, each in zip(runs, known, strict=True))
    time = _duration(seconds + cool_down_seconds * max(len(runs) - 1, 0))
    text = f"{_counted(len(runs), 'run')} of {_counted(len(medians), 'case')}"
    unknown = known.count(None)
    if not unknown:
        return f"{text}, about {time}, by the median of each case's earlier runs"
    return f"{text}, at most {time}: for {'all' if unknown == len(runs) else unknown} of them only the timeout is known"


def _median_seconds(folder: Path) -> float | None:
    found = [run.wall_seconds for run in finished_runs(folder) if run.outcome == "completed" and run.wall_seconds > 0]
    return statistics.median(found) if found else None


def _counted(count: int, what: str) -> str:
    """Return `1 run`, `2 runs`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def _duration(seconds: float) -> str:
    """Return hours and minutes, rounded up."""
    hours, minutes = divmod(math.ceil(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
