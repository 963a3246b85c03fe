"""`python -m ingest against` compares results with a baseline: data, table, and exit code."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from made_logs import run_json, seg
from made_trees import Called, write_run

from perfledger.ingest.cli import main
from perfledger.schema.figures import Acceptance

Ingest = Callable[..., Called]


def tree(folder: Path, speed: float, repeats: int = 3, *, records: int = 12, **case: Any) -> Path:
    """Write repeats of a case that are 1 % apart, with a speed in samples/s."""
    for number in range(1, repeats + 1):
        document = run_json(repeat=number, environment={"framework_version": "2.6"}, **case)
        name = f"a/b/bs{case.get('batch_size', 4)}/{number}"
        write_run(
            folder,
            name,
            seg([speed * (1 + 0.01 * (number - 2))] * records, batch=case.get("batch_size", 4)),
            run=document,
        )
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a site with two cases, and return its results.json: 100 and 50 samples per second."""
    top = tmp_path_factory.mktemp("against")
    tree(top / "old", 100.0)
    tree(top / "old", 50.0, batch_size=8)
    assert main([str(top / "old"), "--out", str(top / "docs")]) == 0
    return top / "docs/data/results.json"


@pytest.fixture
def baseline(built: Path, tmp_path: Path) -> Path:
    """Return a copy of the results.json that a test may change."""
    return Path(shutil.copy(built, tmp_path))


def compared(called: Called) -> Acceptance:
    return msgspec.json.decode(called.out, type=Acceptance)


def verdicts(found: Acceptance) -> dict[int | None, tuple[str, float | None]]:
    return {each.batch_size: (each.verdict, each.ratio and round(each.ratio, 3)) for each in found.cases}


def test_the_exit_code_follows_from_the_verdicts(tmp_path: Path, baseline: Path, ingest: Ingest) -> None:
    here = tree(tmp_path / "here", 96.0)
    found = ingest("against", baseline, here, "--json", "--only-common")
    assert (found.code, verdicts(compared(found))) == (0, {4: ("reached", 0.96)})
    missing = ingest("against", baseline, here, "--json")
    assert (missing.code, verdicts(compared(missing))) == (1, {4: ("reached", 0.96), 8: ("missing", None)})
    tree(here, 47.0, batch_size=8)
    below = ingest("against", baseline, here, "--json", "--at-least", "0.95")
    assert (below.code, verdicts(compared(below))) == (1, {4: ("reached", 0.96), 8: ("below", 0.94)})
    assert ingest("against", baseline, here, "--at-least", "0.94").code == 0


def test_the_output_of_figures_is_a_baseline_too(tmp_path: Path, ingest: Ingest) -> None:
    tree(tmp_path / "old", 100.0)
    printed = tmp_path / "figures.json"
    printed.write_text(ingest("figures", "--json", tmp_path / "old").out, "utf-8")
    found = ingest("against", printed, tree(tmp_path / "here", 110.0), "--json")
    assert (found.code, verdicts(compared(found))) == (0, {4: ("reached", 1.1)})
    assert ingest("against", printed, tmp_path / "here", "--metric", "latency").code == 2


def test_a_shorter_time_per_step_is_better(tmp_path: Path, baseline: Path, ingest: Ingest) -> None:
    """At 90 % of the speed a step takes 1.11 times as long, and the ratio is 90 %."""
    here = tree(tmp_path / "here", 90.0)
    found = ingest("against", baseline, here, "--metric", "latency", "--only-common", "--json")
    (case,) = compared(found).cases
    assert (found.code, case.verdict, case.unit) == (1, "below", "ms")
    assert case.ratio == pytest.approx(0.9, rel=0.001)
    assert case.here is not None
    assert case.here > case.baseline


