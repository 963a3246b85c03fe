"""Starts a back end's command with a script on its standard input, and ends it in an orderly way."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from runners.errors import RunnerError

STOPPED = 130


def launch(argv: Sequence[str], script: str) -> int:
    """The exit status of a script, of which `host.sh` says what it means; STOPPED after Ctrl-C or a SIGTERM.

    Raises RunnerError where the command itself cannot be started.
    """
    with _termination_as_interrupt():
        child = _start(argv)
        try:
            child.communicate(script.encode())
        except KeyboardInterrupt:
            return _stop(child)
        return child.returncode


def _start(argv: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        # A session of its own: Ctrl-C reaches us alone, and we pass it on once.
        return subprocess.Popen(argv, stdin=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        raise RunnerError(f"{argv[0]}: it cannot be started: {error.strerror}; install it or put it on PATH") from error


def _stop(child: subprocess.Popen[bytes]) -> int:
    """Asks the script to stop, which records the outcome; a second Ctrl-C makes it kill what it started."""
    while True:
        child.terminate()
        try:
            child.wait()
            return STOPPED
        except KeyboardInterrupt:
            continue


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
