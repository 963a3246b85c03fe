"""Histories: the order of points, and their comparison with earlier ones."""

from __future__ import annotations

import random
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfledger.ingest.compute.contrast import Measured
from perfledger.ingest.compute.history import (
    HistoryPoint,
    Moment,
    a_year_before,
    history,
    in_order,
    natural,
)


def measured(*values: float) -> Measured:
    """Return the figure of these repeats."""
    middle = median(values)
    spread = None if len(values) < 2 else (max(values) - min(values)) / middle / 2
    return Measured(
        middle, min(values), max(values), len(values), spread, "images/s", groups=(values,), rules={"sustained": middle}
    )


def point(date: str, *values: float, version: str = "", round: str = "", **conditions: str) -> HistoryPoint:
    stated = {name: (each,) for name, each in conditions.items()}
    return HistoryPoint(measured(*values), date, version, round, stated)


def words(found: Moment[HistoryPoint]) -> tuple[str | None, str | None, str | None]:
    return tuple(each and each.word for each in (found.previous, found.best, found.year))  # type: ignore[return-value]


# ---- the order of points ----


def test_points_are_in_the_order_of_dates() -> None:
    found = in_order([point("2024-02-01", 1), point("2023-12-31", 1, version="9"), point("2024", 1)])
    assert [each.date for each in found] == ["2023-12-31", "2024", "2024-02-01"]


def test_without_a_date_versions_and_rounds_give_the_order() -> None:
    found = in_order([point("", 1, version="0.10"), point("2020-01-01", 1, version="0.9"), point("", 1, version="0.2")])
    assert [each.version for each in found] == ["0.2", "0.9", "0.10"]
    rounds = in_order([point("", 1, round="v4.0"), point("", 1, round="v3.1"), point("", 1, round="v4.0.1")])
    assert [each.round for each in rounds] == ["v3.1", "v4.0", "v4.0.1"]


@settings(deadline=None)
@given(st.permutations([point(f"202{n}-01-01", 100 + n) for n in range(5)]))
def test_the_order_of_the_input_makes_no_difference(points: list[HistoryPoint]) -> None:
    assert [each.point.date for each in history(points)] == [f"202{n}-01-01" for n in range(5)]


@settings(deadline=None)
@given(st.lists(st.text(max_size=6), max_size=4))
def test_any_text_can_be_sorted(texts: list[str]) -> None:
    assert sorted(map(natural, texts)) == [natural(each) for each in sorted(texts, key=natural)]


# ---- the comparison of a point with earlier ones ----


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ((100, 101, 102, 100.5, 101.5), (90, 91, 92, 90.5, 91.5), "regression"),
        ((90, 91, 92, 90.5, 91.5), (100, 101, 102, 100.5, 101.5), "improvement"),
        ((100, 101, 102), (90, 91, 92), "regression"),
        # Ranges are apart, but the gap (2) is smaller than the larger range (3).
        ((100, 101, 103), (97, 99, 99.5), "suspicious"),
        ((97, 99, 99.5), (100, 101, 103), "promising"),
        # With one run each, a difference is likely if it exceeds 5 %.
        ((100,), (90,), "suspicious"),
        ((90,), (100,), "promising"),
        ((100,), (97,), "insufficient"),
        ((100, 100.1, 100.2), (100.05, 100.15, 100.25), "no_change"),
        # Ranges overlap with a gap of 2 %, and more repeats would make the difference clear.
        ((98, 100, 102), (100, 102, 104), "insufficient"),
    ],
)
def test_a_difference_has_a_word(before: tuple[float, ...], after: tuple[float, ...], word: str) -> None:
    _, last = history([point("2024-01-01", *before), point("2024-02-01", *after)])
    assert last.previous is not None
    assert last.previous.word == word


def test_a_lower_time_to_train_is_better() -> None:
    _, last = history([point("2024-01-01", 100, 101, 102), point("2024-02-01", 90, 91, 92)], "lower")
    assert words(last)[:2] == ("improvement", "improvement")


def test_slow_regressions_show_against_the_best_and_against_a_year_ago() -> None:
    """Single differences are too small, but together they are a regression. The medians' ratios are 97 / 100."""
    found = history([
        point("2023-01-10", 99.9, 100.0, 100.1, 99.95, 100.05),
        point("2023-07-10", 98.9, 99.2, 99.9, 98.95, 100.0),
        point("2024-01-10", 96.9, 97.0, 97.1, 96.95, 97.05),
    ])  # fmt: skip
    assert [each.point.figure.value for each in found] == [100.0, 99.2, 97.0]
    last = found[-1]
    assert last.best is not None
    assert last.year is not None
    assert (last.best.earlier.date, last.year.earlier.date) == ("2023-01-10", "2023-01-10")
    assert (last.best.word, last.year.word) == ("regression", "regression")
    assert last.best.contrast.low < 0.97 < last.best.contrast.high < 1
    assert words(found[0]) == (None, None, None)
    assert found[1].year is None


def test_a_year_ago_is_the_last_point_that_is_old_enough() -> None:
    days = ["2022-05-01", "2023-01-31", "2023-02-01", "2024-01-31"]
    found = history([point(day, 100 + at, 100 + at, 100 + at) for at, day in enumerate(days)])
    assert [each.year and each.year.earlier.date for each in found] == [None, None, None, "2023-01-31"]


def test_a_year_before_a_date_follows_from_its_text() -> None:
    assert (a_year_before("2024-02-29"), a_year_before("2021"), a_year_before("2021-05")) == (
        "2023-02-29", "2020", "2020-05",
    )  # fmt: skip


def test_conditions_that_both_points_state_differently_are_changes() -> None:
    found = history([
        point("2024-01-01", 100, driver="535", cuda="12.1", kernel="6.1"),
        point("2024-02-01", 100, driver="550", cuda="12.1", image="a"),
    ])  # fmt: skip
    assert [(each.name, each.first, each.second) for each in found[1].changed] == [("driver", ("535",), ("550",))]
    assert found[0].changed == ()


def test_a_change_of_the_level_is_marked_where_it_begins() -> None:
    chance = random.Random(3)
    values = [chance.gauss(100, 0.3) for _ in range(6)] + [chance.gauss(95, 0.3) for _ in range(6)]
    found = history([point(f"2024-{month:02}-01", each) for month, each in enumerate(values, 1)])
    assert [at for at, each in enumerate(found) if each.mark] == [6]
