"""Read logs on a Dask cluster: batches of jobs go to its workers, and what they read comes back in the same order.

Dask schedules, and gives the work of a worker that died to another one. A worker has each batch read by a process of
its own (`ingest.record.batch`), so that a log that kills its reader kills no worker.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfledger import project_folder
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.record import batch
from perfledger.ingest.record.batch import LogBatch
from perfledger.ingest.record.reading import ReadingJob, ReadJobs, lost

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

#: What `--on` says of a cluster of this machine; anything else is the address of a scheduler.
LOCAL = "dask"
_SCHEMES = ("tcp://", "tls://", "ws://", "wss://", "ucx://")
#: Seconds to wait for a scheduler to answer, and for its first worker.
_ANSWER, _FIRST_WORKER = 10, 60
#: Bytes of logs in a batch: as many as these, fewer where all workers would not have some, and no less than these.
_MOST, _LEAST = 64 << 20, 8 << 20
#: Batches of each worker that are under way or waiting, so that none is idle, and few wait to be fetched.
_AHEAD = 3


@contextmanager
def reading(where: str, jobs: int, layout: str, paths: Sequence[Path]) -> Iterator[ReadJobs]:
    """Yield what reads on a cluster.

    Args:
        where: `dask` for a cluster of this machine, or the address of a scheduler.
        jobs: workers on this machine, 0 for one per processor; a scheduler has its own.
        layout: name or file of the layout, which must be the same for all workers.
        paths: what is read, which all workers must have under these names.

    Raises:
        UsageError: Dask is not installed, the scheduler does not answer, a worker differs from this program or lacks a
            path, or the scheduler ended while logs were read. Nothing has been written then.
    """
    if where != LOCAL and not where.startswith(_SCHEMES):
        raise UsageError(f"--on {where}: give {LOCAL}, or the address of a scheduler such as tcp://host:8786")
    try:
        import distributed
    except ImportError:
        raise UsageError(f"--on {where}: Dask is not installed; run: python -m pip install distributed") from None
    with ExitStack() as opened:
        with _answering(where):
            address: Any = where
            if where == LOCAL:
                address = opened.enter_context(_of_this_machine(jobs or os.cpu_count() or 1))
            client = opened.enter_context(distributed.Client(address, timeout=_ANSWER))
            client.wait_for_workers(1, timeout=_FIRST_WORKER)
            _compare(client, where, layout, paths)
        yield partial(_read, client, where)


def _of_this_machine(workers: int) -> LocalCluster:
    """Start workers that leave Ctrl-C to this program, which ends them; a process inherits what it ignores."""
    from distributed import LocalCluster

    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # What fails is raised here. A worker that is closed may print a traceback besides, of a late heartbeat.
        silent = logging.CRITICAL
        return LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=silent)
    finally:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def _answering(where: str) -> Iterator[None]:
    """Take what Dask raises where a cluster cannot be reached, or is no longer there, for a fault of the cluster.

    Raises:
        UsageError: that, and what to do.
    """
    try:
        yield
    except (CancelledError, asyncio.CancelledError, OSError) as error:
        cause = str(error) or type(error).__name__
        raise UsageError(
            f"--on {where}: the cluster does not answer: {cause}; nothing was written. Look after its scheduler and "
            "workers, and run again"
        ) from None


def _compare(client: Client, where: str, layout: str, paths: Sequence[Path]) -> None:
    """Ask every worker for its version of Perfledger and for the paths.

    Raises:
        UsageError: one has none, another one, or lacks a path.
    """
    asked = os.getcwd(), layout, tuple(map(str, paths))  # noqa: PTH109
    ours = batch.stated(*asked)
    # Without a project: a path that has none, since an empty text would mean the worker's own folder.
    project = str(project_folder() or os.devnull)
    theirs: Mapping[str, Any] = client.run(batch.prepared, project, *asked, on_error="return")
    for worker, found in sorted(theirs.items()):
        if isinstance(found, BaseException):
            raise UsageError(
                f"--on {where}: worker {worker} cannot run Perfledger: {type(found).__name__}: {found}; install the "
                "same version there"
            )
        if found.code != ours.code:
            raise UsageError(
                f"--on {where}: worker {worker} has another version of Perfledger, or of the layout; install the same"
            )
        if missing := sorted(set(found.missing) - set(ours.missing)):
            raise UsageError(f"--on {where}: worker {worker} has no {missing[0]}; share the folder under this path")


def _read(client: Client, where: str, jobs: Sequence[ReadingJob[Any]]) -> Iterator[Any]:
    with _answering(where):
        workers = max(1, len(client.ncores()))
    waiting: deque[tuple[LogBatch, Future[Any]]] = deque()
    for each in cut(jobs, workers):
        waiting.append((each, _submit(client, each)))
        if len(waiting) > _AHEAD * workers:
            yield from _result(client, where, *waiting.popleft())
    while waiting:
        yield from _result(client, where, *waiting.popleft())


def _submit(client: Client, given: LogBatch) -> Future[Any]:
    return client.submit(batch.read, given, pure=False)


def _result(client: Client, where: str, given: LogBatch, future: Future[Any]) -> list[Any]:
    """Return what each job reads; if workers died over a batch again and again, its jobs are read one by one."""
    from distributed import KilledWorker

    try:
        with _answering(where):
            return [*future.result()]
    except KilledWorker:
        if len(given.jobs) == 1:
            return [lost(given.jobs[0])]
        alone = [given.of(each) for each in given.jobs]
        return [found for each in alone for found in _result(client, where, each, _submit(client, each))]


def cut(jobs: Sequence[ReadingJob[Any]], workers: int) -> Iterator[LogBatch]:
    """Yield jobs in batches of about as many bytes."""
    sizes = [each.size for each in jobs]
    most = max(_LEAST, min(_MOST, sum(sizes) // (2 * _AHEAD * workers)))
    part: list[ReadingJob[Any]] = []
    total = 0
    for job, size in zip(jobs, sizes, strict=True):
        if part and total + size > most:
            yield LogBatch.made(part)
            part, total = [], 0
        part.append(job)
        total += size
    if part:
        yield LogBatch.made(part)
