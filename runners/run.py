"""The life of one run: its folder is made, it is started, watched, stopped if necessary, and finished by run.json."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from perfledger.runners.display import Progress, complain, figure_text
from perfledger.runners.folders import (
    RUN_JSON,
    AnyTarget,
    Launch,
    finished_run,
    open_launch,
    remove_refused,
    run_folder,
)
from perfledger.runners.job import PlannedRun, RunnerError
from perfledger.runners.record import finish
from perfledger.runners.transport import Job, JobState, Target, UncertainStartError, Warnings
from perfledger.schema.figures import FiguresFound

#: The first signal stops the job, the second kills it; the next one ends the runner at once.
COUNTED_SIGNALS = 2
#: Extra time before we stop a host that exceeded its own timeout (it may have started late).
MARGIN_SECONDS = 120
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
#: In place of an outcome: the run goes on, or its files cannot be fetched, and it was left.
UNFINISHED = "unfinished"
#: How an unfinished run is finished: `wait` for its end, only `look` whether it has ended, `stop` it, or `abandon` it:
#: stop it, and finish it as failed, with the files that are here, if its hosts cannot be reached.
Collecting = Literal["wait", "look", "stop", "abandon"]
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
        self.begun: float | None = None
        self.failed: float | None = None
        self.stopped: float | None = None

    def note(self, state: JobState) -> None:
        """Note the events that a state shows."""
        now = time.monotonic()
        if state.kind != "unreachable":
            self.heard = now
        if state.kind == "running" and self.begun is None:
            self.begun = now
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
        """Return the outcome of a stop that is due: for each signal, and once for a timeout or a failed node."""
        now = time.monotonic()
        if self.signals.count > self.answered:
            self.answered += 1
            return self.signals.outcome
        if self.stopped is not None:
            return ""
        if self.begun is not None and now - self.begun > self.job.facts.timeout_seconds + MARGIN_SECONDS:
            return "timeout"
        if self.failed is not None and now - self.failed > FAILED_SECONDS:
            return "stopped"
        return ""


def launch(run: PlannedRun, target: AnyTarget, supervision: Supervision) -> str:
    """Start a run, watch and finish it; return its outcome, or UNFINISHED if it had to be left.

    Raises:
        RunnerError: its folder cannot be made, it did not start, or it cannot be finished.
    """
    if supervision.waits:
        wait_idle(run, target, supervision)
    with run_folder(run, target) as (mine, launched):
        supervision.progress.begin(mine.folder)
        job = Job(launched.job, mine.folder)
        try:
            found = target.start(job, mine.spec, lambda: supervision.signals.count > 0)
        except UncertainStartError as error:
            complain(error)
            supervision.progress.end(mine.folder, _left_after("it may have been started all the same", mine.folder))
            return UNFINISHED
        except RunnerError:
            remove_refused(mine.folder)
            raise
        if found is None:
            remove_refused(mine.folder)
            supervision.progress.end(mine.folder, "stopped before it began; nothing is left of it")
            return UNFINISHED
        _print_warnings(mine.folder, found, supervision)
        return _seen_to_its_end(job, launched, supervision, "wait")


def collect_run(folder: Path, supervision: Supervision, how: Collecting) -> str:
    """Finish an unfinished run as `how` says; return and raise as `launch` does."""
    with open_launch(folder) as launched:
        supervision.progress.begin(folder)
        if (folder / RUN_JSON).exists():
            return _finished(folder, launched, "", supervision)
        return _seen_to_its_end(Job(launched.job, folder), launched, supervision, how)


def _seen_to_its_end(job: Job, launched: Launch, supervision: Supervision, how: Collecting) -> str:
    if how == "look":
        ended = launched.target.look(job)
    else:
        watching = supervision if how == "wait" else replace(supervision, signals=StopSignals(1))
        ended = watch(job, launched.target, watching)
    if ended.kind in OVER or how == "abandon":
        return _collected(job, launched, ended, supervision, given_up=how == "abandon")
    why = f"it cannot be reached: {ended.cause}" if ended.kind == "unreachable" else "it still runs"
    supervision.progress.end(job.folder, _left_after(why, job.folder))
    return UNFINISHED


def _left_after(why: str, folder: Path) -> str:
    later = f"`python -m runners collect {folder}` finishes it once it has ended and can be reached"
    return f"left {UNFINISHED}, since {why}; {later}, and with --abandon without it"


def _collected(job: Job, launched: Launch, ended: JobState, supervision: Supervision, given_up: bool) -> str:
    """Fetch the files of a run that has ended, or that is given up, and finish it."""
    lost = ""
    if ended.kind != "ended":
        lost = (ended.kind == "lost" and ended.cause) or f"it was given up while {ended.kind}"
    target = launched.target
    # Each step on its own: if one node cannot be stopped, the logs of the others are still fetched.
    for step in (target.stop, target.fetch) if lost else (target.fetch,):
        try:
            step(job)
        except RunnerError:
            # An abandoned run may be unreachable; any other must be fetched completely, since this is the last attempt.
            if not (lost and given_up):
                raise
    return _finished(job.folder, launched, lost, supervision)


def _finished(folder: Path, launched: Launch, lost: str, supervision: Supervision) -> str:
    """Finish a run whose files are here, and print its outcome and figure."""
    alone = finish(folder, launched, lost)
    found = finished_run(folder)
    _print_warnings(folder, Warnings(found.warnings or (), found.disturbances or ()), supervision)
    supervision.progress.end(folder, f"{found.outcome}{figure_text(folder, found, supervision.figures, alone)}")
    return str(found.outcome)


def _print_warnings(folder: Path, found: Warnings, supervision: Supervision) -> None:
    for warning in found.warnings:
        supervision.progress.once(f"{folder}: warning: {warning}")
    for disturbance in found.disturbances:
        supervision.progress.once(f"{folder}: disturbed: {disturbance}")
