"""The matrix of a recipe: tables of the values that cases combine, and what these values may be."""

from __future__ import annotations

import re
from collections.abc import Mapping

from runners.cases.fields import FieldError, Table, Value
from runners.command.argv import LATE

PRECISIONS = ("fp32", "tf32", "amp", "fp16", "bf16")
KEY = re.compile(r"[a-z][a-z0-9_]*")
SHAPE = re.compile(r"([1-9][0-9]*)n([1-9][0-9]*)d")
#: What every case has by itself, so that no option may be called so.
DERIVED = ("nodes", "devices", "devices_per_node", "global_batch_size", "iterations", "data")

Axes = Mapping[str, tuple[Value, ...]]


def read_matrix(table: Table, options: Mapping[str, Value]) -> tuple[Axes, ...]:
    """Reads `matrix`, which is a table or several; a key that is in one is in all of them or in `options`."""
    stated = table.values["matrix"]
    tables = stated if isinstance(stated, list) else [stated]
    if not tables or not all(isinstance(each, dict) for each in tables):
        raise table.wrong("matrix", stated, "must be a table or several: [matrix], or [[matrix]] more than once")
    axes = tuple(_axes(Table(each, "matrix.")) for each in tables)
    keys = {key: None for each in axes for key in each}
    for each in axes:
        for key in keys:
            if key not in each and key not in options:
                raise FieldError(f"`matrix.{key}` is in one table and not in all; add it to them or to `options`")
    return axes


def read_options(table: Table) -> dict[str, Value]:
    """Reads `[options]`."""
    for key, value in table.values.items():
        named(table, key, value, {"batch_size", "precision", "shape"})
    return table.scalars()


def named(table: Table, key: str, value: object, taken: set[str]) -> None:
    """Holds that `{key}` can stand in a text and means this value and no other's; raises FieldError."""
    if not KEY.fullmatch(key) or key in (taken | {*DERIVED, *LATE}):
        raise table.wrong(key, value, "its name is taken or no name: use a-z, 0-9 and '_', and another word")


def fault_of(key: str, value: Value) -> str:
    """Why a value cannot be the one of a key of a case; empty where it can."""
    if key == "batch_size" and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        return "must be a whole number from 1"
    if key == "precision" and value not in PRECISIONS:
        return f"must be one of {', '.join(PRECISIONS)}"
    if key == "shape" and not SHAPE.fullmatch(str(value)):
        return "must be nodes and devices per node, such as 2n8d"
    return ""


def numbers(shape: Value) -> tuple[int, int]:
    """Nodes and devices per node of a shape such as `2n8d`."""
    nodes, _, devices = str(shape).removesuffix("d").partition("n")
    return int(nodes), int(devices)


def text_of(value: Value) -> str:
    """A value as it stands in a command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _axes(table: Table) -> Axes:
    for key in ("batch_size", "precision"):
        if key not in table.values:
            raise FieldError(f"`matrix.{key}` is missing or empty; state at least one value")
    axes: dict[str, tuple[Value, ...]] = {} if "shape" in table.values else {"shape": ("1n1d",)}
    return axes | {key: _axis(table, key, value) for key, value in table.values.items()}


def _axis(table: Table, key: str, value: object) -> tuple[Value, ...]:
    named(table, key, value, set())
    values = tuple(table.scalar(key, each) for each in (value if isinstance(value, list) else [value]))
    if not values:
        raise FieldError(f"`{table.prefix}{key}` is missing or empty; state at least one value")
    if len({text_of(each) for each in values}) < len(values):
        raise table.wrong(key, value, "states a value twice")
    for each in values:
        if fault := fault_of(key, each):
            raise table.wrong(key, each, fault)
    return values
