"""Find the formats that claim a log: those that can read at least one line of it. Exactly one may.

A long file is not searched from end to end for every format: its first chunks are, and probes spread over the rest.
Which markers of all formats stand in a chunk is found in one pass, so that a further format costs next to nothing where
its marker is absent. A JSON document that quotes lines of a log in its strings is not that log, nor is one that
contains the document of a printer within another structure.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from perfledger.parsers.contract import Format, Rows
from perfledger.parsers.contract.chunk import Chunk
from perfledger.parsers.engine.registry import formats
from perfledger.parsers.engine.scan import CHUNK, Noise, clean, open_log
from perfledger.schema.distinct_lines import without_digits

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

HEAD_CHUNKS = 8
PROBES = 16
PROBE_BYTES = CHUNK // 4
#: Bytes in which markers are looked for at once, and the least of those that are.
_PIECE, _LONG = 1 << 16, 4
#: A string of JSON.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"(?P<key>(?=\s*+:))?+')


@dataclass(frozen=True)
class Claim:
    """A format, and the chunk in which it found its first record, or its start where no record was printed.

    `patterns` are those that may have found it. `beneath` are the formats that found records as well, of a format that
    stands over all others.
    """

    format: Format
    chunk: Chunk
    patterns: tuple[re.Pattern[bytes] | Rows, ...]
    records: bool
    beneath: tuple[Format, ...] = ()

    @cached_property
    def line(self) -> int:
        """The line of what it found first, for messages."""
        found = (each.search(self.chunk.text) for each in self.patterns)
        return self.chunk.line_of(min(match.start() for match in found if match))


@dataclass(frozen=True)
class _Markers:
    """Literals that are looked for together; the empty one stands everywhere."""

    literals: tuple[bytes, ...]

    @cached_property
    def _long(self) -> tuple[bytes, ...]:
        """Return those that stand nowhere a thousand times."""
        return tuple(each for each in self.literals if len(each) >= _LONG)

    @cached_property
    def _short(self) -> tuple[tuple[bytes, bytes], ...]:
        """Return the others, each with what it is in distinct lines."""
        return tuple((each, without_digits(each)) for each in self.literals if len(each) < _LONG)

    @cached_property
    def _with_digits(self) -> frozenset[bytes]:
        """Return those that distinct lines may hold where the text does not."""
        return frozenset(each for each in self.literals if without_digits(each) != each)

    @cached_property
    def _automaton(self) -> BytesAhoCorasick:
        from ahocorasick_rs import BytesAhoCorasick

        return BytesAhoCorasick(list(map(without_digits, self._long)))

    def present(self, chunk: Chunk) -> frozenset[bytes]:
        """Return those that stand in the distinct lines of a chunk, which are few; those with digits in its text, too."""
        distinct, longest = chunk.distinct, max(map(len, self._long), default=0)
        # Piece by piece: a line of many MiB may hold a marker a million times, and each time is an object.
        pieces = (distinct[at : at + _PIECE + longest] for at in range(0, len(distinct), _PIECE))
        found = {
            self._long[number]
            for each in pieces
            for number, _, _ in self._automaton.find_matches_as_indexes(each, overlapping=True)
        }
        found.update(each for each, bare in self._short if bare in distinct)
        return frozenset({b"", *found} - {each for each in self._with_digits & found if each not in chunk.text})


@cache
def _markers() -> _Markers:
    found = {marker for each in formats() for marker in (each.marker, *(one.marker for one in each.readings))}
    return _Markers(tuple(sorted(found - {b""})))


@dataclass(frozen=True)
class _Searched:
    """A chunk, and the markers that stand in it."""

    chunk: Chunk
    markers: frozenset[bytes]


def claims(chunks: Iterable[Chunk]) -> list[Claim]:
    """Return the formats that can read a record in the chunks; where none can, the first that recognises a start.

    Weak readings, whose lines other printers' logs hold as well, count only where no format finds other lines. One start
    is enough: printers of one family announce themselves alike, and without records nothing could be read differently.
    """
    chunks = list(chunks)
    keys = _keys_of_document(chunks)
    known = [each for each in formats() if keys is None or not each.document or each.document in keys]
    read = chunks if keys is None else [replace(each, text=_STRING.sub(_without_words, each.text)) for each in chunks]
    seen = [_Searched(each, _markers().present(each)) for each in read]
    present = frozenset[bytes]().union(*(each.markers for each in seen))
    marked = [each for each in known if each.marker in present]
    for weak in (False, True):
        if found := [claim for each in marked if (claim := _reads(each, seen, weak))]:
            highest = (each for each in found if not any(_outranks(other.format, each.format) for other in found))
            return [replace(each, beneath=_beneath(each, found)) for each in highest]
    # One that begins as another over which it stands is told from it by its records alone.
    begins = {each.id: each.start for each in known}
    likely = sorted(known, key=lambda each: bool(each.start) and each.start in map(begins.get, each.over))
    return list(islice((claim for each in likely if (claim := _starts(each, seen))), 1))


def _keys_of_document(chunks: list[Chunk]) -> frozenset[str] | None:
    """Return the keys at the top of a JSON document, which an array lacks; None if the chunks are not one document."""
    if not chunks or not chunks[0].text.lstrip().startswith((b"[", b"{")):
        return None
    try:
        document = msgspec.json.decode(
            b"".join(each.text for each in chunks), type=dict[str, msgspec.Raw] | list[msgspec.Raw]
        )
    except (msgspec.DecodeError, RecursionError):
        return None
    return frozenset(document if isinstance(document, dict) else ())


def _without_words(string: re.Match[bytes]) -> bytes:
    """Return a string of the same length, since the words of a value may quote a log; keys and single words stay as they are."""
    return string[0] if string["key"] is not None or b" " not in string[0] else b'"%s"' % (b"_" * (len(string[0]) - 2))


def probes(path: Path) -> Iterator[Chunk]:
    """Yield chunks spread evenly over a long file, the last bytes included."""
    with open_log(path) as stream:
        size = stream.seek(0, os.SEEK_END)
        for number in range(1, PROBES + 1):
            stream.seek(max(0, (size - PROBE_BYTES) * number // PROBES))
            yield from clean(iter([(stream.read(PROBE_BYTES), 0, 0, 0)]), Noise())


def _outranks(format: Format, other: Format) -> bool:
    """Return whether a format's claim stands above another's; of two that name each other, neither does."""
    return _names(format, other) and not _names(other, format)


def _beneath(claim: Claim, found: Iterable[Claim]) -> tuple[Format, ...]:
    return tuple(each.format for each in found if "*" in claim.format.over and _outranks(claim.format, each.format))


def _names(format: Format, other: Format) -> bool:
    return format.id != other.id and bool({"*", other.id} & set(format.over))


def _reads(format: Format, seen: Iterable[_Searched], weak: bool) -> Claim | None:
    readings = [each for each in format.readings if each.weak == weak]
    for each in seen if readings else ():
        text = each.chunk.text
        marked = [one for one in readings if one.marker in each.markers] if format.marker in each.markers else ()
        likely = dict.fromkeys(one.finder for one in marked if one.may_stand_in(each.chunk.distinct))
        if any(one.search(text) for one in likely):
            return Claim(format, each.chunk, tuple(likely), records=True)
    return None


def _starts(format: Format, seen: Iterable[_Searched]) -> Claim | None:
    """Return a claim by the start of the program, looked for in the first few MiB."""
    left = HEAD_CHUNKS * CHUNK
    for chunk in (each.chunk for each in seen):
        likely = left > 0 and format.may_start_in(chunk.distinct) and format.start_regex
        if likely and likely.search(chunk.text, 0, left):
            return Claim(format, chunk, (likely,), records=False)
        left -= len(chunk.text)
    return None
