"""A bug of ours that appears while an input is read becomes a problem of that input."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from made_logs import run_json, seg
from made_trees import Called, write_run

from perfledger.ingest.cli import main
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.compute import rules
from perfledger.ingest.explain import text
from perfledger.ingest.read import environment_json, layout
from perfledger.ingest.read import run_json as run_json_reader
from perfledger.ingest.record import run as record_run
from perfledger.ingest.record import telemetry
from perfledger.parsers.contract import FormatError
from perfledger.schema.records import MetricFigure

Ingest = Callable[..., Called]
BAD = "bad"
_figures = rules.figures


def broken() -> NoReturn:
    raise ZeroDivisionError("of ours")


def fails_for_the_bad(session: Any, case: Any, *more: Any) -> Any:
    return broken() if case.get("model") == BAD else _figures(session, case, *more)


def fails(*_: object, **__: object) -> NoReturn:
    broken()


@pytest.fixture
def with_bad(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the good tree with one log that our code cannot read."""
    write_run(tree, "bad/1", seg([9.0] * 6, batch=4), run=run_json(model=BAD))
    monkeypatch.setattr(rules, "figures", fails_for_the_bad)
    return tree


def good(called: Called) -> list[dict[str, Any]]:
    return [each for each in called.lines if not each["path"].startswith("logs/bad/")]


FAULT = "could not be read because of a bug in Perfledger, and is skipped: ZeroDivisionError in "


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_fault_is_one_logs_problem_and_all_others_are_published(with_bad: Path, ingest: Ingest, jobs: int) -> None:
    called = ingest(with_bad, "--json", "--jobs", jobs)
    (problem,) = called.problems
    assert called.code == 1
    assert problem.startswith(f"logs/bad/1/train.log: {FAULT}tests/ingest/test_faults.py:")
    assert "(broken)" in problem
    (bad,) = (each for each in called.lines if each not in good(called))
    assert (bad["published"], bad["figures"], bad["problems"][0]["code"]) == (False, {}, "fault")
    assert len(good(called)) == 5
    assert all(each["published"] for each in good(called))


def test_a_fault_is_not_cached(with_bad: Path, ingest: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (ingest(with_bad, "--out", tmp_path / "docs") for _ in range(2))
    assert (first.code, second.code) == (1, 1)
    assert first.problems == second.problems
    assert "; 1 log read" in second.out, "the good logs come from the cache, the bad one must not"
    monkeypatch.setattr(rules, "figures", _figures)
    assert ingest(with_bad, "--out", tmp_path / "docs").problems == []


def with_parts(tree: Path, **parts: str) -> Path:
    """Write another run whose run.json names further files."""
    names = {f"{name}.{'json' if name == 'environment' else 'csv'}": data for name, data in parts.items()}
    log = write_run(
        tree, "bad/1", seg([9.0] * 6, batch=4), run=run_json(files={name: {} for name in ["train.log", *names]})
    )
    for name, data in names.items():
        log.with_name(name).write_text(data)
    return tree


ENVIRONMENT = json.dumps({"schema": "perfledger.environment/1", "topology": "GPU0"})
TELEMETRY = "timestamp, index, memory.used [MiB]\n2026/11/20 11:50:00.000, 0, 100 MiB\n"

BROKEN: dict[str, tuple[Any, str, str, bool]] = {
    "environment.json": ((environment_json, "record"), "environment.json", True),
    "run.json": ((run_json_reader, "record"), "run.json", False),
    "telemetry": ((telemetry, "read_telemetry"), "telemetry.csv", True),
    "figures of telemetry": ((telemetry, "_sampled"), "telemetry.csv", True),
}


@pytest.mark.parametrize(("reader", "file", "published"), BROKEN.values(), ids=BROKEN)
def test_a_fault_in_a_companion_file_names_the_file(
    tree: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch, reader: tuple[Any, str], file: str, published: bool
) -> None:
    with_parts(tree, environment=ENVIRONMENT, telemetry=TELEMETRY)
    monkeypatch.setattr(*reader, fails)
    called = ingest(tree, "--json")
    assert called.code == 1
    (problem,) = (each for each in called.problems if each.startswith("logs/bad/"))
    assert problem.startswith(f"logs/bad/1/{file}: {FAULT}")
    (bad,) = (each for each in called.lines if each not in good(called))
    assert bad["published"] is published, "the figure depends only on some files"


@pytest.mark.parametrize("error", [UsageError("a mistake"), FormatError("a mistake"), ImportError("no such package")])
def test_a_fault_that_a_log_cannot_cause_ends_the_command(
    tree: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def mistaken(*_: object) -> NoReturn:
        raise error

    monkeypatch.setattr(rules, "figures", mistaken)
    if isinstance(error, UsageError):
        assert main([str(tree), "--json"]) == 2
    else:
        with pytest.raises(type(error)):
            main([str(tree), "--json"])


def test_an_explanation_prints_everything_before_the_fault(with_bad: Path) -> None:
    explained = text(with_bad / "bad/1/train.log", "train.log", layout.load("perfledger"))
    assert "format     paddle.seg" in explained
    assert explained.splitlines()[-1].startswith(f"fault      train.log: {FAULT}")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_figure_that_cannot_be_written_is_a_problem_of_its_log(
    tree: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    write_run(tree, "bad/1", seg([9.0] * 6, batch=4), run=run_json(model=BAD))
    found = MetricFigure(float("inf"), "ms")
    monkeypatch.setattr(record_run, "metrics", lambda _, case, *__: {"latency": found} if case["model"] == BAD else {})
    called = ingest(tree, "--json", "--jobs", jobs)
    (problem,) = called.problems
    assert problem.startswith("logs/bad/1/train.log: could not be read because of a bug in Perfledger")
    assert len(good(called)) == 5


def test_a_mistake_in_a_format_is_named_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> int:
        raise FormatError("parsers.ngc.mine: a format module needs a docstring")

    monkeypatch.setattr("perfledger.ingest.cli.main", fails)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("ingest", run_name="__main__")
    assert ended.value.code == 2
    assert capsys.readouterr().err == "ingest: parsers.ngc.mine: a format module needs a docstring\n"
