"""Read what identifies files, and write them: whole or not at all, and only when their bytes change."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from perfledger.ingest.common.documents import DocumentError, read_bytes

#: Up to so many logs, data are JSON lines, whose changes git shows; of more they are Parquet files, a tenth as large.
MANY_LOGS = 5_000
#: How long after a change another one may leave the same time: two seconds on the coarsest file systems.
_COARSEST_NS = 2_000_000_000
#: Names of files that are being written; a run that was killed leaves them.
_UNFINISHED = ".perfledger-", ".new"


def stamp(path: Path) -> list[int] | None:
    """Return size, times and inode of a regular file; None for others, which must not be opened: a pipe never ends.

    The second time is that of the last change of any kind, which no program can set back.
    """
    try:
        at = path.stat()
    except OSError:
        return None
    return [at.st_size, at.st_mtime_ns, at.st_ctime_ns, at.st_ino] if stat.S_ISREG(at.st_mode) else None


def is_settled(at: Sequence[int]) -> bool:
    """Return whether a file with this stamp cannot change without changing the stamp: its last change is long ago.

    A clock that was set back makes changes of the future, which never count.
    """
    return at[2] + _COARSEST_NS < time.time_ns()


def notes(out: Path) -> Path:
    """Return the folder of what a run notes for the next one into the same folder of pages; it may be lost."""
    at = out.resolve()
    return at.parent / ".perfledger" / at.name


def absolute(path: Path) -> str:
    """Return what `Path.absolute` gives, as text and at a tenth of its cost."""
    return os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118


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
    with suppress(OSError, DocumentError):
        if read_bytes(path, len(data)) == data:
            return False
    try:
        _replace(path, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None  # not the name of the unfinished file
    return True


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=_UNFINISHED[0], suffix=_UNFINISHED[1])
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def remove_unfinished(folders: Iterable[Path]) -> None:
    """Remove what killed runs left in these folders and below; only who holds the folder may (`ingest.common.lock`)."""
    for top, _, names in chain.from_iterable(map(os.walk, folders)):
        for name in names:
            if name.startswith(_UNFINISHED[0]) and name.endswith(_UNFINISHED[1]):
                Path(top, name).unlink(missing_ok=True)
