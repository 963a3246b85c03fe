"""How far a session came, by its own counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from perfledger.parsers.contract import Format, Reading
from perfledger.parsers.engine.counters import Counters, counters
from perfledger.parsers.engine.read import read

STEPS = rb"step <step>/<total_steps> at <throughput>"
EPOCHS = rb"epoch <epoch>/<total_epochs> step <step>/<total_steps> at <throughput>"


def of(
    pattern: bytes, lines: Sequence[str], folder: Path, facts: Mapping[str, int] | None = None, **about: Any
) -> Counters | None:
    path = folder / "train.log"
    path.write_text("".join(f"{each}\n" for each in lines))
    (session,) = read(path, Format("made", (Reading(pattern, **about),))).sessions
    return counters(session.records, facts or {})


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((10, 20, 30), Counters("step", 30, 100, reached=False)),
        ((10, 90, 100), Counters("step", 100, 100, reached=True)),
        ((1,), Counters("step", 1, 100, reached=False)),
        # Counted from 0, every tenth is printed: 90 is the last.
        ((0, 10, 80, 90), Counters("step", 91, 100, reached=True)),
        ((0, 10, 70, 80), Counters("step", 81, 100, reached=False)),
        # Counted from 1, 100 is yet to come.
        ((10, 20, 80, 90), Counters("step", 90, 100, reached=False)),
        ((0, 1, 99), Counters("step", 100, 100, reached=True)),
        # Every fifteenth is printed.
        (range(15, 100, 15), Counters("step", 90, 100, reached=True)),
    ],
)
def test_steps_of_the_run(steps: Sequence[int], expected: Counters, tmp_path: Path) -> None:
    assert of(STEPS, [f"step {each}/100 at 8.5" for each in steps], tmp_path) == expected


@pytest.mark.parametrize(
    ("epoch", "step", "expected"),
    [
        (1, 100, Counters("epoch", 1, 3, reached=False)),
        (3, 50, Counters("step", 50, 100, reached=False)),
        (3, 100, Counters("step", 100, 100, reached=True)),
    ],
)
def test_only_the_last_step_of_the_last_epoch_reaches_the_end(
    epoch: int, step: int, expected: Counters, tmp_path: Path
) -> None:
    lines = [f"epoch {e}/3 step {s}/100 at 8.5" for e in (1, 2, 3) for s in (50, 100) if (e, s) <= (epoch, step)]
    assert of(EPOCHS, lines, tmp_path) == expected


def test_the_end_of_an_epoch_is_not_that_of_the_run(tmp_path: Path) -> None:
    """The number of planned epochs is unknown."""
    pattern = rb"epoch <epoch> step <step>/<total_steps> at <throughput>"
    lines = [f"epoch 0 step {each}/100 at 8.5" for each in (50, 100)]
    assert of(pattern, lines, tmp_path) is None
    assert of(pattern, lines[:1], tmp_path) == Counters("step", 50, 100, reached=False)


def test_the_begin_of_the_last_epoch_is_not_its_end(tmp_path: Path) -> None:
    pattern = rb"epoch <epoch>/<total_epochs> step <step> at <throughput>"
    assert of(pattern, ["epoch 3/3 step 10 at 8.5"], tmp_path) is None
    assert of(pattern, ["epoch 2/3 step 10 at 8.5"], tmp_path) == Counters("epoch", 2, 3, reached=False)


def test_the_record_of_the_last_epoch_reaches_the_end(tmp_path: Path) -> None:
    pattern = rb"epoch <epoch>/<total_epochs> at <throughput>"
    assert of(pattern, ["epoch 3/3 at 8.5"], tmp_path, span="epoch") == Counters("epoch", 3, 3, reached=True)


def test_a_fact_may_state_the_total(tmp_path: Path) -> None:
    pattern = rb"step <step> at <throughput>"
    assert of(pattern, ["step 7 at 8.5"], tmp_path) is None
    assert of(pattern, ["step 7 at 8.5"], tmp_path, {"total_steps": 9}) == Counters("step", 7, 9, reached=False)
