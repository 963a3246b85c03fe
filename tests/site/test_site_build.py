"""Pages are the same bytes every time, in both languages from one table, and only what changed is written."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from perfledger.ingest.common import problems as problem_messages
from perfledger.ingest.common import words
from perfledger.ingest.site import builder, model_tables
from perfledger.ingest.site.model import Site, Suite, site_of_runs
from perfledger.ingest.site.render import share
from perfledger.ingest.site.render.table import Table
from perfledger.ingest.site.result_lines import ResultSlice
from perfledger.ingest.site.run_paging import LIMITS, Limits
from perfledger.schema.records import Problem, Run
from tests import builders


def build(runs: list[Run], folder: Path, *, check: bool = False) -> builder.Built:
    return builder.build(site_of_runs(runs), folder / "docs", folder / "cache.sqlite", check)


def files(folder: Path) -> dict[str, bytes]:
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert found
    return found


def test_same_input_same_bytes(built: Path, tmp_path: Path) -> None:
    build(list(reversed(builders.runs())), tmp_path)
    assert files(built / "docs") == files(tmp_path / "docs")


def test_a_second_build_draws_renders_and_writes_nothing(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = {path: path.stat().st_mtime_ns for path in (copied / "docs").rglob("*")}
    monkeypatch.setattr(builder, "_rendered", lambda *_: pytest.fail("pages were rendered again"))
    monkeypatch.setattr(share, "draw", lambda *_: pytest.fail("pictures were drawn again"))
    second = build(builders.runs(), copied)
    assert not second.written
    assert not second.removed
    assert sorted(second.unchanged) == sorted(files(copied / "docs"))
    assert times == {path: path.stat().st_mtime_ns for path in (copied / "docs").rglob("*")}


def test_builds_after_one_change_each_and_one_of_all_changes_are_the_same_bytes(copied: Path, tmp_path: Path) -> None:
    runs = builders.runs()
    for speed, identifier in enumerate(("bert-pytorch-1", "unknown-model-1", "resnet50-pytorch-n1d8-fp32-2"), 300):
        runs = builders.with_speed(runs, identifier, float(speed))
        assert build(runs, copied).written
    build(runs, tmp_path)
    assert files(copied / "docs") == files(tmp_path / "docs")


def test_after_a_change_of_one_run_no_tables_of_other_models_are_made(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    results = model_tables.results

    def noted(site: Site, suite: Suite, of: ResultSlice) -> Table:
        made.append(suite.id)
        return results(site, suite, of)

    monkeypatch.setattr(model_tables, "results", noted)
    build(builders.with_speed(builders.runs(), "bert-pytorch-1", 99.0), copied)
    assert set(made) == {"bert"}


def test_a_changed_run_touches_only_its_pages(copied: Path) -> None:
    runs = builders.runs()
    changed = builders.with_speed(runs, "bert-pytorch-1", 99.0)
    built = build(changed, copied)
    (badge,) = [path.partition("/")[2] for path in built.written if "badges/bert-base-pytorch" in path]
    (part,) = [path.partition("/")[2] for path in built.written if path.startswith("data/explorer/")]
    assert {path.partition("/")[2] for path in built.written} == {
        "index.md", "models/bert/index.md", "runs/bert-pytorch-1.md", "runs/index.md",
        "hardware/test-accelerator-made-up.md", "frameworks/pytorch.md", "results.json", "results.csv",
        "results.parquet", "runs.parquet", "changes.json", badge,
        part,
    }  # fmt: skip


def test_another_word_touches_only_what_says_it(copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = words.load()
    other = {**known.entries, "table.oom": {"en": "no memory left", "zh": "内存不够了"}}
    monkeypatch.setattr(words, "own", lambda: words.Words(known.path, other))
    built = build(builders.runs(), copied)
    build(builders.runs(), tmp_path)
    assert "zh/models/resnet50/index.md" in built.written
    assert not [path for path in built.written if "/bert/" in path]
    assert files(copied / "docs") == files(tmp_path / "docs")


def test_only_a_page_that_is_no_longer_made_is_removed(copied: Path) -> None:
    mine = copied / "docs" / "en" / "notes.md"
    mine.write_text("# My own page\n", "utf-8")
    (copied / "cache.sqlite").unlink()
    built = build([run for run in builders.runs() if run.id != "bert-pytorch-1"], copied)
    assert "zh/runs/bert-pytorch-1.md" in built.removed
    assert "en/models/bert/index.md" in built.removed
    assert mine.is_file()


def test_pages_follow_a_framework_whose_address_another_ones_name_changes(tmp_path: Path) -> None:
    """`PyTorch` and `pytorch` cannot share a page's name: where the second comes, the first gets another."""
    build(builders.runs(), tmp_path)
    other = {"framework": "pytorch"}
    runs = [builders.edited(run, case=other) if run.id == "bert-pytorch-1" else run for run in builders.runs()]
    build(runs, tmp_path)
    build(runs, tmp_path / "anew")
    assert files(tmp_path / "docs") == files(tmp_path / "anew" / "docs")


