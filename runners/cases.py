"""Cases of a recipe: the combinations of its matrix, chosen by `--case`, each with the folder that its runs go to."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from runners.errors import RunnerError
from runners.job import Scalar, checked
from runners.recipe import SHAPE, Axes, LaunchRecipe, case_value_fault, text_of

IDENTITY = ("nodes", "devices", "batch_size", "precision")


class RecipeCase(Struct, frozen=True, kw_only=True):
    """One combination: what is compared, without the hardware, which only the host knows.

    Attributes:
        devices: of the whole job.
        batch_size: per device.
        options: what distinguishes the case beyond its identity.
        slots: all values that a command may name.
        slug: the name of its folder.
    """

    nodes: int
    devices: int
    devices_per_node: int
    batch_size: int
    precision: str
    options: dict[str, Scalar]
    slots: dict[str, Scalar]
    slug: str


def select_cases(recipe: LaunchRecipe, choices: Mapping[str, str]) -> list[RecipeCase]:
    """Return the cases of the matrix, in its order, with each key in `choices` fixed to one value.

    Of several tables those that state the value are taken, and all where none does: a value that no table states is
    tried in every one. `nodes` and `devices` choose among the shapes, and make a new one where none fits.

    Raises:
        RunnerError: the recipe does not have such a key, or the key cannot have such a value.
    """
    tables = [_axes(recipe, table) for table in recipe.matrix]
    keys = ("nodes", "devices", *(key for key in tables[0] if key != "shape"))
    left = tables
    for key, text in choices.items():
        if key not in keys:
            raise RunnerError(f"recipe {recipe.name}: it has no key {key!r} to choose by; it has {', '.join(keys)}")
        if key not in ("nodes", "devices"):
            left = _fixed(left, key, _value(recipe.name, tables, key, checked(text, f"--case {key}")))
    wanted = {key: _count(recipe.name, key, choices[key]) for key in ("nodes", "devices") if key in choices}
    left = _with_shapes(recipe.name, left, wanted)
    products = [
        dict(zip(table, values, strict=True)) for table in left for values in itertools.product(*table.values())
    ]
    cases = [_case(recipe, values) for values in products]
    return [case for number, case in enumerate(cases) if case not in cases[:number]]


def case_choices(recipe: LaunchRecipe, case: RecipeCase) -> dict[str, str]:
    """Return the choices that give exactly this case again; what is the same in all cases is left out."""
    varied = {*IDENTITY, *(key for table in recipe.matrix for key in table)}
    usual = {"iterations": recipe.iterations, **recipe.options}
    texts = {key: text_of(case.slots[key]) for key in (*IDENTITY, "iterations", *case.options)}
    return {key: text for key, text in texts.items() if key in varied or text != text_of(usual[key])}


def case_folder(recipe: LaunchRecipe, case: RecipeCase, raw_logs: Path) -> Path:
    """Return `<raw logs>/<suite>/<framework>/<case>`."""
    return raw_logs / recipe.suite / framework_slug(recipe.framework) / case.slug


def framework_slug(framework: str) -> str:
    """Return the name of a framework's folder: `PyTorch` is `pytorch`."""
    return re.sub(r"[^a-z0-9]+", "-", framework.lower()).strip("-")


def slugify(text: str) -> str:
    """Slugify `text` for a folder name; append a short hash if characters were replaced, so slugs stay unique."""
    slug = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:40]
    return slug if slug and slug == text else f"{slug}-{hashlib.sha256(text.encode()).hexdigest()[:6]}".lstrip("-")


def _axes(recipe: LaunchRecipe, table: Axes) -> Axes:
    """Return a table with what all cases share in front, so that the order of its own keys is that of the cases."""
    fixed = {"iterations": recipe.iterations, **recipe.options}
    return {**{key: (value,) for key, value in fixed.items() if key not in table}, **table}


def _fixed(tables: list[Axes], key: str, value: Scalar) -> list[Axes]:
    stating = [table for table in tables if text_of(value) in map(text_of, table[key])]
    return [{**table, key: (value,)} for table in stating or tables]


