"""Finished runs of a case: what earlier `run.json` say, and the next free number."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from perfledger.runners.nodes import LOG, printable
from perfledger.schema.records import Node, Stated
from perfledger.schema.run_json import told_apart

RUN_JSON = "run.json"
#: Facts of a machine by their keys in `environment.json`, which the agent chooses.
Facts = Mapping[str, Stated]
#: Outcomes after which a run is not repeated: its figure is known, or that its memory does not suffice.
SETTLED_OUTCOMES = ("completed", "oom")
#: Bytes at the end of a log that are searched for its last line.
_LAST_BYTES = 1 << 16
#: Characters of the last line that a message shows.
_LAST_LINE = 200


class _Hardware(Struct, frozen=True):
    hardware: str


class FinishedRun(Struct, frozen=True):
    """The part of an earlier `run.json` that runners need."""

    outcome: str
    case: _Hardware
    repeat: int = 0
    round: str = ""
    smoke: bool = False
    warnings: tuple[str, ...] = ()
    disturbances: tuple[str, ...] | None = None
    accept_disturbed: bool = False
    exit_status: int | None = None
    nodes: tuple[Node, ...] = ()

    @property
    def disturbed(self) -> bool:
        """Whether no result counts it, because something else ran on its hosts."""
        return bool(told_apart(self.warnings, self.disturbances)[1]) and not self.accept_disturbed


def how_it_ended(folder: Path) -> str:
    """Return how a run ended that did not complete: node, exit status, and the last line of the node's log."""
    run = finished_run(folder)
    rank, node = next(
        ((at, each) for at, each in enumerate(run.nodes) if each.outcome == run.outcome),
        (None, Node(".", run.outcome, run.exit_status)),
    )
    said = [] if rank is None else [f"node {rank}"]
    said += [] if node.exit_status is None else [f"exit status {node.exit_status}"]
    lines: list[str] = []
    with suppress(OSError), (folder / node.folder / LOG).open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - _LAST_BYTES))
        lines = [line for each in log.read().decode("utf-8", "replace").splitlines() if (line := printable(each))]
    return ": ".join(filter(None, [", ".join(said), lines[-1][:_LAST_LINE] if lines else "its log is empty"]))


def finished_run(folder: Path) -> FinishedRun:
    """Read the `run.json` of a run, with the number of its folder."""
    found = msgspec.json.decode((folder / RUN_JSON).read_bytes(), type=FinishedRun)
    return replace(found, repeat=int(folder.name))


def finished_runs(case_folder: Path) -> list[FinishedRun]:
    """Return the finished runs of a case by number, without those whose `run.json` cannot be read."""
    found = []
    for path in case_folder.glob(f"*/{RUN_JSON}"):
        with suppress(OSError, ValueError, RecursionError):
            found.append(finished_run(path.parent))
    return sorted(found, key=lambda run: run.repeat)


def next_repeat(case_folder: Path) -> int:
    """Return the next free number of a case; unfinished runs keep theirs, too."""
    try:
        taken = [int(path.name) for path in case_folder.iterdir() if path.name.isdecimal()]
    except (FileNotFoundError, NotADirectoryError):
        return 1
    return max(taken, default=0) + 1
