"""Another reading of a text: without what a terminal does not show, without breaks, and with its escapes undone.

A secret may be found in one reading only. A reading knows the original place of its characters.
"""

from __future__ import annotations

import base64
import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

# The trap: `re` is fast if a pattern begins with one set of characters, so each pattern looks back at that character.
#: Characters that a terminal does not show and that may split a secret: styles, NUL, marks without width.
_UNSEEN = re.compile(
    r"[\x1b\0\xad\u200b-\u200f\u2060\ufeff]"
    r"(?:(?<!\x1b)|(?<=\x1b)(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b\n]{0,200}+(?:\x07|\x1b\\)))"
)
_TOKEN = r"[\w+/=.-]"
#: Characters of a word before and after the end of a line that splits it, at least: most words of logs are shorter.
_HALVES = ((4, 16), (8, 12), (12, 8), (16, 4))
_SPLIT = "|".join(rf"(?<={_TOKEN}{{{before}}}\n)(?={_TOKEN}{{{after}}})" for before, after in _HALVES)
# A word is split by quotes, with a plus or a break between them, and the end of a line of a terminal. Such a line has
# 60 characters or more, and the next one does not begin with a name and its value.
_BREAK = re.compile(
    rf"[\"'`\n](?:(?<={_TOKEN}[\"'`])[\"'`]?"
    rf"(?:[ \t]{{0,20}}[+\\]?[ \t]{{0,20}}\n?[ \t]{{0,20}}[\"'`]{{1,2}})?(?={_TOKEN})"
    rf"|(?<=[^\n]{{60}}\n)(?:{_SPLIT})(?![A-Za-z_][\w.-]{{0,60}}[\"']?\s?[=:]))"
)
_ESCAPE = re.compile(
    r"[%\\&\uff01-\uff5e](?:(?<=%)[0-7][0-9A-Fa-f]|(?<=\\)\\{0,2}(?:u00[0-7][0-9A-Fa-f]|x[0-7][0-9A-Fa-f]|[\"'/nt])"
    r"|(?<=&)(?:quot|apos|amp|lt|gt|#\d{2,3}|#x[0-9A-Fa-f]{2});|(?<=[\uff01-\uff5e]))"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}+={0,2}")
_PAIR = re.compile(r"[\w.@+-]{1,64}:\S{6,}")


class Edit(NamedTuple):
    """A part of a text, and its replacement in another reading."""

    begin: int
    end: int
    by: str


@dataclass(frozen=True)
class View:
    """A reading of a text: the text with edits, which do not overlap, in order."""

    source: str
    edits: Sequence[Edit] = ()

    @cached_property
    def text(self) -> str:
        """The text with the edits."""
        ends = [0, *(each.end for each in self.edits)]
        pieces = [f"{self.source[end : each.begin]}{each.by}" for end, each in zip(ends, self.edits, strict=False)]
        return "".join([*pieces, self.source[ends[-1] :]])

    def original_span(self, begin: int, end: int) -> tuple[int, int]:
        """Return the part of the original text that a part of this reading comes from."""
        return self._place(begin)[0], self._place(end - 1)[1]

    def _place(self, at: int) -> tuple[int, int]:
        """Return begin and end of a character in the source."""
        for begin, end, by in self.edits:
            if at < begin:
                break
            if at < begin + len(by):
                return begin, end
            at += end - begin - len(by)
        return at, at + 1


def views(text: str) -> Iterator[View]:
    """Yield a text, and its other reading if it has one."""
    yield View(text)
    edits = [Edit(0, 0, "")]
    for each in sorted(edit for pattern in (_UNSEEN, _BREAK, _ESCAPE) for edit in _edits(pattern, text)):
        if each.begin >= edits[-1].end:
            edits.append(each)
    if len(edits) > 1:
        yield View(text, edits[1:])


def _edits(pattern: re.Pattern[str], text: str) -> list[Edit]:
    by = _character if pattern is _ESCAPE else lambda _: ""
    return [Edit(*match.span(), by(match[0])) for match in pattern.finditer(text)]


def _character(escape: str) -> str:
    if escape.startswith("&"):
        return html.unescape(escape)
    name = escape.lstrip("%\\")
    if len(name) > 1:
        return chr(int(name[-2:], 16))
    return {"n": "\n", "t": "\t"}.get(name) or unicodedata.normalize("NFKC", name)


def decoded(word: str) -> str:
    """Return the text of a word in base64; empty if it is not text. A pair of name and key is spelled out."""
    if not _BASE64.fullmatch(word):
        return ""
    try:
        found = base64.b64decode(word, validate=True).decode("ascii")
    except ValueError:
        return ""
    if not found.isprintable():
        return ""
    return f"password={found}" if _PAIR.fullmatch(found) else found
