"""Grades of the difference of two figures: examples by hand, and properties of any two figures."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfledger.ingest.compute.contrast import (
    Contrast,
    Grade,
    Measured,
    apart,
    contrast,
    interval,
)

SURE: Sequence[Grade] = ("close", "likely", "clear")


def measured(*values: float, **rules: float) -> Measured:
    """Return the figure of repeats, with their figures by other rules."""
    middle = statistics.median(values)
    spread = statistics.stdev(values) / statistics.fmean(values) if len(values) > 1 else None
    known = {"sustained": middle, **rules}
    return Measured(middle, min(values), max(values), len(values), spread, groups=(values,), rules=known)


def shown(found: Contrast) -> tuple[Grade, float, float]:
    return found.grade, round(found.low, 3), round(found.high, 3)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # With one or two runs a difference is at most likely, if it exceeds 5 % by every rule and ranges are apart.
        (measured(106), measured(100), ("likely", 1.06, 1.06)),
        (measured(105), measured(100), ("close", 1.05, 1.05)),
        (measured(300), measured(100), ("likely", 3.0, 3.0)),
        (measured(110, median=106, reported=120), measured(100, median=100, reported=100), ("likely", 1.06, 1.2)),
        (measured(110, median=104), measured(100, median=100), ("close", 1.04, 1.1)),
        (measured(110, median=90), measured(100, median=100), ("close", 0.9, 1.1)),
        # A rule that only one of them has is ignored.
        (measured(110, median=90), measured(100), ("likely", 1.1, 1.1)),
        (measured(118, 122), measured(98, 102), ("likely", 1.157, 1.245)),
        (measured(100, 140), measured(99, 101), ("close", 0.99, 1.414)),
        # The smaller number of repeats counts.
        (measured(109, 110, 111, 110, 110), measured(100), ("likely", 1.09, 1.11)),
        # With three or four runs it is clear if ranges are apart and the gap exceeds the larger range.
        (measured(109, 110, 111), measured(99, 100, 101), ("clear", 1.079, 1.121)),
        (measured(105, 110, 115), measured(99, 100, 101), ("likely", 1.04, 1.162)),
        (measured(101, 105, 110), measured(99, 100, 102), ("close", 0.99, 1.111)),
        (measured(100.8, 100.8, 100.8), measured(100, 100, 100), ("likely", 1.008, 1.008)),
        (measured(100.4, 100.4, 100.4), measured(100, 100, 100), ("close", 1.004, 1.004)),
        # With five runs the interval of the ratio of medians and a gap of 1 % decide; if ranges are apart it is likely.
        (measured(110, 110, 110, 110, 110), measured(100, 100, 100, 100, 100), ("clear", 1.1, 1.1)),
        (measured(100.8, 100.8, 100.8, 100.8, 100.8), measured(100, 100, 100, 100, 100), ("likely", 1.008, 1.008)),
        # The median of five values drawn from five is the smallest in 5.8 % of all draws, more than 2.5 % of a tail.
        (measured(90, 95, 100, 105, 110), measured(*[100.0] * 5), ("close", 0.9, 1.1)),
        (measured(101, 105, 110, 115, 120), measured(*[100.0] * 5), ("clear", 1.01, 1.2)),
    ],
)  # fmt: skip
def test_the_grade_of_a_difference_follows_from_its_repeats(
    first: Measured, second: Measured, expected: tuple[Grade, float, float]
) -> None:
    assert shown(contrast(first, second)) == expected


def test_a_difference_may_be_clear_despite_one_outlier_of_many_runs() -> None:
    """The ranges of ten runs overlap because of one slow run, but the interval of the medians does not."""
    first, second = measured(*range(110, 119), 90), measured(*range(100, 110))
    assert not apart(first, second)
    assert contrast(first, second).grade == "clear"
    assert contrast(measured(110, 111, 112, 90), measured(100, 101, 102, 103)).grade == "close"


def test_the_interval_is_about_that_of_the_normal_distribution() -> None:
    """The error of the median is known for values that are spread evenly over the normal distribution."""
    quantiles = tuple(100 + 5 * statistics.NormalDist().inv_cdf((i + 0.5) / 400) for i in range(400))
    low, high = interval((quantiles,), ((100.0,) * 400,))
    half = 1.96 * 1.2533 * 0.05 / 400**0.5
    assert (1 - low, high - 1) == (pytest.approx(half, rel=0.15), pytest.approx(half, rel=0.15))


def test_each_machine_counts_once_in_the_interval() -> None:
    """A fast machine has nine runs, and two slow ones have one each, so the median of the machines is slow."""
    low, high = interval(((120.0,) * 9, (100.0,), (100.0,)), ((100.0,),))
    assert (low, high) == (1.0, 1.0)
    assert interval(((120.0,) * 9 + (100.0, 100.0),), ((100.0,),))[1] == pytest.approx(1.2)


def test_figures_without_single_repeats_are_compared_by_their_ranges() -> None:
    """A speed-up is a quotient of two figures. A loss may be zero, so that it has no ratio."""
    assert contrast(Measured(7.8, 7.7, 7.9, 9), Measured(7.0, 6.9, 7.1, 9)).grade == "clear"
    nothing = Measured(0.0, 0.0, 0.0, 5, groups=((0.0,) * 5,))
    assert contrast(nothing, measured(*[0.1] * 5)).grade == "clear"
    assert contrast(nothing, nothing).grade == "close"


def test_rules_with_another_winner_are_listed() -> None:
    first, second = measured(110, median=99, reported=120), measured(100, median=100, reported=100)
    assert contrast(first, second).against == contrast(second, first).against == ("median",)


@pytest.mark.parametrize(
    ("first", "second", "more"),
    [
        # Both have a spread of 7.07 %: 1.96 x 1.2533 x 10 % = 24.6 %, divided by ln 1.1 = 9.53 % and squared is 6.6.
        (measured(95, 105), measured(104.5, 115.5), 7),
        (measured(100, 100), measured(103, 103), 5),
        # A gap below 1 % is never clear, one run has no spread, and a clear difference needs no more repeats.
        (measured(100, 100), measured(100.9, 100.9), None),
        (measured(100), measured(103), None),
        (measured(100, 100, 100), measured(110, 110, 110), None),
        # More than a hundred runs are not proposed.
        (measured(70, 130), measured(72, 132), None),
    ],
)
def test_more_repeats_are_proposed_if_they_would_make_the_difference_clear(
    first: Measured, second: Measured, more: int | None
) -> None:
    assert contrast(first, second).more == contrast(second, first).more == more


SPEEDS = st.lists(st.floats(90, 110), min_size=1, max_size=9)


@settings(max_examples=60, deadline=None)
@given(SPEEDS, SPEEDS, st.floats(90, 110), st.floats(90, 110))
def test_exchanging_two_figures_inverts_their_ratio(
    mine: list[float], others: list[float], median: float, other_median: float
) -> None:
    first, second = measured(*mine, median=median), measured(*others, median=other_median)
    one, other = contrast(first, second), contrast(second, first)
    assert (one.grade, one.more) == (other.grade, other.more)
    assert (one.low, one.high) == pytest.approx((1 / other.high, 1 / other.low))
    assert one.grade == "close" or not one.low <= 1 <= one.high


@settings(max_examples=60, deadline=None)
@given(SPEEDS, SPEEDS, st.integers(-8, 8))
def test_the_unit_changes_nothing(mine: list[float], others: list[float], power: int) -> None:
    factor = 2.0**power
    found = contrast(measured(*(factor * each for each in mine)), measured(*(factor * each for each in others)))
    same = contrast(measured(*mine), measured(*others))
    assert (found.grade, found.more) == (same.grade, same.more)
    assert (found.low, found.high) == pytest.approx((same.low, same.high))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(90, 110), min_size=1, max_size=4), st.lists(st.floats(90, 110), min_size=1, max_size=4))
def test_repeating_all_values_does_not_lower_the_grade(mine: list[float], others: list[float]) -> None:
    grades = [contrast(measured(*mine * n), measured(*others * n)).grade for n in (1, 2, 3, 5)]
    assert grades == sorted(grades, key=SURE.index)
