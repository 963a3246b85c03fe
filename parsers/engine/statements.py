"""Collect the statements of a session's text: facts, the program's last line, and the message of a crash.

The text is read once, piece by piece. Its first MiB is searched as a whole, since a configuration may span two chunks.
Later text is searched by chunk. Conditions of readings are decided after the last piece.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.contract.clue import Clue
from perfledger.parsers.contract.conditions import Condition
from perfledger.parsers.engine.outcome import Message, may_say, message
from perfledger.schema.distinct_lines import distinct_lines

#: Bytes at the beginning of a session that are searched as a whole.
HEAD = 1 << 20
#: Bytes at the end of a session that are searched for the message of a crash.
TAIL = 1 << 16


@dataclass(frozen=True)
class Quoted:
    """The value of a fact in the log, and its line number."""

    value: int | str
    line: int


@dataclass(frozen=True)
class Restated:
    """A fact that the same pattern finds again with another value, after records or a crash: it is of another run."""

    fact: str
    first: Quoted
    second: Quoted


@dataclass(frozen=True)
class Statements:
    """The statements of one session.

    Attributes:
        first_line: number of its first line.
        last_line: number of its last line, which may lack a newline.
        next_line: number of the first line of the text after it.
        facts: by name; if several patterns of one fact match, the first counts.
        unmet: readings whose condition it does not meet.
        end_line: line number of the program's last line, 0 if it was not printed.
        restated: a fact of another run, if the session contains one.
        message: of a crash or a signal, in its last lines.
    """

    first_line: int
    last_line: int
    next_line: int
    facts: Mapping[str, Quoted]
    unmet: tuple[Reading, ...] = ()
    end_line: int = 0
    restated: Restated | None = None
    message: Message | None = None


class Piece(NamedTuple):
    """A stretch of whole lines.

    Attributes:
        text: the lines.
        lines: number of newlines.
        distinct: its distinct lines, perhaps with those of lines around it.
        records: number of records.
        firsts: position of the first record of each reading.
        last: position after the last record of any reading; 0 if it has none.
    """

    text: bytes
    lines: int
    distinct: bytes
    records: int = 0
    firsts: tuple[tuple[Reading, int], ...] = ()
    last: int = 0


def joined(pieces: Sequence[Piece]) -> Piece:
    """Join consecutive pieces."""
    if len(pieces) == 1:
        return pieces[0]
    begins = list(accumulate((len(each.text) for each in pieces[:-1]), initial=0))
    firsts = [(one, begin + at) for each, begin in zip(pieces, begins, strict=True) for one, at in each.firsts]
    return Piece(
        b"".join(each.text for each in pieces),
        sum(each.lines for each in pieces),
        b"\n".join(each.distinct for each in pieces),
        sum(each.records for each in pieces),
        tuple(firsts),
        max((begin + each.last for each, begin in zip(pieces, begins, strict=True) if each.last), default=0),
    )


class LikelyStatements:
    """A cache of the statements that a text may contain, by its distinct lines: sessions of one chunk share them."""

    def __init__(self, format: Format) -> None:
        self._facts, self._end = format.facts, format.end_clue
        self.facts = lru_cache(maxsize=2)(self._facts_in)
        self.end = lru_cache(maxsize=2)(self._end_in)
        self.says = lru_cache(maxsize=2)(may_say)

    def _facts_in(self, distinct: bytes) -> tuple[Fact, ...]:
        return tuple(each for each in self._facts if each.may_stand_in(distinct))

    def _end_in(self, distinct: bytes) -> Clue | None:
        return self._end if self._end and self._end.may_stand_in(distinct) else None


class StatementCollector:
    """Collects the statements of a session from its text, which `add` gets piece by piece."""

    def __init__(self, format: Format, first_line: int, likely: LikelyStatements) -> None:
        self.format = format
        self._likely = likely
        self._line = self._next = first_line
        self._facts: dict[tuple[str, Condition | None], tuple[Fact, Quoted]] = {}
        self._restated: Restated | None = None
        conditions = {each.where for each in format.readings} | {each.where for each in format.facts}
        self._unsaid = {clue for each in conditions if each for clue in each.clues()}
        self._said = set[Clue]()
        self._end_line = 0
        self._head: list[Piece] | None = []
        self._tail = b""
        self._says = False
        self._trained = False

    def add(self, piece: Piece) -> None:
        """Add the next piece of text."""
        text, line = piece.text, self._next
        if self._head is None and self._unsaid:
            # A clue may begin in the lines before.
            self._find_clues(self._tail + text, distinct_lines(self._tail) + b"\n" + piece.distinct)
        self._next += piece.lines
        self._says = self._likely.says(piece.distinct) or (self._says and len(text) < TAIL)
        self._tail = (self._tail + text)[-TAIL:] if len(text) < TAIL else text[-TAIL:]
        if self._head is not None:
            self._head.append(piece)
        elif self._likely.facts(piece.distinct) or (not self._end_line and self._likely.end(piece.distinct)):
            self._search(text, line, piece.distinct, self._trained_from(piece))
        self._trained |= piece.records > 0
        if self._head is not None and sum(len(each.text) for each in self._head) >= HEAD:
            self._search_head()

    def statements(self) -> Statements:
        """Return the statements; call it once, after the last piece."""
        if self._head is not None:
            self._search_head()
        return Statements(
            self._line,
            self._next - self._tail.endswith(b"\n"),
            self._next,
            self._stated(),
            self._unmet(),
            self._end_line,
            self._restated,
            message(self._tail, self._next) if self._says else None,
        )

    def _search_head(self) -> None:
        head, self._head = joined(self._head or []), None
        self._find_clues(head.text, head.distinct)
        trained, self._trained = self._trained, False
        self._search(head.text, self._line, head.distinct, self._trained_from(head))
        self._trained = trained

    def _stated(self) -> dict[str, Quoted]:
        """Return the facts whose condition is met, by name; the first one found counts."""
        found = dict[str, Quoted]()
        for (name, where), (_, quoted) in self._facts.items():
            if where is None or where.is_met(self._said):
                found.setdefault(name, quoted)
        return found

    def _find_clues(self, text: bytes, distinct: bytes) -> None:
        """Record the clues of conditions that a text contains."""
        found = {each for each in self._unsaid if each.may_stand_in(distinct) and each.regex.search(text)}
        self._unsaid -= found
        self._said |= found

    def _unmet(self) -> tuple[Reading, ...]:
        """Return the readings whose condition the text up to here does not meet."""
        return tuple(each for each in self.format.readings if each.where and not each.where.is_met(self._said))

    def _trained_from(self, piece: Piece) -> int | None:
        """Return the position of the first record of training in a piece.

        Return 0 if training began in an earlier piece, the length of the piece if its records are not of training, and
        None if neither this piece nor an earlier one has a record.
        """
        if self._trained or not piece.records:
            return 0 if self._trained else None
        unmet = self._unmet()
        found = [at for each, at in piece.firsts if each.span != "run" and each not in unmet]
        return min(found, default=len(piece.text))

    def _search(self, text: bytes, line: int, distinct: bytes, after: int | None) -> None:
        """Search a text for facts and for the program's last line.

        From `after` on, another value is of another run. Before it the last value counts: programs print a configuration
        file first and the settings in use later, and a program that failed before its first step may have been started
        again with other settings.

        Args:
            text: the text.
            line: the number of its first line.
            distinct: its distinct lines.
            after: position of the first record of training; None before the first record.
        """
        later: bytes | None = None
        for fact in self._likely.facts(distinct):
            key = (fact.name, fact.where)
            known = self._facts.get(key)
            may_change = known is not None and known[0] is fact and after != 0 and not fact.first
            if (known is None or may_change) and (found := _quoted(fact, text, line, after)):
                known = self._facts[key] = (fact, found)
            if after is None or not known or known[0] is not fact or fact.where or fact.first or self._restated:
                continue
            later = (distinct_lines(text[after:]) if after else distinct) if later is None else later
            if fact.may_stand_in(later):
                self._restate(known, text, line, after)
        likely = None if self._end_line else self._likely.end(distinct)
        if likely and (end := likely.regex.search(text)):
            self._end_line = line + text.count(b"\n", 0, end.start())

    def _restate(self, stated: tuple[Fact, Quoted], text: bytes, line: int, after: int) -> None:
        fact, known = stated
        # Some programs print a fact in each record: the same value is not another run.
        values = {printed: fact.value(printed) for printed in {match[1] for match in fact.regex.finditer(text, after)}}
        others = {printed: value for printed, value in values.items() if value not in (None, known.value)}
        if others:
            match = next(each for each in fact.regex.finditer(text, after) if each[1] in others)
            second = Quoted(others[match[1]], line + text.count(b"\n", 0, match.start(1)))
            self._restated = Restated(fact.name, known, second)


def _quoted(fact: Fact, text: bytes, line: int, after: int | None) -> Quoted | None:
    """Return a fact's last value before `after`, else its first value, with its line.

    Return None if the first match has no valid value.
    """
    found: Quoted | None = None
    for match in fact.regex.finditer(text):
        if found and (fact.first or (after is not None and match.start(1) >= after)):
            break
        value = fact.value(match[1])
        if value is None and not found:
            return None
        if value is not None and (not found or value != found.value):
            found = Quoted(value, line + text.count(b"\n", 0, match.start(1)))
    return found
