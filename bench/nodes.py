"""The cost of a question to a node, which gets one every few seconds, next to what is measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.measure import Row, in_turns

_TIMES = 40


def questions(folder: Path) -> list[Row]:
    """Compare questions to the agent with starts of a Python that does nothing."""
    asked, started = in_turns((ask, start), folder, times=3)
    return [Row.of(f"{_TIMES} questions to a node", asked, "starts of Python", started, "4")]


def ask(jobs: str) -> None:
    """Ask as a run on this machine is asked."""
    from perfledger.runners.agent_link import PYTHON, ask_agents, question
    from perfledger.runners.programs import Question

    argv = [sys.executable, *PYTHON]
    line = question(argv, "look", identity="bench", jobs=jobs, rank=0)
    for _ in range(_TIMES):
        (answer,) = ask_agents([Question(argv, line)], 60)
        assert answer.status == 0, answer


def start(_jobs: str) -> None:
    """Start the same Python."""
    for _ in range(_TIMES):
        subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
