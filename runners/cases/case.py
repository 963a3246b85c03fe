"""Cases of a recipe: the combinations of its matrix, the folder each goes to, and the command it becomes."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from runners.cases import slots
from runners.cases.choice import chosen
from runners.cases.fields import Value
from runners.cases.matrix import Axes, numbers, text_of
from runners.cases.recipe import Recipe
from runners.command.argv import Word

IDENTITY = ("nodes", "devices", "batch_size", "precision")


@dataclass(frozen=True)
class Case:
    """One combination: what is compared, without the hardware, which only the host knows.

    `devices` are those of the whole job, `batch_size` is per device. `slots` are all values that a command may name;
    `options` are those that distinguish the case beyond its identity; `slug` is the name of its folder.
    """

    nodes: int
    devices: int
    devices_per_node: int
    batch_size: int
    precision: str
    options: Mapping[str, Value]
    slots: Mapping[str, Value]
    slug: str


def choose(recipe: Recipe, choices: Mapping[str, str]) -> list[Case]:
    """The cases of the matrix, with the keys in `choices` set to one value each, in the order of the matrix.

    Raises RunnerError for a key that the recipe does not have and for a value that its key cannot have.
    """
    tables = chosen(recipe.name, [_axes(recipe, table) for table in recipe.matrix], choices)
    products = [(table, itertools.product(*table.values())) for table in tables]
    cases = [_case(recipe, dict(zip(table, values, strict=True))) for table, product in products for values in product]
    return [case for number, case in enumerate(cases) if case not in cases[:number]]


def choices_of(recipe: Recipe, case: Case) -> dict[str, str]:
    """The choices that give exactly this case again; what is the same in all cases is left out."""
    varied = {*IDENTITY, *(key for table in recipe.matrix for key in table)}
    usual = {"iterations": recipe.iterations, **recipe.options}
    texts = {key: text_of(case.slots[key]) for key in (*IDENTITY, "iterations", *case.options)}
    return {key: text for key, text in texts.items() if key in varied or text != text_of(usual[key])}


def command(recipe: Recipe, case: Case, data: str = "") -> list[Word]:
    """The words of the trainer alone; `data` is what `{data}` stands for.

    Raises RunnerError where a slot has no value, and where data are needed and none are named.
    """
    filled = filling(recipe, case, data)
    return [word for text in recipe.command for word in slots.words(filled, text)]


def environment_variables(recipe: Recipe, case: Case, data: str = "") -> dict[str, Word]:
    """The variables set for a case; one that a table of `[slots]` makes empty is not set. Raises as `command` does."""
    filled = filling(recipe, case, data)
    return {name: word for name, text in recipe.environment_variables.items() for word in slots.words(filled, text)}


def filling(recipe: Recipe, case: Case, data: str) -> slots.Filling:
    """What the texts of a recipe are filled with in a case; `data` is empty where no folder was named."""
    return slots.Filling(recipe.name, {**case.slots, **({"data": data} if data else {})}, recipe.slots)


def slugged(text: str) -> str:
    """A name of a folder made from any text; a text that had to be bent gets a digest, so that no two share one."""
    slug = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:40]
    return slug if slug and slug == text else f"{slug}-{hashlib.sha256(text.encode()).hexdigest()[:6]}".lstrip("-")


def framework_slug(framework: str) -> str:
    """The name of a framework's folder: `PyTorch` is `pytorch`."""
    return re.sub(r"[^a-z0-9]+", "-", framework.lower()).strip("-")


def _axes(recipe: Recipe, table: Axes) -> Axes:
    """A table with what all cases share in front, so that the order of its own keys is that of the cases."""
    fixed = {"iterations": recipe.iterations, **recipe.options}
    return {**{key: (value,) for key, value in fixed.items() if key not in table}, **table}


def _case(recipe: Recipe, values: dict[str, Value]) -> Case:
    nodes, per_node = numbers(values.pop("shape"))
    batch_size = int(values["batch_size"])
    # In one order for all tables, or two of them would give one case two names.
    keys = dict.fromkeys((*recipe.options, *recipe.matrix[0]))
    options = {key: values[key] for key in keys if key in values and key not in IDENTITY}
    devices = nodes * per_node
    return Case(
        nodes=nodes,
        devices=devices,
        devices_per_node=per_node,
        batch_size=batch_size,
        precision=str(values["precision"]),
        options=options,
        slots={
            "nodes": nodes,
            "devices": devices,
            "devices_per_node": per_node,
            "global_batch_size": batch_size * devices,
            **values,
        },
        slug=_slug(recipe, f"n{nodes}d{devices}-bs{batch_size}-{values['precision']}", options),
    )


def _slug(recipe: Recipe, identity: str, options: dict[str, Value]) -> str:
    # An option that all cases share says nothing in a name; one that differs must, or two cases would share a folder.
    usual = {key: text_of(value) for key, value in recipe.options.items()}
    differing = {key: text_of(value) for key, value in options.items() if usual.get(key) != text_of(value)}
    parts = [recipe.device, identity, *([recipe.label] if recipe.label else [])]
    return "-".join(parts + [f"{key.replace('_', '-')}-{slugged(text)}" for key, text in differing.items()])
