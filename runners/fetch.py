"""The files of a node come here as a stream, completely or not at all.

The node is not trusted: paths are checked, and the amount is limited.
"""

from __future__ import annotations

import errno
import io
import os
import posixpath
import select
import shutil
import subprocess
import tarfile
import tempfile
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

from perfledger.runners.agent_link import MARK, NOT_ASKED, SSH_FAILED, explain
from perfledger.runners.job import RunnerError
from perfledger.runners.nodes import HOST_JSON, LOG, verify
from perfledger.runners.programs import ProgramResult, contents, holding, start

#: The longest line that a login may print before the files of a node, in bytes.
LONGEST_LINE = 1 << 16
#: Accepted bytes and files of a node: more than this is not the output of a run, and would fill our disk.
MOST_BYTES = 1 << 32
MOST_FILES = 10_000
#: Accepted bytes of a header of the archive, which are read into memory.
LONGEST_HEADER = 1 << 20
#: How long a node that sends its files may be silent.
SILENT_SECONDS = 300
#: How long a program may run on after its last byte.
CLOSING_SECONDS = 30
REFUSED = "its files are refused"
#: Errors of our disk that a host can cause by the names of its files.
WRONG_NAMES = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ)


def fetch_files(argv: Sequence[str], host: str, text: str, there: Path, config: str = "") -> None:
    """Fetch the files of a node completely or not at all; do nothing if they are here already.

    Args:
        argv: runs the agent on the node.
        host: the name of the node in messages.
        text: the request to send its files.
        there: its folder here.
        config: the ssh configuration that was used in place of the user's own.

    Raises:
        RunnerError: the host cannot be reached, the connection breaks, or a hash differs; files fetched earlier stay.
    """
    _restore(there)
    if (there / HOST_JSON).exists():
        return verify(there)
    partial = there.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        _receive(argv, host, text, partial, config)
        verify(partial)
        _replace(there, partial)
    except OSError as error:
        raise RunnerError(f"{there}: it cannot be written: {error.strerror}; make room, then collect again") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return None


def _receive(argv: Sequence[str], host: str, text: str, folder: Path, config: str, again: bool = True) -> None:
    with holding(text) as asked, tempfile.TemporaryFile() as errors:
        process = start(argv, asked, subprocess.PIPE, errors)
        assert process.stdout is not None
        try:
            fault = unpack(io.BufferedReader(_Arriving(process.stdout)), folder)
        except BaseException:
            process.kill()
            raise
        finally:
            process.stdout.close()
            status = _closed(process)
        if fault.startswith(REFUSED):
            raise RunnerError(f"{host}: {fault}; nothing of it was kept here")
        if again and status == SSH_FAILED and NOT_ASKED in contents(errors):
            return _receive(argv, host, text, folder, config, again=False)
        if status or fault:
            answer = ProgramResult(status, "", contents(errors) if status else fault)
            raise RunnerError(f"{explain(host, answer, config)}; nothing of it was kept here")
    return None


def _closed(process: subprocess.Popen[bytes]) -> int:
    """Return the exit status of a program whose output was read; kill one that runs on without end."""
    with suppress(subprocess.TimeoutExpired):
        return process.wait(CLOSING_SECONDS)
    process.kill()
    return process.wait()


class _Arriving(io.RawIOBase):
    """The output of a program; a ValueError ends it if nothing comes for long, or if too much comes."""

    def __init__(self, output: IO[bytes]) -> None:
        self._number, self._left = output.fileno(), MOST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not select.select([self._number], [], [], SILENT_SECONDS)[0]:
            raise ValueError(f"nothing came for {SILENT_SECONDS} s")
        count = os.readv(self._number, [buffer])
        self._left -= count
        if self._left < 0:
            raise ValueError(f"it is longer than {MOST_BYTES:,} bytes")
        return count


def unpack(stream: IO[bytes], folder: Path) -> str:
    """Unpack an archive; return what is wrong with it, empty if nothing is."""
    # The output of a login comes before the archive.
    head = (MARK + "{").encode()
    try:
        if not any(line.startswith(head) for line in iter(lambda: stream.readline(LONGEST_LINE), b"")):
            return "no files were sent"
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header) as archive:
            archive.extractall(folder, filter=_Accepted())
    except tarfile.ReadError as error:
        return f"the archive is not complete: {error}"
    except (tarfile.TarError, ValueError, OverflowError, RecursionError) as error:
        return f"{REFUSED}: {error}"
    except OSError as error:
        if error.errno not in WRONG_NAMES:
            raise
        return f"{REFUSED}: {error.strerror}: {Path(str(error.filename)).name}"
    return ""


class _Header(tarfile.TarInfo):
    """A header of an archive; what tarfile would read into memory because of it is limited."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        found = super().frombuf(buf, encoding, errors)
        if found.type not in (*tarfile.REGULAR_TYPES, tarfile.DIRTYPE) and found.size > LONGEST_HEADER:
            raise ValueError(f"a header of it takes {found.size:,} bytes")
        return found


class _Accepted:
    """The filter of an archive: regular files and folders below ours, limited in number and size, each name once.

    Links and other names could lead out of the folder. Names that differ only in case or in the form of their accents
    are one file on some disks, where the second would overwrite the first.
    """

    def __init__(self) -> None:
        self._count, self._bytes = 0, 0
        self._names: set[str] = set()

    def __call__(self, member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
        self._count += 1
        if self._count > MOST_FILES:
            raise ValueError(f"it holds more than {MOST_FILES:,} files")
        if not (member.isreg() or member.isdir()):
            return None
        # By the stated size: a sparse file is far longer than its part of the archive.
        self._bytes += member.size
        if self._bytes > MOST_BYTES:
            raise ValueError(f"its files take more than {MOST_BYTES:,} bytes")
        accepted = tarfile.data_filter(member, path)
        name = unicodedata.normalize("NFC", posixpath.normpath(accepted.name)).casefold()
        if name in self._names:
            raise ValueError(f"{member.name!r} would overwrite another of its files")
        self._names.add(name)
        return accepted


def _replace(there: Path, partial: Path) -> None:
    """Replace an earlier, incomplete copy; refuse if its log is longer, since a log can only grow."""
    before = there.with_suffix(".before")
    if there.exists():
        if _size(partial / LOG) < _size(there / LOG):
            raise RunnerError(f"{there}: its train.log is longer than the one on the host now; nothing was overwritten")
        shutil.rmtree(before, ignore_errors=True)
        there.rename(before)
    partial.rename(there)
    shutil.rmtree(before, ignore_errors=True)


def _restore(there: Path) -> None:
    """Put the earlier copy back if we were killed while replacing it."""
    before = there.with_suffix(".before")
    if before.exists() and not there.exists():
        before.rename(there)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
