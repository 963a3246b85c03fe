"""The ledger: one line per run, in the files that `ledger_files` describes.

A shard is one folder of logs (for our own tree, one case), the unit of reading. What a shard's logs give is cached by
content: by the hashes of its files and of the code that reads them. Of many logs, only what pages of many runs show of
each stays in memory.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import astuple, replace

from perfledger import PACKAGES, project_folder
from perfledger.ingest.common import sources, suites
from perfledger.ingest.common.cache import Cache, key_of, packed, unpacked
from perfledger.ingest.common.faults import guarded
from perfledger.ingest.common.files import MANY_LOGS, absolute, file_hash, is_settled, stamp
from perfledger.ingest.common.processes import Death
from perfledger.ingest.read import layout as layouts
from perfledger.ingest.read.walk import Input
from perfledger.ingest.record import duplicates, ledger_files, telemetry
from perfledger.ingest.record.identity import identify
from perfledger.ingest.record.ledger_files import LedgerPlace
from perfledger.ingest.record.reading import ReadJobs, on_processes, problem_of
from perfledger.ingest.record.run import runs_of
from perfledger.ingest.record.slim import Slimmer
from perfledger.parsers.engine.registry import formats, telemetry_formats
from perfledger.parsers.engine.telemetry import claimant
from perfledger.schema.records import Problem, Run, from_text, to_json
from perfledger.schema.redaction.redact import redact_record, redacted

_SHA256 = re.compile(rb"[0-9a-f]{64}")
_WRITER = msgspec.json.Encoder(order="sorted")
#: What a log costs besides its bytes, in bytes.
EACH = 64 << 10
#: Packages that only use what the ledger says.
_LATER = ("site", "diff")
#: Problems that say nothing of the bytes of a log: the next call may read it, so what they leave is not cached.
_PASSING = frozenset({"fault", "too_slow", "unreadable", "changing", "reader_killed", "reader_crashed"})
#: Those with which what an earlier call read of a log is kept.
_KEPT = frozenset({"unreadable", "changing", "reader_killed", "reader_crashed"})


@dataclass(frozen=True)
class Shard:
    """The logs of one folder, which has a file of the ledger, and the key of what they give in the cache.

    `key` is empty where a file cannot be read now: it may be readable later without a change of its time or size.
    """

    folder: str
    inputs: tuple[Input, ...]
    hashes: Mapping[str, str]
    extra_rules: Mapping[str, tuple[str, ...]]
    beside: tuple[telemetry.File, ...]
    key: str
    layout: str

    def read(self) -> list[Run]:
        """Return the runs of its logs."""
        found = layouts.load(self.layout)
        formats()  # A mistake in one of them is no log's fault, and ends the command here.
        logs = [
            (each, runs_of(each, found, self.hashes[each.name], self.extra_rules.get(each.name, ())))
            for each in self.inputs
        ]
        return telemetry.attach([(given, runs) for given, runs in logs if runs], self.beside, self.hashes)

    @property
    def logs(self) -> tuple[str, ...]:
        """Names of its logs."""
        return tuple(each.name for each in self.inputs)

    def of(self, logs: Collection[str], *, beside: bool = True) -> Shard:
        """Return the shard of some of its logs."""
        inputs = tuple(each for each in self.inputs if each.name in logs)
        return dataclasses.replace(self, inputs=inputs, beside=self.beside if beside else ())

    def with_lost(self, found: list[Run] | None, deaths: Mapping[str, Death], beside: Death | None = None) -> list[Run]:
        """Add runs of the logs over which readers died; or problems of the files beside all logs."""
        lost = [unread(problem_of(death, name), self.hashes[name]) for name, death in deaths.items()]
        wrong = [redact_record(problem_of(beside, each.given.name)) for each in self.beside] if beside else []
        return [replace(run, problems=(*run.problems, *wrong)) for run in found or ()] + lost

    @property
    def size(self) -> int:
        """Bytes of its logs, and what each costs besides."""
        return sum(EACH + (at[0] if (at := stamp(log.path)) else 0) for log in self.inputs)


@dataclass(frozen=True)
class FolderRuns:
    """The runs of a folder; of many logs slim ones, and `lines` are then all of them, packed, in the same order."""

    runs: list[Run]
    lines: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, runs: Sequence[Run], slimmer: Slimmer | None) -> FolderRuns:
        """Return runs as they are, or slim, and then as their lines say: so are those that a later call reads."""
        return cls.of_lines(_lines(runs), slimmer) if slimmer else cls(list(runs))

    @classmethod
    def of_lines(cls, lines: bytes, slimmer: Slimmer | None) -> FolderRuns:
        """Return the runs of some lines."""
        runs = _slim(_runs_of_lines(lines), slimmer)
        return cls(runs, (packed(lines),) if slimmer else ())

    def __add__(self, other: FolderRuns) -> FolderRuns:
        """Return both."""
        return FolderRuns([*self.runs, *other.runs], (*self.lines, *other.lines))

    def whole(self) -> list[Run]:
        """Return the runs with all that is known of them."""
        if not self.lines:
            return self.runs
        return [run for each in self.lines for run in _runs_of_lines(unpacked(each))]


@dataclass(frozen=True)
class StoredRuns:
    """What logs gave that are read a folder at a time: runs by folder, problems of files of no run, and no logs.

    `keys` are those of the folders in the cache, and `read_logs` counts logs that were not in it.
    """

    by_folder: Mapping[str, FolderRuns] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    passed_over: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    read_logs: int = 0


@dataclass(frozen=True)
class Ledger:
    """All runs, and the files of the ledger by name.

    `read_logs` counts logs that were not in the cache; `problems` are those of files of which no run speaks; `shards`
    names the file of each run, by the run's id; `passed_over` are files that turned out to be no logs. Where `many`,
    the runs are slim, and `completed` reads more of some.
    """

    runs: list[Run] = field(default_factory=list)
    files: Mapping[str, bytes] = field(default_factory=dict)
    read_logs: int = 0
    problems: tuple[Problem, ...] = ()
    shards: Mapping[str, str] = field(default_factory=dict)
    passed_over: tuple[str, ...] = ()
    many: bool = False

    def completed(self, ids: Collection[str]) -> list[Run]:
        """Return the runs, those of these ids with all that is known of them."""
        if not self.many:
            return self.runs
        wanted: dict[str, list[str]] = defaultdict(list)
        for each in ids:
            wanted[self.shards[each]].append(each)
        whole = {
            run.id: run for name in wanted for run in ledger_files.runs_named(name, self.files[name], wanted[name])
        }
        return [whole.get(run.id, run) for run in self.runs]

    def lines(self) -> Iterator[str]:
        """Yield the line of each run, file by file."""
        for name, data in self.files.items():
            yield from (line.decode() for line in ledger_files.lines_of(name, data))


def is_many(logs: int, place: LedgerPlace) -> bool:
    """Return whether a ledger of so many logs is a dataset; one in a place that the user names always is."""
    return logs > MANY_LOGS or not place.is_of_pages


def collect(
    inputs: Sequence[Input],
    layout: str,
    place: LedgerPlace,
    cached: Cache,
    read: ReadJobs | None = None,
    progress: Any = None,
    extra_rules: Callable[[str], tuple[str, ...]] = lambda _name: (),
    beside: Sequence[Input] = (),
    stored: StoredRuns | None = None,
    slimmer: Slimmer | None = None,
) -> Ledger:
    """Read the logs that are not in the cache, and put all runs together.

    Args:
        inputs: all logs.
        layout: name or file of the layout.
        place: where the ledger of an earlier call lies.
        cached: what earlier calls read.
        read: reads logs; one process of this machine if None.
        progress: called with the number of logs read.
        extra_rules: name of a log to further rules, by which others computed what they published of it.
        beside: files that are no logs, and may be telemetry of some.
        stored: what the logs in object stores gave.
        slimmer: makes runs slim, for a ledger of many logs; None for JSON lines.
    """
    remote = stored or StoredRuns()
    hashes = _hashes([*inputs, *beside], cached)
    told = telemetry.sort_out(inputs, beside, partial(_kind, hashes, cached, code_of(layout)))
    shards = _shards(told.logs, told.files, layout, hashes, extra_rules)
    keys = [*(each.key for each in shards), *remote.keys]
    whole = key_of("ledger", code_of(layout), str(slimmer is not None), *keys) if all(keys) else ""
    folders = sorted({*(each.folder for each in shards), *remote.by_folder})
    logs = len(inputs) + sum(len(each.runs) for each in remote.by_folder.values())
    names = ledger_files.part_names(folders, logs) if slimmer else ledger_files.file_names(folders)
    files = _previous_files(cached.get(whole) if whole else None, set(names.values()), place)
    read_logs, by_file = remote.read_logs, dict[str, list[Run]]()
    if files is None:
        by_folder, read_here = _runs_by_folder(shards, hashes, cached, read, progress, slimmer)
        read_logs += read_here
        by_folder = _with_previous({**by_folder, **remote.by_folder}, place, slimmer)
        files, marked = _marked(by_folder, names, place, cached)
        by_file = marked if slimmer else {}
        if whole and not any(passes(each.runs) for each in by_folder.values()):
            cached.put(whole, json.dumps({name: _sha256(data) for name, data in files.items()}).encode())
        del by_folder
    # Every run is what its line says, whether it was read just now or was cached: the order of keys as well. Slim ones
    # are that already.
    by_file = by_file or {name: _slim(ledger_files.runs_in(name, data), slimmer) for name, data in files.items()}
    everything = [run for runs in by_file.values() for run in runs]
    owners = {run.id: name for name, runs in by_file.items() for run in runs}
    paths = {run.path for run in everything}
    without = (each.name for each in told.logs if each.name not in paths)  # few names have something to redact
    passed_over = (*(name for each in without if (name := redacted(each)) not in paths), *remote.passed_over)
    problems = (*told.problems, *remote.problems)
    return Ledger(everything, files, read_logs, problems, owners, passed_over, slimmer is not None)


def read_logs(
    inputs: Sequence[Input],
    beside: Sequence[Input],
    layout: str,
    cached: Cache,
    extra_rules: Callable[[str], tuple[str, ...]],
) -> StoredRuns:
    """Read logs here and now; the runs of each folder are neither named nor compared yet."""
    hashes = _hashes([*inputs, *beside], cached)
    told = telemetry.sort_out(inputs, beside, partial(_kind, hashes, cached, code_of(layout)))
    shards = _shards(told.logs, told.files, layout, hashes, extra_rules)
    found = {each.folder: FolderRuns(each.read()) for each in shards}
    paths = {run.path for each in found.values() for run in each.runs}
    passed_over = tuple(name for each in told.logs if (name := redacted(each.name)) not in paths)
    return StoredRuns(found, told.problems, passed_over)


def _previous_files(known: bytes | None, names: Set[str], place: LedgerPlace) -> dict[str, bytes] | None:
    """Return the ledger that an earlier call wrote of the same logs; None if it is not known, or not there any more."""
    try:
        hashes = msgspec.json.decode(known or b"", type=dict[str, str])
    except (ValueError, RecursionError):
        return None
    if not hashes.keys() <= names:
        return None
    files = {name: place.get(name) or b"" for name in hashes}
    return files if all(_sha256(data) == hashes[name] for name, data in files.items()) else None


def _runs_by_folder(
    shards: Sequence[Shard], hashes: Mapping[str, str], cached: Cache, read: ReadJobs | None, progress: Any,
    slimmer: Slimmer | None,
) -> tuple[dict[str, FolderRuns], int]:  # fmt: skip
    """Return the runs of each folder, read or as cached, and how many logs were read."""
    found = dict[str, FolderRuns]()
    for each in shards:
        lines = cached.get(each.key) if each.key else None
        if lines is not None and (known := _runs_known(lines, slimmer)):
            found[each.folder] = known
    missing = [each for each in shards if each.folder not in found]
    for shard, told in zip(missing, (read or partial(on_processes, 1))(missing), strict=True):
        runs = _without_changed(told, shard, hashes, cached)
        lines = _lines(runs)
        if shard.key and not passes(runs):
            cached.put(shard.key, lines)
        found[shard.folder] = FolderRuns.of_lines(lines, slimmer) if slimmer else FolderRuns(list(runs))
        if progress:
            progress(len(shard.inputs))
    return found, sum(len(each.inputs) for each in missing)


def passes(runs: Sequence[Run], problems: Sequence[Problem] = ()) -> bool:
    """Return whether something of what was read says nothing of the bytes of its log."""
    return any(each.code in _PASSING for each in (*problems, *(one for run in runs for one in run.problems)))


def _marked(
    by_folder: Mapping[str, FolderRuns], names: Mapping[str, str], place: LedgerPlace, cached: Cache
) -> tuple[dict[str, bytes], dict[str, list[Run]]]:
    """Return the files of the ledger, and the runs of each: with ids, and marked where they are recorded twice."""
    folders = sorted(by_folder)
    marked = iter(identify(duplicates.mark([run for each in folders for run in by_folder[each].runs])))
    told = {each: [next(marked) for _ in by_folder[each].runs] for each in folders}
    files, by_file = dict[str, bytes](), dict[str, list[Run]]()
    for name, mine in ledger_files.grouped(names, folders).items():
        if runs := [run for each in mine for run in told[each]]:
            files[name] = _content(name, [by_folder[each] for each in mine], runs, place, cached)
            by_file[name] = ledger_files.in_order(runs)
    return files, by_file


def _content(
    name: str, folders: Sequence[FolderRuns], marked: Sequence[Run], place: LedgerPlace, cached: Cache
) -> bytes:
    """Return the content of a file; of a dataset, that which is there if it says the same."""
    if not any(each.lines for each in folders):
        return ledger_files.content(name, marked)
    marks = _WRITER.encode([[each.id, each.published, each.duplicate_of, each.problems] for each in marked])
    key = key_of("part", marks.decode(), *(_sha256(lines) for each in folders for lines in each.lines))
    known = cached.get(key)
    if known and (there := place.get(name)) and _sha256(there).encode() == known:
        return there
    whole = [run for each in folders for run in each.whole()]
    data = ledger_files.content(name, [_with_marks(*each) for each in zip(whole, marked, strict=True)])
    cached.put(key, _sha256(data).encode())
    return data


def _with_marks(run: Run, marked: Run) -> Run:
    """Return a run with what marking changes: compare `identify` and `duplicates.mark`."""
    marks = {name: getattr(marked, name) for name in ("id", "published", "duplicate_of", "problems")}
    return replace(run, **marks)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _slim(runs: Iterable[Run], slimmer: Slimmer | None) -> list[Run]:
    return [slimmer.slim(each) for each in runs] if slimmer else list(runs)


def _runs_of_lines(data: bytes) -> Iterator[Run]:
    return (from_text(each, Run) for each in data.splitlines())


def _runs_known(data: bytes, slimmer: Slimmer | None) -> FolderRuns | None:
    """Return the runs that a call before this one wrote; None if they cannot be read."""
    try:
        return FolderRuns.of_lines(data, slimmer)
    except (ValueError, msgspec.MsgspecError, RecursionError):
        return None


def write(ledger: Ledger, place: LedgerPlace) -> tuple[list[str], list[str]]:
    """Write the files that changed and remove those without logs.

    Returns:
        (written, removed), with the place's label.
    """
    written = [name for name, data in ledger.files.items() if place.put(name, data)]
    removed = [name for name in place.names() if name not in ledger.files]
    for name in removed:
        place.remove(name)
    return [f"{place.label}/{each}" for each in written], [f"{place.label}/{each}" for each in removed]


def stale(ledger: Ledger, place: LedgerPlace) -> list[str]:
    """Files that `write` would change, with the place's label."""
    changed = [name for name, data in ledger.files.items() if not ledger_files.same(name, data, place.get(name))]
    gone = [name for name in place.names() if name not in ledger.files]
    return sorted(f"{place.label}/{each}" for each in [*changed, *gone])


