"""Cases: the combinations of a recipe's matrix, chosen by `--case`, each with the folder that its runs go to."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from perfledger.runners.job import RunnerError, Scalar
from perfledger.runners.matrix import COMPUTED, Axes, combinations, count, counts, fixed, text_of, value_of, with_shapes
from perfledger.runners.recipes import LaunchRecipe, case_keys, used_keys

#: Keys that identify a case, together with its options and the hardware.
IDENTITY = ("nodes", "devices", "batch_size", "precision")
#: Slots that give a process the number of devices, or the place of its node among others.
OF_SEVERAL = {
    "devices", "devices_per_node", "global_batch_size", "host_slots", "gpu_ids", "nodes", "node_rank", "hosts",
    "addresses", "master_address",
}  # fmt: skip
#: One or several values by key of the case, from `--case`.
Choices = Mapping[str, str | Sequence[str]]


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


def select_cases(recipe: LaunchRecipe, choices: Choices) -> list[RecipeCase]:
    """Return the cases of the matrix, in its order, with each key in `choices` fixed to one value, or to several.

    If several tables state the value, those are taken; if no table states it, it is tried in all of them. `nodes` and
    `devices` choose among the shapes, and make a new one if none fits.

    Raises:
        RunnerError: the recipe does not have such a key, the key cannot have such a value, or the command does not use
            it.
    """
    tables = [_with_common_values(recipe, axes) for axes in recipe.tables]
    keys = ("nodes", "devices", *(key for key in tables[0] if key != "shape"))
    for key in choices:
        if key not in keys:
            raise RunnerError(f"recipe {recipe.name}: it has no key {key!r} to choose by; it has {', '.join(keys)}")
    found: dict[str, RecipeCase] = {}
    for each in itertools.product(*map(_one_or_several, choices.values())):
        found |= {case.slug: case for case in _fixed_cases(recipe, tables, dict(zip(choices, each, strict=True)))}
    cases = [*found.values()]
    if same := _same_command(recipe, [*_fixed_cases(recipe, tables, {}), *cases]):
        raise RunnerError(f"recipe {recipe.name}: {same}")
    _refuse_idle(recipe, cases)
    return cases


def _one_or_several(value: str | Sequence[str]) -> Sequence[str]:
    return (value,) if isinstance(value, str) else value


def _fixed_cases(recipe: LaunchRecipe, tables: Sequence[Axes], choices: Mapping[str, str]) -> Iterator[RecipeCase]:
    left = tables
    for key, text in choices.items():
        if key not in ("nodes", "devices"):
            left = fixed(left, key, value_of(recipe.name, tables, key, text))
    wanted = {key: count(recipe.name, key, choices[key]) for key in ("nodes", "devices") if key in choices}
    for axes in with_shapes(recipe.name, left, wanted):
        for values in combinations(axes):
            yield _case(recipe, values)


def _refuse_idle(recipe: LaunchRecipe, cases: Sequence[RecipeCase]) -> None:
    """Refuse choices that change the name of a case, and not its command."""
    used = used_keys(recipe)
    fewer = [case.slots["iterations"] for case in cases if case.slots["iterations"] != recipe.iterations]
    if fewer and "iterations" not in used:
        why = "nothing in the recipe uses {iterations}, so it would run as long as ever"
        raise RunnerError(f"recipe {recipe.name}: --case iterations={fewer[0]}: {why}")
    several = next((case for case in cases if case.devices > 1), None)
    if several and recipe.launcher.name == "plain" and not used & OF_SEVERAL:
        why = f"{several.slug} takes {several.devices} devices, and one process starts on each node"
        remedy = "choose nodes=1,devices=1, give it a launcher, or use {devices} in `command`"
        raise RunnerError(f"recipe {recipe.name}: {why}; {remedy}")


def _same_command(recipe: LaunchRecipe, cases: Iterable[RecipeCase]) -> str:
    """Return which cases differ in name only; empty where none do."""
    used, seen = used_keys(recipe), dict[tuple[tuple[str, str], ...], RecipeCase]()
    for case in cases:
        own = sorted((key, text_of(case.slots[key])) for key in {*used, "nodes", "devices"} & case.slots.keys())
        first = seen.setdefault(tuple(own), case)
        if first.slug != case.slug:
            differing = [key for key in first.slots if first.slots[key] != case.slots[key] and key not in COMPUTED]
            names = " and ".join(f"`{key}`" for key in differing)
            return (
                f"{first.slug} and {case.slug} would run the same command, for nothing uses {names}; name it as a slot "
                "in `command`, `launcher.arguments`, `environment_variables` or `container.image`"
            )
    return ""


def case_choices(recipe: LaunchRecipe, case: RecipeCase) -> dict[str, str]:
    """Return the choices that give exactly this case again; what is the same in all cases is left out."""
    varied = {*IDENTITY, *(key for axes in recipe.tables for key in axes)}
    usual = {"iterations": recipe.iterations, **recipe.options}
    # A site adds options that are not keys of the recipe.
    given = [key for key in case.options if key in case.slots]
    texts = {key: text_of(case.slots[key]) for key in (*IDENTITY, "iterations", *given)}
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


def _with_common_values(recipe: LaunchRecipe, axes: Axes) -> Axes:
    """Return a table after the values that all cases share: its own keys vary fastest."""
    fixed = {"iterations": recipe.iterations, **recipe.options}
    return {**{key: (value,) for key, value in fixed.items() if key not in axes}, **axes}


def _case(recipe: LaunchRecipe, values: dict[str, Scalar]) -> RecipeCase:
    nodes, per_node = counts(values.pop("shape"))
    batch_size, precision, devices = int(values["batch_size"]), str(values["precision"]), nodes * per_node
    # In one order for all tables, or two of them would give one case two names.
    options = {key: values[key] for key in case_keys(recipe) if key in values and key not in IDENTITY}
    return RecipeCase(
        nodes=nodes,
        devices=devices,
        devices_per_node=per_node,
        batch_size=batch_size,
        precision=precision,
        options=options,
        slots={
            "nodes": nodes,
            "devices": devices,
            "devices_per_node": per_node,
            "global_batch_size": batch_size * devices,
            **values,
        },
        slug=_slug(recipe, f"n{nodes}d{devices}-bs{batch_size}-{precision}", options),
    )


def _slug(recipe: LaunchRecipe, identity: str, options: Mapping[str, Scalar]) -> str:
    # An option that all cases share says nothing in a name; one that differs must, or two cases would share a folder.
    usual = {key: text_of(value) for key, value in recipe.options.items()}
    differing = {key: text_of(value) for key, value in options.items() if usual.get(key) != text_of(value)}
    parts = [recipe.device, identity, *([recipe.label] if recipe.label else [])]
    return "-".join(parts + [f"{key.replace('_', '-')}-{slugify(text)}" for key, text in differing.items()])
