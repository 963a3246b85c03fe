"""Layouts: facts stated by folder and file names, as `ingest/layouts/*.toml` or a user's file describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from ingest.common.errors import UsageError
from ingest.common.toml_file import Keys, WrongValueError, did_you_mean, read
from schema.records import Plain
from schema.vocabulary import CASE, COUNTS

LAYOUTS = Path(__file__).resolve().parents[1] / "layouts"
OWN = "perfledger"
_TIMEOUT_SECONDS = 1.0


FactValue = str | int | float | bool
Facts = dict[str, FactValue]
#: Slot to the words permitted there, each with the facts that it states.
Words = dict[str, dict[str, Facts]]


class PathEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A `[[path]]` of a layout's file: a template, the facts of every path that fits it, and words of its own."""

    template: str
    facts: Facts = {}
    words: Words = {}

    def __post_init__(self) -> None:
        _check_facts(("facts",), self.facts)
        _check_words(self.words)
        slots = _slots(self.template)[1::2]
        if wrong := [each for each in slots if not each.isidentifier()]:
            raise WrongValueError(("template",), f"the slot {wrong[0]!r} begins with a digit; rename it")
        if wrong := [each for each in slots if slots.count(each) > 1]:
            raise WrongValueError(("template",), f"the slot {wrong[0]!r} stands there twice; rename one")


class LayoutFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A layout's file. `words` hold for the slots of every template."""

    path: tuple[PathEntry, ...]
    title: str = ""
    source: str = ""
    words: Words = {}

    def __post_init__(self) -> None:
        _check_words(self.words)


@dataclass(frozen=True)
class Template:
    """One kind of path: its pattern, the facts that words in its slots state, and the facts of the whole."""

    written: str
    pattern: Any
    words: Words
    facts: Facts


@dataclass(frozen=True)
class Layout:
    """A named set of templates; the first that fits a path gives its facts."""

    name: str
    title: str
    templates: tuple[Template, ...]

    def facts(self, path: str) -> dict[str, Plain] | None:
        """Return the facts that a log's absolute path states, or None where no template fits.

        Templates are matched from the end, since the tree may be in any folder and a log may be given alone.
        """
        for template in self.templates:
            try:
                match = template.pattern.search(path, timeout=_TIMEOUT_SECONDS)
            except TimeoutError:  # many adjacent slots backtrack without end: no match
                continue
            if match:
                return _facts_of(template, match.groupdict())
        return None


def path_of(name: str) -> Path:
    """Return the file of a layout: a user's own if the name ends in `.toml`, a shipped one otherwise."""
    return Path(name) if name.endswith(".toml") else LAYOUTS / f"{name}.toml"


@cache
def load(name: str) -> Layout:
    """Return a shipped layout by name, or a layout file by path.

    Raises:
        UsageError: there is none, or the file is not a layout; the message names the file, the line and the fault.
    """
    path = path_of(name)
    if not path.exists():
        known = [each.stem for each in LAYOUTS.glob("*.toml")]
        there = ", ".join(sorted(known))
        near = did_you_mean(name, known)
        hint = near if near.startswith("; did") else ""
        raise UsageError(f"layout {name!r}: there is no such layout; give a .toml file or one of {there}{hint}")
    file = read(path, LayoutFile).data
    return Layout(path.stem, file.title or path.stem, tuple(_template(each, file.words) for each in file.path))


def _template(entry: PathEntry, common: Words) -> Template:
    words = {slot: {**common.get(slot, {}), **entry.words.get(slot, {})} for slot in (*common, *entry.words)}
    return Template(entry.template, _pattern(entry.template, words), words, entry.facts)


def _check_words(words: Words) -> None:
    for slot, entries in words.items():
        for word, facts in entries.items():
            _check_facts(("words", slot, word), facts)


def _check_facts(keys: Keys, facts: Facts) -> None:
    """Raise for values that would only fail when a log is read: those of another type than the fact has."""
    for name, value in facts.items():
        if name in COUNTS and (type(value) is not int or value < 1):
            raise WrongValueError((*keys, name), f"expected a positive whole number, got {value!r}")
        if name in CASE and name not in COUNTS and not isinstance(value, str):
            raise WrongValueError((*keys, name), f"expected a text, got {value!r}")
        if not isinstance(value, bool | int | float | str):
            raise WrongValueError((*keys, name), f"expected a text, a number, true or false, got {value!r}")


def _slots(written: str) -> list[str]:
    """Return a template cut at its slots: literal, slot, literal and so on."""
    import regex

    return [str(each) for each in regex.split(r"\{(\w+)\}", written)]


def _pattern(written: str, words: Mapping[str, Mapping[str, Facts]]) -> Any:
    """Return the pattern of a template, which begins at a folder and ends with the path."""
    import regex

    parts = _slots(written)
    out = [regex.escape(parts[0])]
    for slot, literal in zip(parts[1::2], parts[2::2], strict=True):
        alternatives = "|".join(map(regex.escape, sorted(words.get(slot, ()), key=len, reverse=True)))
        number = "[0-9]{1,9}" if slot == "repeat" else "0*[1-9][0-9]{0,8}"
        out.append(f"(?P<{slot}>{alternatives or (number if slot in COUNTS else '[^/]+?')})" + regex.escape(literal))
    return regex.compile(rf"(?:^|/){''.join(out)}$")


def _facts_of(template: Template, slots: Mapping[str, str]) -> dict[str, Plain]:
    facts: dict[str, Plain] = dict(template.facts)
    for slot, printed in slots.items():
        facts |= template.words.get(slot, {}).get(printed) or {slot: int(printed) if slot in COUNTS else printed}
    return facts
