"""Find the formats that claim a log: they can read at least one line of it. A log is read if exactly one claims it.

In a long file, only the first chunks and probes of the rest are searched. The words of the records of all formats are
searched in one pass, so that a further format costs hardly any time. A JSON document that quotes lines of a log in its
strings is not that log.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from perfledger.parsers.contract import Format, Reading, Rows
from perfledger.parsers.contract.chunk import Chunk
from perfledger.parsers.engine.registry import formats
from perfledger.parsers.engine.scan import CHUNK, Noise, clean, open_log
from perfledger.schema.distinct_lines import without_digits

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

#: Chunks at the beginning of a file that are searched.
HEAD_CHUNKS = 8
#: Probes of the rest of a long file.
PROBES = 16
#: Bytes of a probe.
PROBE_BYTES = CHUNK // 4
#: Bytes of distinct lines per search.
_PIECE = 1 << 16
#: Shortest word that is searched together with others, in characters.
_LONG = 4
#: A string of JSON.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"(?P<key>(?=\s*+:))?+')


@dataclass(frozen=True)
class Claim:
    """A format that claims a log, and the chunk with its first record.

    Attributes:
        format: the format.
        chunk: the chunk with its first record, or with the start of the program if the log has no record.
        patterns: the patterns that may have matched in the chunk.
        records: whether the format found a record.
        beneath: other formats with records, if this format overrides all others.
    """

    format: Format
    chunk: Chunk
    patterns: tuple[re.Pattern[bytes] | Rows, ...]
    records: bool
    beneath: tuple[Format, ...] = ()

    @cached_property
    def line(self) -> int:
        """Return the line number of the first match, for messages."""
        found = (each.search(self.chunk.text) for each in self.patterns)
        return self.chunk.line_of(min(match.start() for match in found if match))


@dataclass(frozen=True)
class _Known:
    """The formats, and an index of their readings by words of their records."""

    formats: tuple[Format, ...]

    @cached_property
    def _by_word(self) -> Mapping[bytes, Sequence[tuple[str, Reading]]]:
        """Return the readings by the longest word of their records, or by each of several alternative words.

        A reading without a word is indexed by the text that its format needs.
        """
        found: dict[bytes, list[tuple[str, Reading]]] = defaultdict(list)
        for each in self.formats:
            for reading in each.readings:
                for word in reading.words[0] if reading.words else (without_digits(each.needs),):
                    found[word].append((each.id, reading))
        return found

    @cached_property
    def _long(self) -> tuple[bytes, ...]:
        """Return the words that do not occur a thousand times in any log."""
        return tuple(sorted(each for each in self._by_word if len(each) >= _LONG))

    @cached_property
    def _automaton(self) -> BytesAhoCorasick:
        from ahocorasick_rs import BytesAhoCorasick

        return BytesAhoCorasick(list(self._long))

    def _present(self, chunk: Chunk) -> Iterable[bytes]:
        """Return the words that a chunk contains."""
        distinct, longest = chunk.distinct, max(map(len, self._long), default=0)
        # A line of many MiB may contain a word a million times, and each match is an object: search in pieces.
        pieces = (distinct[at : at + _PIECE + longest] for at in range(0, len(distinct), _PIECE))
        found = {
            self._long[number]
            for each in pieces
            for number, _, _ in self._automaton.find_matches_as_indexes(each, overlapping=True)
        }
        found.update(each for each in self._by_word if len(each) < _LONG and each in distinct)
        return sorted(found)

    def searched(self, chunk: Chunk) -> _Searched:
        """Return a chunk with the readings of each format that may have a record in it."""
        likely = defaultdict[str, list[Reading]](list)
        for word in self._present(chunk):
            for format_id, reading in self._by_word[word]:
                if reading.may_stand_in(chunk.distinct):
                    likely[format_id].append(reading)
        return _Searched(chunk, dict(likely))


@cache
def _known() -> _Known:
    return _Known(formats())


def index_formats() -> None:
    """Load the formats and index them by their words, so that copies of this process need not do it."""
    _known().searched(Chunk(b"", first_line=1, offset=0, bytes=0, lines=0))


@dataclass(frozen=True)
class _Searched:
    """A chunk, and the readings that may have a record in it, by the id of their format."""

    chunk: Chunk
    likely: Mapping[str, Sequence[Reading]]


def claims(chunks: Iterable[Chunk]) -> list[Claim]:
    """Return the formats that can read a record in the chunks; else the first format that recognises a start.

    Weak readings match lines of other printers too, so they count only if no format finds other lines. A single start is
    returned: formats of one family have the same start, and it does not matter which of them reads a log without records.
    """
    chunks = list(chunks)
    if _are_document(chunks):
        chunks = [replace(each, text=_STRING.sub(_without_words, each.text)) for each in chunks]
    seen = [_known().searched(each) for each in chunks]
    likely_ids = {format_id for one in seen for format_id in one.likely}
    marked = [each for each in formats() if each.id in likely_ids and _has_needed(each, seen)]
    for weak in (False, True):
        if found := [claim for each in marked if (claim := _reads(each, seen, weak))]:
            highest = (each for each in found if not any(_outranks(other.format, each.format) for other in found))
            return [replace(each, beneath=_beneath(each, found)) for each in highest]
    # A format that has the same start as a format that it overrides differs in its records: it comes last here.
    begins = {each.id: each.start for each in formats()}
    likely = sorted(formats(), key=lambda each: bool(each.start) and each.start in map(begins.get, each.over))
    return list(islice((claim for each in likely if (claim := _starts(each, seen))), 1))


def _are_document(chunks: list[Chunk]) -> bool:
    """Return whether the chunks are one JSON document, an object or an array."""
    if not chunks or not chunks[0].text.lstrip().startswith((b"[", b"{")):
        return False
    try:
        msgspec.json.decode(b"".join(each.text for each in chunks), type=dict[str, msgspec.Raw] | list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _without_words(string: re.Match[bytes]) -> bytes:
    """Blank a JSON string of several words, which may quote a log; keep its length. Keys and single words do not change."""
    return string[0] if string["key"] is not None or b" " not in string[0] else b'"%s"' % (b"_" * (len(string[0]) - 2))


def probes(path: Path) -> Iterator[Chunk]:
    """Yield chunks spread evenly over a long file, the last bytes included."""
    with open_log(path) as stream:
        size = stream.seek(0, os.SEEK_END)
        for number in range(1, PROBES + 1):
            stream.seek(max(0, (size - PROBE_BYTES) * number // PROBES))
            yield from clean(iter([(stream.read(PROBE_BYTES), 0, 0, 0)]), Noise())


def _outranks(format: Format, other: Format) -> bool:
    """Return whether a format overrides another one; two formats that name each other do not."""
    return _names(format, other) and not _names(other, format)


def _beneath(claim: Claim, found: Iterable[Claim]) -> tuple[Format, ...]:
    return tuple(each.format for each in found if "*" in claim.format.over and _outranks(claim.format, each.format))


def _names(format: Format, other: Format) -> bool:
    return format.id != other.id and bool({"*", other.id} & set(format.over))


def _has_needed(format: Format, seen: Iterable[_Searched]) -> bool:
    return not format.needs or any(format.needs in each.chunk.text for each in seen)


def _reads(format: Format, seen: Iterable[_Searched], weak: bool) -> Claim | None:
    for each in seen:
        likely = {one.finder: one for one in each.likely.get(format.id, ()) if one.weak == weak}
        # The text that a format needs identifies its logs: headings are enough.
        if any((one.finder.search if format.needs else one.first_in)(each.chunk.text) for one in likely.values()):
            return Claim(format, each.chunk, tuple(likely), records=True)
    return None


def _starts(format: Format, seen: Iterable[_Searched]) -> Claim | None:
    """Return a claim by the start of the program, which is searched in the first few MiB."""
    left = HEAD_CHUNKS * CHUNK
    for chunk in (each.chunk for each in seen):
        start = format.start_clue
        if start and left > 0 and start.may_stand_in(chunk.distinct) and start.regex.search(chunk.text, 0, left):
            return Claim(format, chunk, (start.regex,), records=False)
        left -= len(chunk.text)
    return None
