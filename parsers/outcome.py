"""How a run ended, as far as its log says: out of memory, a crash, a signal, or nothing of the kind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["completed", "truncated", "oom", "failed"]

_OUT_OF_MEMORY = re.compile(
    rb"CUDA out of memory|OutOfMemoryError|RESOURCE_EXHAUSTED|ResourceExhausted|CUDA_ERROR_OUT_OF_MEMORY"
    rb"|cudaErrorMemoryAllocation|Out of memory error on GPU|std::bad_alloc|DefaultCPUAllocator: can't allocate memory"
)
_CRASH = re.compile(
    rb"(?m)^Traceback \(most recent call last\):|Segmentation fault|core dumped|terminate called after throwing"
    rb"|Exit code [1-9]|ChildFailedError|mpirun noticed that process rank \d++|Primary job +terminated normally, but"
)
_STOPPED = re.compile(
    rb"(?:Exit|exit|Terminating|terminating|[Tt]erminated|[Kk]illed) (?:with|by) signal|\bSIGTERM\b|KeyboardInterrupt"
)


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
    for outcome, pattern in (("oom", _OUT_OF_MEMORY), ("failed", _CRASH), ("truncated", _STOPPED)):
        if ended or not (match := pattern.search(tail)):
            continue
        line = first_line + tail.count(b"\n", 0, match.start())
        return Ending(_without_records(outcome, records), line)
    if not records:
        return Ending("failed")
    return Ending("completed" if ended in (True, None) else "truncated")


def _without_records(outcome: str, records: int) -> Outcome:
    if outcome == "oom":
        return "oom"
    return "failed" if outcome == "failed" or not records else "truncated"
