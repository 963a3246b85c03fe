"""A log to its sessions: columns of observations, facts, and where each came from.

Readings run over whole chunks with the pattern engine; no line is handled one by one in Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Quoted:
    """A fact as the log states it, and the line that does."""

    value: int | str
    line: int


@dataclass(frozen=True)
class Stretch:
    """Where the records of one chunk begin: row in the table, line and byte in the file."""

    row: int
    first_line: int
    offset: int
    bytes: int


@dataclass
class Table:
    """All records of one reading in one file, as float64 columns of one length."""

    path: Path
    reading: Reading
    rows: int = 0
    parts: dict[str, list[Column]] = field(default_factory=dict)
    ranks: list[Column] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)
    tagged: bool = False

    def column(self, name: str, rows: slice) -> Column:
        """A column over a slice of rows."""
        return _slice(self.parts[name], rows, self.stretches)

    def rank(self, rows: slice) -> Column:
        """The rank that printed each row; all 0 where nothing was tagged."""
        return _slice(self.ranks, rows, self.stretches)

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Line numbers of some rows; their chunks are read again, since a number per row would fill the memory."""
        wanted = {row: self._stretch(row) for row in rows}
        found: dict[int, int] = {}
        for stretch in set(wanted.values()):
            numbers = _lines_of(self.path, self.reading, stretch)
            found |= {row: numbers[row - stretch.row] for row, at in wanted.items() if at is stretch}
        return [found[row] for row in rows]

    def _stretch(self, row: int) -> Stretch:
        return next(each for each in reversed(self.stretches) if each.row <= row)


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Session:
    """One start-to-end execution inside a log file."""

    number: int
    format: Format
    records: tuple[Records, ...]
    facts: dict[str, Quoted]
    first_line: int
    last_line: int
    ending: Ending

    @property
    def main(self) -> Records:
        """Records of the format's main reading."""
        return self.records[0]


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


def _slice(parts: list[Column], rows: slice, stretches: list[Stretch]) -> Column:
    import numpy as np

    touched = [
        part[max(0, rows.start - at.row) : rows.stop - at.row]
        for part, at in zip(parts, stretches, strict=True)
        if at.row < rows.stop and at.row + len(part) > rows.start
    ]
    if len(touched) == 1:
        return touched[0]
    return np.concatenate(touched) if touched else np.empty(0)


def _lines_of(path: Path, reading: Reading, stretch: Stretch) -> list[int]:
    with open_log(path) as stream:
        stream.seek(stretch.offset)
        raw = (stream.read(stretch.bytes), stretch.first_line, stretch.offset)
    chunk = next(clean(iter([raw]), Noise()))
    lines, line, position = [], chunk.first_line, 0
    for match in reading.regex.finditer(chunk.text):
        line, position = line + chunk.text.count(b"\n", position, match.start()), match.start()
        lines.append(line)
    return lines


@dataclass
class _Open:
    """A session that is still being read."""

    first_line: int
    started: bool
    rows: list[int]
    head: list[tuple[bytes, int]] = field(default_factory=list)
    head_bytes: int = 0
    tail: list[tuple[bytes, int]] = field(default_factory=list)
    last_line: int = 0
    ended: bool = False


class _Reader:
    """One pass over the chunks of a file, for one format."""

    def __init__(self, path: Path, format: Format) -> None:
        self.format = format
        self.tables = tuple(Table(path, each) for each in format.readings)
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
            for begin, end, starts in self._pieces(chunk):
                if starts and (current.started or any(self._count(current, pending))):
                    closed.append(self._close(current, len(closed) + 1, self._rows(pending)))
                    current = _Open(chunk.line_of(begin), True, self._rows(pending))
                current.started |= starts
                self._feed(current, chunk, begin, end, pending)
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

    def _pieces(self, chunk: Chunk) -> Iterator[tuple[int, int, bool]]:
        """(begin, end, whether a start stands at begin), covering the chunk."""
        starts = self.format.start_regex
        at = [match.start() for match in starts.finditer(chunk.text)] if starts else []
        edges = [*([0] if 0 not in at else []), *at, len(chunk.text)]
        for begin, end in pairwise(edges):
            yield begin, end, begin in at

    def _feed(self, current: _Open, chunk: Chunk, begin: int, end: int, pending: list[list[tuple[bytes, ...]]]) -> None:
        for table, rows in zip(self.tables, pending, strict=True):
            found = table.reading.regex.findall(chunk.text, begin, end)
            rows.extend(found if table.reading.regex.groups > 1 else ((each,) for each in found))
        current.last_line = chunk.line_of(end) - (chunk.text[end - 1 : end] == b"\n")
        if current.head_bytes < FACTS_HEAD:
            current.head.append((chunk.text[begin:end], chunk.line_of(begin)))
            current.head_bytes += end - begin
        begin = max(begin, end - FACTS_TAIL)
        current.tail = [*current.tail[-1:], (chunk.text[begin:end], chunk.line_of(begin))]

    def _store(self, chunk: Chunk, pending: list[list[tuple[bytes, ...]]]) -> None:
        import numpy as np

        for table, rows in zip(self.tables, pending, strict=True):
            if not rows:
                continue
            table.stretches.append(Stretch(table.rows, chunk.first_line, chunk.offset, chunk.bytes))
            for name, printed in zip(table.reading.columns, zip(*rows, strict=True), strict=True):
                convert = clocks if name == "clock" else floats
                table.parts.setdefault("clock" if name == "unix" else name, []).append(convert(printed))
            table.ranks.append(
                np.asarray(_ranks(table.reading, chunk), dtype=np.float64) if chunk.tags else np.zeros(len(rows))
            )
            table.rows += len(rows)

    def _close(self, current: _Open, number: int, rows: list[int]) -> Session:
        """The finished session; `rows` are the rows read by now, of each table."""
        records = tuple(
            Records(table, first, last) for table, first, last in zip(self.tables, current.rows, rows, strict=True)
        )
        tail, line = b"".join(text for text, _ in current.tail), current.tail[0][1] if current.tail else 1
        end = self.format.end_regex
        ended = bool(end.search(tail)) if end else None
        facts = dict(self._facts([*current.head, *current.tail]))
        state = ending(tail, line, ended, sum(map(len, records)))
        return Session(number, self.format, records, facts, current.first_line, current.last_line, state)

    def _facts(self, texts: list[tuple[bytes, int]]) -> Iterator[tuple[str, Quoted]]:
        """The first statement of every fact; of several patterns for one fact, the first that states it."""
        stated: set[str] = set()
        for fact in self.format.facts:
            for text, line in texts if fact.name not in stated else ():
                match = fact.regex.search(text)
                value = fact.value(match[1]) if match else None
                if match and value is not None:
                    stated.add(fact.name)
                    yield fact.name, Quoted(value, line + text.count(b"\n", 0, match.start(1)))
                    break


def _shape(line: bytes) -> bytes:
    """A line without what differs between records: digits, and the spaces that align them."""
    return line.translate(None, b"0123456789 \t-+.")


def _ranks(reading: Reading, chunk: Chunk) -> list[int]:
    return chunk.ranks([match.start() for match in reading.regex.finditer(chunk.text)])


__all__ = ["Log", "Quoted", "Records", "ScanError", "Session", "Table", "read"]
