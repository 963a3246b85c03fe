"""A budget of computing time for each input: the last net, so that no log holds up all others.

Reading is linear in the size of a log, and tests hold every pattern to that: what exceeds the budget met a fault of
ours.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from perfledger.ingest.common.errors import UsageError
from perfledger.parsers.engine.unpack import is_packed

#: Seconds for any log, and for each MiB of its file more: the densest logs that we know take a thirtieth of that. A
#: packed file may hold much more than its size.
SECONDS, SECONDS_PER_MIB, SECONDS_PER_PACKED_MIB = 60.0, 2.0, 60.0
#: The environment variable that allows every log more than SECONDS.
VARIABLE = "PERFLEDGER_LOG_SECONDS"
#: A signal whose exception something swallowed comes again after so many seconds.
_AGAIN = 1.0

_armed = False


class TooSlowError(BaseException):
    """An input took longer than its budget; no handler of exceptions on the way may take it for something else."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"took more than {seconds:g} s")
        self.seconds = seconds


def seconds_for(path: Path) -> float:
    """Return the computing seconds that reading a file may take.

    Raises:
        UsageError: the environment variable holds no number of seconds.
    """
    try:
        size = path.stat().st_size / (1 << 20)
    except OSError:
        size = 0.0
    return _least() + size * (SECONDS_PER_PACKED_MIB if is_packed(path) else SECONDS_PER_MIB)


def _least() -> float:
    stated = os.environ.get(VARIABLE)
    try:
        least = float(stated or SECONDS)
    except ValueError:
        least = 0.0
    if not 0 < least < 1e9:
        raise UsageError(f"{VARIABLE}={stated}: is no number of seconds; give one, such as 600")
    return least


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TooSlowError where the block takes more computing time of this process, also inside a search by a pattern.

    A block inside another is part of that one's budget. What other programs take meanwhile does not count. Signals
    reach the main thread alone; in others, and where the system has no such timer, nothing is limited.
    """
    global _armed
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if _armed or not usable:
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        if _armed:
            raise TooSlowError(seconds)

    # The handler stays: without one a signal that comes late would end the process.
    signal.signal(signal.SIGPROF, stop)
    _armed = True
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        yield
    finally:
        _armed = False
        signal.setitimer(signal.ITIMER_PROF, 0.0)
