"""Read a log into its sessions, in one pass over its chunks; no Python code runs per line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import NamedTuple

from parsers.contract import Format
from parsers.contract.chunk import Chunk
from parsers.engine.detect import HEAD_CHUNKS, Claim, claims, probes
from parsers.engine.scan import Noise, chunks
from parsers.engine.session import FACTS_HEAD, FACTS_TAIL, Extent, Session
from parsers.engine.table import LogSource, ReadingTable, SessionRecords, Stretch


@dataclass(frozen=True)
class Log:
    """The claims on a file, and its sessions where exactly one format claims it."""

    path: Path
    claims: tuple[Claim, ...]
    sessions: tuple[Session, ...]
    noise: Noise
    lines: int
    #: Number of a last line that was cut while a record was being written, 0 where none was.
    cut_line: int = 0


def read(path: Path, format: Format | None = None) -> Log:
    """Read a log with the one format that claims it.

    Args:
        path: the log.
        format: the format to read it with, whichever claims it.

    Raises:
        ScanError: the path is no readable, non-empty, regular file.
    """
    noise = Noise()
    stream = chunks(path, noise)
    head = list(islice(stream, HEAD_CHUNKS))
    rest = probes(path, path.stat().st_size) if len(head) == HEAD_CHUNKS else ()
    found = tuple(claims(chain(head, rest)))
    if format is None and len(found) != 1:
        return Log(path, found, (), noise, sum(each.lines for each in head))
    reader = _LogReader(path, format or found[0].format)
    sessions = tuple(reader.sessions(chain(head, stream)))
    return Log(path, found, sessions, noise, reader.last_line, reader.cut_line())


class _Piece(NamedTuple):
    """A stretch of a chunk's text that belongs to one session, and whether that begins with it."""

    begin: int
    end: int
    starts: bool


@dataclass
class _OpenSession:
    """A session that is still being read."""

    started: bool
    rows: list[int]
    head: list[Extent] = field(default_factory=list)
    head_bytes: int = 0
    tail: list[Extent] = field(default_factory=list)


class _LogReader:
    """One pass over the chunks of a file, for one format."""

    def __init__(self, path: Path, format: Format) -> None:
        self.format = format
        self.source = LogSource(path)
        self.tables = tuple(ReadingTable(self.source, each) for each in format.readings)
        self.last_line = 0
        self._last_text = b""
        #: How often each rank has announced itself, and how many starts of the program that made.
        self._started: Counter[int] = Counter()
        self._starts_kept = 0

    def cut_line(self) -> int:
        """Return the number of the last line if it is a record that was cut before it could be read; else 0.

        A cut record is a prefix of the record before it, apart from the digits.
        """
        rest = self._last_text.rpartition(b"\n")[2]
        before = self._last_text[: len(self._last_text) - len(rest)]
        if not rest.strip() or any(table.reading.regex.search(rest) for table in self.tables):
            return 0
        found = [match for table in self.tables for match in table.reading.regex.finditer(before)]
        if not found:
            return 0
        last = max(found, key=lambda each: each.start())
        line = before[before.rfind(b"\n", 0, last.start()) + 1 : last.end()]
        return self.last_line if _shape(line).startswith(_shape(rest)) else 0

    def sessions(self, stream: Iterable[Chunk]) -> Iterator[Session]:
        """Yield the sessions in order; the tables are complete only when the iterator is exhausted."""
        current = _OpenSession(False, self._rows())
        closed: list[Session] = []
        for chunk in stream:
            pending: list[list[re.Match[bytes]]] = [[] for _ in self.tables]
            stretch = Stretch(chunk.first_line, chunk.offset, chunk.bytes)
            for piece in self._pieces(chunk):
                if piece.starts and (current.started or any(self._count(current, pending))):
                    rows_now = self._rows(pending)
                    closed.append(self._close(current, len(closed) + 1, rows_now))
                    current = _OpenSession(True, rows_now)
                current.started |= piece.starts
                self._feed(current, chunk.text, stretch, piece, pending)
            for table, rows in zip(self.tables, pending, strict=True):
                table.store(chunk, rows)
            self._last_text = chunk.text
            self.last_line = chunk.first_line + chunk.lines - chunk.text.endswith(b"\n")
        closed.append(self._close(current, len(closed) + 1, self._rows()))
        yield from closed

    def _rows(self, pending: Sequence[Sequence[object]] = ()) -> list[int]:
        """Return how many rows of each table are read so far."""
        extra = [len(each) for each in pending] or [0] * len(self.tables)
        return [table.rows + more for table, more in zip(self.tables, extra, strict=True)]

    def _count(self, current: _OpenSession, pending: Sequence[Sequence[object]]) -> list[int]:
        return [now - before for now, before in zip(self._rows(pending), current.rows, strict=True)]

    def _pieces(self, chunk: Chunk) -> Iterator[_Piece]:
        """Cut the chunk where the program starts; most chunks stay whole."""
        # A session begins with the line on which the program announces itself, not inside it.
        at = sorted({chunk.text.rfind(b"\n", 0, each) + 1 for each in self._starts(chunk)})
        edges = [*([] if 0 in at else [0]), *at, len(chunk.text)]
        for begin, end in pairwise(edges):
            yield _Piece(begin, end, begin in at)

    def _starts(self, chunk: Chunk) -> list[int]:
        """Return where the program starts; where every rank announces itself, only the first that does so again."""
        found = self.format.starts(chunk.text)
        if not (found and chunk.tags):
            return found
        kept = []
        for at, rank in zip(found, chunk.ranks(found), strict=True):
            self._started[rank] += 1
            if self._started[rank] > self._starts_kept:
                self._starts_kept += 1
                kept.append(at)
        return kept

    def _feed(
        self,
        current: _OpenSession,
        text: bytes,
        stretch: Stretch,
        piece: _Piece,
        pending: list[list[re.Match[bytes]]],
    ) -> None:
        for table, rows in zip(self.tables, pending, strict=True):
            if text.find(table.reading.marker, piece.begin, piece.end) < 0:
                continue
            rows.extend(table.reading.regex.finditer(text, piece.begin, piece.end))
        if current.head_bytes < FACTS_HEAD:
            current.head.append(Extent(stretch, piece.begin, piece.end))
            current.head_bytes += piece.end - piece.begin
        tail = Extent(stretch, max(piece.begin, piece.end - FACTS_TAIL), piece.end)
        # Either two adjacent extents, or one that is long enough: a gap between them would make line numbers wrong.
        current.tail = [tail] if tail.end - tail.begin == FACTS_TAIL else [*current.tail[-1:], tail]

    def _close(self, current: _OpenSession, number: int, rows: list[int]) -> Session:
        """Close the session; `rows` are the numbers of rows read by now, of each table."""
        records = tuple(
            SessionRecords(table, first, last)
            for table, first, last in zip(self.tables, current.rows, rows, strict=True)
        )
        extents = tuple(current.head), tuple(current.tail)
        return Session(number, self.format, records, self.source, *extents).without_unmet_readings()


def _shape(line: bytes) -> bytes:
    """Remove from a line what differs between records: digits, and the spaces that align them."""
    return line.translate(None, b"0123456789 \t-+.")
