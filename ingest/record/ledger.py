"""The ledger: one line per run, in files of a store.

The folders of logs are the jobs of a reader. Of many logs, only the part that pages of many runs show stays in memory.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from msgspec.structs import replace

from perfledger.ingest.common.cache import Cache, key_of
from perfledger.ingest.common.files import MANY_LOGS
from perfledger.ingest.record.folders import LogFiles, code_of
from perfledger.ingest.record.identity import identify, mark
from perfledger.ingest.record.kept import WRITER, Kept, Progress, Slimmer
from perfledger.ingest.record.reader import Processes, Reader, ReadingJob
from perfledger.ingest.record.store import (
    Store,
    content,
    folders_of_files,
    in_order,
    lines_of,
    runs_in,
    runs_named,
    same,
)
from perfledger.schema.records import Problem, Run

#: Problems of a log that leave the runs of an earlier call in the ledger.
_KEEPS_EARLIER = frozenset({"unreadable", "changing", "reader_died"})
#: Fields that marking changes: compare `identity.identify` and `identity.mark`.
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
        whole = {run.id: run for name in wanted for run in runs_named(name, self.files[name], wanted[name])}
        return [whole.get(run.id, run) for run in self.runs]

    def lines(self) -> Iterator[str]:
        """Yield the line of each run, file by file."""
        for name, data in self.files.items():
            yield from (line.decode() for line in lines_of(name, data))


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
    jobs = [*logs.folders(cached), *stored]
    many = sum(len(each.logs) for each in jobs) > MANY_LOGS or not store.is_of_pages
    kept = Kept(cached, Slimmer() if many else None)
    read, read_logs = kept.read(jobs, reader or Processes(), progress)
    marked = _marked(_with_earlier(read.runs, kept, store))
    folders_of = {
        name: mine
        for name, mine in folders_of_files(marked, is_dataset=many).items()
        if any(marked[each] for each in mine)
    }
    code = code_of(logs.layout)
    files = {
        name: _content(name, {each: marked[each] for each in mine}, kept, store, code)
        for name, mine in folders_of.items()
    }
    by_file = {name: in_order([run for each in mine for run in marked[each]]) for name, mine in folders_of.items()}
    runs = [run for mine in by_file.values() for run in mine]
    shards = {run.id: name for name, mine in by_file.items() for run in mine}
    paths = {run.path for run in runs}
    passed_over = tuple(each for each in read.passed_over if each not in paths)
    return Ledger(runs, files, read_logs, tuple(read.problems), shards, passed_over, many)


def _marked(runs: Mapping[str, Sequence[Run]]) -> dict[str, list[Run]]:
    """Return the runs of each folder with their ids, and with the marks of duplicates."""
    folders = sorted(runs)
    marked = iter(identify(mark([run for each in folders for run in runs[each]])))
    return {each: [next(marked) for _ in runs[each]] for each in folders}


def _content(name: str, marked: Mapping[str, Sequence[Run]], kept: Kept, store: Store, code: str) -> bytes:
    """Return the content of a file with the marked runs of its folders: from the store, if it was made of the same."""
    runs = [run for mine in marked.values() for run in mine]
    marks = WRITER.encode([[getattr(each, mark) for mark in _MARKS] for each in runs])
    key = key_of("file", code, name, marks.decode(), *kept.digests(marked))
    earlier = kept.cached.get(key)
    if earlier and (data := store.get(name)) is not None and hashlib.sha256(data).digest() == earlier:
        return data
    whole = [run for folder, mine in marked.items() for run in kept.whole_runs(folder, [*mine])]
    data = content(name, [_with_marks(*each) for each in zip(whole, runs, strict=True)])
    kept.cached.put(key, hashlib.sha256(data).digest())
    return data


def _with_marks(run: Run, marked: Run) -> Run:
    return replace(run, **{name: getattr(marked, name) for name in _MARKS})


def _with_earlier(runs: Mapping[str, list[Run]], kept: Kept, store: Store) -> Mapping[str, list[Run]]:
    """Replace logs that cannot be read now by their runs of an earlier call, with the problem added."""
    lost = {name: paths for name, mine in runs.items() if (paths := _lost(mine))}
    before = _earlier(store, {path for paths in lost.values() for path in paths}) if lost else {}

    def completed(mine: list[Run]) -> list[Run]:
        earlier = ([replace(each, problems=run.problems) for each in before.get(run.path, ())] for run in mine)
        return in_order([one for run, others in zip(mine, earlier, strict=True) for one in others or [run]])

    changed = {name: kept.replace_runs(name, completed(kept.whole_runs(name, runs[name]))) for name in lost}
    return {**runs, **changed}


def _lost(runs: Sequence[Run]) -> set[str]:
    """Return the logs that cannot be read now, and have no run."""
    unread = (run for run in runs if run.format is None)
    return {run.path for run in unread if any(each.code in _KEEPS_EARLIER for each in run.problems)}


def _earlier(store: Store, paths: Set[str]) -> Mapping[str, Sequence[Run]]:
    """Return the runs of these logs in the ledger of an earlier call."""
    found: dict[str, list[Run]] = defaultdict(list)
    for name in store.names():
        try:
            runs = list(runs_in(name, store.get(name) or b""))
        except ValueError:
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
    changed = [name for name, data in ledger.files.items() if not same(name, data, store.get(name))]
    gone = [name for name in store.names() if name not in ledger.files]
    return sorted(f"{store.label}/{each}" for each in [*changed, *gone])
