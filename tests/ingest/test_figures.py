"""`python -m ingest figures`: the figure of each run and case, for a terminal and for the runners."""

from __future__ import annotations

import csv
import re
import shutil
import statistics
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from made_logs import run_json, seg
from made_trees import Called, write_run

from perfledger.parsers.engine import registry
from perfledger.schema.figures import FiguresFound

SPEEDS = (5.0, 5.2, 5.1, 4.9, 5.3)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Write five repeats of a case, one of another round, a trial, and a run with too few records."""
    folder = tmp_path / "logs"
    for number, speed in enumerate(SPEEDS, start=1):
        write_run(folder, f"a/b/case/{number}", seg([speed] * 12), run=run_json(outcome="completed", repeat=number))
    later = run_json(outcome="completed", repeat=6, round="2026Q4")
    write_run(folder, "a/b/case/6", seg([6.0] * 12), run=later)
    write_run(folder, "a/b/case/7", seg([9.0] * 12), run=run_json(outcome="completed", repeat=7, smoke=True))
    write_run(folder, "a/b/other/1", seg([5.0]), run=run_json(outcome="completed", batch_size=8))
    return folder


def found(called: Called) -> FiguresFound:
    assert called.code == 0
    return msgspec.json.decode(called.out, type=FiguresFound)


def test_json_has_the_figures_of_runs_and_cases(logs: Path, ingest: Callable[..., Called]) -> None:
    figures = found(ingest("figures", "--json", logs))
    values = {run.path: run.value for run in figures.runs if run.value}
    assert [*values.values()] == pytest.approx([*SPEEDS, 6.0])
    case = next(each for each in figures.cases if each.round is None and each.value)
    assert case.repeats == 5
    assert case.value == pytest.approx(statistics.median(SPEEDS))
    assert case.interval
    assert case.interval[0] <= 5.1 <= case.interval[1]
    assert case.half_width == pytest.approx((case.interval[1] - case.interval[0]) / 2 / 5.1)
    (other,) = (each for each in figures.cases if each.round == "2026Q4")
    assert (other.repeats, other.interval, other.half_width) == (1, None, None)
    assert figures.formats == tuple(each.id for each in registry.formats())


def test_a_folder_without_logs_ends_the_command(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    (tmp_path / "empty").mkdir()
    called = ingest("figures", tmp_path / "empty")
    assert (called.code, called.out) == (2, "")
    assert "empty: contains no logs" in called.err
    assert "ingest: no logs in the given paths" in called.err
    assert found(ingest("figures", "--json", tmp_path / "empty")).runs == ()


def test_a_run_without_a_figure_has_a_reason(logs: Path, ingest: Callable[..., Called]) -> None:
    runs = found(ingest("figures", "--json", logs)).runs
    reasons = {"".join(run.path.split("/")[-3:-1]): run.reason for run in runs}
    assert reasons["case7"].startswith("its outcome is trial")
    assert "too few" in reasons["other1"]
    assert reasons["case1"] == ""


def test_csv_has_a_row_per_run(logs: Path, ingest: Callable[..., Called]) -> None:
    table = csv.DictReader(ingest("figures", "--csv", logs).out.splitlines())
    rows = {row["log"][-len("case/3/train.log") :]: row for row in table}
    third, trial = rows["case/3/train.log"], rows["case/7/train.log"]
    assert (float(third["figure"]), third["unit"], third["scope"], third["placed"]) == (5.1, "samples/s", "job", "yes")
    assert float(third["low"]) < 5.1 < float(third["high"])
    assert [trial[name] for name in ("figure", "scope", "placed", "low")] == [""] * 4
    assert trial["reason"].startswith("its outcome is trial")


def test_the_table_shows_runs(logs: Path, ingest: Callable[..., Called]) -> None:
    called = ingest("figures", logs)
    row = r"^\S*case/3/train\.log +paddle\.seg +\S+ +1 +5\.1 samples/s +4\.9 to 5\.3 +checked by clock"
    assert re.search(row, called.out, re.M), called.out
    assert re.search(r"case/7/train\.log .* — +its outcome is trial", called.out)
    assert len(called.out.splitlines()) == 2 + 8
    assert ingest("figures").code == 2


def test_the_table_of_cases_shows_cases(logs: Path, ingest: Callable[..., Called]) -> None:
    called = ingest("figures", "--cases", logs)
    assert re.search(r"^\S*case +5 +5\.1 samples/s +[\d.]+ to [\d.]+ +3\.1 %", called.out, re.M), called.out
    assert re.search(r"case/7/train\.log: no figure: its outcome is trial", called.out)


@pytest.mark.parametrize("words", [(), ("--cases",), ("--markdown",)])
def test_names_are_neither_new_lines_nor_markup(
    logs: Path, tmp_path: Path, ingest: Callable[..., Called], words: tuple[str, ...]
) -> None:
    folder = tmp_path / "a\n# APPROVED @ada [x](y)|b"
    shutil.copytree(next(logs.rglob("7")), folder / "1")
    called = ingest("figures", *words, folder)
    assert "APPROVED" in called.out
    assert not [line for line in called.out.splitlines() if line.lstrip("| ").startswith("#")], called.out
    assert ("[x](y)" in called.out, "@ada" in called.out) == (words != ("--markdown",),) * 2


def test_a_trial_is_neither_published_nor_a_problem(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    trial = run_json(outcome="completed", smoke=True)
    for number, (records, outcome) in enumerate(((12, "completed"), (2, "completed"), (12, "oom")), start=1):
        write_run(
            tmp_path / "logs", f"a/b/c/{number}", seg([5.0 + number] * records), run={**trial, "outcome": outcome}
        )
    called = ingest(tmp_path / "logs", "--json", "--out", tmp_path / "docs")
    assert (called.code, called.problems) == (0, [])
    assert [(line["outcome"], line["published"]) for line in called.lines] == [("trial", False)] * 3
    assert len((tmp_path / "docs/data/results.csv").read_text("utf-8").splitlines()) <= 1
