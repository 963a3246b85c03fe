"""Secrets in published files and messages: their values become stars."""

import mmap
import os

MYPY = False
if MYPY:  # The module `typing` is not needed where this runs.
    from collections.abc import Mapping
    from re import Pattern


def secret_texts(names: "list[str]", variables: "Mapping[str, str]" = os.environ) -> "list[str]":
    """Return the values of secrets, the longest first, because one may contain another."""
    return sorted((variables[name] for name in names if variables.get(name)), key=len, reverse=True)


def without(texts: "list[str]", said: str) -> str:
    """Return the words of a program with `***` instead of some texts."""
    for text in texts:
        said = said.replace(text, "***")
    return said


def mask(path: str, pattern: "Pattern[bytes]") -> None:
    """Overwrite the matches in a log with as many stars: this needs no space, so a full disk cannot prevent it."""
    with open(path, "rb+") as file, mmap.mmap(file.fileno(), 0) as log:
        for start, end in [found.span() for found in pattern.finditer(log)]:
            log[start:end] = b"*" * (end - start)
