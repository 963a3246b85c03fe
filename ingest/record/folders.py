"""Folders of logs on this machine: each is a job for a reader, and has a key in the cache.

A folder (in our own tree, one case) has a file of the ledger. Its key is made of the hashes of its files and of the
code that reads them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct

from perfledger import PACKAGES, project_folder
from perfledger.ingest.common import sources, suites
from perfledger.ingest.common.cache import Cache, key_of
from perfledger.ingest.common.files import absolute, file_hash, is_settled, stamp
from perfledger.ingest.read import layout as layouts
from perfledger.ingest.read.walk import Input
from perfledger.ingest.record import telemetry
from perfledger.ingest.record.run import runs_of
from perfledger.parsers.engine.registry import formats
from perfledger.schema.records import Problem, Run
from perfledger.schema.redaction.redact import redact_record, redacted

#: Packages that only use what the ledger says.
_LATER = ("site", "diff")
_SHA256 = re.compile(rb"[0-9a-f]{64}")
#: Cost of reading a log, in bytes that are read in the same time; the bytes of the log are added to it.
COST_OF_LOG = 64 << 10
#: Returns the rules of those who published figures of a log, by its name.
ExtraRules = Callable[[str], tuple[str, ...]]
#: SHA-256 of files by path, empty for a file that cannot be read.
Hashes = Mapping[str, str]


class FolderRead(Struct, frozen=True, omit_defaults=True):
    """The result of a job.

    `runs` are by folder of the ledger, `problems` those of files that belong to no run, and `passed_over` the names of
    files that are not logs.
    """

    runs: dict[str, list[Run]]
    problems: list[Problem] = []
    passed_over: list[str] = []

    def __add__(self, other: FolderRead) -> FolderRead:
        """Return both results as one."""
        return merged([self, other])

    def all_runs(self) -> Iterator[Run]:
        """Yield the runs of all folders."""
        return chain.from_iterable(self.runs.values())

    def with_runs(self, change: Callable[[list[Run]], list[Run]]) -> FolderRead:
        """Return it with other runs in each folder."""
        return msgspec.structs.replace(self, runs={name: change(mine) for name, mine in self.runs.items()})

    def without(self, paths: Collection[str]) -> FolderRead:
        """Return it without some logs, by their redacted names."""
        found = self.with_runs(lambda mine: [run for run in mine if run.path not in paths])
        return msgspec.structs.replace(found, passed_over=[each for each in self.passed_over if each not in paths])


def merged(parts: Iterable[FolderRead]) -> FolderRead:
    """Return all results as one."""
    runs: dict[str, list[Run]] = defaultdict(list)
    problems, passed_over = list[Problem](), list[str]()
    for part in parts:
        for name, mine in part.runs.items():
            runs[name] += mine
        problems += part.problems
        passed_over += part.passed_over
    return FolderRead(dict(runs), problems, passed_over)


def no_extra_rules(_name: str) -> tuple[str, ...]:
    """Return that nobody published figures of a log."""
    return ()


@dataclass(frozen=True)
class LogFiles:
    """Logs of one layout, and files next to them that may be telemetry."""

    logs: Sequence[Input]
    beside: Sequence[Input] = ()
    layout: str = "perfledger"
    extra_rules: ExtraRules = no_extra_rules

    def folders(self, cached: Cache) -> list[LocalFolder]:
        """Return the folders of the logs and of the files next to them, by name."""
        hashes = _hashes([*self.logs, *self.beside], cached)
        names = {each.folder: folder_of(each.name, beside_run=each.run_json.is_file()) for each in self.logs}
        logs, beside = defaultdict[str, list[Input]](list), defaultdict[str, list[Input]](list)
        for each in self.logs:
            logs[names[each.folder]].append(each)
        for each in self.beside:
            beside[names.get(each.folder) or folder_of(each.name, beside_run=False)].append(each)
        return [self._folder(name, tuple(logs[name]), tuple(beside[name]), hashes) for name in sorted({*logs, *beside})]

    def _folder(self, name: str, logs: tuple[Input, ...], beside: tuple[Input, ...], hashes: Hashes) -> LocalFolder:
        rules = {each.name: found for each in logs if (found := self.extra_rules(each.name))}
        mine = {path: hashes.get(path, "") for path in sorted({str(path) for path in _paths((*logs, *beside))})}
        made = LocalFolder(name, logs, beside, self.layout, rules, mine)
        # A file that cannot be read now may be readable later, without a change of its time or size.
        is_readable = all(sha256 or not os.path.lexists(path) for path, sha256 in mine.items())
        return replace(made, key=key_of("runs", code_of(self.layout), made.content())) if is_readable else made


@dataclass(frozen=True)
class LocalFolder:
    """The logs of one folder of this machine, a job for a reader.

    `folder` is its name in the ledger, `beside` are files that are not logs by their names and may be telemetry, and
    `hashes` those of all its files. `key` is empty if a file cannot be read.
    """

    folder: str
    inputs: tuple[Input, ...]
    beside: tuple[Input, ...]
    layout: str
    extra_rules: Mapping[str, tuple[str, ...]]
    hashes: Hashes
    key: str = ""

    @property
    def logs(self) -> tuple[str, ...]:
        """Names of its logs."""
        return tuple(each.name for each in self.inputs)

    @property
    def files_beside(self) -> tuple[str, ...]:
        """Names of the files that may be telemetry."""
        return tuple(each.name for each in self.beside)

    @property
    def size(self) -> int:
        """Bytes of its logs, and what each costs besides."""
        return sum(COST_OF_LOG + (at[0] if (at := stamp(log.path)) else 0) for log in self.inputs)

    def of(self, logs: Collection[str], *, beside: bool = True) -> LocalFolder:
        """Return the folder with some of its logs, and with the files next to them if `beside`."""
        inputs = tuple(each for each in self.inputs if each.name in logs)
        return replace(self, inputs=inputs, beside=self.beside if beside else ())

    def content(self) -> str:
        """Return what its runs depend on, besides code."""
        # A layout reads the whole path, so that a tree that was moved may have other facts.
        logs = [
            [each.name, absolute(each.path), self.extra_rules.get(each.name), self._hashes_of(each), _stated(each)]
            for each in self.inputs
        ]
        beside = [[each.name, self._hash_of(each)] for each in self.beside]
        return json.dumps([logs, beside], sort_keys=True)

    def read(self) -> FolderRead:
        """Return the runs of its logs."""
        layout = layouts.load(self.layout)
        formats()  # A mistake in one of them is no log's fault, and ends the command here.
        files = telemetry.sort_out(self.inputs, self.beside)
        found = [
            (each, runs_of(each, layout, self._hash_of(each), self.extra_rules.get(each.name, ())))
            for each in files.logs
        ]
        hashes = {each.given.name: self._hash_of(each.given) for each in files.telemetry}
        runs = telemetry.attach([(given, mine) for given, mine in found if mine], files.telemetry, hashes)
        names = (each.name for each, mine in found if not mine)
        return FolderRead({self.folder: runs} if runs else {}, files.problems, [redacted(each) for each in names])

    def lost(self, problem: Problem) -> FolderRead:
        """Return the run of a log that cannot be read."""
        sha256 = next(self._hash_of(each) for each in self.inputs if each.name == problem.path)
        return FolderRead({self.folder: [unread(problem, sha256)]})

    def confirmed(self, found: FolderRead, cached: Cache) -> FolderRead:
        """Replace the runs of logs that changed, or have a file next to them that changed, since they were hashed."""
        after = _hashes([*self.inputs, *self.beside], cached)

        def is_same(given: Input) -> bool:
            return all(self.hashes.get(str(path), "") == after.get(str(path), "") for path in given.files)

        # Telemetry may belong to any of the logs.
        changed = [each for each in self.inputs if not is_same(each)] if all(map(is_same, self.beside)) else self.inputs
        if changed:
            found = found.without({redacted(each.name) for each in changed})
        for each in changed:
            found += self.lost(Problem("changing", each.name))
        return found

    def _hash_of(self, given: Input) -> str:
        return self.hashes.get(str(given.path), "")

    def _hashes_of(self, given: Input) -> list[list[str]]:
        return [[absolute(path), self.hashes.get(str(path), "")] for path in given.files]


def _stated(given: Input) -> list[list[object]]:
    return [[name, *msgspec.structs.astuple(fact)] for name, fact in given.stated]


def folder_of(name: str, *, beside_run: bool) -> str:
    """Return the folder of a log; next to a run.json, the folder above, which contains the repeats of a case."""
    parts = name.split("/")
    depth = 2 if beside_run and len(parts) > 2 else 1
    return "/".join(parts[:-depth]) or parts[0]


def unread(problem: Problem, sha256: str = "") -> Run:
    """Return a run that only says why its log was not read."""
    return redact_record(Run(path=problem.path, sha256=sha256, outcome="failed", problems=(problem,)))


def _paths(inputs: Iterable[Input]) -> Iterable[Path]:
    return chain.from_iterable(each.files for each in inputs)


def _hashes(inputs: Sequence[Input], cached: Cache) -> Hashes:
    """Return the SHA-256 of every file by its path; a file with a known size, time and inode is not read."""
    found: dict[str, str] = {}
    for path in _paths(inputs):
        name = str(path)
        if name not in found and (at := stamp(path)):
            found[name] = _hash(path, at, cached)
    return found


def _hash(path: Path, at: Sequence[int], cached: Cache) -> str:
    """Return the SHA-256 of a file with this stamp; one that was changed just now may change again under the same."""
    key = key_of("file", absolute(path), *map(str, at))
    try:
        if is_settled(at) and _SHA256.fullmatch(known := cached.get_or_make(key, lambda: file_hash(path).encode())):
            return known.decode()
        return file_hash(path)
    except OSError:
        return ""


def code_of(layout: str) -> str:
    """Hash everything except the logs that a line depends on: formats, rules, layouts, spellings, redaction."""
    return _code_of(layout, project_folder())


@cache
def _code_of(layout: str, _project: Path | None) -> str:
    top = PACKAGES
    files = [
        *top.glob("parsers/**/*.py"),
        *(each for kind in ("py", "toml") for each in top.glob(f"ingest/*/*.{kind}") if each.parent.name not in _LATER),
        *top.glob("schema/*.*"),
        *top.glob("schema/redaction/*.*"),
    ]
    files += [*suites.SUITES.glob("*.toml"), *layouts.files_of(layout), *sources.own_files()]
    named = layouts.load(layout)
    digest = hashlib.sha256(repr((named.name, [(at, each.name) for at, each in named.below.items()])).encode())
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
