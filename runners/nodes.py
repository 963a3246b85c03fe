"""The records that a node writes about a run.

A node's words about itself are not trusted: files are verified against their hashes.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct

from perfledger.runners.job import RunnerError
from perfledger.runners.programs import LONGEST

T = TypeVar("T")


def printable(text: str) -> str:
    """Return text of a host on one line, without anything that would move the cursor of a terminal."""
    return "".join(character if character.isprintable() else " " for character in text).strip()


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


def verify(folder: Path) -> None:
    """Verify the files of a node against the hashes in its `host.json`, if there is one.

    Raises:
        RunnerError: a file is missing or has changed.
    """
    host = read_json(folder / HOST_JSON, HostRecord)
    stated = host.files if host else {}
    for name in filter(KEPT.fullmatch, stated):
        path = folder / name
        if path.is_symlink() or not path.is_file():
            raise RunnerError(f"{path}: it is missing, and {folder / HOST_JSON} says it was written; collect again")
        if (found := digest(path)) != stated[name].sha256:
            raise RunnerError(
                f"{path}: its SHA-256 is {found}, and {folder / HOST_JSON} says {stated[name].sha256}: it was changed "
                "or damaged since it was written; compare it with the one on the host"
            )


def read_json(path: Path, kind: type[T]) -> T | None:
    """Return the content of a JSON file; None if there is no file, or a link, which could point anywhere."""
    if path.is_symlink() or not path.is_file():
        return None
    if path.stat().st_size > LONGEST:
        raise RunnerError(f"{path}: it is larger than {LONGEST:,} bytes, so it is not read; the run stays unfinished")
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        raise RunnerError(
            f"{path}: it cannot be read: {error}; the run stays unfinished, and its log is kept"
        ) from error
