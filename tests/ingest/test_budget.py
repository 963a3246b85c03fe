"""A log whose reading exceeds its budget of time is a problem of that log, and all others are published."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import regex
from made_logs import run_json, seg
from made_trees import Called, write_run

from perfledger.ingest.common import budget
from perfledger.ingest.common.cache import Cache
from perfledger.ingest.read.walk import walk
from perfledger.ingest.record import ledger
from perfledger.ingest.record import run as record_run
from perfledger.ingest.record.folders import LogFiles
from perfledger.ingest.record.store import FolderStore

Ingest = Callable[..., Called]
_read = record_run.read


def spin() -> None:
    while True:
        pass


#: Work that does not end in time, like a slow pattern that no test has found.
ENDLESS: dict[str, Callable[[], object]] = {
    "re": lambda: re.search(rb"(?:a+)+b", b"a" * 200),
    "regex": lambda: regex.search(rb"x[^\n]*?y[^\n]*?b", b"xy" * 1_000_000),
    "a loop": spin,
}


def slow(path: Path) -> Any:
    return ENDLESS["re"]() if "slow" in path.parts else _read(path)


@pytest.fixture
def with_slow(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the good tree with one endless log, and a budget of half a second for each log."""
    write_run(tree, "slow/1", seg([9.0] * 6, batch=4), run=run_json(model="slow"))
    monkeypatch.setattr(record_run, "read", slow)
    monkeypatch.setenv(budget.VARIABLE, "0.5")
    return tree


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_log_that_takes_too_long_is_left_out(with_slow: Path, ingest: Ingest, jobs: int) -> None:
    called = ingest(with_slow, "--json", "--jobs", jobs)
    assert called.code == 1, called.err
    (problem,) = [line for line in called.problems if "slow/1" in line]
    assert "took more than 0.5" in problem
    assert budget.VARIABLE in problem
    found = {each["path"]: each for each in called.lines}
    assert found["logs/slow/1/train.log"]["format"] is None
    assert [each for path, each in found.items() if "slow" not in path and each["published"]]


def test_a_slow_log_is_read_again_by_the_next_run(with_slow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log may then be fast enough, on another machine, with another budget or changed code."""
    kept = with_slow.parent / "cache.sqlite"
    problems = []
    for _ in range(2):
        with Cache(kept) as cached:
            found = ledger.collect(LogFiles(walk([with_slow]).inputs), FolderStore(with_slow.parent / "docs"), cached)
        problems.append(
            [each.code for run in found.runs for each in run.problems if run.path.endswith("slow/1/train.log")]
        )
        monkeypatch.setattr(record_run, "read", _read)
    assert "too_slow" in problems[0]
    assert "too_slow" not in problems[1]


def test_a_budget_that_is_not_a_number_ends_the_command(
    tree: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(budget.VARIABLE, "long")
    called = ingest(tree)
    assert called.code == 2
    assert f"{budget.VARIABLE}=long" in called.err


@pytest.mark.parametrize("work", ENDLESS)
def test_searches_and_loops_are_stopped(work: str) -> None:
    with pytest.raises(budget.TooSlowError), budget.limited(0.05):
        ENDLESS[work]()


def test_a_swallowed_exception_is_raised_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_AGAIN", 0.05)

    def swallow() -> None:
        with contextlib.suppress(BaseException):
            spin()
        spin()

    with pytest.raises(budget.TooSlowError), budget.limited(0.05):
        swallow()


def test_work_that_ends_in_time_is_not_stopped_later() -> None:
    with budget.limited(0.02):
        pass
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass


def test_a_budget_within_another_ends_neither() -> None:
    def work() -> None:
        with budget.limited(1e6):
            pass
        spin()

    with pytest.raises(budget.TooSlowError), budget.limited(0.05):
        work()


def test_outside_the_main_thread_nothing_is_limited() -> None:
    done: list[int] = []

    def work() -> None:
        with budget.limited(1e-6):
            done.append(sum(range(1000)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done


def test_a_larger_log_may_take_longer(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(bytes(3 << 20))
    (tmp_path / "a.log.gz").write_bytes(bytes(3 << 20))
    assert budget.seconds_for(tmp_path / "none") == budget.SECONDS
    assert budget.seconds_for(tmp_path / "a.log") == budget.SECONDS + 3 * budget.SECONDS_PER_MIB
    assert budget.seconds_for(tmp_path / "a.log.gz") == budget.SECONDS + 3 * budget.SECONDS_PER_PACKED_MIB
