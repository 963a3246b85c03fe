"""Asks several programs at the same time, and waits for all their answers."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO

from runners.errors import RunnerError

NO_ANSWER = 124
# Of what a program prints, in bytes.
LONGEST = 1 << 24
# What a user says of a cluster, among what it says of an allocation.
OF_THE_USER = ("SLURM_CLUSTERS", "SLURM_CONF", "SLURM_JWT")


@dataclass(frozen=True)
class Question:
    """A command line, and what it reads on its standard input."""

    argv: Sequence[str]
    text: str = ""


@dataclass(frozen=True)
class Answer:
    """`status` is the exit status, NO_ANSWER where the time was over; the rest is as printed, as far as it is UTF-8."""

    status: int
    output: str
    errors: str


@dataclass(frozen=True)
class _Asked:
    """A program that runs, and the files that it writes into.

    The trap: no pipes, because older ssh clients leave our standard error to the background process that keeps the
    connection, and a pipe would not end before that process does.
    """

    process: subprocess.Popen[bytes]
    output: IO[bytes]
    errors: IO[bytes]


def ask(questions: Sequence[Question], seconds: float) -> list[Answer]:
    """The answers in the order of the questions; who has not answered after `seconds` is killed.

    Raises RunnerError where a program is not installed here; the others are killed then, as on Ctrl-C.
    """
    with ExitStack() as stack:
        asked = [_asked(question, stack) for question in questions]
        _wait(asked, time.monotonic() + seconds)
        return [_answer(each) for each in asked]


def start(
    argv: Sequence[str], text: int | IO[bytes], output: int | IO[bytes], errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Starts a program in a session of its own: Ctrl-C reaches us alone. RunnerError where it is not installed."""
    try:
        return subprocess.Popen(
            argv, stdin=text, stdout=output, stderr=errors, start_new_session=True, env=_environment()
        )
    except OSError as error:
        message = f"{argv[0]}: it cannot be started here: {error.strerror}; install it or put it on PATH"
        raise RunnerError(message) from error


@contextmanager
def holding(text: str) -> Iterator[IO[bytes]]:
    """A file without a name that holds a text, to be read from its beginning; RunnerError where there is no room."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(tempfile.TemporaryFile())
            file.write(text.encode())
            file.seek(0)
        except OSError as error:
            message = f"no temporary file can be written: {error.strerror}; make room, or set TMPDIR to another folder"
            raise RunnerError(message) from error
        yield file


def read(file: IO[bytes]) -> str:
    """What was written to a file, whatever its bytes, up to LONGEST of them."""
    file.seek(0)
    return file.read(LONGEST).decode(errors="replace")


def _environment() -> dict[str, str]:
    """Ours, without the allocation that we may have been started in: it would speak for the place that is meant."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in OF_THE_USER or not name.startswith(("SLURM_", "PMI_", "PMIX_"))
    }


def _asked(question: Question, stack: ExitStack) -> _Asked:
    output = stack.enter_context(holding(""))
    errors = stack.enter_context(holding(""))
    process = start(question.argv, stack.enter_context(holding(question.text)), output, errors)
    stack.callback(_end, process)
    return _Asked(process, output, errors)


def _wait(asked: Sequence[_Asked], end: float) -> None:
    """Until all have ended, as long as there is time and none prints without end: that would fill our disk."""
    left, step = list(asked), 0.001
    while left and time.monotonic() < end:
        left = [each for each in left if each.process.poll() is None and not _is_endless(each)]
        time.sleep(step if left else 0)
        step = min(2 * step, 0.05)


def _is_endless(asked: _Asked) -> bool:
    endless = any(os.fstat(file.fileno()).st_size > LONGEST for file in (asked.output, asked.errors))
    if endless:
        _end(asked.process)
    return endless


def _answer(asked: _Asked) -> Answer:
    """Of one that had not ended by itself it is no answer."""
    status = asked.process.poll()
    if status is None or _is_endless(asked):
        _end(asked.process)
        status = NO_ANSWER
    return Answer(status, read(asked.output), read(asked.errors))


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait()
