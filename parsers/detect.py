"""Which format claims a log: those of which at least one line can be read. Exactly one may.

A long file is not searched from end to end for every format: its first chunks are, and probes spread over the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from parsers.contract import Format
from parsers.registry import formats
from parsers.scan import CHUNK, Chunk, Noise, clean, open_log

HEAD_CHUNKS = 8
PROBES = 16
PROBE_BYTES = CHUNK // 4


@dataclass(frozen=True)
class Claim:
    """A format and the line on which it found its first record, or its start where no record was printed."""

    format: Format
    line: int
    records: bool


def claims(chunks: Iterable[Chunk]) -> list[Claim]:
    """Formats that can read a record in the chunks; where there is none, the first that recognises a start.

    Printers of one family announce themselves alike. A log that ends before its first record holds nothing that two of
    them could read differently.
    """
    seen = list(chunks)
    found = [claim for each in formats() if (claim := _reads(each, seen))]
    return found or list(islice((claim for each in formats() if (claim := _starts(each, seen))), 1))


def probes(path: Path, size: int) -> Iterator[Chunk]:
    """Chunks spread evenly over a long plain file, the last bytes included; none of a compressed one."""
    if path.suffix in {".gz", ".zst"}:
        return
    with open_log(path) as stream:
        for number in range(1, PROBES + 1):
            stream.seek(max(0, (size - PROBE_BYTES) * number // PROBES))
            yield from clean(iter([(stream.read(PROBE_BYTES), 0, 0, 0)]), Noise())


def _reads(format: Format, chunks: Iterable[Chunk]) -> Claim | None:
    for chunk in chunks:
        if format.marker in chunk.text:
            found = [match.start() for each in format.readings if (match := each.regex.search(chunk.text))]
            if found:
                return Claim(format, chunk.line_of(min(found)), records=True)
    return None


def _starts(format: Format, chunks: Iterable[Chunk]) -> Claim | None:
    for chunk in chunks:
        if format.start_regex and (match := format.start_regex.search(chunk.text)):
            return Claim(format, chunk.line_of(match.start()), records=False)
    return None
