"""Runners that wait less: in the process of a test, or as one of their own by `python -m tests.runners.quick`."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec

from ingest import cli as ingest
from runners import nodes, record, run, slurm, submit
from runners.cli import main
from schema.figures import FiguresFound
from schema.submission import SubmissionCheck

#: The process that `python -m ingest` is, for tests of it.
INGEST = record._ingest
#: How long the agent waits, and how long in tests: the load of a machine that tests says nothing, and what ends there
#: must have been ended by what is tested, and not by the agent's patience.
WAITS = {
    "LOAD_SECONDS = 0.5": "LOAD_SECONDS = 0.02",
    "BUSY_PERCENT = 10": "BUSY_PERCENT = 101",
    "RELEASE_SECONDS = 5": "RELEASE_SECONDS = 0.02",
    "GRACE_SECONDS = 10": "GRACE_SECONDS = 300",
}


def agent() -> str:
    """Return the agent with short waits."""
    text = Path(nodes.__file__).with_name("host_agent.py").read_text(encoding="utf-8")
    for old, new in WAITS.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def printed(folder: Path, *words: str) -> str:
    """Return what `python -m ingest` prints in a folder, without the second that its start takes."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()), contextlib.chdir(folder):
        ingest.main(words)
    return output.getvalue()


def ingested(folder: Path) -> FiguresFound:
    """Return what `python -m ingest figures --json` prints."""
    return msgspec.json.decode(printed(folder.parent, "figures", "--json", folder.name), type=FiguresFound)


def checked(folder: Path) -> list[SubmissionCheck]:
    """Return what `python -m ingest accept --json` prints."""
    return msgspec.json.decode(printed(folder, "accept", "--json", str(folder)), type=list[SubmissionCheck])


def shorten(set_to: Callable[[Any, str, Any], None]) -> None:
    """Shorten the waits of this process."""
    source = agent()
    set_to(nodes, "AGENT", SimpleNamespace(read_text=lambda encoding: source))
    set_to(run, "LONGEST_PAUSE", 0.5)
    set_to(slurm, "SHARED_SECONDS", 0.5)
    set_to(record, "_ingest", ingested)
    set_to(submit, "_checked", checked)


if __name__ == "__main__":
    shorten(setattr)
    sys.exit(main(sys.argv[1:]))
