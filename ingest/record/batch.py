"""One batch of jobs on a worker of a cluster: `read` starts a process, which is this module run as a program.

A process of its own has a main thread, which alone can hold a log to its budget of time; and what kills it is told from
what kills the worker.
"""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote_from_bytes, unquote_to_bytes

import msgspec
from msgspec import Struct

from ingest.common import processes
from ingest.common.errors import UsageError
from ingest.record.ledger import ReadingJob, Shard, code_of, one_by_one
from ingest.record.remote import RemoteRead, StoredFolder
from parsers.contract import FormatError
from schema.records import Run, from_text, text_of

_TOP = Path(__file__).resolve().parents[2]


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


class AskedBatch(Struct, frozen=True):
    """A batch as JSON: all its jobs are of one kind."""

    layout: str
    code: str
    shards: tuple[Shard, ...] = ()
    stored: tuple[StoredFolder, ...] = ()


class BatchAnswer(Struct, frozen=True):
    """What a batch gave, job by job; otherwise what is wrong, and with `fault` it is one of ours."""

    shards: list[list[Run]] = []
    stored: list[RemoteRead] = []
    error: str = ""
    fault: bool = False


@dataclass(frozen=True)
class WorkerState:
    """What a worker says before it reads: the hash of its code, and which of the paths it does not have."""

    code: str
    missing: tuple[str, ...]


def stated(folder: str, layout: str, paths: Sequence[str]) -> WorkerState:
    """Return the state of this worker for logs in a folder; without the folder all paths are missing."""
    own = Path(folder, layout)
    code = code_of(str(own) if layout.endswith(".toml") and own.is_file() else layout)
    return WorkerState(code, tuple(each for each in paths if not os.path.lexists(Path(folder, each))))


def read(given: LogBatch) -> list[Any]:
    """Return what each job reads, in another process; of one that kills it, a problem of each log.

    Raises:
        UsageError: what the process met that no log can cause.
    """
    found = _in_process(given)
    if found is not None:
        return found
    alone = ((each, _in_process(given.of(each))) for each in given.jobs)
    return [each.killed() if told is None else told[0] for each, told in alone]


def _in_process(given: LogBatch) -> list[Any] | None:
    """Return what a process reads of a batch; None if it was killed."""
    path = os.pathsep.join(filter(None, [str(_TOP), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", __name__]
    # Logs in stores need no folder that all workers share.
    folder = given.folder if Path(given.folder).is_dir() else None
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
    ) as process:  # in a group of its own: Ctrl-C is for the command, which then ends its workers
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            # Kept open: its end tells the process that the worker is gone.
            process.stdin.write(_document(given) + b"\n")
            process.stdin.flush()
            told = process.stdout.read()
        except BrokenPipeError:
            told = b""
        finally:
            process.stdin.close()
    if process.returncode < 0:
        return None
    if process.returncode or not told:
        raise UsageError(f"a worker could not start {' '.join(command)}: it ended with {process.returncode}")
    answer = from_text(told, BatchAnswer)
    if answer.error:
        raise RuntimeError(answer.error) if answer.fault else UsageError(answer.error)
    return [*answer.shards, *answer.stored]


def _document(given: LogBatch) -> bytes:
    """Return a batch as one line of JSON."""
    shards = tuple(each for each in given.jobs if isinstance(each, Shard))
    stored = tuple(each for each in given.jobs if isinstance(each, StoredFolder))
    return msgspec.json.encode(AskedBatch(given.layout, given.code, shards, stored), enc_hook=_written)


def _written(value: object) -> str:
    """Return a path as text; its bytes need not be UTF-8."""
    if isinstance(value, Path):
        return quote_from_bytes(os.fsencode(value))
    raise NotImplementedError(type(value).__name__)


def _path(kind: type, value: Any) -> Any:
    if issubclass(kind, Path):
        return Path(os.fsdecode(unquote_to_bytes(value)))
    raise NotImplementedError(kind.__name__)


def main() -> None:
    """Read the batch of the standard input, and write what it gives to the standard output."""
    given = msgspec.json.decode(sys.stdin.buffer.readline(), type=AskedBatch, dec_hook=_path)
    processes.keep_objects()
    Thread(target=_end_with_worker, daemon=True).start()
    sys.stdout.write(text_of(_answer(given)))
    sys.stdout.flush()
    os._exit(0)  # the thread still waits for the worker, and Python would not end over it


def _answer(given: AskedBatch) -> BatchAnswer:
    try:
        if code_of(given.layout) != given.code:
            raise UsageError("a worker has another version of Perfledger, or of the layout; install the same")
        return BatchAnswer([*one_by_one(given.shards)], [*one_by_one(given.stored)])
    except (UsageError, FormatError, ImportError) as error:
        return BatchAnswer(error=f"{error}")
    except Exception:
        return BatchAnswer(error=traceback.format_exc(), fault=True)


def _end_with_worker() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main()
