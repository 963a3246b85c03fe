"""A format: the lines that one program prints, and their meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from perfledger.parsers.contract.fact import Fact
from perfledger.parsers.contract.literals import Alternatives, all_in, literals
from perfledger.parsers.contract.patterns import compiled, searched
from perfledger.parsers.contract.reading import Reading
from perfledger.parsers.contract.template import compiled_text


@dataclass(frozen=True)
class Format:
    """The lines and facts of one printer.

    Attributes:
        title: name of the printer on the pages.
        readings: the kinds of lines; records of the first are counted and used for figures.
        facts: values that a log states once.
        start: matches once per start of the program, if the printer announces itself. If the announcement begins before
            the match, the group `start` begins there.
        before_start: matches lines that the program or its launcher prints before the start. A session begins at the
            first of them after the last record of the previous session. The engine knows common launchers itself.
        end: matches the last line of the program.
        framework: the training framework, if only one prints such lines.
        over: ids of formats, or `*` for all, whose claims this one overrides: MLPerf's lines are printed between those of
            the training program.
        frames: readings that sessions of every other format get as well: lines around a run of any program.
        needs: text that every log of the format contains, if its records alone do not identify it. A log with this text
            is claimed even if its records only count steps or print private columns.
        unproven: whether the format was written from the printer's source, without a real log. The format's page and
            every figure say so.
        id: `package.module`, filled in by the registry.
        doc: the module's docstring, filled in by the registry.
    """

    title: str
    readings: tuple[Reading, ...] = ()
    facts: tuple[Fact, ...] = ()
    start: str | bytes | None = None
    before_start: str | bytes | None = None
    end: str | bytes | None = None
    framework: str = ""
    over: tuple[str, ...] = ()
    unproven: bool = False
    frames: tuple[Reading, ...] = ()
    needs: bytes = b""
    id: str = ""
    doc: str = ""

    @cached_property
    def start_regex(self) -> re.Pattern[bytes] | None:
        """Compile the start pattern, if the format has one."""
        return compiled(compiled_text(self.start)) if self.start else None

    @cached_property
    def _start_words(self) -> tuple[Alternatives, ...]:
        return literals(self.start_regex) if self.start_regex else ()

    def may_start_in(self, distinct: bytes) -> bool:
        """Return whether the program may start in a text, by its distinct lines."""
        return self.start_regex is not None and all_in(self._start_words, distinct)

    def starts(self, text: bytes) -> list[int]:
        """Return the position of each start of the program in a text."""
        if not self.start_regex:
            return []
        at = "start" if "start" in self.start_regex.groupindex else 0
        found = ((match.start(at), match.start()) for match in self.start_regex.finditer(text))
        return [named if named >= 0 else whole for named, whole in found]

    @cached_property
    def before_start_regex(self) -> re.Pattern[bytes] | None:
        """Compile the pattern of the lines before the start, in multi-line mode: `^` is the start of a line."""
        return searched(compiled_text(self.before_start)) if self.before_start else None

    @cached_property
    def end_regex(self) -> re.Pattern[bytes] | None:
        """Compile the end pattern, if the format has one."""
        return searched(compiled_text(self.end)) if self.end else None

    @cached_property
    def _end_words(self) -> tuple[Alternatives, ...]:
        return literals(compiled(compiled_text(self.end), re.MULTILINE)) if self.end else ()

    def may_end_in(self, distinct: bytes) -> bool:
        """Return whether a text may contain the last line of the program, by its distinct lines."""
        return bool(self.end) and all_in(self._end_words, distinct)

    @property
    def main(self) -> Reading:
        """Return the first reading, whose records are counted and used for figures."""
        return self.readings[0]
