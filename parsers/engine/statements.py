"""What the text of a session states besides its records: facts, the printer's end, and the message of a crash.

The text is read once, as it passes. Its first MiB is searched as a whole, since a configuration may stand in two
chunks; what comes later, chunk by chunk. Conditions of readings are decided when all of it was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from perfledger.parsers.contract import Fact, Format, Reading, Record
from perfledger.parsers.contract.conditions import Clue, Condition
from perfledger.parsers.engine.outcome import Message, may_say, message
from perfledger.schema.distinct_lines import distinct_lines

HEAD = 1 << 20
#: A crash shows in the last lines.
TAIL = 1 << 16


@dataclass(frozen=True)
class Quoted:
    """A fact as the log states it, and the line that does."""

    value: int | str
    line: int


@dataclass(frozen=True)
class Restated:
    """A fact that the same words state again, with another value, behind records or a crash: of another run."""

    fact: str
    first: Quoted
    second: Quoted


@dataclass(frozen=True)
class Statements:
    """What one session states.

    Attributes:
        first_line: number of its first line.
        last_line: number of its last line, which may lack a newline.
        next_line: number of the line that the text after it begins on.
        facts: by name; of several patterns for one fact, the first that matches counts.
        unmet: readings whose condition it does not meet.
        end_line: where the printer first says that it is done, 0 where it does not.
        restated: a fact of another run, if there is one.
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
    """A stretch of whole lines, with the numbers of its lines and of the records in it.

    `distinct` are its distinct lines, perhaps with others around it, and `firsts` says where in it the first record of
    each reading begins. `found` are the records, where they are known, in a text in which the stretch begins at `begin`.
    """

    text: bytes
    lines: int
    distinct: bytes
    records: int = 0
    firsts: tuple[tuple[Reading, int], ...] = ()
    found: Sequence[Record] = ()
    begin: int = 0


def joined(pieces: Sequence[Piece]) -> Piece:
    """Return pieces that follow each other as one; single records are not known of several any more."""
    if len(pieces) == 1:
        return pieces[0]
    begins = accumulate((len(each.text) for each in pieces), initial=0)
    firsts = [(one, begin + at) for each, begin in zip(pieces, begins, strict=False) for one, at in each.firsts]
    return Piece(
        b"".join(each.text for each in pieces),
        sum(each.lines for each in pieces),
        b"\n".join(each.distinct for each in pieces),
        sum(each.records for each in pieces),
        tuple(firsts),
    )


class LikelyStatements:
    """What texts may state, by their distinct lines; many sessions of a chunk ask for the same."""

    def __init__(self, format: Format) -> None:
        self._facts, self._may_end = format.facts, format.may_end_in
        self.facts = lru_cache(maxsize=2)(self._facts_in)
        self.ends = lru_cache(maxsize=2)(self._may_end)
        self.says = lru_cache(maxsize=2)(may_say)

    def _facts_in(self, distinct: bytes) -> tuple[Fact, ...]:
        return tuple(each for each in self._facts if each.may_stand_in(distinct))


