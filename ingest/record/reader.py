"""Readers of jobs: processes of this machine; `cluster` has another one, the workers of a Dask cluster.

A job is the logs of one folder. A log that ends the process of its reader is a problem of that log alone.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import replace

from perfledger.ingest.common import processes
from perfledger.ingest.common.processes import Death, Worker
from perfledger.ingest.record.folders import FolderRead, LocalFolder
from perfledger.ingest.record.remote import StoredFolder
from perfledger.parsers.engine.detect import index_formats
from perfledger.schema.records import Problem
from perfledger.schema.redaction.redact import redact_record

ReadingJob = LocalFolder | StoredFolder


class Reader(Protocol):
    """Reads jobs."""

    def read(self, jobs: Sequence[ReadingJob]) -> Iterator[FolderRead]:
        """Yield what each job gives, in their order."""


@dataclass(frozen=True)
class Processes:
    """Reads in processes of this machine.

    `most` is the largest number of processes. `fresh` starts Python again for each, in `folder`, instead of copying
    this process.
    """

    most: int = 1
    fresh: bool = False
    folder: str | None = None

    def read(self, jobs: Sequence[ReadingJob]) -> Iterator[FolderRead]:
        """Yield what each job gives, in their order."""
        if jobs and not self.fresh:
            index_formats()  # once, for all copies of this process
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
        return Worker(read_job, fresh=self.fresh, folder=self.folder)

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
    return Problem("reader_died", path, args={"cause": death.cause})


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
