"""The runs of a command, one after the other: those that an earlier command left, then a matrix with its repeats."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runners.command.script import Settings, build
from runners.errors import RunnerError
from runners.progress import printable
from runners.runs.attend import Attention
from runners.runs.interrupts import STOPPED, pause
from runners.runs.launch import UNFINISHED, Session, go_on, launch
from runners.runs.launch_file import AttendedError
from runners.runs.plan import Run
from runners.runs.source import commit

COMPLETED, OTHERWISE, REFUSED = 0, 1, 2


@dataclass(frozen=True)
class Ready:
    """A run with all that it needs to start: read before the first one does, for files change under a long matrix."""

    run: Run
    script: str
    commit: str


def ready(runs: Sequence[Run], settings: Settings) -> list[Ready]:
    """The runs with their scripts; raises RunnerError for one that cannot be run in this way."""
    version = commit(runs[0].recipe.files.values()) if runs else ""
    return [Ready(run, build(run, settings), version) for run in runs]


def complain(error: RunnerError) -> None:
    """Says what is wrong to the one who reads along; words of hosts in it move no cursor."""
    text = "\n".join(map(printable, str(error).splitlines()))
    print(f"runners: {text}", file=sys.stderr, flush=True)


def run_all(runs: Sequence[Ready], session: Session) -> int:
    """The exit status: 0 all completed, 1 a run ended otherwise or was left, 2 one was refused, 130 stopped.

    An outcome other than completed does not stop the others; a case that was refused is not tried again.
    """
    worst, refused = COMPLETED, set()
    for number, each in enumerate(runs):
        if each.run.case.slug in refused:
            continue
        if number:
            pause(each.run.recipe.cool_down_seconds, session.attention.requests)
        if session.attention.requests.count:
            return STOPPED
        try:
            outcome = launch(each.run, each.script, each.commit, session)
        except RunnerError as error:
            complain(error)
            refused.add(each.run.case.slug)
            worst = REFUSED
            continue
        worst = max(worst, COMPLETED if outcome == "completed" else OTHERWISE)
        # What may still run there would slow down whatever came next.
        if session.attention.requests.count or outcome == UNFINISHED:
            break
    return STOPPED if session.attention.requests.count else worst


def finish(folders: Sequence[Path], attention: Attention) -> tuple[int, set[str]]:
    """Goes on with unfinished runs; returns the exit status as `run_all` does, and the cases that others work at.

    Status 0 says that every one came to its end, whichever, or is attended by another runner.
    """
    others = set()
    for folder in folders:
        try:
            outcome = go_on(folder, attention)
        except AttendedError as error:
            complain(error)
            others.add(folder.parent.name)
            continue
        if attention.requests.count or outcome == UNFINISHED:
            return STOPPED if attention.requests.count else OTHERWISE, others
    return COMPLETED, others
