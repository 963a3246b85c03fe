"""Sessions of formats that exist in tests alone, for what no shipped printer happens to print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parsers.contract import Format, NearMiss, Reading
from parsers.contract.chunk import Chunk
from parsers.engine.session import Extent, Session
from parsers.engine.table import LogSource, ReadingTable, SessionRecords, Stretch


def made(pattern: bytes, lines: Sequence[str], folder: Path, **about: Any) -> Session:
    """Return a session of a format that exists in this test only."""
    path = folder / "train.log"
    text = "".join(f"{each}\n" for each in lines).encode()
    path.write_bytes(text)
    reading = Reading(pattern, **about)
    chunk = Chunk(text, 1, 0, len(text), len(lines))
    table = ReadingTable(LogSource(path), reading)
    table.store(chunk, list(reading.regex.finditer(text)))
    extent = Extent(Stretch(1, 0, len(text)), 0, len(text))
    format = Format("made", b"", (reading,), (NearMiss(b"", ""),))
    return Session(1, format, (SessionRecords(table, 0, table.rows),), table.source, (extent,), (extent,))
