"""Requests to stop, and the way of a run to its end: it is looked at, stopped if necessary, or given up."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from msgspec import Struct

from perfledger.runners.display import Progress
from perfledger.runners.job import PlannedRun, RunnerError
from perfledger.runners.record import note_failure
from perfledger.runners.transport import Job, JobState, Target
from perfledger.schema.figures import FiguresFound

#: The first signal stops the job, the second kills it; the next one ends the runner at once.
COUNTED_SIGNALS = 2
#: How long a job may take to end after it was stopped.
GRACE_SECONDS = 60
#: How long the other nodes may take to end by themselves after one of them failed.
FAILED_SECONDS = 30
#: Seconds between the first two looks at a job; the time between later ones grows.
FIRST_PAUSE = 0.1
#: The most seconds between two looks.
LONGEST_PAUSE = 5.0
#: A pause over the one before.
GROWTH = 1.3
#: How long a host may be unreachable before its run is left unfinished.
PATIENCE_SECONDS = 300
#: How long a run waits for its hosts to be idle.
BUSY_SECONDS = 3600
#: Between two looks whether the hosts are idle.
IDLE_SECONDS = 10
#: States of a job that no node runs any more.
OVER = ("ended", "lost")


class StopSignals(Struct):
    """Number of signals so far; they are counted, so that none interrupts the writing of a file.

    `outcome` is that of a run which the last one stops: Slurm sends SIGUSR1 before the time limit of a job.
    """

    count: int = 0
    outcome: str = "stopped"


@contextmanager
def count_signals() -> Iterator[StopSignals]:
    """Count Ctrl-C, SIGTERM and SIGUSR1 within the context; raise KeyboardInterrupt from the third on."""
    signals = StopSignals()

    def request(number: int, _frame: FrameType | None) -> None:
        signals.count += 1
        signals.outcome = "timeout" if number == signal.SIGUSR1 else "stopped"
        if signals.count > COUNTED_SIGNALS:
            raise KeyboardInterrupt

    counted = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
    before = {number: signal.signal(number, request) for number in counted}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def pause(seconds: float, signals: StopSignals, answered: int = 0) -> None:
    """Sleep; return early as soon as there are more signals than `answered`."""
    end = time.monotonic() + seconds
    while signals.count <= answered and (left := end - time.monotonic()) > 0:
        time.sleep(min(left, 0.1))


class Supervision(Struct, frozen=True):
    """How runs are supervised: requests to stop, and display."""

    signals: StopSignals
    progress: Progress
    #: Figures of the cases that have finished runs, by folder.
    figures: dict[Path, FiguresFound] = {}
    #: Whether runs wait for their hosts to be idle.
    waits: bool = False
    #: Folders of cases that a host refused; none of these is tried again.
    refused: set[Path] = set()


@contextmanager
def supervise(total: int | None, waits: bool = False) -> Iterator[Supervision]:
    """Supervise `total` runs, None if the number is unknown, and count requests to stop meanwhile."""
    with count_signals() as signals:
        yield Supervision(signals, Progress(total), {}, waits)


def wait_idle(run: PlannedRun, target: Target, supervision: Supervision) -> None:
    """Wait until the hosts of a run are idle, or a signal comes.

    Raises:
        RunnerError: they were not idle in time, or one refuses the run in any case.
    """
    end = time.monotonic() + BUSY_SECONDS
    while (why := "; ".join(target.check(run, "idle").warnings)) and not supervision.signals.count:
        if time.monotonic() >= end:
            remedy = "choose other hosts, or run it nevertheless with --if-busy run"
            raise RunnerError(f"{run.folder.parent.name}: not idle after {BUSY_SECONDS / 60:.0f} min: {why}; {remedy}")
        supervision.progress.state("busy", f"waiting until idle: {why}")
        pause(min(IDLE_SECONDS, max(0, end - time.monotonic())), supervision.signals)


def watch(job: Job, target: Target, supervision: Supervision) -> JobState:
    """Watch a job until it has ended, stop it if necessary, and give up on unreachable hosts; return its last state.

    The kind of the state is ended or lost if no node is running any more, unreachable if a host was silent for longer
    than the patience or when a signal came, and running if the job did not end although it was stopped.
    """
    watched, wait = _Watched(job, supervision.signals), FIRST_PAUSE
    while True:
        state = target.look(job)
        watched.note(state)
        supervision.progress.state(state.kind, watched.shown(state))
        if state.kind in OVER or watched.is_given_up(state):
            return state
        if outcome := watched.reason_to_stop():
            # If a host cannot be reached, its next state will say so.
            with suppress(RunnerError):
                target.stop(job, outcome)
                watched.stopped = time.monotonic()
        pause(wait, supervision.signals, watched.answered)
        wait = min(wait * GROWTH, LONGEST_PAUSE)


class _Watched:
    """Times of events of a job by `time.monotonic`, None before them; and the number of signals passed on to it."""

    def __init__(self, job: Job, signals: StopSignals) -> None:
        self.job, self.signals, self.answered = job, signals, 0
        self.heard = time.monotonic()
        self.failed: float | None = None
        self.stopped: float | None = None

    def note(self, state: JobState) -> None:
        """Note the events that a state shows."""
        now = time.monotonic()
        if state.kind != "unreachable":
            self.heard = now
        if state.failed and self.failed is None:
            self.failed = now

    def shown(self, state: JobState) -> str:
        """Return a state for a person."""
        if state.kind == "unreachable":
            return f"out of reach for {time.monotonic() - self.heard:.0f} s: {state.cause}"
        if state.kind != "running":
            return f"{state.kind} {state.cause}".rstrip()
        return f"running: {state.last_line or 'nothing printed yet'}"

    def is_given_up(self, state: JobState) -> bool:
        """Return whether its host was silent for too long, or it did not end after it was stopped."""
        now = time.monotonic()
        if state.kind == "unreachable":
            return now - self.heard > (0 if self.signals.count else PATIENCE_SECONDS)
        return self.stopped is not None and now - self.stopped > GRACE_SECONDS

    def reason_to_stop(self) -> str:
        """Return the outcome of a stop that is due: for each signal, and once for a failed node."""
        now = time.monotonic()
        if self.signals.count > self.answered:
            self.answered += 1
            return self.signals.outcome
        if self.stopped is not None:
            return ""
        if self.failed is not None and now - self.failed > FAILED_SECONDS:
            note_failure(self.job.folder)
            return "stopped"
        return ""
