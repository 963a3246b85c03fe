"""Logs in object stores, read a folder at a time: a worker fetches all objects of a folder into a temporary one, reads
them as it reads local logs, and removes them again.

The listing (names, sizes and tags) is the key of the result, so that unchanged objects are not fetched again.
"""

from __future__ import annotations

import json
import posixpath
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from perfledger.ingest.common.cache import Cache, key_of
from perfledger.ingest.read import layout as layouts
from perfledger.ingest.read.layout import Layout
from perfledger.ingest.read.objects import ObjectFolder, StoredObject, cause, has_changed
from perfledger.ingest.read.run_json import NAME as RUN_JSON
from perfledger.ingest.read.walk import COMPANIONS, PUBLISHED_FOLDER, SOURCES, may_be_log, may_be_telemetry, walk
from perfledger.ingest.record.folders import COST_OF_LOG, ExtraRules, FolderRead, LogFiles, code_of, folder_of, unread
from perfledger.schema.records import Problem
from perfledger.schema.redaction.redact import redacted

#: Documents that make a folder one run, or one that was not collected yet.
_RUNS = frozenset({RUN_JSON, "launch.json"})


@dataclass(frozen=True)
class StoredFolder:
    """A folder of logs in a store, with all that is read with them: the objects of runs below, and files elsewhere.

    `label` is the name of the store's folder on the site, `objects` are its own, and `elsewhere` those of other folders
    that the layout reads with its logs.
    """

    store: ObjectFolder
    label: str
    objects: tuple[StoredObject, ...]
    elsewhere: tuple[StoredObject, ...]
    layout: str
    extra_rules: Mapping[str, tuple[str, ...]]
    key: str
    #: Logs that are not read.
    left_out: frozenset[str] = frozenset()

    @property
    def size(self) -> int:
        """Bytes to fetch, and what each log costs besides."""
        return sum(each.size for each in (*self.objects, *self.elsewhere)) + COST_OF_LOG * len(self.logs)

    @cached_property
    def logs(self) -> tuple[str, ...]:
        """Names of the objects that may be logs."""
        names = (self._name(each) for each in self.objects if may_be_log(Path(each.name)))
        return tuple(each for each in names if each not in self.left_out)

    @property
    def files_beside(self) -> tuple[str, ...]:
        """None: a file next to the logs is always read."""
        return ()

    def of(self, logs: Collection[str], *, beside: bool = True) -> StoredFolder:
        """Return the folder with some of its logs; a file next to them is always read."""
        return replace(self, left_out=self.left_out | {each for each in self.logs if each not in logs})

    def lost(self, problem: Problem) -> FolderRead:
        """Return the run of a log that cannot be read, in the folder of the ledger that a local log would have."""
        there = {self._name(each) for each in self.objects}
        beside_run = f"{posixpath.dirname(problem.path)}/{RUN_JSON}" in there
        return FolderRead({folder_of(problem.path, beside_run=beside_run): [unread(problem)]})

    def confirmed(self, found: FolderRead, cached: Cache) -> FolderRead:
        """Return the result: objects are fetched as they were listed, or not at all."""
        return found

    def read(self) -> FolderRead:
        """Fetch the objects and return what the logs give."""
        with tempfile.TemporaryDirectory(prefix="perfledger-") as top:
            root = Path(top, *self.store.path.parts[1:])
            root.mkdir(parents=True)
            failed = self._fetch(root)
            beside = [name for name in failed if name not in self.logs]
            if beside:  # it may state something of all logs
                return self._lost_beside(beside[0], failed[beside[0]])
            found = self._read(root)
        for name, error in failed.items():
            found += self.lost(_problem_of(name, error))
        return found

    def _fetch(self, root: Path) -> dict[str, Exception]:
        """Fetch the objects, and return by name why some could not be had.

        Empty objects that are not there represent folders: they are listed without the slash that ends their names.
        """
        failed = self.store.fetch([*self.objects, *self.elsewhere], root)
        empty = {each.name for each in self.objects if not each.size}
        return {
            f"{self.label}/{name}": error
            for name, error in failed.items()
            if not (name in empty and isinstance(error, FileNotFoundError))
        }

    def _read(self, root: Path) -> FolderRead:
        own = {self._name(each) for each in self.objects} - self.left_out
        found = layouts.load(self.layout).logs_of(walk([root], [self.label]))
        logs, beside = ([each for each in some if each.name in own] for some in (found.inputs, found.beside))
        files = LogFiles(logs, beside, self.layout, lambda name: self.extra_rules.get(name, ()))
        with Cache(root / "cache.sqlite", read_only=True) as nothing:
            folders = files.folders(nothing)
        read = FolderRead({}, [each for each in found.problems if each.code != "no_logs"])
        return sum((each.read() for each in folders), read)

    def _lost_beside(self, name: str, error: Exception) -> FolderRead:
        """Return a problem of each log, since a file next to them is missing, or else of that file."""
        why = "it changed" if has_changed(error) else cause(error)
        if not self.logs:
            return FolderRead({}, [Problem("unreadable", name, args={"cause": why})])
        args = {"cause": f"{name}: {why}"}
        return sum((self.lost(Problem("unreadable", each, args=args)) for each in self.logs), FolderRead({}))

    def _name(self, given: StoredObject) -> str:
        return f"{self.label}/{given.name}"


