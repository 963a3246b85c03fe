"""Convert printed wall clocks to seconds since 1970. They are read as UTC, since only differences are used."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perfledger.parsers.contract import Column

_TIME = rb"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,18}))?"
#: Spellings of a stamp. Missing parts of a date are filled in from 1 January 1972.
_SPELLINGS = (
    # `2026-11-20 13:14:40.019742`, `2026/11/20 13:14:40`.
    re.compile(rb"(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)[ T]" + _TIME),
    # A time of day, or month and day with it: `03:04:41,505`, glog's `0630 03:04:41.019742`, `11/20 13:14:40`.
    re.compile(rb"(?:(?P<month>\d\d)/?(?P<day>\d\d) )?" + _TIME),
    # An American date: `11/20/2026 13:14:40`.
    re.compile(rb"(?P<month>\d\d)/(?P<day>\d\d)/(?P<year>\d{4}) " + _TIME),
    # Day of the month and time, as HugeCTR printed them until 2021: `19d22h10m18s`.
    re.compile(rb"(?P<day>\d\d)d(?P<hour>\d\d)h(?P<minute>\d\d)m(?P<second>\d\d)s"),
)
#: Stamps that differ only in their digits are converted together.
_ONE_DIGIT = bytes.maketrans(b"123456789", b"0" * 9)
#: A logger's stamp at the start of a line, perhaps after a word: `[2026/11/20 13:14:40]`, `2026-11-20 13:14:40,123 -`,
#: `11/20/2026 13:14:40 [INFO|`, `[11/20 13:14:40 d2.utils]`, `[INFO 2026/11/20 13:14:40 model.py:61]`, `I0630 03:04:41.5`,
#: `[HCTR][02:51:59.123]`, `[19d22h10m18s]`.
_AT_START = re.compile(
    rb"(?:\[[A-Z]{2,9}\]|\[?[A-Z]{3,8}:? )?[\[(]?(?:[IWEF](?=[0-9]{4} ))?"
    rb"((?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[ T]|[0-9]{2}/[0-9]{2}/[0-9]{4} |[0-9]{2}/?[0-9]{2} )?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?"
    rb"|[0-9]{2}d[0-9]{2}h[0-9]{2}m[0-9]{2}s)"
    rb"(?![0-9:])"
)
#: Earlier stamps have no printed year: they are dated to 1972, since a leap year has every day.
DATELESS_BEFORE = 3 * 366 * 86400.0
#: Days from the first of March of the year 0 to the first of January 1970.
_DAYS_BEFORE_1970 = 719_468
#: A smaller jump back is not midnight, in seconds: the clock was set back (by an hour in autumn) or is of another machine.
_TWO_HOURS = 7_200.0
#: Seconds that are added after a jump back at midnight.
_DAY = 86_400.0
#: Seconds that are added after a jump back at New Year: stamps without a year are dated to 1972, a leap year.
_YEAR = 366 * 86_400.0


def clocks(printed: Sequence[bytes]) -> Column:
    """Convert `2020-09-15 14:29:13.473765`, `2023/07/28 06:42:58`, `2020-12-16 08:36:06,505` or `08:36:06.5` to seconds.

    Args:
        printed: n stamps; an invalid one becomes NaN.

    Returns:
        n float64 values in seconds, exact to a microsecond until the year 2106.
    """
    if len(set(map(len, printed))) == 1 and _differ_only_in_digits(rows := _rows(printed)):
        return _seconds(rows, _spelling(printed[0]))
    by_shape: dict[bytes, list[int]] = defaultdict(list)
    for at, each in enumerate(printed):
        by_shape[each.translate(_ONE_DIGIT)].append(at)
    found = np.full(len(printed), np.nan)
    for shape, places in by_shape.items():
        found[places] = _seconds(_rows([printed[at] for at in places]), _spelling(shape))
    return found


def stamps(text: bytes, positions: Sequence[int] | NDArray[np.intp]) -> Column:
    """Return the stamp at the start of each position's line, in seconds; NaN if the line has no stamp.

    A line also starts after a carriage return, since the text before it belongs to a progress bar.
    """
    characters = np.frombuffer(text, np.uint8)
    breaks = characters == ord("\n")
    if b"\r" in text:
        breaks |= characters == ord("\r")
    ends = np.flatnonzero(breaks)
    begins = np.append(ends, -1)[np.searchsorted(ends, positions) - 1] + 1
    first = _AT_START.match(text, begins[0])
    # One more character shows that each stamp ends where the first one does, if no fraction can follow.
    if first and begins[-1] + len(first[0]) < len(text) and text[first.end()] not in b".,":
        rows = characters[begins[:, None] + np.arange(len(first[0]) + 1)]
        if _differ_only_in_digits(rows):
            stamp = rows[:, first.start(1) - first.start() : first.end(1) - first.start()]
            return _seconds(stamp, _spelling(first[1]))
    printed = [found[1] if (found := _AT_START.match(text, each)) else b"" for each in begins.tolist()]
    return clocks(printed) if any(printed) else np.full(len(printed), np.nan)


def unwrapped(clock: Column) -> Column:
    """Make stamps without a full date increase: a jump back by more than two hours is midnight, and adds a day.

    A jump back by more than half a year is New Year, and adds a year. A pause of a day or more cannot be detected.
    """
    if not len(clock) or not np.nanmax(clock, initial=0.0) < DATELESS_BEFORE:
        return clock
    back = np.diff(clock, prepend=clock[0])
    turns = np.where(back < -_YEAR / 2, _YEAR, np.where(back < -_TWO_HOURS, _DAY, 0.0))
    moved: Column = clock + np.cumsum(turns)
    return moved


def _spelling(printed: bytes) -> re.Match[bytes] | None:
    return next(filter(None, (each.fullmatch(printed) for each in _SPELLINGS)), None)


def _rows(printed: Sequence[bytes]) -> NDArray[np.uint8]:
    """Return the characters of stamps of one length, one row each."""
    return np.frombuffer(b"".join(printed), np.uint8).reshape(len(printed), -1)


def _differ_only_in_digits(rows: NDArray[np.uint8]) -> bool:
    digits = rows - np.uint8(ord("0")) < 10  # smaller characters wrap around to large numbers
    return bool((digits == digits[0]).all() and ((rows == rows[0]) | digits).all())


def _seconds(rows: NDArray[np.uint8], spelling: re.Match[bytes] | None) -> Column:
    """Convert the characters of n stamps of one spelling to seconds; an impossible date or time becomes NaN."""
    if not spelling:
        return np.full(len(rows), np.nan)
    named = spelling.groupdict()

    def number(name: str, absent: int = 0, places: int = 0) -> NDArray[np.int64]:
        if named.get(name) is None:
            return np.array([absent])
        begin, end = spelling.span(name)
        weights = 10 ** np.arange((places or end - begin) - 1, -1, -1)[: end - begin]
        value: NDArray[np.int64] = rows[:, begin : begin + len(weights)] @ weights - ord("0") * weights.sum()
        return value

    year, month, day = number("year", 1972), number("month", 1), number("day", 1)
    hour, minute, second = number("hour"), number("minute"), number("second")
    months = 12 * year + month - 3
    first, next_first = _days(months), _days(months + 1)
    is_date = (month >= 1) & (month <= 12) & (day >= 1) & (day <= next_first - first)
    is_time = (hour < 24) & (minute < 60) & (second < 60)
    seconds = (((first + day - 1) * 24 + hour) * 60 + minute) * 60 + second
    return np.where(is_date & is_time, (seconds * 1_000_000 + number("fraction", places=6)) / 1e6, np.nan)


def _days(months: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the days from 1970 to the first day of each month; months are counted from March of the year 0.

    Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", 2013.
    """
    years, month = np.divmod(months, 12)
    leap_days = years // 4 - years // 100 + years // 400
    found: NDArray[np.int64] = 365 * years + leap_days + (153 * month + 2) // 5 - _DAYS_BEFORE_1970
    return found