def test_problems_follow_the_page_of_their_run(tmp_path: Path) -> None:
    """A problem of a log is linked to a run of that log, which may lose its page to others."""
    runs = [replace(run, problems=()) for run in builders.runs()]
    found = [Problem("cut_line", run.path) for run in runs]
    for folder, limits in ((tmp_path, LIMITS), (tmp_path, Limits(pages=1)), (tmp_path / "anew", Limits(pages=1))):
        site = site_of_runs(runs, found, limits=limits)
        builder.build(site, folder / "docs", folder / "cache.sqlite")
    page = Path("docs") / "en" / "problems.md"
    assert (tmp_path / page).read_bytes() == (tmp_path / "anew" / page).read_bytes()


def test_check_looks_at_the_committed_data_only_and_writes_nothing(copied: Path, tmp_path: Path) -> None:
    shutil.rmtree(copied / "docs" / "en")
    shutil.rmtree(copied / "docs" / "data" / "badges")
    assert build(builders.runs(), copied, check=True).stale == ()
    edited = copied / "docs" / "data" / "results.json"
    edited.write_bytes(edited.read_bytes() + b"edited\n")
    (copied / "docs" / "data" / "problems.jsonl").write_text("of problems that are gone\n", "utf-8")
    assert build(builders.runs(), copied, check=True).stale == ("data/results.json", "data/problems.jsonl")
    assert "data/results.json" in build(builders.runs(), tmp_path / "nowhere", check=True).stale
    assert not (tmp_path / "nowhere").exists()


def test_a_model_page_has_every_section(built: Path) -> None:
    page = (built / "docs" / "zh" / "models" / "resnet50" / "index.md").read_text("utf-8")
    headings = re.findall(r"<h[1-3][^>]*>(.*?)</h[1-3]>", page)
    for wanted in ("测试结果", "最快结果", "图表", "扩展性", "依据", "日志数据", "其他指标",
                   "测试说明", "环境介绍", "复现"):  # fmt: skip
        assert wanted in headings


def test_tables_leave_out_contradictory_runs(built: Path) -> None:
    english = built / "docs" / "en"
    assert "contradictory-1.md" not in (english / "index.md").read_text("utf-8")
    assert "contradictory-1.md" in (english / "runs" / "index.md").read_text("utf-8")
    assert "contradictory" in (english / "problems.md").read_text("utf-8")


def test_the_file_of_problems_of_few_logs_and_that_of_many_take_the_place_of_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, problems, out = builders.runs(), [Problem("empty", "a.log")], tmp_path / "docs"
    logs = len({run.path for run in runs})
    turns = ((logs, problem_messages.LINES), (logs - 1, problem_messages.TABLE))
    for turn, (limit, expected) in enumerate(turns):
        monkeypatch.setattr(problem_messages, "MANY_LOGS", limit)
        cache = tmp_path / f"{turn}.sqlite"  # one for each: the limit is no input of a build
        builder.build(site_of_runs(runs, problems), out, cache)
        assert [path.relative_to(out).as_posix() for path in (out / "data").glob("problems.*")] == [expected]
        assert builder.build(site_of_runs(runs, problems), out, cache, check=True).stale == ()
