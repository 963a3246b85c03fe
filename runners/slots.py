"""Slots such as `{batch_size}` in the texts of a recipe, and the tables of `[slots]` that give their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from perfledger.runners.job import NodeVariable, Word
from perfledger.runners.matrix import COMPUTED, check_name, scalar, text_of
from perfledger.runners.toml_errors import FaultError, Table, nearest, wrong

#: A slot in a text, or a brace that is written twice and means one.
SLOT = re.compile(r"\{\{|\}\}|\{([a-z_][a-z0-9_]*)\}")


class Lookup(Struct, frozen=True):
    """A table of `[slots]`: texts or lists of words by the value of one key of the case."""

    by: str
    values: Mapping[str, str | tuple[str, ...]]


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


def read_slots(table: Table, keys: Collection[str]) -> dict[str, Lookup]:
    """Read `[slots]`; `keys` are those of the recipe's matrix and options."""
    for name, value in table.items():
        check_name(("slots", name), value, keys)
        if not isinstance(value, dict):
            raise wrong(("slots", name), value, "must be a table: `by`, and a text or a list for each of its values")
    return {name: _lookup(name, value, keys) for name, value in table.items()}


def _lookup(name: str, table: Table, keys: Collection[str]) -> Lookup:
    by, known = table.get("by"), sorted({*keys, *COMPUTED} - {"shape", "data"})
    if by not in known:
        raise wrong(("slots", name, "by"), by, f"must be one of {', '.join(known)}")
    return Lookup(
        str(by), {key: _slot_texts(("slots", name, key), value) for key, value in table.items() if key != "by"}
    )


def _slot_texts(keys: tuple[str, ...], value: object) -> str | tuple[str, ...]:
    if not isinstance(value, list):
        return text_of(scalar(keys, value))
    if not all(isinstance(each, str) for each in value):
        raise wrong(keys, value, "must be a list of texts")
    return tuple(value)


def texts_of(slot: Lookup) -> Iterator[str]:
    """Yield the texts of a slot, for whatever value of its key."""
    for each in slot.values.values():
        yield from [each] if isinstance(each, str) else each


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
