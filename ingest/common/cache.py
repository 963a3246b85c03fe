"""A content-addressed cache of expensive results: one SQLite file that may be lost, locked or damaged at any time.

A key is a hash of everything that a value depends on, so a value is never stale. Each value has a checksum.
A fault of the file costs only time. The file may even come from someone else, so neither its content nor a file next to
it may lead SQLite to other files. Readers check the values themselves.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

#: Bytes of all values in the file, at most.
MOST_BYTES = 512 << 20
#: Bytes of pending values above which they are written.
_FLUSHED_ABOVE = 16 << 20
#: Bytes of a value that is worth packing, at least.
_SHORT = 1 << 10
#: Bytes of an unpacked value, at most.
_MOST_UNPACKED = 1 << 30
_GET = "SELECT value, checksum FROM entries WHERE key = ?"
_TABLE = "entries (key TEXT PRIMARY KEY, value BLOB, checksum BLOB, made INTEGER)"
#: Endings of files next to the database that SQLite obeys: a journal may name any file, which SQLite then removes, and
#: SQLite writes through a link. We do not write them: an interrupted change costs the file, but never a wrong value.
_OBEYED = ("-journal", "-wal", "-shm")
#: Remove the oldest values until the rest fits.
_EVICT = """DELETE FROM entries WHERE key IN (SELECT key FROM (
    SELECT key, SUM(LENGTH(value)) OVER (ORDER BY made DESC, key) AS total FROM entries) WHERE total > ?)"""


def key_of(*parts: str) -> str:
    """Hash the texts that a value depends on; their order and the borders between them count."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def packed(value: bytes) -> bytes:
    """Compress a value, which makes lines of the ledger six times smaller; a short one is only marked."""
    return b"=" + value if len(value) < _SHORT else b"z" + zlib.compress(value, 1)


def unpacked(value: bytes) -> bytes:
    """Return the original of a packed value.

    Raises:
        zlib.error: it is not a packed value, or is too large.
    """
    if value[:1] == b"=":
        return value[1:]
    reader = zlib.decompressobj()
    found = reader.decompress(value[1:], _MOST_UNPACKED)
    if value[:1] != b"z" or not reader.eof:
        raise zlib.error("cut off, or too large")
    return found


class Cache:
    """Bytes by key. As a context manager, it writes new values at the end and drops the oldest ones."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES, *, read_only: bool = False) -> None:
        """Open the file; `read_only` neither makes nor changes it, and new values stay in `new`."""
        self.path, self.most_bytes, self.read_only = path, most_bytes, read_only
        #: New values that are not in the file yet, packed.
        self.new: dict[str, bytes] = {}
        self._pending = 0
        self._connection = self._opened()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flush()
        if self._connection:
            self._connection.close()

    def get(self, key: str) -> bytes | None:
        """Return the value stored under the key; None if it is missing or damaged."""
        if key in self.new:
            return unpacked(self.new[key])
        if self._connection is None:
            return None
        try:
            with closing(self._connection.execute(_GET, (key,))) as rows:
                found = rows.fetchone()
        except sqlite3.Error:
            return None
        if found is None or not isinstance(found[0], bytes) or _checksum(key, found[0]) != found[1]:
            return None
        try:
            return unpacked(found[0])
        except zlib.error:
            return None

    def put(self, key: str, value: bytes) -> None:
        """Store a value; it is written on exit, or earlier if much is pending."""
        self.keep({key: packed(value)})

    def keep(self, new: Mapping[str, bytes]) -> None:
        """Store the `new` values of another cache."""
        self.new |= new
        self._pending += sum(map(len, new.values()))
        if self._pending > _FLUSHED_ABOVE:
            self._flush()

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> bytes:
        """Return the value under the key, computing and storing it if it is missing."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def _opened(self) -> sqlite3.Connection | None:
        """Return the connection, replacing a file that is damaged or not ours; None if the file cannot be opened."""
        if self.read_only and (not self.path.is_file() or any(map(os.path.lexists, self._dangerous()))):
            return None
        for _ in range(2):
            with suppress(OSError, sqlite3.OperationalError):
                if not self.read_only:
                    self.path.parent.mkdir(parents=True, exist_ok=True)
                    self._remove(self._dangerous())
                connection = sqlite3.connect(self.path, timeout=10)
                try:
                    if self._is_ours(connection):
                        return connection
                    connection.close()
                except sqlite3.OperationalError:  # locked by another run, or a full disk: the file is intact
                    connection.close()
                    return None
                except sqlite3.DatabaseError:
                    connection.close()
                if self.read_only:
                    return None
                self._remove([self.path])
        return None

    def _dangerous(self) -> list[Path]:
        """Return the files that SQLite must not find: those that it would obey, and a link to another file."""
        obeyed = [self.path.with_name(self.path.name + each) for each in _OBEYED]
        return [self.path, *obeyed] if self.path.is_symlink() else obeyed

    def _remove(self, paths: Iterable[Path]) -> None:
        for path in paths:
            path.unlink(missing_ok=True)

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """Return whether the file contains exactly our table; an empty file gets the table."""
        connection.execute("PRAGMA journal_mode = MEMORY")
        schema = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
        if not self.read_only and not connection.execute(schema).fetchall():
            connection.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE}")
        return connection.execute(schema).fetchall() == [(f"CREATE TABLE {_TABLE}",)]

    def _flush(self) -> None:
        if self.read_only:
            return
        new, self.new, self._pending = self.new, {}, 0
        if self._connection is None or not new:
            return
        now = int(time.time())
        try:
            with self._connection as connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)",
                    [(key, value, _checksum(key, value), now) for key, value in new.items()],
                )
                connection.execute(_EVICT, (self.most_bytes,))
        except sqlite3.Error:
            pass  # another run is writing, or the disk is full: the values are computed again next time


def _checksum(key: str, value: bytes) -> bytes:
    """Return the checksum of an entry. It includes the key, since a damaged index may lead to another entry."""
    return hashlib.blake2b(value, digest_size=16, key=hashlib.sha256(key.encode("utf-8", "replace")).digest()).digest()
