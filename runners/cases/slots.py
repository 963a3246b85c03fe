"""Slots such as `{batch_size}` in the texts of a recipe, and the words that the texts become."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from runners.cases.fields import FieldError, Table, Value
from runners.cases.matrix import DERIVED, named, text_of
from runners.command.argv import LATE, Late, Word
from runners.errors import RunnerError

SLOT = re.compile(r"\{\{|\}\}|\{([a-z_][a-z0-9_]*)\}")


@dataclass(frozen=True)
class Lookup:
    """Texts or lists of words by the value of one key of the case."""

    by: str
    values: Mapping[str, str | tuple[str, ...]]


@dataclass(frozen=True)
class Filling:
    """What the texts of a recipe are filled with: the values of one case, and the recipe's own `[slots]`."""

    recipe: str
    values: Mapping[str, Value]
    slots: Mapping[str, Value | Lookup]


def read_slots(table: Table, keys: set[str]) -> dict[str, Value | Lookup]:
    """Reads `[slots]`; `keys` are those of the recipe's matrix and options."""
    for name, value in table.values.items():
        named(table, name, value, keys)
    return {
        name: _lookup(table.table(name), keys) if isinstance(value, dict) else table.scalar(name, value)
        for name, value in table.values.items()
    }


def _lookup(table: Table, keys: set[str]) -> Lookup:
    by = table.one_of("by", sorted({*keys, *DERIVED} - {"shape", "data"}))
    values = {
        key: table.words(key, ()) if isinstance(value, list) else text_of(table.scalar(key, value))
        for key, value in table.values.items()
        if key != "by"
    }
    return Lookup(by, values)


def texts_of(slot: Value | Lookup) -> list[str]:
    """All texts that an entry of `[slots]` may become."""
    found = slot.values.values() if isinstance(slot, Lookup) else [text_of(slot)]
    return [text for each in found for text in ([each] if isinstance(each, str) else each)]


def check(key: str, texts: Iterable[str], known: Collection[str]) -> None:
    """Raises FieldError, naming the `key` of the recipe, where one of its texts names a slot that is not known."""
    for text in texts:
        for match in SLOT.finditer(text):
            if match[1] and match[1] not in known:
                raise FieldError(
                    f"`{key}` names {match[0]}, which has no value; a slot there is one of {', '.join(sorted(known))} "
                    "(a brace that is meant as one is written twice)"
                )


def words(filling: Filling, text: str) -> list[Word]:
    """What a text becomes: a word; through a table of `[slots]` also none, or, standing alone, several.

    `{name}` is a value of the case or of `[slots]`, or one that only the node knows; `{{` and `}}` are braces. Values
    of the case are put in as they are: nothing in them is a slot, and quoting comes last. The texts of `[slots]` are
    filled themselves, with the case; none names another, which `check` has seen to, so that this ends. Raises
    RunnerError where `{data}` is named and no folder of data is.
    """
    alone = SLOT.fullmatch(text)
    found = _looked_up(filling, alone[1]) if alone and alone[1] else None
    if isinstance(found, tuple):
        return [_word(filling, each) for each in found]
    whole = _word(filling, text)
    return [] if whole == ("",) and _names_a_table(filling, text) else [whole]


def _names_a_table(filling: Filling, text: str) -> bool:
    return any(isinstance(filling.slots.get(match[1] or ""), Lookup) for match in SLOT.finditer(text))


def _word(filling: Filling, text: str) -> Word:
    word: list[str | Late] = []
    for part in _parts(filling, text):
        if isinstance(part, str) and word and isinstance(word[-1], str):
            word[-1] += part
        elif part:
            word.append(part)
    return tuple(word) or ("",)


def _parts(filling: Filling, text: str) -> Iterator[str | Late]:
    end = 0
    for match in SLOT.finditer(text):
        yield text[end : match.start()]
        yield from _value(filling, match[1], text) if match[1] else [match[0][0]]
        end = match.end()
    yield text[end:]


def _value(filling: Filling, name: str, text: str) -> Iterator[str | Late]:
    if name in filling.values:
        yield text_of(filling.values[name])
    elif name in LATE:
        yield Late(name)
    elif name in filling.slots:
        found = _looked_up(filling, name)
        if isinstance(found, tuple):
            raise _fault(filling, text, f"{{{name}}} is a list there, and must stand alone")
        yield from _parts(filling, found)
    else:
        raise _fault(filling, text, "it needs data; name their folder with --data DIR")


def _looked_up(filling: Filling, name: str) -> str | tuple[str, ...]:
    slot = filling.slots.get(name, "")
    if not isinstance(slot, Lookup):
        return text_of(slot)
    value = text_of(filling.values[slot.by])
    if value not in slot.values:
        raise RunnerError(
            f"recipe {filling.recipe}: `slots.{name}` says nothing of {slot.by}={value}; add it, or choose one of "
            f"{', '.join(slot.values)}"
        )
    return slot.values[value]


def _fault(filling: Filling, text: str, why: str) -> RunnerError:
    return RunnerError(f"recipe {filling.recipe}: in {text!r}, {why}")
