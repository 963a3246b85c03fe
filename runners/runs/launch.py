"""One run from its start, or from where another runner left it, to its `run.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runners.command.script import Settings
from runners.errors import RunnerError
from runners.places import job
from runners.places.job import Job, State
from runners.places.place import Place
from runners.runs import launch_file, noted
from runners.runs.attend import OVER, Attention, attend
from runners.runs.beforehand import plan
from runners.runs.claim import claimed, disclaim
from runners.runs.collect import RUN_JSON, Lost, collect, warnings
from runners.runs.interrupts import Requests
from runners.runs.plan import Run

#: No outcome: the run goes on, or its files are not here, and it was left.
UNFINISHED = "unfinished"


@dataclass(frozen=True)
class Session:
    """What the runs of a command share."""

    place: Place
    settings: Settings
    attention: Attention


class RefusedError(RunnerError):
    """A run that a host refused, or that did not get there: nothing ran, and its folder is gone again."""


def launch(run: Run, script: str, commit: str, session: Session) -> str:
    """Starts a run, attends it and collects it; returns its outcome, UNFINISHED where it had to be left.

    Args:
        run: its number is the next one where another runner takes it first.
        script: of the run.
        commit: of the recipe's own files, empty where it is not known.
        session: where and how.

    Raises RefusedError where it did not start, RunnerError where its folder cannot be made, or the run not be finished.
    """

    def content(run: Run) -> Mapping[str, Any]:
        started = job.prepare(session.place, run)
        return launch_file.document(job.as_json(started), plan(run, session.settings, commit), run.recipe.records)

    with claimed(run, content) as (mine, document):
        session.attention.progress.begin(mine.folder)
        started = _job(mine.folder, document)
        _start(started, script, session.attention)
        return _finished(started, document, session.attention)


def go_on(folder: Path, attention: Attention) -> str:
    """Attends and collects an unfinished run, whoever started it; returns and raises as `launch` does."""
    with launch_file.attended(folder) as document:
        attention.progress.begin(folder)
        return _cleared(folder, document, attention) or _finished(_job(folder, document), document, attention)


def bring_home(folder: Path, attention: Attention, abandon: bool) -> str:
    """Collects an unfinished run if it has ended, without waiting for it; returns and raises as `launch` does.

    With `abandon` one that is still at work is asked to stop, and one that cannot be reached is finished with what of
    it is here: it failed then.
    """
    with launch_file.attended(folder) as document:
        attention.progress.begin(folder)
        if outcome := _cleared(folder, document, attention):
            return outcome
        started = _job(folder, document)
        state = attend(started, replace(attention, requests=Requests(1), patience=0)) if abandon else job.state(started)
        if state.kind not in OVER and not abandon:
            attention.progress.end(folder, f"{UNFINISHED}: {state.kind} {state.cause}".rstrip())
            return UNFINISHED
        return _collected(started, document, state, attention, given_up=abandon)


def _job(folder: Path, document: Mapping[str, Any]) -> Job:
    return job.from_json(document["job"], folder)


def _cleared(folder: Path, document: Mapping[str, Any], attention: Attention) -> str:
    """Clears up a run that has its `run.json` already; its outcome, empty for others."""
    if not (folder / RUN_JSON).exists():
        return ""
    outcome = collect(folder, document)
    attention.progress.end(folder, outcome)
    return outcome


def _start(started: Job, script: str, attention: Attention) -> None:
    try:
        found = job.start(started, script)
    except RunnerError as error:
        disclaim(started.folder)
        raise RefusedError(str(error)) from error
    for warning in found:
        attention.progress.line(f"{started.folder}: warning: {warning}")
    noted.note_warnings(started.folder, found)


def _finished(started: Job, document: Mapping[str, Any], attention: Attention) -> str:
    state = attend(started, attention)
    if state.kind in OVER:
        return _collected(started, document, state, attention)
    attention.progress.end(started.folder, _left(started, state))
    return UNFINISHED


def _collected(
    started: Job, document: Mapping[str, Any], state: State, attention: Attention, given_up: bool = False
) -> str:
    lost = None if state.kind == "ended" else Lost(_cause(state), state.outcome or "failed")
    # Each on its own: where one node cannot be asked to end, the logs of the others come home all the same.
    for step in (job.stop, job.fetch) if lost else (job.fetch,):
        try:
            step(started)
        except RunnerError:
            # What was given up may be out of reach; all else must come home whole, for it is not asked for again.
            if not (lost and given_up):
                raise
    known = noted.warnings(started.folder)
    noted.note_warnings(started.folder, job.late_warnings(started))
    outcome = collect(started.folder, document, lost)
    for warning in warnings(started.folder):
        if warning not in known:
            attention.progress.line(f"{started.folder}: warning: {warning}")
    attention.progress.end(started.folder, outcome)
    return outcome


def _cause(state: State) -> str:
    return state.cause if state.kind == "lost" else f"it was given up while {state.kind}"


def _left(started: Job, state: State) -> str:
    """Why a run was left, and what to do about it."""
    deaf = "it did not end when it was asked to"
    why = f"it could not be reached: {state.cause}" if state.kind == "unreachable" else deaf
    later = f"`python -m runners collect {started.folder}` finishes it once it has ended and can be reached"
    return f"left {UNFINISHED}, since {why}; {later}, and with --abandon without it"
