"""Verbs: the rows and columns that each makes of a table."""

from __future__ import annotations

import numpy as np
import pytest

from perfledger.parsers.contract import silent_checkpoints, verbs
from perfledger.parsers.contract.verbs import Verb, applied

NAN = float("nan")


def _are_two(columns: verbs.Columns) -> bool:
    return len(columns.rows) == 2


@pytest.mark.parametrize(
    ("verb", "columns", "rows", "made"),
    [
        (verbs.only("step"), {"step": [NAN, 1, 2]}, [1, 2], {"step": [1, 2]}),
        (verbs.only("step", loss=2), {"step": [NAN, 1, 2], "loss": [5, 1, 2]}, [2], {"step": [2], "loss": [2]}),
        (verbs.within("", "_stop"), {"step": [1, 2, 3], "_stop": [NAN, 5, NAN]}, [0], {"step": [1]}),
        (
            verbs.within("epoch", "_other"),
            {"step": [1, 2, 3, 4], "epoch": [NAN, 1, NAN, NAN], "_other": [1, NAN, NAN, 1]},
            [1, 2],
            {"step": [2, 3], "epoch": [1, NAN]},
        ),
        (verbs.states("step"), {"step": [1, 1, 2], "loss": [1, 2, 3]}, [0, 2], {"step": [1, 2], "loss": [1, 3]}),
        (
            verbs.states("step", last=True),
            {"step": [1, 1, 2], "loss": [1, 2, 3]},
            [1, 2],
            {"step": [1, 2], "loss": [2, 3]},
        ),
        (
            verbs.first_drawn,
            {"step": [0, 1, 1, 2, 1, 3, 4], "clock": [1, 2, 3, 4, 5, 6, 9], "total_steps": [4] * 7},
            [1, 3, 5],
            {"step": [1, 2, 3], "clock": [2, 4, 6], "total_steps": [4] * 3},
        ),
        (verbs.only_if(_are_two), {"step": [1, 2]}, [0, 1], {"step": [1, 2]}),
        (verbs.only_if(_are_two, False), {"step": [1, 2]}, [], {"step": []}),
        (verbs.since_start, {"step": [1019, 1039, 1059]}, [0, 1, 2], {"step": [19, 39, 59]}),
        (verbs.carry("epoch"), {"epoch": [NAN, 1, NAN, 2]}, [0, 1, 2, 3], {"epoch": [NAN, 1, 1, 2]}),
        (verbs.total("loss", "_a", "_b"), {"_a": [1, 2], "_b": [3, 4]}, [0, 1], {"loss": [4, 6]}),
        (verbs.either("step", "_step"), {"step": [NAN, 1], "_step": [5, 7]}, [0, 1], {"step": [5, 1]}),
        (verbs.fine("loss", 0.05), {"loss": [0.4, 0.5]}, [0, 1], {"loss": [NAN, 0.5]}),
        (
            verbs.evaluations,
            {"step": [0, 10, 20, 30, 40, 50, 60], "step_seconds": [9, 1, 3, 1, 3, 1, 1]},
            [0, 1, 2, 3, 4, 5, 6],
            {
                "step": [0, 10, 20, 30, 40, 50, 60],
                "step_seconds": [9, 1, 3, 1, 3, 1, 1],
                "evaluated": [0, 0, 0, 0, 0, 0, 0],
            },
        ),
        (
            verbs.evaluations,
            {"step": [10, 20, 30, 40, 50, 60, 70], "step_seconds": [1, 3, 1, 3, 1, 3, 1]},
            [0, 1, 2, 3, 4, 5, 6],
            {
                "step": [10, 20, 30, 40, 50, 60, 70],
                "step_seconds": [1, 3, 1, 3, 1, 3, 1],
                "evaluated": [0, 1, 0, 1, 0, 1, 0],
            },
        ),
        (verbs.fine("duration", 1.0, cut=True), {"duration": [9, 10]}, [0, 1], {"duration": [NAN, 10.5]}),
        (
            verbs.mean_of_ranks("loss"),
            {"step": [1, 2, 1, 2, 3], "loss": [1, 5, 3, 7, 9]},
            [0, 1],
            {"step": [1, 2], "loss": [2, 6]},
        ),
        (
            verbs.undo_mean("step_seconds"),
            {"epoch": [1, 1, 2], "step": [10, 20, 10], "step_seconds": [2, 1.5, 1]},
            [0, 1, 2],
            {"epoch": [1, 1, 2], "step": [10, 20, 10], "step_seconds": [2, 1, 1], "steps": [10, 10, 10]},
        ),
    ],
)
def test_a_verb_keeps_rows_and_makes_columns(
    verb: Verb, columns: dict[str, list[float]], rows: list[int], made: dict[str, list[float]]
) -> None:
    found = applied((verb,), {name: np.array(each, dtype=np.float64) for name, each in columns.items()}, {})
    assert found.rows.tolist() == rows
    assert found.keys() == made.keys()
    for name, each in made.items():
        np.testing.assert_allclose(found[name], each)


