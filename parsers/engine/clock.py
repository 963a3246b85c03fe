"""Convert printed wall clocks to seconds since 1970, taken as UTC: only differences are used."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from parsers.contract import Column

_TO_ISO = bytes.maketrans(b"/, ", b"-.T")
#: A time of day, or month and day with it: `03:04:41.019742`, glog's `0630 03:04:41.019742`, `11/20 13:14:40`.
_DATELESS = re.compile(rb"(?:(\d\d)/?(\d\d) )?(\d\d:\d\d:\d\d(?:[.,]\d+)?)")
#: The stamp with which a logger begins a line, perhaps behind a word: `[2026/11/20 13:14:40]`, `2026-11-20 13:14:40,123 -`,
#: `[11/20 13:14:40 d2.utils]`, `I0630 03:04:41.5`, `[HCTR][02:51:59.123]`.
_AT_START = re.compile(
    rb"(?:\[[A-Z]{2,9}\]|[A-Z]{3,8}:? )?[\[(]?(?:[IWEF](?=[0-9]{4} ))?"
    rb"((?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[ T]|[0-9]{2}/?[0-9]{2} )?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?)"
    rb"(?![0-9:])"
)
#: Earlier stamps are those without a printed year: they are put into 1972, a leap year, which has every day.
DATELESS_BEFORE = 3 * 366 * 86400.0
#: A clock that jumps back by less was set back (in autumn, by an hour) or belongs to another machine.
_TWO_HOURS, _DAY, _YEAR = 7_200.0, 86_400.0, 366 * 86_400.0


def clocks(printed: Sequence[bytes]) -> Column:
    """Convert `2020-09-15 14:29:13.473765`, `2023/07/28 06:42:58`, `2020-12-16 08:36:06,505` or `08:36:06.5` to seconds.

    Args:
        printed: n stamps; one that is no date is NaN.

    Returns:
        n float64 values in seconds, exact to a microsecond until the year 2106.
    """
    if not printed or _DATELESS.fullmatch(printed[0]):
        return np.array([_seconds(each) for each in printed], dtype=np.float64)
    try:
        stamps = np.array([each.translate(_TO_ISO).decode("ascii") for each in printed], dtype="datetime64[us]")
    except ValueError:
        return np.array([_seconds(each) for each in printed], dtype=np.float64)
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / 1e6)


def stamps(text: bytes, positions: Sequence[int]) -> Column:
    """Return the clock, in seconds, with which the line of each position begins; NaN where it begins with none.

    A carriage return begins a line as well: what stands before it on the same line belongs to a progress bar.
    """
    begins = [text.rfind(b"\n", 0, each) + 1 for each in positions]
    if b"\r" in text:
        begins = [max(at, text.rfind(b"\r", at, each) + 1) for at, each in zip(begins, positions, strict=True)]
    match = _AT_START.match
    printed = [found[1] if (found := match(text, each)) else b"" for each in begins]
    return clocks(printed) if any(printed) else np.full(len(printed), np.nan)


def unwrapped(clock: Column) -> Column:
    """Put stamps without a date in the order of time: a jump back by two hours or more is midnight.

    A pause of a day or more cannot be seen. Where the printed month and day go on, a jump back is a day; at New Year, a
    year.
    """
    if not len(clock) or not np.nanmax(clock, initial=0.0) < DATELESS_BEFORE:
        return clock
    back = np.diff(clock, prepend=clock[0])
    turns = np.where(back < -_YEAR / 2, _YEAR, np.where(back < -_TWO_HOURS, _DAY, 0.0))
    moved: Column = clock + np.cumsum(turns)
    return moved


def _iso(printed: bytes) -> str:
    """Rewrite a stamp as NumPy reads it; one without a date is put into 1972."""
    if found := _DATELESS.fullmatch(printed):
        month, day, time = found[1] or b"01", found[2] or b"01", found[3]
        printed = b"1972-%s-%s %s" % (month, day, time)
    return printed.translate(_TO_ISO).decode("ascii")


def _seconds(printed: bytes) -> float:
    try:
        stamp = np.datetime64(_iso(printed), "us")
        return float("nan") if np.isnat(stamp) else float(stamp.astype(np.int64)) / 1e6
    except ValueError:
        return float("nan")
