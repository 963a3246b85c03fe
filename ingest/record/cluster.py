"""Read logs on a Dask cluster: batches of jobs go to its workers, and the results come back in the same order.

Dask schedules, and gives the work of a worker that died to another one. A worker starts a process for each batch: only
a main thread can limit the time of a log, and a log that kills the process does not kill the worker.
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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfledger import PROJECT_VARIABLE, project_folder
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.record.folders import FolderRead, code_of
from perfledger.ingest.record.reader import Processes, ReadingJob, all_killed

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

#: The value of `--on` for a cluster of this machine; all others are addresses of schedulers.
LOCAL = "dask"
_SCHEMES = ("tcp://", "tls://", "ws://", "wss://", "ucx://")
#: Seconds to wait for a scheduler to answer.
_ANSWER = 10
#: Seconds to wait for the first worker.
_FIRST_WORKER = 60
#: Bytes of logs in a batch, at most.
_MOST = 64 << 20
#: Bytes of logs in a batch, at least, also where not all workers get one.
_LEAST = 8 << 20
#: Batches of each worker that are under way or waiting, so that none is idle, and few wait to be fetched.
_AHEAD = 3


@dataclass(frozen=True)
class Cluster:
    """A Dask cluster that answers, under the name that the user gives it.

    `sender` states what all workers must have in common with this process.
    """

    client: Client
    where: str
    sender: Sender

    def read(self, jobs: Sequence[ReadingJob]) -> Iterator[FolderRead]:
        """Yield what each job gives, in their order.

        Raises:
            UsageError: the scheduler ended meanwhile, or a worker cannot read these logs.
        """
        with _answering(self.where):
            workers = max(1, len(self.client.ncores()))
        waiting: deque[tuple[list[ReadingJob], Future[Any]]] = deque()
        for batch in cut(jobs, workers):
            waiting.append((batch, self._submit(batch)))
            if len(waiting) > _AHEAD * workers:
                yield from self._result(*waiting.popleft())
        while waiting:
            yield from self._result(*waiting.popleft())

    def _submit(self, jobs: Sequence[ReadingJob]) -> Future[Any]:
        return self.client.submit(read_batch, list(jobs), self.sender, pure=False)

    def _result(self, jobs: Sequence[ReadingJob], future: Future[Any]) -> list[FolderRead]:
        """Return what each job gives; if workers died over a batch again and again, its jobs are read one by one."""
        from distributed import KilledWorker

        try:
            with _answering(self.where):
                return [*future.result()]
        except KilledWorker:
            if len(jobs) == 1:
                return [all_killed(jobs[0])]
            return [found for each in jobs for found in self._result([each], self._submit([each]))]


@contextmanager
def connected(where: str, workers: int, layout: str, paths: Sequence[Path]) -> Iterator[Cluster]:
    """Yield a reader on a cluster.

    Args:
        where: `dask` for a cluster of this machine, or the address of a scheduler.
        workers: workers on this machine, 0 for one per processor; a scheduler has its own.
        layout: name or file of the layout, which must be the same for all workers.
        paths: what is read, which all workers must have under these names.

    Raises:
        UsageError: Dask is not installed, the scheduler does not answer, or a worker cannot read these logs. Nothing
            has been written then.
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
                address = opened.enter_context(_of_this_machine(workers or os.cpu_count() or 1))
            client = opened.enter_context(distributed.Client(address, timeout=_ANSWER))
            client.wait_for_workers(1, timeout=_FIRST_WORKER)
            sender = sender_of(layout, paths)
            _compare(client, where, sender)
        yield Cluster(client, where, sender)


def _of_this_machine(workers: int) -> LocalCluster:
    """Start workers that leave Ctrl-C to this program, which ends them; a process inherits what it ignores."""
    from distributed import LocalCluster

    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # Failures are raised here. A worker that is closed may also print a traceback of a late heartbeat.
        silent = logging.CRITICAL
        return LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=silent)
    finally:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def _answering(where: str) -> Iterator[None]:
    """Report errors that Dask raises if a cluster cannot be reached, or is no longer there.

    Raises:
        UsageError: the cluster does not answer; the message says how to go on.
    """
    try:
        yield
    except (CancelledError, asyncio.CancelledError, OSError) as error:
        cause = str(error) or type(error).__name__
        raise UsageError(
            f"--on {where}: the cluster does not answer: {cause}; nothing was written. Look after its scheduler and "
            "workers, and run again"
        ) from None


def _compare(client: Client, where: str, sender: Sender) -> None:
    """Ask every worker whether it can read the logs.

    Raises:
        UsageError: a worker cannot import Perfledger, has another version, or lacks a path.
    """
    answers: Mapping[str, Any] = client.run(refusal, sender, on_error="return")
    for worker, found in sorted(answers.items()):
        if isinstance(found, BaseException):
            why = f"cannot run Perfledger: {type(found).__name__}: {found}; install the same version there"
        else:
            why = found
        if why:
            raise UsageError(f"--on {where}: worker {worker} {why}")


def cut(jobs: Sequence[ReadingJob], workers: int) -> Iterator[list[ReadingJob]]:
    """Yield jobs in parts of about as many bytes."""
    sizes = [each.size for each in jobs]
    most = max(_LEAST, min(_MOST, sum(sizes) // (2 * _AHEAD * workers)))
    part: list[ReadingJob] = []
    total = 0
    for job, size in zip(jobs, sizes, strict=True):
        if part and total + size > most:
            yield part
            part, total = [], 0
        part.append(job)
        total += size
    if part:
        yield part


@dataclass(frozen=True)
class Sender:
    """The project, code and layout of the process that sends batches; its workers must have the same.

    `project` is the folder of the user's project, `folder` the one that paths start from, and `code` the hash of all
    code that a line of the ledger depends on.
    """

    project: str
    folder: str
    layout: str
    paths: tuple[str, ...]
    code: str


def sender_of(layout: str, paths: Sequence[Path]) -> Sender:
    """Return what this process has."""
    # Without a project: a path that has none, since an empty text would mean the worker's own folder.
    project = str(project_folder() or os.devnull)
    return Sender(project, os.getcwd(), layout, tuple(map(str, paths)), code_of(layout))  # noqa: PTH109


def refusal(sender: Sender) -> str:
    """Return why this worker cannot read the logs of the sender, whose project it uses from now on; empty if it can."""
    os.environ[PROJECT_VARIABLE] = sender.project
    own = Path(sender.folder, sender.layout)
    if code_of(str(own) if sender.layout.endswith(".toml") and own.is_file() else sender.layout) != sender.code:
        return "has another version of Perfledger, or of the layout; install the same"
    missing = (each for each in sender.paths if not os.path.lexists(Path(sender.folder, each)))
    return next((f"has no {each}; share the folder under this path" for each in missing), "")


def read_batch(jobs: Sequence[ReadingJob], sender: Sender) -> list[FolderRead]:
    """Return what each job gives; called on a worker, which may have joined after the comparison.

    Raises:
        UsageError: the worker cannot read the logs of the sender.
    """
    if why := refusal(sender):
        raise UsageError(f"a worker {why}")
    # Logs in stores need no folder that all workers share.
    folder = sender.folder if Path(sender.folder).is_dir() else None
    return [*Processes(1, fresh=True, folder=folder).read(jobs)]
