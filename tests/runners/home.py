"""Helpers of the tests of the command line: a program whose log is understood, and the runner as a process."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn
from uuid import uuid4

from perfledger.runners.cli import main
from tests.runners.node import polls

ROOT = Path(__file__).parents[2]
#: Bash that prints a record of the format that the tiny recipe asks for; the word after it is the number of the step.
RECORD = (
    'record() { printf "DLL 2026-11-20 11:54:58.903454 - Epoch: 0 Iteration: %d  train.loss : 7.00000 None '
    'train.compute_ips : 100.00 images/s train.total_ips : 100.00 images/s\\n" "$1"; }; '
)


def load(path: Path) -> dict[str, Any]:
    """Read a JSON object."""
    found = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def folder_of(tmp_path: Path, case: str = "cpu-n1d1-bs1-fp32") -> Path:
    """Return the folder of a case of the tiny recipe."""
    return tmp_path / "raw/tiny/bash" / case


def until(wanted: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until a condition is true."""
    for _ in polls(seconds):
        if wanted():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come to pass")


def words(path: Path, tmp_path: Path, *more: str) -> list[str]:
    """Return the arguments that run a recipe into `raw`."""
    return ["run", str(path), "--raw-logs", str(tmp_path / "raw"), *more]


class Runner:
    """`python -m runners run` in a session of its own, forked from this process so that it need not import anything."""

    def __init__(self, path: Path, tmp_path: Path, *more: str) -> None:
        self.returncode: int | None = None
        self._printed = [tmp_path / f"{uuid4().hex}.{name}" for name in ("out", "err")]
        with warnings.catch_warnings():
            # pytest-xdist has threads; they do not use these modules.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if not self.pid:
            self._run(words(path, tmp_path, *more))

    def _run(self, arguments: Sequence[str]) -> NoReturn:
        code = 99
        try:
            os.setsid()
            for number, printed in enumerate(self._printed, start=1):
                os.dup2(os.open(printed, os.O_WRONLY | os.O_CREAT), number)
            sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
            code = main(arguments)
        finally:
            os._exit(code)

    def poll(self) -> int | None:
        """Return the exit status, minus the signal that ended it; None while it runs."""
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if ended else None
        return self.returncode

    def wait(self) -> int:
        """Wait for its end, and return its exit status."""
        until(lambda: self.poll() is not None)
        assert self.returncode is not None
        return self.returncode

    def said(self) -> tuple[str, str]:
        """Return what it has printed so far, and its messages."""
        output, messages = (path.read_text(encoding="utf-8") if path.exists() else "" for path in self._printed)
        return output, messages

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        if self.poll() is None:
            os.kill(self.pid, number)


def _printing(top: Path) -> int:
    """Count the logs that have begun; folders may vanish meanwhile, which `os.walk` forgives, unlike `rglob`."""
    logs = (Path(folder, "train.log") for folder, _, names in os.walk(top) if "train.log" in names)
    found = 0
    for log in logs:
        with suppress(FileNotFoundError):
            found += log.stat().st_size > 0
    return found


@contextmanager
def running(path: Path, tmp_path: Path, *more: str, nodes: int = 1) -> Iterator[Runner]:
    """Run a recipe in a process of its own, and yield when its command has printed a line on `nodes` nodes."""
    process = Runner(path, tmp_path, *more)
    try:
        until(lambda: _printing(tmp_path) == nodes)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
