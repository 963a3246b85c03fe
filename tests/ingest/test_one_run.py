"""Four checks that a session is one run, on logs of two runs, and on similar logs of one run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from made_logs import pytorch_bert
from made_sessions import made, session_of

from perfledger.ingest.compute.one_run import one_run

SPEEDS = rb"iter (?P<step>\d+) speed (?P<throughput>\S+)"


def found(pattern: bytes, lines: Sequence[str], folder: Path, **reading: Any) -> tuple[int, str] | None:
    evidence = one_run(made(pattern, lines, folder, **reading))
    return (evidence[0], evidence[1].code) if evidence else None


def test_a_second_run_of_few_records_is_found(tmp_path: Path) -> None:
    lines = [f"iter {i} speed 5.0" for i in (1, 2, 3, 1, 2, 3)]
    assert found(SPEEDS, lines, tmp_path) == (4, "steps_go_back")


def test_a_second_run_of_whole_epochs_is_found(tmp_path: Path) -> None:
    lines = [f"epoch {i} speed {speed}" for speed in (10.0, 5.0) for i in range(20)]
    pattern = rb"epoch (?P<epoch>\d+) speed (?P<throughput>\S+)"
    assert found(pattern, lines, tmp_path, span="epoch") == (21, "steps_go_back")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([f"iter {i} speed {speed}" for i in range(1, 40) for speed in (5.0, 10.0)], (2, "steps_go_back")),
        # Two handlers of a logger print each line.
        ([f"iter {i} speed {5.0 + i / 100}" for i in range(1, 40) for _ in range(2)], None),
        # The run is resumed once from a checkpoint.
        ([f"iter {i} speed {5.0 + i / 100}" for i in (*range(1, 30), *range(20, 60))], None),
        # The first line after a restart may include the start of the program, so the second one shows the pace.
        (
            [*(f"iter {i} speed 5.0" for i in range(1, 30)), *(f"iter {i} speed 9.0" for i in range(20, 60))],
            (31, "pace_of_another"),
        ),
    ],
)
def test_two_programs_in_one_file_are_found(lines: list[str], expected: tuple[int, str] | None, tmp_path: Path) -> None:
    assert found(SPEEDS, lines, tmp_path) == expected


def test_two_programs_that_count_updates_are_found_if_their_steps_differ(tmp_path: Path) -> None:
    """A loss scaler takes back a few updates, which are fewer than the distance between two programs."""
    both = [f"iter {i} speed 5.0" for n in range(1, 40) for i in (n, 2 * n + 10)]
    scaled = [f"iter {i} speed {speed}" for i in range(3, 60, 3) for i, speed in ((i, 5.0), (i - 1, 5.5))]
    both_found = [found(SPEEDS, lines, tmp_path, per_update=True) for lines in (both, scaled)]
    assert both_found == [(3, "steps_go_back"), None]


def test_numbers_that_a_loss_scaler_takes_back_are_of_one_run(tmp_path: Path) -> None:
    lines = pytorch_bert([(number, 2.0 * i) for i, number in enumerate([1, 1, 2, 1, 2, 3])])
    assert one_run(session_of(lines, tmp_path)) is None


def test_lines_without_a_step_are_of_one_run(tmp_path: Path) -> None:
    lines = ["speed 5.0", *(f"iter {i} speed 5.0" for i in range(1, 40))]
    assert found(rb"(?:iter (?P<step>\d+) )?speed (?P<throughput>\S+)", lines, tmp_path) is None


def test_ranks_with_times_on_only_some_lines_are_one_run(tmp_path: Path) -> None:
    pattern = rb"iter (?P<step>\d+)(?: after (?P<elapsed>\d+))?+ speed (?P<throughput>\S+)"
    lines = [f"iter {i}{time} speed {5.0 + i / 100}" for i in range(1, 40) for time in (f" after {i}", "", "")]
    assert found(pattern, lines, tmp_path, ranks="median") is None


@pytest.mark.parametrize(
    ("total", "hour", "code"), [(200, 12, "fact_restated"), (100, 9, "clock_goes_back"), (100, 12, "")]
)
def test_a_run_that_another_one_continues_is_found(total: int, hour: int, code: str, tmp_path: Path) -> None:
    """The second part continues the epoch of the first; its total of steps differs, or its lines are older."""
    lines = [f"2026-11-20 11:50:{i:02d} epoch: 2, iter: {i}/100, ips: 160.5" for i in range(20, 30)]
    lines += [f"2026-11-20 {hour:02d}:50:{i:02d} epoch: 2, iter: {i}/{total}, ips: 150.5" for i in range(25, 40)]
    pattern = rb"epoch: <epoch>, iter: <step>/<total_steps>, ips: <throughput>"
    assert found(pattern, lines, tmp_path) == ((11, code) if code else None)


@pytest.mark.parametrize(
    ("gap", "speed", "rows", "expected"),
    [
        (40, 7.0, 9, (10, "pace_of_another")),  # 10 / 7 = 1.43 times as long
        (40, 7.2, 9, None),  # 1.39 times
        (31, 7.0, 9, (10, "pace_of_another")),  # more than three times the usual 10 steps
        (30, 7.0, 9, None),
        (40, 7.0, 3, (10, "pace_of_another")),
        (40, 7.0, 2, None),  # too few to compare
    ],
)
def test_a_gap_divides_two_runs_if_the_pace_changes_with_it(
    gap: int, speed: float, rows: int, expected: tuple[int, str] | None, tmp_path: Path
) -> None:
    lines = [f"iter {10 * i} speed 10" for i in range(1, 10)]
    lines += [f"iter {90 + gap + 10 * i} speed {speed}" for i in range(rows)]
    assert found(SPEEDS, lines, tmp_path) == expected


@pytest.mark.parametrize(("slow_until", "expected"), [(98, None), (130, (10, "pace_of_another"))])
def test_a_stall_is_not_a_second_run(slow_until: int, expected: tuple[int, str] | None, tmp_path: Path) -> None:
    """After a stall with missing lines a run continues at the same pace, and a second run has another pace."""
    steps = [*range(1, 10), *range(90, 130)]
    lines = [f"iter {each} speed {2.0 if 90 <= each < slow_until else 10.0}" for each in steps]
    assert found(SPEEDS, lines, tmp_path) == expected
