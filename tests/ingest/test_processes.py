"""Worker processes: their results, their errors, and the report of their end."""

from __future__ import annotations

import faulthandler
import math
import os
import signal
import sys
from contextlib import closing
from pathlib import Path

import pytest
from calls import wait

from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.processes import Death, Worker, answering, done_apart


@pytest.mark.parametrize("fresh", [False, True])
def test_a_worker_returns_the_results_and_errors_of_its_work(fresh: bool) -> None:
    with closing(Worker(math.sqrt, fresh=fresh)) as worker:
        for given in (4.0, 9.0):
            worker.give(given)
            assert answering([worker]) == [worker]
            assert worker.answer() == math.sqrt(given)
        worker.give(-1.0)
        with pytest.raises(ValueError, match="math domain error") as raised:
            worker.answer()
        assert "in another process: Traceback" in raised.value.__notes__[0]
        worker.give(16.0)
        assert worker.answer() == 4.0


def _raise(number: signal.Signals) -> None:
    faulthandler.disable()  # pytest's would print where each of these ends
    signal.raise_signal(number)


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
def test_a_signal_that_ends_a_worker_is_named(number: signal.Signals, fresh: bool) -> None:
    with closing(Worker(signal.raise_signal if fresh else _raise, fresh=fresh)) as worker:
        worker.give(number)
        death = worker.answer()
        assert (death, death.cause) == (Death(-number), number.name)


def test_an_exit_is_a_death() -> None:
    death = done_apart(os._exit, 7)
    assert (death, death.cause) == (Death(7), "exit code 7")


def test_a_worker_that_cannot_start_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with closing(Worker(math.sqrt, fresh=True)) as worker:
        worker.give(4.0)
        with pytest.raises(UsageError, match="could not start a process, exit code 1"):
            worker.answer()


@pytest.mark.parametrize("fresh", [False, True])
def test_a_busy_worker_can_be_ended(fresh: bool) -> None:
    worker = Worker(signal.pause if fresh else lambda _: signal.pause(), fresh=fresh)
    worker.give(None)
    worker.close()
    assert wait(lambda: not Path(f"/proc/{worker._process.pid}").exists())
