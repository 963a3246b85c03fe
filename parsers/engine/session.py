"""A session: one start-to-end execution inside a log file, with what its log states besides the records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from parsers.contract import Format, Reading
from parsers.engine.outcome import Ending, ending
from parsers.engine.table import LogSource, SessionRecords, Stretch

#: Facts are looked for in the first bytes of a session, and in the last, where launchers repeat the command.
FACTS_HEAD = 1 << 20
FACTS_TAIL = 1 << 16


@dataclass(frozen=True)
class Quoted:
    """A fact as the log states it, and the line that does."""

    value: int | str
    line: int


class Extent(NamedTuple):
    """A part of a chunk's clean text."""

    stretch: Stretch
    begin: int
    end: int


@dataclass(frozen=True)
class Session:
    """One start-to-end execution inside a log file."""

    number: int
    format: Format
    records: tuple[SessionRecords, ...]
    source: LogSource = field(repr=False)
    head: tuple[Extent, ...] = field(repr=False)
    tail: tuple[Extent, ...] = field(repr=False)

    @property
    def main(self) -> SessionRecords:
        """Return the records of the format's main reading."""
        return self.records[0]

    @cached_property
    def first_line(self) -> int:
        """Return the number of its first line."""
        return self._text(self.head[0])[1]

    @cached_property
    def last_line(self) -> int:
        """Return the number of its last line, which may lack a newline."""
        text, line = self._text(self.tail[-1])
        return line + text.count(b"\n") - text.endswith(b"\n")

    @cached_property
    def facts(self) -> dict[str, Quoted]:
        """Return the facts by name; of several patterns for one fact, the first that matches counts."""
        beyond = self.tail if sum(each.end - each.begin for each in self.head) >= FACTS_HEAD else ()
        return dict(_facts(self.format, [(self._head(), self.first_line), *map(self._text, beyond)]))

    def without_unmet_readings(self) -> Session:
        """Return the session without the records of readings whose `where` does not match its head."""
        if not any(each.where for each in self.format.readings):
            return self
        head = self._head()
        return replace(
            self, records=tuple(each if _holds(each.reading, head) else each.none() for each in self.records)
        )

    def _head(self) -> bytes:
        """Join the head of the session, since a configuration may stand in two chunks."""
        return b"".join(self._text(each)[0] for each in self.head)

    @cached_property
    def ending(self) -> Ending:
        """Judge from its last lines how it ended."""
        texts = [self._text(each) for each in self.tail]
        tail, line = b"".join(text for text, _ in texts), texts[0][1]
        end = self.format.end_regex
        return ending(tail, line, bool(end.search(tail)) if end else None, sum(map(len, self.records)))

    def _text(self, extent: Extent) -> tuple[bytes, int]:
        chunk = self.source.chunk(extent.stretch)
        # Patterns of facts expect one byte at the end of a line, also in files that have two.
        return chunk.text[extent.begin : extent.end].replace(b"\r\n", b"\n"), chunk.line_of(extent.begin)


def _holds(reading: Reading, head: bytes) -> bool:
    return reading.where_regex is None or reading.where_regex.search(head) is not None


def _facts(format: Format, texts: list[tuple[bytes, int]]) -> Iterator[tuple[str, Quoted]]:
    stated: set[str] = set()
    for fact in format.facts:
        for text, line in texts if fact.name not in stated else ():
            match = fact.regex.search(text)
            value = fact.value(match[1]) if match else None
            if match and value is not None:
                stated.add(fact.name)
                yield fact.name, Quoted(value, line + text.count(b"\n", 0, match.start(1)))
                break
