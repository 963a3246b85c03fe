"""A repeated build prints the same without reading logs, unless logs, site or options changed."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from perfledger.ingest import build, cli, last_build
from perfledger.ingest.cli.state import NOT_ALL
from perfledger.ingest.common import files, sources

ROOT = Path(__file__).resolve().parents[2]
CASE = "raw_logs/resnet50/pytorch/cpu-n1d1-bs8-fp32/1"


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return logs that count as unchanged at once, although the code usually waits for a moment."""
    shutil.copytree(ROOT / CASE, tmp_path / CASE)
    (tmp_path / "raw_logs" / "notes.log").write_text("not a log of anything\n", "utf-8")
    monkeypatch.setattr(files, "settled_at", lambda change: change)
    monkeypatch.setattr(sources, "settled_at", lambda change: change)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "raw_logs"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[build.Inputs]:
    """Return a list to which each call that reads logs is added."""
    calls: list[build.Inputs] = []
    read = build.read

    def counted(inputs: build.Inputs) -> build.State:
        calls.append(inputs)
        return read(inputs)

    monkeypatch.setattr(build, "read", counted)
    return calls


def test_the_same_build_prints_the_same_and_reads_nothing(
    logs: Path, reads: list[build.Inputs], capsys: pytest.CaptureFixture[str]
) -> None:
    first = cli.main([str(logs)]), capsys.readouterr()
    again = cli.main([str(logs)]), capsys.readouterr()
    assert len(reads) == 1
    assert first[0] == again[0] == NOT_ALL  # of the file that is no log
    assert first[1].err == again[1].err != ""
    table, _, line = again[1].out.rstrip().rpartition("\n")
    assert first[1].out.startswith(table)
    assert "0 files written" in line
    assert "0 removed; 0 logs read" in line


def _edit_log(logs: Path) -> None:
    log = next(logs.rglob("train.log"))
    log.write_bytes(log.read_bytes() + b"another line\n")


def _replace_log_unseen(logs: Path) -> None:
    log = next(logs.rglob("train.log"))
    at = log.stat()
    log.write_bytes(log.read_bytes().replace(b"1", b"2"))
    os.utime(log, ns=(at.st_atime_ns, at.st_mtime_ns))


def _add_log_behind_a_link(logs: Path) -> None:
    (logs.parent / "elsewhere").mkdir()
    (logs / "linked").symlink_to(logs.parent / "elsewhere")
    cli.main([str(logs)])
    (logs.parent / "elsewhere" / "more.log").write_text("nothing that a format reads\n", "utf-8")


def _edit_page(logs: Path) -> None:
    page = logs.parent / "docs" / "en" / "index.md"
    page.write_text(page.read_text("utf-8") + "by hand\n", "utf-8")


def _remove_page(logs: Path) -> None:
    (logs.parent / "docs" / "en" / "index.md").unlink()


def _remove_ledger(logs: Path) -> None:
    shutil.rmtree(logs.parent / "docs" / "data" / "runs")


def _damage_note(logs: Path) -> None:
    (logs.parent / ".perfledger" / "docs" / "last_build.json").write_bytes(b'{"asked": 1}')


CHANGES: tuple[Callable[[Path], None], ...] = (
    _edit_log, _replace_log_unseen, _add_log_behind_a_link, _edit_page, _remove_page, _remove_ledger, _damage_note,
)  # fmt: skip


def test_logs_are_checked_after_any_change_and_with_other_options(logs: Path, reads: list[build.Inputs]) -> None:
    cli.main([str(logs)])
    for change in CHANGES:
        change(logs)
        before = len(reads)
        cli.main([str(logs)])
        assert len(reads) == before + 1, change
        cli.main([str(logs)])
        assert len(reads) == before + 1, change
    assert "by hand" not in (logs.parent / "docs" / "en" / "index.md").read_text("utf-8")
    for options in (["--verbose"], ["--jobs", "2"], ["--ledger", "ledger"]):
        before = len(reads)
        cli.main([str(logs), *options])
        assert len(reads) == before + 1, options


def test_builds_of_stores_single_logs_and_recent_logs_are_not_skipped(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = build.Inputs((logs,))
    assert last_build.asked(inputs)
    assert not last_build.asked(build.Inputs((next(logs.rglob("train.log")),)))
    assert not last_build.asked(build.Inputs((logs,), stores=("s3://bucket/logs",)))
    assert not last_build.asked(build.Inputs((logs,), ledger="s3://bucket/ledger"))
    monkeypatch.setattr(sources, "settled_at", lambda change: change + 3600 * 10**9)
    assert not last_build.asked(inputs)


def test_times_of_whole_seconds_show_a_change_after_two_seconds() -> None:
    now = time.time_ns()
    past = now - now % 10**9 - 10**9
    assert not files.is_settled([0, 0, past, 0])
    assert files.is_settled([0, 0, past - 2 * 10**9, 0])
    assert files.is_settled([0, 0, past + 1, 0])
    assert not files.is_settled([0, 0, now + 10**10 + 1, 0])