def _hashes(inputs: Sequence[Input], cached: Cache) -> dict[str, str]:
    """Return the SHA-256 of every file by its path; one with a known size, time and inode is not read."""
    found: dict[str, str] = {}
    for path in chain.from_iterable(each.files for each in inputs):
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


def _kind(hashes: Mapping[str, str], cached: Cache, code: str, given: Input) -> str | Problem:
    """Return the id of the telemetry format that claims a file, empty where none does; or a fault of ours."""
    sha256 = _known_hash(given.path, hashes)
    key = key_of("telemetry", code, given.path.name, sha256) if sha256 else ""
    known = cached.get(key) if key else None
    if known is not None and (found := known.decode("ascii", "replace")) in _kinds():
        return found
    if not sha256 and not stamp(given.path):
        return ""
    told = guarded(given.name, given.path, lambda: claimant(given.path))
    if key and isinstance(told, str):
        cached.put(key, told.encode())
    return told


@cache
def _kinds() -> frozenset[str]:
    return frozenset({"", *(each.id for each in telemetry_formats())})


def _shards(
    inputs: Sequence[Input], files: Sequence[telemetry.File], layout: str, known: Mapping[str, str],
    extra_rules: Callable[[str], tuple[str, ...]],
) -> list[Shard]:  # fmt: skip
    folders: dict[str, list[Input]] = defaultdict(list)
    for each in inputs:
        folders[_folder(each)].append(each)
    hashes = {each.name: _known_hash(each.path, known) for each in inputs}
    beside = telemetry.by_folder(files)
    return [
        _shard(folder, tuple(found), telemetry.in_folders_of(found, beside), hashes, layout, known, extra_rules)
        for folder, found in sorted(folders.items())
    ]


