"""Local clocks that are set by an hour in spring and autumn."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ingest.compute.frame import clock_set


def clock_of(gaps: Sequence[float], hour: float = 1.5) -> Any:
    return np.cumsum([hour * 3600.0, *gaps])


def test_an_hour_at_night_is_a_change_of_the_clock() -> None:
    assert clock_set(clock_of([5, 5, 3605, 5, -3595, 5, 3620])).tolist() == [0, 0, 1, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("gaps", "hour"),
    [
        ([5, 5, 3605, 5], 12),
        ([60, 60, 3720, 60, 60], 1.5),
        ([300, 300, 3700, 300, 300, 300, 3700, 300, 300, 3700, 300], 0),
        ([1800, 1800, 5400, 1800], 1.5),
        ([-1.0], 1.5),
    ],
    ids=["at noon", "two intervals are left", "several times", "intervals of half an hour vary", "a second back"],
)
def test_other_pauses_are_not_a_change_of_the_clock(gaps: Sequence[float], hour: float) -> None:
    assert not clock_set(clock_of(gaps, hour)).any()


@pytest.mark.parametrize(
    ("day", "is_set"),
    [
        (dt.datetime(2026, 3, 29), True),  # a Sunday
        (dt.datetime(2026, 3, 27), True),  # a Friday
        (dt.datetime(2026, 3, 25), False),  # a Wednesday
        (dt.datetime(2026, 7, 26), False),  # a Sunday in summer
        (dt.datetime(1972, 3, 29), True),  # without a year
        (dt.datetime(1972, 7, 29), False),
    ],
)
def test_clocks_are_set_on_days_of_spring_and_autumn(day: dt.datetime, is_set: bool) -> None:
    night = day.replace(tzinfo=dt.UTC).timestamp() + 1.5 * 3600
    assert clock_set(np.cumsum([night, 5, 5, 3605, 5])).any() == is_set
