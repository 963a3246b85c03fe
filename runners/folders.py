"""Folders of runs: `launch.json` of an unfinished one, `run.json` of a finished one, and the next number of a case.

`launch.json` says where a run was started. It is written before the run starts, so that any runner can finish it. The
runner that supervises a run locks the file.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from perfledger.runners.job import PlannedRecord, PlannedRun, RequiredRecords, RunnerError
from perfledger.runners.nodes import LOG, printable
from perfledger.runners.slurm import Slurm
from perfledger.runners.ssh import Ssh
from perfledger.runners.transport import INCOMING, JobFacts, Local
from perfledger.schema.records import Node, Stated
from perfledger.schema.run_json import RunJson, told_apart

LAUNCH_JSON = "launch.json"
RUN_JSON = "run.json"
#: Facts of a machine by their keys in `environment.json`, which the agent chooses.
Facts = Mapping[str, Stated]
#: Outcomes after which a run is not repeated: its figure is known, or that its memory does not suffice.
SETTLED_OUTCOMES = ("completed", "oom")
#: Bytes at the end of a log that are searched for its last line.
_LAST_BYTES = 1 << 16
#: Characters of the last line that a message shows.
_LAST_LINE = 200
#: The targets that `launch.json` can name.
AnyTarget = Local | Ssh | Slurm
#: Attempts to get a lock that another process has.
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
        # Logs may come from someone else, so each type checks its values.
        try:
            if (folder / INCOMING).is_symlink():
                raise ValueError(f"{INCOMING} in its folder is a link, which could lead anywhere")
            found = msgspec.json.decode(file.read(), type=Launch)
        except (OSError, ValueError, RecursionError) as error:
            why = f"it is not a launch.json of this version of Perfledger: {error}"
            raise RunnerError(f"{path}: {why}; nothing in its folder was changed") from error
        yield found


def lock(file: IO[str], folder: Path) -> None:
    """Lock the run until `file` is closed; close it on failure."""
    try:
        # A process that a killed runner was about to start keeps its lock for a moment.
        for attempt in range(_LOCK_ATTEMPTS):
            time.sleep(_LOCK_SECONDS if attempt else 0)
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
    except OSError as error:
        file.close()
        message = f"{folder}: its file system does not support locks: {error.strerror}; choose another with --raw-logs"
        raise RunnerError(message) from error
    file.close()
    raise SupervisedError(f"{folder}: another runner supervises this run; it is left to that one")


def is_disturbed(run: RunJson) -> bool:
    """Return whether no result counts a run, because something else ran on its hosts."""
    return bool(told_apart(run.warnings or (), run.disturbances)[1]) and not run.accept_disturbed


def how_it_ended(folder: Path, run: RunJson) -> str:
    """Return how a run ended that did not complete: node, exit status, and the last line of the node's log."""
    nodes = [each for each in run.nodes or () if each.outcome == run.outcome]
    node = nodes[0] if nodes else Node(".", run.outcome, run.exit_status)
    said = [f"node {run.nodes.index(node)}"] if nodes and run.nodes else []
    said += [] if node.exit_status is None else [f"exit status {node.exit_status}"]
    lines: list[str] = []
    with suppress(OSError), (folder / node.folder / LOG).open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - _LAST_BYTES))
        lines = [line for each in log.read().decode("utf-8", "replace").splitlines() if (line := printable(each))]
    return ": ".join(filter(None, [", ".join(said), lines[-1][:_LAST_LINE] if lines else "its log is empty"]))


def finished_run(folder: Path) -> RunJson:
    """Read the `run.json` of a run, with the number of its folder; raise RunnerError if it is not valid."""
    try:
        found = msgspec.json.decode((folder / RUN_JSON).read_bytes(), type=RunJson)
        return replace(found, repeat=int(folder.name))
    except (OSError, ValueError, RecursionError) as error:
        raise RunnerError(f"{folder / RUN_JSON}: it is not valid: {error}; mend the recipe and run it again") from error


def finished_runs(case_folder: Path) -> list[RunJson]:
    """Return the finished runs of a case by number, without those whose `run.json` cannot be read."""
    found = []
    for path in case_folder.glob(f"*/{RUN_JSON}"):
        with suppress(RunnerError):
            found.append(finished_run(path.parent))
    return sorted(found, key=lambda run: run.repeat or 0)


def next_repeat(case_folder: Path) -> int:
    """Return the next free number of a case; unfinished runs keep theirs, too."""
    try:
        taken = [int(path.name) for path in case_folder.iterdir() if path.name.isdecimal()]
    except (FileNotFoundError, NotADirectoryError):
        return 1
    return max(taken, default=0) + 1


@contextmanager
def run_folder(run: PlannedRun, target: AnyTarget) -> Iterator[tuple[PlannedRun, Launch]]:
    """Make the folder of a run, with its `launch.json` in it, and lock the run.

    Yields the run with its final number: the next free one if another runner took the planned one.

    Raises:
        RunnerError: the folder cannot be made.
    """
    launched = planned_launch(target, run)
    try:
        while True:
            with suppress(FileExistsError):
                run.folder.mkdir(parents=True)
                break
            number = next_repeat(run.folder.parent)
            run = replace(run, record=replace(run.record, repeat=number), folder=run.folder.parent / str(number))
        launched = replace(launched, plan=run.record)
        file = _locked_launch(run.folder, launched)
    except (OSError, RunnerError) as error:
        remove_refused(run.folder)
        if isinstance(error, RunnerError):
            raise
        raise RunnerError(
            f"{run.folder}: it cannot be made: {error.strerror}; make room there, or choose another with --raw-logs"
        ) from error
    with file:
        yield run, launched


def _locked_launch(folder: Path, launched: Launch) -> IO[str]:
    """Write `launch.json`, and return it locked."""
    # Under its name once it is complete and locked, or another runner could take the run.
    partial = folder / f".{LAUNCH_JSON}"
    file = partial.open("w", encoding="utf-8")
    lock(file, folder)
    json.dump(msgspec.to_builtins(launched), file, indent=1, ensure_ascii=False)
    file.flush()
    os.fsync(file.fileno())
    partial.rename(folder / LAUNCH_JSON)
    return file


def remove_refused(folder: Path) -> None:
    """Remove the folder of a refused run, and those around it that are empty then, unless it has a log.

    No log is ever deleted.
    """
    if any(path.stat().st_size for path in folder.rglob(LOG)):
        return
    shutil.rmtree(folder, ignore_errors=True)
    # Those of its case, its framework, its suite, and of all logs.
    for parent in folder.parents[:4]:
        try:
            parent.rmdir()
        except OSError:
            return