def _with_shapes(recipe: str, tables: list[Axes], wanted: Mapping[str, int]) -> list[Axes]:
    fitting = [{**table, "shape": tuple(shape for shape in table["shape"] if _fits(shape, wanted))} for table in tables]
    if any(table["shape"] for table in fitting):
        return [table for table in fitting if table["shape"]]
    return [{**table, "shape": (_new_shape(recipe, wanted),)} for table in tables]


def _fits(shape: Scalar, wanted: Mapping[str, int]) -> bool:
    nodes, per_node = _counts(shape)
    return wanted.get("nodes", nodes) == nodes and wanted.get("devices", nodes * per_node) == nodes * per_node


def _new_shape(recipe: str, wanted: Mapping[str, int]) -> str:
    nodes, devices = wanted.get("nodes", 1), wanted.get("devices")
    if devices is None:
        raise RunnerError(f"recipe {recipe}: no shape has nodes={nodes}; state devices= of the whole job too")
    if devices % nodes:
        raise RunnerError(f"recipe {recipe}: devices={devices} cannot be shared out evenly among nodes={nodes}")
    return f"{nodes}n{devices // nodes}d"


def _counts(shape: Scalar) -> tuple[int, int]:
    """Return nodes and devices per node of a shape such as `2n8d`."""
    match = SHAPE.fullmatch(str(shape))
    assert match, "`recipe` and `_new_shape` give no other"
    return int(match[1]), int(match[2])


def _count(recipe: str, key: str, text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise RunnerError(f"recipe {recipe}: {key}={text!r} must be a whole number from 1")
    return int(text)


def _value(recipe: str, tables: Sequence[Axes], key: str, text: str) -> Scalar:
    """Return the value that the matrix states so, or else the text in the type of the first that it states."""
    if key in ("batch_size", "iterations"):
        return _count(recipe, key, text)
    stated = [value for table in tables for value in table[key]]
    value = next((value for value in stated if text_of(value) == text), None)
    value = _converted(recipe, key, text, stated[0]) if value is None else value
    if fault := case_value_fault(key, value):
        raise RunnerError(f"recipe {recipe}: {key}={value!r} {fault}")
    return value


def _converted(recipe: str, key: str, text: str, example: Scalar) -> Scalar:
    kind = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[type(example)]
    try:
        value = {"true": True, "false": False}[text.lower()] if isinstance(example, bool) else type(example)(text)
    except (KeyError, ValueError):
        value = math.nan
    if isinstance(value, float) and not math.isfinite(value):
        raise RunnerError(f"recipe {recipe}: {key}={text!r} must be {kind}, like its {text_of(example)}")
    return value


def _case(recipe: LaunchRecipe, values: dict[str, Scalar]) -> RecipeCase:
    nodes, per_node = _counts(values.pop("shape"))
    batch_size, precision = int(values["batch_size"]), str(values["precision"])
    # In one order for all tables, or two of them would give one case two names.
    keys = dict.fromkeys((*recipe.options, *recipe.matrix[0]))
    options = {key: values[key] for key in keys if key in values and key not in IDENTITY}
    devices = nodes * per_node
    derived = {"devices_per_node": per_node, "global_batch_size": batch_size * devices}
    return RecipeCase(
        nodes=nodes,
        devices=devices,
        devices_per_node=per_node,
        batch_size=batch_size,
        precision=precision,
        options=options,
        slots={"nodes": nodes, "devices": devices, **derived, **values},
        slug=_slug(recipe, f"n{nodes}d{devices}-bs{batch_size}-{precision}", options),
    )


def _slug(recipe: LaunchRecipe, identity: str, options: Mapping[str, Scalar]) -> str:
    # An option that all cases share says nothing in a name; one that differs must, or two cases would share a folder.
    usual = {key: text_of(value) for key, value in recipe.options.items()}
    differing = {key: text_of(value) for key, value in options.items() if usual.get(key) != text_of(value)}
    parts = [recipe.device, identity, *([recipe.label] if recipe.label else [])]
    return "-".join(parts + [f"{key.replace('_', '-')}-{slugify(text)}" for key, text in differing.items()])
