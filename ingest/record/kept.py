"""What earlier calls read and made, and what stays true of it: the only place that keeps results of logs.

A job's result is kept under the job's key, and a list of files under the keys of all jobs that they were made of. A
file is made again only if its key changed, or if the store has it no longer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
from msgspec import MsgspecError, Struct

from perfledger.ingest.common.cache import Cache, packed, unpacked
from perfledger.ingest.record.ledger_files import in_order
from perfledger.ingest.record.reader import FolderRead, Reader, ReadingJob
from perfledger.ingest.record.slim import Slimmer
from perfledger.ingest.record.store import Store
from perfledger.schema.records import Problem, Run, from_text

#: Keys are sorted, as in the lines of the ledger: a run is the same whether it was read or kept.
_WRITER = msgspec.json.Encoder(order="sorted")
#: Raised by values that cannot be decoded; they count as missing.
DAMAGED = (ValueError, MsgspecError, RecursionError)
#: Problems that say nothing about the bytes of a log: the next call may read it, so its runs are not kept.
_PASSING = frozenset({"fault", "too_slow", "unreadable", "changing", "reader_killed", "reader_crashed"})
#: Called with the number of logs that were read since the last call.
Progress = Callable[[int], object]


def passes(runs: Iterable[Run], problems: Iterable[Problem] = ()) -> bool:
    """Return whether a problem says nothing about the bytes of its log."""
    return any(each.code in _PASSING for each in (*problems, *(one for run in runs for one in run.problems)))


@dataclass(frozen=True)
class FolderRuns:
    """The runs of a folder of the ledger; of many logs slim ones, and `read` is then what the jobs gave, packed."""

    folder: str
    runs: list[Run]
    read: tuple[bytes, ...] = ()

    def __add__(self, other: FolderRuns) -> FolderRuns:
        """Return both."""
        return FolderRuns(self.folder, [*self.runs, *other.runs], (*self.read, *other.read))

    def whole(self) -> list[Run]:
        """Return the runs with all that is known of them."""
        if not self.read:
            return self.runs
        return [run for each in self.read for run in from_text(unpacked(each), FolderRead).runs[self.folder]]


@dataclass(frozen=True)
class JobsRead:
    """What jobs gave; `logs` counts their logs, and `read_logs` those that had to be read."""

    folders: Mapping[str, FolderRuns]
    problems: tuple[Problem, ...] = ()
    passed_over: tuple[str, ...] = ()
    logs: int = 0
    read_logs: int = 0

    @property
    def passes(self) -> bool:
        """Whether another call may find something else in the same bytes."""
        return passes((run for each in self.folders.values() for run in each.runs), self.problems)


class FilesMade(Struct, frozen=True):
    """Files of the ledger that some input gave, by name with their hashes, and what is not in them."""

    hashes: dict[str, str]
    problems: Sequence[Problem] = ()
    passed_over: Sequence[str] = ()


@dataclass(frozen=True)
class Kept:
    """The cache and the store of earlier calls; `slimmer` makes runs slim, for a ledger of many logs."""

    cached: Cache
    store: Store
    slimmer: Slimmer | None = None

    def read(self, jobs: Sequence[ReadingJob], reader: Reader, progress: Progress | None = None) -> JobsRead:
        """Return what each job gives: as kept, or else read."""
        found = {at: read for at, job in enumerate(jobs) if (read := self._kept(job))}
        missing = [at for at in range(len(jobs)) if at not in found]
        given = reader.read([jobs[at] for at in missing])
        for at, folder in zip(missing, given, strict=True):
            found[at] = self._keep(jobs[at], folder)
            if progress:
                progress(len(jobs[at].logs))
        ordered = [found[at] for at in range(len(jobs))]
        folders = dict[str, FolderRuns]()
        for runs in (each for read in ordered for each in read.folders.values()):
            folders[runs.folder] = folders[runs.folder] + runs if runs.folder in folders else runs
        return JobsRead(
            folders,
            tuple(each for read in ordered for each in read.problems),
            tuple(each for read in ordered for each in read.passed_over),
            sum(len(each.logs) for each in jobs),
            sum(len(jobs[at].logs) for at in missing),
        )

    def folder_runs(self, folder: str, runs: Sequence[Run]) -> FolderRuns:
        """Return the runs of a folder in the form of this ledger."""
        found = FolderRead({folder: in_order(runs)})
        read = self._of_data(_WRITER.encode(found)) if self.slimmer else _of_folders(found)
        return read.folders[folder]

    def files(self, key: str) -> tuple[FilesMade, dict[str, bytes]] | None:
        """Return the files that were made under a key, if the store still has all of them."""
        try:
            made = msgspec.json.decode(self.cached.get(key) or b"", type=FilesMade)
        except DAMAGED:
            return None
        if not made.hashes.keys() <= self._names:
            return None
        files = {name: self.store.get(name) or b"" for name in made.hashes}
        return (made, files) if hashes_of(files) == made.hashes else None

    def keep_files(self, key: str, made: FilesMade) -> None:
        """Keep which files were made under a key."""
        self.cached.put(key, msgspec.json.encode(made))

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.store.names())

    def _kept(self, job: ReadingJob) -> JobsRead | None:
        data = self.cached.get(job.key) if job.key else None
        try:
            return None if data is None else self._of_data(data)
        except DAMAGED:
            return None

    def _keep(self, job: ReadingJob, given: FolderRead) -> JobsRead:
        confirmed = job.confirmed(given, self.cached)
        found = confirmed.with_runs({name: in_order(mine) for name, mine in confirmed.runs.items()})
        data = _WRITER.encode(found)
        read = self._of_data(data) if self.slimmer else _of_folders(found)
        if job.key and not read.passes:
            self.cached.put(job.key, data)
        return read

    def _of_data(self, data: bytes) -> JobsRead:
        found = from_text(data, FolderRead)
        if self.slimmer is None:
            return _of_folders(found)
        slim = {name: list(map(self.slimmer.slim, mine)) for name, mine in found.runs.items()}
        return _of_folders(found.with_runs(slim), packed(data))


def _of_folders(found: FolderRead, *data: bytes) -> JobsRead:
    folders = {name: FolderRuns(name, runs, data) for name, runs in found.runs.items()}
    return JobsRead(folders, tuple(found.problems), tuple(found.passed_over))


def hashes_of(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the SHA-256 of each file."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
