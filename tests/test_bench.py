"""The measurements of `bench` run; tests do not compare their times."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from bench import __main__, reading


def test_a_measurement_runs_and_an_unknown_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__main__.MEASUREMENTS, "log", lambda _, gib: reading.long_log(tmp_path, gib=gib, times=1))
    done = CliRunner().invoke(__main__.main, ["log", "--gib", "0.001"])
    assert done.exit_code == 0, done.output
    assert "all fields of 0.001 GiB, appended runs" in done.output
    done = CliRunner().invoke(__main__.main, ["speed"])
    assert done.exit_code == 2
    assert all(name in done.output for name in __main__.MEASUREMENTS)
