"""The values of a recipe: its matrix, which `--case` limits, and slots such as `{batch_size}`, which take them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from perfledger.runners.job import NODE_VARIABLES, NodeVariable, RunnerError, Scalar, Word
from perfledger.runners.toml_errors import FaultError, Keys, nearest, wrong
from perfledger.schema.vocabulary import PRECISIONS

#: Keys that every case has by itself; an option cannot have these names.
COMPUTED = ("nodes", "devices", "devices_per_node", "global_batch_size", "iterations", "data")
SHAPE = re.compile(r"([1-9][0-9]*)n([1-9][0-9]*)d")
_KEY = re.compile(r"[a-z][a-z0-9_]*")
#: A table of the matrix as its file states it: a value or several by key of the case.
Table = dict[str, Scalar | tuple[Scalar, ...]]
#: Values to combine, by key of the case.
Axes = Mapping[str, tuple[Scalar, ...]]
#: A table of `[slots]`: `by`, a key of the case, and a text or a list of words for each of its values.
Lookup = dict[str, str | int | tuple[str, ...]]


def text_of(value: Scalar) -> str:
    """Return a value as a command line has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_name(keys: Keys, taken: Collection[str]) -> None:
    """Raise unless `{key}` is a slot that can only mean this value."""
    key = str(keys[-1])
    if not _KEY.fullmatch(key) or key in {*taken, *COMPUTED, *NODE_VARIABLES}:
        raise wrong(keys, "is taken, or is not a name: use a-z, 0-9 and '_', and another word")


def case_value_fault(key: str, value: Scalar) -> str:
    """Return why a value cannot be that of a key of a case; empty where it can."""
    if key == "batch_size" and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        return "must be a whole number from 1"
    if key == "precision" and value not in PRECISIONS:
        return f"must be one of {', '.join(PRECISIONS)}"
    if key == "shape" and not SHAPE.fullmatch(str(value)):
        return "must be nodes and devices per node, such as 2n8d"
    return ""


def read_matrix(stated: Table | Sequence[Table], options: Collection[str]) -> tuple[Axes, ...]:
    """Read `matrix`, one table or several; a key of one table must be in all of them or in `options`."""
    tables = (stated,) if isinstance(stated, Mapping) else stated
    found = tuple(_axes(table, ("matrix", number)) for number, table in enumerate(tables))
    if not found:
        raise wrong(("matrix",), "is empty; state at least `batch_size` and `precision`")
    for key in dict.fromkeys(key for axes in found for key in axes):
        for number, axes in enumerate(found):
            if key not in axes and key not in options:
                raise wrong(("matrix", number, key), "is in one table and not in all; add it to them or to `options`")
    return found


def _axes(table: Table, keys: Keys) -> Axes:
    for key in ("batch_size", "precision"):
        if table.get(key, ()) == ():
            raise wrong((*keys, key), "is missing or empty; state at least one value")
    axes: dict[str, tuple[Scalar, ...]] = {} if "shape" in table else {"shape": ("1n1d",)}
    return axes | {key: _axis((*keys, key), value) for key, value in table.items()}


