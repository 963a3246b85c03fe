"""Text from outside, normalised once, before it is recorded: characters that break a format are spelled out.

YAML refuses noncharacters, Markdown and spreadsheets begin a new line at U+0085, U+2028 or a bare CR, and JSON in UTF-8
has no lone surrogates. Later code need not know any of this, since records do not contain them.
"""

from __future__ import annotations

import re

_NONCHARACTERS = "".join(chr(plane << 16 | end) for plane in range(17) for end in (0xFFFE, 0xFFFF))
#: C0 without tab and line feed, DEL, C1, separators of lines and paragraphs, lone surrogates, noncharacters.
_BREAKING = re.compile(f"[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufdd0-\ufdef{_NONCHARACTERS}]")


def visible(text: str) -> str:
    r"""Return the text with `\n` for `\r\n`, and `\u0085` instead of each character that could break a page or file."""
    if text.isprintable():
        return text
    return _BREAKING.sub(lambda found: f"\\u{ord(found[0]):04x}", text.replace("\r\n", "\n"))
