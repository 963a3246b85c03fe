"""Identify files by stamp and hash; write them only below our folders, whole or not at all, and if bytes change."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path, PurePosixPath

from perfledger.ingest.common.documents import DocumentError, read_bytes

#: Logs up to which data are written as JSON lines, whose changes git shows; Parquet files are a tenth as large.
MANY_LOGS = 5_000
#: Nanoseconds from a change until later changes have a different time, if file times are whole seconds, or even ones.
_COARSE_NS = 2_000_000_000
#: The same where times have fractions of a second; such file systems count in steps of at most 0.01 s.
_FINE_NS = 50_000_000
#: Beginning and end of the names of unfinished files, which a killed run leaves.
_UNFINISHED = ".perfledger-", ".new"


def stamp(path: Path) -> list[int] | None:
    """Return size, times and inode of a regular file; None for other files.

    The second time is that of the last change of any kind, which a program cannot set back.
    """
    try:
        at = path.stat()
    except OSError:
        return None
    return [at.st_size, at.st_mtime_ns, at.st_ctime_ns, at.st_ino] if stat.S_ISREG(at.st_mode) else None


def settled_at(change: int) -> int:
    """Return the time in ns after which a later change of a file has a different time."""
    return change + (_FINE_NS if change % 1_000_000_000 else _COARSE_NS)


def is_settled(at: Sequence[int]) -> bool:
    """Return whether a change from now on would change the stamp. It is False after a clock was set back."""
    return settled_at(at[2]) < time.time_ns()


def notes(out: Path) -> Path:
    """Return the folder of notes from one run to the next for the same folder of pages; it may be lost."""
    at = out.resolve()
    return at.parent / ".perfledger" / at.name


def absolute(path: Path) -> str:
    """Return the absolute path as text, ten times as fast as `Path.absolute`."""
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


def refuse_ways_out(top: Path, names: Iterable[str]) -> None:
    """Refuse files below `top` if one of their folders is a link, before any of them is written or removed.

    A link in the place of the file itself does no harm: the file replaces it.

    Raises:
        OSError: a folder is a link.
        ValueError: a name is absolute, or leads upwards; our own code does not make such names.
    """
    parents = {_inside(name).rpartition("/")[0] for name in names}
    folders = {folder for each in parents - {""} for folder in (PurePosixPath(each), *PurePosixPath(each).parents)}
    for folder in sorted(folders - {PurePosixPath(".")}):
        if (top / folder).is_symlink():
            raise OSError(errno.ELOOP, "is a link, which may lead to files of others: remove it", str(top / folder))


def _inside(name: str) -> str:
    if name.startswith("/") or ".." in name.split("/"):
        raise ValueError(f"{name} does not lie within our folder")
    return name


def write_if_changed(path: Path, data: bytes) -> bool:
    """Replace a file by `data` in one step; return False, without writing, if it contains them already."""
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
    """Remove unfinished files of killed runs in these folders and below; the caller needs the lock of the folder."""
    for top, _, names in chain.from_iterable(map(os.walk, folders)):
        for name in names:
            if name.startswith(_UNFINISHED[0]) and name.endswith(_UNFINISHED[1]):
                Path(top, name).unlink(missing_ok=True)
