"""The table of faults and promises: each row has its tests, its words, and its place on the page of problems."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from perfledger.ingest.common import words
from perfledger.ingest.site.fault_table import PromiseTests, faults, table

ROOT = Path(__file__).resolve().parents[2]


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


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_every_fault_is_described_in_both_languages(language: str) -> None:
    known = words.load()
    rows = [[known.say(language, each.entries[0].text) for each in row] for row in table().rows]
    assert len(rows) == len(faults()) > 15
    assert all(all(row) for row in rows)
    assert len({row[0] for row in rows}) == len(rows)


def test_the_words_have_no_fault_without_tests() -> None:
    told = {
        key.partition(".")[2] for key in words.load().entries if key.startswith("fault.") and key.endswith("_promise")
    }
    assert {each.removesuffix("_promise") for each in told} == set(faults())
