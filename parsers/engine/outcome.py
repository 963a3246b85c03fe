"""Judge how a run ended from its log. A completed run needs evidence: the program's last line, or its last step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from perfledger.parsers.engine.counters import Counters

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

Outcome = Literal["completed", "truncated", "oom", "failed", "unread"]

# Plain texts, searched together in one pass: an alternation in a regular expression is fifty times slower.
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
    """A message of an unintended end in the last lines: the outcome that it shows, and its first line."""

    outcome: Outcome
    line: int


@dataclass(frozen=True)
class Ending:
    """The outcome of a session, and the line that shows it (0 if no line does)."""

    outcome: Outcome
    line: int = 0


def message(tail: bytes, next_line: int) -> Message | None:
    """Return the first message of an out-of-memory error, else of a crash, else of a signal; None without a message.

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
    """Return whether a text may contain such a message, by its distinct lines (`schema.distinct_lines`)."""
    return bool(_found(distinct))


def last_message(text: bytes) -> int:
    """Return the position of the last message of an unintended end in a text; 0 without a message."""
    return max((at for _, at in _found(text)), default=0)


def _found(text: bytes) -> list[tuple[Outcome, int]]:
    """Return the outcome and the position of every message in a text."""
    kinds = [kind for kind, texts in _MESSAGES for _ in texts]
    return [(kinds[number], at) for number, at, _ in _searched().find_matches_as_indexes(text, overlapping=True)]


@cache
def _searched() -> BytesAhoCorasick:
    from ahocorasick_rs import BytesAhoCorasick

    return BytesAhoCorasick([each for _, texts in _MESSAGES for each in texts])


def ending(said: Message | None, end_line: int, counted: Counters | None, records: int) -> Ending:
    """Judge how a session ended.

    Args:
        said: the message in its last lines. It does not count after the program's own last line, since launchers complain
            when processes leave.
        end_line: line number of the program's last line, 0 if it did not print it.
        counted: the progress of its counters, if the log prints their totals.
        records: number of records of the whole session. Without records, a signal that stopped it is a failure.
    """
    if said and not (end_line and records):
        return Ending("failed" if said.outcome == "truncated" and not records else said.outcome, said.line)
    if not records:
        return Ending("unread", end_line)
    if end_line or (counted and counted.reached):
        return Ending("completed", end_line)
    return Ending("truncated")
