"""What `run` does: a matrix with its repeats, or the search for the largest batch sizes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from runners import arguments, progress, resume
from runners.cases.case import Case
from runners.cases.recipe import Recipe
from runners.largest import find, said, smallest_of
from runners.places.place import Place
from runners.runs import finished
from runners.runs.attend import Attention
from runners.runs.interrupts import STOPPED, counted
from runners.runs.launch import UNFINISHED, Session
from runners.runs.plan import Run, order
from runners.series import COMPLETED, OTHERWISE, finish, ready, run_all


def repeat(options: argparse.Namespace, chosen: Recipe, cases: list[Case]) -> int:
    """The matrix, `--repeats` times over; with `--resume` what is missing of it."""
    repeats = options.repeats or chosen.repeats
    place, settings = arguments.place(options), arguments.settings(options)
    runs = order(chosen, cases, repeats, options.raw_logs, options.round)
    # Said before an earlier run is waited for.
    ready(runs, settings)
    had: dict[str, int] = {}
    if options.resume:
        left = resume.unfinished(chosen, cases, options.raw_logs)
        with attention_of(len(left), options.patience) as attention:
            status, others = finish(left, attention)
        if status:
            return status
        had = _had(runs, place, others)
        runs = order(chosen, cases, repeats, options.raw_logs, options.round, had)
        if not runs:
            print("nothing is left to run")
    with attention_of(len(runs), options.patience) as attention:
        return run_all(ready(runs, settings), Session(place, settings, attention))


def search(options: argparse.Namespace, chosen: Recipe, cases: list[Case]) -> int:
    """The largest batch size of every case; with `--resume` earlier attempts count."""
    worst = COMPLETED
    with attention_of(None, options.patience) as attention:
        session = Session(arguments.place(options), arguments.settings(options), attention)
        hardware = resume.hardware(chosen, session.place) if options.resume else []

        def known(run: Run) -> str:
            if not hardware:
                return ""
            # An attempt that still runs would take memory from the one that asks how much there is.
            left = resume.unfinished(chosen, [run.case], options.raw_logs)
            status, others = finish(left, attention)
            return (
                UNFINISHED if status or others else next((each.outcome for each in resume.settled(run, hardware)), "")
            )

        for case in smallest_of(chosen, cases):
            if attention.requests.count:
                return STOPPED
            found = find(chosen, case, options.raw_logs, options.round, session, known)
            print(said(case, found), flush=True)
            worst = max(worst, OTHERWISE if found.ended else COMPLETED)
    return STOPPED if attention.requests.count else worst


@contextmanager
def attention_of(total: int | None, patience: float) -> Iterator[Attention]:
    """Attends so many runs, None where nobody knows how many; requests to stop are counted meanwhile."""
    with counted() as requests, progress.over(total) as display:
        yield Attention(requests, patience, display)


def _had(runs: list[Run], place: Place, others: set[str]) -> dict[str, int]:
    """How many runs of each case need not be made again; one that another runner attends is taken to be one."""
    counts = dict.fromkeys(others, 1)
    firsts = {run.case.slug: run for run in reversed(runs)}
    if not any(finished.runs(run.folder.parent) for run in firsts.values()):
        return counts
    hardware = resume.hardware(runs[0].recipe, place)
    return {slug: counts.get(slug, 0) + len(resume.settled(run, hardware)) for slug, run in firsts.items()}
