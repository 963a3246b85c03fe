"""Read documents: files next to logs that people, runners and other programs wrote.

Anything may be in the place of a document: a pipe, a device, a file without end, or text that parsers cannot handle.
Such a file is refused here, before it is opened or parsed, and its reader reports it.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

#: Bytes of a document that a person or a runner writes.
MOST = 8 << 20
#: Bytes of a table or a record that a program writes, a line for each result or reading.
MOST_OF_TABLE = 64 << 20
#: Bytes of a file about all runs that a build writes.
MOST_OF_SITE = 1 << 30


class DocumentError(ValueError):
    """A file cannot be read as a document; `line` is 0 if the fault has no line."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.line = line


def read_bytes(path: Path, most: int = MOST) -> bytes:
    """Return the content of a document.

    Raises:
        OSError: the system refuses to open it.
        DocumentError: it is not a regular file, or has more bytes than `most`.
    """
    with _opened(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        data = b"" if size > most else stream.read(most + 1)
    if max(size, len(data)) > most:
        raise DocumentError(f"it has {max(size, len(data))} bytes, and at most {most} are read")
    return data


def read_text(path: Path, most: int = MOST) -> str:
    """Return the text of a document, without a byte order mark.

    Raises:
        OSError: the system refuses to open it.
        DocumentError: it is not a regular file, has more bytes than `most`, or is not UTF-8.
    """
    try:
        return read_bytes(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DocumentError("is not UTF-8; save the file in that encoding", line) from None


def head(path: Path, size: int) -> bytes:
    """Return the first bytes of a document, which may identify its kind; empty if it cannot be read."""
    try:
        with _opened(path) as stream:
            return stream.read(size)
    except (OSError, DocumentError):
        return b""


def cause(error: OSError | ValueError) -> str:
    """Return why a document cannot be read, for a message that names it."""
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def _opened(path: Path) -> IO[bytes]:
    """Open a regular file. Another kind of file that replaces it meanwhile is opened without waiting, and refused."""
    _refuse_others(path.stat())
    stream = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    try:
        _refuse_others(os.fstat(stream.fileno()))
    except DocumentError:
        stream.close()
        raise
    return stream


def _refuse_others(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise DocumentError("it is not a regular file, and was not opened")
