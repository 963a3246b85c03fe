"""Cases of a recipe: the combinations of its matrix, the folder each goes to, and the command it becomes."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from runners.errors import RunnerError
from runners.recipe import PRECISIONS, Recipe, Value

IDENTITY = ("nodes", "devices", "batch_size", "precision")
SLOT = re.compile(r"\{\{|\}\}|\{([a-z_][a-z0-9_]*)\}")


@dataclass(frozen=True)
class Case:
    """One combination: what is compared, without the hardware, which only the host knows.

    `slots` are all values that a command may name; `options` are those that distinguish the case beyond its identity;
    `slug` is the name of its folder.
    """

    nodes: int
    devices: int
    batch_size: int
    precision: str
    options: Mapping[str, Value]
    slots: Mapping[str, Value]
    slug: str


def choose(recipe: Recipe, choices: Mapping[str, str]) -> list[Case]:
    """The cases of the matrix, with the keys in `choices` set to one value each, in the order of the matrix.

    Raises RunnerError for a key that the recipe does not have and for a value of another type than its own.
    """
    axes = _axes(recipe)
    for key, text in choices.items():
        if key not in axes:
            raise RunnerError(f"recipe {recipe.name}: it has no key {key!r} to choose by; it has {', '.join(axes)}")
        axes[key] = (_like(recipe, key, text, axes[key][0]),)
    return [_case(recipe, dict(zip(axes, values, strict=True))) for values in itertools.product(*axes.values())]


def command(recipe: Recipe, case: Case) -> list[str]:
    """The argv of a case; raises RunnerError where a slot has no value."""
    return [fill(recipe, word, case.slots) for word in recipe.command]


def environment_variables(recipe: Recipe, case: Case) -> dict[str, str]:
    """The variables set for a case, slots filled; raises RunnerError where a slot has no value."""
    return {name: fill(recipe, text, case.slots) for name, text in recipe.environment_variables.items()}


def fill(recipe: Recipe, text: str, slots: Mapping[str, Value]) -> str:
    """Text with `{name}` replaced; `{{` and `}}` are braces. Values are put in as they are: quoting comes last."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return match[0][0]
        if name not in slots:
            raise RunnerError(
                f"recipe {recipe.name}: the slot {{{name}}} in {text!r} has no value; it can be one of "
                f"{', '.join(slots)} (a brace that is meant as one is written twice)"
            )
        return _text(slots[name])

    return SLOT.sub(value, text)


def slugged(text: str) -> str:
    """A name of a folder made from any text; a text that had to be bent gets a digest, so that no two share one."""
    slug = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:40]
    return slug if slug and slug == text else f"{slug}-{hashlib.sha256(text.encode()).hexdigest()[:6]}".lstrip("-")


def framework_slug(framework: str) -> str:
    """The name of a framework's folder: `PyTorch` is `pytorch`."""
    return re.sub(r"[^a-z0-9]+", "-", framework.lower()).strip("-")


def _axes(recipe: Recipe) -> dict[str, tuple[Value, ...]]:
    fixed = {"nodes": recipe.nodes, "devices": recipe.devices, "iterations": recipe.iterations, **recipe.options}
    axes: dict[str, tuple[Value, ...]] = {key: (value,) for key, value in fixed.items()}
    axes.update(recipe.matrix)
    return axes


def _like(recipe: Recipe, key: str, text: str, example: Value) -> Value:
    try:
        if isinstance(example, bool):
            return {"true": True, "false": False}[text.lower()]
        return type(example)(text)
    except (KeyError, ValueError) as error:
        kind = {"int": "a whole number", "float": "a number", "bool": "true or false"}[type(example).__name__]
        raise RunnerError(f"recipe {recipe.name}: {key}={text!r} must be {kind}, like its {_text(example)}") from error


def _case(recipe: Recipe, slots: dict[str, Value]) -> Case:
    for key in ("nodes", "devices", "batch_size", "iterations"):
        value = slots[key]
        if not isinstance(value, int) or value < 1:
            raise RunnerError(f"recipe {recipe.name}: {key}={value!r} must be a whole number from 1")
    if slots["precision"] not in PRECISIONS:
        raise RunnerError(
            f"recipe {recipe.name}: precision={slots['precision']!r} is unknown; it is one of {', '.join(PRECISIONS)}"
        )
    options = {key: value for key, value in slots.items() if key not in (*IDENTITY, "iterations")}
    return Case(
        nodes=int(slots["nodes"]),
        devices=int(slots["devices"]),
        batch_size=int(slots["batch_size"]),
        precision=str(slots["precision"]),
        options=options,
        slots=slots,
        slug=_slug(recipe, slots, options),
    )


def _slug(recipe: Recipe, slots: dict[str, Value], options: dict[str, Value]) -> str:
    parts = [
        recipe.device,
        f"n{slots['nodes']}d{slots['devices']}",
        f"bs{slots['batch_size']}",
        str(slots["precision"]),
        *([recipe.label] if recipe.label else []),
    ]
    # An option that all cases share says nothing in a name; one that differs must, or two cases would share a folder.
    differing = {key: value for key, value in options.items() if recipe.options.get(key) != value}
    return "-".join(parts + [f"{key.replace('_', '-')}-{slugged(_text(value))}" for key, value in differing.items()])


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
