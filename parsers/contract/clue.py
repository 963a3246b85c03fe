"""Text that a log may contain: a pattern, and words that exclude most logs without a search."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from perfledger.parsers.contract.literals import Alternatives, all_in, words_of_pattern
from perfledger.parsers.contract.patterns import compiled, searched
from perfledger.parsers.contract.template import compiled_text


class Sought:
    """A template or a pattern that logs are searched for, in multi-line mode: `^` is the start of a line."""

    pattern: str | bytes

    @cached_property
    def regex(self) -> re.Pattern[bytes]:
        """Compile the pattern."""
        return searched(compiled_text(self.pattern))

    @cached_property
    def _words(self) -> tuple[Alternatives, ...]:
        return words_of_pattern(compiled_text(self.pattern))

    def may_stand_in(self, distinct: bytes) -> bool:
        """Return whether a text may contain the pattern, by its distinct lines."""
        return all_in(self._words, distinct)


@dataclass(frozen=True)
class Clue(Sought):
    """A pattern that a text contains or lacks."""

    pattern: str | bytes


@dataclass(frozen=True)
class Start(Clue):
    """The first text that a program prints.

    `re` searches it: `regex` takes quadratic time if many starts look ahead, such as those of tf_cnn_benchmarks.
    """

    @cached_property
    def regex(self) -> re.Pattern[bytes]:
        """Compile the pattern."""
        return compiled(compiled_text(self.pattern), re.MULTILINE)
