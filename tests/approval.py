"""Texts that are approved as a whole: `pytest --approve` writes them, and a reviewer reads the diff."""

from __future__ import annotations

import difflib
from itertools import islice
from pathlib import Path

import pytest

from tests.corpus import ROOT

FOLDER = ROOT / "tests" / "approved"
#: Lines of a diff that a failing test shows.
SHOWN = 40


def check(name: str, text: str, *, approve: bool, folder: Path = FOLDER) -> None:
    """Compare a text with `tests/approved/NAME`, or write it there."""
    path = folder / name
    if approve:
        path.write_text(text, "utf-8")
        return
    before = path.read_text("utf-8") if path.exists() else ""
    if text != before:
        diff = difflib.unified_diff(before.splitlines(), text.splitlines(), "approved", "now", lineterm="", n=0)
        shown = "\n".join(islice(diff, SHOWN))
        pytest.fail(f"tests/approved/{name} differs; to accept the new text: pytest --approve\n{shown}", pytrace=False)
