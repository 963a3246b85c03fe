"""Programs that run at the same time, such as ssh to each host of a run."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import IO

from msgspec import Struct

from perfledger.runners.job import RunnerError

#: The exit status of a program that was killed because it did not end.
NO_ANSWER = 124
#: The longest output of a program that is read, in bytes.
LONGEST = 1 << 24
#: SLURM_* variables that the user sets; all others describe the allocation we were started in, and are dropped.
USERS_SLURM_VARIABLES = ("SLURM_CLUSTERS", "SLURM_CONF", "SLURM_JWT")


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

    def answer(self, deadline: float) -> ProgramResult:
        """Return its answer; NO_ANSWER if it has not ended by then."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0, deadline - time.monotonic()))
        status = self.process.poll()
        end(self.process)
        return ProgramResult(NO_ANSWER if status is None else status, contents(self.output), contents(self.errors))


def ask(questions: Sequence[Question], seconds: float) -> list[ProgramResult]:
    """Run all programs and return their answers in order; kill those that run for longer than `seconds`.

    Raises:
        RunnerError: a program is not installed here; the others are killed, as on Ctrl-C.
    """
    deadline = time.monotonic() + seconds
    with ExitStack() as stack:
        asked = [_started(question, stack) for question in questions]
        return [each.answer(deadline) for each in asked]


def _started(question: Question, stack: ExitStack) -> _RunningProgram:
    output, errors = (stack.enter_context(text_file("")) for _ in range(2))
    process = start(question.argv, stack.enter_context(text_file(question.text)), output, errors)
    stack.callback(end, process)
    return _RunningProgram(process, output, errors)


def start(
    argv: Sequence[str], text: int | IO[bytes], output: int | IO[bytes], errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, so that Ctrl-C reaches us alone.

    Raises:
        RunnerError: it is not installed.
    """
    try:
        return subprocess.Popen(
            argv, stdin=text, stdout=output, stderr=errors, start_new_session=True, env=users_variables()
        )
    except OSError as error:
        message = f"{argv[0]}: it cannot be started here: {error.strerror}; install it or put it on PATH"
        raise RunnerError(message) from error


def users_variables() -> dict[str, str]:
    """Return our variables without those of the Slurm job that we may work in, which its commands take for options."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in USERS_SLURM_VARIABLES or not name.startswith(("SLURM_", "PMI_", "PMIX_"))
    }


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program that still runs."""
    if process.poll() is None:
        process.kill()
        process.wait()


@contextmanager
def text_file(text: str) -> Iterator[IO[bytes]]:
    """Yield a temporary file with `text`, at its beginning.

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
