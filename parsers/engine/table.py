"""Keep the records of one reading in one file as columns, and find their lines again.

Columns and positions of the records are arrays per chunk. Line numbers are computed on request, since few are needed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from perfledger.parsers.contract import (
    CLOCKS,
    COLUMNS,
    Column,
    FormatError,
    Indices,
    Pause,
    Reading,
    is_private,
)
from perfledger.parsers.contract.chunk import Chunk
from perfledger.parsers.contract.verbs import applied
from perfledger.parsers.engine.clock import clocks, stamps, unwrapped
from perfledger.parsers.engine.found import Found
from perfledger.parsers.engine.scan import Noise, clean, open_log

#: JSON numbers are rounded as in Python, and decoding them is three times as fast as `float`.
_NUMBERS = msgspec.json.Decoder(list[float])
#: A length of time: `2:10`, `1:02:03`, `9 days, 21:49:18`.
_LENGTH = re.compile(rb"(?:([0-9]{1,6}) days?, )?(?:([0-9]{1,6}):(?=[0-9]{2}:))?([0-9]{1,2}):([0-9]{2}(?:\.[0-9]+)?)")
#: A part of a length of time that names its units, such as `1d 2h 3m 4s`.
_IN_UNIT = re.compile(rb"([0-9]++(?:\.[0-9]++)?+) ?(d|h|ms|m|s)[ ,]*+")
_UNITS = {b"d": 86_400.0, b"h": 3600.0, b"m": 60.0, b"s": 1.0, b"ms": 1e-3}
#: `1,234,567.8`; another text with a comma is not a number.
_THOUSANDS = re.compile(rb"[0-9]{1,3}(?:,[0-9]{3})++(?:\.[0-9]++)?+")
#: A column of positive numbers, one per line, with and without separators.
_SEPARATED = re.compile(rb"(?:(?:[0-9]{1,3}(?:,[0-9]{3})++|[0-9]++)(?:\.[0-9]++)?+(?:\n|\Z))++")

#: Longest column that is cached, in records.
_FEW_RECORDS = 100_000
#: Most line numbers per request that are cached.
_FEW_LINES = 10
#: A larger number is milliseconds since 1970, and not seconds.
_LATEST = 1e11
#: Letters of shortened numbers, such as `107K`.
_SHORT = {b"K": 1e3, b"M": 1e6, b"B": 1e9, b"T": 1e12}


class Stretch(NamedTuple):
    """The place of a chunk in the (unpacked) file, from where it can be read again."""

    first_line: int
    offset: int
    bytes: int


class Stop(NamedTuple):
    """A line that a pause of the reading matches, by the row (later: the record) that follows it."""

    row: int
    rank: int
    pause: Pause


#: The rows that are records, and their columns.
Processed = tuple[Indices, Mapping[str, Column]]


class LogSource:
    """The file, whose chunks can be read again: its whole text may not fit into memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._recent: list[tuple[Stretch, Chunk]] = []

    def keep(self, stretch: Stretch, chunk: Chunk) -> None:
        """Keep a chunk, and the previous one: most requests are for the first and the last record."""
        others = [each for each in self._recent if each[0] != stretch]
        self._recent = [*others[-1:], (stretch, chunk)]

    def chunk(self, stretch: Stretch) -> Chunk:
        """Return a chunk; read it again if it is not in memory."""
        found = next((each for at, each in self._recent if at == stretch), None)
        if found is None:
            with open_log(self.path) as stream:
                stream.seek(stretch.offset)
                raw = (stream.read(stretch.bytes), stretch.first_line, stretch.offset, 0)
            found = next(clean(iter([raw]), Noise()))
            self.keep(stretch, found)
        return found


