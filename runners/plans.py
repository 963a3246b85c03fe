"""Recipes as data for the pages: `plans/<recipe>.json`, which `python -m ingest` reads next to the logs."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from perfledger.runners.cases import RecipeCase, case_choices, select_cases
from perfledger.runners.job import RunnerError, texts
from perfledger.runners.recipe import LaunchRecipe
from perfledger.runners.wrappers import CaseWords
from perfledger.schema.plans import EXAMPLE_DATA, SCHEMA, Plan, PlanCase, PlanSource
from perfledger.schema.records import Container


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
        RunnerError: a case has no command, two recipes have one name, or a file cannot be written.
    """
    documents: dict[Path, bytes] = {}
    for each in recipes:
        path = folder / f"{each.name}.json"
        if path in documents:
            raise RunnerError(f"{path}: two of the recipes are called {each.name}; rename one, or export it elsewhere")
        documents[path] = document(plan_of(each))
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


def command_text(variables: Mapping[str, str], argv: Sequence[str]) -> str:
    """Return a command for a person to read; values that only the node knows are in braces."""
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in variables.items()), shlex.join(argv)])


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
