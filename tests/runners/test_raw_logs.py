"""Every run in raw_logs keeps the contract of run.json, and its log is the one that was printed."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from schema.vocabulary import PRECISIONS

RAW_LOGS = Path(__file__).parents[2] / "raw_logs"
RUNS = sorted(RAW_LOGS.glob("*/*/*/*/run.json"))
REQUIRED = {
    "schema": str, "suite": str, "case": dict, "repeat": int, "environment": dict, "argv": list,
    "environment_variables": dict, "start": str, "end": str, "wall_seconds": (int, float), "exit_status": int,
    "outcome": str, "files": dict,
}  # fmt: skip
OPTIONAL = {
    "format": str, "source": dict, "notes": str, "round": str, "recipe": dict, "records": dict, "warnings": list,
    "nodes": list,
}  # fmt: skip
CASE = {
    "model": str, "framework": str, "hardware": str, "nodes": int, "devices": int, "batch_size": int,
    "precision": str, "options": dict,
}  # fmt: skip
OUTCOMES = {"completed", "oom", "failed", "timeout", "stopped", "short"}
# What a reader must not learn from a log of ours: where on a machine it was made, and by whom.
PRIVATE = re.compile(rb"/(?:home|root|Users|tmp|mnt|work)/[\w.-]|[\w.-]+@[\w-]+\.[a-z]")


def test_there_are_runs():
    assert RUNS


def test_every_log_has_its_run():
    assert {path.parent for path in RAW_LOGS.rglob("train.log")} == {path.parent for path in RUNS}


def load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", RUNS, ids=lambda path: str(path.parent.relative_to(RAW_LOGS)))
def test_a_run_keeps_the_contract(path):
    run = load(path)
    assert set(REQUIRED) <= set(run) <= set(REQUIRED) | set(OPTIONAL)
    for key, kind in (REQUIRED | OPTIONAL).items():
        assert isinstance(run.get(key, kind() if key in OPTIONAL else None), kind), key
    assert run["schema"] == "perfledger.run/1"
    assert set(run["case"]) == set(CASE)
    for key, kind in CASE.items():
        assert isinstance(run["case"][key], kind), key
    assert run["case"]["precision"] in set(PRECISIONS)
    assert all(isinstance(value, (str, int, float, bool)) for value in run["case"]["options"].values())
    assert re.fullmatch(r"[a-z0-9_]+\.[a-z0-9_]+", run.get("format", "not.stated"))
    assert run["outcome"] in OUTCOMES
    assert (run["outcome"] == "completed") <= (run["exit_status"] == 0)
    start, end = (datetime.fromisoformat(run[key]) for key in ("start", "end"))
    assert abs((end - start).total_seconds() - run["wall_seconds"]) <= 1
    suite, framework, case, repeat = path.parent.relative_to(RAW_LOGS).parts
    assert (suite, framework) == (run["suite"], run["case"]["framework"].lower())
    assert int(repeat) == run["repeat"]
    facts = run["case"]
    slug = f"n{facts['nodes']}d{facts['devices']}-bs{facts['batch_size']}-{facts['precision']}"
    assert f"-{slug}-" in f"{case}-"


@pytest.mark.parametrize("path", RUNS, ids=lambda path: str(path.parent.relative_to(RAW_LOGS)))
def test_files_match_their_hashes_and_contain_no_private_path_or_address(path):
    found = {file.relative_to(path.parent).as_posix(): file for file in path.parent.rglob("*") if file.is_file()}
    contents = {name: file.read_bytes() for name, file in found.items()}
    stated = {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for name, content in contents.items()
        if name != "run.json"
    }
    assert load(path)["files"] == stated
    assert "train.log" in stated
    for content in contents.values():
        assert PRIVATE.search(content) is None


@pytest.mark.parametrize("path", RUNS, ids=lambda path: str(path.parent.relative_to(RAW_LOGS)))
def test_a_completed_run_holds_the_records_that_were_asked_for(path):
    run = load(path)
    records = run.get("records", {"format": run.get("format"), "count": 1, "at_least": 1})
    assert records["format"] == run.get("format")
    assert (run["outcome"] == "completed") <= (records["count"] >= records["at_least"])


def test_repeats_of_a_case_state_the_same_case():
    cases: dict[Path, set[str]] = {}
    for path in RUNS:
        cases.setdefault(path.parents[1], set()).add(json.dumps(load(path)["case"], sort_keys=True))
    assert {len(stated) for stated in cases.values()} == {1}
