"""The life of one run: its folder is made, it is started, supervised, and collected into `run.json`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from perfledger.runners import earlier, ingest_link, record
from perfledger.runners.agent_link import START, archive
from perfledger.runners.display import Progress, complain
from perfledger.runners.earlier import RUN_JSON
from perfledger.runners.job import PlannedRun, RunnerError
from perfledger.runners.launch_json import LAUNCH_JSON, Launch, lock, open_launch, planned_launch
from perfledger.runners.nodes import LOG, Outcome
from perfledger.runners.record import Finished, Lost
from perfledger.runners.targets import AnyTarget
from perfledger.runners.transport import INCOMING, Job, Local, State, UncertainStartError
from perfledger.schema.figures import FiguresFound, RunFigure
from perfledger.schema.vocabulary import OPTIONS

#: In place of an outcome: the run goes on, or its files cannot be fetched, and it was left.
UNFINISHED = "unfinished"
#: Exit status of a stopped command.
STOPPED = 130
#: The first signal stops the job, the second kills it; the next one ends the runner at once.
COUNTED_SIGNALS = 2
#: Extra time before we stop a host that exceeded its own timeout (it may have started late).
MARGIN_SECONDS = 120
#: How long a job may take to end after it was stopped.
GRACE_SECONDS = 60
#: How long the other nodes may take to end by themselves after one of them failed.
FAILED_SECONDS = 30
FIRST_PAUSE, LONGEST_PAUSE, LONGER = 0.1, 5.0, 1.3
#: How long a host may be unreachable before its run is left unfinished.
PATIENCE_SECONDS = 300
#: How long a run waits for its hosts to be idle.
BUSY_SECONDS = 3600
#: Between two looks whether the hosts are idle.
IDLE_SECONDS = 10
OVER = ("ended", "lost")
#: Option of a recipe that gives a fact which a log does not state, by fact.
_STATED_BY = {"tokens_per_step": "sequence_length"}


# --- Requests to stop -------------------------------------------------------------------------------------------------


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


@contextmanager
def supervise(total: int | None) -> Iterator[Supervision]:
    """Supervise `total` runs, None if the number is unknown, and count requests to stop meanwhile."""
    with count_signals() as signals:
        yield Supervision(signals, Progress(total), {})


class RunContext(Struct, frozen=True):
    """Target and supervision of the runs of one command."""

    target: AnyTarget
    supervision: Supervision
    #: Whether runs wait for their hosts to be idle.
    waits: bool = False


# --- The folder of a run ----------------------------------------------------------------------------------------------


@contextmanager
def run_folder(run: PlannedRun, target: AnyTarget) -> Iterator[tuple[PlannedRun, Launch]]:
    """Make the folder of a run atomically, with its `launch.json` in it, and lock the run.

    Yields the run with its final number: the next free one if another runner took the planned one.

    Raises:
        RunnerError: the folder cannot be made.
    """
    parents = [run.folder.parent, *run.folder.parent.parents]
    absent = [folder for folder in parents if not folder.exists()]
    made = run.folder.parent / f".claim.{os.getpid()}"
    try:
        run, launch, file = _make_folder(run, target, made)
        with file:
            yield run, launch
    finally:
        shutil.rmtree(made, ignore_errors=True)
        _drop_empty(absent)


def _make_folder(run: PlannedRun, target: AnyTarget, made: Path) -> tuple[PlannedRun, Launch, IO[str]]:
    try:
        made.mkdir(parents=True, exist_ok=True)
        while True:
            launch = planned_launch(target, run)
            file = _written(made / LAUNCH_JSON, launch)
            lock(file, run.folder)
            if _renamed(made, run.folder):
                return run, launch, file
            file.close()
            number = earlier.next_repeat(run.folder.parent)
            planned = replace(run.record, repeat=number)
            run = replace(run, record=planned, folder=run.folder.parent / str(number))
    except OSError as error:
        raise RunnerError(
            f"{run.folder}: it cannot be made: {error.strerror}; make room there, or choose another with --raw-logs"
        ) from error


def _written(path: Path, launch: Launch) -> IO[str]:
    file = path.open("w", encoding="utf-8")
    json.dump(msgspec.to_builtins(launch), file, indent=1, ensure_ascii=False)
    file.flush()
    os.fsync(file.fileno())
    return file


def _renamed(made: Path, folder: Path) -> bool:
    """Rename the folder; return False if the name is taken."""
    try:
        if not folder.exists():
            made.rename(folder)
            return True
    except OSError:
        if not folder.exists():
            raise
    return False


def _drop_empty(folders: list[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return


def disclaim(folder: Path) -> None:
    """Remove the folder of a refused run, unless it has a log: no log is ever deleted."""
    if not any(path.stat().st_size for path in folder.rglob(LOG)):
        shutil.rmtree(folder)


# --- One run ----------------------------------------------------------------------------------------------------------


def launch(run: PlannedRun, session: RunContext) -> str:
    """Start a run, supervise and collect it; return its outcome, or UNFINISHED if it had to be left.

    Raises:
        RunnerError: its folder cannot be made, it did not start, or it cannot be finished.
    """
    supervision = session.supervision
    if session.waits:
        wait_idle(run, session)
    with run_folder(run, session.target) as (mine, launched):
        supervision.progress.begin(mine.folder)
        job = Job(launched.job, mine.folder)
        try:
            found = session.target.start(job, mine.spec, lambda: supervision.signals.count > 0)
        except UncertainStartError as error:
            complain(error)
            supervision.progress.end(mine.folder, _left_after("it may have been started all the same", mine.folder))
            return UNFINISHED
        except RunnerError:
            disclaim(mine.folder)
            raise
        if found is None:
            disclaim(mine.folder)
            supervision.progress.end(mine.folder, "stopped before it began; nothing is left of it")
            return UNFINISHED
        for warning in found.warnings:
            supervision.progress.line(f"{mine.folder}: warning: {warning}")
        for disturbance in found.disturbances:
            supervision.progress.line(f"{mine.folder}: {_disturbed(launched, disturbance)}")
        record.note_warnings(mine.folder, found)
        return _finished(job, launched, supervision)


def wait_idle(run: PlannedRun, session: RunContext) -> None:
    """Wait until the hosts of a run are idle, or a signal comes.

    Raises:
        RunnerError: they were not idle in time, or one refuses the run in any case.
    """
    supervision, end = session.supervision, time.monotonic() + BUSY_SECONDS
    while (why := "; ".join(session.target.check(run, "idle").warnings)) and not supervision.signals.count:
        if time.monotonic() >= end:
            remedy = "choose other hosts, or run it nevertheless with --if-busy run"
            raise RunnerError(f"{run.folder.parent.name}: not idle after {BUSY_SECONDS / 60:.0f} min: {why}; {remedy}")
        supervision.progress.state("busy", f"waiting until idle: {why}")
        pause(min(IDLE_SECONDS, max(0, end - time.monotonic())), supervision.signals)


def resume_run(folder: Path, supervision: Supervision) -> str:
    """Supervise and collect an unfinished run; return and raise as `launch` does."""
    with open_launch(folder) as launched:
        supervision.progress.begin(folder)
        return _cleared(folder, launched, supervision) or _finished(Job(launched.job, folder), launched, supervision)


def collect_run(folder: Path, supervision: Supervision, abandon: bool = False, stop: bool = False) -> str:
    """Collect an unfinished run if it has ended, without waiting for it; return and raise as `launch` does.

    With `stop`, stop it first if it still runs. With `abandon`, do so, and finish it as failed, with the files that are
    here, if its hosts cannot be reached.
    """
    with open_launch(folder) as launched:
        supervision.progress.begin(folder)
        if outcome := _cleared(folder, launched, supervision):
            return outcome
        job = Job(launched.job, folder)
        if abandon or stop:
            state = Supervisor(job, launched.target, replace(supervision, signals=StopSignals(1))).watch()
        else:
            state = launched.target.look(job)
        if state.kind not in OVER and not abandon:
            supervision.progress.end(folder, f"{UNFINISHED}: {state.kind} {state.cause}".rstrip())
            return UNFINISHED
        return _collected(job, launched, state, supervision, given_up=abandon)


def _cleared(folder: Path, launched: Launch, supervision: Supervision) -> str:
    """Clear up a run that has its `run.json` already and return its outcome; return "" for others."""
    if not (folder / RUN_JSON).exists():
        return ""
    outcome = collect(folder, launched).outcome
    supervision.progress.end(folder, outcome)
    return outcome


def _finished(job: Job, launched: Launch, supervision: Supervision) -> str:
    state = Supervisor(job, launched.target, supervision).watch()
    if state.kind in OVER:
        return _collected(job, launched, state, supervision)
    supervision.progress.end(job.folder, _left(job, state))
    return UNFINISHED


def _collected(job: Job, launched: Launch, state: State, supervision: Supervision, given_up: bool = False) -> str:
    lost = None if state.kind == "ended" else Lost(_cause(state), _outcome(state))
    target, folder = launched.target, job.folder
    # Each step on its own: if one node cannot be stopped, the logs of the others are still fetched.
    for step in (target.stop, target.fetch) if lost else (target.fetch,):
        try:
            step(job)
        except RunnerError:
            # An abandoned run may be unreachable; any other must be fetched completely, since this is the last attempt.
            if not (lost and given_up):
                raise
    known = record.pending_warnings(folder)
    alone = collect(folder, launched, lost).alone
    finished = earlier.finished_run(folder)
    for warning in finished.warnings:
        if warning not in known.warnings:
            supervision.progress.line(f"{folder}: warning: {warning}")
    for disturbance in finished.disturbances or ():
        if disturbance not in known.disturbances:
            supervision.progress.line(f"{folder}: {_disturbed(launched, disturbance)}")
    supervision.progress.end(folder, f"{finished.outcome}{_figure(folder, supervision, alone)}")
    return finished.outcome


def _disturbed(launched: Launch, disturbance: str) -> str:
    """Return what a disturbance means for a run."""
    if launched.plan.smoke:
        return f"disturbed, so its speed may be too low: {disturbance}"
    if launched.plan.accept_disturbed:
        return f"disturbed, and accepted: {disturbance}"
    return f"disturbed, and so left out of results: {disturbance}"


def _figure(folder: Path, supervision: Supervision, alone: FiguresFound) -> str:
    """Return the figure of a run, for the line that states its outcome, and keep those of its case; or how it failed.

    `alone` are the figures of its log without other repeats.
    """
    run = earlier.finished_run(folder)
    if run.outcome in ("failed", "oom"):
        return f" ({earlier.how_it_ended(folder)})"
    if run.smoke:
        read = "".join(map(_smoke_figure, alone.runs[:1])) if run.outcome == "completed" else ""
        return f"{read}; a smoke run, which no result counts"
    if run.outcome != "completed":
        return ""
    try:
        found = ingest_link.case_figures(folder.parent)
    except RunnerError as error:
        return f", and its figure is not known: {error}"
    supervision.figures[folder.parent] = found
    own = next((each for each in found.runs if each.path == f"{folder.parent.name}/{folder.name}/{LOG}"), None)
    if run.disturbed:
        return ", and left out of results"
    if own is None:
        return ", and no figure"
    if own.missing:
        speed = "" if own.value is None else f", {own.value:.4g} {own.unit}"
        return f"{speed}, and no result: the log does not state {', '.join(own.missing)}{_remedy(own)}"
    return f", {own.value:.4g} {own.unit}" if own.value is not None else f", and no figure: {own.reason}"


def _smoke_figure(found: RunFigure) -> str:
    speed = f", about {found.about}" if found.about else ""
    return f", {found.records} records read as {found.format}{speed}{_remedy(found)}"


def _remedy(found: RunFigure) -> str:
    """Return which options of the recipe would state what a log does not; empty if none would."""
    options = [option for name in found.missing if (option := _STATED_BY.get(name, name)) in OPTIONS]
    keys = ", ".join(f"`{option} = ...`" for option in options)
    return f"; add {keys} to [options] of the recipe" if options else ""


def collect(folder: Path, launched: Launch, lost: Lost | None = None) -> Finished:
    """Finish a run whose files are here, and clear up; see `record.finish`."""
    found = record.finish(folder, launched, lost)
    shutil.rmtree(folder / INCOMING, ignore_errors=True)
    if (folder / INCOMING).exists():
        # A container wrote files as root. The run is still finished.
        complain(
            RunnerError(f"{folder}: the run is finished, but {INCOMING} in it cannot be removed; remove it as root")
        )
    try:
        # Last, so that an interrupted clearing up is noticed and repeated.
        (folder / LAUNCH_JSON).unlink(missing_ok=True)
    except OSError as error:
        raise RunnerError(
            f"{folder / LAUNCH_JSON}: the run is finished, but this cannot be removed: {error.strerror}"
        ) from error
    return found


def _cause(state: State) -> str:
    return state.cause if state.kind == "lost" else f"it was given up while {state.kind}"


def _outcome(state: State) -> Outcome:
    return next((outcome for outcome in record.OUTCOMES if outcome == state.outcome), "failed")


def _left(job: Job, state: State) -> str:
    """Return why a run was left, and what to do about it."""
    alive = "it did not end when it was stopped"
    why = f"it could not be reached: {state.cause}" if state.kind == "unreachable" else alive
    return _left_after(why, job.folder)


def _left_after(why: str, folder: Path) -> str:
    later = f"`python -m runners collect {folder}` finishes it once it has ended and can be reached"
    return f"left {UNFINISHED}, since {why}; {later}, and with --abandon without it"


class Supervisor:
    """Watches a job until it has ended, stops it where necessary, and gives up on unreachable hosts.

    Times are those of `time.monotonic`; None if the event has not happened yet.
    """

    def __init__(self, job: Job, target: AnyTarget, supervision: Supervision) -> None:
        self.job, self.target, self.supervision = job, target, supervision
        self.heard = time.monotonic()
        self.begun: float | None = None
        self.failed: float | None = None
        self.asked: float | None = None
        self.answered = 0

    def watch(self) -> State:
        """Return the last state of the job.

        Its kind is ended or lost if no node is running any more, unreachable if a host was silent for longer than the
        patience or when a signal came, and running if the job did not end although it was stopped.
        """
        wait = FIRST_PAUSE
        while True:
            state = self.target.look(self.job)
            self._remember(state)
            self.supervision.progress.state(state.kind, self._shown(state))
            if state.kind in OVER or self._given_up(state):
                return state
            self._ask_to_end()
            pause(wait, self.supervision.signals, self.answered)
            wait = min(wait * LONGER, LONGEST_PAUSE)

    def _shown(self, state: State) -> str:
        if state.kind == "unreachable":
            return f"out of reach for {time.monotonic() - self.heard:.0f} s: {state.cause}"
        if state.kind != "running":
            return f"{state.kind} {state.cause}".rstrip()
        return (
            f"running: {state.last_line or 'nothing printed yet'} (the log grows in {self.target.log_place(self.job)})"
        )

    def _remember(self, state: State) -> None:
        now = time.monotonic()
        if state.kind != "unreachable":
            self.heard = now
        if state.kind == "running" and self.begun is None:
            self.begun = now
        if state.failed and self.failed is None:
            self.failed = now

    def _given_up(self, state: State) -> bool:
        now = time.monotonic()
        if state.kind == "unreachable":
            return now - self.heard > (0 if self.supervision.signals.count else PATIENCE_SECONDS)
        return self.asked is not None and now - self.asked > GRACE_SECONDS

    def _ask_to_end(self) -> None:
        """Forward each signal to the job; on a timeout or the failure of a node, stop it once."""
        if outcome := self._reason():
            # If a host cannot be reached, its next state will say so.
            with suppress(RunnerError):
                self.target.stop(self.job, outcome)
                self.asked = time.monotonic()

    def _reason(self) -> str:
        now = time.monotonic()
        if self.supervision.signals.count > self.answered:
            self.answered += 1
            return self.supervision.signals.outcome
        if self.asked is not None:
            return ""
        if self.begun is not None and now - self.begun > self.job.facts.timeout_seconds + MARGIN_SECONDS:
            return "timeout"
        if self.failed is not None and now - self.failed > FAILED_SECONDS:
            record.note_failure(self.job.folder)
            return "stopped"
        return ""


# --- A run for a host that cannot be reached --------------------------------------------------------------------------


def standalone(run: PlannedRun) -> bytes:
    """Return an archive that runs one run, in the folder that it is started in; see README.md.

    Raises:
        RunnerError: the run takes several nodes.
    """
    if run.spec.nodes > 1:
        raise RunnerError(
            f"{run.folder.parent.name}: a script is for one node, and this case takes {run.spec.nodes}; "
            "choose another with --case, or start it with --on ssh:HOST1,HOST2"
        )
    target = Local()
    launched = planned_launch(target, run)
    job = Job(launched.job, run.folder)
    request = {"identity": job.facts.identity, "rank": 0, "spec": run.spec, **asdict(target.meeting(job))}
    document = {"folder": str(run.folder), "launch": launched, "request": request}
    text = json.dumps(msgspec.to_builtins(document), ensure_ascii=False)
    return archive({"__main__.py": START, "job.json": text})
