"""The rules of redaction: patterns of the `regex` module, and a fast choice of those that may match a text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
from msgspec import Struct

from perfledger.schema.redaction.shapes import is_random, private_length

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

FOLDER = Path(__file__).resolve().parent
_LINE_END = re.compile("\n")
_LINE_END_OF_BYTES = re.compile(b"\n")
#: Our rules, in their order.
FILES = ("keys.toml", "machine.toml")
Kind = Literal["key", "address", "host", "user", "job", "path"]
KINDS: tuple[str, ...] = get_args(Kind)


class RedactionRule(Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """A rule as `keys.toml` and `machine.toml` contain it; the head of `keys.toml` explains the fields."""

    id: str
    kind: Kind = "key"
    pattern: str = ""
    by: str = "<token>"
    needs: tuple[str, ...] = ()
    hint: str = ""
    outline: str = ""
    random: float = 0.0
    word: bool = False

    @cached_property
    def regex(self) -> Any:
        """The pattern, compiled."""
        import regex

        return regex.compile(self.pattern)

    @cached_property
    def hint_regex(self) -> re.Pattern[str]:
        """The hint, compiled."""
        return re.compile(self.hint)

    def hinted(self, text: str) -> bool:
        """Return whether a text contains the hint of the rule."""
        return not self.hint or bool(self.hint_regex.search(text))

    @cached_property
    def outline_regex(self) -> re.Pattern[str]:
        """The outline, compiled."""
        return re.compile(self.outline)

    def outlined(self, distinct: str) -> bool:
        """Return whether the distinct lines of a text, in small letters, contain the outline of the rule."""
        return not self.outline or bool(self.outline_regex.search(distinct))

    @cached_property
    def naming(self) -> tuple[str, ...]:
        """The groups of the pattern that match names."""
        return tuple(each for each in ("host", "user") if each in self.regex.groupindex)

    @cached_property
    def _hiding(self) -> tuple[str, ...]:
        return (*self.naming, *(["hide"] if "hide" in self.regex.groupindex else []))

    def hidden(self, match: Any) -> Iterator[tuple[int, int, str]]:
        """Yield begin, end and group of each part of a match that is removed; without a group it is the whole match."""
        spans = [(*span, name) for name in self._hiding for span in match.spans(name)]
        for begin, end, name in spans if self._hiding else [(*match.span(), "hide")]:
            text = match.string[begin:end]
            if self.kind == "path":
                end = begin + private_length(text)
            if end > begin and not (self.random and not is_random(text, self.random)):
                yield begin, end, name


class RedactionRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The rules of a file, in their order."""

    rule: tuple[RedactionRule, ...]


@dataclass(frozen=True)
class RuleSet:
    """Rules, and their literals: every text that a rule matches contains one of the rule's literals."""

    rules: tuple[RedactionRule, ...]

    @cached_property
    def _literals(self) -> dict[bytes, set[int]]:
        found: dict[bytes, set[int]] = {}
        for number, rule in enumerate(self.rules):
            for need in rule.needs:
                found.setdefault(need.lower().encode(), set()).add(number)
        return found

    @cached_property
    def _automaton(self) -> BytesAhoCorasick:
        from ahocorasick_rs import BytesAhoCorasick

        return BytesAhoCorasick(list(self._literals))

    @cached_property
    def _rules_of_literals(self) -> list[set[int]]:
        return list(self._literals.values())

    @cached_property
    def _always(self) -> tuple[int, ...]:
        return tuple(number for number, rule in enumerate(self.rules) if not rule.needs and not rule.word)

    @cached_property
    def of_words(self) -> tuple[RedactionRule, ...]:
        """The rules that look at single words."""
        return tuple(rule for rule in self.rules if rule.word)

    def places(self, text: str) -> Iterator[tuple[RedactionRule, int, int]]:
        """Yield the rules that may match a text, and where: lines with a literal of the rule, and two after each."""
        found = self._lines_with_literals(text.lower().encode("utf-8", "replace"))
        starts = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text) + 1] if found else []
        for number in sorted((*found, *self._always)):
            rule = self.rules[number]
            if not rule.needs:
                if rule.hinted(text):
                    yield rule, 0, len(text)
                continue
            begin = end = 0
            for line in (*found[number], len(starts)):
                if line > end:
                    if end:
                        yield rule, starts[begin], starts[end] - 1
                    begin = line
                end = min(line + 3, len(starts) - 1)

    def _lines_with_literals(self, data: bytes) -> dict[int, dict[int, None]]:
        """Return the lines with literals of each rule."""
        matches = self._automaton.find_matches_as_indexes(data, overlapping=True)
        ends = [match.start() for match in _LINE_END_OF_BYTES.finditer(data)] if matches else []
        found: dict[int, dict[int, None]] = {}
        for literal, begin, _ in matches:
            line = bisect_left(ends, begin)
            for number in self._rules_of_literals[literal]:
                found.setdefault(number, {})[line] = None
        return found

    def likely_in(self, distinct: bytes) -> list[RedactionRule]:
        """Return the rules that may match a text, from its distinct lines in small letters; literals have no digits."""
        lines = distinct.decode("utf-8", "replace")
        found = {number for number, _, _ in self._automaton.find_matches_as_indexes(distinct, overlapping=True)}
        numbers = {each for literal in found for each in self._rules_of_literals[literal]}
        likely = (self.rules[each] for each in sorted(numbers.union(self._always)))
        return [rule for rule in likely if rule.outlined(lines)]


@cache
def every_rule() -> RuleSet:
    """Return all rules."""
    files = (msgspec.toml.decode((FOLDER / name).read_bytes(), type=RedactionRules) for name in FILES)
    return RuleSet(tuple(rule for file in files for rule in file.rule))


@cache
def key_rules() -> RuleSet:
    """Return the rules of keys and passwords."""
    return RuleSet(tuple(each for each in every_rule().rules if each.kind == "key"))


@cache
def naming_rules() -> RuleSet:
    """Return the rules whose matches name a host or a user."""
    # By their text, since compiling all rules takes 0.25 s of every start.
    named = ("(?P<host>", "(?P<user>")
    return RuleSet(tuple(rule for rule in every_rule().rules if any(each in rule.pattern for each in named)))
