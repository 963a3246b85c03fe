"""Cases of a recipe: the combinations of its matrix, the folder each goes to, and the command it becomes."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from runners import slots
from runners.argv import Word, checked
from runners.errors import RunnerError
from runners.fields import Value
from runners.recipe import SHAPE, Recipe, fault_of, text_of

IDENTITY = ("nodes", "devices", "batch_size", "precision")
Axes = Mapping[str, tuple[Value, ...]]


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

    `nodes` and `devices` choose among the shapes, and make one of their own where none fits. Of several tables those
    that state the value are taken, and all where none does. Raises RunnerError for a key that the recipe does not have
    and for a value that its key cannot have.
    """
    tables: list[Axes] = [_axes(recipe, table) for table in recipe.matrix]
    keys = ("nodes", "devices", *(key for key in tables[0] if key != "shape"))
    for key, text in choices.items():
        checked(text, f"--case {key}")
        if key not in keys:
            raise RunnerError(f"recipe {recipe.name}: it has no key {key!r} to choose by; it has {', '.join(keys)}")
        if key not in ("nodes", "devices"):
            tables = _fixed(tables, key, _value(recipe, tables, key, text))
    tables = _shaped(recipe, tables, {key: _count(recipe, key, choices[key]) for key in keys[:2] if key in choices})
    combinations = [
        dict(zip(table, values, strict=True)) for table in tables for values in itertools.product(*table.values())
    ]
    cases = [_case(recipe, combination) for combination in combinations]
    return [case for place, case in enumerate(cases) if case not in cases[:place]]


def choices_of(recipe: Recipe, case: Case) -> dict[str, str]:
    """The choices that give exactly this case again; what is the same in all cases is left out."""
    in_matrix = {"nodes", "devices", *recipe.matrix[0]}
    usual = {"iterations": recipe.iterations, **recipe.options}
    keys = ("nodes", "devices", "batch_size", "precision", "iterations", *case.options)
    return {key: text_of(case.slots[key]) for key in keys if key in in_matrix or case.slots[key] != usual[key]}


def command(recipe: Recipe, case: Case, data: str = "") -> list[Word]:
    """The words of the trainer alone; `data` is what `{data}` stands for.

    Raises RunnerError where a slot has no value, and where data are needed and none are named.
    """
    filling = slots.filling(recipe, case.slots, data)
    return [word for text in recipe.command for word in slots.words(filling, text)]


def environment_variables(recipe: Recipe, case: Case, data: str = "") -> dict[str, Word]:
    """The variables set for a case; one that a table of `[slots]` makes empty is not set. Raises as `command` does."""
    filling = slots.filling(recipe, case.slots, data)
    return {name: word for name, text in recipe.environment_variables.items() for word in slots.words(filling, text)}


def slugged(text: str) -> str:
    """A name of a folder made from any text; a text that had to be bent gets a digest, so that no two share one."""
    slug = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:40]
    return slug if slug and slug == text else f"{slug}-{hashlib.sha256(text.encode()).hexdigest()[:6]}".lstrip("-")


def framework_slug(framework: str) -> str:
    """The name of a framework's folder: `PyTorch` is `pytorch`."""
    return re.sub(r"[^a-z0-9]+", "-", framework.lower()).strip("-")


def _axes(recipe: Recipe, table: Axes) -> Axes:
    fixed = {"iterations": recipe.iterations, **recipe.options}
    return {**{key: (value,) for key, value in fixed.items()}, **table}


def _fixed(tables: list[Axes], key: str, value: Value) -> list[Axes]:
    stating = [table for table in tables if text_of(value) in map(text_of, table[key])]
    return [{**table, key: (value,)} for table in stating or tables]


def _shaped(recipe: Recipe, tables: list[Axes], wanted: Mapping[str, int]) -> list[Axes]:
    fitting = [{**table, "shape": tuple(shape for shape in table["shape"] if _fits(shape, wanted))} for table in tables]
    if any(table["shape"] for table in fitting):
        return [table for table in fitting if table["shape"]]
    return [{**table, "shape": (_own_shape(recipe, wanted),)} for table in tables]


def _fits(shape: Value, wanted: Mapping[str, int]) -> bool:
    nodes, per_node = _numbers(shape)
    return wanted.get("nodes", nodes) == nodes and wanted.get("devices", nodes * per_node) == nodes * per_node


def _own_shape(recipe: Recipe, wanted: Mapping[str, int]) -> str:
    nodes, devices = wanted.get("nodes", 1), wanted.get("devices")
    if devices is None:
        raise RunnerError(f"recipe {recipe.name}: no shape has nodes={nodes}; state devices= of the whole job too")
    if devices % nodes:
        raise RunnerError(f"recipe {recipe.name}: devices={devices} cannot be shared out evenly among nodes={nodes}")
    return f"{nodes}n{devices // nodes}d"


def _numbers(shape: Value) -> tuple[int, int]:
    match = SHAPE.fullmatch(str(shape))
    assert match, shape
    return int(match[1]), int(match[2])


def _count(recipe: Recipe, key: str, text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise RunnerError(f"recipe {recipe.name}: {key}={text!r} must be a whole number from 1")
    return int(text)


def _value(recipe: Recipe, tables: list[Axes], key: str, text: str) -> Value:
    """The value that the matrix states so, or else the text in the type of the first that it states."""
    if key in ("batch_size", "iterations"):
        return _count(recipe, key, text)
    stated = [value for table in tables for value in table[key]]
    value = next((value for value in stated if text_of(value) == text), None)
    value = _like(recipe, key, text, stated[0]) if value is None else value
    if fault := fault_of(key, value):
        raise RunnerError(f"recipe {recipe.name}: {key}={value!r} {fault}")
    return value


def _like(recipe: Recipe, key: str, text: str, example: Value) -> Value:
    kind = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[type(example)]
    try:
        value = {"true": True, "false": False}[text.lower()] if isinstance(example, bool) else type(example)(text)
    except (KeyError, ValueError):
        value = math.nan
    if isinstance(value, float) and not math.isfinite(value):
        raise RunnerError(f"recipe {recipe.name}: {key}={text!r} must be {kind}, like its {text_of(example)}")
    return value


def _case(recipe: Recipe, values: dict[str, Value]) -> Case:
    nodes, per_node = _numbers(values.pop("shape"))
    batch_size = int(values["batch_size"])
    options = {key: value for key, value in values.items() if key not in (*IDENTITY, "iterations")}
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
    differing = {key: value for key, value in options.items() if recipe.options.get(key) != value}
    parts = [recipe.device, identity, *([recipe.label] if recipe.label else [])]
    return "-".join(parts + [f"{key.replace('_', '-')}-{slugged(text_of(value))}" for key, value in differing.items()])
