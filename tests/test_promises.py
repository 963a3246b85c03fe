"""The table of faults and promises: each row has its tests and its place in the guide."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.promises import PromiseTests, faults

ROOT = Path(__file__).resolve().parents[1]


@cache
def functions_of(file: str) -> frozenset[str]:
    return frozenset(
        each.name for each in ast.walk(ast.parse((ROOT / file).read_bytes())) if isinstance(each, ast.FunctionDef)
    )


@pytest.mark.parametrize(("name", "fault"), faults().items(), ids=faults())
def test_every_promise_is_held_by_tests_that_exist(name: str, fault: PromiseTests) -> None:
    assert fault.tests
    assert fault.tried >= 1
    for each in fault.tests:
        file, _, test = each.partition("::")
        assert test.startswith("test_")
        assert test in functions_of(file), f"{name}: there is no {each}"


@pytest.mark.parametrize("guide", ["faults.md", "faults.zh.md"])
def test_the_guide_describes_each_promise(guide: str) -> None:
    rows = [line for line in (ROOT / "docs" / "guide" / guide).read_text("utf-8").splitlines() if line.startswith("| ")]
    assert len(rows) == len(faults()) + 1 > 15
    assert all(len(row.strip("|").split(" | ")) == 3 for row in rows)
