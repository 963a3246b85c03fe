"""Signals of the job's process, and the process that cleans up after it."""

import contextlib
import os
import select
import shutil
import signal

from .job import NodeJob
from .tools import kill


class SignalPipe:
    """Signals as bytes in a pipe, so that one `select` waits for requests to stop and for the end of a child."""

    def __init__(self) -> None:
        self.pipe, end = os.pipe()
        os.set_blocking(self.pipe, False)
        os.set_blocking(end, False)
        signal.set_wakeup_fd(end)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)

    def wait(self, seconds: float) -> "list[str]":
        """Wait for a signal, and return the requested outcomes in order."""
        if not select.select([self.pipe], [], [], max(0, seconds))[0]:
            return []
        ignored = (signal.SIGCHLD,)
        numbers = [number for number in os.read(self.pipe, 4096) if number not in ignored]
        return ["timeout" if number == signal.SIGUSR1 else "stopped" for number in numbers]


class Guard:
    """A child process that cleans up if the job's process is killed.

    It notices that by the end of a pipe that only the job's process keeps open.
    """

    def __init__(self, job: NodeJob) -> None:
        end, self.pipe = os.pipe()
        if os.fork() == 0:
            try:
                os.setsid()
                signal.set_wakeup_fd(-1)
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
                    signal.signal(number, signal.SIG_IGN)
                os.close(self.pipe)
                with os.fdopen(end) as told:
                    self.clear(job, told.read().split("\n"))
            finally:
                os._exit(0)
        os.close(end)

    def tell(self, line: str) -> None:
        """Send a line to the guard; ignore that it may be gone."""
        with contextlib.suppress(OSError):
            os.write(self.pipe, f"{line}\n".encode("utf-8", "surrogateescape"))

    @staticmethod
    def clear(job: NodeJob, lines: "list[str]") -> None:
        """Kill the named process groups and remove the named folders, unless the job has ended by itself."""
        if "done" in lines:
            return
        for line in lines:
            if line.startswith("group "):
                kill(int(line[len("group ") :]), signal.SIGKILL, group=True)
        job.kill_leftovers()
        job.take_over_files()
        job.remove_unwanted()
        job.mask_secrets()
        for line in lines:
            if line.startswith("folder "):
                shutil.rmtree(line[len("folder ") :], ignore_errors=True)
