"""Find keys and passwords: whole ones, and those that are split by quotes or by a line break of a terminal."""

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
# Both patterns begin with a rare character and look at the text before it last, which is fast.
_QUOTES = re.compile(
    rf"[\"'`](?<={_TOKEN}.)[\"'`]?(?:[ \t]{{0,20}}[+\\]?[ \t]{{0,20}}\n?[ \t]{{0,20}}[\"'`]{{1,2}})?(?={_TOKEN})"
)
# A line that begins with a name and its value does not continue the line before it.
_LINE_END = re.compile(rf"(?s)\n(?<={_TOKEN}.)(?={_TOKEN})(?![A-Za-z_][\w.-]{{0,60}}[\"']?\s?[=:])")
_RUN = re.compile(f"{_TOKEN}{{1,80}}")
_LETTERS = f"{string.ascii_letters}{string.digits}_+/=.-"
#: Characters of a line before a break by a terminal, at least.
_NARROWEST = 60
#: Characters without a blank around a break, at least; most words have fewer.
_SHORTEST = 20


class KeySpan(NamedTuple):
    """The begin and end of a key in a text, and the rule that found it."""

    begin: int
    end: int
    rule: RedactionRule


def keys_in(text: str, seconds: float) -> list[KeySpan]:
    """Return the keys in a text. Every rule searches the original text; overlapping keys are merged.

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
    """Yield the keys that are found only in the text without breaks."""
    mended = _Mended(text, tuple(_breaks(text)))
    for found in _whole(mended.text, seconds) if mended.breaks else ():
        if mended.within(found):
            yield mended.original_span(found)


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield begin and end of the breaks, in order."""
    wraps = (each for each in _LINE_END.finditer(text) if _is_wrap(text, each.start()))
    last = 0
    for begin, end in sorted(match.span() for match in (*wraps, *_QUOTES.finditer(text))):
        if begin >= last:
            yield begin, end
            last = end


def _is_wrap(text: str, at: int) -> bool:
    """Return whether a line break is that of a terminal: the line is long, and the break splits a long word."""
    columns = at - text.rfind("\n", 0, at) - 1
    after = _RUN.match(text, at + 1)
    word = text[max(at - _SHORTEST, 0) : at]
    before = len(word) - len(word.rstrip(_LETTERS))
    return columns >= _NARROWEST and before + len(after[0] if after else "") >= _SHORTEST


@dataclass(frozen=True)
class _Mended:
    """A text without its breaks, and the original place of each character."""

    original: str
    breaks: tuple[tuple[int, int], ...]

    @cached_property
    def text(self) -> str:
        ends = [0, *(end for _, end in self.breaks)]
        begins = [*(begin for begin, _ in self.breaks), len(self.original)]
        return "".join(self.original[end:begin] for end, begin in zip(ends, begins, strict=True))

    @cached_property
    def _shifts(self) -> list[int]:
        """Characters removed before the first break, before the second, and so on."""
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
        """Return whether a break was in the middle of a key."""
        return bisect_right(self._joints, found.begin) < bisect_left(self._joints, found.end)

    def original_span(self, found: KeySpan) -> KeySpan:
        return found._replace(begin=self._place(found.begin), end=self._place(found.end - 1) + 1)
