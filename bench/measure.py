"""One child process per measurement, so that imports, caches and memory of one do not colour the next."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

_CHILD = """
import json, resource, sys, time
wall, source = time.perf_counter(), sys.argv.pop(1)
exec(compile(source, "<measured>", "exec"))
used, below = (resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
cpu = sum(each.ru_utime + each.ru_stime for each in (used, below))
print(json.dumps([cpu, used.ru_maxrss / 1024, time.perf_counter() - wall]))
"""


@dataclass(frozen=True)
class Used:
    """What a child process used: CPU seconds (with its own children), its peak memory in MiB, and wall seconds."""

    cpu: float
    peak: float
    wall: float


@dataclass(frozen=True)
class Row:
    """One line of the table: seconds of a thing and of what it is held against, and the ratio it should not exceed."""

    what: str
    seconds: float
    against: str
    base: float
    goal: str = ""
    peak: float | None = None

    def cells(self) -> list[object]:
        """Cells in the order of the table's columns."""
        ratio = self.seconds / self.base if self.base else None
        return [self.what, self.seconds, self.against, self.base or None, ratio, self.goal, self.peak]


def child(source: str, *arguments: str) -> Used:
    """Run Python source in a fresh interpreter, with `sys.argv[1:]` as given."""
    command = [sys.executable, "-c", _CHILD, source, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Used(*json.loads(done.stdout.splitlines()[-1]))


def best(source: str, *arguments: str, times: int = 3) -> Used:
    """Return the run that used the least CPU: on a shared machine the least disturbed one."""
    return min((child(source, *arguments) for _ in range(times)), key=lambda each: each.cpu)


def interleaved(sources: Sequence[str], *arguments: str, times: int = 3) -> list[Used]:
    """Return the best of several runs of each source, taken in turns so that drift affects all alike."""
    runs = [[child(source, *arguments) for source in sources] for _ in range(times)]
    return [min(column, key=lambda each: each.cpu) for column in zip(*runs, strict=True)]
