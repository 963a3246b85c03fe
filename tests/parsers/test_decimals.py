"""Printed decimals must become the float that Python reads, bit for bit, also on the fast path."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parsers.engine.decimals import floats


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


def expected(printed: bytes) -> float:
    try:
        return float(printed)
    except ValueError:
        return math.nan


def agree(printed: list[bytes]) -> None:
    found = floats(printed)
    assert found.dtype == "float64"
    assert len(found) == len(printed)
    for each, value in zip(printed, found.tolist(), strict=True):
        want = expected(each)
        assert bits(value) == bits(want) or (math.isnan(value) and math.isnan(want)), (each, value, want)


@st.composite
def uniform(draw: st.DrawFn) -> list[bytes]:
    """Columns as printers make them: one number of decimals, any number of digits before the point."""
    decimals = draw(st.integers(0, 14))
    numbers = draw(st.lists(st.integers(0, 10 ** draw(st.integers(1, 19))), min_size=1, max_size=60))
    if not decimals:
        return [b"%d" % each for each in numbers]
    return [b"%d.%0*d" % (each // 10**decimals, decimals, each % 10**decimals) for each in numbers]


@settings(max_examples=300, deadline=None)
@given(uniform())
@example([b"0.1"] * 20)
@example([b"999999999999999"] * 17)
@example([b"9007199254740993"] * 17)
@example([b"0.000000000000001"] * 17)
@example([b"123456.7", b"1.2"] * 20)
def test_columns_of_one_shape(printed: list[bytes]) -> None:
    agree(printed)


WORDS = st.sampled_from(
    [
        b"nan",
        b"inf",
        b"-inf",
        b"",
        b".",
        b"1.",
        b".5",
        b"-0.0",
        b"+1.5",
        b"1e5",
        b"1.5e-7",
        b"1.2.3",
        b"--1",
        b"e",
        b"007.50",
        b"12:30",
    ]
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(lambda each: repr(each).encode())


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(WORDS, NUMBERS), max_size=60))
def test_columns_of_any_shape(printed: list[bytes]) -> None:
    agree(printed)


@settings(max_examples=200, deadline=None)
@given(uniform(), st.lists(WORDS, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_a_foreign_word_in_a_uniform_column(printed: list[bytes], words: list[bytes], random: object) -> None:
    column = printed * 3 + words
    random.shuffle(column)  # type: ignore[attr-defined]
    agree(column)


@pytest.mark.parametrize(
    "printed",
    [
        [b"907.69492", b"90.76949", b"9.07694"] * 10,
        [b"1.50", b"1.5"] * 20,
        [b"1.5", b"15."] * 20,
        [b"10.5", b".5"] * 20,
        [b"1", b"22", b"333"] * 10,
        [b"12345678901234.5"] * 20,
        [b"123456789012345.5"] * 20,
        [b"5:00"] * 20,
        [b"5/00"] * 20,
        [b"1\n2"] * 20,
        [b"1 2"] * 20,
        [b" 1.5"] * 20,
        [b"1_0.5"] * 20,
        [b"0.1", b"0.2", b"0.3"] * 8 + [b"-0.1"],
    ],
)
def test_shapes_near_the_fast_path(printed: list[bytes]) -> None:
    agree(printed)


def test_no_numbers_at_all() -> None:
    assert floats([]).tolist() == []


def test_separators_of_thousands() -> None:
    printed = [b"7,500", b"1,234,567.5", b"980"]
    assert floats(printed).tolist() == [7500, 1234567.5, 980]
    assert floats(printed * 20).tolist() == [7500, 1234567.5, 980] * 20
    assert all(math.isnan(each) for each in floats([b"1,23", b",123", b"1234,567", b"1,234,", b"1.5,000"]))