def _folder(given: Input) -> str:
    return folder_of(given.name, beside_run=given.run_json.is_file())


def folder_of(name: str, *, beside_run: bool) -> str:
    """Return the folder of a log; beside a run.json, the folder above, which holds the repeats of a case."""
    parts = name.split("/")
    depth = 2 if beside_run and len(parts) > 2 else 1
    return "/".join(parts[:-depth]) or parts[0]


def _known_hash(path: Path, known: Mapping[str, str]) -> str:
    return known.get(str(path), "")


def _shard(
    folder: str, inputs: tuple[Input, ...], files: tuple[telemetry.File, ...], hashes: Mapping[str, str], layout: str,
    known: Mapping[str, str], extra_rules: Callable[[str], tuple[str, ...]],
) -> Shard:  # fmt: skip
    mine = {each.name: hashes[each.name] for each in inputs}
    run_jsons = [[each.name, _known_hash(each.run_json, known)] for each in inputs]
    # A layout reads the whole path, so that a tree moved elsewhere may say something else.
    paths = [absolute(each.path) for each in inputs]
    rules = {each.name: found for each in inputs if (found := extra_rules(each.name))}
    beside = {each.given.name: [each.format_id, _known_hash(each.given.path, known)] for each in files}
    parts = [[str(part), _known_hash(part, known)] for each in inputs for part in (*each.parts, *each.beside)]
    stated = [[each.name, name, *astuple(fact)] for each in inputs for name, fact in each.stated]
    content = json.dumps([mine, run_jsons, paths, rules, beside, parts, stated], sort_keys=True)
    named = [*chain.from_iterable(each.files for each in inputs), *(each.given.path for each in files)]
    readable = not any(os.path.lexists(path) for path in named if not _known_hash(path, known))
    key = key_of("runs", code_of(layout), content) if readable else ""
    sampled = {each.given.name: _known_hash(each.given.path, known) for each in files}
    return Shard(folder, inputs, mine | sampled, rules, files, key, layout)


