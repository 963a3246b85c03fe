"""Asks several programs at the same time, and waits for all their answers."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO

from runners.errors import RunnerError

NO_ANSWER = 124


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
        end = time.monotonic() + seconds
        return [_answer(each, end) for each in asked]


def start(argv: Sequence[str], text: IO[bytes], output: int | IO[bytes], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Starts a program in a session of its own: Ctrl-C reaches us alone. RunnerError where it is not installed."""
    try:
        return subprocess.Popen(argv, stdin=text, stdout=output, stderr=errors, start_new_session=True)
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
    """All that was written to a file, whatever its bytes."""
    file.seek(0)
    return file.read().decode(errors="replace")


def _asked(question: Question, stack: ExitStack) -> _Asked:
    output = stack.enter_context(holding(""))
    errors = stack.enter_context(holding(""))
    process = start(question.argv, stack.enter_context(holding(question.text)), output, errors)
    stack.callback(_end, process)
    return _Asked(process, output, errors)


def _answer(asked: _Asked, end: float) -> Answer:
    try:
        status = asked.process.wait(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        status = NO_ANSWER
        _end(asked.process)
    return Answer(status, read(asked.output), read(asked.errors))


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait()
