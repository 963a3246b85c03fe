"""Find keys that are broken: by quotes that end and begin again, or by the end of a line that a terminal wrapped."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from schema.redaction.rules import RedactionRule, every_rule

_TOKEN = r"[\w+/=.-]"
# What comes before a break is looked at last: both patterns begin with what is rare.
_QUOTES = re.compile(
    rf"[\"'`](?<={_TOKEN}.)[\"'`]?(?:[ \t]{{0,20}}[+\\]?[ \t]{{0,20}}\n?[ \t]{{0,20}}[\"'`]{{1,2}})?(?={_TOKEN})"
)
_LINE_END = re.compile(rf"(?s)\n(?<={_TOKEN}.)(?={_TOKEN})")
#: Columns of a terminal that wraps, at least.
_NARROWEST = 60


class BrokenKey(NamedTuple):
    """Where a key begins and ends in a text, and the rule that knows it."""

    begin: int
    end: int
    rule: RedactionRule


def broken_keys(text: str, seconds: float) -> list[BrokenKey]:
    """Return the keys that only the text without breaks shows, none within another.

    Raises:
        TimeoutError: a pattern takes longer than `seconds`.
    """
    whole = _Whole(text, tuple(_breaks(text)))
    if not whole.breaks:
        return []
    found: list[BrokenKey] = []
    for rule in every_rule().likely(whole.text):
        if rule.kind == "key":
            found += whole.broken(rule, seconds)
    return list(_apart(sorted(found, key=lambda each: (each.begin, -each.end))))


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where breaks begin and end, in order."""
    wraps = (each for each in _LINE_END.finditer(text) if each.start() - text.rfind("\n", 0, each.start()) > _NARROWEST)
    last = 0
    for begin, end in sorted(match.span() for match in (*wraps, *_QUOTES.finditer(text))):
        if begin >= last:
            yield begin, end
            last = end


def _apart(found: list[BrokenKey]) -> Iterator[BrokenKey]:
    last = 0
    for each in found:
        if each.begin >= last:
            yield each
            last = each.end


@dataclass(frozen=True)
class _Whole:
    """A text without its breaks, and the way back to the places in the original."""

    original: str
    breaks: tuple[tuple[int, int], ...]

    @cached_property
    def text(self) -> str:
        ends = [0, *(end for _, end in self.breaks)]
        begins = [*(begin for begin, _ in self.breaks), len(self.original)]
        return "".join(self.original[end:begin] for end, begin in zip(ends, begins, strict=True))

    @cached_property
    def _shifts(self) -> list[int]:
        """The characters left out before the first break, the second, and so on."""
        shifts = [0]
        for begin, end in self.breaks:
            shifts.append(shifts[-1] + end - begin)
        return shifts

    @cached_property
    def _joints(self) -> list[int]:
        return [begin - shift for (begin, _), shift in zip(self.breaks, self._shifts[:-1], strict=True)]

    def _place(self, at: int) -> int:
        return at + self._shifts[bisect_right(self._joints, at)]

    def broken(self, rule: RedactionRule, seconds: float) -> Iterator[BrokenKey]:
        for match in rule.regex.finditer(self.text, timeout=seconds):
            begin, end = rule.hidden(match), match.end()
            if bisect_right(self._joints, begin) < bisect_left(self._joints, end):
                yield BrokenKey(self._place(begin), self._place(end - 1) + 1, rule)
