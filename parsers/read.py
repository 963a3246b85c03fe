"""A log to its sessions: columns of observations, facts, and where each came from.

Readings run over whole chunks with the pattern engine; no line is handled one by one in Python.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from parsers.clock import clocks
from parsers.contract import Format, Reading
from parsers.decimals import floats
from parsers.detect import HEAD_CHUNKS, Claim, claims, probes
from parsers.outcome import Ending, ending
from parsers.scan import Chunk, Noise, ScanError, chunks, clean, open_log

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]

FACTS_HEAD = 1 << 20
FACTS_TAIL = 1 << 16
CHUNKS_KEPT = 3
#: Columns of whole numbers, which take half the room while they wait.
WHOLE = frozenset({"epoch", "step"})


@dataclass(frozen=True)
class Quoted:
    """A fact as the log states it, and the line that does."""

    value: int | str
    line: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Where a chunk lies in the (unpacked) file, so that it can be read again."""

    first_line: int
    offset: int
    bytes: int


class Source:
    """The file, for second looks: line numbers and facts are found again, since keeping them would fill the memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: dict[Stretch, Chunk] = {}

    def chunk(self, stretch: Stretch) -> Chunk:
        """A chunk as it was read before; the last few are kept."""
        if stretch not in self._seen:
            with open_log(self.path) as stream:
                stream.seek(stretch.offset)
                raw = (stream.read(stretch.bytes), stretch.first_line, stretch.offset, 0)
            while len(self._seen) >= CHUNKS_KEPT:
                del self._seen[next(iter(self._seen))]
            self._seen[stretch] = next(clean(iter([raw]), Noise()))
        return self._seen[stretch]


@dataclass
class Table:
    """All records of one reading in one file, as float64 columns of one length."""

    source: Source
    reading: Reading
    rows: int = 0
    parts: dict[str, list[Column]] = field(default_factory=dict)
    #: Ranks of each stretch's rows, empty where its chunk was not tagged.
    ranks: list[Column] = field(default_factory=list)
    #: (first row, where it was read) of every chunk with records.
    stretches: list[tuple[int, Stretch]] = field(default_factory=list)

    def column(self, name: str, rows: slice) -> Column:
        """A column over a slice of rows."""
        import numpy as np

        return _slice(self.parts[name], rows, self.stretches).astype(np.float64, copy=False)

    def rank(self, rows: slice) -> Column:
        """The rank that printed each row; all 0 where nothing was tagged."""
        import numpy as np

        if not any(map(len, self.ranks)):
            return np.zeros(rows.stop - rows.start)
        sizes = [len(each) for each in next(iter(self.parts.values()))]
        parts = [part if len(part) else np.zeros(size) for part, size in zip(self.ranks, sizes, strict=True)]
        return _slice(parts, rows, self.stretches)

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Line numbers of some rows; their chunks are read again, since a number per row would fill the memory."""
        wanted = {row: self._stretch(row) for row in rows}
        found: dict[int, int] = {}
        for first, stretch in set(wanted.values()):
            numbers = _lines_of(self.source.chunk(stretch), self.reading)
            found |= {row: numbers[row - first] for row, (at, _) in wanted.items() if at == first}
        return [found[row] for row in rows]

    def _stretch(self, row: int) -> tuple[int, Stretch]:
        return self.stretches[bisect_right(self.stretches, row, key=lambda each: each[0]) - 1]


@dataclass(frozen=True, slots=True)
class Records:
    """One session's rows of a table."""

    table: Table
    first: int
    last: int

    def __len__(self) -> int:
        """Number of records."""
        return self.last - self.first

    @property
    def reading(self) -> Reading:
        """What the columns mean."""
        return self.table.reading

    def __contains__(self, name: str) -> bool:
        """Whether the printer prints that column."""
        return name in self.table.parts

    def __getitem__(self, name: str) -> Column:
        """A column, one float64 per record, in file order."""
        return self.table.column(name, slice(self.first, self.last))

    def ranks(self) -> Column:
        """The rank that printed each record."""
        return self.table.rank(slice(self.first, self.last))

    def lines(self, indices: Sequence[int]) -> list[int]:
        """Line numbers of some records, counted from 0 within the session."""
        return self.table.lines([self.first + each for each in indices])


@dataclass(frozen=True, slots=True)
class Extent:
    """A part of a chunk's clean text."""

    stretch: Stretch
    begin: int
    end: int


