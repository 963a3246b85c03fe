"""Setup steps on nodes, and the records that a node writes about a run.

A node's words about itself are not trusted: files are verified against their hashes.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Literal, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from perfledger.runners.agent_link import MARK, question
from perfledger.runners.job import RunnerError, VirtualEnvironment, Word
from perfledger.runners.programs import LONGEST, contents, holding, start

T = TypeVar("T")

#: How long setup steps may take to end after Ctrl-C.
SETUP_GRACE_SECONDS = 10


def printable(text: str) -> str:
    """Return text of a host on one line, without anything that would move the cursor of a terminal."""
    return "".join(character if character.isprintable() else " " for character in text).strip()


# --- Setup steps ------------------------------------------------------------------------------------------------------


class _SetupHost(Struct, frozen=True):
    """A host that runs setup steps; `errors` has the messages of ssh."""

    host: str
    process: subprocess.Popen[bytes]
    errors: IO[bytes]


class SetupSteps(Struct, frozen=True, kw_only=True):
    """The steps of `setup` on a host: make the recipe's Python environment, if it has one, and run the steps inside it.

    `python` is what the environment is made of, `lock` the text of a requirements file with hashes that is installed
    first; `prologue` and `variables` are the site's; `enter` are the words that run a step in an image.
    """

    steps: tuple[str, ...]
    work: str = ""
    virtual_environment: VirtualEnvironment | None = None
    python: str = "python"
    lock: str = ""
    prologue: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    enter: tuple[Word, ...] = ()


def set_up(places: Mapping[str, Sequence[str]], wanted: SetupSteps) -> None:
    """Run setup steps on all hosts, print their output after the host's name, and end them on Ctrl-C.

    `places` are the commands that run the agent, by host.

    Raises:
        RunnerError: a step failed; the message names all hosts on which one did.
    """
    # The readers are in the outer context, since they end when the programs do.
    with ThreadPoolExecutor(len(places)) as readers, ExitStack() as stack:
        started = [_begin_setup(host, argv, wanted, stack) for host, argv in places.items()]
        failures = [failure for failure in readers.map(_setup_failure, started) if failure]
    if failures:
        raise RunnerError("\n".join(failures))


def _begin_setup(host: str, argv: Sequence[str], wanted: SetupSteps, stack: ExitStack) -> _SetupHost:
    asked = question(argv, "setup", with_agent=True, **asdict(wanted))
    errors = stack.enter_context(holding(""))
    process = stack.enter_context(start(argv, subprocess.PIPE, subprocess.PIPE, errors))
    stack.callback(_end_setup, process)
    if process.stdin:
        # An unreachable host reads nothing, and its exit status shows that.
        with suppress(BrokenPipeError):
            process.stdin.write(os.fsencode(asked))
            process.stdin.flush()
    return _SetupHost(host, process, errors)


def _setup_failure(setup: _SetupHost) -> str:
    """Print the output of a host; return why its steps failed, empty if they did not."""
    for line in setup.process.stdout or ():
        text = line.decode(errors="replace").rstrip("\n")
        if refusal := _refusal(text):
            return f"{setup.host}: {refusal}"
        if text and not text.startswith(MARK + "{"):
            print(f"{setup.host}: {printable(text)}", flush=True)
    if not (status := setup.process.wait()):
        return ""
    last = contents(setup.errors).strip().splitlines()[-1:]
    return f"{setup.host}: {': '.join([f'a setup step failed (exit status {status})', *last])}"


def _refusal(line: str) -> str:
    """Return what an agent refused, if a line is such an answer."""
    with suppress(ValueError, AttributeError):
        return str(json.loads(line.removeprefix(MARK)).get("refused", "")) if line.startswith(MARK + "{") else ""
    return ""


def _end_setup(process: subprocess.Popen[bytes]) -> None:
    """End a program by closing its standard input, so that the agent on the host ends its steps, too."""
    if process.stdin:
        with suppress(BrokenPipeError):
            process.stdin.close()
    try:
        process.wait(SETUP_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


# --- What a node wrote about itself -----------------------------------------------------------------------------------


HOST_JSON = "host.json"
LOG, ENVIRONMENT = "train.log", "environment.json"
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
    for name, stated in host.files.items() if host else ():
        path = folder / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            continue
        if not _is_plain(path):
            raise RunnerError(f"{path}: it is missing, and {folder / HOST_JSON} says it was written; collect again")
        if (found := digest(path)) != stated.sha256:
            raise RunnerError(
                f"{path}: its SHA-256 is {found}, and {folder / HOST_JSON} says {stated.sha256}: it was changed or "
                "damaged since it was written; compare it with the one on the host"
            )


def _is_plain(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink()
    except OSError:  # such a name cannot be that of a file here
        return False


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
