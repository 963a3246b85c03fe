"""Names of hosts and users, and the pseudonyms that replace them, so that a log stays readable."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from typing import Any

from msgspec import Struct

from perfledger.schema.redaction.rules import RedactionRule, naming_rules
from perfledger.schema.redaction.shapes import words

_TIMEOUT_SECONDS = 0.25
#: Names of one log; only a log that is made to be slow has more.
_MOST_NAMES = 1000
#: Characters of a name that is replaced everywhere; shorter names occur within other words.
_SHORTEST = 4
USER = "<user>"
_WITHOUT_DIGITS = str.maketrans("", "", "0123456789")
#: The first number of several hosts: `nid[001-004]`.
_FIRST_NUMBER = re.compile(r"\[(\d+)")


class Names(Struct, frozen=True, dict=True):
    """Names and their pseudonyms.

    `hosts` are replaced where a rule finds them, `everywhere` in every place where they are a separate word.
    """

    hosts: tuple[tuple[str, str], ...] = ()
    everywhere: tuple[tuple[str, str], ...] = ()

    @cached_property
    def regex(self) -> Any:
        """The pattern of the names that are replaced everywhere; the domain of a host is replaced with it."""
        import regex

        # One name may be the beginning of another.
        longest = sorted(self.everywhere, key=lambda each: len(each[0]), reverse=True)
        patterns = "|".join(re.escape(name) if by == USER else _siblings(name) for name, by in longest)
        return regex.compile(rf"(?<![\w.-])({patterns})(?:\.[A-Za-z][\w-]*)*+(?![\w-])")

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return dict((*self.everywhere, *self.hosts))

    def pseudonym(self, name: str) -> str:
        """Return the pseudonym of a name; a host that is not known has one of its own."""
        return self._by_name.get(name) or self._by_name.get(name.partition(".")[0], "<host>")


NO_NAMES = Names()


def names_in(texts: Iterable[str], known: Names = NO_NAMES) -> Names:
    """Return the names in texts; hosts are numbered in order of appearance, after the known ones."""
    hosts, users = dict(known.hosts), dict.fromkeys(name for name, by in known.everywhere if by == USER)
    for _, kind, name in (each for text in texts for each in _named(text)):
        if len(hosts) + len(users) >= _MOST_NAMES:
            break
        if kind == "host":
            # Logs contain the name of a host with and without its domain.
            hosts.setdefault(name.partition(".")[0], f"host-{len(hosts) + 1}")
        else:
            users.setdefault(name)
    found = {**hosts, **dict.fromkeys(users, USER)}
    return Names(tuple(hosts.items()), tuple((name, by) for name, by in found.items() if _is_specific(name)))


def _one_of_each_shape(text: str) -> str:
    """Return the lines of a text, one of those that differ in digits only. They show which rules find names in it."""
    return "\n".join(dict(zip(text.translate(_WITHOUT_DIGITS).split("\n"), text.split("\n"), strict=True)).values())


def _named(text: str) -> list[tuple[int, str, str]]:
    """Return place, kind and name of each host and user; the result is empty if the search takes too long."""
    try:
        likely = {rule.id for rule, _ in _matches(_one_of_each_shape(text))}
        return sorted(
            (at, kind, text[at:last] + (number[1] if (number := _FIRST_NUMBER.match(text, last)) else ""))
            for rule, match in (_matches(text, likely) if likely else ())
            for at, last, kind in rule.hidden(match)
            if kind != "hide"
        )
    except TimeoutError:
        return []


def _matches(text: str, among: Container[str] | None = None) -> Iterator[tuple[RedactionRule, Any]]:
    for rule, begin, end in naming_rules().places(text):
        if among is None or rule.id in among:
            yield from ((rule, match) for match in rule.matches(text, _TIMEOUT_SECONDS, begin, end))


def _siblings(host: str) -> str:
    """Return the pattern of a host and of the hosts whose names differ in their numbers only."""
    # The trap: `llama-0` may be a pod, and then `llama-3` is a model.
    is_numbered = sum(map(str.isdigit, host)) > 1 < sum(map(str.isalpha, host))
    return re.sub(r"\d+", r"\\d+", re.escape(host)) if is_numbered else re.escape(host)


def _is_specific(name: str) -> bool:
    """Return whether a name is specific to a host or a user, and not an ordinary word of logs."""
    plain = name.lower()
    is_ordinary = plain in words().common or re.fullmatch(words().generic, plain)
    return len(name) >= _SHORTEST and not plain.isdigit() and not is_ordinary
