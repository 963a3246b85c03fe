"""Read a log into its sessions, in one pass over its chunks; no Python code runs per line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from perfledger.parsers.contract import Format, Reading
from perfledger.parsers.contract.chunk import Chunk, newlines
from perfledger.parsers.engine.detect import HEAD_CHUNKS, Claim, claims, probes
from perfledger.parsers.engine.found import Found
from perfledger.parsers.engine.openings import Announcement, opening, shape
from perfledger.parsers.engine.registry import frames
from perfledger.parsers.engine.scan import CHUNK, Noise, chunks
from perfledger.parsers.engine.session import Session
from perfledger.parsers.engine.statements import LikelyStatements, Piece, StatementCollector, Statements, joined
from perfledger.parsers.engine.table import LogSource, ReadingTable, SessionRecords
from perfledger.schema.distinct_lines import distinct_lines

#: Bytes at the beginning of a log that are searched for its format; later bytes are only probed.
_HEAD = HEAD_CHUNKS * CHUNK
#: Bytes before a start that are searched for the first line of its session; whole chunks are kept for this search.
_LOOK_BACK = 1 << 16
#: Longest bar at the end of a line, in bytes.
_LONGEST_BAR = 1 << 12


#: The records of a chunk that are found so far, by the number of their table, for tables that may have records in it.
_Pending = Mapping[int, list[Found]]


@dataclass(frozen=True)
class Log:
    """The claims on a file, and its sessions if exactly one format claims it."""

    path: Path
    claims: tuple[Claim, ...]
    sessions: tuple[Session, ...]
    noise: Noise
    lines: int
    #: Number of the last line if it is a record that was cut, else 0.
    cut_line: int = 0


def read(path: Path, format: Format | None = None) -> Log:
    """Read a log with the one format that claims it.

    Args:
        path: the log.
        format: the format that reads it, even if other formats claim it.

    Raises:
        ScanError: the path is not a readable, non-empty, regular file.
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
    return Log(path, found, sessions, noise, reader.last_line, reader.cut_line())


def _head(stream: Iterator[Chunk]) -> Iterator[Chunk]:
    """Yield the first chunks until they have `_HEAD` bytes; long lines make chunks larger, so there are fewer of them."""
    size = 0
    while size < _HEAD and (chunk := next(stream, None)):
        size += chunk.bytes
        yield chunk


