"""Readers of jobs: this process, or processes of this machine. `cluster` has a third, the workers of a Dask cluster.

A job is the logs of one folder. In another process, a log that ends its reader is the problem of that log alone.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol, Self

from msgspec import Struct
from msgspec.structs import replace

from perfledger.ingest.common import processes
from perfledger.ingest.common.cache import Cache
from perfledger.ingest.common.processes import Death, Worker
from perfledger.parsers.engine.registry import formats
from perfledger.schema.records import Problem, Run
from perfledger.schema.redaction.redact import redact_record


class FolderRead(Struct, frozen=True):
    """What the logs of a job gave.

    `runs` are by folder of the ledger, `problems` those of files that belong to no run, and `passed_over` the names of
    files that are no logs.
    """

    runs: dict[str, list[Run]]
    problems: list[Problem] = []
    passed_over: list[str] = []

    def __add__(self, other: FolderRead) -> FolderRead:
        """Return what both gave."""
        names = [*self.runs, *(each for each in other.runs if each not in self.runs)]
        runs = {name: [*self.runs.get(name, ()), *other.runs.get(name, ())] for name in names}
        return FolderRead(runs, [*self.problems, *other.problems], [*self.passed_over, *other.passed_over])

    def without(self, paths: Collection[str]) -> FolderRead:
        """Return it without some logs, by their redacted names."""
        runs = {name: [run for run in mine if run.path not in paths] for name, mine in self.runs.items()}
        return FolderRead(runs, self.problems, [each for each in self.passed_over if each not in paths])

    def with_runs(self, runs: dict[str, list[Run]]) -> FolderRead:
        """Return it with other runs."""
        return FolderRead(runs, self.problems, self.passed_over)

    def with_problems(self, more: Sequence[Problem]) -> FolderRead:
        """Return it with further problems of each run."""
        added = {
            name: [replace(run, problems=(*run.problems, *more)) for run in mine] for name, mine in self.runs.items()
        }
        return self.with_runs(added)


class ReadingJob(Protocol):
    """Logs that are read together, on whatever machine.

    `logs` are their names, and `files_beside` those of files that may be left out. `size` is in bytes, with what each
    log costs besides. `key` is that of what they give in the cache, empty if that must not be cached.
    """

    @property
    def logs(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def files_beside(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def layout(self) -> str: ...  # noqa: D102

    @property
    def size(self) -> int: ...  # noqa: D102

    @property
    def key(self) -> str: ...  # noqa: D102

    def read(self) -> FolderRead: ...  # noqa: D102

    def of(self, logs: Collection[str], *, beside: bool = True) -> Self:
        """Return a job of some of the logs, without the files beside them if so asked."""

    def lost(self, problem: Problem) -> FolderRead:
        """Return what is known of a log, the problem's, that cannot be read."""

    def confirmed(self, found: FolderRead, cached: Cache) -> FolderRead:
        """Return what its logs gave, without those that changed since the job was made."""


class Reader(Protocol):
    """Reads jobs."""

    def read(self, jobs: Sequence[ReadingJob]) -> Iterator[FolderRead]:
        """Yield what each job gives, in their order."""


class ThisProcess:
    """Reads in this process: a log that ends it ends the command."""

    def read(self, jobs: Sequence[ReadingJob]) -> Iterator[FolderRead]:
        """Yield what each job gives, in their order."""
        return map(read_job, jobs)


@dataclass(frozen=True)
class Processes:
    """Reads in processes of this machine.

    `most` is their number; there are never more than jobs. `anew` and `folder` are those of `Worker`. `work` reads a
    job, if it is not simply read.
    """

    most: int = 1
    anew: bool = False
    folder: str | None = None
    work: Callable[[ReadingJob], FolderRead] | None = None

    def read(self, jobs: Sequence[ReadingJob]) -> Iterator[FolderRead]:
        """Yield what each job gives, in their order."""
        if jobs and not self.anew:
            formats()  # once, for all copies of this process
        waiting, ready = deque(enumerate(jobs)), dict[int, FolderRead]()
        idle, busy, dead = list[Worker](), dict[Worker, int](), list[int]()
        try:
            for place in range(len(jobs)):
                while place not in ready:
                    while waiting and not dead and len(busy) < self.most:
                        worker = idle.pop() if idle else self._started()
                        busy[worker], job = waiting.popleft()
                        worker.give(job)
                    for worker in processes.answering(busy):
                        answer, at = worker.answer(), busy.pop(worker)
                        if isinstance(answer, Death):
                            worker.close()
                            dead.append(at)
                        else:
                            ready[at] = answer
                            idle.append(worker)
                    if not busy:  # another process may have taken the memory of those that died
                        ready |= {each: read_again(jobs[each], self._read_alone) for each in dead}
                        dead.clear()
                yield ready.pop(place)
        finally:
            for worker in (*idle, *busy):
                worker.close()

    def _started(self) -> Worker:
        return Worker(self.work or read_job, anew=self.anew, folder=self.folder)

    def _read_alone(self, job: ReadingJob) -> FolderRead | Death:
        with closing(self._started()) as worker:
            worker.give(job)
            answer: FolderRead | Death = worker.answer()
            return answer


def read_job(job: ReadingJob) -> FolderRead:
    """Read in this process."""
    return job.read()


def problem_of(death: Death, path: str) -> Problem:
    """Return the problem of a file over which a process ended."""
    code = "reader_killed" if death.is_kill else "reader_crashed"
    return Problem(code, path, args={"cause": death.cause})


def all_killed(job: ReadingJob) -> FolderRead:
    """Return what is known of logs whose reader was killed again and again."""
    return _with_lost(job, FolderRead({}), dict.fromkeys(job.logs, Death(-signal.SIGKILL)))


def _with_lost(job: ReadingJob, found: FolderRead, deaths: Mapping[str, Death]) -> FolderRead:
    for name, death in deaths.items():
        found += job.lost(problem_of(death, name))
    return found


def read_again(job: ReadingJob, read: Callable[[ReadingJob], FolderRead | Death]) -> FolderRead:
    """Read logs over which a process died: all except those over which another one dies that reads nothing else."""
    found = read(job)
    if not isinstance(found, Death):
        return found
    deaths = dict(_killers(job, job.logs, read))
    others = job.of([each for each in job.logs if each not in deaths])
    if not others.logs:
        return _with_lost(job, FolderRead({}), deaths)
    found = read(others)
    if not isinstance(found, Death):
        return _with_lost(job, found, deaths)
    without = read(others.of(others.logs, beside=False))
    if isinstance(without, Death):
        return _with_lost(job, FolderRead({}), {**deaths, **dict.fromkeys(others.logs, without)})
    wrong = [redact_record(problem_of(found, each)) for each in job.files_beside]
    return _with_lost(job, without.with_problems(wrong), deaths)


def _killers(
    job: ReadingJob, logs: Sequence[str], read: Callable[[ReadingJob], FolderRead | Death]
) -> Iterator[tuple[str, Death]]:
    """Yield the logs that end their reader, found by halving."""
    death = read(job.of(logs, beside=False))
    if not isinstance(death, Death):
        return
    if len(logs) == 1:
        yield logs[0], death
        return
    for half in (logs[: len(logs) // 2], logs[len(logs) // 2 :]):
        yield from _killers(job, half, read)
