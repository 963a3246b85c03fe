"""The measurements run, on inputs small enough for a test; how fast they are is no test's business."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from bench import building, reading
from bench.__main__ import MEASUREMENTS, main


def test_a_long_log_is_measured_as_one_run_and_as_many(tmp_path: Path) -> None:
    rows = reading.long_log(tmp_path, gib=0.001, times=1)
    assert [each.what for each in rows] == [
        "all fields of 0.001 GiB, one run",
        "all fields of 0.001 GiB, appended runs",
    ]
    assert all(each.seconds and each.base for each in rows)


def test_builds_are_measured_after_logs_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = building.changes(tmp_path, sizes=(3,), changed=(1,))
    assert [(each.what, each.against) for each in rows] == [
        ("3 logs, all new", "3 logs, none changed"),
        ("3 logs, 1 changed", "3 logs, none changed"),
    ]
    assert len(list((tmp_path / "docs3" / "data" / "runs").glob("*.jsonl"))) == 1


def test_an_unknown_measurement_is_refused_with_the_known_ones() -> None:
    done = CliRunner().invoke(main, ["speed"])
    assert done.exit_code == 2
    assert all(name in done.output for name in MEASUREMENTS)
