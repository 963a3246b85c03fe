"""Read logs in other processes, so that a log that ends its reader is the problem of that log alone."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any, Protocol, Self, TypeVar

from perfledger.ingest.common import processes
from perfledger.ingest.common.processes import Death, Worker
from perfledger.parsers.engine.registry import formats
from perfledger.schema.records import Problem

Found = TypeVar("Found")


class ReadingJob(Protocol[Found]):
    """Logs that are read together, on whatever machine; `size` is in bytes, with what each log costs besides.

    `logs` are their names.
    """

    @property
    def layout(self) -> str: ...  # noqa: D102

    @property
    def size(self) -> int: ...  # noqa: D102

    @property
    def logs(self) -> tuple[str, ...]: ...  # noqa: D102

    def read(self) -> Found: ...  # noqa: D102

    def of(self, logs: Collection[str], *, beside: bool = True) -> Self:
        """Return a job of some of the logs, without the files beside them if so asked."""

    def with_lost(self, found: Found | None, deaths: Mapping[str, Death], beside: Death | None = None) -> Found:
        """Add a problem for each log over which its readers died; or for the files beside all logs."""


class ReadJobs(Protocol):
    """Yields what each job reads, in their order."""

    def __call__(self, jobs: Sequence[ReadingJob[Found]]) -> Iterator[Found]: ...  # noqa: D102


def on_processes(
    most: int, jobs: Sequence[ReadingJob[Found]], *, anew: bool = False, start: Callable[[], Worker] | None = None
) -> Iterator[Found]:
    """Read on processes of this machine, at most so many, and no more than there are jobs.

    Args:
        most: how many processes.
        jobs: what is read.
        anew: see `Worker`.
        start: starts a process that reads jobs, if not one of this program.
    """
    if jobs and not anew:
        formats()  # once, for all copies of this process
    start = start or partial(Worker, read_job, anew=anew)
    waiting, ready = deque(enumerate(jobs)), dict[int, Found]()
    idle, busy, dead = list[Worker](), dict[Worker, int](), list[int]()
    try:
        for place in range(len(jobs)):
            while place not in ready:
                while waiting and not dead and len(busy) < most:
                    worker = idle.pop() if idle else start()
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
                    ready |= {each: _read_again(jobs[each], partial(_read_alone, start)) for each in dead}
                    dead.clear()
            yield ready.pop(place)
    finally:
        for worker in (*idle, *busy):
            worker.close()


def read_job(job: ReadingJob[Found]) -> Found:
    """Read in this process."""
    return job.read()


def lost(job: ReadingJob[Found]) -> Found:
    """Return what is known of logs whose reader was killed again and again."""
    return job.with_lost(None, dict.fromkeys(job.logs, Death(-signal.SIGKILL)))


def problem_of(death: Death, path: str) -> Problem:
    """Return the problem of a file over which a process ended."""
    code = "reader_killed" if death.is_kill else "reader_crashed"
    return Problem(code, path, args={"cause": death.cause})


def _read_alone(start: Callable[[], Worker], job: ReadingJob[Any]) -> Any:
    with closing(start()) as worker:
        worker.give(job)
        return worker.answer()


def _read_again(job: ReadingJob[Found], read: Callable[[ReadingJob[Found]], Found | Death]) -> Found:
    """Read logs over which a process died: all but those over which another one dies that reads nothing else."""
    found = read(job)
    if not isinstance(found, Death):
        return found
    deaths = dict(_killers(job, job.logs, read))
    others = job.of([each for each in job.logs if each not in deaths])
    if not others.logs:
        return job.with_lost(None, deaths)
    found = read(others)
    if not isinstance(found, Death):
        return job.with_lost(found, deaths)
    without = read(others.of(others.logs, beside=False))
    if not isinstance(without, Death):
        return job.with_lost(without, deaths, beside=found)
    return job.with_lost(None, {**deaths, **dict.fromkeys(others.logs, without)})


def _killers(
    job: ReadingJob[Found], logs: Sequence[str], read: Callable[[ReadingJob[Found]], Found | Death]
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
