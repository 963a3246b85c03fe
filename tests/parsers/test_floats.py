"""Printed decimals become the float that Python reads, and NaN where there is none."""

from __future__ import annotations

import math
import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.engine.table import floats


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
def test_each_value_is_what_float_reads(printed: list[bytes]) -> None:
    agree(printed)


def test_empty_list_of_numbers() -> None:
    assert floats([]).tolist() == []


def test_separators_of_thousands() -> None:
    printed = [b"7,500", b"1,234,567.5", b"980"]
    assert floats(printed).tolist() == [7500, 1234567.5, 980]
    assert floats(printed * 20).tolist() == [7500, 1234567.5, 980] * 20
    assert all(math.isnan(each) for each in floats([b"1,23", b",123", b"1234,567", b"1,234,", b"1.5,000"]))
