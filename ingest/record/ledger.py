"""The ledger: `docs/data/runs/<shard>.jsonl`, one line per run.

A shard is one folder of logs (for our own tree, one case), the unit of reading and of replacement. What a shard's logs
give is cached by content: by the hashes of its files and of the code that reads them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from ingest.common import processes
from ingest.common.below import refuse_ways_out
from ingest.common.cache import Cache, key_of
from ingest.common.faults import guarded
from ingest.common.files import file_hash, is_settled, stamp, write_if_changed
from ingest.read import layout as layouts
from ingest.read.run_json import NAME as RUN_JSON
from ingest.read.walk import Input
from ingest.record import duplicates, telemetry
from ingest.record.run import identify, runs_of
from parsers.engine.registry import formats, telemetry_formats
from parsers.engine.telemetry import claimant
from schema.records import Problem, Run, from_text, text_of
from schema.redaction.redact import redact_record, redacted

FOLDER = Path("data") / "runs"
_SHA256 = re.compile(rb"[0-9a-f]{64}")
#: What a log costs besides its bytes, in bytes.
EACH = 64 << 10
#: Problems that say nothing of the bytes of a log: the next call may read it, so what they leave is not cached.
_PASSING = frozenset({"fault", "too_slow", "unreadable", "changing", "reader_killed"})
#: Those with which what an earlier call read of a log is kept.
_KEPT = frozenset({"unreadable", "changing", "reader_killed"})


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

    def killed(self) -> list[Run]:
        """Return what is known of its logs where their reader was killed."""
        return [unread(each, self.hashes[each.name], "reader_killed") for each in self.inputs]

    @property
    def size(self) -> int:
        """Bytes of its logs, and what each costs besides."""
        return sum(EACH + (at[0] if (at := stamp(log.path)) else 0) for log in self.inputs)


@dataclass(frozen=True)
class StoredRuns:
    """What logs gave that are read a folder at a time: runs by folder, problems of files of no run, and no logs.

    `keys` are those of the folders in the cache, and `read_logs` counts logs that were not in it.
    """

    by_folder: Mapping[str, list[Run]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    passed_over: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    read_logs: int = 0


Found = TypeVar("Found", covariant=True)


class ReadingJob(Protocol[Found]):
    """Logs that are read together, on whatever machine; `size` is in bytes, with what each log costs besides."""

    @property
    def layout(self) -> str: ...  # noqa: D102

    @property
    def size(self) -> int: ...  # noqa: D102

    def read(self) -> Found: ...  # noqa: D102

    def killed(self) -> Found: ...  # noqa: D102


class ReadJobs(Protocol):
    """Yields what each job reads, in their order."""

    def __call__(self, jobs: Sequence[ReadingJob[Found]]) -> Iterator[Found]: ...  # noqa: D102


@dataclass(frozen=True)
class Ledger:
    """All runs, and the files of the ledger by name.

    `read_logs` counts logs that were not in the cache; `problems` are those of files of which no run speaks; `shards`
    names the file of each run, by the run's id; `passed_over` are files that turned out to be no logs.
    """

    runs: list[Run] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    read_logs: int = 0
    problems: tuple[Problem, ...] = ()
    shards: dict[str, str] = field(default_factory=dict)
    passed_over: tuple[str, ...] = ()


def collect(
    inputs: Sequence[Input],
    layout: str,
    out: Path,
    cached: Cache,
    read: ReadJobs | None = None,
    progress: Any = None,
    extra_rules: Callable[[str], tuple[str, ...]] = lambda _name: (),
    beside: Sequence[Input] = (),
    stored: StoredRuns | None = None,
) -> Ledger:
    """Read the logs that are not in the cache, and put all runs together.

    Args:
        inputs: all logs.
        layout: name or file of the layout.
        out: the folder that holds `data/runs`.
        cached: what earlier calls read.
        read: reads logs; here, one after the other, if None.
        progress: called with the number of logs read.
        extra_rules: name of a log to further rules, by which others computed what they published of it.
        beside: files that are no logs, and may be telemetry of some.
        stored: what the logs in object stores gave.
    """
    remote = stored or StoredRuns()
    hashes = _hashes([*inputs, *beside], cached)
    told = telemetry.sort_out(inputs, beside, partial(_kind, hashes, cached, code_of(layout)))
    shards = _shards(told.logs, told.files, layout, hashes, extra_rules)
    keys = [*(each.key for each in shards), *remote.keys]
    whole = key_of("ledger", *keys) if all(keys) else ""
    named = _file_names(sorted({*(each.folder for each in shards), *remote.by_folder})).values()
    files, read_logs = _previous_files(cached.get(whole) if whole else None, set(named), out), remote.read_logs
    if files is None:
        by_folder, read_here = _runs_by_folder(shards, hashes, cached, read, progress)
        read_logs += read_here
        files = _marked({**by_folder, **remote.by_folder}, out)
        if whole and not any(map(passes, (*by_folder.values(), *remote.by_folder.values()))):
            cached.put(whole, json.dumps({name: _sha256(data) for name, data in files.items()}).encode())
    # Every run is what its line says, whether it was read just now or was cached: the order of keys as well.
    by_file = {name: runs_in(data) for name, data in files.items()}
    everything = [run for runs in by_file.values() for run in runs]
    names = {run.id: name for name, runs in by_file.items() for run in runs}
    paths = {run.path for run in everything}
    passed_over = (*(name for each in told.logs if (name := redacted(each.name)) not in paths), *remote.passed_over)
    return Ledger(everything, files, read_logs, (*told.problems, *remote.problems), names, passed_over)


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
    found = {each.folder: each.read() for each in shards}
    paths = {run.path for runs in found.values() for run in runs}
    passed_over = tuple(name for each in told.logs if (name := redacted(each.name)) not in paths)
    return StoredRuns(found, told.problems, passed_over)


def _previous_files(known: bytes | None, names: Set[str], out: Path) -> dict[str, bytes] | None:
    """Return the ledger that an earlier call wrote of the same logs; None if it is not known, or not there any more."""
    try:
        hashes = msgspec.json.decode(known or b"", type=dict[str, str])
        if not hashes.keys() <= names:
            return None
        files = {name: (out / FOLDER / name).read_bytes() for name in hashes}
    except (ValueError, OSError, RecursionError):
        return None
    return files if all(_sha256(data) == hashes[name] for name, data in files.items()) else None


def _runs_by_folder(
    shards: Sequence[Shard], hashes: Mapping[str, str], cached: Cache, read: ReadJobs | None, progress: Any
) -> tuple[dict[str, list[Run]], int]:
    """Return the runs of each folder, read or as cached, and how many logs were read."""
    found = {
        each.folder: runs for each in shards if each.key and (runs := _known_runs(cached.get(each.key))) is not None
    }
    missing = [each for each in shards if each.folder not in found]
    for shard, told in zip(missing, (read or one_by_one)(missing), strict=True):
        runs = _without_changed(told, shard, hashes, cached)
        if shard.key and not passes(runs):
            cached.put(shard.key, _bytes(runs))
        found[shard.folder] = runs
        if progress:
            progress(len(shard.inputs))
    return found, sum(len(each.inputs) for each in missing)


def passes(runs: Sequence[Run], problems: Sequence[Problem] = ()) -> bool:
    """Return whether something of what was read says nothing of the bytes of its log."""
    return any(each.code in _PASSING for each in (*problems, *(one for run in runs for one in run.problems)))


def _marked(by_folder: Mapping[str, list[Run]], out: Path) -> dict[str, bytes]:
    """Return the files of the ledger: each run with its id, and marked where it is recorded twice."""
    names = _file_names(sorted(by_folder))
    found = {name: _with_previous(by_folder[folder], name, out) for folder, name in names.items()}
    marked = iter(identify(duplicates.mark([run for runs in found.values() for run in runs])))
    groups = {name: [next(marked) for _ in runs] for name, runs in found.items()}
    return {name: _bytes(runs) for name, runs in groups.items() if runs}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def runs_in(data: bytes) -> list[Run]:
    """Return the runs of a file of the ledger.

    Raises:
        ValueError: a line is no JSON.
        msgspec.ValidationError: a line is no run.
    """
    return [from_text(each, Run) for each in data.splitlines()]


def _known_runs(data: bytes | None) -> list[Run] | None:
    """Return the runs that a call before this one wrote; None if there are none, or if they cannot be read."""
    try:
        return None if data is None else runs_in(data)
    except (ValueError, msgspec.MsgspecError, RecursionError):
        return None


def write(ledger: Ledger, out: Path) -> tuple[list[str], list[str]]:
    """Write the shards that changed and remove those without logs.

    Returns:
        (written, removed), as paths below `out`.
    """
    folder = out / FOLDER
    refuse_ways_out(out, [str(FOLDER / "any")])
    written = [name for name, data in ledger.files.items() if write_if_changed(folder / name, data)]
    removed = [path.name for path in sorted(folder.glob("*.jsonl")) if path.name not in ledger.files]
    for name in removed:
        (folder / name).unlink()
    return [str(FOLDER / each) for each in written], [str(FOLDER / each) for each in removed]


def stale(ledger: Ledger, out: Path) -> list[str]:
    """Shards that `write` would change, as paths below `out`."""
    folder = out / FOLDER
    changed = [name for name, data in ledger.files.items() if not _holds(folder / name, data)]
    gone = [path.name for path in folder.glob("*.jsonl") if path.name not in ledger.files]
    return sorted(str(FOLDER / each) for each in [*changed, *gone])


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


def _hashes(inputs: Sequence[Input], cached: Cache) -> dict[str, str]:
    """Return the SHA-256 of every file by its absolute path; one with a known size, time and inode is not read."""
    found: dict[str, str] = {}
    for path in chain.from_iterable(map(_files, inputs)):
        name = str(path.absolute())
        if name not in found and (at := stamp(path)):
            found[name] = _hash(path, at, cached)
    return found


def _files(given: Input) -> tuple[Path, ...]:
    """Return the files that a log's line depends on; not all need exist."""
    return (given.path, given.path.with_name(RUN_JSON), *given.parts, *given.beside)


