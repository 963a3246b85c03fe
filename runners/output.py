"""What is printed: recipes and their cases, and the progress of runs."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from runners import recipe as recipes
from runners.cases import RecipeCase, case_choices
from runners.command import Settings, build_run
from runners.errors import RunnerError, printable
from runners.job import PlannedRun
from runners.recipe import LaunchRecipe

#: Characters of a log's line that are shown beside the bar.
STATE_WIDTH = 60


def recipe_list() -> Iterator[str]:
    """Yield the recipes shipped, by the folder they lie in: name, device, launcher, title."""
    loaded = {path: recipes.load(path) for path in map(recipes.find, recipes.names())}
    rows = {path: (each.name, each.device, each.launcher.name, each.title) for path, each in loaded.items()}
    widths = [max(len(row[column]) for row in rows.values()) for column in range(3)]
    for folder in sorted({path.parent for path in rows}):
        yield f"{folder.relative_to(recipes.FOLDER.parent)}:"
        for row in (row for path, row in rows.items() if path.parent == folder):
            cells = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
            yield "  ".join(["", *cells, row[-1]])


def describe(recipe: LaunchRecipe, cases: Sequence[RecipeCase], settings: Settings) -> Iterator[str]:
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
        yield f"\n{case.slug}\n  --case {case_option(recipe, case)}\n  {command_line(run)}"


def _requirements(recipe: LaunchRecipe) -> Iterator[str]:
    source, image = recipe.source, recipe.container
    if source.repository:
        folder = f", in {source.folder} below --work" if source.folder else ""
        yield f"source {source.repository} {source.commit}".rstrip() + folder
    if image:
        yield f"image {image.image} {image.digest}".rstrip()
    if recipe.setup.packages:
        yield f"{recipe.setup.python} with {', '.join(recipe.setup.packages)}"


def case_option(recipe: LaunchRecipe, case: RecipeCase) -> str:
    """Return the value of `--case` that gives exactly this case, quoted for a shell."""
    return shlex.quote(",".join(f"{key}={value}" for key, value in case_choices(recipe, case).items()))


def command_line(run: PlannedRun) -> str:
    """Return the command of a run for a person to read; what only the node knows stands in braces."""
    variables = [f"{name}={shlex.quote(value)}" for name, value in run.record.environment_variables.items()]
    return " ".join([*variables, shlex.join(run.record.argv)])


def job_json(run: PlannedRun) -> str:
    """Return what the nodes of a run are sent, beside the host agent."""
    return msgspec.json.format(msgspec.json.encode(run.spec), indent=2).decode()


def counted(count: int, what: str) -> str:
    """Return `1 run`, `2 runs`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """Return hours and minutes, rounded up."""
    hours, minutes = divmod(math.ceil(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def complain(error: RunnerError) -> None:
    """Print an error; text of a host in it cannot move the cursor."""
    text = "\n".join(map(printable, str(error).splitlines()))
    print(f"runners: {text}", file=sys.stderr, flush=True)


class LineProgress:
    """Progress where nobody watches, such as in a file: a line when a run begins, and one when it ends."""

    def __init__(self, total: int | None) -> None:
        """Expect `total` runs; None where the number is not known beforehand."""
        self._of = f"/{total}" if total else ""
        self._begun = 0

    def begin(self, folder: Path) -> None:
        """Print that a run begins."""
        self._begun += 1
        print(f"[{self._begun}{self._of}] {folder}", flush=True)

    def state(self, text: str) -> None:
        """Show nothing: a line for each poll would fill the file."""

    def line(self, text: str) -> None:
        """Print a line that stays."""
        print(printable(text), flush=True)

    def end(self, folder: Path, outcome: str) -> None:
        """Print the outcome of a run."""
        print(f"{folder}: {printable(outcome)}", flush=True)


class BarProgress:
    """Progress on a terminal: a bar of tqdm, with the last line of the log beside it."""

    def __init__(self, bar: Any) -> None:
        """Draw on a bar of tqdm."""
        self._bar = bar

    def begin(self, folder: Path) -> None:
        """Name the run that begins."""
        self._bar.set_description_str(f"{folder.parent.name}/{folder.name}")

    def state(self, text: str) -> None:
        """Show the present state, such as the last line of the log."""
        self._bar.set_postfix_str(printable(text)[:STATE_WIDTH])

    def line(self, text: str) -> None:
        """Print a line above the bar."""
        self._bar.write(printable(text))

    def end(self, folder: Path, outcome: str) -> None:
        """Print the outcome of a run and move the bar on."""
        self._bar.set_postfix_str("")
        self._bar.write(f"{folder}: {printable(outcome)}")
        self._bar.update(1)


@contextmanager
def progress(total: int | None) -> Iterator[LineProgress | BarProgress]:
    """Show progress over `total` runs; None where the number is not known beforehand."""
    tqdm = _tqdm() if sys.stderr.isatty() else None
    if tqdm is None:
        yield LineProgress(total)
        return
    with tqdm(total=total, unit="run", dynamic_ncols=True) as bar:
        yield BarProgress(bar)


def _tqdm() -> Any:
    """Return `tqdm`, or None if it is not installed (it is optional here)."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm
