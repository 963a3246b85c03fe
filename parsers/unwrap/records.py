"""Logs that were shipped as JSON: a record per line, or one document of records, perhaps the newest first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

#: Keys under which shippers keep what was printed.
_TEXTS = ("log", "line", "message", "data", "textPayload")


def from_json_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Read one JSON object per line with `log`, `line`, `message`, `data` or `textPayload`: Docker, Kaggle, Fluent Bit."""
    for number, line in enumerate(stream, 1):
        if plain := line.strip().strip(b"[],"):
            try:
                record = json.loads(plain)
                text = next(record[name] for name in _TEXTS if isinstance(record.get(name), str))
            except (ValueError, AttributeError, StopIteration, RecursionError):
                raise ValueError(f"line {number} is not a JSON object with one of {', '.join(_TEXTS)}") from None
            yield _line(text)


def from_loki(stream: BinaryIO) -> Iterator[bytes]:
    """Read the answer of Loki's API, `{"data": {"result": [{"values": [[time, line], ...]}]}}`, oldest line first."""
    try:
        results = json.load(stream)["data"]["result"]
        values = [(int(at), str(text)) for result in results for at, text in result["values"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("it is not an answer of Loki's API; for JSON lines use --from json") from None
    return _in_order(values)


def from_gcloud(stream: BinaryIO) -> Iterator[bytes]:
    """Read `gcloud logging read --format json`: a list of entries with `timestamp` and `textPayload`, oldest first."""
    try:
        entries = json.load(stream)
        if not isinstance(entries, list):
            raise TypeError
        values = [(str(each["timestamp"]), str(each["textPayload"])) for each in entries if "textPayload" in each]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("it is not a JSON list of entries with timestamp and textPayload") from None
    return _in_order(values)


def _in_order(values: Iterable[tuple[Any, str]]) -> Iterator[bytes]:
    # Stable, so that lines with one time keep their order.
    return (_line(text) for _, text in sorted(values, key=lambda each: each[0]))


def _line(text: str) -> bytes:
    return text.removesuffix("\n").replace("\n", " ").encode("utf-8", "replace") + b"\n"
