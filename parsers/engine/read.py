"""Read a log into its sessions, in one pass over its chunks; no Python code runs per line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from perfledger.parsers.contract import Format, Reading, Record
from perfledger.parsers.contract.chunk import Chunk, newlines
from perfledger.parsers.engine.detect import HEAD_CHUNKS, Claim, claims, probes
from perfledger.parsers.engine.openings import Announcement, opening, shape
from perfledger.parsers.engine.registry import frames
from perfledger.parsers.engine.scan import CHUNK, Noise, chunks
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.statements import LikelyStatements, Piece, StatementCollector, Statements, joined
from perfledger.parsers.engine.table import LogSource, ReadingTable, SessionRecords, without_repeats
from perfledger.schema.distinct_lines import distinct_lines

#: Bytes by which a log is told apart, with probes of what comes later.
_HEAD = HEAD_CHUNKS * CHUNK
#: How far before its start a session is looked for; a chunk is held back as a whole.
_LOOK_BACK = 1 << 16
#: How much of the end of a text is searched for its last record, before all of it is.
_LAST = (1 << 12, 1 << 14, 1 << 18)
#: A bar that is drawn last on a line is no longer than this.
_LONGEST_BAR = 1 << 12


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
    #: The distinct lines (`schema.distinct_lines`) of its first chunks; None where tags were taken off them.
    distinct: tuple[bytes, ...] | None = None


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
    head = list(_head(stream))
    rest = probes(path) if sum(each.bytes for each in head) >= _HEAD else ()
    found = tuple(claims(chain(head, rest)))
    if format is None and len(found) != 1:
        return Log(path, found, (), noise, sum(each.lines for each in head))
    reader = _LogReader(path, format or found[0].format)
    sessions = tuple(reader.sessions(chain(head, stream)))
    if format is None:
        sessions = _viewed(path, sessions, found[0].beneath)
    distinct = None if reader.tagged else tuple(reader.distinct)
    return Log(path, found, sessions, noise, reader.last_line, reader.cut_line(), distinct)


def _head(stream: Iterator[Chunk]) -> Iterator[Chunk]:
    """Yield the first chunks; fewer where lines are so long that chunks are larger than usual."""
    size = 0
    while size < _HEAD and (chunk := next(stream, None)):
        size += chunk.bytes
        yield chunk


def _viewed(path: Path, sessions: tuple[Session, ...], beneath: Sequence[Format]) -> tuple[Session, ...]:
    """Give the only session of a log its view by the lines of the training program, if one format reads these.

    Its ranks may each announce themselves: where the session begins and ends, the format above it says. Lines of another
    program before or behind those of that format are of another run.
    """
    if len(sessions) != 1 or len(beneath) != 1:
        return sessions
    whole = replace(beneath[0], start=b"", before_start=b"")
    views = tuple(_LogReader(path, whole).sessions(chunks(path, Noise())))
    within = len(views) == 1 and _span(sessions[0]) == _span(sessions[0], views[0])
    return (replace(sessions[0], view=views[0]),) if within else sessions


def _span(*sessions: Session) -> tuple[int, int]:
    """Return the first and the last line of the records of some sessions."""
    found = [each for session in sessions for each in session.records if each.last > each.first]
    lines = [line for each in found for line in each.table.lines([each.first, each.last - 1])]
    return min(lines, default=0), max(lines, default=0)


@dataclass
class _OpenSession:
    """A session that is still being read. `held` is its last text, of which the session after it may own the end."""

    collector: StatementCollector
    rows: list[int]
    started: bool
    held: list[Piece] = field(default_factory=list)
    #: The line with which the program, or the last of its ranks, began.
    announced: Announcement | None = None
    #: Whether a record of training was found.
    trained: bool = False

    def take(self, piece: Piece) -> None:
        """Take the next piece of text, and hand on what lies too far back to belong to another session."""
        self.held.append(piece)
        while sum(len(each.text) for each in self.held[1:]) >= _LOOK_BACK:
            self.collector.add(self.held.pop(0))

    def statements(self) -> Statements:
        """Hand on all text, and return what it states."""
        for each in self.held:
            self.collector.add(each)
        return self.collector.statements()


class _LogReader:
    """One pass over the chunks of a file, for one format."""

    def __init__(self, path: Path, format: Format) -> None:
        self.format = format
        self.source = LogSource(path)
        self.tables = tuple(ReadingTable(self.source, each) for each in (*format.readings, *frames(format.id)))
        self.last_line = 0
        self.distinct: list[bytes] = []
        self.tagged = False
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
        if not rest.strip() or any(table.reading.finder.search(rest) for table in self.tables):
            return 0
        found = [match for table in self.tables for match in table.reading.finder.finditer(before)]
        if not found:
            return 0
        last = max(found, key=lambda each: each.start())
        line = before[before.rfind(b"\n", 0, last.start()) + 1 : last.end()]
        return self.last_line if shape(line).startswith(shape(rest)) else 0

    def sessions(self, stream: Iterable[Chunk]) -> Iterator[Session]:
        """Yield the sessions in order; the tables are complete only when the iterator is exhausted."""
        likely = LikelyStatements(self.format)
        current = _OpenSession(StatementCollector(self.format, 1, likely), self._rows(), started=False)
        closed: list[Session] = []
        for chunk in stream:
            pending: list[list[Record]] = [[] for _ in self.tables]
            begin = 0
            for at in self._starts(chunk):
                self._feed(current, chunk, begin, at, pending)
                begin, announced = at, Announcement.at(chunk.text, at)
                if not current.trained and current.announced and announced.repeats(current.announced):
                    current.announced = announced
                    continue
                if current.started or self._has_own(current, pending):
                    rows_now = self._rows(pending)
                    text = self._own_text_of_next(current)
                    closed.append(self._close(current, len(closed) + 1, rows_now))
                    current = _OpenSession(
                        StatementCollector(self.format, closed[-1].stated.next_line, likely), rows_now, started=True
                    )
                    current.take(Piece(text, newlines(text), distinct_lines(text)))
                current.started, current.announced = True, announced
            self._feed(current, chunk, begin, len(chunk.text), pending)
            for table, rows in zip(self.tables, pending, strict=True):
                table.store(chunk, rows)
            if len(self.distinct) < HEAD_CHUNKS:
                self.distinct.append(chunk.distinct)
            self.tagged |= bool(chunk.tags)
            self._last_text = chunk.text
            self.last_line = chunk.first_line + chunk.lines - chunk.text.endswith(b"\n")
        closed.append(self._close(current, len(closed) + 1, self._rows()))
        yield from closed

    def _own_text_of_next(self, current: _OpenSession) -> bytes:
        """Return what the session that starts now owns of the text before its start, and take it from `current`."""
        before = joined(current.held)
        at = opening(
            self.format, before.text, self._last_own(before.text) if any(self._count(current)) or before.records else 0
        )
        kept, own = before.text[:at], before.text[at:]
        current.held = [before._replace(text=kept, lines=newlines(kept), found=(), begin=0)]
        return own

    def _rows(self, pending: Sequence[Sequence[object]] = ()) -> list[int]:
        """Return how many rows of each table are read so far."""
        extra = [len(each) for each in pending] or [0] * len(self.tables)
        return [table.rows + more for table, more in zip(self.tables, extra, strict=True)]

    def _count(self, current: _OpenSession, pending: Sequence[Sequence[object]] = ()) -> list[int]:
        counts = [now - before for now, before in zip(self._rows(pending), current.rows, strict=True)]
        return counts[: len(self.format.readings)]

    def _has_own(self, current: _OpenSession, pending: Sequence[Sequence[object]]) -> bool:
        """Return whether records before the first start are of a run: lines that any program may print are not."""
        counted = zip(self.format.readings, self._count(current, pending), strict=True)
        return any(rows for reading, rows in counted if not reading.weak)

    def _starts(self, chunk: Chunk) -> list[int]:
        """Return the lines on which the program starts, most often none.

        Where every rank announces itself, only the first that does so again counts.
        """
        found = self.format.starts(chunk.text) if self.format.may_start_in(chunk.distinct) else []
        if found and chunk.tags:
            found = [at for at, rank in zip(found, chunk.ranks(found), strict=True) if self._is_first(rank)]
        return sorted({self._begin(chunk.text, each) for each in found})

    def _begin(self, text: bytes, start: int) -> int:
        """Return where a program begins that announces itself at a place: on a line, not inside it.

        What a program that was killed has drawn last ends no line: the next one begins behind its last record.
        """
        line = text.rfind(b"\n", 0, start) + 1
        drawn = max(line, text.rfind(b"\r", line, start) + 1)
        near = max(drawn, start - _LONGEST_BAR)
        ends = (each.end() for table in self.tables for each in table.reading.finder.finditer(text, near, start))
        return max(ends, default=drawn)

    def _is_first(self, rank: int) -> bool:
        """Count the start of a rank; return whether no other rank has started as often."""
        self._started[rank] += 1
        first = self._started[rank] > self._starts_kept
        self._starts_kept += first
        return first

    def _last_own(self, text: bytes) -> int:
        """Return where the last record or end of a session ends in its text, at least 1."""
        for size in (*_LAST, len(text)):
            begin = max(0, len(text) - size)
            patterns = (*(table.reading.finder for table in self.tables), self.format.end_regex)
            if found := [each.end() for pattern in patterns if pattern for each in pattern.finditer(text, begin)]:
                return max(found)
        return 1

    def _feed(self, current: _OpenSession, chunk: Chunk, begin: int, end: int, pending: list[list[Record]]) -> None:
        """Read a stretch of a chunk's text, which belongs to one session but for its last lines."""
        text, most, firsts = chunk.text, list[Record](), list[tuple[Reading, int]]()
        known: dict[object, list[Record]] = {}  # some readings differ in their conditions alone
        for table, rows in zip(self.tables, pending, strict=True):
            reading = table.reading
            if not reading.may_stand_in(chunk.distinct):
                continue
            if reading.finder not in known:
                known[reading.finder] = list(reading.finder.finditer(text, begin, end))
            found = known[reading.finder]
            kept = without_repeats(reading, chunk, found)
            rows.extend(kept)
            most = max(most, found, key=len)
            if found and reading in self.format.readings:
                current.trained = True
                firsts.append((reading, found[0].start() - begin))
        if begin < end:
            whole = (begin, end) == (0, len(text))
            part, lines = (text, chunk.lines) if whole else (text[begin:end], newlines(text, begin, end))
            current.take(Piece(part, lines, chunk.distinct, len(most), tuple(firsts), most, begin))

    def _close(self, current: _OpenSession, number: int, rows: list[int]) -> Session:
        """Close the session; `rows` are the numbers of rows read by now, of each table."""
        stated = current.statements()
        facts = {name: float(each.value) for name, each in stated.facts.items() if isinstance(each.value, int)}
        records = tuple(
            SessionRecords(table, first, first if table.reading in stated.unmet else last, facts)
            for table, first, last in zip(self.tables, current.rows, rows, strict=True)
            if table.reading in self.format.readings or last > first
        )
        return Session(number, self.format, records, stated)
