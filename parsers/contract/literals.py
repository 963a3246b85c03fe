"""The words that every match of a pattern holds, so that a text without one of them need not be searched.

`re` looks for a word only where a pattern begins with it; most of ours begin with a date, a bracket or a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import islice
from typing import Any

#: Shorter ones stand everywhere; and a few tell nearly as much as all.
_SHORTEST, _MOST = 3, 4


def literals(regex: re.Pattern[bytes]) -> tuple[bytes, ...]:
    """Return some words of which each stands in every match of a pattern, the longest first."""
    if regex.flags & re.IGNORECASE:
        return ()
    found = {each for each in _words(_parsed(regex)) if len(each) >= _SHORTEST}
    return tuple(sorted(found, key=lambda each: (-len(each), each))[:_MOST])


def begins_with_a_word(regex: re.Pattern[bytes]) -> bool:
    """Return whether every match of a pattern begins with the same characters."""
    begin = list(islice(_parsed(regex), _SHORTEST))
    return not regex.flags & re.IGNORECASE and [str(kind) for kind, _ in begin] == ["LITERAL"] * _SHORTEST


def _parsed(regex: re.Pattern[bytes]) -> Iterable[tuple[Any, Any]]:
    parsed: Iterable[tuple[Any, Any]] = import_module("re._parser").parse(regex.pattern, regex.flags)
    return parsed


def _words(parsed: Iterable[tuple[Any, Any]]) -> Iterator[bytes]:
    """Yield the characters that follow each other in what every match holds; of alternatives, none does."""
    word = bytearray()
    for kind, argument in parsed:
        if str(kind) == "LITERAL":
            word.append(argument)
            continue
        yield bytes(word)
        word.clear()
        yield from _words(_certain(str(kind), argument))
    yield bytes(word)


def _certain(kind: str, argument: Any) -> Iterable[tuple[Any, Any]]:
    """Return what of a part of a pattern stands in every match: groups, repeats of one and more, what is looked at ahead."""
    match kind, argument:
        case "ATOMIC_GROUP", inner:
            return inner  # type: ignore[no-any-return]
        case "SUBPATTERN", (_, more, _, inner) if not more & re.IGNORECASE:
            return inner  # type: ignore[no-any-return]
        case (("MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT"), (least, _, inner)) if least:
            return inner  # type: ignore[no-any-return]
        case "ASSERT", (1, inner):
            return inner  # type: ignore[no-any-return]
    return ()
