"""`export`: writes recipes as plans, `plans/<recipe>.json`, which `python -m ingest` reads next to the logs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
import msgspec

from perfledger.runners import recipes
from perfledger.runners.batch import COMPLETED
from perfledger.runners.cases import RecipeCase, case_choices, select_cases
from perfledger.runners.cli.text import command_text
from perfledger.runners.job import RunnerError, texts
from perfledger.runners.recipes import LaunchRecipe
from perfledger.runners.wrappers import CaseWords
from perfledger.schema.plans import EXAMPLE_DATA, PLANS_FOLDER, SCHEMA, Plan, PlanCase, PlanSource
from perfledger.schema.records import Container


@click.command("export")
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

    A plan lists the cases of a recipe with their commands. `python -m ingest` reads those in the folder `plans` next to
    the logs: pages then say how to make each case, and which were not run yet. RECIPE is a name that `list` prints, or
    a .toml file; without any, all that `list` prints are written.
    """
    loaded = [recipes.load(recipes.find(name)) for name in chosen or recipes.names()]
    print(*write(loaded, to), sep="\n")
    return COMPLETED


def plan_of(recipe: LaunchRecipe) -> Plan:
    """Return what a recipe says, with all of its cases.

    Raises:
        RunnerError: a case has no command.
    """
    source, image = recipe.source, recipe.container
    return Plan(
        schema=SCHEMA,
        recipe=recipe.name,
        title=recipe.title,
        suite=recipe.suite,
        model=recipe.model,
        framework=recipe.framework,
        device=recipe.device,
        launcher=recipe.launcher.name,
        iterations=recipe.iterations,
        repeats=recipe.repeats,
        cases=tuple(_case(recipe, each) for each in select_cases(recipe, {})),
        source=PlanSource(source.repository, source.commit, source.folder),
        image=Container(image=image.image, digest=image.digest) if image else None,
        packages=recipe.setup.packages,
        setup=recipe.setup.steps,
        text=recipe.setup.text,
        notes=recipe.notes,
        data_set=recipe.data,
    )


def write(recipes: Iterable[LaunchRecipe], folder: Path) -> list[Path]:
    """Write the plans of recipes, and return their files; all are made before the first is written.

    Raises:
        RunnerError: a case has no command, or a file cannot be written.
    """
    documents: dict[Path, bytes] = {}
    for each in recipes:
        documents[folder / f"{each.name}.json"] = document(plan_of(each))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in documents.items():
            path.write_bytes(content)
    except OSError as error:
        raise RunnerError(f"{error.filename or folder}: it cannot be written: {error.strerror}") from None
    return [*documents]


def document(plan: Plan) -> bytes:
    """Return the text of a plan's file: equal plans give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(plan), indent=1) + b"\n"


def _case(recipe: LaunchRecipe, case: RecipeCase) -> PlanCase:
    words = CaseWords(recipe, case, EXAMPLE_DATA)
    values = dict(zip(words.variables(), texts([*words.variables().values()]), strict=True))
    command = command_text(values, texts(words.launch()))
    return PlanCase(
        nodes=case.nodes,
        devices=case.devices,
        batch_size=case.batch_size,
        precision=case.precision,
        options=dict(case.options),
        choices=case_choices(recipe, case),
        command=command,
        data=EXAMPLE_DATA in command,
    )
