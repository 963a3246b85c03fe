"""The ledger: one line per run, in files of a store.

The folders of logs are the jobs of a reader. Of many logs, only the part that pages of many runs show stays in memory.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from perfledger.ingest.common.cache import Cache, key_of
from perfledger.ingest.common.files import MANY_LOGS
from perfledger.ingest.record import duplicates, ledger_files
from perfledger.ingest.record.folders import LogFiles
from perfledger.ingest.record.identity import identify
from perfledger.ingest.record.kept import DAMAGED, FilesMade, Kept, Progress, hashes_of, passes, whole_runs
from perfledger.ingest.record.reader import FolderRead, Processes, Reader, ReadingJob
from perfledger.ingest.record.slim import Slimmer
from perfledger.ingest.record.store import Store
from perfledger.schema.records import Problem, Run

_WRITER = msgspec.json.Encoder(order="sorted")
#: Problems of a log that leave the runs of an earlier call in the ledger.
_KEEPS_EARLIER = frozenset({"unreadable", "changing", "reader_killed", "reader_crashed"})
#: Fields that marking changes: compare `identify` and `duplicates.mark`.
_MARKS = ("id", "published", "duplicate_of", "problems")


@dataclass(frozen=True)
class Ledger:
    """All runs, and the files of the ledger by name.

    `read_logs` counts logs that were not in the cache; `problems` are those of files that belong to no run; `shards`
    names the file of each run, by the run's id; `passed_over` are files that turned out to be no logs. If `many`, the
    runs are slim, and `completed` reads more of some.
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


def collect(
    logs: LogFiles,
    store: Store,
    cached: Cache,
    stored: Sequence[ReadingJob] = (),
    reader: Reader | None = None,
    progress: Progress | None = None,
) -> Ledger:
    """Read the logs that are not in the cache, and put all runs together.

    Args:
        logs: the logs on this machine.
        store: the store of the ledger.
        cached: the cache of earlier calls.
        stored: folders of logs in object stores.
        reader: reads logs; one process of this machine if None.
        progress: called with the number of logs read.
    """
    folders, problems = logs.folders(cached)
    jobs = [*folders, *stored]
    slimmer = Slimmer() if is_many(sum(len(each.logs) for each in jobs), store) else None
    kept = Kept(cached, store, slimmer)
    keys = [each.key for each in jobs]
    key = key_of("ledger", str(slimmer is not None), *keys) if all(keys) else ""
    if earlier := kept.files(key) if key else None:
        (made, files), by_file, read_logs = earlier, _runs_in(earlier[1], slimmer), 0
    else:
        read, read_logs = kept.read(jobs, reader or Processes(), progress)
        made, files, by_file = _made(_with_earlier(read, kept), kept, key)
    runs = [run for mine in by_file.values() for run in mine]
    shards = {run.id: name for name, mine in by_file.items() for run in mine}
    paths = {run.path for run in runs}
    passed_over = tuple(each for each in made.passed_over if each not in paths)
    return Ledger(runs, files, read_logs, (*problems, *made.problems), shards, passed_over, slimmer is not None)


def is_many(logs: int, store: Store) -> bool:
    """Return whether a ledger of this number of logs is a dataset; one in a store that the user names always is."""
    return logs > MANY_LOGS or not store.is_of_pages


def _made(read: FolderRead, kept: Kept, key: str) -> tuple[FilesMade, dict[str, bytes], Mapping[str, Sequence[Run]]]:
    """Make the files of all runs, keep which they are, and return them with the runs of each file."""
    folders = sorted(read.runs)
    marked = iter(identify(duplicates.mark([run for each in folders for run in read.runs[each]])))
    runs = {each: [next(marked) for _ in read.runs[each]] for each in folders}
    files, by_file = dict[str, bytes](), dict[str, list[Run]]()
    for name, mine in ledger_files.folders_of_files(read.runs, is_dataset=bool(kept.slimmer)).items():
        if any(runs[each] for each in mine):
            files[name] = _content(name, read, {each: runs[each] for each in mine}, kept)
            by_file[name] = ledger_files.in_order([run for each in mine for run in runs[each]])
    made = FilesMade(hashes_of(files), read.problems, read.passed_over)
    if key and not passes(read.all_runs(), read.problems):
        kept.keep_files(key, made)
    return made, files, by_file if kept.slimmer else _runs_in(files, None)


