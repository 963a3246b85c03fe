"""Facts that the reader of logs states: `facts.toml` in a folder of logs, and `--assume KEY=VALUE`.

    hardware = "A100"

    ["timm/*"]
    model = "ViTAEv2-B"
    devices = 8

Keys before the first glob are of all logs below the folder. A glob is matched against the path below the folder, and
its `*` matches `/`, too; a folder matches all logs in it. A later glob replaces facts of an earlier one, and a file in
a deeper folder replaces facts of one above it. All of them fill in facts that a log leaves open, and never contradict
it.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.toml_file import FileError, TomlFile, read_tables
from perfledger.ingest.read.layout_file import check_facts
from perfledger.ingest.read.walk import FoundFiles, Input
from perfledger.schema.records import FactValue, Plain, Problem, WrongValueError
from perfledger.schema.vocabulary import FACTS

FILE = "facts.toml"
#: The source of a fact that the reader of a log states.
READER = "reader"
ASSUMED = "--assume"

Stated = Mapping[str, FactValue]


@dataclass(frozen=True)
class FactsFile:
    """A `facts.toml`: the facts of each glob, in the order of the file; the glob of all logs is `*`."""

    by_glob: Mapping[str, Stated]

    def of(self, path: str) -> Stated:
        """Return the facts of a log by its path below the folder of the file."""
        found = (facts for glob, facts in self.by_glob.items() if _matches(glob, path))
        return {name: value for facts in found for name, value in facts.items()}

    def unused(self, paths: Sequence[str]) -> Iterator[str]:
        """Yield the globs that match none of some paths."""
        yield from (glob for glob in self.by_glob if not any(_matches(glob, path) for path in paths))


def with_facts(found: FoundFiles, assumed: Mapping[str, Plain] | None = None) -> FoundFiles:
    """Return what was found, each log with the facts that its reader states.

    A wrong file is a problem, and none of its facts are used. A glob that matches no log is a problem, too.
    """
    of_call = {name: FactValue(value, READER, ASSUMED) for name, value in (assumed or {}).items()}
    files: dict[Path, FactsFile | None] = {}
    problems: list[Problem] = []
    below: dict[Path, list[str]] = {}
    names: dict[Path, str] = {}
    logs = []
    for each in found.inputs:
        stated: dict[str, FactValue] = {}
        for folder, name in _folders(each):
            if folder not in files:
                names[folder] = f"{name}/{FILE}" if name else FILE
                files[folder] = _read(folder / FILE, names[folder], problems)
            if file := files[folder]:
                path = each.path.relative_to(folder).as_posix()
                below.setdefault(folder, []).append(path)
                stated |= file.of(path)
        logs.append(dataclasses.replace(each, stated=tuple(sorted((stated | of_call).items()))))
    for folder, paths in below.items():
        if file := files[folder]:
            problems += (Problem("facts_unused", names[folder], args={"glob": glob}) for glob in file.unused(paths))
    return dataclasses.replace(found, inputs=tuple(logs), problems=(*found.problems, *problems))


def parsed(given: Sequence[str]) -> dict[str, Plain]:
    """Return the facts of `--assume` options: `devices=8,model=ResNet-50`.

    Raises:
        UsageError: one is not KEY=VALUE, names an unknown fact, or has a value of another type.
    """
    found: dict[str, Plain] = {}
    for each in (part for option in given for part in option.split(",")):
        name, separator, value = (part.strip() for part in each.partition("="))
        if not (name and separator and value):
            raise UsageError(f"{ASSUMED} {each}: give KEY=VALUE, such as devices=8")
        found[name] = _typed(name, value)
    return checked(found)


def checked(assumed: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return facts that a user assumes.

    Raises:
        UsageError: a fact is unknown, or has another type.
    """
    try:
        check_facts((), assumed)
    except WrongValueError as error:
        raise UsageError(f"{ASSUMED} {'.'.join(map(str, error.keys))}: {error}") from None
    return dict(assumed)


def _typed(name: str, value: str) -> Plain:
    """Return a word of the command line as the fact has it; as a text where it is of another type."""
    kind = FACTS[name].type if name in FACTS else "text"
    try:
        return int(value) if kind == "count" else float(value) if kind == "number" else value
    except ValueError:
        return value


def _matches(glob: str, path: str) -> bool:
    return fnmatchcase(path, glob) or fnmatchcase(path, f"{glob.rstrip('/')}/*")


def _folders(log: Input) -> Iterator[tuple[Path, str]]:
    """Yield the folders of a log from the given one down, each with its name on the site."""
    parts = log.name.split("/")[:-1]
    depth = max(1, len(parts))
    for up in range(depth - 1, -1, -1):
        yield log.path.parents[up], "/".join(parts[: len(parts) - up])


def _read(path: Path, name: str, problems: list[Problem]) -> FactsFile | None:
    if not os.path.lexists(path):
        return None
    try:
        return _parsed(read_tables(path), name)
    except FileError as error:
        problems.append(Problem("wrong_file", name, error.line, {"cause": error.what}))
        return None


def _parsed(file: TomlFile[dict[str, Any]], name: str) -> FactsFile:
    """Return the facts of a file with the line of each.

    Raises:
        FileError: a fact is unknown, or has a wrong value.
    """
    globs = {glob: facts for glob, facts in file.data.items() if isinstance(facts, dict)}
    common = {name: value for name, value in file.data.items() if name not in globs}
    found: dict[str, Stated] = {}
    for keys, glob, facts in [((), "*", common), *(((glob,), glob, facts) for glob, facts in globs.items())]:
        try:
            check_facts(keys, facts)
        except WrongValueError as error:
            raise file.wrong(error.keys, str(error)) from None
        if facts:
            where = {fact: f"{name}:{file.line((*keys, fact))}" for fact in facts}
            stated = {fact: FactValue(value, READER, where[fact]) for fact, value in facts.items()}
            found[glob] = {**found.get(glob, {}), **stated}
    return FactsFile(found)