@dataclass
class ReadingTable:
    """All records of one reading in one file, as float64 columns of one length."""

    source: LogSource
    reading: Reading
    rows: int = 0
    parts: dict[str, list[Column]] = field(default_factory=dict)
    #: The rank that printed each row; 0 without tags.
    ranks: list[Column] = field(default_factory=list)
    #: The stamp at the start of each row's line, in seconds, NaN without a stamp; only if the reading has no clock.
    stamps: list[Column] = field(default_factory=list)
    #: (first row, place in the file) of every chunk with records.
    stretches: list[tuple[int, Stretch]] = field(default_factory=list)
    #: Positions of each stretch's rows in the text of its chunk.
    places: list[NDArray[np.uint32]] = field(default_factory=list)
    #: In the order of the rows; several of one kind without a row between them count once.
    stops: list[Stop] = field(default_factory=list)
    _made_by_verbs: dict[tuple[int, int], Processed] = field(default_factory=dict)
    #: Cached line numbers by row: every figure needs those of its first and last record.
    _lines: dict[int, int] = field(default_factory=dict)

    def records(self, first: int, last: int, facts: Mapping[str, float]) -> Processed:
        """Apply the reading's verbs to some rows, and return the rows that are records, with their columns.

        The rows of each rank are processed separately, since the state of one rank does not depend on another.

        Raises:
            FormatError: the verbs make columns that the contract does not know.
        """
        if (first, last) not in self._made_by_verbs:
            columns = {name: self.column(name, slice(first, last)) for name in self.parts}
            ranks = [_of_rank(self.reading, rows, columns, facts) for rows in _by_rank(self.rank(slice(first, last)))]
            self._made_by_verbs[first, last] = ranks[0] if len(ranks) == 1 else _joined(ranks)
        return self._made_by_verbs[first, last]

    def column(self, name: str, rows: slice) -> Column:
        """Return a column over a slice of rows."""
        return _slice(self.parts[name], rows, self.stretches)

    def rank(self, rows: slice) -> Column:
        """Return the rank that printed each row."""
        return _slice(self.ranks, rows, self.stretches)

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Return the line numbers of some rows; their chunks are read again."""
        found = self._lines if len(rows) <= _FEW_LINES else {}
        # `{*rows} - found.keys()` would walk through all cached lines.
        for number, group in groupby(sorted(each for each in {*rows} if each not in found), key=self._stretch_of):
            (first, stretch), own = self.stretches[number], list(group)
            places = self.places[number][[row - first for row in own]]
            found |= zip(own, self.source.chunk(stretch).lines_of(places), strict=True)
        return [found[row] for row in rows]

    def row_at(self, line: int) -> int:
        """Return the first row that begins on a line or after it; one chunk is read again."""
        number = bisect_left(self.stretches, line, key=lambda each: each[1].first_line) - 1
        if number < 0:
            return 0
        (first, stretch), places = self.stretches[number], self.places[number]
        chunk = self.source.chunk(stretch)
        return first + bisect_left(range(len(places)), line, key=lambda at: chunk.lines_of(places[at : at + 1])[0])

    def printed(self, row: int, name: str) -> bytes:
        """Return the printed value of a column in a row; empty if the line does not print it."""
        number = self._stretch_of(row)
        first, stretch = self.stretches[number]
        match = self.reading.finder.match(self.source.chunk(stretch).text, int(self.places[number][row - first]))
        return match[name] or b"" if match else b""

    def _stretch_of(self, row: int) -> int:
        """Return the index of the stretch that contains a row."""
        return bisect_right(self.stretches, row, key=lambda each: each[0]) - 1

    def stamp(self, rows: slice) -> Column:
        """Return the clock of each row in seconds: the reading's own clock, else the stamp at the start of the line."""
        return self.column("clock", rows) if "clock" in self.parts else _slice(self.stamps, rows, self.stretches)

    def store(self, chunk: Chunk, found: Found) -> None:
        """Add the records of a chunk, in their order."""
        places = found.begins
        if self.rows or found:  # A pause before the first record is not inside an interval.
            self.stops += _stops(self.reading, chunk, self.rows, places)
        if not found:
            return
        stretch = Stretch(chunk.first_line, chunk.offset, chunk.bytes)
        self.stretches.append((self.rows, stretch))
        self.places.append(places.astype(np.uint32))
        self.source.keep(stretch, chunk)
        for name, printed in zip(self.reading.columns, zip(*found.rows, strict=True), strict=True):
            column = converter(name)(printed)
            if factor := self.reading.scales.get(name):
                column = column * factor
            self.parts.setdefault("clock" if name in CLOCKS else name, []).append(column)
        ranks = np.array(chunk.ranks(places), np.float64) if chunk.tags else np.zeros(len(found))
        if "rank" in self.parts:
            named = self.parts["rank"][-1]
            ranks = np.where(np.isfinite(named), named, ranks)
        self.ranks.append(ranks)
        if not CLOCKS & set(self.reading.columns):
            self.stamps.append(stamps(chunk.text, places))
        self.rows += len(found)