def code_of(layout: str) -> str:
    """Hash of everything but the logs that a line depends on: formats, rules, layouts, spellings, redaction."""
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


def _without_changed(runs: list[Run], shard: Shard, before: Mapping[str, str], cached: Cache) -> list[Run]:
    """Return a problem for each log that is no longer what was hashed, or has a file beside it that is not."""
    beside = [each.given for each in shard.beside]
    after = _hashes([*shard.inputs, *beside], cached)

    def same(given: Input) -> bool:
        return all(_known_hash(path, before) == _known_hash(path, after) for path in given.files)

    # A file beside logs may be telemetry of any of them.
    changed = [each for each in shard.inputs if not same(each)] if all(map(same, beside)) else shard.inputs
    paths = {redacted(each.name) for each in changed}
    return [run for run in runs if run.path not in paths] + [
        unread(Problem("changing", each.name), shard.hashes[each.name]) for each in changed
    ]


def unread(problem: Problem, sha256: str = "") -> Run:
    """Return a run that tells only why its log was not read."""
    return redact_record(Run(path=problem.path, sha256=sha256, outcome="failed", problems=(problem,)))


def _with_previous(
    by_folder: Mapping[str, FolderRuns], place: LedgerPlace, slimmer: Slimmer | None
) -> dict[str, FolderRuns]:
    """Return, for logs that cannot be read now, what an earlier call read of them, with the problem added."""
    lost = {folder: paths for folder, each in by_folder.items() if (paths := _lost(each.runs))}
    if not lost:
        return dict(by_folder)
    before = _earlier(place, {path for paths in lost.values() for path in paths})
    found = dict(by_folder)
    for folder in lost:
        runs = by_folder[folder].whole()
        earlier = ([replace(each, problems=run.problems) for each in before.get(run.path, ())] for run in runs)
        found[folder] = FolderRuns.of(
            [one for run, others in zip(runs, earlier, strict=True) for one in others or [run]], slimmer
        )
    return found


def _lost(runs: Sequence[Run]) -> set[str]:
    """Return the logs of which all that is known is that they cannot be read now."""
    return {run.path for run in runs if run.format is None and any(each.code in _KEPT for each in run.problems)}


def _earlier(place: LedgerPlace, paths: Set[str]) -> dict[str, list[Run]]:
    """Return what the ledger of an earlier call says of these logs."""
    found: dict[str, list[Run]] = defaultdict(list)
    for name in place.names():
        try:
            runs = list(ledger_files.runs_in(name, place.get(name) or b""))
        except (ValueError, msgspec.MsgspecError, RecursionError):
            continue
        for run in runs:
            if run.path in paths and run.format:
                found[run.path].append(run)
    return found


def _lines(runs: Sequence[Run]) -> bytes:
    """Return runs as JSON with sorted keys, like the lines of the ledger, but written three times as fast."""
    return b"".join(_WRITER.encode(to_json(each)) + b"\n" for each in ledger_files.in_order(runs))
