"""Read rows of cells under headers that may repeat and change, as `--format=csv` and `dmon` print them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from perfledger.parsers.contract.chunk import Chunk
from perfledger.parsers.contract.telemetry import Faults, SampleBlock, TelemetryFormat
from perfledger.parsers.engine import cells

#: The share of lines that must be of a dialect before a file is claimed.
_MOSTLY = 0.9


@dataclass(frozen=True)
class Header:
    """The columns of rows, by index.

    Attributes:
        names: the columns as the file names them.
        quantities: column of each quantity.
        devices: columns that name the device.
        time: columns of the time.
        refused: names of columns with an unknown unit, whose values are refused.
    """

    names: tuple[str, ...]
    quantities: Mapping[str, int]
    devices: tuple[int, ...] = ()
    time: tuple[int, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dialect:
    """How a printer splits its lines.

    Attributes:
        split: returns the cells of a row.
        header: returns the columns that a line names, None if it is not a header.
        passed: returns whether a line is to be skipped.
        first: the columns of a printer without headers.
    """

    split: Callable[[bytes], list[bytes]]
    header: Callable[[bytes], Header | None] = lambda _line: None
    passed: Callable[[bytes], bool] = lambda _line: False
    first: Header | None = None


@dataclass
class OpenRows:
    """Rows under one header that are not yet columns."""

    header: Header | None
    rows: list[list[bytes]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def add(self, line: int, row: list[bytes]) -> None:
        """Add the cells of a line, by its number."""
        self.rows.append(row)
        self.lines.append(line)


def rows_format(dialect: Dialect, title: str, markers: tuple[bytes, ...], *, host: bool = False) -> TelemetryFormat:
    """Return the format of files that are rows of one dialect."""
    return TelemetryFormat(
        title, markers, partial(claimed, dialect=dialect), partial(blocks, dialect=dialect), host=host
    )


def claimed(text: bytes, dialect: Dialect) -> bool:
    """Return whether nearly all lines are of a dialect, including a header if the dialect has headers."""
    header, own, others = dialect.first, 0, 0
    for line in text.splitlines():
        if not line.strip() or dialect.passed(line):
            continue
        if found := dialect.header(line):
            header, own = found, own + 1
        elif header and _is_row(dialect.split(line), header):
            own += 1
        else:
            others += 1
    return header is not None and own > 0 and own >= _MOSTLY * (own + others)


def _is_row(row: Sequence[bytes], header: Header) -> bool:
    """Return whether a row has a cell for each column; a single cell must be a number, since any text is one cell."""
    if len(row) != len(header.names) or len(row) > 1:
        return len(row) == len(header.names)
    nowhere = Faults()
    for name, at in header.quantities.items():
        cells.values(name, [row[at]], [1], nowhere)
    return not nowhere.all()


def blocks(chunks: Iterable[Chunk], faults: Faults, dialect: Dialect) -> Iterator[SampleBlock]:
    """Yield all rows, a block per header and chunk."""
    header = dialect.first
    for chunk in chunks:
        waiting = OpenRows(header)
        # A last line without a newline was cut and may have lost digits: it is skipped.
        for number, line in enumerate(chunk.text.split(b"\n")[:-1], chunk.first_line):
            if not line.strip() or dialect.passed(line):
                continue
            if found := dialect.header(line):
                yield from block(waiting, faults)
                waiting = OpenRows(found)
                for name in found.refused:
                    faults.add("values", number, name.encode(), name)
                continue
            row = dialect.split(line)
            if waiting.header and len(row) == len(waiting.header.names):
                waiting.add(number, row)
            else:
                faults.add("lines", number, line)
        yield from block(waiting, faults)
        header = waiting.header


def block(waiting: OpenRows, faults: Faults) -> Iterator[SampleBlock]:
    """Yield the rows as columns, if there are some."""
    header, rows, lines = waiting.header, waiting.rows, waiting.lines
    if not header or not rows:
        return
    columns = list(zip(*rows, strict=True))
    values = {
        name: cells.values(name, columns[at], lines, faults, header.names[at]) for name, at in header.quantities.items()
    }
    time = cells.stamps(_joined(columns, header.time), lines, faults) if header.time else np.full(len(rows), np.nan)
    devices = [each.decode("utf-8", "replace") for each in _joined(columns, header.devices)]
    yield SampleBlock(time, devices or None, values)


def _joined(columns: Sequence[Sequence[bytes]], wanted: Sequence[int]) -> list[bytes]:
    """Join several columns to one, cell by cell."""
    if not wanted:
        return []
    if len(wanted) == 1:
        return [each.strip() for each in columns[wanted[0]]]
    return [b" ".join(each.strip() for each in row) for row in zip(*(columns[at] for at in wanted), strict=True)]
