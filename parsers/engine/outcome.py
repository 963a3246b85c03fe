"""Judge how a run ended from its log. That it was completed needs evidence: its printer's end, or its last step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from parsers.engine.counters import Counters

Outcome = Literal["completed", "truncated", "oom", "failed", "unread"]

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
_MESSAGES: tuple[tuple[Outcome, tuple[bytes, ...]], ...] = (
    ("oom", _OUT_OF_MEMORY), ("failed", _CRASH), ("truncated", _STOPPED),
)  # fmt: skip


@dataclass(frozen=True)
class Message:
    """What the last lines say of an end that was not meant, and the first line that says so."""

    outcome: Outcome
    line: int


@dataclass(frozen=True)
class Ending:
    """How a session ended, and on which line it says so (0 where it says nothing)."""

    outcome: Outcome
    line: int = 0


def message(tail: bytes, next_line: int) -> Message | None:
    """Return the message of an out-of-memory, else of a crash, else of a signal.

    Args:
        tail: the last lines of a session, clean.
        next_line: number of the line after them.
    """
    for outcome, texts in _MESSAGES:
        at = min((found for text in texts if (found := tail.find(text)) >= 0), default=-1)
        if at >= 0:
            return Message(outcome, next_line - tail.count(b"\n", at))
    return None


def last_message(text: bytes) -> int:
    """Return where the last message of an end that was not meant begins in a text, 0 where there is none."""
    return max(0, *(text.rfind(each) for _, texts in _MESSAGES for each in texts))


def ending(said: Message | None, end_line: int, counted: Counters | None, records: int) -> Ending:
    """Judge how a session ended.

    Args:
        said: the message of its last lines. After the printer's own end it does not count: launchers complain when the
            others leave.
        end_line: where the printer says that it is done, 0 where it does not.
        counted: how far its counters came, where the log prints what they count up to.
        records: observations of the whole session. Without any, a signal that stopped it is a failure.
    """
    if said and not (end_line and records):
        return Ending("failed" if said.outcome == "truncated" and not records else said.outcome, said.line)
    if not records:
        return Ending("unread", end_line)
    if end_line or (counted and counted.reached):
        return Ending("completed", end_line)
    return Ending("truncated")