@dataclass(frozen=True, eq=False)
class SessionRecords:
    """One session's records of one reading: rows of a table, after the reading's verbs.

    `facts` are the numeric facts of the session. Columns are read-only. Objects are compared by identity.
    """

    table: ReadingTable
    first: int
    last: int
    facts: Mapping[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self._kept)

    @property
    def reading(self) -> Reading:
        """Return the reading, which says what the columns mean."""
        return self.table.reading

    @property
    def columns(self) -> Iterable[str]:
        """Return the names of the columns that the records have."""
        return (
            [each for each in self.table.parts if not is_private(each)]
            if self._processed is None
            else self._processed[1]
        )

    def __contains__(self, name: str) -> bool:
        """Return whether the records have that column."""
        return name in self.columns

    def __getitem__(self, name: str) -> Column:
        """Return a column, one float64 per record, in file order; clocks increase over midnight."""
        return self._cached(f"column {name}", lambda: self._column(name))

    def ranks(self) -> Column:
        """Return the rank that printed each record."""
        return self._cached("ranks", lambda: self._of_records(self.table.rank(self._rows)))

    def stops(self) -> list[Stop]:
        """Return the lines of pauses after the first record; `row` of each is the index of the next record."""
        begin, end = (bisect_right(self.table.stops, row, key=lambda each: each.row) for row in (self.first, self.last))
        found = self.table.stops[begin:end]
        records = np.searchsorted(np.sort(self._kept), [each.row - self.first for each in found])
        return [each._replace(row=int(at)) for each, at in zip(found, records, strict=True)]

    def stamps(self) -> Column:
        """Return the clock of each record's line in seconds, increasing over midnight; NaN without a clock."""
        return self._cached("stamps", lambda: self._of_records(self._in_order(self.table.stamp(self._rows))))

    def lines(self, indices: Sequence[int]) -> list[int]:
        """Return the line numbers of some records, counted from 0 within the session."""
        return self.table.lines((self.first + self._kept[list(indices)]).tolist())

    def before(self, line: int) -> NDArray[np.bool_]:
        """Return which records begin before a line."""
        return self._kept < self.table.row_at(line) - self.first

    def printed(self, index: int, name: str) -> bytes:
        """Return the printed value of a column of one record; empty if its line does not print it."""
        return self.table.printed(self.first + int(self._kept[index]), name)

    def _in_order(self, clock: Column) -> Column:
        """Make clocks increase over midnight; elapsed times do not change, since a smaller one follows a restart."""
        return clock if "elapsed" in self.reading.columns else unwrapped(clock)

    def _cached(self, name: str, make: Callable[[], Column]) -> Column:
        """Return the cached column of a name, or compute it."""
        if name in self._made:
            return self._made[name]
        made = make()
        made.flags.writeable = False
        if len(made) <= _FEW_RECORDS:
            self._made[name] = made
        return made

    @cached_property
    def _made(self) -> dict[str, Column]:
        return {}

    @property
    def _rows(self) -> slice:
        """Return the rows of the table that belong to the session."""
        return slice(self.first, self.last)

    def _column(self, name: str) -> Column:
        column = self.table.column(name, self._rows) if self._processed is None else self._processed[1][name]
        return self._in_order(column) if name == "clock" else column

    def _of_records(self, of_rows: Column) -> Column:
        return of_rows[self._kept]

    @cached_property
    def _kept(self) -> Indices:
        """Return the rows that are records, counted from the first row of the session."""
        return np.arange(self.last - self.first) if self._processed is None else self._processed[0]

    @cached_property
    def _processed(self) -> Processed | None:
        """Return the rows that are records and their columns; None if the reading has no verbs or no rows."""
        if not self.reading.verbs or self.last == self.first:
            return None
        return self.table.records(self.first, self.last, self.facts)


def _by_rank(ranks: Column) -> list[Indices]:
    """Return the rows of each rank."""
    rows = np.argsort(ranks, kind="stable")
    return np.split(rows, np.flatnonzero(np.diff(ranks[rows])) + 1)


def _of_rank(reading: Reading, rows: Indices, columns: Mapping[str, Column], facts: Mapping[str, float]) -> Processed:
    """Apply the verbs to the rows of one rank; return the rows that they keep, as rows of the table."""
    made = applied(reading.verbs, {name: each[rows] for name, each in columns.items()}, facts)
    if unknown := sorted(set(made) - set(COLUMNS)):
        raise FormatError(f"the verbs of {reading.shape!r} make columns unknown to COLUMNS: {unknown}")
    return rows[made.rows], made


