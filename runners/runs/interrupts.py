"""Ctrl-C and SIGTERM as requests that are counted, so that neither comes in the middle of a file being written."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

#: Exit status of whoever was stopped.
STOPPED = 130
#: The first asks to stop, the second to kill; who asks once more leaves at once.
PATIENT = 2
_STEP_SECONDS = 0.1


@dataclass
class Requests:
    """How often we were asked to stop."""

    count: int = 0


@contextmanager
def counted() -> Iterator[Requests]:
    """Counts both signals while it lasts; raises KeyboardInterrupt from the third on."""
    requests = Requests()

    def request(_number: int, _frame: FrameType | None) -> None:
        requests.count += 1
        if requests.count > PATIENT:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, request) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def pause(seconds: float, requests: Requests, answered: int = 0) -> None:
    """Waits, but not while there is a request beyond those that were answered."""
    end = time.monotonic() + seconds
    while requests.count <= answered and (left := end - time.monotonic()) > 0:
        time.sleep(min(left, _STEP_SECONDS))
