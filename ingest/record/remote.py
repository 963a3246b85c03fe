"""Logs in object stores, read a folder at a time: a worker fetches what belongs to the logs of a folder into a
temporary one, reads it as it reads local logs, and removes it again.

What was listed (names, sizes and tags) is the key of what was read, so that what has not changed is not fetched again.
"""

from __future__ import annotations

import json
import posixpath
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from msgspec import MsgspecError, Struct

from perfledger.ingest.common.cache import Cache, key_of
from perfledger.ingest.common.processes import Death
from perfledger.ingest.read import layout as layouts
from perfledger.ingest.read.layout import Layout
from perfledger.ingest.read.objects import Store, StoredObject, cause, has_changed
from perfledger.ingest.read.run_json import NAME as RUN_JSON
from perfledger.ingest.read.walk import COMPANIONS, PUBLISHED_FOLDER, SOURCES, may_be_log, may_be_telemetry, walk
from perfledger.ingest.record import ledger
from perfledger.ingest.record.ledger import EACH, FolderRuns, unread
from perfledger.ingest.record.reading import ReadJobs, problem_of
from perfledger.ingest.record.slim import Slimmer
from perfledger.schema.records import Problem, Run, from_text, text_of
from perfledger.schema.redaction.redact import redacted

#: Documents that make a folder one run, or one that was not collected yet.
_RUNS = frozenset({RUN_JSON, "launch.json"})


class RemoteRead(Struct, frozen=True):
    """What the logs of a folder gave: their runs, what is wrong with files of no run, and what is no log."""

    runs: list[Run] = []
    problems: list[Problem] = []
    passed_over: list[str] = []


@dataclass(frozen=True)
class StoredFolder:
    """A folder of logs in a store, with all that is read with them: the objects of runs below, and files elsewhere.

    `label` is the name of the store's folder on the site, `objects` are its own, and `elsewhere` those of other folders
    that the layout reads beside its logs.
    """

    store: Store
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
        return sum(each.size for each in (*self.objects, *self.elsewhere)) + EACH * len(self.logs)

    @property
    def logs(self) -> tuple[str, ...]:
        """Names of the objects that may be logs."""
        named = (each.name for each in self.objects if may_be_log(Path(each.name)))
        return tuple(each for each in named if each not in self.left_out)

    def of(self, logs: Collection[str], *, beside: bool = True) -> StoredFolder:
        """Return the folder with some of its logs; what is beside them is always read."""
        return replace(self, left_out=self.left_out | {each for each in self.logs if each not in logs})

    def with_lost(
        self, found: RemoteRead | None, deaths: Mapping[str, Death], beside: Death | None = None
    ) -> RemoteRead:
        """Add runs of the logs over which readers died."""
        told = found or RemoteRead()
        lost = [unread(problem_of(death, f"{self.label}/{name}")) for name, death in deaths.items()]
        return RemoteRead([*told.runs, *lost], told.problems, told.passed_over)

    def read(self) -> RemoteRead:
        """Fetch the objects and return what the logs give."""
        with tempfile.TemporaryDirectory(prefix="perfledger-") as top:
            root = Path(top, *self.store.path.parts[1:])
            root.mkdir(parents=True)
            failed = self._fetch(root)
            beside = [name for name in failed if name not in self.logs]
            if beside:  # what is said beside the logs counts for all of them
                return self._lost_beside(beside[0], failed[beside[0]])
            found = self._read(root)
        runs = [*found.runs, *(self._lost(name, error) for name, error in failed.items())]
        return RemoteRead(runs, found.problems, found.passed_over)

    def _fetch(self, root: Path) -> dict[str, Exception]:
        """Fetch the objects, and return why some could not be had.

        Empty objects that are not there stand for folders: they are listed without the slash that ends their names.
        """
        failed = self.store.fetch([*self.objects, *self.elsewhere], root)
        empty = {each.name for each in self.objects if not each.size}
        return {
            name: error
            for name, error in failed.items()
            if not (name in empty and isinstance(error, FileNotFoundError))
        }

    def _read(self, root: Path) -> RemoteRead:
        own = {f"{self.label}/{each.name}" for each in self.objects if each.name not in self.left_out}
        found = layouts.load(self.layout).logs_of(walk([root], [self.label]))
        inputs, beside = ([each for each in some if each.name in own] for some in (found.inputs, found.beside))
        with Cache(root / "cache.sqlite", read_only=True) as nothing:
            told = ledger.read_logs(inputs, beside, self.layout, nothing, lambda name: self.extra_rules.get(name, ()))
        runs = [run for mine in told.by_folder.values() for run in mine.runs]
        problems = [*(each for each in found.problems if each.code != "no_logs"), *told.problems]
        return RemoteRead(runs, problems, list(told.passed_over))

    def _lost(self, name: str, error: Exception) -> Run:
        """Return the run of a log that the store does not give."""
        whole = f"{self.label}/{name}"
        if has_changed(error):
            return unread(Problem("changing", whole))
        return unread(Problem("unreadable", whole, args={"cause": cause(error)}))

    def _lost_beside(self, name: str, error: Exception) -> RemoteRead:
        """Return a problem of each log without an object beside them; of the object if there are no logs."""
        why, whole = "it changed" if has_changed(error) else cause(error), f"{self.label}/{name}"
        told = {"cause": f"{whole}: {why}"}
        runs = [unread(Problem("unreadable", f"{self.label}/{each}", args=told)) for each in self.logs]
        return RemoteRead(runs, [] if runs else [Problem("unreadable", whole, args={"cause": why})])


