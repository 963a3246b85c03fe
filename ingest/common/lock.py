"""Let only one run at a time write into a folder of pages; a second one waits for the first, and says so."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from perfledger.ingest.common.errors import UsageError, printable
from perfledger.ingest.common.files import notes


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Lock a folder of pages until the end of the block; wait while another process has the lock.

    The lock ends with the process, however that ends. Its file stays, but is not a lock by itself.

    Raises:
        UsageError: the file of the lock cannot be written.
    """
    path = notes(out) / "lock"
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            waits = f"ingest: {out}: another process is writing there; waiting until it ends (Ctrl-C to give up)"
            print(printable(waits), file=sys.stderr, flush=True)
            lock.acquire()
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror}; it keeps two runs that write into {out} apart, so nothing was written: "
            "make its folder writable, or give another --out"
        ) from None
    try:
        yield
    finally:
        lock.release()