def _hash(path: Path, at: Sequence[int], cached: Cache) -> str:
    """Return the SHA-256 of a file with this stamp; one that was changed just now may change again under the same."""
    key = key_of("file", str(path.absolute()), *map(str, at))
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
    return folder_of(given.name, beside_run=given.path.with_name(RUN_JSON).is_file())


def folder_of(name: str, *, beside_run: bool) -> str:
    """Return the folder of a log; beside a run.json, the folder above, which holds the repeats of a case."""
    parts = name.split("/")
    depth = 2 if beside_run and len(parts) > 2 else 1
    return "/".join(parts[:-depth]) or parts[0]


def _known_hash(path: Path, known: Mapping[str, str]) -> str:
    return known.get(str(path.absolute()), "")


def _file_names(folders: Sequence[str]) -> dict[str, str]:
    """Shards are named after their folders, without what must not be published."""
    slugs = {each: _slug(redacted(each)) for each in folders}
    alike = {slug for slug, times in Counter(slugs.values()).items() if times > 1 or not slug}
    digest = {each: hashlib.sha256(each.encode()).hexdigest()[:8] for each in folders}
    return {each: f"{slug}-{digest[each]}.jsonl" if slug in alike else f"{slug}.jsonl" for each, slug in slugs.items()}


def _slug(folder: str) -> str:
    below = folder.partition("/")[2] or folder
    return re.sub(r"[^a-z0-9]+", "-", below.lower()).strip("-")[:120]


