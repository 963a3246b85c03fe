"""Hostile texts for a pattern, built from the pattern itself: starts that are repeated and never completed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

#: Characters for a class or `.`, in the order of their frequency in logs.
_FILLERS = "0a -.\t"
_REPEATS = {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT}
_LOOKS = {op.ASSERT, op.ASSERT_NOT}


def texts(pattern: str, size: int, examples: int, cuts: int, seed: int = 0) -> Iterator[str]:
    """Yield texts of about `size` characters that make a pattern with a quadratic search slow.

    Each example is a text that the pattern (nearly) matches, in pieces. Its beginnings are repeated on one line and on
    many, and continued with one piece over and over, which attacks gaps and repeats.
    """
    chance = random.Random(seed)
    # `regex` allows several groups of one name, `re` does not; redaction uses that.
    tree = _parser.parse(re.sub(r"\(\?P<(?:hide|host|user)>", "(?:", pattern))
    seen: set[str] = set()
    for _ in range(examples):
        pieces = list(_pieces(tree, chance))
        ends = range(1, len(pieces) + 1)
        for end in sorted(chance.sample(ends, min(cuts, len(ends)))):
            begin, last = "".join(pieces[:end]), pieces[end - 1]
            for unit in (begin, begin + chance.choice(_FILLERS), begin + "\n"):
                if unit.strip("\0") and unit not in seen:
                    seen.add(unit)
                    yield unit * (size // len(unit) + 1)
            for unit in {last, chance.choice(_FILLERS), " \n"} - {""}:
                if (key := f"{begin}\0{unit}") not in seen:
                    seen.add(key)
                    yield begin + unit * (size // len(unit) + 1) + "\1"


def _pieces(tree: Any, chance: random.Random) -> Iterator[str]:
    """Yield a text that fits a parsed pattern, token by token; the text of a lookahead is added at random."""
    for kind, value in tree:
        if kind == op.LITERAL:
            yield chr(value)
        elif kind in (op.NOT_LITERAL, op.ANY):
            yield next(each for each in _FILLERS if kind == op.ANY or ord(each) != value)
        elif kind == op.IN:
            yield _member(value, chance)
        elif kind == op.BRANCH:
            yield from _pieces(chance.choice(value[1]), chance)
        elif kind == op.SUBPATTERN:
            yield from _pieces(value[3], chance)
        elif kind == op.ATOMIC_GROUP:
            yield from _pieces(value, chance)
        elif kind in _REPEATS:
            least, most, inner = value
            for _ in range(min(max(least, chance.choice((0, 1, 1, 2))), most)):
                yield from _pieces(inner, chance)
        elif kind in _LOOKS and value[0] > 0 and chance.random() < (0.5 if kind == op.ASSERT else 0.2):
            yield from _pieces(value[1], chance)


def _member(members: Any, chance: random.Random) -> str:
    """Return a character that a class matches; for a negated class a common one."""
    compiled = re.compile(_class(members))
    found = [each for each in _FILLERS + "\nA%/|=" if compiled.fullmatch(each)]
    return chance.choice(found) if found else next(chr(n) for n in range(0x10000) if compiled.fullmatch(chr(n)))


_CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d", op.CATEGORY_NOT_DIGIT: r"\D", op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S", op.CATEGORY_WORD: r"\w", op.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


def _class(members: Any) -> str:
    parts = []
    for kind, value in members:
        if kind == op.NEGATE:
            parts.append("^")
        elif kind == op.LITERAL:
            parts.append(f"\\x{value:02x}" if value < 256 else chr(value))
        elif kind == op.RANGE:
            parts.append("-".join(f"\\u{each:04x}" for each in value))
        else:
            parts.append(_CATEGORIES[value])
    return f"[{''.join(parts)}]"