def _runs_in(files: Mapping[str, bytes], slimmer: Slimmer | None) -> Mapping[str, Sequence[Run]]:
    """Return the runs of each file, as its lines state them: the order of keys is the same in every call."""
    in_form = slimmer.slim if slimmer else lambda run: run
    return {name: [in_form(run) for run in ledger_files.runs_in(name, data)] for name, data in files.items()}


def _content(name: str, read: FolderRead, marked: Mapping[str, Sequence[Run]], kept: Kept) -> bytes:
    """Return the content of a file with the marked runs of its folders.

    The content of a dataset's file is taken from the store if it was made of the same runs.
    """
    every_marked = [run for runs in marked.values() for run in runs]
    if not kept.slimmer:
        return ledger_files.content(name, every_marked)
    marks = _WRITER.encode([[getattr(each, name) for name in _MARKS] for each in every_marked])
    full = (hashlib.sha256(data).hexdigest() for each in marked for data in read.full.get(each, ()))
    key = key_of("part", marks.decode(), *full)
    if (earlier := kept.files(key)) and name in earlier[1]:
        return earlier[1][name]
    whole = [run for each in marked for run in whole_runs(read, each)]
    data = ledger_files.content(name, [_with_marks(*each) for each in zip(whole, every_marked, strict=True)])
    kept.keep_files(key, FilesMade(hashes_of({name: data})))
    return data


def _with_marks(run: Run, marked: Run) -> Run:
    return replace(run, **{name: getattr(marked, name) for name in _MARKS})


def _with_earlier(read: FolderRead, kept: Kept) -> FolderRead:
    """Replace logs that cannot be read now by their runs of an earlier call, with the problem added."""
    lost = {name: paths for name, runs in read.runs.items() if (paths := _lost(runs))}
    if not lost:
        return read
    before = _earlier(kept.store, {path for paths in lost.values() for path in paths})

    def completed(runs: list[Run]) -> list[Run]:
        earlier = ([replace(each, problems=run.problems) for each in before.get(run.path, ())] for run in runs)
        return ledger_files.in_order(
            [one for run, others in zip(runs, earlier, strict=True) for one in others or [run]]
        )

    changed = kept.in_form(FolderRead({name: completed(whole_runs(read, name)) for name in lost}))
    return replace(read, runs={**read.runs, **changed.runs}, full={**read.full, **changed.full})


def _lost(runs: Sequence[Run]) -> set[str]:
    """Return the logs that cannot be read now, and have no run."""
    unread = (run for run in runs if run.format is None)
    return {run.path for run in unread if any(each.code in _KEEPS_EARLIER for each in run.problems)}


def _earlier(store: Store, paths: Set[str]) -> Mapping[str, Sequence[Run]]:
    """Return the runs of these logs in the ledger of an earlier call."""
    found: dict[str, list[Run]] = defaultdict(list)
    for name in store.names():
        try:
            runs = list(ledger_files.runs_in(name, store.get(name) or b""))
        except DAMAGED:
            continue
        for run in runs:
            if run.path in paths and run.format:
                found[run.path].append(run)
    return found


def write(ledger: Ledger, store: Store) -> tuple[list[str], list[str]]:
    """Write the files that changed and remove those without logs.

    Returns:
        (written, removed), with the store's label.
    """
    written = [name for name, data in ledger.files.items() if store.put(name, data)]
    removed = [name for name in store.names() if name not in ledger.files]
    for name in removed:
        store.remove(name)
    return [f"{store.label}/{each}" for each in written], [f"{store.label}/{each}" for each in removed]


def stale(ledger: Ledger, store: Store) -> list[str]:
    """Return the files that `write` would change, with the store's label."""
    changed = [name for name, data in ledger.files.items() if not ledger_files.same(name, data, store.get(name))]
    gone = [name for name in store.names() if name not in ledger.files]
    return sorted(f"{store.label}/{each}" for each in [*changed, *gone])
