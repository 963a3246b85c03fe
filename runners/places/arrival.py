"""Brings the folder of a job's node home, whole or not at all, and holds it to the hashes that the node wrote down."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from runners.errors import RunnerError
from runners.places import nodes
from runners.places.ask import Answer, holding, read, start
from runners.places.placed import Job
from runners.places.remedies import explain

# Of tar: a file that was still growing. What it came to is sent all the same.
GREW = 1
# What a login may print before the files, in bytes of a line.
LONGEST_LINE = 1 << 16


def bring(job: Job, rank: int) -> None:
    """A node's folder, from its host to `incoming/node<k>`; one that is there whole is left as it is.

    Raises RunnerError where the host cannot be reached, the connection breaks off, or a hash is not right; what was
    brought before stays then.
    """
    there = job.node(rank)
    _restore(there)
    if (there / "host.json").exists():
        return verify(there)
    partial = there.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        _receive(job, rank, partial)
        verify(partial)
        _replace(there, partial)
    except OSError as error:
        raise RunnerError(f"{there}: it cannot be written: {error.strerror}; make room, then collect again") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return None


def verify(folder: Path) -> None:
    """Holds every file to the hash that `host.json` states; RunnerError for one that is missing or another.

    Without a `host.json` nothing is stated: the node did not come to its end.
    """
    record = folder / "host.json"
    if not record.exists():
        return
    for name, stated in _stated(record).items():
        path = folder / name
        if not path.is_file() or path.is_symlink():
            raise RunnerError(f"{path}: it is missing, and {record} says it was written; collect again")
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != stated.get("sha256"):
            raise RunnerError(
                f"{path}: its SHA-256 is {found}, and {record} says {stated.get('sha256')}: it was changed or damaged "
                "since it was written; compare it with the one on the host"
            )


def _stated(record: Path) -> Mapping[str, Mapping[str, Any]]:
    try:
        stated = json.loads(record.read_text(encoding="utf-8"))["files"]
        if all(isinstance(each, dict) for each in stated.values()):
            return {name: each for name, each in stated.items() if _inside(name)}
    except (ValueError, KeyError, AttributeError, TypeError):
        pass
    raise RunnerError(f"{record}: it is not the record of a run; see what wrote it")


def _inside(name: str) -> bool:
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts


def _receive(job: Job, rank: int, folder: Path) -> None:
    with holding(nodes.program(job, rank, "send", {})) as text, tempfile.TemporaryFile() as errors:
        process = start(nodes.argv(job, rank), text, subprocess.PIPE, errors)
        assert process.stdout is not None
        try:
            fault = _unpack(process.stdout, folder)
        except BaseException:
            process.kill()
            raise
        finally:
            process.stdout.close()
            status = process.wait()
        if status not in (0, GREW) or fault:
            answer = Answer(status, "", read(errors) or fault)
            raise RunnerError(f"{explain(nodes.name(job, rank), answer)}; nothing of it was kept here")


def _unpack(stream: IO[bytes], folder: Path) -> str:
    """Writes the files of a tar stream, and returns what was wrong with it; empty where nothing was."""
    # Whatever a login prints comes first.
    if not any(line == b"perfledger files\n" for line in iter(lambda: stream.readline(LONGEST_LINE), b"")):
        return "no files came"
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            archive.extractall(folder, filter=_plain)
    except (tarfile.TarError, ValueError, OverflowError) as error:
        return f"what came is no whole archive: {error}"
    return ""


def _plain(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
    """Files and folders below the folder only: a host is not trusted with links or names that lead elsewhere."""
    return tarfile.data_filter(member, path) if member.isreg() or member.isdir() else None


def _replace(there: Path, partial: Path) -> None:
    """Puts a copy in place of an earlier one of a job that had not ended; the log can only have grown."""
    before = _before(there)
    if there.exists():
        if _size(partial / "train.log") < _size(there / "train.log"):
            raise RunnerError(f"{there}: its train.log is longer than the one on the host now; nothing was overwritten")
        shutil.rmtree(before, ignore_errors=True)
        there.rename(before)
    partial.rename(there)
    shutil.rmtree(before, ignore_errors=True)


def _restore(there: Path) -> None:
    """The earlier copy, where we were killed just before the new one took its place."""
    if _before(there).exists() and not there.exists():
        _before(there).rename(there)


def _before(there: Path) -> Path:
    return there.with_suffix(".before")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
