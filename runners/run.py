"""The life of one run: its folder is made, it is started, watched, and finished by its `run.json`."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal

import msgspec
from msgspec.structs import replace

from perfledger.runners import earlier
from perfledger.runners.display import complain, disturbed_text, figure_text
from perfledger.runners.earlier import RUN_JSON
from perfledger.runners.job import PlannedRun, RunnerError
from perfledger.runners.launch_json import LAUNCH_JSON, AnyTarget, Launch, lock, open_launch, planned_launch
from perfledger.runners.nodes import LOG
from perfledger.runners.record import Lost, finish
from perfledger.runners.transport import Job, JobState, UncertainStartError, Warnings
from perfledger.runners.watch import OVER, StopSignals, Supervision, wait_idle, watch

#: In place of an outcome: the run goes on, or its files cannot be fetched, and it was left.
UNFINISHED = "unfinished"
#: How an unfinished run is finished: `wait` for its end, only `look` whether it has ended, `stop` it, or `abandon` it:
#: stop it, and finish it as failed, with the files that are here, if its hosts cannot be reached.
Collecting = Literal["wait", "look", "stop", "abandon"]


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
        _print_warnings(mine.folder, launched, found, supervision)
        return _seen_to_its_end(job, launched, supervision, "wait")


def collect_run(folder: Path, supervision: Supervision, how: Collecting) -> str:
    """Finish an unfinished run as `how` says; return and raise as `launch` does."""
    with open_launch(folder) as launched:
        supervision.progress.begin(folder)
        if (folder / RUN_JSON).exists():
            return _finished(folder, launched, None, supervision)
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
    lost = None
    if ended.kind != "ended":
        cause = ended.cause if ended.kind == "lost" else f"it was given up while {ended.kind}"
        lost = Lost(cause, ended.outcome or "failed")
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


def _finished(folder: Path, launched: Launch, lost: Lost | None, supervision: Supervision) -> str:
    """Finish a run whose files are here, and print its outcome and figure."""
    alone = finish(folder, launched, lost)
    found = earlier.finished_run(folder)
    _print_warnings(folder, launched, Warnings(found.warnings, found.disturbances or ()), supervision)
    supervision.progress.end(folder, f"{found.outcome}{figure_text(folder, supervision.figures, alone)}")
    return found.outcome


def _print_warnings(folder: Path, launched: Launch, found: Warnings, supervision: Supervision) -> None:
    for warning in found.warnings:
        supervision.progress.once(f"{folder}: warning: {warning}")
    for disturbance in found.disturbances:
        supervision.progress.once(f"{folder}: {disturbed_text(launched, disturbance)}")


# --- The folder of a run ----------------------------------------------------------------------------------------------


@contextmanager
def run_folder(run: PlannedRun, target: AnyTarget) -> Iterator[tuple[PlannedRun, Launch]]:
    """Make the folder of a run, with its `launch.json` in it, and lock the run.

    Yields the run with its final number: the next free one if another runner took the planned one.

    Raises:
        RunnerError: the folder cannot be made.
    """
    launched = planned_launch(target, run)
    try:
        while not _is_made(run.folder):
            number = earlier.next_repeat(run.folder.parent)
            run = replace(run, record=replace(run.record, repeat=number), folder=run.folder.parent / str(number))
        launched = replace(launched, plan=run.record)
        file = _locked_launch(run.folder, launched)
    except (OSError, RunnerError) as error:
        remove_refused(run.folder)
        if isinstance(error, RunnerError):
            raise
        raise RunnerError(
            f"{run.folder}: it cannot be made: {error.strerror}; make room there, or choose another with --raw-logs"
        ) from error
    with file:
        yield run, launched


def _is_made(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return False
    return True


def _locked_launch(folder: Path, launched: Launch) -> IO[str]:
    """Write `launch.json`, and return it locked."""
    # Under its name once it is complete and locked, or another runner could take the run.
    partial = folder / f".{LAUNCH_JSON}"
    file = partial.open("w", encoding="utf-8")
    lock(file, folder)
    json.dump(msgspec.to_builtins(launched), file, indent=1, ensure_ascii=False)
    file.flush()
    os.fsync(file.fileno())
    partial.rename(folder / LAUNCH_JSON)
    return file


def remove_refused(folder: Path) -> None:
    """Remove the folder of a refused run, and those around it that are empty then, unless it has a log.

    No log is ever deleted.
    """
    if any(path.stat().st_size for path in folder.rglob(LOG)):
        return
    shutil.rmtree(folder, ignore_errors=True)
    # Those of its case, its framework, its suite, and of all logs.
    for parent in folder.parents[:4]:
        try:
            parent.rmdir()
        except OSError:
            return
