"""Read what identifies files, and write them: whole or not at all, and only when their bytes change."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path


def stamp(path: Path) -> list[int] | None:
    """Return size, time and inode of a regular file; None for others, which must not be opened: a pipe never ends."""
    try:
        at = path.stat()
    except OSError:
        return None
    return [at.st_size, at.st_mtime_ns, at.st_ino] if stat.S_ISREG(at.st_mode) else None


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_as_stated(path: Path, sha256: object) -> bool:
    """Return whether a regular file exists and has this hash; without a hash any file will do."""
    try:
        return stamp(path) is not None and (not sha256 or file_hash(path) == sha256)
    except OSError:
        return False


def write_if_changed(path: Path, data: bytes) -> bool:
    """Replace a file by `data` in one step; return False, without writing, if it holds them already."""
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
