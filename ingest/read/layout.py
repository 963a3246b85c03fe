"""Layouts: facts stated by folder and file names, as `ingest/layouts/*.toml` or a user's file describes them."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as with_fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from perfledger import project_folder
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.files import absolute
from perfledger.ingest.common.project import files, joined_layouts, project, several_layouts, wrong
from perfledger.ingest.common.toml_file import Keys, WrongValueError, did_you_mean, read
from perfledger.ingest.read.walk import FoundFiles, Input
from perfledger.schema.records import Origin, Plain
from perfledger.schema.vocabulary import CASE, COUNTS, FACTS, PRECISIONS

LAYOUTS = Path(__file__).resolve().parents[1] / "layouts"
OWN = "perfledger"
#: Layouts of folders that programs write: they are used wherever our own layout is, since the names of files show them.
_OF_PROGRAMS = ("wandb", "huggingface")
_TIMEOUT_SECONDS = 1.0
#: The slot that takes folders as well as names; all others end at the next slash.
REST = "rest"
#: How alike the name of a slot and that of a fact are if one is likely meant to be the other.
_MISSPELT = 0.8

FactValue = str | int | float | bool
Facts = dict[str, FactValue]
#: Slot to the words permitted there, each with the facts that it states.
Words = dict[str, dict[str, Facts]]


class BesideEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A `[beside.NAME]` of a layout's file: a file beside logs that states what they do not.

    `path` lies relative to the log's folder and may have slots of the log's template. `facts` and `environment` say
    which fact, or which entry of the environment, the value of a key is; `words` give facts for certain values of a
    key. Keys of a JSON object within an object are joined by dots, and `cards.*.name` is the name that all cards of a
    list share. A file that is missing is a problem unless it is `optional`. The facts of a file that `yields` fill in
    what a log leaves open, and never contradict it. Of kind `power` are files of power over time, as MLPerf keeps them,
    whose names may hold a `*`; of kind `wandb_config` is the `config.yaml` of Weights & Biases.
    """

    path: str
    kind: Literal["text", "json", "collect_env", "power", "wandb_config"]
    facts: dict[str, str] = {}
    environment: dict[str, str] = {}
    words: Words = {}
    optional: bool = False
    yields: bool = False

    def __post_init__(self) -> None:
        for key, name in self.facts.items():
            _check_name(("facts", key), name)
        _check_words(self.words)


class PathEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A `[[path]]` of a layout's file: a template, the facts of every path that fits it, and words of its own.

    `beside` names the files beside such logs that are read as well.
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
    """A layout's file. `words` hold for the slots of every template; what a template of `ignore` fits is no log.

    A slot `rest` takes the rest of a path, with all folders in it. The facts of a template fill in what a log leaves
    open; if they `must` be true, a log that states something else is not published.
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
        there = {slot for each in (*self.ignore, *(one.template for one in self.path)) for slot in slots_of(each)}
        if idle := [slot for slot in self.words if slot not in there]:
            hint = did_you_mean(idle[0], there)
            raise WrongValueError(("words", idle[0]), f"no template has the slot {idle[0]!r}{hint}")

    def _check_beside(self, keys: Keys, entry: PathEntry, name: str) -> None:
        if name not in self.beside:
            raise WrongValueError(keys, f"there is no [beside.{name}]{did_you_mean(name, self.beside)}")
        there = slots_of(entry.template)
        if lacking := [each for each in slots_of(self.beside[name].path) if each not in there]:
            raise WrongValueError(keys, f"the path of {name!r} needs the slot {lacking[0]!r}, which the template lacks")


@dataclass(frozen=True)
class Template:
    """One kind of path: its pattern, the facts that words in its slots state, and the facts of the whole."""

    written: str
    pattern: Any
    words: Words
    facts: Facts
    beside: tuple[BesideEntry, ...] = ()
    must: bool = False


@dataclass(frozen=True)
class Match:
    """Facts of a path, the names of those that yield to the log, and the files next to the log, by relative path."""

    facts: Mapping[str, Plain]
    weak: frozenset[str]
    beside: Mapping[str, BesideEntry]


@dataclass(frozen=True)
class Layout:
    """A named set of templates; the first that fits a path gives its facts.

    `below` has the layouts of folders that name their logs in another way, by their absolute paths with a slash.
    """

    name: str
    title: str
    source: str
    templates: tuple[Template, ...]
    ignore: tuple[Template, ...] = ()
    below: Mapping[str, Layout] = field(default_factory=dict)

    def of(self, path: str) -> Layout:
        """Return the layout of a log's absolute path."""
        if not self.below:
            return self
        plain = posixpath.normpath(path)  # a path given as `../logs` keeps its dots
        return next((other for folder, other in self.below.items() if plain.startswith(folder)), self)

    def origin(self, path: str) -> Origin | None:
        """Return whose logs the layout of a log's absolute path describes; None if it does not say so."""
        own = self.of(path)
        return Origin(own.title, own.source) if own.source else None

    def facts(self, path: str) -> Mapping[str, Plain] | None:
        """Return the facts that a log's absolute path states, or None where no template fits."""
        found = self.match(path)
        return found.facts if found else None

    def match(self, path: str) -> Match | None:
        """Return what the first template that fits a log's absolute path makes of it.

        Templates are matched from the end, since the tree may be in any folder and a log may be given alone.
        """
        for template in self.of(path).templates:
            if (slots := _slots_in(template, path)) is not None:
                of_slots = _facts_of_slots(template, slots)
                weak = frozenset() if template.must else template.facts.keys() - of_slots.keys()
                return Match({**template.facts, **of_slots}, frozenset(weak), _beside_of(template, slots))
        return None

    def ignores(self, path: str) -> bool:
        """Return whether the layout says that a file is no log."""
        return any(_slots_in(template, path) is not None for template in self.of(path).ignore)

    def logs_of(self, found: FoundFiles) -> FoundFiles:
        """Return what was found without files that the layout ignores or reads beside logs; each log with the latter.

        A file that the user names is always read.
        """
        logs = self._not_ignored(found.inputs)
        if any(template.beside for each in (self, *self.below.values()) for template in each.templates):
            logs = tuple(with_fields(each, beside=self._beside(each.path)) for each in logs)
        read = {path for each in logs for path in each.beside}
        kept = (each for each in logs if each.asked or not read or beside(each.path, each.path.name) not in read)
        return with_fields(found, inputs=tuple(kept), beside=self._not_ignored(found.beside))

    def _beside(self, log: Path) -> tuple[Path, ...]:
        found = self.match(absolute(log))
        return tuple(path for each in (found.beside if found else ()) for path in files_beside(log, each))

    def _not_ignored(self, inputs: Sequence[Input]) -> tuple[Input, ...]:
        if not self.ignore and not self.below:
            return tuple(inputs)
        return tuple(each for each in inputs if each.asked or not self.ignores(absolute(each.path)))


