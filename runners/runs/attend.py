"""Stays with a job until it has ended, asks it to stop where it must, and knows when to give up on a host."""

from __future__ import annotations

import time
from dataclasses import dataclass

from runners.errors import RunnerError
from runners.places import job, nodes
from runners.places.job import Job, State
from runners.progress import Progress
from runners.runs.interrupts import Requests, pause
from runners.runs.noted import note_failure

#: Beyond the script's own timeout and grace, before the host is taken to be deaf: it may have begun long after us.
MARGIN_SECONDS = 120
#: What a job may take to end after it was asked.
GRACE_SECONDS = 60
#: What the other nodes may take to end by themselves after one of them failed.
FAILED_SECONDS = 30
FIRST_PAUSE, LONGEST_PAUSE, LONGER = 0.1, 3.0, 1.3
OVER = ("ended", "lost")


@dataclass(frozen=True)
class Attention:
    """How jobs are attended: requests to stop, seconds of silence to bear, and where it is shown."""

    requests: Requests
    patience: float
    progress: Progress


@dataclass
class _Memory:
    """Times are of `time.monotonic`; None where it did not happen yet."""

    heard: float
    begun: float | None = None
    failed: float | None = None
    asked: float | None = None
    requests: int = 0


def attend(started: Job, attention: Attention) -> State:
    """The last state of a job.

    Its kind is ended or lost where no node is at work any more. It is unreachable where a host was silent for longer
    than our patience, or when we were asked to stop; and running where a job did not end although it was asked to.
    """
    memory = _Memory(heard=time.monotonic())
    wait = FIRST_PAUSE
    while True:
        state = job.state(started)
        attention.progress.state(_words(state))
        _remember(memory, state)
        if (state.kind in OVER and not _at_work(started, state)) or _given_up(memory, attention, state):
            return state
        _ask_to_end(started, memory, attention)
        pause(wait, attention.requests, memory.requests)
        wait = min(wait * LONGER, LONGEST_PAUSE)


def _remember(memory: _Memory, state: State) -> None:
    now = time.monotonic()
    if state.kind != "unreachable":
        memory.heard = now
    if state.kind == "running" and memory.begun is None:
        memory.begun = now
    if state.failed and memory.failed is None:
        memory.failed = now


def _at_work(started: Job, state: State) -> bool:
    """Whether nodes go on while another was lost. Of a cluster's job none does: it is over as a whole."""
    if state.kind != "lost" or started.nodes == 1 or started.place.kind == "slurm":
        return False
    return any(
        said.facts.get("kind") == "running" for said in nodes.tell(started, "look", range(started.nodes)).values()
    )


def _given_up(memory: _Memory, attention: Attention, state: State) -> bool:
    now = time.monotonic()
    if state.kind == "unreachable":
        return now - memory.heard > (0 if attention.requests.count else attention.patience)
    return memory.asked is not None and now - memory.asked > GRACE_SECONDS


def _ask_to_end(started: Job, memory: _Memory, attention: Attention) -> None:
    """Once per request of the user, and once by ourselves."""
    now = time.monotonic()
    if attention.requests.count > memory.requests:
        memory.requests += 1
        outcome = "stopped"
    elif memory.asked is not None:
        return
    elif memory.begun is not None and now - memory.begun > started.timeout_seconds + MARGIN_SECONDS:
        outcome = "timeout"
    elif memory.failed is not None and now - memory.failed > FAILED_SECONDS:
        outcome = "stopped"
        note_failure(started.folder)
    else:
        return
    if _stopped(started, outcome):
        memory.asked = now


def _stopped(started: Job, outcome: str) -> bool:
    """Whether the job could be asked; where it could not, its host is as unreachable as its state will say."""
    try:
        job.stop(started, outcome)
    except RunnerError:
        return False
    return True


def _words(state: State) -> str:
    """A state for whoever watches: the last line of the log while it runs."""
    return state.last_line if state.kind == "running" else f"{state.kind} {state.cause}"