@dataclass(frozen=True)
class Session:
    """One start-to-end execution inside a log file."""

    number: int
    format: Format
    records: tuple[Records, ...]
    first_line: int
    last_line: int
    source: Source = field(repr=False)
    head: tuple[Extent, ...] = field(repr=False)
    tail: tuple[Extent, ...] = field(repr=False)

    @property
    def main(self) -> Records:
        """Records of the format's main reading."""
        return self.records[0]

    @cached_property
    def facts(self) -> dict[str, Quoted]:
        """Facts by name; of several patterns for one fact, the first that states it."""
        beyond = self.tail if sum(each.end - each.begin for each in self.head) >= FACTS_HEAD else ()
        return dict(_facts(self.format, [self._text(each) for each in (*self.head, *beyond)]))

    @cached_property
    def ending(self) -> Ending:
        """How it ended, as far as its last lines say."""
        texts = [self._text(each) for each in self.tail]
        tail, line = b"".join(text for text, _ in texts), texts[0][1] if texts else self.first_line
        end = self.format.end_regex
        return ending(tail, line, bool(end.search(tail)) if end else None, sum(map(len, self.records)))

    def _text(self, extent: Extent) -> tuple[bytes, int]:
        chunk = self.source.chunk(extent.stretch)
        return chunk.text[extent.begin : extent.end], chunk.line_of(extent.begin)


@dataclass(frozen=True)
class Log:
    """What could be read of a file: the claims, and its sessions where exactly one format claims it."""

    path: Path
    claims: tuple[Claim, ...]
    sessions: tuple[Session, ...]
    noise: Noise
    lines: int
    #: Number of a last line that was cut while a record was being written, 0 where none was.
    cut_line: int = 0


def read(path: Path) -> Log:
    """Read a log.

    Raises:
        ScanError: the path is no readable, non-empty, regular file.
    """
    noise = Noise()
    stream = chunks(path, noise)
    head = list(islice(stream, HEAD_CHUNKS))
    rest = probes(path, path.stat().st_size) if len(head) == HEAD_CHUNKS else ()
    found = tuple(claims(chain(head, rest)))
    if len(found) != 1:
        return Log(path, found, (), noise, sum(each.lines for each in head))
    reader = _Reader(path, found[0].format)
    sessions = tuple(reader.sessions(chain(head, stream)))
    return Log(path, found, sessions, noise, reader.last_line, reader.cut_line())


def _slice(parts: list[Column], rows: slice, stretches: list[tuple[int, Stretch]]) -> Column:
    import numpy as np

    begin = max(0, bisect_right(stretches, rows.start, key=lambda each: each[0]) - 1)
    end = bisect_left(stretches, rows.stop, key=lambda each: each[0])
    touched = [
        part[max(0, rows.start - first) : rows.stop - first]
        for part, (first, _) in zip(parts[begin:end], stretches[begin:end], strict=True)
    ]
    return np.concatenate(touched) if touched else np.empty(0)


def _narrow(column: Column) -> Column:
    """Whole numbers in four bytes each, where they fit; they come out of the table as they went in."""
    import numpy as np

    narrow = column.astype(np.int32) if np.isfinite(column).all() and (np.abs(column) < 2**31).all() else column
    return narrow if (narrow == column).all() else column  # type: ignore[return-value]


def _lines_of(chunk: Chunk, reading: Reading) -> list[int]:
    """Line number of every record in a chunk."""
    lines, line, position = [], chunk.first_line, 0
    for match in reading.regex.finditer(chunk.text):
        line, position = line + chunk.text.count(b"\n", position, match.start()), match.start()
        lines.append(line)
    return lines


def _facts(format: Format, texts: list[tuple[bytes, int]]) -> Iterator[tuple[str, Quoted]]:
    stated: set[str] = set()
    for fact in format.facts:
        for text, line in texts if fact.name not in stated else ():
            match = fact.regex.search(text)
            value = fact.value(match[1]) if match else None
            if match and value is not None:
                stated.add(fact.name)
                yield fact.name, Quoted(value, line + text.count(b"\n", 0, match.start(1)))
                break


@dataclass(frozen=True)
class _Piece:
    """A stretch of a chunk's text that belongs to one session, and whether that begins with it."""

    begin: int
    end: int
    first_line: int
    lines: int
    starts: bool


@dataclass
class _Open:
    """A session that is still being read."""

    first_line: int
    started: bool
    rows: list[int]
    head: list[Extent] = field(default_factory=list)
    head_bytes: int = 0
    tail: list[Extent] = field(default_factory=list)
    last_line: int = 0


