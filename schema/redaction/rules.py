"""The rules of redaction: patterns of the `regex` module, and a fast choice of those that may match a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
from msgspec import Struct

from perfledger.schema.redaction.shapes import is_random, private_length, words

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

_FOLDER = Path(__file__).resolve().parent
#: Our rules, in their order.
_FILES = ("keys.toml", "machine.toml")
#: The groups of a pattern that are removed.
_GROUPS = frozenset({"host", "user", "hide"})
#: Lines that a rule may search, from a line with one of its literals.
_MOST_LINES = 3
Kind = Literal["key", "address", "host", "user", "job", "path"]
KINDS: tuple[str, ...] = get_args(Kind)


class RedactionRule(Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """A rule as `keys.toml` and `machine.toml` contain it; the head of `keys.toml` explains the fields."""

    id: str
    pattern: str
    kind: Kind = "key"
    by: str = ""
    needs: tuple[str, ...] = ()
    hint: str = ""
    lines: int = 1
    random: float = 0.0
    word: bool = False

    @cached_property
    def regexes(self) -> list[Any]:
        """The lines of the pattern, compiled. The trap: `regex` needs twice as long for all of them in one pattern."""
        import regex

        return [regex.compile(each) for each in self.pattern.split("\n")]

    def matches(self, text: str, seconds: float, begin: int = 0, end: int | None = None) -> Iterator[Any]:
        """Yield the matches of each line of the pattern in a text or in a part of it.

        Raises:
            TimeoutError: a line takes longer than `seconds`.
        """
        for each in self.regexes:
            yield from each.finditer(text, begin, end, timeout=seconds)

    def hidden(self, match: Any) -> Iterator[tuple[int, int, str]]:
        """Yield begin, end and group of each part of a match that is removed; without a group it is the whole match."""
        spans = [(*span, name) for name in _GROUPS & match.re.groupindex.keys() for span in match.spans(name)]
        for begin, end, name in spans or [(*match.span(), "hide")]:
            text = match.string[begin:end]
            if self.kind == "path":
                end = begin + private_length(text)
            is_word = name != "hide" and text.lower() in words().common
            if end > begin and not is_word and (not self.random or is_random(text, self.random)):
                yield begin, end, name


class RuleFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The rules of a file, in their order, and the parts of their patterns."""

    rule: tuple[RedactionRule, ...]
    parts: dict[str, str] = {}

    def rules(self) -> Iterator[RedactionRule]:
        """Yield the rules with their parts filled in."""
        for rule in self.rule:
            pattern = rule.pattern.strip("\n")
            for name, part in self.parts.items():
                alternatives = "|".join(part.strip("\n").split("\n"))
                pattern = pattern.replace(f"{{{name}}}", f"(?:{alternatives})")
            yield msgspec.structs.replace(rule, pattern=pattern, by=rule.by or f"<{rule.kind}>")


@dataclass(frozen=True)
class RuleSet:
    """Rules, and their literals: every text that a rule matches contains one of the rule's literals."""

    rules: Sequence[RedactionRule]

    @cached_property
    def _literals(self) -> list[tuple[str, list[RedactionRule]]]:
        literals = sorted({need for rule in self.rules for need in rule.needs})
        return [(each, [rule for rule in self.rules if each in rule.needs]) for each in literals]

    @cached_property
    def _hints(self) -> list[tuple[RedactionRule, re.Pattern[str]]]:
        return [(rule, re.compile(rule.hint)) for rule in self.rules if rule.hint]

    @cached_property
    def _automaton(self) -> AhoCorasick:
        from ahocorasick_rs import AhoCorasick

        return AhoCorasick([each for each, _ in self._literals])

    @cached_property
    def of_words(self) -> list[RedactionRule]:
        """The rules that look at single words."""
        return [rule for rule in self.rules if rule.word]

    def places(self, text: str) -> Iterator[tuple[RedactionRule, int, int]]:
        """Yield the rules that may match a text, and where: lines with a literal of the rule, and some after each."""
        yield from ((rule, 0, len(text)) for rule, hint in self._hints if hint.search(text))
        yield from self._lines(text)

    def _lines(self, text: str) -> Iterator[tuple[RedactionRule, int, int]]:
        """Yield rules, and lines with a literal of the rule."""
        # As long as the text. The trap: a dotted capital I is the one letter that becomes two.
        small = text.encode("utf-8", "replace").decode().replace("\u0130", "I").lower()
        found: dict[str, tuple[RedactionRule, int, int]] = {}
        begin, ends = 0, [-1]
        for number, at, _ in self._automaton.find_matches_as_indexes(small, overlapping=True):
            if at > ends[0]:
                begin, ends = text.rfind("\n", 0, at) + 1, _line_ends(text, at)
            for rule in self._literals[number][1]:
                _, first, last = found.get(rule.id, (rule, begin, begin))
                if begin > last + 1:
                    yield rule, first, last
                    first = begin
                found[rule.id] = rule, first, ends[rule.lines - 1]
        yield from found.values()


def _line_ends(text: str, at: int) -> list[int]:
    """Return the ends of the lines that a rule may search: the line around a place, and the next ones."""
    ends: list[int] = []
    for _ in range(_MOST_LINES):
        end = text.find("\n", at)
        ends.append(len(text) if end < 0 else end)
        at = ends[-1] + 1
    return ends


@cache
def every_rule() -> RuleSet:
    """Return all rules."""
    files = (msgspec.toml.decode((_FOLDER / name).read_bytes(), type=RuleFile) for name in _FILES)
    return RuleSet([rule for file in files for rule in file.rules()])


@cache
def naming_rules() -> RuleSet:
    """Return the rules whose matches name a host or a user."""
    # By their text, since compiling all rules takes 0.07 s of every start.
    return RuleSet([each for each in every_rule().rules if re.search(r"\(\?P<(?:host|user)>", each.pattern)])
