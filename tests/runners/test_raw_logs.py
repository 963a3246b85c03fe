"""Every run in raw_logs keeps the contract of run.json, and its log is the one that was printed."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from perfledger.schema.records import from_json
from perfledger.schema.run_json import RunJson

RAW_LOGS = Path(__file__).parents[2] / "raw_logs"
RUNS = sorted(RAW_LOGS.rglob("run.json"))
#: The keys of a run.json that was not written by hand, in addition to those of the schema.
REQUIRED = {
    "suite", "repeat", "environment", "argv", "environment_variables", "start", "end", "wall_seconds", "exit_status",
    "files",
}  # fmt: skip
# Facts that our logs must not reveal: folders of a machine and names of users.
PRIVATE = re.compile(rb"/(?:home|root|Users|tmp|mnt|work)/[\w.-]|[\w.-]+@[\w-]+\.[a-z]")


def test_there_are_runs():
    assert RUNS


def test_every_log_has_its_run():
    assert {path.parent for path in RAW_LOGS.rglob("train.log")} == {path.parent for path in RUNS}


@functools.cache
def load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_run_keeps_the_contract():
    for path in RUNS:
        document = load(path)
        run = from_json(document, RunJson)
        assert set(document) >= REQUIRED, path
        assert re.fullmatch(r"[a-z0-9_]+\.[a-z0-9_]+", run.format or "not.stated"), path
        assert (run.outcome == "completed") <= (document["exit_status"] == 0), path
        start, end = (datetime.fromisoformat(document[key]) for key in ("start", "end"))
        assert abs((end - start).total_seconds() - document["wall_seconds"]) <= 1, path
        *above, suite, framework, case, repeat = path.parent.relative_to(RAW_LOGS).parts
        # Those of a round lie in a folder of its name; those of a further machine in one of that machine, within it.
        assert above[:1] in ([], [run.round]), path
        assert len(above) <= 2, path
        assert (suite, framework, int(repeat)) == (run.suite, run.case.framework.lower(), run.repeat), path
        slug = f"n{run.case.nodes}d{run.case.devices}-bs{run.case.batch_size}-{run.case.precision}"
        assert f"-{slug}-" in f"{case}-", path


def test_files_match_their_hashes_and_contain_no_private_path_or_address():
    for path in RUNS:
        found = {file.relative_to(path.parent).as_posix(): file for file in path.parent.rglob("*") if file.is_file()}
        contents = {name: file.read_bytes() for name, file in found.items()}
        stated = {
            name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
            for name, content in contents.items()
            if name != "run.json"
        }
        assert load(path)["files"] == stated, path
        assert "train.log" in stated, path
        assert [name for name, content in contents.items() if PRIVATE.search(content)] == [], path


def test_a_completed_run_has_as_many_records_as_its_recipe_requires():
    for path in RUNS:
        run = load(path)
        records = run.get("records", {"format": run.get("format"), "count": 1, "at_least": 1})
        assert records["format"] == run.get("format"), path
        assert (run["outcome"] == "completed") <= (records["count"] >= records["at_least"]), path


def test_repeats_of_a_case_state_the_same_case():
    cases: dict[Path, set[str]] = {}
    for path in RUNS:
        cases.setdefault(path.parents[1], set()).add(json.dumps(load(path)["case"], sort_keys=True))
    assert {len(stated) for stated in cases.values()} == {1}
