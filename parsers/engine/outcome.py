"""Judge how a run ended from its log. That it was completed needs evidence: its printer's end, or its last step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from perfledger.parsers.engine.counters import Counters

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

Outcome = Literal["completed", "truncated", "oom", "failed", "unread"]

# Plain texts, searched for together: an alternation of them is fifty times slower.
_OUT_OF_MEMORY = (
    b"CUDA out of memory", b"OutOfMemoryError", b"RESOURCE_EXHAUSTED", b"ResourceExhausted",
    b"CUDA_ERROR_OUT_OF_MEMORY", b"cudaErrorMemoryAllocation", b"Out of memory error on GPU", b"std::bad_alloc",
    b"can't allocate memory", b"out of memory. Tried to allocate", b"hipErrorOutOfMemory", b"oom-kill event",
    b"oom_kill event",
)  # fmt: skip
_CRASH = (
    b"Traceback (most recent call last):", b"Segmentation fault", b"core dumped", b"terminate called after throwing",
    b"ChildFailedError", b"noticed that process rank", b"terminated normally, but", b"Exited with exit code",
    b"detected that one or more processes exited with non-zero status", b": Test NCCL failure ", b": Test CUDA failure ",
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
    found = _found(tail)
    for outcome, _ in _MESSAGES:
        if places := [at for kind, at in found if kind == outcome]:
            return Message(outcome, next_line - tail.count(b"\n", min(places)))
    return None


def may_say(distinct: bytes) -> bool:
    """Return whether a text may hold such a message, by its distinct lines (`schema.distinct_lines`)."""
    return bool(_found(distinct))


def last_message(text: bytes) -> int:
    """Return where the last message of an end that was not meant begins in a text, 0 where there is none."""
    return max((at for _, at in _found(text)), default=0)


def _found(text: bytes) -> list[tuple[Outcome, int]]:
    """Return every message in a text, and where it begins."""
    kinds = [kind for kind, texts in _MESSAGES for _ in texts]
    return [(kinds[number], at) for number, at, _ in _searched().find_matches_as_indexes(text, overlapping=True)]


@cache
def _searched() -> BytesAhoCorasick:
    from ahocorasick_rs import BytesAhoCorasick

    return BytesAhoCorasick([each for _, texts in _MESSAGES for each in texts])


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