def listed(
    stores: Sequence[Store], labels: Sequence[str], layout: str, extra_rules: Callable[[str], tuple[str, ...]]
) -> tuple[list[StoredFolder], list[Problem]]:
    """List stores and return their folders of logs, by name; a problem for each store without logs.

    Raises:
        UsageError: a store cannot be listed.
    """
    made, problems = list[StoredFolder](), list[Problem]()
    for store, label in zip(stores, labels, strict=True):
        found = _folders(store, label, layout, extra_rules)
        made += found
        problems += [] if any(each.logs for each in found) else [Problem("no_logs", label)]
    return made, problems


def _folders(
    store: Store, label: str, layout: str, extra_rules: Callable[[str], tuple[str, ...]]
) -> list[StoredFolder]:
    known = {each.name: each for each in store.listed() if not _is_left_out(each.name)}
    published = {posixpath.dirname(name) for name in known if posixpath.basename(name) == SOURCES}
    published = {each for each in published if posixpath.basename(each) == PUBLISHED_FOLDER}
    known = {name: each for name, each in known.items() if not published & set(_above(name))}
    runs = {posixpath.dirname(name) for name in known if posixpath.basename(name) in _RUNS}
    groups: dict[str, list[StoredObject]] = defaultdict(list)
    for name, each in known.items():
        groups[_folder(name, runs)].append(each)
    named = layouts.load(layout)
    beside = {name: _beside(store, name, named, known) for name in known if may_be_log(Path(name))}
    read_beside = {each for found in beside.values() for each in found}
    made = []
    for folder in sorted(groups):
        own = [each for each in groups[folder] if each.name not in read_beside and _may_be_read(each.name, runs)]
        if any(map(_begins, (each.name for each in own))):
            elsewhere = {one for each in own for one in beside.get(each.name, ())}
            made.append(_made(store, label, own, [known[each] for each in sorted(elsewhere)], layout, extra_rules))
    return made


def _made(
    store: Store, label: str, own: Sequence[StoredObject], elsewhere: Sequence[StoredObject], layout: str,
    extra_rules: Callable[[str], tuple[str, ...]],
) -> StoredFolder:  # fmt: skip
    names = [f"{label}/{each.name}" for each in own]
    rules = {name: found for name in names if (found := extra_rules(name))}
    listed = [[each.name, each.size, each.tag] for each in (*own, *elsewhere)]
    content = json.dumps([store.url, label, listed, len(own), sorted(rules.items())])
    key = key_of("stored", ledger.code_of(layout), content)
    return StoredFolder(store, label, tuple(own), tuple(elsewhere), layout, rules, key)


def _is_left_out(name: str) -> bool:
    return any(each.startswith(".") or each == "__pycache__" for each in name.split("/"))


def _above(name: str) -> Iterator[str]:
    """Yield the folders above an object, the innermost first."""
    while name:
        name = posixpath.dirname(name)
        yield name


def _folder(name: str, runs: set[str]) -> str:
    """Return the folder that an object is read with: above the outermost run that it is part of, otherwise its own."""
    outermost = [each for each in _above(name) if each in runs]
    return posixpath.dirname(outermost[-1]) if outermost else posixpath.dirname(name)


