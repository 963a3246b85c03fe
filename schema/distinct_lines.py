"""Distinct lines: the lines of a log without digits, each once.

Most lines of a log are records that differ only in their numbers, so about 15 % of the text is left. A word that is not
in the distinct lines is not in the log, and this search is much faster.
"""

from __future__ import annotations

_DIGITS = b"0123456789"
#: Templates match any blanks, so a tab counts as a space.
_SPACES = bytes.maketrans(b"\t", b" ")


def distinct_lines(text: bytes) -> bytes:
    """Return the lines of a text without digits and with spaces for tabs, each once.

    Every word of the text without a line break is contained, as `without_digits` spells it. The reverse is not true: a
    word may be contained only because digits were removed from it.
    """
    return b"\n".join(dict.fromkeys(text.translate(_SPACES, _DIGITS).split(b"\n")))


def without_digits(word: bytes) -> bytes:
    """Return a word as it appears in distinct lines."""
    return word.translate(_SPACES, _DIGITS)
