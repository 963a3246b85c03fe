"""A format: the lines that one program prints, and their meaning."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from perfledger.parsers.contract.clue import Clue, Start
from perfledger.parsers.contract.fact import Fact
from perfledger.parsers.contract.reading import Reading


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
            the training program. Its readings of the whole run without a unit and a condition are read in sessions of all
            other formats, too.
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
    needs: bytes = b""
    id: str = ""
    doc: str = ""

    @cached_property
    def start_clue(self) -> Start | None:
        """Return the start of the program, if the format has one."""
        return Start(self.start) if self.start else None

    @cached_property
    def before_start_clue(self) -> Clue | None:
        """Return the lines before the start, if the format has some."""
        return Clue(self.before_start) if self.before_start else None

    @cached_property
    def end_clue(self) -> Clue | None:
        """Return the last line of the program, if the format has one."""
        return Clue(self.end) if self.end else None

    def starts(self, text: bytes, distinct: bytes) -> list[int]:
        """Return the position of each start of the program in a text with some distinct lines."""
        if not self.start_clue or not self.start_clue.may_stand_in(distinct):
            return []
        regex = self.start_clue.regex
        at = "start" if "start" in regex.groupindex else 0
        found = ((match.start(at), match.start()) for match in regex.finditer(text))
        return [named if named >= 0 else whole for named, whole in found]

    @property
    def main(self) -> Reading:
        """Return the first reading, whose records are counted and used for figures."""
        return self.readings[0]