def _may_be_read(name: str, runs: set[str]) -> bool:
    """Return whether an object may matter: all of a run does, otherwise logs and what may lie beside them."""
    path = Path(name)
    if any(each in runs for each in _above(name)):
        return True
    return may_be_log(path) or may_be_telemetry(path) or path.name in COMPANIONS


def _begins(name: str) -> bool:
    """Return whether a folder with this object has something to tell."""
    path = Path(name)
    return may_be_log(path) or may_be_telemetry(path) or path.name in _RUNS


def _beside(store: Store, name: str, layout: Layout, known: Mapping[str, StoredObject]) -> list[str]:
    """Return the objects that the layout reads beside a log."""
    match = layout.match((store.path / name).as_posix())
    folder = posixpath.dirname(name)
    wanted = [posixpath.normpath(posixpath.join(folder, each)) for each in (match.beside if match else ())]
    return [each for one in wanted for each in _named(one, known)]


def _named(wanted: str, known: Mapping[str, StoredObject]) -> list[str]:
    """Return the objects of a name, in which a `*` stands for any part of the last component."""
    if "*" not in wanted:
        return [wanted] if wanted in known else []
    folder = posixpath.dirname(wanted)
    return sorted(each for each in known if posixpath.dirname(each) == folder and fnmatchcase(each, wanted))


def read(
    found: Sequence[StoredFolder],
    cached: Cache,
    reader: ReadJobs,
    progress: Any,
    slimmer: Slimmer | None = None,
) -> ledger.StoredRuns:
    """Return what the folders give, from the cache where they have not changed."""
    if not found:
        return ledger.StoredRuns()
    known = {each.key: _of_folder(each, told, slimmer) for each in found if (told := _known(cached.get(each.key)))}
    missing = [each for each in found if each.key not in known]
    for folder, told in zip(missing, reader(missing), strict=True):
        if not ledger.passes(told.runs, told.problems):
            cached.put(folder.key, text_of(told).encode())
        known[folder.key] = _of_folder(folder, told, slimmer)
        if progress:
            progress(len(folder.logs))
    by_folder: dict[str, FolderRuns] = {}
    for each in found:
        for name, runs in known[each.key].by_folder.items():
            by_folder[name] = by_folder[name] + runs if name in by_folder else runs
    return ledger.StoredRuns(
        by_folder,
        tuple(problem for each in found for problem in known[each.key].problems),
        tuple(name for each in found for name in known[each.key].passed_over),
        tuple(each.key for each in found),
        sum(len(each.logs) for each in missing),
    )


def _of_folder(folder: StoredFolder, told: RemoteRead, slimmer: Slimmer | None) -> ledger.StoredRuns:
    """Return what a folder gave, by folders of the ledger."""
    by_folder: dict[str, list[Run]] = defaultdict(list)
    places = _places(folder)
    for run in told.runs:
        by_folder[places[run.path]].append(run)
    runs = {name: FolderRuns.of(each, slimmer) for name, each in by_folder.items()}
    return ledger.StoredRuns(runs, tuple(told.problems), tuple(told.passed_over))


def _known(data: bytes | None) -> RemoteRead | None:
    """Return what a call before this one read; None if there is nothing, or if it cannot be read."""
    try:
        return None if data is None else from_text(data, RemoteRead)
    except (ValueError, MsgspecError, RecursionError):
        return None


def _places(folder: StoredFolder) -> dict[str, str]:
    """Return the folder of the ledger for each log, by the log's redacted name: as for local logs."""
    there = {each.name for each in folder.objects}
    names = {}
    for name in folder.logs:
        whole, beside = f"{folder.label}/{name}", posixpath.join(posixpath.dirname(name), RUN_JSON) in there
        names[redacted(whole)] = ledger.folder_of(whole, beside_run=beside)
    return names


def kept(found: Sequence[StoredFolder], wanted: Collection[str], at: Path) -> dict[str, tuple[Path, ...]]:
    """Fetch the logs whose lines pages show, and return where they lie, by their redacted names.

    They stay for the next build, which fetches only what has changed; others in the folder are removed. One that the
    store does not give is left out, and its page says that its lines cannot be shown.
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


def _kept(store: Store, given: StoredObject, at: Path) -> Path | None:
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
