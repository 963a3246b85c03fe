"""What was noted of a run before it ended, for its `run.json`: beside what comes home, until that is finished."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from runners.runs.files import write
from runners.runs.launch_file import INCOMING

WARNINGS = "warnings.json"
FAILED = "a_node_failed"


def note_warnings(folder: Path, found: Sequence[str]) -> None:
    """Keeps what nodes warned of when the run started."""
    if found:
        write(folder / INCOMING / WARNINGS, json.dumps(list(found)))


def warnings(folder: Path) -> list[str]:
    """What nodes warned of, as long as the run is unfinished."""
    path = folder / INCOMING / WARNINGS
    return [str(each) for each in json.loads(path.read_text(encoding="utf-8"))] if path.is_file() else []


def note_failure(folder: Path) -> None:
    """Keeps that a node failed before the others are stopped, lest the run be taken for one that was stopped."""
    (folder / INCOMING).mkdir(exist_ok=True)
    write(folder / INCOMING / FAILED, "")


def failure(folder: Path) -> bool:
    """Whether a node failed, and the others were stopped for that reason alone."""
    return (folder / INCOMING / FAILED).exists()
