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
from runners import nodes, record, run, slurm
from runners.cli import main
from schema.figures import FiguresFound

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


def ingested(folder: Path) -> FiguresFound:
    """Return what `python -m ingest figures --json` prints, without the second that its start takes."""
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.chdir(folder.parent),
    ):
        assert ingest.main(["figures", "--json", folder.name]) == 0
    return msgspec.json.decode(printed.getvalue(), type=FiguresFound)


def shorten(set_to: Callable[[Any, str, Any], None]) -> None:
    """Shorten the waits of this process."""
    source = agent()
    set_to(nodes, "AGENT", SimpleNamespace(read_text=lambda encoding: source))
    set_to(run, "LONGEST_PAUSE", 0.5)
    set_to(slurm, "SHARED_SECONDS", 0.5)
    set_to(record, "_ingest", ingested)


if __name__ == "__main__":
    shorten(setattr)
    sys.exit(main(sys.argv[1:]))
