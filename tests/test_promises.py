"""The table of faults and promises in the guide: each row names its tests in a comment."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
GUIDE = TESTS.parent / "docs/guide"


def rows(guide: str) -> list[list[str]]:
    """Return the cells of the table, without its head."""
    lines = (GUIDE / guide).read_text("utf-8").splitlines()
    return [line.strip("|").split(" | ") for line in lines if line.startswith("| ")][1:]


@cache
def functions_of(file: str) -> frozenset[str]:
    return frozenset(
        each.name for each in ast.parse((TESTS / file).read_bytes()).body if isinstance(each, ast.FunctionDef)
    )


@pytest.mark.parametrize("row", rows("faults.md"), ids=lambda row: row[0].strip()[:40])
def test_every_promise_names_tests_that_exist(row: list[str]) -> None:
    named = re.search(r"<!-- (.+) -->", row[-1])
    assert named
    for file, _, test in (each.partition("::") for each in named[1].split()):
        assert test.startswith("test_")
        assert test in functions_of(file), f"there is no {file}::{test}"


def test_both_languages_have_the_same_rows() -> None:
    english, chinese = (rows(guide) for guide in ("faults.md", "faults.zh.md"))
    assert len(english) == len(chinese) > 15
    assert {len(row) for row in english + chinese} == {3}
