"""Files at home: written whole or not at all, and known by their digest."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from runners.errors import RunnerError


def write(path: Path, text: str) -> None:
    """Puts text under a name at once, on the disk before it bears that name.

    Raises RunnerError where it cannot be written; what was there before is then still there.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise RunnerError(f"{path}: it cannot be written: {error.strerror}; make room or choose --raw-logs") from error


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def json_of(run: Mapping[str, object]) -> str:
    """JSON for people and for `diff`: a line per key, and per member of an object that a key holds."""
    return "{\n" + ",\n".join(f" {_json(key)}: {_members(value)}" for key, value in run.items()) + "\n}\n"


def _members(value: object) -> str:
    if not isinstance(value, Mapping) or not value:
        return _json(value)
    return "{\n" + ",\n".join(f"  {_json(key)}: {_json(each)}" for key, each in value.items()) + "\n }"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
