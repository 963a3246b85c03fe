"""Results of jobs, kept in the cache under the job's key; of many logs, only the slim runs stay in memory.

A slim run lacks what only its own page shows. The whole runs of many logs do not fit into memory: they stay packed
until the ledger's file with them is made.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from perfledger.ingest.common.cache import Cache, packed, unpacked
from perfledger.ingest.record.folders import FolderRead, merged
from perfledger.ingest.record.reader import Reader, ReadingJob
from perfledger.ingest.record.store import in_order
from perfledger.schema.records import Figures, Problem, Run, from_text

#: Sorts keys, as the lines of the ledger: a run is the same whether it was read now or earlier.
WRITER = msgspec.json.Encoder(order="sorted")
#: Problems that say nothing about the bytes of a log: the next call may read it, so its runs do not enter the cache.
_PASSING = frozenset({"fault", "too_slow", "unreadable", "changing", "reader_died"})
#: Records and texts that many runs have alike.
_ALIKE = (
    "case", "environment", "environment_details", "environment_variables", "recipe", "argv", "nodes", "source",
    "format", "outcome", "rule",
)  # fmt: skip
#: Called with the number of logs that were read since the last call.
Progress = Callable[[int], object]
_Shared = TypeVar("_Shared")


def passes(runs: Iterable[Run], problems: Iterable[Problem] = ()) -> bool:
    """Return whether a problem says nothing about the bytes of its log."""
    return any(each.code in _PASSING for each in (*problems, *(one for run in runs for one in run.problems)))


@dataclass
class Kept:
    """The cache of earlier calls, and the results of this one; `slimmer` makes runs slim, for a ledger of many logs."""

    cached: Cache
    slimmer: Slimmer | None = None
    #: Results with the whole runs of each folder, if runs are slim.
    _packed: dict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    #: Hashes of the results with the runs of each folder.
    _digests: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def read(
        self, jobs: Sequence[ReadingJob], reader: Reader, progress: Progress | None = None
    ) -> tuple[FolderRead, int]:
        """Return the results of all jobs, from the cache or else read, and how many logs were read."""
        found = {at: read for at, job in enumerate(jobs) if (read := self._kept(job))}
        missing = [at for at in range(len(jobs)) if at not in found]
        for at, read in zip(missing, reader.read([jobs[at] for at in missing]), strict=True):
            found[at] = self._keep(jobs[at], read)
            if progress:
                progress(len(jobs[at].logs))
        return merged(found[at] for at in range(len(jobs))), sum(len(jobs[at].logs) for at in missing)

    def whole_runs(self, folder: str, runs: list[Run]) -> list[Run]:
        """Return the runs of a folder with all that is known of them."""
        if self.slimmer is None:
            return runs
        return [run for each in self._packed[folder] for run in from_text(unpacked(each), FolderRead).runs[folder]]

    def replace_runs(self, folder: str, runs: list[Run]) -> list[Run]:
        """Put other runs in the place of those of a folder, and return them in the form of this ledger."""
        self._packed.pop(folder, None)
        self._digests.pop(folder, None)
        return self._of_data(WRITER.encode(FolderRead({folder: runs}))).runs[folder]

    def digests(self, folders: Collection[str]) -> list[str]:
        """Return hashes that differ if the runs of the folders differ."""
        return [digest for each in folders for digest in self._digests[each]]

    def _kept(self, job: ReadingJob) -> FolderRead | None:
        data = self.cached.get(job.key) if job.key else None
        try:
            return None if data is None else self._of_data(data)
        except ValueError:  # a damaged value counts as missing
            return None

    def _keep(self, job: ReadingJob, given: FolderRead) -> FolderRead:
        found = job.confirmed(given, self.cached).with_runs(in_order)
        data = WRITER.encode(found)
        if job.key and not passes(found.all_runs(), found.problems):
            self.cached.put(job.key, data)
        return self._of_data(data)

    def _of_data(self, data: bytes) -> FolderRead:
        found, digest = from_text(data, FolderRead), hashlib.sha256(data).hexdigest()
        for folder in found.runs:
            self._digests[folder].append(digest)
        if (slimmer := self.slimmer) is None:
            return found
        whole = packed(data)
        for folder in found.runs:
            self._packed[folder].append(whole)
        return found.with_runs(lambda runs: list(map(slimmer.slim, runs)))


class Slimmer:
    """Makes runs slim: without traces and arithmetic, and with one object for equal parts of many runs.

    The headline figure keeps its arithmetic.
    """

    def __init__(self) -> None:
        """Begin without shared objects."""
        self._first: dict[tuple[type, bytes], Any] = {}

    def slim(self, run: Run) -> Run:
        """Return a run without the parts that only its page shows."""
        return replace(
            run,
            trace=None,
            facts={name: self._shared(each) for name, each in run.facts.items()},
            figures=self._figures(run.figures, run.rule),
            audit=run.audit if run.audit is UNSET else self._figures(run.audit, ""),
            metrics={name: self._measured(each, None) for name, each in run.metrics.items()},
            witnesses=tuple(self._measured(each, "") for each in run.witnesses),
            **{name: self._shared(getattr(run, name)) for name in _ALIKE},
        )

    def _figures(self, figures: Figures, headline: str) -> Figures:
        shown = {rule: each if rule == headline else self._measured(each, "") for rule, each in figures.items()}
        return Figures(shown)

    def _measured(self, record: Any, arithmetic: str | None) -> Any:
        """Return a figure, a metric or a witness without its arithmetic; one without a value is shared."""
        return self._shared(record) if record.value is None else replace(record, arithmetic=arithmetic)

    def _shared(self, record: _Shared) -> _Shared:
        """Return the first record that is equal."""
        found: _Shared = self._first.setdefault((type(record), msgspec.json.encode(record)), record)
        return found