class _Reader:
    """One pass over the chunks of a file, for one format."""

    def __init__(self, path: Path, format: Format) -> None:
        self.format = format
        self.source = Source(path)
        self.tables = tuple(Table(self.source, each) for each in format.readings)
        self.last_line = 0
        self._last_text = b""

    def cut_line(self) -> int:
        """The last line's number if it begins like a record, has no end, and could not be read as one; else 0.

        Digits apart, a cut record is a prefix of the record before it.
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
        """Sessions in order; the tables are complete only when the iterator is exhausted."""
        current = _Open(1, False, self._rows())
        closed: list[Session] = []
        for chunk in stream:
            pending: list[list[tuple[bytes, ...]]] = [[] for _ in self.tables]
            for piece in self._pieces(chunk):
                if piece.starts and (current.started or any(self._count(current, pending))):
                    closed.append(self._close(current, len(closed) + 1, self._rows(pending)))
                    current = _Open(piece.first_line, True, self._rows(pending))
                current.started |= piece.starts
                self._feed(current, chunk, piece, pending)
            self._store(chunk, pending)
            self._last_text = chunk.text
            self.last_line = chunk.first_line + chunk.lines - chunk.text.endswith(b"\n")
        closed.append(self._close(current, len(closed) + 1, self._rows()))
        yield from closed

    def _rows(self, pending: Sequence[Sequence[object]] = ()) -> list[int]:
        """Rows read so far, of each table."""
        extra = [len(each) for each in pending] or [0] * len(self.tables)
        return [table.rows + more for table, more in zip(self.tables, extra, strict=True)]

    def _count(self, current: _Open, pending: Sequence[Sequence[object]]) -> list[int]:
        return [now - before for now, before in zip(self._rows(pending), current.rows, strict=True)]

    def _pieces(self, chunk: Chunk) -> Iterator[_Piece]:
        """The chunk cut where the program starts; whole, mostly."""
        at = self.format.starts(chunk.text)
        line, edges = chunk.first_line, [*([] if 0 in at else [0]), *at, len(chunk.text)]
        for begin, end in pairwise(edges):
            lines = chunk.lines if len(edges) == 2 else chunk.text.count(b"\n", begin, end)
            yield _Piece(begin, end, line, lines, begin in at)
            line += lines

    def _feed(self, current: _Open, chunk: Chunk, piece: _Piece, pending: list[list[tuple[bytes, ...]]]) -> None:
        for table, rows in zip(self.tables, pending, strict=True):
            found = table.reading.regex.findall(chunk.text, piece.begin, piece.end)
            rows.extend(found if table.reading.regex.groups > 1 else ((each,) for each in found))
        ended = chunk.text[piece.end - 1 : piece.end] == b"\n"
        current.last_line = piece.first_line + piece.lines - ended
        stretch = Stretch(chunk.first_line, chunk.offset, chunk.bytes)
        if current.head_bytes < FACTS_HEAD:
            current.head.append(Extent(stretch, piece.begin, piece.end))
            current.head_bytes += piece.end - piece.begin
        current.tail = [*current.tail[-1:], Extent(stretch, max(piece.begin, piece.end - FACTS_TAIL), piece.end)]

    def _store(self, chunk: Chunk, pending: list[list[tuple[bytes, ...]]]) -> None:
        import numpy as np

        for table, rows in zip(self.tables, pending, strict=True):
            if not rows:
                continue
            table.stretches.append((table.rows, Stretch(chunk.first_line, chunk.offset, chunk.bytes)))
            for name, printed in zip(table.reading.columns, zip(*rows, strict=True), strict=True):
                convert = clocks if name == "clock" else floats
                column = convert(printed)
                table.parts.setdefault("clock" if name == "unix" else name, []).append(
                    _narrow(column) if name in WHOLE else column
                )
            table.ranks.append(np.asarray(_ranks(table.reading, chunk) if chunk.tags else (), dtype=np.float64))
            table.rows += len(rows)

    def _close(self, current: _Open, number: int, rows: list[int]) -> Session:
        """The finished session; `rows` are the rows read by now, of each table."""
        records = tuple(
            Records(table, first, last) for table, first, last in zip(self.tables, current.rows, rows, strict=True)
        )
        extents = tuple(current.head), tuple(current.tail)
        return Session(number, self.format, records, current.first_line, current.last_line, self.source, *extents)


def _shape(line: bytes) -> bytes:
    """A line without what differs between records: digits, and the spaces that align them."""
    return line.translate(None, b"0123456789 \t-+.")


def _ranks(reading: Reading, chunk: Chunk) -> list[int]:
    return chunk.ranks([match.start() for match in reading.regex.finditer(chunk.text)])


__all__ = ["Log", "Quoted", "Records", "ScanError", "Session", "Table", "read"]
