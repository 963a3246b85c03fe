"""Calls of the command in other processes, most of them forked from this one so that they import nothing again."""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from perfledger.ingest.cli import main
from perfledger.ingest.common.files import _UNFINISHED

#: A program that calls the command and prints its peak memory in KiB; getrusage would include the parent's.
PEAK = """
import re, sys
from pathlib import Path
from perfledger.ingest.cli import main
code = main(sys.argv[1:])
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1], file=sys.stderr)
sys.exit(code)
"""


@dataclass(frozen=True)
class Call:
    """A running call; it and all processes that it starts are a session of their own."""

    pid: int
    log: Path

    def kill(self) -> bool:
        """Kill the process that was called, not those that it started; return whether it was still running."""
        if os.waitpid(self.pid, os.WNOHANG)[0]:
            return False
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return True

    def code(self) -> int:
        """Wait for the end, and return the exit code."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def code_within(self, seconds: float) -> int:
        """Wait for the end, and return the exit code; a call that takes longer is killed, and fails."""
        ended: list[int] = []

        def has_ended() -> bool:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            ended.extend([os.waitstatus_to_exitcode(status)] if pid else [])
            return bool(pid)

        if not wait(has_ended, seconds):
            os.kill(self.pid, signal.SIGKILL)
            return self.code()
        return ended[0]

    @property
    def said(self) -> str:
        return self.log.read_text("utf-8", "replace")

    def left(self) -> list[int]:
        """Return the processes of the call that are still there."""
        there = (int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit())
        return [each for each in there if _session(each) == self.pid]


def start(log: Path, *arguments: object, before: Callable[[], object] = lambda: None) -> Call:
    """Call the command and write its output to a file; `before` is called in its process first."""
    with warnings.catch_warnings():
        # Python warns about forks of processes with threads. Those of pytest-xdist have no lock that we need.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        return Call(pid, log)
    code = 99
    try:
        os.setsid()
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for place in (1, 2):
            os.dup2(handle, place)
        sys.stdout, sys.stderr = (os.fdopen(each, "w", buffering=1, closefd=False) for each in (1, 2))
        before()
        code = main([str(each) for each in arguments])
    finally:
        os._exit(code)


def wait(until: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Wait until the condition is true, or until the limit, so that a broken test does not hang."""
    end = time.monotonic() + seconds
    while not (found := until()) and time.monotonic() < end:
        time.sleep(0.01)
    return found


def unfinished(folder: Path) -> list[Path]:
    return [
        each
        for each in folder.rglob("*")
        if each.name.startswith(_UNFINISHED[0]) and each.name.endswith(_UNFINISHED[1])
    ]


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return 0