def listed(
    stores: Mapping[str, ObjectFolder], layout: str, extra_rules: ExtraRules
) -> tuple[list[StoredFolder], list[Problem]]:
    """List stores and return their folders of logs, by name; a problem for each store without logs.

    Args:
        stores: folders of object stores, by their names on the site.
        layout: the layout of the logs.
        extra_rules: returns the rules of those who published figures of a log.

    Raises:
        UsageError: a store cannot be listed.
    """
    made, problems = list[StoredFolder](), list[Problem]()
    for label, store in stores.items():
        found = [_stored(store, label, layout, extra_rules, *each) for each in _groups(store, layouts.load(layout))]
        made += found
        problems += [] if any(folder.logs for folder in found) else [Problem("no_logs", label)]
    return made, problems


def _groups(store: ObjectFolder, layout: Layout) -> Iterator[tuple[list[StoredObject], list[StoredObject]]]:
    """List a store; yield the objects of each folder of logs, and objects elsewhere that the layout reads with them."""
    known = _without_published({each.name: each for each in store.listed() if not _is_left_out(each.name)})
    runs = {posixpath.dirname(name) for name in known if posixpath.basename(name) in _RUNS}
    groups: dict[str, list[StoredObject]] = defaultdict(list)
    for name, each in known.items():
        groups[_folder(name, runs)].append(each)
    beside = {name: _beside(store, name, layout, known) for name in known if may_be_log(Path(name))}
    read_beside = {each for found in beside.values() for each in found}
    for _, group in sorted(groups.items()):
        own = [each for each in group if each.name not in read_beside and _may_be_read(each.name, runs)]
        if any(_begins(each.name) for each in own):
            elsewhere = {one for each in own for one in beside.get(each.name, ())}
            yield own, [known[each] for each in sorted(elsewhere)]


def _stored(
    store: ObjectFolder,
    label: str,
    layout: str,
    extra_rules: ExtraRules,
    own: Sequence[StoredObject],
    elsewhere: Sequence[StoredObject],
) -> StoredFolder:
    names = [f"{label}/{each.name}" for each in own]
    rules = {name: found for name in names if (found := extra_rules(name))}
    objects = [[each.name, each.size, each.tag] for each in (*own, *elsewhere)]
    content = json.dumps([store.url, label, objects, len(own), sorted(rules.items())])
    key = key_of("stored", code_of(layout), content)
    return StoredFolder(store, label, tuple(own), tuple(elsewhere), layout, rules, key)


def _without_published(known: Mapping[str, StoredObject]) -> dict[str, StoredObject]:
    """Return the objects that are not in a folder of published figures."""
    marked = {posixpath.dirname(name) for name in known if posixpath.basename(name) == SOURCES}
    published = {each for each in marked if posixpath.basename(each) == PUBLISHED_FOLDER}
    return {name: each for name, each in known.items() if not published & set(_above(name))}


def _problem_of(name: str, error: Exception) -> Problem:
    """Return the problem of a log that could not be fetched."""
    if has_changed(error):
        return Problem("changing", name)
    return Problem("unreadable", name, args={"cause": cause(error)})


def _is_left_out(name: str) -> bool:
    return any(each.startswith(".") or each == "__pycache__" for each in name.split("/"))


def _above(name: str) -> Iterator[str]:
    """Yield the folders above an object, the innermost first."""
    while name:
        name = posixpath.dirname(name)
        yield name


def _folder(name: str, runs: set[str]) -> str:
    """Return the folder that an object is read with: above the outermost run that it is part of, else its own."""
    outermost = [each for each in _above(name) if each in runs]
    return posixpath.dirname(outermost[-1]) if outermost else posixpath.dirname(name)


def _may_be_read(name: str, runs: set[str]) -> bool:
    """Return whether an object may matter: every object of a run, else logs and their companions."""
    path = Path(name)
    if any(each in runs for each in _above(name)):
        return True
    return may_be_log(path) or may_be_telemetry(path) or path.name in COMPANIONS


def _begins(name: str) -> bool:
    """Return whether a folder with this object may give runs or problems."""
    path = Path(name)
    return may_be_log(path) or may_be_telemetry(path) or path.name in _RUNS


def _beside(store: ObjectFolder, name: str, layout: Layout, known: Mapping[str, StoredObject]) -> list[str]:
    """Return the objects that the layout reads with a log."""
    match = layout.match((store.path / name).as_posix())
    folder = posixpath.dirname(name)
    wanted = [posixpath.normpath(posixpath.join(folder, each)) for each in (match.beside if match else ())]
    return [each for each in wanted if each in known]


def kept(found: Sequence[StoredFolder], wanted: Collection[str], at: Path) -> dict[str, tuple[Path, ...]]:
    """Fetch the logs whose lines pages show, and return where they lie, by their redacted names.

    They stay for the next build, which fetches only what has changed; others in the folder are removed. One that the
    store does not give is left out, and its page says so instead of its lines.
    """
    places: dict[str, tuple[Path, ...]] = {}
    for folder in found:
        for each in folder.objects:
            name = redacted(f"{folder.label}/{each.name}")
            if name in wanted and (path := _kept(folder.store, each, at)):
                places[name] = (*places.get(name, ()), path)
    holding = {path.parent for paths in places.values() for path in paths}
    for path in sorted(at.iterdir()) if at.is_dir() else ():
        if path not in holding:
            shutil.rmtree(path, ignore_errors=True)
    return places


def _kept(store: ObjectFolder, given: StoredObject, at: Path) -> Path | None:
    folder = at / key_of(store.url, given.name, given.tag)[:32]
    path = folder / posixpath.basename(given.name)
    if path.is_file() and path.stat().st_size == given.size:
        return path
    at.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=at) as incoming:
        if store.fetch([given], Path(incoming)):
            return None
        folder.mkdir(exist_ok=True)
        return Path(incoming, given.name).replace(path)
