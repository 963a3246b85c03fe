"""The check for old pages, which the MkDocs hook calls before it builds."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from perfledger.ingest import cli
from perfledger.ingest.common import sources

ROOT = Path(__file__).resolve().parents[2]
CASE = "raw_logs/resnet50/pytorch/cpu-n1d1-bs8-fp32/1"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / CASE, tmp_path / CASE)
    return tmp_path / "raw_logs"


def built(docs: Path, logs: Path, layout: str = "perfledger") -> None:
    (docs / "en").mkdir(parents=True, exist_ok=True)
    (docs / "en" / "index.md").write_text("# Front page\n", "utf-8")
    sources.record(docs, sources.state([logs], layout))


def edit(log: Path) -> None:
    log.write_bytes(log.read_bytes() + b"another line\n")


def touch(log: Path) -> None:
    os.utime(log, ns=(1, 1))


def add(log: Path) -> None:
    (log.parent / "new.log").write_bytes(b"")


def rename(log: Path) -> None:
    log.rename(log.with_name("other.log"))


@pytest.mark.parametrize("change", [edit, touch, add, rename, Path.unlink])
def test_pages_are_old_after_a_log_changes(logs: Path, tmp_path: Path, change: Callable[[Path], object]) -> None:
    docs = tmp_path / "docs"
    built(docs, logs)
    assert not sources.are_newer(docs, [logs], "perfledger")
    change(next(logs.rglob("train.log")))
    assert sources.are_newer(docs, [logs], "perfledger")


def test_files_of_editors_and_python_are_not_changes(logs: Path, tmp_path: Path) -> None:
    built(tmp_path / "docs", logs)
    for name in (".swap.log", "train.log~", "__pycache__/module.pyc"):
        (logs / name).parent.mkdir(exist_ok=True)
        (logs / name).write_bytes(b"x")
    assert not sources.are_newer(tmp_path / "docs", [logs], "perfledger")


def test_pages_that_are_missing_or_of_unknown_origin_are_old(logs: Path, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    assert sources.are_newer(docs, [logs], "perfledger")
    built(docs, logs)
    (docs / "en" / "index.md").unlink()
    assert sources.are_newer(docs, [logs], "perfledger")
    built(docs, logs)
    for broken in ("not json", "[]", "{}"):
        (tmp_path / ".perfledger" / "docs" / "sources.json").write_text(broken, "utf-8")
        assert sources.are_newer(docs, [logs], "perfledger"), broken


def test_pages_of_other_logs_or_of_another_layout_are_not_old(logs: Path, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    built(docs, tmp_path / "others")
    assert not sources.are_newer(docs, [logs], "perfledger")
    built(docs, logs, "paddle-perf")
    assert not sources.are_newer(docs, [logs], "perfledger")
    assert not sources.are_newer(tmp_path / "nothing", [tmp_path / "no logs here"], "perfledger")


def test_a_call_that_writes_no_pages_leaves_old_ones_old(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = tmp_path / "docs"
    built(docs, logs)
    edit(next(logs.rglob("train.log")))
    monkeypatch.chdir(tmp_path)
    for call in ([logs, "--json"], ["check", logs]):
        cli.main([str(each) for each in call])
        assert sources.are_newer(docs, [logs], "perfledger"), call
