"""One batch of jobs on a worker of a cluster, which a process of its own reads.

That process has a main thread, which alone can hold a log to its budget of time; and what kills it does not kill the
worker.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from perfledger import PROJECT_VARIABLE
from perfledger.ingest.common.errors import UsageError
from perfledger.ingest.common.processes import Worker
from perfledger.ingest.record.ledger import code_of
from perfledger.ingest.record.reading import ReadingJob, on_processes


@dataclass(frozen=True)
class LogBatch:
    """What is read together, in the folder that paths start from; `code` is that of who sent it."""

    jobs: tuple[ReadingJob[Any], ...]
    layout: str
    folder: str
    code: str

    @classmethod
    def made(cls, jobs: Sequence[ReadingJob[Any]]) -> LogBatch:
        """Return a batch of this program and this folder; all jobs are of one layout."""
        layout = jobs[0].layout
        return cls(tuple(jobs), layout, os.getcwd(), code_of(layout))  # noqa: PTH109

    def of(self, job: ReadingJob[Any]) -> LogBatch:
        """Return a batch of one of the jobs."""
        return replace(self, jobs=(job,))


@dataclass(frozen=True)
class WorkerState:
    """What a worker says before it reads: the hash of its code, and which of the paths it does not have."""

    code: str
    missing: tuple[str, ...]


def prepared(project: str, folder: str, layout: str, paths: Sequence[str]) -> WorkerState:
    """Return the state of this worker, which reads with the user's project from now on."""
    os.environ[PROJECT_VARIABLE] = project
    return stated(folder, layout, paths)


def stated(folder: str, layout: str, paths: Sequence[str]) -> WorkerState:
    """Return the state of a process for logs in a folder; without the folder all paths are missing."""
    own = Path(folder, layout)
    code = code_of(str(own) if layout.endswith(".toml") and own.is_file() else layout)
    return WorkerState(code, tuple(each for each in paths if not os.path.lexists(Path(folder, each))))


def read(given: LogBatch) -> list[Any]:
    """Return what each job reads.

    Raises:
        UsageError: what no log can cause.
    """
    # Logs in stores need no folder that all workers share.
    folder = given.folder if Path(given.folder).is_dir() else None
    work = partial(_read_by_same_code, given.layout, given.code)
    return [*on_processes(1, given.jobs, start=partial(Worker, work, anew=True, folder=folder))]


def _read_by_same_code(layout: str, code: str, job: ReadingJob[Any]) -> Any:
    if code_of(layout) != code:
        raise UsageError("a worker has another version of Perfledger, or of the layout; install the same")
    return job.read()
