"""The names of hosts and users that a log prints, for all that is published of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from perfledger.parsers.engine.scan import ScanError, check, open_log, unstyled
from perfledger.schema.redaction.names import NO_NAMES, Names, names_in

#: Bytes that are searched: a log prints its names early. A later name is removed only if a rule finds it.
_READ = 8 << 20
#: Bytes that are read at once.
_PIECE = 1 << 16
#: A longer line is read in pieces.
_LONGEST_LINE = 1 << 14


@lru_cache(maxsize=4)
def names_of(path: Path, sha256: str) -> Names:
    """Return the names that a log prints, in order of appearance; empty for a file that cannot be read.

    Its hash is for the cache of calls alone.
    """
    try:
        return names_in(_pieces(path))
    except (OSError, EOFError, ValueError, ScanError):
        return NO_NAMES


def _pieces(path: Path) -> Iterator[str]:
    left = _READ
    check(path)  # A pipe is never opened.
    with open_log(path) as stream:
        while left > 0 and (data := stream.read(min(_PIECE, left)) + stream.readline(_LONGEST_LINE)):
            left -= len(data)
            yield unstyled(data).decode("utf-8", "replace")
