"""Recipes and plans as text: what a person reads before anything starts."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from runners.cases import recipe
from runners.cases.case import Case, choices_of, environment_variables
from runners.cases.recipe import Recipe
from runners.command.argv import texts
from runners.command.script import Settings, argv, build
from runners.places import job
from runners.places.place import Place
from runners.runs.plan import Estimate, Run, case_folder, estimate

#: Stands for --data where none was named.
DATA = "/path/to/data"


def listing() -> Iterator[str]:
    """The recipes shipped, by the folder they lie in: name, device, launcher, title."""
    paths = [recipe.find(name) for name in recipe.names()]
    loaded = {path: recipe.load(path) for path in paths}
    rows = {path: (each.name, each.device, each.launcher.name, each.title) for path, each in loaded.items()}
    widths = [max(len(row[column]) for row in rows.values()) for column in range(3)]
    for wing in sorted({path.parent for path in paths}):
        yield f"{wing.relative_to(recipe.FOLDER.parent)}:"
        for path in (path for path in paths if path.parent == wing):
            cells = [text.ljust(width) for text, width in zip(rows[path], widths, strict=False)]
            yield "  ".join(["", *cells, rows[path][-1]])


def described(chosen: Recipe, cases: Sequence[Case], settings: Settings) -> Iterator[str]:
    """What a recipe needs, and its cases with the command of each."""
    yield f"{chosen.name}: {chosen.title}"
    yield f"suite {chosen.suite}: {chosen.model} in {chosen.framework}, on {chosen.device}"
    yield f"{chosen.repeats} repeats, at most {chosen.timeout_seconds} s each, {chosen.cool_down_seconds} s apart"
    records = chosen.records
    yield f"{records.at_least} records of format {records.format} must be in the log of the {records.node} node"
    yield from _needs(chosen)
    for text in filter(None, (chosen.notes, chosen.setup.text)):
        yield f"\n{text.strip()}"
    for step in chosen.setup.steps:
        yield f"  $ {step}"
    for case in cases:
        yield f"\n{case.slug}\n  --case {choice(chosen, case)}\n  {_command(_example(chosen, case), settings)}"


def planned(runs: Sequence[Run], place: Place, settings: Settings, scripts: bool) -> Iterator[str]:
    """What each case executes, the runs in their order, and how long it all may take; contacts nobody.

    Raises RunnerError for a case that the place or the settings do not allow.
    """
    firsts: dict[str, Run] = {}
    for run in runs:
        firsts.setdefault(run.case.slug, run)
    for run in firsts.values():
        script = build(run, settings)
        yield f"{run.case.slug}, started by"
        yield from (f"  {line}" for line in job.commands(job.prepare(place, run), script))
        yield f"runs\n  {_command(run, settings)}\n"
        if scripts:
            yield f"by this script:\n{script}\n"
    for number, run in enumerate(runs, start=1):
        yield f"[{number}/{len(runs)}] {run.folder}"
    yield f"\n{_time(estimate(runs), len(firsts))}"


def _needs(chosen: Recipe) -> Iterator[str]:
    source, image = chosen.source, chosen.container
    if source.repository:
        folder = f", in {source.folder} below --work" if source.folder else ""
        yield f"source {source.repository} {source.commit}".rstrip() + folder
    if image:
        yield f"image {image.image} {image.digest}".rstrip()
    if chosen.setup.packages:
        yield f"{chosen.setup.python} with {', '.join(chosen.setup.packages)}"


def _example(chosen: Recipe, case: Case) -> Run:
    return Run(chosen, case, 1, case_folder(chosen, case, Path("raw_logs")) / "1")


def choice(chosen: Recipe, case: Case) -> str:
    """What `--case` says for exactly this case, quoted for a shell."""
    return shlex.quote(",".join(f"{key}={value}" for key, value in choices_of(chosen, case).items()))


def _command(run: Run, settings: Settings) -> str:
    """The command for a person to read: what only the node knows stands in braces."""
    variables = environment_variables(run.recipe, run.case, settings.data)
    values = texts(list(variables.values()))
    named = [f"{name}={shlex.quote(value)}" for name, value in zip(variables, values, strict=True)]
    return " ".join([*named, shlex.join(texts(argv(run, settings)))])


def _time(time: Estimate, cases: int) -> str:
    runs = f"{_number(time.runs, 'run')} of {_number(cases, 'case')}"
    if not time.bounded:
        return f"{runs}, about {_duration(time.seconds)}, by the median of each case's earlier runs"
    bound = "all" if time.bounded == time.runs else f"{time.bounded}"
    return f"{runs}, at most {_duration(time.seconds)}: for {bound} of them only the timeout is known"


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _duration(seconds: float) -> str:
    """Whole minutes, upwards."""
    hours, minutes = divmod(math.ceil(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def printed(lines: Iterable[str]) -> None:
    """Prints lines as they come."""
    for line in lines:
        print(line)
