"""Facts that a reader adds to logs: `facts.toml`, `--assume`, and a `run.json` with only facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_logs import seg
from made_trees import Called

Ingest = Callable[..., Called]
LINES = "\n".join(seg([4.0, *[5.0] * 6], batch=4)) + "\n"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Write three logs into two folders; they state a batch size and no model, and one states its devices."""
    for name in ("a/one.log", "a/two.log", "b/three.log"):
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        stated = "GPUs used: 2\n" if name == "b/three.log" else ""
        path.write_text(f"------------Environment Information-------------\n{stated}# {name}\n{LINES}")
    return tmp_path / "logs"


def by_name(called: Called) -> dict[str, dict[str, Any]]:
    return {line["path"].rpartition("/")[2]: line for line in called.lines}


def test_a_log_with_an_incomplete_case_is_shown_and_not_compared(logs: Path, ingest: Ingest) -> None:
    called = ingest("figures", logs, "--json")
    found = json.loads(called.out)
    assert [(each["value"], each["scope"], each["placed"]) for each in found["runs"]] == [
        (5.0, "device", False),
        (5.0, "device", False),
        (10.0, "job", False),
    ]
    assert found["runs"][0]["missing"] == ["model", "devices"]
    assert found["runs"][0]["reason"] == "not placed: the log does not state model, devices"
    assert found["cases"] == []


def test_results_that_are_not_placed_are_in_the_data_and_in_no_table(
    logs: Path, ingest: Ingest, tmp_path: Path
) -> None:
    called = ingest(logs, "--out", tmp_path / "docs")
    assert called.code == 0, called.err
    found = json.loads((tmp_path / "docs/data/results.json").read_text())["results"]
    places = {each["runs"][0]["log"]: (each["placed"], each["missing"], each["scope"], each["value"]) for each in found}
    assert places == {
        "logs/a/one.log": (False, ["model", "devices"], "device", 5.0),
        "logs/a/two.log": (False, ["model", "devices"], "device", 5.0),
        "logs/b/three.log": (False, ["model"], "job", 10.0),
    }
    assert all(each["speedup"] is None for each in found)
    front = (tmp_path / "docs/en/index.md").read_text()
    assert "Not placed" in front
    assert 'id="unplaced"' in front or "#unplaced" in front
    assert "未归类" in (tmp_path / "docs/zh/index.md").read_text()


def test_a_facts_file_adds_facts_by_globs(logs: Path, ingest: Ingest) -> None:
    """A later glob and a deeper file replace earlier facts, but not those of the log."""
    (logs / "facts.toml").write_text('model = "FastSCNN"\ndevices = 4\n\n["a/two.log"]\ndevices = 8\n')
    (logs / "b" / "facts.toml").write_text('model = "DeepLabV3P"\n')
    found = by_name(ingest(logs, "--json"))
    cases = {name: (line["case"]["model"], line["case"]["devices"]) for name, line in found.items()}
    assert cases == {"one.log": ("FastSCNN", 4), "two.log": ("FastSCNN", 8), "three.log": ("DeepLabV3+", 2)}
    stated = found["two.log"]["facts"]["devices"]
    assert stated == {"value": 8, "source": "reader", "where": "logs/facts.toml:5"}
    assert all(line["published"] for line in found.values())
    (note,) = found["three.log"]["problems"]
    assert (note["code"], note["args"]["first"], note["args"]["second"]) == ("fact_differs", "2", "4")


def test_a_reader_is_marked_at_every_figure(logs: Path, ingest: Ingest, tmp_path: Path) -> None:
    (logs / "facts.toml").write_text('model = "FastSCNN"\n["a/*"]\ndevices = 4\n')
    assert ingest(logs, "--out", tmp_path / "docs").code == 0
    data = json.loads((tmp_path / "docs/data/results.json").read_text())["results"]
    assert {"devices": "logs/facts.toml:3", "model": "logs/facts.toml:1"} in [each.get("assumed") for each in data]
    for page in ("en/models/fastscnn/index.md", "en/runs/a-one-log.md"):
        assert "logs/facts.toml:1" in (tmp_path / "docs" / page).read_text(), page
    rows = ingest("figures", logs).out
    assert "devices is stated in logs/facts.toml:3" in rows


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("devicess = 4\n", "facts.toml:1: is invalid: devicess: there is no fact 'devicess'; did you mean 'devices'?"),
        (
            '["a/*"]\ndevices = "4"\n',
            "facts.toml:2: is invalid: a/*.devices: expected a positive whole number, got '4'",
        ),
        ("devices = \n", "facts.toml:1: is invalid: is not TOML"),
        ('["c/*"]\ndevices = 4\n', '["c/*"] matches no log'),
    ],
)
def test_a_wrong_facts_file_is_a_problem(logs: Path, ingest: Ingest, text: str, said: str) -> None:
    (logs / "facts.toml").write_text(text)
    called = ingest(logs, "--json")
    assert called.code == 1
    assert [each for each in called.problems if said in each], called.problems
    assert len(called.lines) == 3