def _axis(keys: Keys, value: Scalar | tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """Read the values of a key."""
    check_name(keys, ())
    values = value if isinstance(value, tuple) else (value,)
    if not values or len({text_of(each) for each in values}) < len(values):
        raise wrong(keys, "states no value, or one twice")
    for each in values:
        if fault := case_value_fault(str(keys[-1]), each):
            raise wrong(keys, f"is {each!r}, but {fault}")
    return values


def combinations(axes: Axes) -> Iterator[dict[str, Scalar]]:
    """Yield each value of a key with each one of the others, with the keys in the order of the table."""
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def fixed(tables: Sequence[Axes], key: str, value: Scalar) -> list[Axes]:
    """Return the tables that state a value of a key, limited to it; all tables if none states it."""
    stating = [axes for axes in tables if text_of(value) in map(text_of, axes[key])]
    return [{**axes, key: (value,)} for axes in stating or tables]


def with_shapes(recipe: str, tables: Sequence[Axes], wanted: Mapping[str, int]) -> list[Axes]:
    """Return the tables with the shapes of these numbers of nodes and devices; with a new shape if none has them."""
    fitting = [{**axes, "shape": tuple(each for each in axes["shape"] if _fits(each, wanted))} for axes in tables]
    return [axes for axes in fitting if axes["shape"]] or [
        {**axes, "shape": (_new_shape(recipe, wanted),)} for axes in tables
    ]


def _fits(shape: Scalar, wanted: Mapping[str, int]) -> bool:
    nodes, per_node = counts(shape)
    return wanted.get("nodes", nodes) == nodes and wanted.get("devices", nodes * per_node) == nodes * per_node


def _new_shape(recipe: str, wanted: Mapping[str, int]) -> str:
    nodes, devices = wanted.get("nodes", 1), wanted.get("devices")
    if devices is None:
        raise RunnerError(f"recipe {recipe}: no shape has nodes={nodes}; state devices= of the whole job too")
    if devices % nodes:
        raise RunnerError(f"recipe {recipe}: devices={devices} cannot be shared out evenly among nodes={nodes}")
    return f"{nodes}n{devices // nodes}d"


def counts(shape: Scalar) -> tuple[int, int]:
    """Return nodes and devices per node of a shape such as `2n8d`."""
    match = SHAPE.fullmatch(str(shape))
    assert match, "`recipe` and `_new_shape` give no other"
    return int(match[1]), int(match[2])


def count(recipe: str, key: str, text: str) -> int:
    """Return a text of `--case` as a whole number from 1."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise RunnerError(f"recipe {recipe}: {key}={text!r} must be a whole number from 1")
    return int(text)


def value_of(recipe: str, tables: Sequence[Axes], key: str, text: str) -> Scalar:
    """Return the value that the matrix states so, or else the text in the type of the first that it states."""
    if key in ("batch_size", "iterations"):
        return count(recipe, key, text)
    stated = [value for axes in tables for value in axes[key]]
    value = next((value for value in stated if text_of(value) == text), None)
    value = _converted(recipe, key, text, stated[0]) if value is None else value
    if fault := case_value_fault(key, value):
        raise RunnerError(f"recipe {recipe}: {key}={value!r} {fault}")
    return value


def _converted(recipe: str, key: str, text: str, example: Scalar) -> Scalar:
    kind = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[type(example)]
    try:
        return msgspec.convert(text, type(example), strict=False)
    except msgspec.ValidationError:
        what = f"{key}={text!r} must be {kind}, like its {text_of(example)}"
        raise RunnerError(f"recipe {recipe}: {what}") from None


#: A slot in a text, or a brace that is written twice and means one.
SLOT = re.compile(r"\{\{|\}\}|\{([a-z_][a-z0-9_]*)\}")


def slot_alone(text: str) -> str:
    """Return the slot that a text consists of; empty if it is anything else."""
    alone = SLOT.fullmatch(text)
    return (alone[1] or "") if alone else ""


def filled_word(text: str, value: Callable[[str], Word]) -> Word:
    """Return a text with the values of its slots; braces in the values are not slots."""
    parts: list[str | NodeVariable] = []
    end = 0
    for match in SLOT.finditer(text):
        parts += [text[end : match.start()], *(value(match[1]) if match[1] else (match[0][0],))]
        end = match.end()
    merged: list[str | NodeVariable] = []
    for part in [*parts, text[end:]]:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        elif part:
            merged.append(part)
    return tuple(merged) or ("",)


def texts_of(slot: Lookup) -> Iterator[str]:
    """Yield the texts of a slot, for whatever value of its key."""
    for key, each in slot.items():
        if key != "by":
            yield from each if isinstance(each, tuple) else [str(each)]


def check_texts(keys: tuple[str, ...], texts: Iterable[str], known: Collection[str]) -> None:
    """Raise for a slot in texts that has no value, and for a brace that belongs to no slot."""
    for text in texts:
        for match in SLOT.finditer(text):
            if match[1] and match[1] not in known:
                remedy = nearest(match[1], known) or f"a slot here is one of {', '.join(sorted(known))}"
                what = f"`{'.'.join(keys)}` names {match[0]}, which has no value; {remedy}"
                raise FaultError(keys, f"{what} (a brace that is meant as one is written twice)")
        if lone := re.search(r"[{}]\S*", SLOT.sub("", text)):
            what = f"`{'.'.join(keys)}` is {text!r}, whose {lone[0][0]} belongs to no slot"
            raise FaultError(keys, f"{what}; a slot is {{name}} in small letters, a brace as such is written twice")