def _shard(
    folder: str, inputs: tuple[Input, ...], files: tuple[telemetry.File, ...], hashes: Mapping[str, str], layout: str,
    known: Mapping[str, str], extra_rules: Callable[[str], tuple[str, ...]],
) -> Shard:  # fmt: skip
    mine = {each.name: hashes[each.name] for each in inputs}
    run_jsons = [[each.name, _known_hash(each.path.with_name(RUN_JSON), known)] for each in inputs]
    # A layout reads the whole path, so that a tree moved elsewhere may say something else.
    paths = [str(each.path.absolute()) for each in inputs]
    rules = {each.name: found for each in inputs if (found := extra_rules(each.name))}
    beside = {each.given.name: [each.format_id, _known_hash(each.given.path, known)] for each in files}
    parts = [[str(part), _known_hash(part, known)] for each in inputs for part in (*each.parts, *each.beside)]
    content = json.dumps([mine, run_jsons, paths, rules, beside, parts], sort_keys=True)
    named = [*chain.from_iterable(map(_files, inputs)), *(each.given.path for each in files)]
    readable = all(_known_hash(path, known) for path in named if os.path.lexists(path))
    key = key_of("runs", code_of(layout), content) if readable else ""
    sampled = {each.given.name: _known_hash(each.given.path, known) for each in files}
    return Shard(folder, inputs, mine | sampled, rules, files, key, layout)


