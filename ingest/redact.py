"""What must not be published is taken out of every text before it is written under docs/."""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
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


def redact(value: Any) -> Any:
    """The same for every text in a document, keys included; lone surrogates become replacement characters."""
    if isinstance(value, str):
        return redacted(value.encode("utf-8", "replace").decode("utf-8"))
    if isinstance(value, dict):
        return {redact(key): redact(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [redact(each) for each in value]
    return value
