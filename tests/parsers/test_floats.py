"""Printed decimals become the float that Python reads, and other words become NaN."""

from __future__ import annotations

import math
import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from perfledger.parsers.engine.table import converter, floats, last_digit


def bits(value: float) -> bytes:
    return struct.pack("<d", value + 0.0)  # the sign of zero does not matter


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


WORDS = [
    b"nan", b"inf", b"-inf", b"", b".", b"1.", b".5", b"-0.0", b"+1.5", b"1e5", b"1.5e-7", b"1.2.3", b"--1", b"e",
    b"007.50", b"12:3", b"1e400", b"-1e400", b"1e-400", b"9007199254740993", b"18446744073709551616", b"null", b"[1]",
    b"1]",
]  # fmt: skip
#: Formats with all digits, with more digits than a float has, and with as many as printers print.
FORMS = st.sampled_from(["r", ".20e", ".5f", ".3g"])


@st.composite
def numbers(draw: st.DrawFn) -> bytes:
    value, form = draw(st.floats(allow_nan=False, allow_infinity=False)), draw(FORMS)
    return (repr(value) if form == "r" else format(value, form)).encode()


@settings(max_examples=100, deadline=None)
@given(st.lists(numbers(), max_size=60))
def test_each_number_equals_pythons_float(printed: list[bytes]) -> None:
    agree(printed)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(WORDS), numbers()), max_size=20))
def test_each_word_equals_pythons_float(printed: list[bytes]) -> None:
    agree(printed)


def test_empty_list_of_numbers() -> None:
    assert floats([]).tolist() == []


def test_separators_of_thousands_are_read() -> None:
    printed = [b"7,500", b"1,234,567.5", b"980"]
    assert floats(printed).tolist() == [7500, 1234567.5, 980]
    assert floats(printed * 20).tolist() == [7500, 1234567.5, 980] * 20
    assert all(math.isnan(each) for each in floats([b"1,23", b",123", b"1234,567", b"1,234,", b"1.5,000"]))
    assert floats([b"7,500", b"-980", b"1,000"]).tolist() == [7500, -980, 1000]
    mixed = floats([b"7,500", b"1,23", b"980"]).tolist()
    assert mixed[::2] == [7500, 980]
    assert math.isnan(mixed[1])


def test_lengths_of_time_become_seconds() -> None:
    printed = [b"2:10", b"1:02:03", b"1 day, 0:00:01", b"9 days, 21:49:18", b"38.0", b"00:00:00.5"]
    assert floats(printed).tolist() == [130, 3723, 86401, 856158, 38, 0.5]
    in_units = [b"1d 2h 3m 4s", b"0h5m3.5s", b"1 s, 20 ms", b"850ms", b"40s"]
    assert floats(in_units).tolist() == [93784, 303.5, 1.02, 0.85, 40]
    assert all(math.isnan(each) for each in floats([b"?", b"2:1", b"", b"1:2:03", b"::", b"day, 1:00", b"1m 3", b"s"]))


def test_stamps_may_be_milliseconds() -> None:
    assert converter("unix")([b"1795169472.5", b"1795169472500"]).tolist() == [1795169472.5, 1795169472.5]
    assert math.isnan(converter("unix")([b"1e38"])[0])


def test_numbers_shortened_for_people_are_read() -> None:
    assert floats([b"412", b"1.25K", b"107K", b"1.57M", b"2B", b"3T"]).tolist() == [412, 1250, 107e3, 1.57e6, 2e9, 3e12]
    assert math.isnan(floats([b"K"])[0])


def test_the_last_digit_has_the_unit_of_the_number() -> None:
    assert [last_digit(each) for each in (b"394.18", b"412", b"107K", b"1.25K")] == [0.01, 1, 1000, 10]