@pytest.mark.parametrize(
    ("option", "case", "environment"), [("hardware", {"hardware": "other"}, "2.6"), ("version", {}, "2.7")]
)
def test_other_hardware_and_versions_are_compared_only_on_demand(
    tmp_path: Path, baseline: Path, ingest: Ingest, option: str, case: dict[str, str], environment: str
) -> None:
    here = tree(tmp_path / "here", 100.0, **case)
    for path in here.rglob("run.json"):
        path.write_text(path.read_text("utf-8").replace('"2.6"', f'"{environment}"'), "utf-8")
    refused = ingest("against", baseline, here, "--json")
    reasons = {each.batch_size: each.reason for each in compared(refused).cases}
    assert refused.code == 1
    assert f"--may-differ {option}" in reasons[4]
    assert reasons[8] == "not measured here"
    asked = compared(ingest("against", baseline, here, "--json", "--only-common", "--may-differ", option))
    assert [(each.verdict, each.differs) for each in asked.cases] == [
        ("reached", {option: case.get("hardware", environment)})
    ]


def test_results_of_all_rounds_are_compared(tmp_path: Path, baseline: Path, ingest: Ingest) -> None:
    here = tree(tmp_path / "here", 100.0, round="2026Q4")
    for path in here.rglob("bs4"):
        path.rename(path.with_name("first"))
    tree(here, 80.0, round="2027Q1")
    found = compared(ingest("against", baseline, here, "--json", "--only-common"))
    assert sorted((each.verdict, round(each.ratio or 0, 2)) for each in found.cases) == [
        ("below", 0.8),
        ("reached", 1.0),
    ]


@pytest.mark.parametrize(("speed", "certainty"), [(100.5, "close"), (120.0, "clear")])
def test_the_certainty_is_known_if_both_have_repeats(
    tmp_path: Path, baseline: Path, ingest: Ingest, speed: float, certainty: str
) -> None:
    (case,) = compared(ingest("against", baseline, tree(tmp_path / "here", speed), "--json", "--only-common")).cases
    assert case.certainty == certainty
    assert case.low is not None
    assert case.high is not None
    assert case.low < (case.ratio or 0) < case.high
    single = tree(tmp_path / "single", speed, repeats=1)
    (case,) = compared(ingest("against", baseline, single, "--json", "--only-common")).cases
    assert (case.certainty, case.low, case.high) == (None, None, None)


def test_a_run_without_a_figure_is_missing_for_its_reason(tmp_path: Path, baseline: Path, ingest: Ingest) -> None:
    here = tree(tmp_path / "here", 100.0, outcome="oom")
    tree(here, 50.0, batch_size=8)
    called = ingest("against", baseline, here)
    assert called.code == 1
    assert "1 reached, 0 below, 1 missing" in called.out
    line = next(each for each in called.out.splitlines() if "no figure to compare" in each)
    assert "bs4" in line
    assert line.endswith("outcome of the run: out of memory")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "neither a results.json"),
        ("[1]", "neither a results.json"),
        ("{}", "neither `results` nor `cases`"),
        ('{"version": 2, "results": []}', "neither a results.json"),
        ('{"version": 1, "results": []}', "no measured figure"),
        ('{"cases": [{"runs": ["a"], "value": 1.0, "unit": "images/s", "repeats": 1}]}', "earlier version"),
    ],
)
def test_an_invalid_baseline_ends_the_command(tmp_path: Path, ingest: Ingest, text: str, message: str) -> None:
    here = tree(tmp_path / "here", 100.0)
    path = tmp_path / "baseline.json"
    path.write_text(text, "utf-8")
    called = ingest("against", path, here)
    assert (called.code, called.out) == (2, "")
    assert str(path) in called.err
    assert message in called.err


def test_an_invalid_option_ends_the_command(tmp_path: Path, baseline: Path, ingest: Ingest) -> None:
    here = tree(tmp_path / "here", 100.0, model="Another")
    assert ingest("against", baseline, here, "--at-least", "0").code == 2
    assert ingest("against", baseline, here, "--metric", "speed").code == 2
    assert ingest("against", tmp_path / "none.json", here).code == 2
    assert ingest("against", baseline).code == 2
    assert ingest("against", baseline, here, "--only-common").code == 2, "nothing was compared, and that is no pass"


def test_published_figures_of_others_are_not_a_baseline(tmp_path: Path, baseline: Path, ingest: Ingest) -> None:
    document = json.loads(baseline.read_text("utf-8"))
    for each in document["results"]:
        each["origin"] = "published"
    baseline.write_text(json.dumps(document), "utf-8")
    assert "no measured figure" in ingest("against", baseline, tree(tmp_path / "here", 100.0)).err