def _viewed(path: Path, sessions: tuple[Session, ...], beneath: Sequence[Format]) -> tuple[Session, ...]:
    """Add to the only session of a log a view by the lines of the training program, if one format reads these.

    Starts in the training program's format are ignored, since each rank may print one. If its records precede or follow
    the session's records, they are of another run, and the session gets no view.
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
    """A session that is still being read.

    Attributes:
        collector: collects its statements.
        rows: for each table, the number of rows before the session.
        started: whether the start of its program was found.
        recent: its last text; the end of this text may belong to the next session.
        announced: the first line of its program, or of the last rank that started.
        trained: whether a record of training was found.
    """

    collector: StatementCollector
    rows: list[int]
    started: bool
    recent: list[Piece] = field(default_factory=list)
    announced: Announcement | None = None
    trained: bool = False

    def take(self, piece: Piece) -> None:
        """Add the next piece of text. The collector gets the text that is too old to belong to the next session."""
        self.recent.append(piece)
        while sum(len(each.text) for each in self.recent[1:]) >= _LOOK_BACK:
            self.collector.add(self.recent.pop(0))

    def statements(self) -> Statements:
        """Give the collector all remaining text, and return the statements of the session."""
        for each in self.recent:
            self.collector.add(each)
        return self.collector.statements()


class _LogReader:
    """One pass over the chunks of a file, for one format."""

    def __init__(self, path: Path, format: Format) -> None:
        self.format = format
        self.source = LogSource(path)
        self.tables = tuple(ReadingTable(self.source, each) for each in (*format.readings, *frames(format.id)))
        #: Number of records of each table that are found so far, those of the current chunk included.
        self.rows = [0] * len(self.tables)
        self.last_line = 0
        self._last_text = b""
        #: Number of announcements of each rank.
        self._started: Counter[int] = Counter()
        #: Number of starts of the program, which is the largest of these numbers.
        self._program_starts = 0

    def cut_line(self) -> int:
        """Return the number of the last line if it is a cut record that no reading matches, else 0.

        Without digits, a cut record is a prefix of the record before it.
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
        current = _OpenSession(StatementCollector(self.format, 1, likely), [*self.rows], started=False)
        closed: list[Session] = []
        for chunk in stream:
            pending = self._none_found_yet(chunk)
            begin = 0
            for at in self._starts(chunk, pending):
                self._feed(current, chunk, begin, at, pending)
                begin, announced = at, Announcement.at(chunk.text, at)
                if not current.trained and current.announced and announced.repeats(current.announced):
                    current.announced = announced
                    continue
                if current.started or self._has_own(current):
                    text = self._own_text_of_next(current)
                    closed.append(self._close(current, len(closed) + 1))
                    current = _OpenSession(
                        StatementCollector(self.format, closed[-1].stated.next_line, likely), [*self.rows], started=True
                    )
                    current.take(Piece(text, newlines(text), distinct_lines(text)))
                current.started, current.announced = True, announced
            self._feed(current, chunk, begin, len(chunk.text), pending)
            for number, table in enumerate(self.tables):
                table.store(chunk, Found.joined(pending.get(number, ())))
            self._last_text = chunk.text
            self.last_line = chunk.first_line + chunk.lines - chunk.text.endswith(b"\n")
        closed.append(self._close(current, len(closed) + 1))
        yield from closed

    def _none_found_yet(self, chunk: Chunk) -> _Pending:
        """Return an empty list for each table that may have records in a chunk, by its number."""
        return {number: [] for number, each in enumerate(self.tables) if each.reading.may_stand_in(chunk.distinct)}

    def _own_text_of_next(self, current: _OpenSession) -> bytes:
        """Remove from `current` the text that belongs to the session that starts now, and return this text."""
        before = joined(current.recent)
        anchor = self._last_own(before) if any(self._count(current)) or before.records else 0
        at = opening(self.format, before.text, anchor)
        kept, own = before.text[:at], before.text[at:]
        current.recent = [before._replace(text=kept, lines=newlines(kept))]
        return own

    def _count(self, current: _OpenSession) -> list[int]:
        """Return the number of records of the session, for each reading of the format."""
        counts = [now - before for now, before in zip(self.rows, current.rows, strict=True)]
        return counts[: len(self.format.readings)]

    def _has_own(self, current: _OpenSession) -> bool:
        """Return whether the session has records of its format, not only lines that any program may print."""
        counted = zip(self.format.readings, self._count(current), strict=True)
        return any(rows for reading, rows in counted if not reading.weak)

    def _starts(self, chunk: Chunk, pending: _Pending) -> list[int]:
        """Return the positions in a chunk at which the program starts; most chunks have no start.

        If every rank announces itself, only the first announcement of each start counts.
        """
        found = self.format.starts(chunk.text, chunk.distinct)
        if found and chunk.tags:
            found = [at for at, rank in zip(found, chunk.ranks(found), strict=True) if self._is_first(rank)]
        readings = [self.tables[number].reading for number in pending]
        return sorted({_begin(readings, chunk.text, each) for each in found})

    def _is_first(self, rank: int) -> bool:
        """Count the start of a rank, and return whether it is the first rank with that number of starts."""
        self._started[rank] += 1
        first = self._started[rank] > self._program_starts
        self._program_starts += first
        return first

    def _last_own(self, piece: Piece) -> int:
        """Return the position in a session's text after its last record or its program's last line, at least 1."""
        end = self.format.end_clue
        ends = end.regex.finditer(piece.text) if end and end.may_stand_in(piece.distinct) else ()
        return max(1, piece.last, *(each.end() for each in ends))

    def _feed(self, current: _OpenSession, chunk: Chunk, begin: int, end: int, pending: _Pending) -> None:
        """Read a stretch of a chunk's text. It belongs to one session, except that its end may belong to the next one."""
        text, most, firsts, last = chunk.text, 0, list[tuple[Reading, int]](), begin
        known: dict[object, Found] = {}  # some readings differ only in their conditions
        for number, parts in pending.items():
            reading = self.tables[number].reading
            if reading.finder not in known:
                known[reading.finder] = Found.in_text(reading, text, begin, end)
            if not (found := known[reading.finder]):
                continue
            parts.append(found.without_repeats(reading, chunk))
            self.rows[number] += len(parts[-1])
            most = max(most, len(found))
            last = max(last, int(found.ends[-1]))
            if number < len(self.format.readings):
                current.trained = True
                firsts.append((reading, int(found.begins[0]) - begin))
        if begin < end:
            whole = (begin, end) == (0, len(text))
            part, lines = (text, chunk.lines) if whole else (text[begin:end], newlines(text, begin, end))
            current.take(Piece(part, lines, chunk.distinct, most, tuple(firsts), last - begin))

    def _close(self, current: _OpenSession, number: int) -> Session:
        """Close the session, which has the records that are found so far."""
        stated = current.statements()
        facts = {name: float(each.value) for name, each in stated.facts.items() if isinstance(each.value, int)}
        records = tuple(
            SessionRecords(table, first, first if table.reading in stated.unmet else last, facts)
            for at, (table, first, last) in enumerate(zip(self.tables, current.rows, self.rows, strict=True))
            if at < len(self.format.readings) or last > first
        )
        return Session(number, self.format, records, stated)


def _begin(readings: Sequence[Reading], text: bytes, start: int) -> int:
    """Return the position at which the text of a program begins, from the position of its announcement.

    This is the start of the line, or the end of a bar on that line: a program that was killed does not end its last line.
    """
    line = text.rfind(b"\n", 0, start) + 1
    drawn = max(line, text.rfind(b"\r", line, start) + 1)
    near = max(drawn, start - _LONGEST_BAR)
    ends = (each.end() for reading in readings for each in reading.finder.finditer(text, near, start))
    return max(ends, default=drawn)