def test_assumed_facts_are_weakest_and_need_no_file(logs: Path, ingest: Ingest) -> None:
    found = by_name(ingest(logs, "--json", "--assume", "model=FastSCNN", "--assume", "devices=8"))
    assert {name: line["case"]["devices"] for name, line in found.items()} == {
        "one.log": 8, "two.log": 8, "three.log": 2,
    }  # fmt: skip
    assert found["one.log"]["facts"]["devices"]["where"] == "--assume"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("devices", "give KEY=VALUE, such as devices=8"),
        ("devices=many", "expected a positive whole number, got 'many'"),
        ("device=8", "there is no fact 'device'; did you mean 'devices'"),
        ("precision=half", "there is no precision 'half'"),
    ],
)
def test_a_wrong_assumption_is_refused(logs: Path, ingest: Ingest, given: str, said: str) -> None:
    called = ingest(logs, "--json", "--assume", given)
    assert (called.code, said in called.err) == (2, True), called.err


def test_ask_writes_the_file_with_blanks(logs: Path, ingest: Ingest) -> None:
    assert ingest("ask", logs).code == 0
    written = (logs / "facts.toml").read_text()
    assert '# 2 logs: a/one.log, ...\n["a/*"]\n# model = ""  # network, as the log spells it\n# devices =' in written
    assert '["b/*"]\n# model = ""' in written
    assert ingest(logs, "--json").code == 0
    again = ingest("ask", logs)
    assert (again.code, "is there already" in again.err) == (2, True)
    (logs / "facts.toml").write_text(
        written.replace('# model = ""', 'model = "X"').replace("# devices =", "devices = 2")
    )
    assert ingest("ask", logs, "--to", "-").out == "all logs state their cases: nothing is missing\n"


@pytest.mark.parametrize("document", [{"devices": 2, "model": "X"}, {"case": {"devices": 2, "model": "X"}}])
def test_a_run_json_needs_no_other_keys(logs: Path, ingest: Ingest, document: dict[str, Any]) -> None:
    """A message advised to write a run.json, which was then refused because it had no schema."""
    (logs / "a" / "two.log").unlink()
    (logs / "a" / "run.json").write_text(json.dumps(document))
    line = by_name(ingest(logs, "--json"))["one.log"]
    assert (line["case"]["devices"], line["published"]) == (2, True)


def test_one_call_may_use_several_layouts(logs: Path, ingest: Ingest, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[[path]]\ntemplate = "{model}.log"\nfacts = { devices = 4 }\n')
    (logs / "b" / "layout.toml").write_text(
        'title = "Lab"\nsource = "https://lab.example/logs"\n[[path]]\ntemplate = "{model}.log"\n'
    )
    found = by_name(ingest(logs, "--json", "--layout", f"{logs / 'a'}={own}"))
    assert [found[each]["case"]["model"] for each in ("one.log", "two.log", "three.log")] == ["one", "two", "three"]
    assert found["one.log"]["case"]["devices"] == 4
    assert found["three.log"]["origin"] == {"title": "Lab", "source": "https://lab.example/logs"}


def test_a_log_outweighs_constants_of_a_layout_unless_they_are_required(
    logs: Path, ingest: Ingest, tmp_path: Path
) -> None:
    for must, published in ((False, True), (True, False)):
        named = tmp_path / f"{must}.toml"
        named.write_text(
            f'must = {str(must).lower()}\n[[path]]\ntemplate = "{{*}}.log"\nfacts = {{ devices = 4, model = "X" }}\n'
        )
        found = by_name(ingest(logs, "--json", "--layout", named))
        assert (found["three.log"]["case"]["devices"], found["three.log"]["published"]) == (2, published)
        assert found["one.log"]["case"]["devices"] == 4
