"""Writing: a file is replaced whole or not at all, and only when its bytes change."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path


def stamp(path: Path) -> list[int] | None:
    """Size, time and inode of a regular file; None for anything else, which must not be opened: a pipe never ends."""
    try:
        at = path.stat()
    except OSError:
        return None
    return [at.st_size, at.st_mtime_ns, at.st_ino] if stat.S_ISREG(at.st_mode) else None


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_as_stated(path: Path, sha256: object) -> bool:
    """Whether a regular file is there and has the hash that somebody states; any will do where nobody does."""
    try:
        return stamp(path) is not None and (not sha256 or file_hash(path) == sha256)
    except OSError:
        return False


def write_if_changed(path: Path, data: bytes) -> bool:
    """Replace a file by `data` in one step; False, and no write, where it holds them already."""
    try:
        if path.read_bytes() == data:
            return False
    except OSError:
        pass
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return True
