"""Show a pattern as a line that people can read: literal text, and columns in braces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

_GAP = "…"
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


def shape_of(regex: re.Pattern[bytes]) -> str:
    """Return a readable line for a pattern, such as `[Epoch {epoch}] … batch_cost: {step_seconds}s`."""
    names = {number: name for name, number in regex.groupindex.items()}
    parsed = import_module("re._parser").parse(regex.pattern, regex.flags)
    shown = "".join(_parts(parsed, names))
    return re.sub(f"(?:{_GAP} *)+", f"{_GAP} ", re.sub(r"\s+", " ", shown)).strip(f"{_GAP} ")


def _parts(parsed: Iterable[tuple[Any, Any]], names: dict[int, str]) -> Iterator[str]:
    for kind, argument in ((str(kind), argument) for kind, argument in parsed):
        if kind == "LITERAL":
            yield chr(argument)
        elif kind == "SUBPATTERN":
            number, _, _, inner = argument
            yield f"{{{names[number]}}}" if number in names else "".join(_parts(inner, names))
        elif kind == "BRANCH":
            yield max(("".join(_parts(each, names)) for each in argument[1]), key=len)
        elif kind in _REPEATS:
            least, _, inner = argument
            yield "".join(_parts(inner, names)) if _is_text(inner) and least == 1 else _blank_or_gap(inner)
        elif kind in ("IN", "ANY", "NOT_LITERAL", "CATEGORY"):
            yield _GAP


def _is_text(inner: Iterable[tuple[Any, Any]]) -> bool:
    return all(str(kind) in ("LITERAL", "SUBPATTERN") for kind, _ in inner)


def _blank_or_gap(inner: Iterable[tuple[Any, Any]]) -> str:
    return " " if [(str(kind), value) for kind, value in inner] == [("LITERAL", ord(" "))] else _GAP
