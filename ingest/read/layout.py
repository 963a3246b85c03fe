"""Layouts: the facts that names of folders and files state, as `ingest/layouts/*.toml` or a user's file says."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as with_fields
from functools import cache
from pathlib import Path
from typing import Any

from perfledger import project_folder
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.files import absolute
from perfledger.ingest.common.project import files, joined_layouts, project, several_layouts, wrong
from perfledger.ingest.common.toml_file import did_you_mean, read
from perfledger.ingest.read.layout_file import (
    BesideEntry,
    Facts,
    LayoutFile,
    PathEntry,
    Words,
    compiled,
    filled,
    slots_of,
)
from perfledger.ingest.read.walk import FoundFiles, Input
from perfledger.schema.records import Origin, Plain
from perfledger.schema.vocabulary import COUNTS

LAYOUTS = Path(__file__).resolve().parents[1] / "layouts"
OWN = "perfledger"
#: Layouts of folders that programs write. They are part of our own layout, since such folders have fixed names.
_PROGRAMS = ("wandb", "huggingface")
#: Seconds to match one path; only templates with many adjacent slots take longer.
_TIMEOUT_SECONDS = 1.0


@dataclass(frozen=True)
class Template:
    """One template of a layout, compiled, with its facts and the facts that words in its slots state."""

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
    """A named set of templates; the first that matches a path gives its facts.

    `below` contains the layouts of folders that have one of their own, by absolute path with a slash at the end.
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
        plain = posixpath.normpath(path)  # a path from the command line such as `../logs` still has its dots
        return next((other for folder, other in self.below.items() if plain.startswith(folder)), self)

    def origin(self, path: str) -> Origin | None:
        """Return whose log is at an absolute path; None if its layout does not state that."""
        own = self.of(path)
        return Origin(own.title, own.source) if own.source else None

    def match(self, path: str) -> Match | None:
        """Match a log's absolute path by the first template that fits; None if no template does.

        Templates match the end of a path, since the tree may be in any folder and a log may be given alone.
        """
        for template in self.of(path).templates:
            if (slots := _slots_in(template, path)) is not None:
                of_slots = _facts_of_slots(template, slots)
                weak = frozenset() if template.must else template.facts.keys() - of_slots.keys()
                return Match({**template.facts, **of_slots}, frozenset(weak), _beside_of(template, slots))
        return None

    def ignores(self, path: str) -> bool:
        """Return whether a template of `ignore` matches an absolute path."""
        return any(_slots_in(template, path) is not None for template in self.of(path).ignore)

    def logs_of(self, found: FoundFiles) -> FoundFiles:
        """Drop files that the layout ignores or reads next to logs, and attach the latter to their logs.

        A file that the user names is always read.
        """
        logs = self._not_ignored(found.inputs)
        if any(template.beside for each in (self, *self.below.values()) for template in each.templates):
            logs = tuple(with_fields(each, beside=self._beside(each.path)) for each in logs)
        attached = {path for each in logs for path in each.beside}
        alone = (
            each for each in logs if each.asked or not attached or beside(each.path, each.path.name) not in attached
        )
        return with_fields(found, inputs=tuple(alone), beside=self._not_ignored(found.beside))

    def _beside(self, log: Path) -> tuple[Path, ...]:
        found = self.match(absolute(log))
        return tuple(beside(log, each) for each in (found.beside if found else ()))

    def _not_ignored(self, inputs: Sequence[Input]) -> tuple[Input, ...]:
        if not self.ignore and not self.below:
            return tuple(inputs)
        return tuple(each for each in inputs if each.asked or not self.ignores(absolute(each.path)))


def beside(log: Path, relative: str) -> Path:
    """Return the absolute path, without `..`, of a file next to a log."""
    return Path(posixpath.normpath((log.absolute().parent / relative).as_posix()))


def path_of(name: str) -> Path:
    """Return the file of a layout: a user's own if the name ends in `.toml` or its project has it, or a shipped one."""
    own = next((each for each in files("layouts") if each.stem == name), None)
    return Path(name) if name.endswith(".toml") else own or LAYOUTS / f"{name}.toml"


def files_of(name: str) -> list[Path]:
    """Return the files of a layout and of the layouts of folders below it."""
    own, of_folders = several_layouts(name)
    return [path_of(each) for each in (own, *of_folders.values(), *project().layouts.values())]


@cache
def load(name: str) -> Layout:
    """Return a shipped layout by name, or a layout file by path; with those of folders (`several_layouts`).

    Raises:
        UsageError: it does not exist or is not a layout; the message names the file, the line and the fault.
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
    # A folder comes before those that contain it.
    return with_fields(own, below=dict(sorted(below.items(), reverse=True)))


def with_own_files(name: str, found: FoundFiles) -> str:
    """Add the `layout.toml` of folders of logs to a layout, unless the user names one for all logs."""
    named, of_folders = several_layouts(name)
    if named != OWN:
        return name
    carried = {posixpath.normpath(absolute(each.parent)): absolute(each) for each in found.layouts}
    return joined_layouts(named, {**carried, **of_folders}) if carried else name


def _read(name: str) -> Layout:
    path = path_of(name)
    if not path.exists():
        known = [each.stem for each in (*LAYOUTS.glob("*.toml"), *files("layouts"))]
        near = did_you_mean(name, known)
        hint = near if near.startswith("; did") else ""
        choices = ", ".join(sorted(known))
        raise UsageError(f"layout {name!r}: there is no such layout; give a .toml file or one of {choices}{hint}")
    file = read(path, LayoutFile).data
    ignored = (_template(PathEntry(each), file) for each in file.ignore)
    templates = (_template(each, file) for each in file.path)
    found = Layout(path.stem, file.title or path.stem, file.source, tuple(templates), tuple(ignored))
    return _with_programs(found) if name == OWN else found


def _with_programs(own: Layout) -> Layout:
    """Add the templates of folders that programs write to our own layout."""
    others = [_read(each) for each in _PROGRAMS]
    templates = [each for other in others for each in other.templates]
    ignored = [each for other in others for each in other.ignore]
    return with_fields(own, templates=(*own.templates, *templates), ignore=(*own.ignore, *ignored))


def _template(entry: PathEntry, file: LayoutFile) -> Template:
    common = file.words
    words = {slot: {**common.get(slot, {}), **entry.words.get(slot, {})} for slot in (*common, *entry.words)}
    beside = tuple(file.beside[each] for each in entry.beside)
    return Template(entry.template, compiled(entry.template, words), words, entry.facts, beside, file.must)


def _slots_in(template: Template, path: str) -> Mapping[str, str] | None:
    """Return the text of each slot in a path; None if the template does not match, or takes too long to."""
    try:
        match = template.pattern.search(path, timeout=_TIMEOUT_SECONDS)
    except TimeoutError:
        return None
    return {slot: each for slot, each in match.groupdict().items() if each is not None} if match else None


def _facts_of_slots(template: Template, slots: Mapping[str, str]) -> dict[str, Plain]:
    facts: dict[str, Plain] = {}
    for slot, printed in slots.items():
        facts |= template.words.get(slot, {}).get(printed) or {slot: int(printed) if slot in COUNTS else printed}
    return facts


def _beside_of(template: Template, slots: Mapping[str, str]) -> dict[str, BesideEntry]:
    """Return the files next to a log by path, except those whose path needs a slot that the log's path lacks."""
    return {filled(each.path, slots): each for each in template.beside if set(slots_of(each.path)) <= slots.keys()}
