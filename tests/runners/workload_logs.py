"""Starts a workload as a recipe does and says what it printed and what it took; for the tests of the frameworks."""

from __future__ import annotations

import importlib.util
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from perfledger.parsers.engine.session import Session

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Training:
    """The printed lines, and seconds by the wall and of all threads together."""

    log: Path
    wall_seconds: float
    cpu_seconds: float

    @property
    def session(self) -> Session:
        """The one session of the log, which exactly one format claims."""
        # Not on the Python of every framework do the formats run.
        from perfledger.parsers.engine.read import read

        (session,) = read(self.log).sessions
        return session


def need(package: str) -> None:
    """Skips the test where a framework is not installed; looks without importing it, which takes seconds."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed; `python -m runners show` of its recipe says how to install it")


def train(folder: Path, module: str, *arguments: str, **variables: str) -> Training:
    """Run a workload in its own folder; it must succeed."""
    log = folder / "train.log"
    before, started = cpu_seconds(), time.monotonic()
    with log.open("wb") as stream:
        subprocess.run(
            [sys.executable, "-m", f"runners.workloads.{module}", *arguments],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | variables,
            stdout=stream,
            stderr=subprocess.STDOUT,
            timeout=300,
            check=True,
        )
    return Training(log, time.monotonic() - started, cpu_seconds() - before)


def cpu_seconds() -> float:
    """Return the processor seconds of children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
