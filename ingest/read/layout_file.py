"""The file of a layout: its tables, their checks, and the templates of its paths.

A template is a path with names in place of the parts that change: `{nodes}n{devices}g/{model}{?_{copy}}.log`. Its
language is that of the templates of log lines (`parsers/contract/template.py`), without numbers and units:

`{name}`      part of a folder's or file's name; a whole number if the fact is a count
`{_}`         the same without a name
`{*}`         any text, over several folders
`{a|b}`       one of several words
`{?_{host}}`  an optional part
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from perfledger.ingest.common.toml_file import Keys, did_you_mean
from perfledger.parsers.contract import FormatError
from perfledger.parsers.contract.template import Optional, Part, Slot, parts
from perfledger.schema.records import Plain, WrongValueError
from perfledger.schema.vocabulary import CASE, COUNTS, FACTS, PRECISIONS

#: Least similarity, from 0 to 1, at which the name of a slot is taken for a misspelt fact.
_MISSPELT = 0.8
#: A whole number of at most nine digits that is not zero.
_COUNT = "0*[1-9][0-9]{0,8}"
#: Repeats are counted from 0 or from 1.
_REPEAT = "[0-9]{1,9}"
#: An optional part in the notation of release 0.1.
_OLD_OPTIONAL = re.compile(r"\[([^\]]*)\]?")

FactValue = str | int | float | bool
Facts = dict[str, FactValue]
#: For each slot the words that it accepts, and the facts that each word states.
Words = dict[str, dict[str, Facts]]


class BesideEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A `[beside.NAME]`: a file next to logs that states facts which the logs lack.

    `path` is relative to the log's folder and may contain slots of the log's template. `facts` and `environment` map
    keys of the file to facts and to entries of the environment; `words` map values of a key to facts. Keys of nested
    JSON objects are joined by dots, and `cards.*.name` is the name that all cards of a list share. A missing file is a
    problem unless it is `optional`. If a file `yields`, its facts complete the log's and never contradict them. A file
    of kind `wandb_config` is the `config.yaml` of Weights & Biases.
    """

    path: str
    kind: Literal["text", "json", "wandb_config"]
    facts: dict[str, str] = {}
    environment: dict[str, str] = {}
    words: Words = {}
    optional: bool = False
    yields: bool = False

    def __post_init__(self) -> None:
        for part in _parsed(("path",), self.path):
            if not isinstance(part, str) and not _is_named(part):
                raise WrongValueError(("path",), "it may contain only text and slots with names")
        for key, name in self.facts.items():
            _check_name(("facts", key), name)
        _check_words(self.words)


class PathEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A `[[path]]`: a template, and the facts of every path that it matches.

    `words` apply to the slots of this template only. `beside` lists the names of the `[beside.NAME]` of such logs.
    """

    template: str
    facts: Facts = {}
    words: Words = {}
    beside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_facts(("facts",), self.facts)
        _check_words(self.words)
        _check_template(("template",), self.template)


class LayoutFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A layout's file.

    `words` apply to the slots of every template. A file that a template of `ignore` matches is not read as a log. The
    facts of a template complete a log's; if they `must` be true, a log that states something else is not published.
    """

    path: tuple[PathEntry, ...]
    title: str = ""
    source: str = ""
    must: bool = False
    words: Words = {}
    ignore: tuple[str, ...] = ()
    beside: dict[str, BesideEntry] = {}

    def __post_init__(self) -> None:
        _check_words(self.words)
        for index, template in enumerate(self.ignore):
            _check_template(("ignore", index), template)
        for index, entry in enumerate(self.path):
            _check_slots(("path", index, "template"), entry, self.words)
            for place, name in enumerate(entry.beside):
                self._check_beside(("path", index, "beside", place), entry, name)
        slots = {slot for each in (*self.ignore, *(one.template for one in self.path)) for slot in slots_of(each)}
        if unused := [slot for slot in self.words if slot not in slots]:
            hint = did_you_mean(unused[0], slots)
            raise WrongValueError(("words", unused[0]), f"no template has the slot {unused[0]!r}{hint}")

    def _check_beside(self, keys: Keys, entry: PathEntry, name: str) -> None:
        if name not in self.beside:
            raise WrongValueError(keys, f"there is no [beside.{name}]{did_you_mean(name, self.beside)}")
        slots = slots_of(entry.template)
        if missing := [each for each in slots_of(self.beside[name].path) if each not in slots]:
            raise WrongValueError(keys, f"the path of {name!r} needs the slot {missing[0]!r}, which the template lacks")


