"""Jobs of the tiny recipe, as the command line makes and attends them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from runners.cases import recipe
from runners.cases.case import choose
from runners.command.script import Settings, build
from runners.places import job
from runners.places.job import Job, State
from runners.places.place import Place
from runners.runs.plan import Run
from tests.runners.node import polls


def planned(
    path: Path,
    place: Place,
    folder: Path,
    choices: Mapping[str, str] | None = None,
    settings: Settings | None = None,
) -> tuple[Job, str]:
    """The job of the first case of a recipe, and its script; nothing is started."""
    chosen = recipe.load(path)
    run = Run(chosen, choose(chosen, choices or {})[0], 1, folder / "raw/tiny/1")
    run.folder.mkdir(parents=True)
    return job.prepare(place, run), build(run, settings or Settings())


def until(started: Job, wanted: Callable[[State], bool], seconds: float = 30) -> State:
    """The first state of a job that is as wanted."""
    state = State("never asked")
    for _ in polls(seconds):
        state = job.state(started)
        if wanted(state):
            return state
        time.sleep(0.1)
    raise AssertionError(f"the job did not come to it; it is {state}")


def over(started: Job, seconds: float = 30) -> State:
    """The state of a job when no node is at work any more."""
    return until(started, lambda state: state.kind in ("ended", "lost"), seconds)


def printing(started: Job) -> State:
    """The state of a job when its log has begun."""
    return until(started, lambda state: state.log_bytes > 0)
