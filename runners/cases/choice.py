"""What `--case` chooses: the tables of a matrix, cut down to the values wanted."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from runners.cases.fields import Value
from runners.cases.matrix import Axes, fault_of, numbers, text_of
from runners.command.argv import checked
from runners.errors import RunnerError


def chosen(recipe: str, tables: Sequence[Axes], choices: Mapping[str, str]) -> list[Axes]:
    """The tables with the keys in `choices` set to one value each; raises RunnerError, naming the `recipe`.

    Of several tables those that state the value are taken, and all where none does: a value of one's own is tried in
    every one. `nodes` and `devices` choose among the shapes, and make one of their own where none fits.
    """
    keys = ("nodes", "devices", *(key for key in tables[0] if key != "shape"))
    left = list(tables)
    for key, text in choices.items():
        if key not in keys:
            raise RunnerError(f"recipe {recipe}: it has no key {key!r} to choose by; it has {', '.join(keys)}")
        if key not in ("nodes", "devices"):
            left = _fixed(left, key, _value(recipe, tables, key, checked(text, f"--case {key}")))
    return _shaped(recipe, left, {key: _count(recipe, key, choices[key]) for key in keys[:2] if key in choices})


def _fixed(tables: list[Axes], key: str, value: Value) -> list[Axes]:
    stating = [table for table in tables if text_of(value) in map(text_of, table[key])]
    return [{**table, key: (value,)} for table in stating or tables]


def _shaped(recipe: str, tables: list[Axes], wanted: Mapping[str, int]) -> list[Axes]:
    fitting = [{**table, "shape": tuple(shape for shape in table["shape"] if _fits(shape, wanted))} for table in tables]
    if any(table["shape"] for table in fitting):
        return [table for table in fitting if table["shape"]]
    return [{**table, "shape": (_own_shape(recipe, wanted),)} for table in tables]


def _fits(shape: Value, wanted: Mapping[str, int]) -> bool:
    nodes, per_node = numbers(shape)
    return wanted.get("nodes", nodes) == nodes and wanted.get("devices", nodes * per_node) == nodes * per_node


def _own_shape(recipe: str, wanted: Mapping[str, int]) -> str:
    nodes, devices = wanted.get("nodes", 1), wanted.get("devices")
    if devices is None:
        raise RunnerError(f"recipe {recipe}: no shape has nodes={nodes}; state devices= of the whole job too")
    if devices % nodes:
        raise RunnerError(f"recipe {recipe}: devices={devices} cannot be shared out evenly among nodes={nodes}")
    return f"{nodes}n{devices // nodes}d"


def _count(recipe: str, key: str, text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise RunnerError(f"recipe {recipe}: {key}={text!r} must be a whole number from 1")
    return int(text)


def _value(recipe: str, tables: Sequence[Axes], key: str, text: str) -> Value:
    """The value that the matrix states so, or else the text in the type of the first that it states."""
    if key in ("batch_size", "iterations"):
        return _count(recipe, key, text)
    stated = [value for table in tables for value in table[key]]
    value = next((value for value in stated if text_of(value) == text), None)
    value = _like(recipe, key, text, stated[0]) if value is None else value
    if fault := fault_of(key, value):
        raise RunnerError(f"recipe {recipe}: {key}={value!r} {fault}")
    return value


def _like(recipe: str, key: str, text: str, example: Value) -> Value:
    kind = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[type(example)]
    try:
        value = {"true": True, "false": False}[text.lower()] if isinstance(example, bool) else type(example)(text)
    except (KeyError, ValueError):
        value = math.nan
    if isinstance(value, float) and not math.isfinite(value):
        raise RunnerError(f"recipe {recipe}: {key}={text!r} must be {kind}, like its {text_of(example)}")
    return value
