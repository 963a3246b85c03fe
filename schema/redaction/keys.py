"""Find keys and passwords: whole ones, and those that quotes or the end of a line break, as a terminal wraps it."""

from __future__ import annotations

import re
import string
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from perfledger.schema.redaction.rules import RedactionRule, key_rules

_TOKEN = r"[\w+/=.-]"
# What comes before a break is looked at last: both patterns begin with what is rare.
_QUOTES = re.compile(
    rf"[\"'`](?<={_TOKEN}.)[\"'`]?(?:[ \t]{{0,20}}[+\\]?[ \t]{{0,20}}\n?[ \t]{{0,20}}[\"'`]{{1,2}})?(?={_TOKEN})"
)
# A line that begins with a name and its value is one of its own.
_LINE_END = re.compile(rf"(?s)\n(?<={_TOKEN}.)(?={_TOKEN})(?![A-Za-z_][\w.-]{{0,60}}[\"']?\s?[=:])")
_RUN = re.compile(f"{_TOKEN}{{1,80}}")
_LETTERS = f"{string.ascii_letters}{string.digits}_+/=.-"
#: Columns of a terminal that wraps, at least; and letters without a blank around the break, more than most words have.
_NARROWEST, _SHORTEST = 60, 20


class KeySpan(NamedTuple):
    """Where a key begins and ends in a text, and the rule that knows it."""

    begin: int
    end: int
    rule: RedactionRule


def keys_in(text: str, seconds: float) -> list[KeySpan]:
    """Return the keys in a text, those that overlap as one: every rule looks at the text as it is.

    Raises:
        TimeoutError: a pattern takes longer than `seconds`.
    """
    found = [*_whole(text, seconds), *_broken(text, seconds)]
    merged: list[KeySpan] = []
    for each in sorted(found, key=lambda each: each.begin):
        if merged and each.begin < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, each.end))
        else:
            merged.append(each)
    return merged


def _whole(text: str, seconds: float) -> Iterator[KeySpan]:
    for rule in key_rules().likely(text):
        for match in rule.regex.finditer(text, timeout=seconds):
            if span := rule.key(match):
                yield KeySpan(*span, rule)


def _broken(text: str, seconds: float) -> Iterator[KeySpan]:
    """Yield the keys that only the text without breaks shows."""
    mended = _Mended(text, tuple(_breaks(text)))
    for found in _whole(mended.text, seconds) if mended.breaks else ():
        if mended.within(found):
            yield mended.original_span(found)


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where breaks begin and end, in order."""
    wraps = (each for each in _LINE_END.finditer(text) if _is_wrap(text, each.start()))
    last = 0
    for begin, end in sorted(match.span() for match in (*wraps, *_QUOTES.finditer(text))):
        if begin >= last:
            yield begin, end
            last = end


def _is_wrap(text: str, at: int) -> bool:
    """Return whether a line may go on after its end: it is as long as a terminal is wide, and breaks a long word."""
    columns = at - text.rfind("\n", 0, at) - 1
    after = _RUN.match(text, at + 1)
    word = text[max(at - _SHORTEST, 0) : at]
    before = len(word) - len(word.rstrip(_LETTERS))
    return columns >= _NARROWEST and before + len(after[0] if after else "") >= _SHORTEST


@dataclass(frozen=True)
class _Mended:
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

    def within(self, found: KeySpan) -> bool:
        """Return whether a break stood in the middle of a key."""
        return bisect_right(self._joints, found.begin) < bisect_left(self._joints, found.end)

    def original_span(self, found: KeySpan) -> KeySpan:
        return found._replace(begin=self._place(found.begin), end=self._place(found.end - 1) + 1)
