"""What it costs a machine to be asked how its run goes: that is asked every few seconds, beside what is measured."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.measure import Row, in_turns

_TIMES = 40


def questions(folder: Path) -> list[Row]:
    """Compare questions to this Python, which keeps the bytecode of the agent, with those to another host."""
    here, elsewhere = in_turns((ask_here, ask_elsewhere), folder, times=3)
    return [Row.of(f"{_TIMES} questions to this machine", here, "to another host", elsewhere, "0.65")]


def ask_here(jobs: str) -> None:
    """Ask as a local run is asked."""
    _ask(jobs, own_python=True)


def ask_elsewhere(jobs: str) -> None:
    """Ask as the Python of another host is asked."""
    _ask(jobs, own_python=False)


def _ask(jobs: str, *, own_python: bool) -> None:
    from perfledger.runners.nodes import PYTHON, Question, ask, request

    line = request("look", own_python=own_python, identity="bench", jobs=jobs, rank=0)
    for _ in range(_TIMES):
        (answer,) = ask([Question([sys.executable, *PYTHON], line)], 60)
        assert answer.status == 0, answer
