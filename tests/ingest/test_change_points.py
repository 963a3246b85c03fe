"""Change points: one for each change of the level, and no others."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfledger.ingest.compute.change_points import ENOUGH, SHORTEST, change_points


def noisy(levels: Sequence[tuple[int, float]], seed: int, spread: float = 0.01) -> list[float]:
    chance = random.Random(seed)
    return [level * chance.gauss(1, spread) for count, level in levels for _ in range(count)]


@given(st.integers(1, 40), st.floats(0.001, 1e9))
def test_equal_values_have_no_change_points(count: int, value: float) -> None:
    assert change_points([value] * count) == ()


@given(st.lists(st.floats(1, 1e6), max_size=ENOUGH - 1))
def test_few_values_have_no_change_points(values: list[float]) -> None:
    assert change_points(values) == ()


@settings(max_examples=40, deadline=None, derandomize=True)  # of a million seeds, some make noise that is a step
@given(
    before=st.integers(SHORTEST, 15), after=st.integers(SHORTEST, 15), factor=st.sampled_from([0.5, 0.9, 1.1, 2]),
    seed=st.integers(0, 10**6),
)  # fmt: skip
def test_a_clear_step_is_found_at_its_place(before: int, after: int, factor: float, seed: int) -> None:
    before = max(before, ENOUGH - after)
    assert change_points(noisy([(before, 100), (after, 100 * factor)], seed, 0.002)) == (before,)


def test_a_step_without_noise_is_found_at_its_place() -> None:
    assert change_points([10.0] * 5 + [8.0] * 6) == (5,)


def test_several_levels_are_found() -> None:
    assert change_points(noisy([(8, 100), (5, 120), (9, 90)], 1)) == (8, 13)


def test_a_level_has_at_least_three_values() -> None:
    """Two slow values are outliers."""
    assert change_points([100.0] * 6 + [50.0] * 2 + [100.0] * 6) == ()


@pytest.mark.parametrize("count", [10, 20, 60])
def test_noise_has_no_change_points(count: int) -> None:
    assert [seed for seed in range(40) if change_points(noisy([(count, 100)], seed))] == []


@settings(max_examples=40, deadline=None)
@given(scale=st.integers(-20, 20), seed=st.integers(0, 10**6), step=st.integers(0, 30))
def test_the_scale_makes_no_difference(scale: int, seed: int, step: int) -> None:
    values = noisy([(7, 100), (7, 100 + step)], seed)
    assert change_points([each * 2.0**scale for each in values]) == change_points(values)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_equal_values_give_equal_change_points(seed: int) -> None:
    values = noisy([(10, 100), (10, 97)], seed, 0.02)
    assert change_points(values) == change_points(list(values))
