"""One child process per measurement, so that imports, caches and memory of one do not colour the next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: Calls `MODULE NAME ARGUMENT...` and prints CPU seconds, peak MiB and wall seconds as its last line.
_CHILD = """
import importlib, json, resource, sys, time
start = time.perf_counter()
module, name, *arguments = sys.argv[1:]
getattr(importlib.import_module(module), name)(*arguments)
own, children = (resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
cpu = sum(each.ru_utime + each.ru_stime for each in (own, children))
print(json.dumps([cpu, own.ru_maxrss / 1024, time.perf_counter() - start]))
"""


@dataclass(frozen=True)
class Used:
    """What a child process used: CPU seconds (with its own children), its peak memory in MiB, and wall seconds."""

    cpu: float
    peak: float
    wall: float


@dataclass(frozen=True)
class Row:
    """One line of the table: seconds of a thing, seconds of what it is compared with, and the ratio not to exceed."""

    what: str
    seconds: float
    against: str = ""
    base: float = 0
    goal: str = ""
    peak: float | None = None

    @classmethod
    def of(cls, what: str, used: Used, against: str = "", base: Used | None = None, goal: str = "") -> Row:
        """Return the row of a child process, held against another one."""
        return cls(what, used.cpu, against, base.cpu if base else 0, goal, used.peak)

    def cells(self) -> list[object]:
        """Return the cells in the order of the table's columns."""
        ratio = self.seconds / self.base if self.base else None
        return [self.what, self.seconds, self.against, self.base or None, ratio, self.goal, self.peak]


def child(function: Callable[..., object], *arguments: object) -> Used:
    """Call a function of a module, which takes its arguments as text, in a fresh interpreter."""
    command = [sys.executable, "-c", _CHILD, function.__module__, function.__name__, *map(str, arguments)]
    # Python keeps bytecode unless it is told not to, and then each child would compile all modules again.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=kept)
    return Used(*json.loads(done.stdout.splitlines()[-1]))


def in_turns(functions: Sequence[Callable[..., object]], *arguments: object, times: int) -> list[Used]:
    """Return each function's call that used the least CPU; they take turns, so that drift affects all alike."""
    calls = [[child(function, *arguments) for function in functions] for _ in range(times)]
    return [min(column, key=lambda each: each.cpu) for column in zip(*calls, strict=True)]
