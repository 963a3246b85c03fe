"""Worker processes: a crash of native code ends a worker, and not the program."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any, NoReturn

from perfledger import TOP
from perfledger.ingest.common.errors import UsageError

#: Seconds that an interrupted process has to remove its temporary files.
_CLEANING_UP = 2.0
#: Seconds between two checks that the parent process is still there.
_PARENT_CHECK = 0.2


@dataclass(frozen=True)
class Death:
    """The end of a process during its work; `code` is the exit code, negative for a signal."""

    code: int

    @property
    def cause(self) -> str:
        """Name the signal, or the exit code."""
        return signal.Signals(-self.code).name if self.code < 0 else f"exit code {self.code}"


class Worker:
    """A process that does one kind of work repeatedly; it ends with this process, however that ends."""

    def __init__(self, work: Callable[[Any], Any], *, fresh: bool = False, folder: str | None = None) -> None:
        """Start it.

        Args:
            work: the function that it calls with each task; exceptions are passed back.
            fresh: start a new Python instead of copying this process, whose libraries may have threads. `work` is then
                sent, and so must be a function of a module.
            folder: working folder of a new Python.
        """
        self.connection, theirs = Pipe()
        self._is_busy = self._is_started = False
        with closing(theirs):
            if fresh or sys.platform != "linux":
                self._process: Any = _started(theirs, folder)
                self._send(work)
            else:
                self._process, self._is_started = _forked(theirs, work), True

    def give(self, task: object) -> None:
        """Give it a task; it must not be busy."""
        self._is_busy = True
        self._send(task)

    def answer(self) -> Any:
        """Wait for the result of the task and return it; a Death if the process ended during the task.

        Raises:
            UsageError: the process could not start.
            Exception: the exception that the work raised.
        """
        try:
            done, found = self.connection.recv()
        except (EOFError, OSError):
            return self._death()
        finally:
            self._is_busy = False
        self._is_started = True
        if not done:
            raise found
        return found

    def close(self) -> None:
        """End the process."""
        if self._is_busy:
            os.kill(self._process.pid, signal.SIGINT)
            wait([self.connection], _CLEANING_UP)
        self.connection.close()
        self._process.kill()
        self._exit_code()

    def _death(self) -> Death:
        death = Death(self._exit_code())
        if not self._is_started and death.code >= 0:
            raise UsageError(f"{sys.executable} -m {__name__}: could not start a process, {death.cause}; see above")
        return death

    def _send(self, message: object) -> None:
        with suppress(OSError):  # the process has ended, as `answer` will find
            self.connection.send(message)

    def _exit_code(self) -> int:
        if isinstance(self._process, subprocess.Popen):
            return self._process.wait()
        self._process.join()
        return int(self._process.exitcode)


def answering(workers: Iterable[Worker]) -> list[Worker]:
    """Wait until workers have an answer, and return them."""
    by_connection = {each.connection: each for each in workers}
    return [by_connection[each] for each in wait([*by_connection]) if isinstance(each, Connection)]


def done_apart(work: Callable[[Any], Any], task: object) -> Any:
    """Do a task in a process of its own and return the result; a Death if the process ended during the task."""
    with closing(Worker(work)) as worker:
        worker.give(task)
        return worker.answer()


def keep_objects() -> None:
    """Collect garbage less often: most objects live until the end, and collecting took 10 % of a large build."""
    gc.set_threshold(50_000, 20, 50)


def _forked(connection: Connection, work: Callable[[Any], Any]) -> Any:
    process = get_context("fork").Process(target=_serve, args=(connection, work, os.getpid()), daemon=True)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # Python drops exceptions while it forks
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads: those that we know have no lock of ours
            process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return process


def _started(connection: Connection, folder: str | None) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(filter(None, [str(TOP), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", __name__, str(connection.fileno()), str(os.getpid())],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        pass_fds=[connection.fileno()],
        process_group=0,  # Ctrl-C is for the program, which then ends its workers
    )


def _serve(connection: Connection, work: Callable[[Any], Any], parent: int) -> NoReturn:
    keep_objects()
    Thread(target=_end_with, args=[parent], daemon=True).start()
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt)
    with suppress(EOFError, OSError, KeyboardInterrupt):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        while True:
            connection.send(_done(work, connection.recv()))
    os._exit(0)


def _interrupt(_number: int, _frame: object) -> None:
    """Interrupt the work once: Ctrl-C reaches all processes, and then `close` interrupts this one again."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _done(work: Callable[[Any], Any], task: object) -> tuple[bool, Any]:
    try:
        return True, work(task)
    except Exception as error:
        error.add_note(f"in another process: {traceback.format_exc()}")
        return False, error


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, since nobody would give it work or read its answer."""
    while os.getppid() == parent:
        time.sleep(_PARENT_CHECK)
    os._exit(1)


def _main() -> None:
    connection = Connection(int(sys.argv[1]))
    _serve(connection, connection.recv(), int(sys.argv[2]))


if __name__ == "__main__":
    _main()