def beside(log: Path, relative: str) -> Path:
    """Return the absolute path of a file beside a log, without `..`."""
    return Path(posixpath.normpath((log.absolute().parent / relative).as_posix()))


def files_beside(log: Path, relative: str) -> tuple[Path, ...]:
    """Return the files beside a log that a path names; a `*` stands for any part of a name."""
    path = beside(log, relative)
    return tuple(sorted(path.parent.glob(path.name))) if "*" in path.name else (path,)


def path_of(name: str) -> Path:
    """Return the file of a layout: a user's own if the name ends in `.toml` or its project has it, or a shipped one."""
    own = next((each for each in files("layouts") if each.stem == name), None)
    return Path(name) if name.endswith(".toml") else own or LAYOUTS / f"{name}.toml"


def files_of(name: str) -> list[Path]:
    """Return the files that say how a tree names its logs: that of the layout, and those of folders below it."""
    own, of_folders = several_layouts(name)
    return [path_of(each) for each in (own, *of_folders.values(), *project().layouts.values())]


@cache
def load(name: str) -> Layout:
    """Return a shipped layout by name, or a layout file by path; with those of folders (`several_layouts`).

    Raises:
        UsageError: there is none, or the file is not a layout; the message names the file, the line and the fault.
    """
    named, of_folders = several_layouts(name)
    own, root = _read(named), project_folder() or Path()
    below: dict[str, Layout] = {}
    for each, other in project().layouts.items():
        try:
            below[f"{posixpath.normpath(absolute(root / each))}/"] = _read(other)
        except UsageError as error:
            raise wrong(("layouts", each), str(error)) from None
    below |= {f"{folder}/": _read(other) for folder, other in of_folders.items()}
    # A folder comes before those around it.
    return with_fields(own, below=dict(sorted(below.items(), reverse=True)))


def with_own_files(name: str, found: FoundFiles) -> str:
    """Return a layout with those that folders of logs carry themselves, unless the user names one of all logs."""
    named, of_folders = several_layouts(name)
    if named != OWN:
        return name
    carried = {posixpath.normpath(absolute(each.parent)): absolute(each) for each in found.layouts}
    return joined_layouts(named, {**carried, **of_folders}) if carried else name


def _read(name: str) -> Layout:
    path = path_of(name)
    if not path.exists():
        known = [each.stem for each in (*LAYOUTS.glob("*.toml"), *files("layouts"))]
        there = ", ".join(sorted(known))
        near = did_you_mean(name, known)
        hint = near if near.startswith("; did") else ""
        raise UsageError(f"layout {name!r}: there is no such layout; give a .toml file or one of {there}{hint}")
    file = read(path, LayoutFile).data
    ignored = (_template(PathEntry(each), file) for each in file.ignore)
    templates = (_template(each, file) for each in file.path)
    found = Layout(path.stem, file.title or path.stem, file.source, tuple(templates), tuple(ignored))
    return _with_programs(found) if name == OWN else found


def _with_programs(own: Layout) -> Layout:
    """Return our own layout with the templates of folders that programs write."""
    others = [_read(each) for each in _OF_PROGRAMS]
    templates, ignored = ([each for one in others for each in getattr(one, of)] for of in ("templates", "ignore"))
    return with_fields(own, templates=(*own.templates, *templates), ignore=(*own.ignore, *ignored))