@cache
def code_of(layout: str) -> str:
    """Hash of everything but the logs that a line depends on: formats, rules, layouts, spellings, redaction."""
    top = Path(__file__).resolve().parents[2]
    files = [
        *top.glob("parsers/**/*.py"),
        *top.glob("ingest/*/*.py"),
        *top.glob("ingest/*/*.toml"),
        *top.glob("schema/*.*"),
        *top.glob("schema/redaction/*.*"),
    ]
    files += [*top.glob("report_templates/suites/*.toml"), layouts.path_of(layout)]
    digest = hashlib.sha256(layouts.load(layout).name.encode())
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def one_by_one(jobs: Sequence[ReadingJob[Found]]) -> Iterator[Found]:
    """Read in this process."""
    return map(_read, jobs)


def on_processes(executor: Executor, jobs: Sequence[ReadingJob[Found]]) -> Iterator[Found]:
    """Read on processes of this machine."""
    done = 0
    try:
        for found in executor.map(_read, jobs):
            yield found
            done += 1
    except BrokenProcessPool:  # which process was killed over which of the jobs that remain, nobody says
        yield from map(_read_apart, jobs[done:])


def _read(job: ReadingJob[Found]) -> Found:
    return job.read()


def _read_apart(job: ReadingJob[Found]) -> Found:
    """Read in a process of its own; if that is killed, each log of the job has the problem."""
    try:
        with processes.pool(1, anew=not isinstance(job, Shard)) as alone:
            return alone.submit(_read, job).result()
    except BrokenProcessPool:
        return job.killed()


def _without_changed(runs: list[Run], shard: Shard, before: Mapping[str, str], cached: Cache) -> list[Run]:
    """Return a problem for each log that is no longer what was hashed, or has a file beside it that is not."""
    beside = [each.given for each in shard.beside]
    after = _hashes([*shard.inputs, *beside], cached)

    def same(given: Input) -> bool:
        return all(_known_hash(path, before) == _known_hash(path, after) for path in _files(given))

    # A file beside logs may be telemetry of any of them.
    changed = [each for each in shard.inputs if not same(each)] if all(map(same, beside)) else shard.inputs
    paths = {redacted(each.name) for each in changed}
    return [run for run in runs if run.path not in paths] + [
        unread(each, shard.hashes[each.name], "changing") for each in changed
    ]


def unread(given: Input, sha256: str, code: str, **args: object) -> Run:
    """Return a run that tells only why its log was not read."""
    problem = Problem(code, given.name, args=args)
    return redact_record(Run(path=given.name, sha256=sha256, outcome="failed", problems=(problem,)))


def _with_previous(runs: list[Run], name: str, out: Path) -> list[Run]:
    """Return, for logs that cannot be read now, what an earlier call read of them, with the problem added."""
    path = out / FOLDER / name
    lost = {run.path for run in runs if run.format is None and any(each.code in _KEPT for each in run.problems)}
    if not lost or not path.is_file():
        return runs
    before = [run for run in _known_runs(path.read_bytes()) or () if run.format]
    found = []
    for run in runs:
        earlier = [replace(each, problems=run.problems) for each in before if each.path == run.path]
        found += earlier or [run]
    return found


def _bytes(runs: Sequence[Run]) -> bytes:
    ordered = sorted(runs, key=lambda each: (each.path, each.session))
    return b"".join(text_of(each).encode() + b"\n" for each in ordered)
