"""Lines about runs: how they go, how they ended, and the figure of each or why it has none."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from perfledger import as_called
from perfledger.runners import ingest_link
from perfledger.runners.folders import how_it_ended, is_disturbed
from perfledger.runners.job import RunnerError
from perfledger.runners.nodes import LOG, printable
from perfledger.schema.figures import FiguresFound, RunFigure
from perfledger.schema.run_json import RunJson
from perfledger.schema.vocabulary import OPTIONS

#: How often a line says that a run goes on.
LIVE_SECONDS = 60
#: States that are printed at once.
AT_ONCE = ("unreachable", "busy")
#: Characters of a log's line that are printed.
LINE_WIDTH = 200
#: Option of a recipe that gives a fact which a log does not state, by fact.
_STATED_BY = {"tokens_per_step": "sequence_length"}


def complain(error: RunnerError) -> None:
    """Print an error; text of a host in it cannot move the cursor."""
    text = "\n".join(map(printable, str(error).splitlines()))
    print(f"runners: {as_called(text)}", file=sys.stderr, flush=True)


class Progress:
    """Prints how runs go: when one begins and ends, and a line a minute between."""

    def __init__(self, total: int | None) -> None:
        """Expect `total` runs; None where the number is not known beforehand."""
        self._of = f"/{total}" if total else ""
        self._begun = 0
        self._printed, self._kind = time.monotonic(), ""
        self._once = set[str]()

    def begin(self, folder: Path) -> None:
        """Print that a run begins."""
        self._begun += 1
        self._printed, self._kind = time.monotonic(), ""
        print(f"[{self._begun}{self._of}] {folder}", flush=True)

    def state(self, kind: str, text: str) -> None:
        """Print the present state once a minute, and at once if the run waits, is out of reach, or is back."""
        at_once = kind != self._kind and (kind in AT_ONCE or self._kind == "unreachable")
        if at_once or time.monotonic() - self._printed >= LIVE_SECONDS:
            print(f"  {time.strftime('%H:%M:%S')} {printable(text)[:LINE_WIDTH]}", flush=True)
            self._printed = time.monotonic()
        self._kind = kind

    def once(self, text: str) -> None:
        """Print a line, unless it was printed before."""
        if text not in self._once:
            self._once.add(text)
            print(printable(text), flush=True)

    def end(self, folder: Path, outcome: str) -> None:
        """Print the outcome of a run."""
        print(printable(f"{folder}: {outcome}"), flush=True)


def figure_text(folder: Path, run: RunJson, figures: dict[Path, FiguresFound], alone: FiguresFound) -> str:
    """Return the figure of a run, for the line that states its outcome, and keep those of its case; or how it failed.

    `alone` are the figures of its log without other repeats.
    """
    if run.outcome in ("failed", "oom"):
        return f" ({how_it_ended(folder, run)})"
    if run.smoke:
        read = "".join(map(_smoke_figure, alone.runs[:1])) if run.outcome == "completed" else ""
        return f"{read}; a smoke run, which no result counts"
    if run.outcome != "completed":
        return ""
    try:
        found = ingest_link.ask_ingest(folder.parent)
    except RunnerError as error:
        return f", and its figure is not known: {error}"
    figures[folder.parent] = found
    own = next((each for each in found.runs if each.path == f"{folder.parent.name}/{folder.name}/{LOG}"), None)
    if is_disturbed(run):
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
