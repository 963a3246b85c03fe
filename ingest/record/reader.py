"""Readers of jobs: this process, or processes of this machine. `cluster` has a third, the workers of a Dask cluster.

A job is the logs of one folder. In another process, a log that ends its reader is the problem of that log alone.
"""

from __future__ import annotations

import signal
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Protocol, Self

from msgspec import Struct
from msgspec.structs import replace

from perfledger.ingest.common import processes
from perfledger.ingest.common.cache import Cache
from perfledger.ingest.common.processes import Death, Worker
from perfledger.parsers.engine.registry import formats
from perfledger.schema.records import Problem, Run
from perfledger.schema.redaction.redact import redact_record


class FolderRead(Struct, frozen=True, omit_defaults=True):
    """Results of jobs.

    `runs` are by folder of the ledger, `problems` those of files that belong to no run, and `passed_over` the names of
    files that are not logs. If runs are slim, `full` has the results with the whole runs, by folder and packed.
    """

    runs: dict[str, list[Run]]
    problems: list[Problem] = []
    passed_over: list[str] = []
    full: dict[str, list[bytes]] = {}

    def __add__(self, other: FolderRead) -> FolderRead:
        """Return what both gave."""
        return merged([self, other])

    def all_runs(self) -> Iterator[Run]:
        """Yield the runs of all folders."""
        return chain.from_iterable(self.runs.values())

    def with_runs(self, change: Callable[[list[Run]], list[Run]]) -> FolderRead:
        """Return it with other runs in each folder."""
        return replace(self, runs={name: change(mine) for name, mine in self.runs.items()})

    def without(self, paths: Collection[str]) -> FolderRead:
        """Return it without some logs, by their redacted names."""
        found = self.with_runs(lambda mine: [run for run in mine if run.path not in paths])
        return replace(found, passed_over=[each for each in self.passed_over if each not in paths])


def merged(parts: Iterable[FolderRead]) -> FolderRead:
    """Return what all parts gave."""
    runs: dict[str, list[Run]] = defaultdict(list)
    full: dict[str, list[bytes]] = defaultdict(list)
    problems, passed_over = list[Problem](), list[str]()
    for part in parts:
        for name, mine in part.runs.items():
            runs[name] += mine
        for name, packed in part.full.items():
            full[name] += packed
        problems += part.problems
        passed_over += part.passed_over
    return FolderRead(dict(runs), problems, passed_over, dict(full))


class ReadingJob(Protocol):
    """Logs that are read together, on whatever machine.

    `logs` are their names, and `files_beside` those of files that may be left out. `size` is in bytes, and includes a
    fixed cost for each log. `key` is the key of the result in the cache, empty if the result must not be cached.
    """

    @property
    def logs(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def files_beside(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def size(self) -> int: ...  # noqa: D102

    @property
    def key(self) -> str: ...  # noqa: D102

    def read(self) -> FolderRead: ...  # noqa: D102

    def of(self, logs: Collection[str], *, beside: bool = True) -> Self:
        """Return a job of some of the logs, and with the files next to them if `beside`."""

    def lost(self, problem: Problem) -> FolderRead:
        """Return the result of a log that cannot be read: the problem, which names it."""

    def confirmed(self, found: FolderRead, cached: Cache) -> FolderRead:
        """Return the result without logs that changed since the job was made; they get a problem."""


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

    `most` is the largest number of processes. `fresh` starts Python again for each, in `folder`, instead of copying
    this process. `work` reads a job; by default `read_job`.
    """

    most: int = 1
    fresh: bool = False
    folder: str | None = None
    work: Callable[[ReadingJob], FolderRead] | None = None

    def read(self, jobs: Sequence[ReadingJob]) -> Iterator[FolderRead]:
        """Yield what each job gives, in their order."""
        if jobs and not self.fresh:
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
        return Worker(self.work or read_job, anew=self.fresh, folder=self.folder)

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
    """Return the result of logs whose reader was killed again and again."""
    return _with_lost(job, FolderRead({}), dict.fromkeys(job.logs, Death(-signal.SIGKILL)))


def _with_lost(job: ReadingJob, found: FolderRead, deaths: Mapping[str, Death]) -> FolderRead:
    for name, death in deaths.items():
        found += job.lost(problem_of(death, name))
    return found


def read_again(job: ReadingJob, read: Callable[[ReadingJob], FolderRead | Death]) -> FolderRead:
    """Read logs again after a process died over them, except those that end a process of their own."""
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
    blamed = without.with_runs(lambda runs: [replace(run, problems=(*run.problems, *wrong)) for run in runs])
    return _with_lost(job, blamed, deaths)


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