def test_rows_of_several_verbs_are_those_of_the_log() -> None:
    columns = {"step": np.array([NAN, 1, 1, 2]), "_x": np.zeros(4)}
    made = applied((verbs.only("step"), verbs.states("step")), columns, {})
    assert made.rows.tolist() == [1, 3]
    assert list(made) == ["step"]


def test_columns_are_kept_and_dropped_by_name() -> None:
    columns = verbs.Columns({"step": np.array([1.0, 2.0]), "loss": np.array([3.0, 4.0])}, np.array([5, 7]), {})
    assert list(columns.drop("loss", "power")) == list(columns.select("step")) == ["step"]
    assert columns.take(slice(1, None)).rows.tolist() == [7]


def test_facts_are_private_columns() -> None:
    verb = verbs.either("batch", "_batch_size")
    columns = {"step": np.array([1.0, 2.0])}
    assert applied((verb,), columns, {"batch_size": 32.0})["batch"].tolist() == [32, 32]
    assert np.isnan(applied((verb,), columns, {})["batch"]).all()
    with pytest.raises(KeyError, match="_batch"):
        applied((verbs.only("_batch"),), columns, {})


@pytest.mark.parametrize("verb", [verbs.only("step"), verbs.states("step"), verbs.undo_mean("step")])
def test_an_empty_table_stays_empty(verb: Verb) -> None:
    made = applied((verb,), {"step": np.empty(0)}, {})
    assert len(made.rows) == len(made["step"]) == 0


@pytest.mark.parametrize(
    ("step", "clock", "rows"),
    [
        # An evaluation with as many steps is drawn after step 3.
        ([1, 2, 3, 1, 4, 8, 3, 4, 5], [2, 4, 6, 1, 2, 4, 9, 11, 13], [0, 1, 2, 7, 8]),
        # The bars of two nodes are written in blocks.
        ([1, 2, 3, 1, 2, 3, 4, 5, 4], [9, 18, 27, 9, 19, 27, 36, 45, 37], [0, 1, 2, 6, 7]),
        # Another program draws a bar from the first step on.
        ([1, 2, 3, 1, 2, 3], [2, 4, 6, 9, 18, 27], [0, 1, 2, 3, 4, 5]),
    ],
    ids=["inner", "nodes", "another"],
)
def test_first_drawn_separates_bars(step: list[int], clock: list[int], rows: list[int]) -> None:
    columns = {"step": step, "clock": clock, "total_steps": [9] * len(step)}
    kept = applied((verbs.first_drawn,), {name: np.array(each, np.float64) for name, each in columns.items()}, {})
    assert kept.rows.tolist() == rows


@pytest.mark.parametrize(
    ("every", "first", "facts", "marked"),
    [
        (50, 2.0, {"saved_every": 50}, [50]),
        # An epoch is 60 steps.
        (60, 2.0, {"total_epochs": 2}, [60]),
        (20, 2.0, {}, [20, 40, 60, 80, 100]),
        # The Trainer saves after 500 steps if nothing else is stated.
        (500, 2.0, {}, [500]),
        # An optimizer works longer every 20 steps, and begins with such a step.
        (20, 42.0, {}, []),
        # One slow record shows no period of checkpoints.
        (50, 2.0, {}, []),
    ],
    ids=["stated", "epoch", "period", "usual", "optimizer", "unknown"],
)
def test_silent_checkpoints_are_slow_records_at_multiples(
    every: int, first: float, facts: dict[str, float], marked: list[int]
) -> None:
    step = np.arange(1.0, {50: 100.0, 500: 700.0}.get(every, 120.0))
    clock = first - 2 + 2 * step + 40 * np.floor((step - 1) / every)
    columns = {"step": step, "clock": clock, "total_steps": np.full(len(step), 120.0)}
    made = applied((silent_checkpoints,), columns, facts)
    assert (np.flatnonzero(made["evaluated"])).tolist() == marked


def test_records_of_hundreds_of_steps_vary_by_some_seconds() -> None:
    """500 steps take 108 to 117 s, and each record may contain a checkpoint: no record is slow."""
    step = 500.0 * np.arange(1, 9)
    clock = np.cumsum([100.0, 108, 109, 114, 116, 113, 111, 117])
    columns = {"step": step, "clock": clock, "total_steps": np.full(8, 22184.0)}
    made = applied((silent_checkpoints,), columns, {})
    assert not made["evaluated"].any()
