"""Conditions on the text of a session, for lines whose meaning depends on the session."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from perfledger.parsers.contract.clue import Clue


@dataclass(frozen=True)
class Condition:
    """A condition on the text of a session: clues that it must contain, and clues that it must not contain.

    It is decided at the end of the session, since a program may name its benchmark after a million lines.

    Attributes:
        says: clues that the text must contain.
        lacks: clues that the text must not contain, and conditions that the session must not meet.
    """

    says: tuple[Clue, ...] = ()
    lacks: tuple[Clue | Condition, ...] = ()

    def clues(self) -> Iterator[Clue]:
        """Yield every clue that the condition depends on."""
        yield from self.says
        for each in self.lacks:
            yield from each.clues() if isinstance(each, Condition) else (each,)

    def is_met(self, said: AbstractSet[Clue]) -> bool:
        """Return whether a session meets the condition if its text contains exactly these clues."""
        refused = (each.is_met(said) if isinstance(each, Condition) else each in said for each in self.lacks)
        return all(each in said for each in self.says) and not any(refused)

    def __and__(self, other: Condition) -> Condition:
        """Return a condition that is met if both conditions are met."""
        return Condition(self.says + other.says, self.lacks + other.lacks)


def says(*patterns: str | bytes) -> Condition:
    """Require that the session contains each of these patterns."""
    return Condition(says=tuple(map(Clue, patterns)))


def lacks(*parts: str | bytes | Condition) -> Condition:
    """Require that the session does not contain any of these patterns or meet any of these conditions."""
    return Condition(lacks=tuple(each if isinstance(each, Condition) else Clue(each) for each in parts))
