"""The measurements run, on inputs small enough for a test; how fast they are is no test's business."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench import building, front_page, reading, scale
from bench.__main__ import MEASUREMENTS, main
from ingest import build

MEASURED = """
import json, sys
from pathlib import Path
from bench.explorer import explorer
print(json.dumps([(each.what, each.seconds) for each in explorer(Path(sys.argv[1]), 6000)]))
"""


def test_a_long_log_is_measured_as_one_run_and_as_many(tmp_path: Path) -> None:
    rows = reading.long_log(tmp_path, gib=0.001, times=1)
    assert [each.what for each in rows] == [
        "all fields of 0.001 GiB, one run",
        "all fields of 0.001 GiB, appended runs",
        "all fields of 0.001 GiB, eight ranks",
    ]
    assert all(each.seconds and each.base for each in rows)


def test_ledgers_and_sites_are_measured_new_and_unchanged(tmp_path: Path) -> None:
    rows = scale.scale(tmp_path, counts=(3,))
    assert [each.what.partition(":")[0] for each in rows] == [
        f"3 logs, {each}"
        for each in (
            "all new, without pages",
            "none changed, without pages",
            "none changed, all pages new",
            "none changed",
            "one changed",
            "mkdocs build",
        )
    ]
    assert all(each.seconds and each.base for each in rows)


def test_the_names_of_made_logs_state_their_configurations(tmp_path: Path) -> None:
    scale.write_tree(tmp_path / "logs", 40)
    layout = str(tmp_path / "logs" / scale.LAYOUT)
    state = build.read(build.Inputs((tmp_path / "logs",), layout, out=tmp_path / "docs"))
    assert len(state.logs) == 40
    assert any((run.case.hardware or "").startswith("Made-up accelerator") for run in state.ledger.runs)
    assert len({run.case.model for run in state.ledger.runs}) > 1


def test_builds_are_measured_after_logs_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = building.changes(tmp_path, sizes=(3,), changed=(1,))
    assert [(each.what, each.against) for each in rows] == [
        ("3 logs, all new", "3 logs, none changed"),
        ("3 logs, 1 changed", "3 logs, none changed"),
    ]
    assert len(list((tmp_path / "docs3" / "data" / "runs").glob("*.jsonl"))) == 1


def test_the_page_of_all_runs_is_measured_with_as_many_as_asked_for(tmp_path: Path) -> None:
    # In a process of its own: this one may hold another browser already.
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(tmp_path)], check=True, stdout=subprocess.PIPE, text=True
    )
    rows = json.loads(done.stdout)
    if front_page.chromium("explorer") is None:
        assert rows == []
        return
    names = (
        "first rows",
        "all rows",
        "a filter",
        "all again",
        "a sort by throughput",
        "a sort by hardware",
        "a search",
    )
    assert [what.partition(":")[0] for what, _ in rows] == [f"6,000 runs, {each}" for each in names]
    assert re.fullmatch(r"6,000 runs, all rows: [2-4] parts of \d+ kB", rows[1][0])
    assert all(0 < seconds < 60 for _, seconds in rows)


def test_an_unknown_measurement_is_refused_with_the_known_ones() -> None:
    done = CliRunner().invoke(main, ["speed"])
    assert done.exit_code == 2
    assert all(name in done.output for name in MEASUREMENTS)
