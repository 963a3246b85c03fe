"""The files of a node: they come here as a stream, completely or not at all.

A node is not trusted: only the files of a run are unpacked, and their number and size are limited.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Literal, TypeVar

import msgspec
from msgspec import Struct

from perfledger.runners.agent_link import MARK
from perfledger.runners.job import RunnerError
from perfledger.runners.programs import ProgramResult, Question, contents, end, start, text_file

T = TypeVar("T")

HOST_JSON = "host.json"
LOG = "train.log"
#: The files of a node that are kept; all others are dropped. Paddle's launcher dumps the user's whole environment next
#: to its logs, and a node that was lost cannot have removed that.
KEPT = re.compile(
    r"train\.log|telemetry(?:-host)?\.csv|environment\.json|ranks/paddle/(?:worker|server|trainer)log\.[0-9]+|"
    r"ranks(?!/paddle/)(?:/(?!\.)[\w.+=,@:-]{1,200}){1,8}",
    re.ASCII,
)
Outcome = Literal["stopped", "timeout", "oom", "failed", "completed"]
#: The longest line that a login may print before the files of a node, in bytes.
LONGEST_LINE = 1 << 16
#: Accepted bytes and files of a node: more than this is not the output of a run, and would fill our disk.
MOST_BYTES = 1 << 32
MOST_FILES = 10_000
#: How long a program may run on after its last byte.
CLOSING_SECONDS = 30


def printable(text: str) -> str:
    """Return text of a host on one line, without anything that would move the cursor of a terminal."""
    return "".join(character if character.isprintable() else " " for character in text).strip()


class FileRecord(Struct, frozen=True):
    """Hash and size of a file, as its node stated them."""

    sha256: str
    bytes: int


class HostRecord(Struct, frozen=True):
    """`host.json`: how a node ended. It is the last file that a node writes."""

    schema: Literal["perfledger.host/1"]
    outcome: Outcome
    files: dict[str, FileRecord]
    start: str | None = None
    end: str | None = None
    wall_seconds: float | None = None
    exit_status: int | None = None
    hardware: str = ""
    #: Accelerators that the node chose, and the variable that named them to its command; empty: all of the host.
    gpus: str = ""
    gpu_variable: str = "CUDA_VISIBLE_DEVICES"
    #: Facts of the machine that only the run could find; see `facts` in environment.json.
    facts: dict[str, str | int | float] = {}
    source: dict[str, str | bool] = {}
    warnings: tuple[str, ...] = ()
    disturbances: tuple[str, ...] = ()


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_json(path: Path, kind: type[T]) -> T | None:
    """Return the content of a JSON file; None if it is missing, or a link, which could point anywhere."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        raise RunnerError(
            f"{path}: it cannot be read: {error}; the run stays unfinished, and its log is kept"
        ) from error


def fetch_files(question: Question, there: Path, explained: Callable[[ProgramResult], str]) -> None:
    """Fetch the files of a node completely or not at all; do nothing if they are here already.

    Args:
        question: asks the agent of the node to send its files.
        there: its folder here.
        explained: returns why the node did not send them, and what to do.

    Raises:
        RunnerError: the host cannot be reached, or the connection breaks; files fetched earlier stay.
    """
    if (there / HOST_JSON).exists():
        return
    partial = there.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        _receive(question, partial, explained)
        shutil.rmtree(there, ignore_errors=True)
        partial.rename(there)
    except OSError as error:
        raise RunnerError(f"{there}: it cannot be written: {error.strerror}; make room, then collect again") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _receive(question: Question, folder: Path, explained: Callable[[ProgramResult], str]) -> None:
    with text_file(question.text) as asked, tempfile.TemporaryFile() as errors:
        process = start(question.argv, asked, subprocess.PIPE, errors)
        assert process.stdout is not None
        try:
            with process.stdout as stream:
                fault = unpack(stream, folder)
            with suppress(subprocess.TimeoutExpired):
                process.wait(CLOSING_SECONDS)
        finally:
            end(process)
        if process.returncode or fault:
            answer = ProgramResult(process.returncode, "", contents(errors) if process.returncode else fault)
            raise RunnerError(f"{explained(answer)}; nothing of it was kept here")


def unpack(stream: IO[bytes], folder: Path) -> str:
    """Unpack an archive; return what is wrong with it, empty if nothing is."""
    # The output of a login comes before the archive.
    head = (MARK + "{").encode()
    try:
        if not any(line.startswith(head) for line in iter(lambda: stream.readline(LONGEST_LINE), b"")):
            return "no files were sent"
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            archive.extractall(folder, _files_of_run(archive), filter="data")
    except tarfile.ReadError as error:
        return f"the archive is not complete: {error}"
    except (tarfile.TarError, ValueError, OverflowError, RecursionError) as error:
        return f"its files are refused: {error}"
    return ""


def _files_of_run(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    count, size = 0, 0
    for member in archive:
        # By the stated size: a sparse file is far longer than its part of the archive.
        count, size = count + 1, size + member.size
        if count > MOST_FILES or size > MOST_BYTES:
            raise ValueError(f"they are more than {MOST_FILES:,}, or take more than {MOST_BYTES:,} bytes")
        if member.isreg() and (member.name == HOST_JSON or KEPT.fullmatch(member.name)):
            yield member
