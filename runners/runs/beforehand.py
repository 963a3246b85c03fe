"""What `run.json` will say of a run that was known before it started."""

from __future__ import annotations

from typing import Any

from runners.cases.case import choices_of, environment_variables
from runners.command.argv import texts
from runners.command.launchers import used
from runners.command.script import Settings, argv
from runners.runs.plan import Run

SCHEMA = "perfledger.run/1"


def plan(run: Run, settings: Settings, commit: str) -> dict[str, Any]:
    """The keys of `run.json` that do not depend on the run; `commit` is of the recipe's own files, empty if unknown."""
    recipe, case = run.recipe, run.case
    variables = environment_variables(recipe, case, settings.data)
    source = {"repository": recipe.source.repository, "commit": recipe.source.commit or commit}
    optional = {"round": run.round, "source": source if all(source.values()) else {}, "notes": recipe.notes}
    return {
        "schema": SCHEMA,
        "suite": recipe.suite,
        "case": _case(run),
        "format": recipe.records.format,
        "repeat": run.repeat,
        "recipe": _recipe(run, settings),
        "argv": texts(argv(run, settings)),
        "environment_variables": dict(zip(variables, texts(list(variables.values())), strict=True)),
        **{key: value for key, value in optional.items() if value},
    }


def _case(run: Run) -> dict[str, Any]:
    return {
        "model": run.recipe.model,
        "framework": run.recipe.framework,
        "nodes": run.case.nodes,
        "devices": run.case.devices,
        "batch_size": run.case.batch_size,
        "precision": run.case.precision,
        "options": dict(run.case.options),
    }


def _recipe(run: Run, settings: Settings) -> dict[str, Any]:
    recipe = run.recipe
    stated = {
        "name": recipe.name,
        "sha256": recipe.sha256,
        "case": choices_of(recipe, run.case),
        "command": list(recipe.command),
        "launcher": used(recipe, run.case),
        "setup": list(recipe.setup.steps),
        "container": _container(run, settings),
        # Not which: that is a path of somebody's machine.
        "data": bool(settings.data),
    }
    return {key: value for key, value in stated.items() if value or key == "case"}


def _container(run: Run, settings: Settings) -> dict[str, str]:
    image = run.recipe.container
    if image is None or settings.container == "none":
        return {}
    stated = {"tool": settings.container, "image": image.image, "digest": image.digest}
    return {key: value for key, value in stated.items() if value}
