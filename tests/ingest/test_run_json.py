"""run.json: its keys, its logs, and messages about invalid keys; test_bad_input has invalid documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_logs import run_json, seg
from made_trees import Called, write_run

from perfledger.ingest.read.run_json import RunJsonFile, of_log
from perfledger.schema.records import from_json
from perfledger.schema.run_json import RunJson


def written(folder: Path, document: Any) -> RunJsonFile:
    (folder / "run.json").write_text(json.dumps(document))
    return of_log(folder / "train.log", "logs/x/train.log")


def test_the_round_is_a_fact(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    write_run(tmp_path / "logs", "a/b/c/1", seg([4.0, 5.0]), run=run_json(round=" 2026Q4 "))
    (line,) = ingest(tmp_path / "logs", "--json").lines
    assert line["facts"]["round"] == {"value": "2026Q4", "source": "run.json", "where": "run.json"}
    assert "round" not in line["case"]
    assert line["published"]


@pytest.mark.parametrize("wrong", ["", "  ", 2026, ["2026Q4"], "x" * 41])
def test_an_invalid_round_is_a_problem(tmp_path: Path, wrong: Any) -> None:
    given = written(tmp_path, run_json(round=wrong))
    assert given.problem is not None
    assert "round" in given.problem.args["cause"]
    assert given.document is None


@pytest.mark.parametrize("place", ["case", "options"])
def test_a_round_is_not_part_of_the_case(tmp_path: Path, place: str) -> None:
    """As an option the round would separate cases."""
    document = run_json(options={"round": "2026Q4"} if place == "options" else {})
    document["case"] |= {"round": "2026Q4"} if place == "case" else {}
    given = written(tmp_path, document)
    assert given.problem is not None
    assert "next to `case`" in given.problem.args["cause"]


def test_a_run_json_that_names_other_logs_is_not_used(tmp_path: Path) -> None:
    given = written(tmp_path, run_json(files={"other.log": {"sha256": "0" * 64}}))
    assert (given.document, given.problem) == (None, None)
    assert written(tmp_path, run_json(files={"train.log": {}, "other.log": {}})).document is not None


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (
            {"precision": "fp9"},
            "case.precision: expected one of fp32, tf32, fp32_tf32, amp, fp16, bf16, fp8, mxfp8, nvfp4, int8, got",
        ),
        ({"outcome": "complete"}, "outcome: expected one of completed, "),
        ({"devices": "8"}, "case.devices: expected a positive whole number, got '8'"),
        ({"devices": 0}, "case.devices: expected a positive whole number, got 0"),
        ({"nodes": 2, "devices": 3}, "case.devices: 2 nodes cannot share 3 devices"),
        ({"options": {"accumulation": "8"}}, "case.options.accumulation: expected a positive whole number, got '8'"),
        ({"nodes": None}, "case.nodes: expected a positive whole number, got None"),
        ({"recipe": {"name": "x", "setup": ["a", 5]}}, "recipe.setup[1]: expected a text, got 5"),
        ({"schema": "perfledger.run/2"}, "schema: expected one of perfledger.run/1, got 'perfledger.run/2'"),
    ],
)
def test_the_message_about_a_wrong_value_has_its_place_and_the_allowed_values(
    tmp_path: Path, change: dict[str, Any], cause: str
) -> None:
    document = run_json()
    document["case"] |= {key: value for key, value in change.items() if key in document["case"]}
    document |= {key: value for key, value in change.items() if key not in document["case"]}
    given = written(tmp_path, document)
    assert given.problem is not None
    assert given.problem.code == "wrong_file"
    assert given.problem.args["cause"].startswith(cause)


SCHEMA = {"schema": "perfledger.run/1"}


@pytest.mark.parametrize("key", [*run_json()["case"], "tokens_per_step", "accumulation"])
def test_a_single_fact_is_enough(tmp_path: Path, key: str) -> None:
    value = run_json()["case"].get(key, 64)
    given = written(tmp_path, SCHEMA | {"case": {key: value}})
    assert given.problems == []
    assert given.case() == {"options": {}} | {key: value}


@pytest.mark.parametrize(
    "document", [SCHEMA, SCHEMA | {"outcome": "oom"}, SCHEMA | {"case": {}}, SCHEMA | {"repeat": 2}]
)
def test_no_key_but_the_schema_is_compulsory(tmp_path: Path, document: dict[str, Any]) -> None:
    given = written(tmp_path, document)
    assert given.problems == []
    assert given.case() == {"options": {}}
    assert from_json(document, RunJson) == given.document


def test_the_log_states_facts_that_run_json_lacks(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    lines = ["------------Environment Information-------------", "GPUs used: 8", *seg([4.0] * 6)]
    stated = SCHEMA | {"case": {"model": "FastSCNN", "framework": "Paddle", "batch_size": 4}}
    write_run(tmp_path / "logs", "a/b/c/1", [*lines, "RuntimeError: CUDA out of memory"], run=stated)
    (line,) = ingest(tmp_path / "logs", "--json").lines
    assert (line["case"]["devices"], line["facts"]["devices"]["source"]) == (8, "log")
    assert line["case"]["model"] == "FastSCNN"
    assert line["outcome"] == "oom"


def test_misspelt_and_unknown_keys_are_named_and_the_rest_is_used(
    tmp_path: Path, ingest: Callable[..., Called]
) -> None:
    document = run_json() | {"outcom": "completed", "colour": "blue"}
    document["case"]["modell"] = document["case"].pop("model")
    document["case"]["devices"] = 1
    write_run(tmp_path / "logs", "a/b/c/1", seg([4.0] * 6), run=document)
    called = ingest(tmp_path / "logs", "--json")
    (named,) = called.problems
    assert named.startswith(
        "logs/a/b/c/1/run.json: has entries that are ignored: `outcom` (did you mean `outcome`?), `colour`, "
        "`case.modell` (did you mean `model`?). "
    )
    (line,) = called.lines
    assert line["missing"] == ["model"]
    assert (line["case"]["framework"], line["case"]["devices"]) == ("PaddlePaddle", 1)
    assert "modell" not in line["facts"]


def test_the_message_about_an_invalid_document_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{\n "schema": "perfledger.run/1",\n "case": {,}\n}\n')
    given = of_log(tmp_path / "train.log", "logs/x/train.log")
    assert given.problem is not None
    assert (given.problem.path, given.problem.line, given.problem.code) == ("logs/x/run.json", 3, "wrong_file")


def test_all_fields_are_read(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    said = {
        "argv": ["python", "train.py"],
        "repeat": 3,
        "start": "2026-11-20T14:08:16Z",
        "end": "2026-11-20T14:08:52Z",
        "wall_seconds": 36.5,
        "notes": "a note",
        "source": {"repository": "x", "commit": "0" * 40},
        "environment": {"cpu": "made-up", "cores": 2, "packages": {"torch": "2.13.0"}},
    }
    write_run(tmp_path / "logs", "a/b/c/3", seg([4.0, 5.0]), run=run_json(**said))
    (line,) = ingest(tmp_path / "logs", "--json").lines
    assert {key: line[key] for key in said} == said
    assert line["facts"]["batch_size"] == {"value": 4, "source": "run.json", "where": "run.json"}


@pytest.mark.parametrize("outcome", ["oom", "failed", "timeout"])
def test_the_outcome_in_run_json_outweighs_the_log(tmp_path: Path, ingest: Callable[..., Called], outcome: str) -> None:
    write_run(tmp_path / "logs", "a/b/c/1", seg([4.0, 5.0]), run=run_json(outcome=outcome))
    (line,) = ingest(tmp_path / "logs", "--json").lines
    assert line["outcome"] == outcome


def test_a_log_with_an_error_is_not_completed_even_if_run_json_says_so(
    tmp_path: Path, ingest: Callable[..., Called]
) -> None:
    log = [*seg([4.0, 5.0]), "Traceback (most recent call last):", "ValueError: x"]
    write_run(tmp_path / "logs", "a/b/c/1", log, run=run_json())
    called = ingest(tmp_path / "logs", "--json")
    assert called.problems[0].startswith("logs/a/b/c/1/train.log:3: says failed")
    assert called.lines[0]["published"]
