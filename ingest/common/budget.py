"""A budget of computing time for each input, so that one log cannot delay all others.

Reading takes time linear in the size of a log, and tests check that for every pattern. So a log that exceeds the budget
found a fault in our code.
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

#: Seconds for any log. The densest logs that we know take a thirtieth of the budget.
SECONDS = 60.0
#: Further seconds for each MiB of a file.
SECONDS_PER_MIB = 2.0
#: Further seconds for each MiB of a packed file, which may contain much more text than its size.
SECONDS_PER_PACKED_MIB = 60.0
#: The environment variable that allows every log more than SECONDS.
VARIABLE = "PERFLEDGER_LOG_SECONDS"
#: Seconds after which the signal is repeated, in case that its exception was caught.
_AGAIN = 1.0

_armed = False


class TooSlowError(BaseException):
    """An input took longer than its budget. It is a BaseException so that no handler on the way catches it."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"took more than {seconds:g} s")
        self.seconds = seconds


def seconds_for(path: Path) -> float:
    """Return the computing seconds that reading a file may take.

    Raises:
        UsageError: the environment variable is not a number of seconds.
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
    """Raise TooSlowError if the block takes more computing time of this process, also during a search by a pattern.

    A nested block belongs to the budget of the outer one. The time of other programs does not count. Threads other than
    the main one, which alone receives signals, are not limited, nor are systems without such a timer.
    """
    global _armed
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if _armed or not usable:
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        if _armed:
            raise TooSlowError(seconds)

    # The handler stays, since a late signal without a handler would end the process.
    signal.signal(signal.SIGPROF, stop)
    _armed = True
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        yield
    finally:
        _armed = False
        signal.setitimer(signal.ITIMER_PROF, 0.0)
