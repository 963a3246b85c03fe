"""Remove secrets, private paths and addresses from every text before it is written under docs/."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from ingest.common.toml_file import read
from schema.records import from_json, to_json

Record = TypeVar("Record", bound=Struct)

_FILE = Path(__file__).resolve().parent / "redaction.toml"
_TIMEOUT_SECONDS = 1.0
_LONGEST = 20_000
#: Lines are redacted in blocks of this many characters; after so many timeouts all further blocks are cut out.
_BLOCK, _MOST_TIMEOUTS = 8_000, 5


class Secret(Struct, frozen=True, forbid_unknown_fields=True):
    """A pattern of the `regex` module, why it is there, and the replacement of a match.

    One of the literals of `needs`, if there are any, stands in every match: most texts hold none and are not searched.
    """

    why: str
    pattern: str
    by: str
    needs: tuple[str, ...] = ()


class RedactionFile(Struct, frozen=True, forbid_unknown_fields=True):
    """All patterns, in the order in which they are applied."""

    secret: tuple[Secret, ...]


@cache
def _secrets() -> tuple[tuple[Any, str, tuple[str, ...]], ...]:
    import regex

    return tuple((regex.compile(each.pattern), each.by, each.needs) for each in read(_FILE, RedactionFile).data.secret)


def _likely(text: str, needs: tuple[str, ...]) -> bool:
    return not needs or any(each in text for each in needs)


@lru_cache(maxsize=1 << 14)
def redacted(text: str) -> str:
    """Return the text without secrets; over-long text, and one that a pattern cannot finish in time, is cut out."""
    if len(text) > _LONGEST:
        return f"<{len(text)} characters>"
    try:
        for pattern, by, needs in _secrets():
            if _likely(text, needs):
                text = pattern.sub(by, text, timeout=_TIMEOUT_SECONDS)
    except TimeoutError:
        return "<unreadable text>"
    return text


def redacted_lines(lines: Sequence[str]) -> list[str]:
    """Redact lines that follow each other, each without a line break, and return as many.

    They are redacted together, since a name may stand on one line and its secret on the next. A block that a pattern
    cannot finish in time is cut out, and after a few of them all the rest: a log made to be slow must not stall us.
    """
    found: list[str] = []
    late = 0
    for begin, end in _blocks(lines):
        # With the line before: it may hold the name of a secret that begins this block.
        before = begin - 1 if begin else begin
        seen = _block(lines[before:end]) if late < _MOST_TIMEOUTS else None
        late += seen is None
        found += ["<unreadable text>"] * (end - begin) if seen is None else seen[begin - before :]
    return found


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield blocks of lines of about `_BLOCK` characters: the first line and the one after the last."""
    begin = size = 0
    for index, line in enumerate(lines):
        if size and size + len(line) > _BLOCK:
            yield begin, index
            begin, size = index, 0
        size += len(line) + 1
    if begin < len(lines):
        yield begin, len(lines)


def _block(lines: Sequence[str]) -> list[str] | None:
    """Return the lines redacted; None where a pattern cannot finish them in time."""
    text = "\n".join(lines)
    try:
        for pattern, by, needs in _secrets():
            if _likely(text, needs):
                text = str(pattern.sub(partial(_with_breaks, by), text, timeout=_TIMEOUT_SECONDS / 4))
    except TimeoutError:
        return None
    apart = text.split("\n")
    return apart if len(apart) == len(lines) else None


def _with_breaks(by: str, match: Any) -> str:
    """Return the replacement of a match, with as many line breaks as the match had."""
    text = str(match.expand(by))
    return text + "\n" * int(match[0].count("\n") - text.count("\n"))


def redact(value: Any) -> Any:
    """Redact every text of a document, keys included; lone surrogates become replacement characters."""
    if isinstance(value, str):
        return redacted(value.encode("utf-8", "replace").decode("utf-8"))
    if isinstance(value, dict):
        return {redact(key): redact(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [redact(each) for each in value]
    return value


def redact_record(record: Record) -> Record:
    """Return a record with every text in it redacted."""
    return from_json(redact(to_json(record)), type(record))
