"""What must not be published is taken out of every text before it is written under docs/."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

_FILE = Path(__file__).resolve().parent / "redaction.toml"
_TIMEOUT_SECONDS = 1.0
_LONGEST = 20_000


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

    They are looked at together, since a name may stand on one line and its secret on the next.
    """
    found: list[str] = []
    block: list[str] = []
    for line in lines:
        if block and sum(map(len, block)) + len(block) + len(line) > _LONGEST:
            found += _block(block)
            block = []
        block.append(line)
    return found + _block(block)


def _block(lines: list[str]) -> list[str]:
    text = "\n".join(lines)
    try:
        for pattern, by in _secrets() if len(text) <= _LONGEST else ():
            text = str(pattern.sub(partial(_with_breaks, by), text, timeout=_TIMEOUT_SECONDS))
    except TimeoutError:
        text = ""
    apart = text.split("\n")
    alike = len(apart) == len(lines) and sum(map(len, lines)) <= _LONGEST and bool(text)
    return apart if alike else [redacted(each) for each in lines]


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
