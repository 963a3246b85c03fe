"""Plans in folders of logs: they are read, and are not taken for logs."""

from __future__ import annotations

from pathlib import Path

import msgspec
from made_logs import seg

from perfledger.ingest import build
from perfledger.ingest.read import plans
from perfledger.ingest.read.walk import walk
from perfledger.schema.plans import Plan
from tests import builders


def written(folder: Path, plan: Plan) -> Path:
    (folder / "plans").mkdir(parents=True, exist_ok=True)
    path = folder / "plans" / f"{plan.recipe}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(plan)))
    return path


def test_plans_are_read_by_recipe_and_the_later_path_counts(tmp_path: Path) -> None:
    first, second = builders.plan("a"), builders.plan("a", title="another")
    written(tmp_path / "x", first)
    written(tmp_path / "x", builders.plan("b"))
    written(tmp_path / "y", second)
    found = plans.found([tmp_path / "x", tmp_path / "y", tmp_path / "z"])
    assert found.by_recipe == {"a": second, "b": builders.plan("b")}
    assert found.problems == ()


def test_an_invalid_plan_is_a_problem_and_the_others_count(tmp_path: Path) -> None:
    written(tmp_path, builders.plan("a"))
    for name, text in {
        "broken": '{"schema": "perfledger.plan/1", ',
        "other": '{"schema": "perfledger.plan/9"}',
        "shared": written(tmp_path, builders.plan("d")).read_text("utf-8").replace('"nodes": 2', '"nodes": 3'),
        "negative": written(tmp_path, builders.plan("c")).read_text("utf-8").replace('"devices": 8', '"devices": 0'),
    }.items():
        (tmp_path / "plans" / f"{name}.json").write_text(text, "utf-8")
    found = plans.found([tmp_path])
    assert sorted(found.by_recipe) == ["a", "c", "d"]
    assert [(each.code, each.path) for each in found.problems] == [
        ("wrong_file", f"plans/{name}.json") for name in ("broken", "negative", "other", "shared")
    ]
    assert "$.cases[0].devices" in found.problems[1].args["cause"]
    assert "3 nodes cannot share 16 devices" in found.problems[3].args["cause"]


def test_a_folder_named_plans_contains_logs_only_if_it_has_no_plans(tmp_path: Path) -> None:
    written(tmp_path / "ours", builders.plan("a"))
    (tmp_path / "ours" / "train.log").write_text("x\n", "utf-8")
    (tmp_path / "others" / "plans").mkdir(parents=True)
    (tmp_path / "others" / "plans" / "steps.json").write_text('{"step": 1}\n', "utf-8")
    names = [each.name for each in walk([tmp_path / "ours", tmp_path / "others"]).inputs]
    assert names == ["others/plans/steps.json", "ours/train.log"]


def test_a_secret_in_a_plan_is_redacted(tmp_path: Path) -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    written(tmp_path, builders.plan("a", notes=f"aws_access_key_id={key}"))
    assert key not in plans.found([tmp_path]).by_recipe["a"].notes


def test_a_changed_plan_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "train.log").write_text("".join(f"{each}\n" for each in seg([4.0] * 20)), "utf-8")
    path = written(tmp_path / "logs", builders.plan("a", model="ResNet-50"))
    inputs = build.Inputs((tmp_path / "logs",), out=tmp_path / "docs")
    state = build.read(inputs)
    assert sorted(state.plans.by_recipe) == ["a"]
    assert [each.code for each in state.problems if each.code == "wrong_file"] == []
    before = state.sources
    path.write_bytes(path.read_bytes().replace(b"Title of a", b"Title of b"))
    changed = build.read(inputs)
    assert changed.plans.by_recipe["a"].title == "Title of b"
    assert changed.sources != before
