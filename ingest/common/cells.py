"""Cells of CSV files: a text that a spreadsheet would take for a formula, and run, stays text."""

from __future__ import annotations

import re

#: Half and full width: a spreadsheet that is set to Chinese or Japanese takes either.
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.ASCII)


def no_formula(text: str) -> str:
    """Return text for a cell; an apostrophe goes before one that is no number and would begin a formula."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
