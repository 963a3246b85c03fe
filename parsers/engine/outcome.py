"""Judge how a run ended from its log: out of memory, by a crash, by a signal, or none of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["completed", "truncated", "oom", "failed"]

# Plain texts, each searched for by itself: an alternation of them is fifty times slower.
_OUT_OF_MEMORY = (
    b"CUDA out of memory", b"OutOfMemoryError", b"RESOURCE_EXHAUSTED", b"ResourceExhausted",
    b"CUDA_ERROR_OUT_OF_MEMORY", b"cudaErrorMemoryAllocation", b"Out of memory error on GPU", b"std::bad_alloc",
    b"can't allocate memory",
)  # fmt: skip
_CRASH = (
    b"Traceback (most recent call last):", b"Segmentation fault", b"core dumped", b"terminate called after throwing",
    b"ChildFailedError", b"mpirun noticed that process rank", b"terminated normally, but",
)  # fmt: skip
_STOPPED = (
    b"with signal", b"by signal", b"SIGTERM", b"KeyboardInterrupt",
)  # fmt: skip


@dataclass(frozen=True)
class Ending:
    """What the log says about its end, and on which line (0 where it says nothing)."""

    outcome: Outcome
    line: int = 0


def ending(tail: bytes, first_line: int, ended: bool | None, records: int) -> Ending:
    """Judge the last stretch of a session.

    Args:
        tail: its last lines, clean.
        first_line: number of the first of them.
        ended: whether the printer printed its end; None where it prints none.
        records: observations of the whole session.
    """
    for outcome, texts in (("oom", _OUT_OF_MEMORY), ("failed", _CRASH), ("truncated", _STOPPED)):
        at = min((found for text in texts if (found := tail.find(text)) >= 0), default=-1)
        if ended or at < 0:
            continue
        line = first_line + tail.count(b"\n", 0, at)
        return Ending(_without_records(outcome, records), line)
    if not records:
        return Ending("failed")
    return Ending("completed" if ended in (True, None) else "truncated")


def _without_records(outcome: str, records: int) -> Outcome:
    if outcome == "oom":
        return "oom"
    return "failed" if outcome == "failed" or not records else "truncated"
