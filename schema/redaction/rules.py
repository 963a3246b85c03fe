"""The rules of redaction: patterns of the `regex` module, and a fast choice of those that may match a text."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

FOLDER = Path(__file__).resolve().parent
#: Our own rules, in their order: keys first, since an address may contain one.
FILES = ("keys.toml", "machine.toml")
Kind = Literal["key", "address", "host", "user", "job", "path"]
KINDS: tuple[str, ...] = get_args(Kind)


class RedactionRule(Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """A rule as `keys.toml` and `machine.toml` contain it; the head of `keys.toml` explains the fields."""

    id: str
    kind: Kind = "key"
    pattern: str = ""
    shape: str = ""
    by: str = "<token>"
    needs: tuple[str, ...] = ()
    hint: str = ""
    outline: str = ""

    @cached_property
    def regex(self) -> Any:
        """The pattern, compiled."""
        import regex

        return regex.compile(self.pattern or rf"(?<![A-Za-z0-9])(?:{self.shape})")

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

    def hidden(self, match: Any) -> int:
        """Return the begin of the part of a match that is removed."""
        return int(match.end(1) if self.by.startswith(r"\1") else match.start())

    def key(self, match: Any) -> tuple[int, int] | None:
        """Return begin and end of a key in the text; None if the match is not a key."""
        return self.hidden(match), int(match.end())


class GitleaksRule(RedactionRule, frozen=True, dict=True):
    """A rule of gitleaks: its group is the key, if the key is random enough.

    `entropy` is the least entropy (Shannon) of the key's letters, in bits per letter.
    """

    entropy: float = 0.0

    def key(self, match: Any) -> tuple[int, int] | None:
        """Return begin and end of a key: the only group, or the text from the first of several groups to the end."""
        groups = [number for number in range(1, match.re.groups + 1) if match[number]]
        begin = match.start(groups[0]) if groups else match.start()
        end = match.end(1) if groups and match.re.groups == 1 else match.end()
        return (begin, end) if self.entropy <= _entropy(match.string[begin:end]) else None


def _entropy(text: str) -> float:
    """Return the entropy of a text's letters, in bits per letter."""
    shares = (count / len(text) for count in Counter(text).values())
    return -sum(share * math.log2(share) for share in shares)


class _Published(Struct, frozen=True):
    """A rule as gitleaks writes it."""

    id: str
    regex: str
    keywords: tuple[str, ...]
    entropy: float = 0.0

    def rule(self) -> GitleaksRule:
        # Text before a name does not move the key, and makes the search fifty times as slow.
        pattern = self.regex.replace(r"[\w.-]{0,50}?", "")
        return GitleaksRule(f"gitleaks-{self.id}", pattern=pattern, needs=self.keywords, entropy=self.entropy)


class _GitleaksRules(Struct, frozen=True):
    rules: tuple[_Published, ...]


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
    def _always(self) -> frozenset[int]:
        return frozenset(number for number, rule in enumerate(self.rules) if not rule.needs)

    def likely(self, text: str) -> list[RedactionRule]:
        """Return the rules that may match a text, in their order. Most texts contain the literals of few rules."""
        return [rule for rule in self._needing(text.lower().encode("utf-8", "replace")) if rule.hinted(text)]

    def likely_in(self, distinct: bytes) -> list[RedactionRule]:
        """Return the rules that may match a text, from its distinct lines in small letters; literals have no digits."""
        lines = distinct.decode("utf-8", "replace")
        return [rule for rule in self._needing(distinct) if rule.outlined(lines)]

    def _needing(self, data: bytes) -> Iterator[RedactionRule]:
        """Yield the rules without literals and those with a literal in the text, in their order."""
        numbers = {number for number, _, _ in self._automaton.find_matches_as_indexes(data, overlapping=True)}
        by_literal = list(self._literals.values())
        return map(self.rules.__getitem__, sorted(self._always.union(*(by_literal[each] for each in numbers))))


@cache
def every_rule() -> RuleSet:
    """Return all rules."""
    files = (msgspec.toml.decode((FOLDER / name).read_bytes(), type=RedactionRules) for name in FILES)
    published = msgspec.toml.decode((FOLDER / "gitleaks.toml").read_bytes(), type=_GitleaksRules).rules
    return RuleSet((*(rule for file in files for rule in file.rule), *(each.rule() for each in published)))


@cache
def key_rules() -> RuleSet:
    """Return the rules of keys and passwords."""
    return RuleSet(tuple(each for each in every_rule().rules if each.kind == "key"))


@cache
def machine_rules() -> RuleSet:
    """Return the rules of addresses, hosts, users, jobs and paths."""
    return RuleSet(tuple(each for each in every_rule().rules if each.kind != "key"))


@cache
def naming_rules() -> RuleSet:
    """Return the rules whose matches name a host or a user."""
    # By their text, since compiling all rules takes 0.25 s of every start.
    named = ("(?P<host>", "(?P<user>")
    return RuleSet(tuple(rule for rule in every_rule().rules if any(each in rule.pattern for each in named)))
