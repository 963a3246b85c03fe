"""`launch.json`: where a run was started, and all that was known of it then; there before anything starts.

With it any runner can attend the run and finish it, long after the one that started it is gone. A folder that holds it
and no `run.json` is unfinished. Whoever attends a run holds a lock on its file.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from runners.cases.parts import Records
from runners.errors import RunnerError

NAME = "launch.json"
SCHEMA = "perfledger.launch/1"
#: Where the nodes' files are until the run is finished.
INCOMING = "incoming"


class AttendedError(RunnerError):
    """Another runner attends this run."""


def document(job: Mapping[str, Any], plan: Mapping[str, Any], records: Records) -> dict[str, Any]:
    """The content of `launch.json`."""
    wanted = {"format": records.format, "at_least": records.at_least, "node": records.node}
    return {"schema": SCHEMA, "job": job, "plan": plan, "records": wanted}


def lock(file: IO[str], folder: Path) -> None:
    """Makes a run ours until the file is closed, as it is where that fails; AttendedError where it is another's."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise AttendedError(f"{folder}: another runner attends this run; it is left to that one") from error
    except OSError as error:
        file.close()
        message = (
            f"{folder}: its file system keeps no locks: {error.strerror}; name a folder on another with --raw-logs"
        )
        raise RunnerError(message) from error


@contextmanager
def attended(folder: Path) -> Iterator[dict[str, Any]]:
    """The content of a folder's `launch.json`, which is ours alone meanwhile.

    Raises AttendedError where another runner attends the run, RunnerError where the file cannot be read.
    """
    path = folder / NAME
    try:
        file = path.open("r+", encoding="utf-8")
    except OSError as error:
        raise RunnerError(
            f"{path}: it cannot be opened: {error.strerror}; name the folder of an unfinished run"
        ) from error
    with file:
        lock(file, folder)
        yield _read(path, file)


def _read(path: Path, file: IO[str]) -> dict[str, Any]:
    try:
        content = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise RunnerError(f"{path}: it cannot be read: {error}; what lies beside it is as it was") from error
    if not _fits(content):
        raise RunnerError(f"{path}: it is no {SCHEMA}: another version of Perfledger made it, or it was changed since")
    return dict(content)


def _fits(content: object) -> bool:
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        return False
    job, plan, records = (content.get(key) for key in ("job", "plan", "records"))
    if not isinstance(job, dict) or not isinstance(plan, dict) or not isinstance(records, dict):
        return False
    kinds = {"format": str, "at_least": int, "node": str}
    return isinstance(plan.get("case"), dict) and all(type(records.get(key)) is kind for key, kind in kinds.items())


def unfinished(raw_logs: Path) -> list[Path]:
    """The folders that hold a `launch.json`, sorted: of runs that are not finished, or all but the last clearing up."""
    found: list[Path] = []
    for folder, below, names in os.walk(raw_logs):
        if NAME in names:
            found.append(Path(folder))
            below.clear()
        below[:] = [name for name in below if not name.startswith(".")]
    return sorted(found)