def _template(entry: PathEntry, file: LayoutFile) -> Template:
    common = file.words
    words = {slot: {**common.get(slot, {}), **entry.words.get(slot, {})} for slot in (*common, *entry.words)}
    beside = tuple(file.beside[each] for each in entry.beside)
    return Template(entry.template, _pattern(entry.template, words), words, entry.facts, beside, file.must)


def _check_template(keys: Keys, written: str) -> None:
    slots = slots_of(written)
    if wrong := [each for each in slots if not each.isidentifier()]:
        raise WrongValueError(keys, f"the slot {wrong[0]!r} begins with a digit; rename it")
    if wrong := [each for each in slots if slots.count(each) > 1]:
        raise WrongValueError(keys, f"the slot {wrong[0]!r} appears twice; rename one")
    opened = 0
    for kind, text in _parts(written):
        if not kind and (lone := re.search(r"[{}]", text)):
            raise WrongValueError(keys, f"{lone[0]!r} in {text!r} belongs to no slot; a slot is {{name}}")
        opened += {"[": 1, "]": -1}.get(kind, 0)
        if opened not in {0, 1}:
            break
    if opened:
        raise WrongValueError(keys, "an optional part needs exactly one pair of brackets: `[{host}_]`")


def _check_slots(keys: Keys, entry: PathEntry, words: Words) -> None:
    """Refuse a slot that is named nearly like a fact: it would state a fact that nobody knows."""
    slots = slots_of(entry.template)
    for slot in slots:
        near = difflib.get_close_matches(slot, FACTS, n=1, cutoff=_MISSPELT)
        if near and slot not in {*FACTS, *words, *entry.words}:
            raise WrongValueError(keys, f"the slot {slot!r} is no fact; did you mean {near[0]!r}?")
    if idle := [slot for slot in entry.words if slot not in slots]:
        raise WrongValueError(keys, f"it has words for {idle[0]!r}, which is none of its slots")


def _check_name(keys: Keys, name: str) -> None:
    if name not in FACTS:
        raise WrongValueError(keys, f"there is no fact {name!r}{did_you_mean(name, FACTS)}")


def _check_words(words: Words) -> None:
    for slot, entries in words.items():
        for word, facts in entries.items():
            check_facts(("words", slot, word), facts)


def check_facts(keys: Keys, facts: Mapping[str, Plain]) -> None:
    """Raise for values that would only fail when a log is read: those of another type than the fact has."""
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


def slots_of(written: str) -> list[str]:
    """Return the names of a template's slots."""
    return [text for kind, text in _parts(written) if kind == "{"]


def _parts(written: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a template: a slot (`{`), the edge of a part that may be missing (`[`, `]`), or a literal."""
    import regex

    for found in regex.finditer(r"\{(?P<slot>\w+)\}|(?P<edge>[\[\]])|(?:(?!\{\w+\})[^\[\]])+", written):
        yield ("{", found["slot"]) if found["slot"] else (found["edge"] or "", found[0])


def _pattern(written: str, words: Mapping[str, Mapping[str, Facts]]) -> Any:
    """Return the pattern of a template, which begins at a folder and ends with the path."""
    import regex

    out = [_pattern_of(kind, text, words.get(text, ())) for kind, text in _parts(written)]
    return regex.compile(rf"(?:^|/){''.join(out)}$")


def _pattern_of(kind: str, text: str, words: Sequence[str] | Mapping[str, Facts]) -> str:
    import regex

    if kind != "{":
        return {"[": "(?:", "]": ")?"}.get(kind) or str(regex.escape(text))
    alternatives = "|".join(map(regex.escape, sorted(words, key=len, reverse=True)))
    if text == REST:
        return f"(?P<{text}>.+?)"
    number = "[0-9]{1,9}" if text == "repeat" else "0*[1-9][0-9]{0,8}"
    return f"(?P<{text}>{alternatives or (number if text in COUNTS else '[^/]+?')})"


def _slots_in(template: Template, path: str) -> Mapping[str, str] | None:
    """Return what a path has in the slots of a template; None where it does not fit."""
    try:
        match = template.pattern.search(path, timeout=_TIMEOUT_SECONDS)
    except TimeoutError:  # many adjacent slots backtrack without end: no match
        return None
    return {slot: each for slot, each in match.groupdict().items() if each is not None} if match else None


def _facts_of_slots(template: Template, slots: Mapping[str, str]) -> dict[str, Plain]:
    facts: dict[str, Plain] = {}
    for slot, printed in slots.items():
        facts |= template.words.get(slot, {}).get(printed) or {slot: int(printed) if slot in COUNTS else printed}
    return facts


def _beside_of(template: Template, slots: Mapping[str, str]) -> dict[str, BesideEntry]:
    """Return the files beside a log; not one whose path has a slot that is missing in the log's."""
    known = (each for each in template.beside if set(slots_of(each.path)) <= slots.keys())
    return {"".join(slots[text] if kind == "{" else text for kind, text in _parts(each.path)): each for each in known}