def slots_of(template: str) -> list[str]:
    """Return the names of a template's slots."""
    return [slot.name for slot in _slots(parts(template)) if _is_named(slot)]


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return the path of a `[beside.NAME]` with values in place of its slots."""
    return "".join(values[each.name] if isinstance(each, Slot) else str(each) for each in parts(template))


def compiled(template: str, words: Mapping[str, Mapping[str, Facts]]) -> Any:
    """Compile a template to a pattern that matches the end of a path, from the name of a folder."""
    import regex

    return regex.compile(rf"(?:^|/){_pattern(parts(template), words)}$")


def check_facts(keys: Keys, facts: Mapping[str, Plain]) -> None:
    """Check names and types of facts, so that a mistake is found before a log is read.

    Raises:
        WrongValueError: a fact is unknown, or its value has the wrong type.
    """
    for name, value in facts.items():
        _check_name((*keys, name), name)
        if name in COUNTS and (type(value) is not int or value < 1):
            raise WrongValueError((*keys, name), f"expected a positive whole number, got {value!r}")
        if name in CASE and name not in COUNTS and not isinstance(value, str):
            raise WrongValueError((*keys, name), f"expected a text, got {value!r}")
        if name == "precision" and value not in PRECISIONS:
            hint = did_you_mean(str(value), PRECISIONS)
            raise WrongValueError((*keys, name), f"there is no precision {value!r}{hint}")
        if not isinstance(value, bool | int | float | str):
            raise WrongValueError((*keys, name), f"expected a text, a number, true or false, got {value!r}")


def _check_name(keys: Keys, name: str) -> None:
    if name not in FACTS:
        raise WrongValueError(keys, f"there is no fact {name!r}{did_you_mean(name, FACTS)}")


def _check_words(words: Words) -> None:
    for slot, entries in words.items():
        for word, facts in entries.items():
            check_facts(("words", slot, word), facts)


def _check_template(keys: Keys, template: str) -> None:
    if old := _OLD_OPTIONAL.search(template):
        raise WrongValueError(keys, f"an optional part is in braces: write {{?{old[1]}}} instead of {old[0]}")
    for slot in _slots(_parsed(keys, template)):
        if not (slot.words or slot.name in ("*", "_") or _is_named(slot)):
            sign = f"{slot.name}:{slot.kind}" if slot.kind else slot.name
            raise WrongValueError(
                keys, f"the slot {sign!r} is not a name; write a name such as {{nodes}}, {{_}} or {{*}}"
            )
    slots = slots_of(template)
    if repeated := [each for each in slots if slots.count(each) > 1]:
        raise WrongValueError(keys, f"the slot {repeated[0]!r} appears twice; rename one")
    if "rest" in slots:
        raise WrongValueError(keys, "the rest of a path is {*}; write {*} instead of {rest}")


def _check_slots(keys: Keys, entry: PathEntry, words: Words) -> None:
    """Refuse slots whose names resemble a fact's: a misspelt fact would be lost without a message."""
    slots = slots_of(entry.template)
    for slot in slots:
        near = difflib.get_close_matches(slot, FACTS, n=1, cutoff=_MISSPELT)
        if near and slot not in {*FACTS, *words, *entry.words}:
            raise WrongValueError(keys, f"the slot {slot!r} is no fact; did you mean {near[0]!r}?")
    if unused := [slot for slot in entry.words if slot not in slots]:
        raise WrongValueError(keys, f"it has words for {unused[0]!r}, which is none of its slots")


def _parsed(keys: Keys, template: str) -> tuple[Part, ...]:
    try:
        return parts(template)
    except FormatError as error:
        raise WrongValueError(keys, str(error)) from None


def _slots(known: Sequence[Part]) -> Iterator[Slot]:
    for part in known:
        if isinstance(part, Optional):
            yield from _slots(part.parts)
        elif isinstance(part, Slot):
            yield part


def _is_named(part: Part) -> bool:
    return isinstance(part, Slot) and part.name.isidentifier() and part.name != "_" and not part.kind


def _pattern(known: Sequence[Part], words: Mapping[str, Mapping[str, Facts]]) -> str:
    return "".join(_pattern_of(each, words) for each in known)


def _pattern_of(part: Part, words: Mapping[str, Mapping[str, Facts]]) -> str:
    if isinstance(part, str):
        return re.escape(part)
    if isinstance(part, Optional):
        return f"(?:{_pattern(part.parts, words)})?"
    if part.words:
        return f"(?:{_alternatives(part.words)})"
    if part.name in ("*", "_"):
        return ".*?" if part.name == "*" else "[^/]+?"
    text = _alternatives(words.get(part.name, ()))
    number = _REPEAT if part.name == "repeat" else _COUNT
    return f"(?P<{part.name}>{text or (number if part.name in COUNTS else '[^/]+?')})"


def _alternatives(words: Sequence[str] | Mapping[str, Facts]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
