"""Printed clocks become seconds: only differences count, and a clock may pass midnight."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from perfledger.parsers.engine.clock import clocks, stamps, unwrapped

MOMENTS = st.datetimes(dt.datetime(1990, 1, 1), dt.datetime(2106, 1, 1))


@pytest.mark.parametrize(
    ("printed", "moment"),
    [
        (b"2020-09-15 14:29:13.473765", dt.datetime(2020, 9, 15, 14, 29, 13, 473765)),
        (b"2023/07/28 06:42:58", dt.datetime(2023, 7, 28, 6, 42, 58)),
        (b"2020-12-16 08:36:06,505", dt.datetime(2020, 12, 16, 8, 36, 6, 505000)),
        (b"2024-02-29 23:59:59", dt.datetime(2024, 2, 29, 23, 59, 59)),
        (b"1999-12-31 23:59:59.999999", dt.datetime(1999, 12, 31, 23, 59, 59, 999999)),
    ],
)
def test_each_spelling_of_a_clock_is_read(printed: bytes, moment: dt.datetime) -> None:
    assert clocks([printed])[0] == pytest.approx(moment.replace(tzinfo=dt.UTC).timestamp(), abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.lists(MOMENTS, min_size=1, max_size=20))
@example([dt.datetime(2023, 12, 31, 23, 59, 59, 500000), dt.datetime(2024, 1, 1, 0, 0, 0, 250000)])
def test_differences_are_exact_to_a_microsecond(moments: list[dt.datetime]) -> None:
    found = clocks([each.strftime("%Y-%m-%d %H:%M:%S.%f").encode() for each in moments])
    for each, value in zip(moments, found.tolist(), strict=True):
        assert abs((value - found[0]) - (each - moments[0]).total_seconds()) < 2e-6


@pytest.mark.parametrize(
    "printed",
    [
        b"2023-13-01 00:00:00",
        b"2023-02-30 00:00:00",
        b"2023-01-01 25:00:00",
        b"2023-01-01 00:61:00",
        b"not a date",
        b"",
        b"\xff\xfe",
        b"2023-01-01 00:00:05." + b"5" * 19,
        b"00:00:05." + b"5" * 19,
    ],
)
def test_text_that_is_not_a_date_is_nan(printed: bytes) -> None:
    found = clocks([b"2023-01-01 00:00:00", printed, b"2023-01-01 00:00:10"])
    assert math.isnan(found[1])
    assert found[2] - found[0] == 10
    assert math.isnan(clocks([printed])[0])


def test_exactly_the_days_of_the_calendar_are_dates() -> None:
    for year in (1900, 1970, 1972, 2000, 2023, 2024, 2100):
        dates = [(month, day) for month in range(15) for day in range(34)]
        found = clocks([b"%04d-%02d-%02d 00:00:00" % (year, *each) for each in dates])
        for (month, day), seconds in zip(dates, found.tolist(), strict=True):
            try:
                expected = dt.datetime(year, month, day, tzinfo=dt.UTC).timestamp()
            except ValueError:
                expected = math.nan
            assert seconds == expected or (math.isnan(seconds) and math.isnan(expected)), (year, month, day)


@pytest.mark.parametrize("impossible", [b"2023-13-01 00:00:00", b"2023-02-30 00:00:00", b"0000-00-00 00:00:00"])
@pytest.mark.parametrize("count", [500, 501, 5_000])
def test_only_the_impossible_date_among_many_is_nan(impossible: bytes, count: int) -> None:
    """NumPy 2.4.6 crashes when it casts more than 500 strings and one is not a date."""
    printed = [b"2023-01-01 00:%02d:%02d" % divmod(each % 3600, 60) for each in range(count)]
    printed[count // 2] = impossible
    for found in (clocks(printed), stamps(b"".join(each + b" x\n" for each in printed), range(0, 22 * count, 22))):
        assert np.flatnonzero(np.isnan(found)).tolist() == [count // 2]
        assert found[-1] - found[0] == (count - 1) % 3600


#: Spellings of a logger's stamp, with the text around it on the line.
SPELLINGS = (
    ("", "%Y-%m-%d %H:%M:%S,123 - x"),
    ("[", "%Y/%m/%d %H:%M:%S] ppcls INFO: ips: 3"),
    ("[", "%m/%d %H:%M:%S d2.utils]: eta"),
    ("[INFO ", "%Y/%m/%d %H:%M:%S model.py:61] x"),
    ("I", "%m%d %H:%M:%S.000417 7 a.cc:1] x"),
    ("[HCTR][", "%H:%M:%S.250][INFO]: x"),
    ("INFO: ", "%H:%M:%S: 12"),
    ("", "%Y-%m-%d %H:%M:%S.5: loss"),
)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SPELLINGS), st.lists(MOMENTS, min_size=1, max_size=6), st.booleans())
def test_lines_with_equal_beginnings_have_the_same_clocks_as_alone(
    spelling: tuple[str, str], moments: list[dt.datetime], ended: bool
) -> None:
    before, after = spelling
    lines = [(before + each.strftime(after)).encode() for each in moments]
    text = b"\n".join(lines) + b"\n" * ended
    places = [sum(len(each) + 1 for each in lines[:at]) + len(line) // 2 for at, line in enumerate(lines)]
    found = stamps(text, places)
    # After a line of another form, lines are read one by one.
    apart = stamps(b"x\n" + text, [0, *(each + 2 for each in places)])
    assert math.isnan(apart[0])
    assert np.array_equal(found, apart[1:], equal_nan=True)


@pytest.mark.parametrize("date", ["", "0128 "])
@pytest.mark.parametrize("gap", [60, 7_199, 43_000, 45_000, 70_000, 79_199])
def test_clock_without_a_date_continues_after_midnight(gap: int, date: str) -> None:
    """Two lines may be up to 22 hours apart, several times in a row, and the printed date does not change."""
    moments = [52_153 + gap * each for each in range(6)]
    printed = [f"{date}{each // 3600 % 24:02}:{each // 60 % 60:02}:{each % 60:02}.250000".encode() for each in moments]
    assert unwrapped(clocks(printed)).tolist() == pytest.approx([clocks(printed)[0] + gap * each for each in range(6)])


def test_clock_without_a_date_may_be_set_back() -> None:
    found = unwrapped(clocks([b"02:59:59.5", b"02:00:00.5", b"02:00:01.5"]))
    assert [each - found[0] for each in found] == [0, -3599, -3598]


def test_clock_without_a_year_continues_after_new_year() -> None:
    found = unwrapped(clocks([b"1231 23:59:59.5", b"0101 00:00:00.5"]))
    assert found[1] - found[0] == 1


def test_clock_with_a_date_may_be_set_back() -> None:
    found = unwrapped(clocks([b"2026-11-20 08:00:00.5", b"2026-11-20 04:00:00.5"]))
    assert found[1] - found[0] == -14_400


def test_empty_list_of_clocks() -> None:
    assert clocks([]).tolist() == []