class StatementCollector:
    """Collects the statements of a session from its text, which is handed over piece by piece."""

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
        """Take the next piece of text."""
        text, line = piece.text, self._next
        if self._head is None and self._unsaid:
            # A clue may begin in the lines before.
            self._listen(self._tail + text, distinct_lines(self._tail) + b"\n" + piece.distinct)
        self._next += piece.lines
        self._says = self._likely.says(piece.distinct) or (self._says and len(text) < TAIL)
        self._tail = (self._tail + text)[-TAIL:] if len(text) < TAIL else text[-TAIL:]
        if self._head is not None:
            self._head.append(piece)
        elif self._likely.facts(piece.distinct) or (not self._end_line and self._likely.ends(piece.distinct)):
            mostly_records = self._trained and b"\r" not in text and 2 * len(piece.found) > piece.lines
            searched = _without_records(piece, line) if mostly_records else (text, range(line, self._next + 1))
            self._search(*searched, piece.distinct, self._trained_from(piece))
        self._trained |= piece.records > 0
        if self._head is not None and sum(len(each.text) for each in self._head) >= HEAD:
            self._search_head()

    def statements(self) -> Statements:
        """Return what was stated; call it once, at the end."""
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
        self._listen(head.text, head.distinct)
        trained, self._trained = self._trained, False
        self._search(head.text, range(self._line, self._next + 1), head.distinct, self._trained_from(head))
        self._trained = trained

    def _stated(self) -> dict[str, Quoted]:
        """Return the facts whose condition is met; of several for one name the one that was found first."""
        found = dict[str, Quoted]()
        for (name, where), (_, quoted) in self._facts.items():
            if where is None or where.is_met(self._said):
                found.setdefault(name, quoted)
        return found

    def _listen(self, text: bytes, distinct: bytes) -> None:
        """Note which clues of conditions a text contains."""
        found = {each for each in self._unsaid if each.may_stand_in(distinct) and each.regex.search(text)}
        self._unsaid -= found
        self._said |= found

    def _unmet(self) -> tuple[Reading, ...]:
        """Return the readings whose condition the text up to here does not meet."""
        return tuple(each for each in self.format.readings if each.where and not each.where.is_met(self._said))

    def _trained_from(self, piece: Piece) -> int | None:
        """Return where in a piece the first record of training begins, its length if it is of none; None before any."""
        if self._trained or not piece.records:
            return 0 if self._trained else None
        unmet = self._unmet()
        found = [at for each, at in piece.firsts if each.span != "run" and each not in unmet]
        return min(found, default=len(piece.text))

    def _search(self, text: bytes, numbers: Sequence[int], distinct: bytes, after: int | None) -> None:
        """Search a text whose lines have these numbers; from `after` on another value is of another run.

        Before that the last value counts: programs print a configuration file as it is, then what they run with, and a
        program that failed before its first step may have been started again with other settings.
        """
        later: bytes | None = None
        for fact in self._likely.facts(distinct):
            key = (fact.name, fact.where)
            known = self._facts.get(key)
            may_change = known is not None and known[0] is fact and after != 0 and not fact.first
            if (known is None or may_change) and (found := _quoted(fact, text, numbers, after)):
                known = self._facts[key] = (fact, found)
            if after is None or not known or known[0] is not fact or fact.where or fact.first or self._restated:
                continue
            later = (distinct_lines(text[after:]) if after else distinct) if later is None else later
            if fact.may_stand_in(later):
                self._restate(known, text, numbers, after)
        likely = not self._end_line and self._likely.ends(distinct) and self.format.end_regex
        if likely and (end := likely.search(text)):
            self._end_line = numbers[text.count(b"\n", 0, end.start())]

    def _restate(self, stated: tuple[Fact, Quoted], text: bytes, numbers: Sequence[int], after: int) -> None:
        fact, known = stated
        # Some lines state a fact with each record, in the same words.
        values = {printed: fact.value(printed) for printed in {match[1] for match in fact.regex.finditer(text, after)}}
        others = {printed: value for printed, value in values.items() if value not in (None, known.value)}
        if others:
            match = next(each for each in fact.regex.finditer(text, after) if each[1] in others)
            line = numbers[text.count(b"\n", 0, match.start(1))]
            self._restated = Restated(fact.name, known, Quoted(others[match[1]], line))


def _without_records(piece: Piece, line: int) -> tuple[bytes, Sequence[int]]:
    """Return the lines of a piece that hold no record, and their numbers; all lines where a record has several."""
    ends = np.flatnonzero(np.frombuffer(piece.text, np.uint8) == ord("\n"))
    held = np.searchsorted(ends, [each.start() - piece.begin for each in piece.found])
    if (held != np.searchsorted(ends, [each.end() - 1 - piece.begin for each in piece.found])).any():
        return piece.text, range(line, line + piece.lines + 1)
    free = np.ones(len(ends) + 1, dtype=np.bool_)
    free[held] = False
    others = np.flatnonzero(free)
    begins = np.append(-1, ends)[others] + 1
    stops = np.append(ends, len(piece.text))[others]
    spans = zip(begins.tolist(), stops.tolist(), strict=True)
    return b"\n".join(piece.text[begin:end] for begin, end in spans), (others + line).tolist()


def _quoted(fact: Fact, text: bytes, numbers: Sequence[int], after: int | None) -> Quoted | None:
    """Return a fact as a text states it: its last value before `after`, or else its first, with the line of that value.

    If the first place holds no value, the text states nothing.
    """
    found: Quoted | None = None
    for match in fact.regex.finditer(text):
        if found and (fact.first or (after is not None and match.start(1) >= after)):
            break
        value = fact.value(match[1])
        if value is None and not found:
            return None
        if value is not None and (not found or value != found.value):
            found = Quoted(value, numbers[text.count(b"\n", 0, match.start(1))])
    return found
