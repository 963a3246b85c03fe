"""Logs inside a page or a document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import BinaryIO

_TAG = re.compile(rb"</?[A-Za-z][^<>\n]*+>")
_QUOTED = re.compile(rb"(?:> ?)++|    |\t")
_FENCE = re.compile(rb"[ >]*+(?:```|~~~)")


def from_html(stream: BinaryIO) -> Iterator[bytes]:
    """Remove HTML's tags, and replace its entities such as `&lt;`."""
    for line in stream:
        yield unescape(_TAG.sub(b"", line).decode("utf-8", "replace")).encode("utf-8", "replace")


def from_markdown(stream: BinaryIO) -> Iterator[bytes]:
    """Remove `> ` and the indent of code from the fronts of lines, and fences."""
    for line in stream:
        if not _FENCE.match(line):
            found = _QUOTED.match(line)
            yield line[found.end() :] if found else line
