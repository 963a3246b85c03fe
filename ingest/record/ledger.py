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
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ingest.common import processes
from ingest.common.below import refuse_ways_out
from ingest.common.cache import Cache, key_of
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
#: Problems that say nothing of the bytes of a log: the next call may read it, so what they leave is not cached.
_PASSING = frozenset({"fault", "too_slow", "unreadable", "changing", "reader_killed"})
#: Those with which what an earlier call read of a log is kept.
_KEPT = frozenset({"unreadable", "changing", "reader_killed"})


@dataclass(frozen=True)
class Shard:
    """The logs of one folder, the file of the ledger that they go to, and the key of what they give in the cache.

    `key` is empty where a file cannot be read now: it may be readable later without a change of its time or size.
    """

    name: str
    inputs: tuple[Input, ...]
    hashes: Mapping[str, str]
    extra_rules: Mapping[str, tuple[str, ...]]
    beside: tuple[telemetry.File, ...]
    key: str


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
    executor: Executor | None = None,
    progress: Any = None,
    extra_rules: Callable[[str], tuple[str, ...]] = lambda _name: (),
    beside: Sequence[Input] = (),
) -> Ledger:
    """Read the logs that are not in the cache, and put all runs together.

    Args:
        inputs: all logs.
        layout: name or file of the layout.
        out: the folder that holds `data/runs`.
        cached: what earlier calls read.
        executor: where shards are read; here, one after the other, if None.
        progress: called with the number of logs read.
        extra_rules: name of a log to further rules, by which others computed what they published of it.
        beside: files that are no logs, and may be telemetry of some.
    """
    hashes = _hashes([*inputs, *beside], cached)
    told = telemetry.sort_out(inputs, beside, partial(_kind, hashes, cached, _code(layout)))
    shards = _shards(told.logs, told.files, layout, hashes, extra_rules)
    by_shard = {
        each.name: runs for each in shards if each.key and (runs := _known_runs(cached.get(each.key))) is not None
    }
    missing = [each for each in shards if each.name not in by_shard]
    for shard, read in zip(missing, _read(missing, layout, executor), strict=True):
        runs = _without_changed(read, shard, hashes, cached)
        if shard.key and not any(each.code in _PASSING for run in runs for each in run.problems):
            cached.put(shard.key, _bytes(runs))
        by_shard[shard.name] = _with_previous(runs, shard, out)
        if progress:
            progress(len(shard.inputs))
    order = [shard.name for shard in shards for _ in by_shard[shard.name]]
    marked = identify(duplicates.mark([run for shard in shards for run in by_shard[shard.name]]))
    groups: dict[str, list[Run]] = {shard.name: [] for shard in shards}
    for name, run in zip(order, marked, strict=True):
        groups[name].append(run)
    files = {name: _bytes(runs) for name, runs in groups.items() if runs}
    # Every run is what its line says, whether it was read just now or was cached: the order of keys as well.
    everything = [run for data in files.values() for run in runs_in(data)]
    names = {run.id: name for name, runs in groups.items() for run in runs}
    paths = {run.path for run in everything}
    passed_over = tuple(name for each in told.logs if (name := redacted(each.name)) not in paths)
    return Ledger(everything, files, sum(len(each.inputs) for each in missing), told.problems, names, passed_over)


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


def _kind(hashes: Mapping[str, str], cached: Cache, code: str, path: Path) -> str:
    """Return the id of the telemetry format that claims a file; empty where none does."""
    sha256 = hashes.get(str(path.absolute()))
    if not sha256:
        return claimant(path) if stamp(path) else ""
    known = cached.get_or_make(key_of("telemetry", code, path.name, sha256), lambda: claimant(path).encode())
    found = known.decode("ascii", "replace")
    return found if found in ("", *(each.id for each in telemetry_formats())) else claimant(path)


def _shards(
    inputs: Sequence[Input], files: Sequence[telemetry.File], layout: str, known: Mapping[str, str],
    extra_rules: Callable[[str], tuple[str, ...]],
) -> list[Shard]:  # fmt: skip
    folders: dict[str, list[Input]] = defaultdict(list)
    for each in inputs:
        folders[_folder(each)].append(each)
    hashes = {each.name: _known_hash(each.path, known) for each in inputs}
    names = _file_names(sorted(folders))
    return [
        _shard(names[folder], tuple(found), telemetry.in_folders_of(found, files), hashes, layout, known, extra_rules)
        for folder, found in sorted(folders.items())
    ]


def _folder(given: Input) -> str:
    """Return the folder of a log; beside a run.json, the folder above, which holds the repeats of a case."""
    parts = given.name.split("/")
    depth = 2 if given.path.with_name(RUN_JSON).is_file() and len(parts) > 2 else 1
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
    name: str, inputs: tuple[Input, ...], files: tuple[telemetry.File, ...], hashes: Mapping[str, str], layout: str,
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
    key = key_of("runs", _code(layout), content) if readable else ""
    sampled = {each.given.name: _known_hash(each.given.path, known) for each in files}
    return Shard(name, inputs, mine | sampled, rules, files, key)


@cache
def _code(layout: str) -> str:
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


def _read(shards: Sequence[Shard], layout: str, executor: Executor | None) -> Iterator[list[Run]]:
    jobs = [(each, layout) for each in shards]
    if executor is None:
        yield from map(_read_shard, jobs)
        return
    done = 0
    try:
        for runs in executor.map(_read_shard, jobs):
            yield runs
            done += 1
    except BrokenProcessPool:  # which process was killed over which of the shards that remain, nobody says
        yield from map(_read_apart, jobs[done:])


def _read_apart(job: tuple[Shard, str]) -> list[Run]:
    """Read a shard in a process of its own; if that is killed, each of its logs has the problem."""
    shard, _ = job
    try:
        with processes.pool(1) as alone:
            return alone.submit(_read_shard, job).result()
    except BrokenProcessPool:
        return [_unread(each, shard, "reader_killed") for each in shard.inputs]


def _read_shard(job: tuple[Shard, str]) -> list[Run]:
    shard, layout = job
    found = layouts.load(layout)
    formats()  # A mistake in one of them is no log's fault, and ends the command here.
    logs = [
        (each, runs_of(each, found, shard.hashes[each.name], shard.extra_rules.get(each.name, ())))
        for each in shard.inputs
    ]
    return telemetry.attach([(given, runs) for given, runs in logs if runs], shard.beside, shard.hashes)


def _without_changed(runs: list[Run], shard: Shard, before: Mapping[str, str], cached: Cache) -> list[Run]:
    """Return a problem for each log that is no longer what was hashed, or has a file beside it that is not."""
    beside = [each.given for each in shard.beside]
    after = _hashes([*shard.inputs, *beside], cached)

    def same(given: Input) -> bool:
        return all(_known_hash(path, before) == _known_hash(path, after) for path in _files(given))

    # A file beside logs may be telemetry of any of them.
    changed = [each for each in shard.inputs if not same(each)] if all(map(same, beside)) else shard.inputs
    paths = {redacted(each.name) for each in changed}
    return [run for run in runs if run.path not in paths] + [_unread(each, shard, "changing") for each in changed]


def _unread(given: Input, shard: Shard, code: str) -> Run:
    problem = Problem(code, given.name)
    return redact_record(Run(path=given.name, sha256=shard.hashes[given.name], outcome="failed", problems=(problem,)))


def _with_previous(runs: list[Run], shard: Shard, out: Path) -> list[Run]:
    """Return, for logs that cannot be read now, what an earlier call read of them, with the problem added."""
    path = out / FOLDER / shard.name
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
