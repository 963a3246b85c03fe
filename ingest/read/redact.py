"""What must not be published is taken out of every text before it is written under docs/."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from schema.records import from_json, to_json

Record = TypeVar("Record", bound=Struct)

_FILE = Path(__file__).resolve().parent / "redaction.toml"
_TIMEOUT_SECONDS = 1.0
_LONGEST = 20_000
#: Lines are looked at in blocks of this many characters; after so many that take too long, no more is looked at.
_BLOCK, _PATIENCE = 8_000, 5


@cache
def _secrets() -> tuple[tuple[Any, str], ...]:
    import regex

    return tuple(
        (regex.compile(each["pattern"]), each["by"]) for each in tomllib.loads(_FILE.read_text("utf-8"))["secret"]
    )


@lru_cache(maxsize=1 << 14)
def redacted(text: str) -> str:
    """The text without what must not be published; over-long text, and one that a pattern cannot finish, is cut out."""
    if len(text) > _LONGEST:
        return f"<{len(text)} characters>"
    try:
        for pattern, by in _secrets():
            text = pattern.sub(by, text, timeout=_TIMEOUT_SECONDS)
    except TimeoutError:
        return "<unreadable text>"
    return text


def redacted_lines(lines: Sequence[str]) -> list[str]:
    """The same for lines that follow each other, each without a line break; as many come back.

    They are looked at together, since a name may stand on one line and its secret on the next. A stretch that a pattern
    cannot finish is cut out, and after a few of them the rest: a log made to be slow is not worth the wait.
    """
    found: list[str] = []
    late = 0
    for begin, end in _blocks(lines):
        # The line before once more, as the name of what may begin this block.
        before = begin - 1 if begin else begin
        seen = _block(lines[before:end]) if late < _PATIENCE else None
        late += seen is None
        found += ["<unreadable text>"] * (end - begin) if seen is None else seen[begin - before :]
    return found


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Stretches of lines of about as many characters, by their first line and the one after their last."""
    begin = size = 0
    for index, line in enumerate(lines):
        if size and size + len(line) > _BLOCK:
            yield begin, index
            begin, size = index, 0
        size += len(line) + 1
    if begin < len(lines):
        yield begin, len(lines)


def _block(lines: Sequence[str]) -> list[str] | None:
    """Some lines redacted; None where a pattern cannot finish them."""
    text = "\n".join(lines)
    try:
        for pattern, by in _secrets():
            text = str(pattern.sub(partial(_with_breaks, by), text, timeout=_TIMEOUT_SECONDS / 4))
    except TimeoutError:
        return None
    apart = text.split("\n")
    return apart if len(apart) == len(lines) else None


def _with_breaks(by: str, match: Any) -> str:
    """What stands in for a match, with as many line breaks as it had."""
    text = str(match.expand(by))
    return text + "\n" * int(match[0].count("\n") - text.count("\n"))


def redact(value: Any) -> Any:
    """The same for every text in a document, keys included; lone surrogates become replacement characters."""
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
