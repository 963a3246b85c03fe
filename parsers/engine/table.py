"""Records as columns: everything one reading found in one file, and the way back to the lines.

Columns wait as arrays per chunk. Line numbers are found again when asked for: one per record would fill the memory.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from parsers.contract import CLOCKS, Reading
from parsers.engine.clock import clocks, unwrapped
from parsers.engine.decimals import columns
from parsers.engine.scan import Chunk, Noise, clean, open_log

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Settled = tuple[NDArray[np.intp], Mapping[str, Column]]

CHUNKS_KEPT = 3
#: Columns of whole numbers, which take less room while they wait.
WHOLE = frozenset({"epoch", "step"})


class Stretch(NamedTuple):
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
    _settled: dict[tuple[int, int], Settled] = field(default_factory=dict)

    def settled(self, first: int, last: int) -> Settled:
        """What the reading's `settle` makes of some rows: which of them are records, and their columns.

        Ranks that are told apart by tags are settled each by itself: their lines have nothing to say to each other.
        """
        if (first, last) not in self._settled:
            assert self.reading.settle is not None
            columns = {name: self.column(name, slice(first, last)) for name in self.parts}
            found = [
                _of(rows, self.reading.settle({name: each[rows] for name, each in columns.items()}))
                for rows in _by_rank(self.rank(slice(first, last)))
            ]
            self._settled[first, last] = found[0] if len(found) == 1 else _joined(found)
        return self._settled[first, last]

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

    def printed(self, row: int, name: str) -> bytes:
        """What the log prints in a row for a column, empty where the line does not print it: NaN would not tell."""
        first, stretch = self._stretch(row)
        found = self.reading.regex.finditer(self.source.chunk(stretch).text)
        match = next(islice(found, row - first, None))
        return match[name] or b""

    def _stretch(self, row: int) -> tuple[int, Stretch]:
        return self.stretches[bisect_right(self.stretches, row, key=lambda each: each[0]) - 1]

    def store(self, chunk: Chunk, rows: Sequence[tuple[bytes, ...]]) -> None:
        """Add the records of a chunk, one tuple of printed values each, in the order of the reading's columns."""
        import numpy as np

        if not rows:
            return
        self.stretches.append((self.rows, Stretch(chunk.first_line, chunk.offset, chunk.bytes)))
        names = self.reading.columns
        numbers = [index for index, name in enumerate(names) if name != "clock"]
        for index, column in zip(numbers, columns(rows, numbers), strict=True):
            factor = self.reading.factors.get(names[index])
            name = "clock" if names[index] in CLOCKS else names[index]
            self.parts.setdefault(name, []).append(
                column * factor if factor else _narrow(column) if name in WHOLE else column
            )
        if "clock" in names:
            at = names.index("clock")
            self.parts.setdefault("clock", []).append(clocks([row[at] for row in rows]))
        self.ranks.append(np.asarray(_ranks(self.reading, chunk) if chunk.tags else (), dtype=np.float64))
        self.rows += len(rows)


@dataclass(frozen=True, slots=True)
class Records:
    """One session's records of one reading: rows of a table, or what the reading's `settle` makes of them."""

    table: Table
    first: int
    last: int

    def __len__(self) -> int:
        """Number of records."""
        return self.last - self.first if self._settled is None else len(self._settled[0])

    @property
    def reading(self) -> Reading:
        """What the columns mean."""
        return self.table.reading

    def __contains__(self, name: str) -> bool:
        """Whether the printer prints that column."""
        return name in (self.table.parts if self._settled is None else self._settled[1])

    def __getitem__(self, name: str) -> Column:
        """A column, one float64 per record, in file order; clocks run on over midnight."""
        column = self._column(name) if self._settled is None else self._settled[1][name]
        return unwrapped(column) if name == "clock" else column

    def none(self) -> Records:
        """No records of the same reading."""
        return Records(self.table, self.first, self.first)

    def ranks(self) -> Column:
        """The rank that printed each record."""
        ranks = self.table.rank(slice(self.first, self.last))
        return ranks if self._settled is None else ranks[self._settled[0]]

    def lines(self, indices: Sequence[int]) -> list[int]:
        """Line numbers of some records, counted from 0 within the session."""
        rows = indices if self._settled is None else self._settled[0][list(indices)].tolist()
        return self.table.lines([self.first + each for each in rows])

    def printed(self, index: int, name: str) -> bytes:
        """What the log prints for a column of one record, empty where its line does not print it."""
        row = index if self._settled is None else int(self._settled[0][index])
        return self.table.printed(self.first + row, name)

    def _column(self, name: str) -> Column:
        return self.table.column(name, slice(self.first, self.last))

    @property
    def _settled(self) -> Settled | None:
        return self.table.settled(self.first, self.last) if self.reading.settle and self.last > self.first else None


def _by_rank(ranks: Column) -> list[NDArray[np.intp]]:
    """The rows of each rank."""
    import numpy as np

    rows = np.argsort(ranks, kind="stable")
    return np.split(rows, np.flatnonzero(np.diff(ranks[rows])) + 1)


def _of(rows: NDArray[np.intp], found: Settled) -> Settled:
    return rows[found[0]], found[1]


def _joined(found: list[Settled]) -> Settled:
    """What was settled of several ranks, in file order, with the columns that all have which have records."""
    import numpy as np

    settled = [each for each in found if len(each[0])] or found[:1]
    rows = np.concatenate([each for each, _ in settled])
    names = [name for name in settled[0][1] if all(name in columns for _, columns in settled)]
    order = np.argsort(rows, kind="stable")
    return rows[order], {name: np.concatenate([columns[name] for _, columns in settled])[order] for name in names}


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
    """Whole numbers in two or four bytes each, where they fit; they come out of the table as they went in."""
    import numpy as np

    for kind in (np.int16, np.int32):
        if (np.abs(column) <= np.iinfo(kind).max).all() and (column == np.trunc(column)).all():
            return cast("Column", column.astype(kind))
    return column


def _lines_of(chunk: Chunk, reading: Reading) -> list[int]:
    """Line number of every record in a chunk."""
    lines, line, position = [], chunk.first_line, 0
    for match in reading.regex.finditer(chunk.text):
        line, position = line + chunk.text.count(b"\n", position, match.start()), match.start()
        lines.append(line)
    return lines


def _ranks(reading: Reading, chunk: Chunk) -> list[int]:
    return chunk.ranks([match.start() for match in reading.regex.finditer(chunk.text)])
