"""What the nodes of a job are asked, and the files that they wrote.

Programs run in parallel; a request reaches the agent of a node as one line of JSON; its files are fetched and verified.
What a node writes about itself is not trusted: paths are checked, and files are verified against their hashes.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import posixpath
import select
import shlex
import shutil
import subprocess
import tarfile
import tempfile
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal, Self, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from perfledger.runners.agent_link import MARK, question, with_archive
from perfledger.runners.job import RunnerError, VirtualEnvironment, Word

T = TypeVar("T")

NO_ANSWER = 124
#: The longest output of a program that is read, in bytes.
LONGEST = 1 << 24
#: The longest line that a login may print before the files of a node, in bytes.
LONGEST_LINE = 1 << 16
#: What is accepted of a node: more than this is not the output of a run, and would fill our disk or our memory.
MOST_BYTES, MOST_FILES, LONGEST_HEADER = 1 << 32, 10_000, 1 << 20
#: How long a node that sends its files may be silent.
SILENT_SECONDS = 300
#: How long a program may run on after its last byte.
CLOSING_SECONDS = 30
REFUSED = "its files are refused"
#: Errors of our disk that a host can cause by the names of its files.
WRONG_NAMES = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ)
#: SLURM_* variables that the user sets; all others describe the allocation we were started in, and are dropped.
USERS_SLURM_VARIABLES = ("SLURM_CLUSTERS", "SLURM_CONF", "SLURM_JWT")
#: How long setup steps may take to end after Ctrl-C.
SETUP_GRACE_SECONDS = 10


# --- Running programs in parallel -------------------------------------------------------------------------------------


class Question(Struct, frozen=True):
    """A command line, and its standard input."""

    argv: Sequence[str]
    text: str = ""


class ProgramResult(Struct, frozen=True):
    """Exit status, NO_ANSWER after a timeout, and what was printed; invalid UTF-8 is replaced."""

    status: int
    output: str
    errors: str

    @property
    def last_words(self) -> str:
        """The last line of standard error."""
        return (self.errors.strip().splitlines() or [""])[-1].strip()


class _RunningProgram(Struct, frozen=True):
    """A running program, and the files that it writes into.

    Files instead of pipes: older ssh clients pass our standard error on to the background process that keeps the
    connection open, and a pipe would not end before that process does.
    """

    process: subprocess.Popen[bytes]
    output: IO[bytes]
    errors: IO[bytes]

    def over(self) -> bool:
        """Return whether it has ended; kill one that prints without end, since it would fill our disk."""
        if self.endless():
            end(self.process)
        return self.process.poll() is not None

    def endless(self) -> bool:
        """Return whether it has printed too much."""
        return any(os.fstat(file.fileno()).st_size > LONGEST for file in (self.output, self.errors))

    def answer(self) -> ProgramResult:
        """Return the answer; NO_ANSWER if the program did not end by itself."""
        status = self.process.poll()
        stopped = status is None or self.endless()
        end(self.process)
        return ProgramResult(
            NO_ANSWER if status is None or stopped else status, contents(self.output), contents(self.errors)
        )


def ask(questions: Sequence[Question], seconds: float) -> list[ProgramResult]:
    """Run all programs and return their answers in order; kill those that run for longer than `seconds`.

    Raises:
        RunnerError: a program is not installed here; the others are killed, as on Ctrl-C.
    """
    deadline, step = time.monotonic() + seconds, 0.001
    with ExitStack() as stack:
        asked = [_started(question, stack) for question in questions]
        left = asked
        while left and time.monotonic() < deadline:
            left = [each for each in left if not each.over()]
            time.sleep(step if left else 0)
            step = min(2 * step, 0.05)
        return [each.answer() for each in asked]


def _started(question: Question, stack: ExitStack) -> _RunningProgram:
    output, errors = (stack.enter_context(holding("")) for _ in range(2))
    process = start(question.argv, stack.enter_context(holding(question.text)), output, errors)
    stack.callback(end, process)
    return _RunningProgram(process, output, errors)


def start(
    argv: Sequence[str], text: int | IO[bytes], output: int | IO[bytes], errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, so that Ctrl-C reaches us alone.

    Raises:
        RunnerError: it is not installed.
    """
    # Variables of the allocation that we may have been started in would override those of the target.
    variables = {
        name: value
        for name, value in os.environ.items()
        if name in USERS_SLURM_VARIABLES or not name.startswith(("SLURM_", "PMI_", "PMIX_"))
    }
    try:
        return subprocess.Popen(argv, stdin=text, stdout=output, stderr=errors, start_new_session=True, env=variables)
    except OSError as error:
        message = f"{argv[0]}: it cannot be started here: {error.strerror}; install it or put it on PATH"
        raise RunnerError(message) from error


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program that still runs."""
    if process.poll() is None:
        process.kill()
        process.wait()


@contextmanager
def holding(text: str) -> Iterator[IO[bytes]]:
    """Yield a temporary file that holds `text`, at its beginning.

    Raises:
        RunnerError: the disk is full.
    """
    with ExitStack() as stack:
        try:
            file = stack.enter_context(tempfile.TemporaryFile())
            file.write(os.fsencode(text))
            file.seek(0)
        except OSError as error:
            message = f"no temporary file can be written: {error.strerror}; make room, or set TMPDIR to another folder"
            raise RunnerError(message) from error
        yield file


def contents(file: IO[bytes]) -> str:
    """Return the content of a file, at most LONGEST bytes; invalid UTF-8 is replaced."""
    file.seek(0)
    return file.read(LONGEST).decode(errors="replace")


def printable(text: str) -> str:
    """Return text of a host on one line, without anything that would move the cursor of a terminal."""
    return "".join(character if character.isprintable() else " " for character in text).strip()


# --- The agent of a node ----------------------------------------------------------------------------------------------


class _Unknown(Struct, frozen=True):
    """The answer of a node that does not have this version of the agent."""

    unknown_agent: bool = False


def ask_agents(questions: Sequence[Question], seconds: float) -> list[ProgramResult]:
    """Ask the agents of nodes like `ask`; send the agent to the nodes that do not know it, and ask these again."""
    answers = dict(enumerate(ask(questions, seconds)))
    unknown = [at for at, answer in answers.items() if (said := decoded(answer, _Unknown)) and said.unknown_agent]
    again = [replace(questions[at], text=with_archive(questions[at].text)) for at in unknown]
    answers.update(zip(unknown, ask(again, seconds) if again else (), strict=True))
    return list(answers.values())


def decoded(answer: ProgramResult, kind: type[T]) -> T | None:
    """Return the last answer of an agent; None if there is none.

    Not with `splitlines`, which also splits at form feeds: what a login prints after one could pass for an answer.
    """
    for line in reversed(answer.output.split("\n")):
        if line.startswith(MARK + "{"):
            with suppress(msgspec.MsgspecError):
                return msgspec.json.decode(line.removeprefix(MARK), type=kind)
    return None


#: Messages of OpenSSH with explanations, the most specific first. Source: its readconf.c and sshconnect.c.
SSH_ERRORS = {
    "REMOTE HOST IDENTIFICATION HAS CHANGED": (
        "its key is not the one known for it: it is another machine, or installed anew. Ask who runs it; if the new "
        "key is right, `ssh {host}` by hand says which known key to remove"
    ),
    "Host key verification failed": (
        "its key is not known here yet; connect once by hand with `ssh {host}` and accept it"
    ),
    "Could not resolve hostname": ("no such name is known; look for a slip in it, or add it to the ssh configuration"),
    "Permission denied (": ("it accepts none of your keys; add yours there (`ssh-copy-id {host}`), or load it"),
    "bad configuration option": "the ssh configuration cannot be read",
    "Can't open user config file": "the file that --ssh-config names cannot be read",
    "Connection refused": ("it is there, and no SSH server answers; start one, or set the port in the configuration"),
    "timed out": "it does not answer; see whether it is up and whether the network reaches it",
    "No route to host": "the network does not reach it; see whether it is up",
    "Network is unreachable": "the network does not reach it; see whether this machine is connected",
    "not responding": "the connection broke off; see whether it is up and whether the network reaches it",
}
SILENT = "the connection broke off or gave no answer; see whether it is up and whether the network reaches it"
NO_PYTHON = "python3 is not installed there, and what runs on a host is a Python program (3.6 or newer); install it"
#: Exit status of ssh if the connection failed, and not the remote program.
SSH_FAILED = 255
#: What ssh says where the connection that it was to share has just ended; nothing was asked of the host then.
_NOT_ASKED = "mux_client_request_session: "


def explain(host: str, answer: ProgramResult, config: str = "") -> str:
    """Return one message: the host, why the request failed, what to do, and the last line that ssh printed.

    `config` is the ssh configuration that was used in place of the user's own, which the remedy names, too.
    """
    by_hand = f"-F {shlex.quote(config)} {host}" if config else host
    said = f" (it said: {answer.last_words})" if answer.last_words else ""
    if answer.status in (126, 127):
        return f"{host}: {NO_PYTHON}{said}"
    if answer.status == NO_ANSWER:
        return f"{host}: {SILENT}"
    for saying, meaning in SSH_ERRORS.items():
        if saying in answer.errors:
            return f"{host}: {meaning.format(host=by_hand)}{said}"
    if answer.status not in (0, SSH_FAILED):
        return f"{host}: the agent failed there{said}"
    return f"{host}: {SILENT}{said}"


# --- Setup steps ------------------------------------------------------------------------------------------------------


class _SetupHost(Struct, frozen=True):
    """A host that runs setup steps; `errors` holds the messages of ssh."""

    host: str
    process: subprocess.Popen[bytes]
    errors: IO[bytes]


class SetupSteps(Struct, frozen=True, kw_only=True):
    """What `setup` does on a host: make the recipe's Python environment, if it has one, and run the steps inside it.

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
    """Run setup steps on all hosts, print their output behind the host's name, and end them on Ctrl-C.

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
        # An unreachable host reads nothing; its exit status tells.
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
    #: Accelerators that the node chose, and the variable that told its command; empty: all of the host.
    gpus: str = ""
    gpu_variable: str = "CUDA_VISIBLE_DEVICES"
    #: What only the run itself could tell of the machine; see `facts` in environment.json.
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


# --- Fetching the files of a node -------------------------------------------------------------------------------------


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
        if again and status == SSH_FAILED and _NOT_ASKED in contents(errors):
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
    # What a login prints comes before the archive.
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
