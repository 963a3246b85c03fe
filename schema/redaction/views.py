"""Other readings of a text: without what a terminal does not show, without breaks, and with its escapes undone.

A secret may be found in one reading only. Each reading knows the original place of its characters.
"""

from __future__ import annotations

import base64
import re
import string
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

#: Characters that a terminal does not show and that may split a secret: styles, NUL, marks without width.
_UNSEEN = re.compile(
    r"\x1b\[[0-?]*+[ -/]*+[@-~]|\x1b\][^\x07\x1b\n]{0,200}+(?:\x07|\x1b\\)|[\0\xad\u200b-\u200f\u2060\ufeff]"
)
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
_ESCAPE = re.compile(
    r"%[0-7][0-9A-Fa-f]|\\{1,3}(?:u00[0-7][0-9A-Fa-f]|x[0-7][0-9A-Fa-f]|[\"'/nt])"
    r"|&(?:quot|apos|amp|lt|gt|#\d{2,3}|#x[0-9A-Fa-f]{2});|[\uff01-\uff5e]"
)
_CHARACTERS = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">", "n": "\n", "t": "\t"}
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}+={0,2}")
_PAIR = re.compile(r"[\w.@+-]{1,64}:\S{6,}")


class Edit(NamedTuple):
    """A part of a text, and its replacement in another reading."""

    begin: int
    end: int
    by: str


@dataclass(frozen=True)
class View:
    """A reading of a text: the text itself, or another reading with edits, which do not overlap, in order."""

    source: str | View
    edits: Sequence[Edit] = ()

    @cached_property
    def text(self) -> str:
        """The text with the edits."""
        text = self.source if isinstance(self.source, str) else self.source.text
        ends = [0, *(each.end for each in self.edits)]
        pieces = [f"{text[end : each.begin]}{each.by}" for end, each in zip(ends, self.edits, strict=False)]
        return "".join([*pieces, text[ends[-1] :]])

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        """Begin and end of each character in the source."""
        places: list[tuple[int, int]] = []
        at = 0
        for begin, end, by in self.edits:
            places += [*((each, each + 1) for each in range(at, begin)), *[(begin, end)] * len(by)]
            at = end
        return places + [(at + each, at + each + 1) for each in range(len(self.text) - len(places))]

    def original_span(self, begin: int, end: int) -> tuple[int, int]:
        """Return the part of the original text that a part of this reading comes from."""
        if isinstance(self.source, str):
            return begin, end
        return self.source.original_span(self._places[begin][0], self._places[end - 1][1])


def views(text: str) -> Iterator[View]:
    """Yield a text and its other readings; hidden characters are removed before breaks and escapes."""
    seen = View(text)
    yield seen
    if not text.isascii() or "\x1b" in text or "\0" in text:
        hidden = [Edit(*match.span(), "") for match in _UNSEEN.finditer(text)]
        if hidden:
            seen = View(seen, hidden)
            yield seen
    for edits in (list(_breaks(seen.text)), list(_escapes(seen.text))):
        if edits:
            yield View(seen, edits)


def _breaks(text: str) -> Iterator[Edit]:
    """Yield the breaks of words, in order."""
    wraps = (each for each in _LINE_END.finditer(text) if _is_wrap(text, each.start()))
    last = 0
    for begin, end in sorted(match.span() for match in (*wraps, *_QUOTES.finditer(text))):
        if begin >= last:
            yield Edit(begin, end, "")
            last = end


def _is_wrap(text: str, at: int) -> bool:
    """Return whether a line break is that of a terminal: the line is long, and the break splits a long word."""
    columns = at - text.rfind("\n", 0, at) - 1
    after = _RUN.match(text, at + 1)
    word = text[max(at - _SHORTEST, 0) : at]
    before = len(word) - len(word.rstrip(_LETTERS))
    return columns >= _NARROWEST and before + len(after[0] if after else "") >= _SHORTEST


def _escapes(text: str) -> Iterator[Edit]:
    """Yield escapes and their characters, in order."""
    if "%" in text or "\\" in text or "&" in text or not text.isascii():
        for match in _ESCAPE.finditer(text):
            yield Edit(*match.span(), _character(match[0]))


def _character(escape: str) -> str:
    if escape[0] not in "%\\&":
        return unicodedata.normalize("NFKC", escape)
    name = escape.strip("\\%&;")
    digits = name.removeprefix("#").removeprefix("u").removeprefix("x")
    if name.startswith("#") and not name.startswith("#x"):
        return chr(int(digits))
    return _CHARACTERS.get(name) or (name if len(name) < 2 else chr(int(digits, 16)))


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
