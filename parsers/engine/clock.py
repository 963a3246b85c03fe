"""Convert printed wall clocks to seconds since 1970, taken as UTC: only differences are used."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from parsers.contract import Column

_TO_ISO = bytes.maketrans(b"/, ", b"-.T")
#: A time of day, or month and day with it: `03:04:41.019742`, glog's `0630 03:04:41.019742`, `11/20 13:14:40`.
_DATELESS = re.compile(rb"(?:(\d\d)/?(\d\d) )?(\d\d:\d\d:\d\d(?:[.,]\d+)?)")
#: An American date: `11/20/2026 13:14:40`.
_MONTH_FIRST = re.compile(rb"(\d\d/\d\d)/(\d{4}) (.++)")
#: Day of the month and time, as HugeCTR printed them until 2021: `19d22h10m18s`.
_OF_MONTH = re.compile(rb"(\d\d)d(\d\d)h(\d\d)m(\d\d)s")
#: The stamp with which a logger begins a line, perhaps behind a word: `[2026/11/20 13:14:40]`, `2026-11-20 13:14:40,123 -`,
#: `11/20/2026 13:14:40 [INFO|`, `[11/20 13:14:40 d2.utils]`, `[INFO 2026/11/20 13:14:40 model.py:61]`, `I0630 03:04:41.5`,
#: `[HCTR][02:51:59.123]`, `[19d22h10m18s]`.
_AT_START = re.compile(
    rb"(?:\[[A-Z]{2,9}\]|\[?[A-Z]{3,8}:? )?[\[(]?(?:[IWEF](?=[0-9]{4} ))?"
    rb"((?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[ T]|[0-9]{2}/[0-9]{2}/[0-9]{4} |[0-9]{2}/?[0-9]{2} )?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?"
    rb"|[0-9]{2}d[0-9]{2}h[0-9]{2}m[0-9]{2}s)"
    rb"(?![0-9:])"
)
#: Earlier stamps are those without a printed year: they are put into 1972, a leap year, which has every day.
DATELESS_BEFORE = 3 * 366 * 86400.0
#: Characters of a date, a time, and a fraction of 18 digits.
_LONGEST = 38
#: A clock that jumps back by less was set back (in autumn, by an hour) or belongs to another machine.
_TWO_HOURS, _DAY, _YEAR = 7_200.0, 86_400.0, 366 * 86_400.0


def clocks(printed: Sequence[bytes]) -> Column:
    """Convert `2020-09-15 14:29:13.473765`, `2023/07/28 06:42:58`, `2020-12-16 08:36:06,505` or `08:36:06.5` to seconds.

    Args:
        printed: n stamps; one that is no date is NaN.

    Returns:
        n float64 values in seconds, exact to a microsecond until the year 2106.
    """
    if printed and len(set(map(len, printed))) == 1:
        rows = np.frombuffer(b"".join(printed), np.uint8).reshape(len(printed), -1)
        if (alike := _alike(rows, printed[0])) is not None:
            return alike
    return np.array([_seconds(each) for each in printed], dtype=np.float64)


def stamps(text: bytes, positions: Sequence[int]) -> Column:
    """Return the clock, in seconds, with which the line of each position begins; NaN where it begins with none.

    A carriage return begins a line as well: what stands before it on the same line belongs to a progress bar.
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
        stamp = slice(first.start(1) - first.start(), first.end(1) - first.start())
        if (alike := _alike(rows, text[first.start() : first.end() + 1], stamp)) is not None:
            return alike
    printed = [found[1] if (found := _AT_START.match(text, each)) else b"" for each in begins.tolist()]
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


def _alike(rows: NDArray[np.uint8], first: bytes, stamp: slice = slice(None)) -> Column | None:
    """Convert stamps that differ in nothing but their digits; None where they differ otherwise, or one is no date.

    Args:
        rows: n rows of characters.
        first: the characters of the first row.
        stamp: the columns that are the stamp.
    """
    digits = [at for at, each in enumerate(first) if each in b"0123456789"]
    others = np.ones(len(first), dtype=bool)
    others[digits] = False
    if (rows[:, others] != rows[0, others]).any() or (rows[:, digits] - ord("0") > 9).any():
        return None
    begin, end, _ = stamp.indices(len(first))
    printed = [at for at in digits if begin <= at < end]
    if _MONTH_FIRST.fullmatch(first, begin, end):  # its digits do not stand in the order of ISO's
        return None
    try:
        iso = _iso(first[begin:end]).encode()
        # What a stamp lacks of a date stands before what it has.
        places = [at for at, each in enumerate(iso) if each in b"0123456789"][-len(printed) :] if printed else []
        rewritten = np.repeat(np.frombuffer(iso, np.uint8)[None], len(rows), axis=0)
        rewritten[:, places] = rows[:, printed]
        found = rewritten.view(f"S{len(iso)}").ravel().astype("datetime64[us]")
    except ValueError:
        return None
    return np.where(np.isnat(found), np.nan, found.astype(np.int64) / 1e6)


def _iso(printed: bytes) -> str:
    """Rewrite a stamp as NumPy reads it; one without a date is put into 1972.

    Raises:
        ValueError: its fraction has more digits than NumPy reads, which takes the others for a time zone.
    """
    if found := _DATELESS.fullmatch(printed):
        month, day, time = found[1] or b"01", found[2] or b"01", found[3]
        printed = b"1972-%s-%s %s" % (month, day, time)
    elif found := _MONTH_FIRST.fullmatch(printed):
        printed = b"%s/%s %s" % (found[2], found[1], found[3])
    elif found := _OF_MONTH.fullmatch(printed):
        printed = b"1972-01-%s %s:%s:%s" % found.groups()
    if len(printed) > _LONGEST:
        raise ValueError("no stamp is so long")
    return printed.translate(_TO_ISO).decode("ascii")


def _seconds(printed: bytes) -> float:
    try:
        stamp = np.datetime64(_iso(printed), "us")
        return float("nan") if np.isnat(stamp) else float(stamp.astype(np.int64)) / 1e6
    except ValueError:
        return float("nan")
