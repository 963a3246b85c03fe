"""One run at a time writes into a folder of pages: a second one waits for the first, and says so."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from perfledger.ingest.common.errors import UsageError, printable
from perfledger.ingest.common.files import notes

#: Another process has the lock; the file system knows no locks.
_BUSY = frozenset({errno.EACCES, errno.EAGAIN})
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Hold a folder of pages until the end of the block; wait for the process that holds it.

    The lock belongs to the process: those that it starts do not inherit it, and it ends with the process, however that
    ends. The file means nothing without it.

    Raises:
        UsageError: the file of the lock cannot be written.
    """
    path = notes(out) / "lock"
    try:
        handle = _taken(path, out)
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror}; it keeps two runs that write into {out} apart, so nothing was written: "
            "make its folder writable, or give another --out"
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):  # while the lock is ours; folders stay where something else is in them
            path.unlink()
            path.parent.rmdir()
            path.parent.parent.rmdir()
        os.close(handle)


def _taken(path: Path, out: Path) -> int:
    """Return the open file of the lock; one that its holder has removed meanwhile is no lock any more."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except FileNotFoundError:  # the folder was removed with the lock of the run before
            continue
        try:
            _wait(handle, out)
            if _is_at(path, handle):
                os.ftruncate(handle, 0)
                os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _is_at(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _wait(handle: int, out: Path) -> None:
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            _say(f"{out}: {error.strerror}, so nothing keeps two runs apart here; start one at a time")
            return
        if error.errno not in _BUSY:
            raise
        _say(f"{out}: {_holder(handle)} is writing there; waiting until it ends (Ctrl-C to give up)")
        fcntl.lockf(handle, fcntl.LOCK_EX)


def _holder(handle: int) -> str:
    """Return who has the lock; it may not have written its name yet."""
    return os.pread(handle, 200, 0).decode("utf-8", "replace").strip() or "another process"


def _say(text: str) -> None:
    print(printable(f"ingest: {text}"), file=sys.stderr, flush=True)
