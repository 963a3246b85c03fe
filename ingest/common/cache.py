"""A cache of what is dear to make, by content: one SQLite file that may be lost, locked or broken at any time.

Keys are hashes of all that a value is made of, so that a value is never old. Each value is stored with its checksum.
Whatever is wrong with the file costs time and nothing else.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

MOST_BYTES = 512 << 20
_FLUSHED_ABOVE = 16 << 20
_SCHEMA = "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value BLOB, checksum BLOB, used INTEGER)"
#: Those used last stay, as many as fit.
_EVICT = """DELETE FROM entries WHERE key IN (SELECT key FROM (
    SELECT key, SUM(LENGTH(value)) OVER (ORDER BY used DESC, key) AS total FROM entries) WHERE total > ?)"""


def key_of(*parts: str) -> str:
    """Hash the texts that a value is made of; the order and the borders between them count."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


class Cache:
    """Bytes by key; used as a context manager, which writes what was put and drops what was used longest ago."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES, *, read_only: bool = False) -> None:
        """Open the file; `read_only` neither makes nor changes it: what is put stays in `new`."""
        self.path, self.most_bytes, self.read_only = path, most_bytes, read_only
        #: What was put and is not in the file yet.
        self.new: dict[str, bytes] = {}
        self._used: set[str] = set()
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
        """The value that was put under the key; None where there is none, or where it is damaged."""
        if key in self.new or self._connection is None:
            return self.new.get(key)
        try:
            with closing(self._connection.execute("SELECT value, checksum FROM entries WHERE key = ?", (key,))) as rows:
                found = rows.fetchone()
        except sqlite3.Error:
            return None
        if found is None or _checksum(found[0]) != found[1]:
            return None
        self._used.add(key)
        return bytes(found[0])

    def put(self, key: str, value: bytes) -> None:
        """Keep a value; it is written at the end, or once there is much to write."""
        self.new[key] = value
        if sum(map(len, self.new.values())) > _FLUSHED_ABOVE:
            self._flush()

    def made(self, key: str, make: Callable[[], bytes]) -> bytes:
        """The value under the key, made and put where there is none."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def _opened(self) -> sqlite3.Connection | None:
        """The file's connection, the file made anew where it is broken; None where it cannot be had."""
        if self.read_only and not self.path.is_file():
            return None
        for _ in range(2):
            with suppress(OSError, sqlite3.OperationalError):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(self.path, timeout=10)
                try:
                    if not self.read_only:
                        connection.execute(_SCHEMA)
                    connection.execute("SELECT key, value, checksum, used FROM entries LIMIT 1")
                except sqlite3.OperationalError as error:  # another's lock or a full disk: the file is not to blame
                    connection.close()
                    if "no such column" not in str(error):
                        return None
                except sqlite3.DatabaseError:
                    connection.close()
                else:
                    return connection
                if self.read_only:
                    return None
                self.path.unlink(missing_ok=True)
        return None

    def _flush(self) -> None:
        if self.read_only:
            return
        new, self.new = self.new, {}
        if self._connection is None or not (new or self._used):
            return
        now = int(time.time())
        try:
            with self._connection as connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)",
                    [(key, value, _checksum(value), now) for key, value in new.items()],
                )
                connection.executemany("UPDATE entries SET used = ? WHERE key = ?", [(now, key) for key in self._used])
                if new:
                    connection.execute(_EVICT, (self.most_bytes,))
        except sqlite3.Error:
            pass  # another run writes, or the disk is full: these values are made again


def _checksum(value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=16).digest()
