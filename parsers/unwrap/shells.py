"""Logs as tools of a shell show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

_OF_FILE = re.compile(rb"([^\s:]{1,200}?\.(?:err|log|out|txt))[:-](?:\d++[:-])?+")
_NUMBER = re.compile(rb" *+\d{1,9}+(?:\t|[:-](?!\d\d\b))")


def from_grep(stream: BinaryIO) -> Iterator[bytes]:
    """Remove the file's name, and perhaps the line's number, that `grep` puts before lines of one file."""
    names = set()
    for number, line in enumerate(stream, 1):
        found = _OF_FILE.match(line)
        if found:
            names.add(found[1])
        if len(names) > 1:
            raise ValueError(f"line {number} is of a second file; grep one file at a time")
        yield line[found.end() :] if found else line


def from_diff(stream: BinaryIO) -> Iterator[bytes]:
    """Take the new side of a unified `diff`: lines that begin with `+` or a blank."""
    for line in stream:
        if line.startswith((b"+", b" ")) and not line.startswith(b"+++ "):
            yield line[1:]


def from_numbered(stream: BinaryIO) -> Iterator[bytes]:
    """Remove the numbers that `cat -n`, `nl` and `grep -n` put before lines."""
    for line in stream:
        found = _NUMBER.match(line)
        yield line[found.end() :] if found else line