def _joined(ranks: list[Processed]) -> Processed:
    """Join the records of several ranks in file order, with the columns that all ranks with records have."""
    filled = [each for each in ranks if len(each[0])] or ranks[:1]
    rows = np.concatenate([each for each, _ in filled])
    names = [name for name in filled[0][1] if all(name in columns for _, columns in filled)]
    order = np.argsort(rows, kind="stable")
    return rows[order], {name: np.concatenate([columns[name] for _, columns in filled])[order] for name in names}


def _slice(parts: list[Column], rows: slice, stretches: list[tuple[int, Stretch]]) -> Column:
    begin = max(0, bisect_right(stretches, rows.start, key=lambda each: each[0]) - 1)
    end = bisect_left(stretches, rows.stop, key=lambda each: each[0])
    touched = [
        part[max(0, rows.start - first) : rows.stop - first]
        for part, (first, _) in zip(parts[begin:end], stretches[begin:end], strict=True)
    ]
    return touched[0] if len(touched) == 1 else np.concatenate(touched) if touched else np.empty(0)


def converter(name: str) -> Callable[[Sequence[bytes]], Column]:
    """Return the function that converts the printed values of a column."""
    return {"clock": clocks, "unix": _since_1970}.get(name, floats)


def _since_1970(printed: Sequence[bytes]) -> Column:
    """Convert printed numbers to seconds since 1970; a number that is too large for a date becomes NaN."""
    found = floats(printed)
    seconds = np.where(found > _LATEST, found / 1000, found)
    return np.where(seconds > _LATEST, np.nan, seconds)


def floats(printed: Sequence[bytes]) -> Column:
    """Convert printed numbers to float64, and lengths of time to seconds: `2:10`, `9 days, 21:49:18`, `1m 30s`.

    Other text, such as `None` or an empty group, becomes NaN.
    """
    if not any(printed):
        return np.full(len(printed), np.nan)
    if not all(printed):  # Lines that report one event each leave most columns empty.
        column = np.full(len(printed), np.nan)
        stated = [at for at, each in enumerate(printed) if each]
        column[stated] = floats([printed[at] for at in stated])
        return column
    found = _decoded(b",".join(printed))
    if len(found) != len(printed) and _SEPARATED.fullmatch(lines := b"\n".join(printed)):
        found = _decoded(lines.replace(b",", b"").replace(b"\n", b","))
    # Not JSON: `nan`, `.5`, `1.25K`, `2:10`.
    values = found if len(found) == len(printed) else map(_float, printed)
    return np.fromiter(values, np.float64, len(printed))


def _decoded(text: bytes) -> list[float]:
    """Return the numbers of a list in JSON; an empty list if a text is not one."""
    try:
        return _NUMBERS.decode(b"[%s]" % text)
    except msgspec.DecodeError:
        return []


def _float(printed: bytes) -> float:
    if found := _LENGTH.fullmatch(printed):
        days, hours, minutes, seconds = (float(each or 0) for each in found.groups())
        return 60 * (60 * (24 * days + hours) + minutes) + seconds
    try:
        number = float(printed.replace(b",", b"") if _THOUSANDS.fullmatch(printed) else printed.rstrip(b"KMBT"))
    except ValueError:
        parts = _IN_UNIT.findall(printed) if not _IN_UNIT.sub(b"", printed) else ()
        return sum(float(each) * _UNITS[unit] for each, unit in parts) if parts else float("nan")
    return number * _SHORT[printed[-1:]] if printed[-1:] in _SHORT else number


def last_digit(printed: bytes) -> float:
    """Return the unit of a printed number's last digit: 0.01 in `394.18`, 1000 in `107K`."""
    digits = printed.rstrip(b"KMBT")
    return 10.0 ** -len(digits.partition(b".")[2]) * _SHORT.get(printed[len(digits) :], 1.0)


def _stops(reading: Reading, chunk: Chunk, before: int, rows: NDArray[np.intp]) -> list[Stop]:
    """Return the pauses in a chunk.

    Args:
        reading: the reading of the pauses and rows.
        chunk: the chunk.
        before: number of rows before the chunk.
        rows: positions of its rows.
    """
    stops = {
        Stop(before + int(np.searchsorted(rows, start)), rank, pause)
        for pause in reading.pauses
        if pause.pattern and pause.may_stand_in(chunk.distinct)
        if (found := [match.start() for match in pause.regex.finditer(chunk.text)])
        for start, rank in zip(found, chunk.ranks(found), strict=True)
    }
    return sorted(stops, key=lambda each: each.row)
