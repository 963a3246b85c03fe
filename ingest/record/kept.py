"""Results of earlier calls, as long as they stay true: the only module that keeps results of logs.

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
from msgspec.structs import replace

from perfledger.ingest.common.cache import Cache, packed, unpacked
from perfledger.ingest.record.ledger_files import in_order
from perfledger.ingest.record.reader import FolderRead, Reader, ReadingJob, merged
from perfledger.ingest.record.slim import Slimmer
from perfledger.ingest.record.store import Store
from perfledger.schema.records import Problem, Run, from_text

#: Keys are sorted, as in the lines of the ledger: a run is the same whether it was read now or earlier.
_WRITER = msgspec.json.Encoder(order="sorted")
#: Raised by values that cannot be decoded; they count as missing.
DAMAGED = (ValueError, MsgspecError, RecursionError)
#: Problems that say nothing about the bytes of a log: the next call may read it, so its runs do not enter the cache.
_PASSING = frozenset({"fault", "too_slow", "unreadable", "changing", "reader_killed", "reader_crashed"})
#: Called with the number of logs that were read since the last call.
Progress = Callable[[int], object]


def passes(runs: Iterable[Run], problems: Iterable[Problem] = ()) -> bool:
    """Return whether a problem says nothing about the bytes of its log."""
    return any(each.code in _PASSING for each in (*problems, *(one for run in runs for one in run.problems)))


class FilesMade(Struct, frozen=True):
    """Files of the ledger by name with their hashes, and the problems and names that are not in them."""

    hashes: dict[str, str]
    problems: Sequence[Problem] = ()
    passed_over: Sequence[str] = ()


@dataclass(frozen=True)
class Kept:
    """The cache and the store of earlier calls; `slimmer` makes runs slim, for a ledger of many logs."""

    cached: Cache
    store: Store
    slimmer: Slimmer | None = None

    def read(
        self, jobs: Sequence[ReadingJob], reader: Reader, progress: Progress | None = None
    ) -> tuple[FolderRead, int]:
        """Return what all jobs gave, as kept or else read, and how many logs were read."""
        found = {at: read for at, job in enumerate(jobs) if (read := self._kept(job))}
        missing = [at for at in range(len(jobs)) if at not in found]
        for at, read in zip(missing, reader.read([jobs[at] for at in missing]), strict=True):
            found[at] = self._keep(jobs[at], read)
            if progress:
                progress(len(jobs[at].logs))
        return merged(found[at] for at in range(len(jobs))), sum(len(jobs[at].logs) for at in missing)

    def in_form(self, found: FolderRead) -> FolderRead:
        """Return what jobs gave with runs in the form of this ledger: slim, and as their lines say."""
        return self._of_data(_WRITER.encode(found)) if self.slimmer else found

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

    def _kept(self, job: ReadingJob) -> FolderRead | None:
        data = self.cached.get(job.key) if job.key else None
        try:
            return None if data is None else self._of_data(data)
        except DAMAGED:
            return None

    def _keep(self, job: ReadingJob, given: FolderRead) -> FolderRead:
        found = job.confirmed(given, self.cached).with_runs(in_order)
        data = _WRITER.encode(found)
        if job.key and not passes(found.all_runs(), found.problems):
            self.cached.put(job.key, data)
        return self._of_data(data) if self.slimmer else found

    def _of_data(self, data: bytes) -> FolderRead:
        found = from_text(data, FolderRead)
        if (slimmer := self.slimmer) is None:
            return replace(found, full={})
        slim = found.with_runs(lambda runs: list(map(slimmer.slim, runs)))
        full = [packed(data)]
        return replace(slim, full=dict.fromkeys(found.runs, full))


def whole_runs(found: FolderRead, folder: str) -> list[Run]:
    """Return the runs of a folder with all that is known of them."""
    if folder not in found.full:
        return found.runs[folder]
    return [run for each in found.full[folder] for run in from_text(unpacked(each), FolderRead).runs[folder]]


def hashes_of(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the SHA-256 of each file."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
