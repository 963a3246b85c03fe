"""`launch.json`: where a run was started, written before it starts, so that any runner can finish it.

A folder that has this file and no `run.json` is unfinished. The runner that supervises a run locks the file.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Literal

import msgspec
from msgspec import Struct

from perfledger.runners.job import PlannedRecord, PlannedRun, RequiredRecords, RunnerError
from perfledger.runners.slurm import Slurm
from perfledger.runners.ssh import Ssh
from perfledger.runners.transport import INCOMING, JobFacts, Local

LAUNCH_JSON = "launch.json"
#: Where a run can be started.
AnyTarget = Local | Ssh | Slurm
#: How often a lock that another process has is tried.
_LOCK_ATTEMPTS = 5
#: Seconds between two attempts.
_LOCK_SECONDS = 0.2


class SupervisedError(RunnerError):
    """Another runner supervises this run."""


class Launch(Struct, frozen=True):
    """The content of `launch.json`: where a run was started, and the record known beforehand."""

    schema: Literal["perfledger.launch/1"]
    target: AnyTarget
    job: JobFacts
    plan: PlannedRecord
    records: RequiredRecords

    def __post_init__(self) -> None:
        if self.job.nodes > len(self.target.ranks):
            raise ValueError(f"its job takes {self.job.nodes} nodes, and its target has {len(self.target.ranks)}")


def planned_launch(target: AnyTarget, run: PlannedRun) -> Launch:
    """Return the content of `launch.json` for a run."""
    return Launch("perfledger.launch/1", target, target.prepare(run).facts, run.record, run.wanted)


def unfinished(raw_logs: Path) -> list[Path]:
    """Return the folders with a `launch.json`, sorted: their runs are unfinished or not cleared up."""
    found: list[Path] = []
    for folder, below, names in os.walk(raw_logs):
        if LAUNCH_JSON in names:
            found.append(Path(folder))
            below.clear()
        below[:] = [name for name in below if not name.startswith(".")]
    return sorted(found)


@contextmanager
def open_launch(folder: Path) -> Iterator[Launch]:
    """Lock the run of a folder and yield its `launch.json`.

    Raises:
        SupervisedError: another runner supervises the run.
        RunnerError: the file cannot be read.
    """
    path = folder / LAUNCH_JSON
    try:
        file = path.open("r+", encoding="utf-8")
    except OSError as error:
        raise RunnerError(
            f"{path}: it cannot be opened: {error.strerror}; name the folder of an unfinished run"
        ) from error
    with file:
        lock(file, folder)
        yield _read(path, file)


def _read(path: Path, file: IO[str]) -> Launch:
    # The file is not trusted, since the logs may come from someone else: each type checks its own values.
    try:
        found = msgspec.json.decode(file.read(), type=Launch)
        _refuse_what_came_with_it(path.parent, found.target)
    except (OSError, ValueError, RecursionError) as error:
        raise RunnerError(
            f"{path}: it is not a launch.json of this version of Perfledger: {error}; nothing in its folder was changed"
        ) from error
    return found


def _refuse_what_came_with_it(folder: Path, target: AnyTarget) -> None:
    """Refuse what would run a program from among the logs, or write outside them."""
    if (folder / INCOMING).is_symlink():
        raise ValueError(f"{INCOMING} in its folder is a link")
    # A run's folder is the fourth below the raw logs: suite, framework, case, repeat.
    top = folder.resolve().parents[min(3, len(folder.resolve().parents) - 1)]
    if isinstance(target, Ssh) and target.config and Path(target.config).resolve().is_relative_to(top):
        raise ValueError("its ssh configuration, which can start programs, is inside the log folder")


def _locked(file: IO[str]) -> bool:
    # A process that a killed runner was about to start keeps its lock for a moment.
    for attempt in range(_LOCK_ATTEMPTS):
        time.sleep(_LOCK_SECONDS if attempt else 0)
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def lock(file: IO[str], folder: Path) -> None:
    """Lock the run until `file` is closed; close it on failure."""
    try:
        if not _locked(file):
            file.close()
            raise SupervisedError(f"{folder}: another runner supervises this run; it is left to that one")
    except OSError as error:
        file.close()
        message = f"{folder}: its file system does not support locks: {error.strerror}; choose another with --raw-logs"
        raise RunnerError(message) from error
