"""What the tests of the command line share: a program whose log is understood, and the runner as a process."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.runners.node import polls

ROOT = Path(__file__).parents[2]
#: Bash that prints a record of the format that the tiny recipe asks for; the word after it is the number of the step.
RECORD = (
    'record() { printf "DLL 2026-11-20 11:54:58.903454 - Epoch: 0 Iteration: %d  train.loss : 7.00000 None '
    'train.compute_ips : 100.00 images/s train.total_ips : 100.00 images/s\\n" "$1"; }; '
)


def load(path: Path) -> dict[str, Any]:
    """Read a JSON object."""
    found = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def folder_of(tmp_path: Path, case: str = "cpu-n1d1-bs1-fp32") -> Path:
    """Return the folder of a case of the tiny recipe."""
    return tmp_path / "raw/tiny/bash" / case


def until(wanted: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until a condition holds."""
    for _ in polls(seconds):
        if wanted():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come to pass")


def words(path: Path, tmp_path: Path, *more: str) -> list[str]:
    """Return the command line that runs a recipe into `raw`."""
    return [sys.executable, "-m", "tests.runners.quick", "run", str(path), "--raw-logs", str(tmp_path / "raw"), *more]


@contextmanager
def running(path: Path, tmp_path: Path, *more: str, nodes: int = 1) -> Iterator[subprocess.Popen[str]]:
    """`python -m runners run` as a process of its own, from when its command has printed a line on so many nodes."""
    with subprocess.Popen(
        words(path, tmp_path, *more), cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            until(lambda: sum(log.stat().st_size > 0 for log in tmp_path.rglob("train.log")) == nodes)
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                process.communicate(timeout=60)
