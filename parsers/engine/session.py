"""A session: one start-to-end execution inside a log file, with its records and its statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from perfledger.parsers.contract import COLUMNS, Format
from perfledger.parsers.engine.counters import Counters, counters
from perfledger.parsers.engine.outcome import Ending, ending
from perfledger.parsers.engine.statements import Quoted, Statements
from perfledger.parsers.engine.table import SessionRecords

#: A record of training has at least one of these columns. An accuracy alone may come from an evaluation, a memory size
#: from telemetry.
_TRAINING = frozenset(COLUMNS) - {"accuracy", "memory", "flops", "power"}


@dataclass(frozen=True)
class Session:
    """One start-to-end execution inside a log file.

    `view` is the same execution as read from the lines of the training program, if the session's format overrides the
    format of that program.
    """

    number: int
    format: Format
    records: tuple[SessionRecords, ...]
    stated: Statements
    view: Session | None = None

    @property
    def main(self) -> SessionRecords:
        """Return the records of the format's main reading."""
        return self.records[0]

    @property
    def first_line(self) -> int:
        """Return the number of its first line."""
        return self.stated.first_line

    @property
    def last_line(self) -> int:
        """Return the number of its last line, which may lack a newline."""
        return self.stated.last_line

    @property
    def facts(self) -> Mapping[str, Quoted]:
        """Return the facts by name."""
        return self.stated.facts

    @cached_property
    def counters(self) -> Counters | None:
        """Return its progress; None if its log does not print the planned number of epochs or steps."""
        facts = self.facts.items()
        return counters(self.records, {name: each.value for name, each in facts if isinstance(each.value, int)})

    @cached_property
    def ending(self) -> Ending:
        """Judge how it ended."""
        own = (each for each in self.records if each.reading in self.format.readings)
        said, of_training = self.stated, (each for each in own if _TRAINING & set(each.reading.columns))
        return ending(said.message, said.end_line, self.counters, sum(map(len, of_training)))
