"""Secrets in what is published."""

import contextlib
import mmap
import os

MYPY = False
if MYPY:  # The module `typing` is not needed where this runs.
    from collections.abc import Mapping
    from re import Pattern

# A part of a secret at an end of a line that is as long as this is masked, too.
SHORTEST_PART = 4
# So is each line of a secret that is as long as this: some programs print the lines of a key apart.
SHORTEST_LINE = 8


def secret_texts(names: "list[str]", variables: "Mapping[str, str]" = os.environ) -> "list[str]":
    """Return what to mask of secrets, the longest first: their values, and the lines of a value that has several."""
    values = [variables[name] for name in names if variables.get(name)]
    lines = [line for value in values for line in value.splitlines() if len(line) >= SHORTEST_LINE]
    return sorted({*values, *lines}, key=len, reverse=True)


def without(texts: "list[str]", said: str) -> str:
    """Return what a program said with `***` in place of some texts."""
    for text in texts:
        said = said.replace(text, "***")
    return said


def mask(path: str, pattern: "Pattern[bytes]") -> None:
    """Replace what matches in a log by `***`, or, where the disk has no space for a copy, by stars in its place."""
    copy = f"{path}.masked"
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as log:
        if not pattern.search(log):
            return
        try:
            with open(copy, "wb") as masked, memoryview(log) as view:
                done = 0
                for found in pattern.finditer(log):
                    masked.write(view[done : found.start()])
                    masked.write(b"***")
                    done = found.end()
                masked.write(view[done:])
            os.replace(copy, path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(copy)
            with open(path, "rb+") as masked:
                for found in pattern.finditer(log):
                    masked.seek(found.start())
                    masked.write(b"*" * len(found.group()))
