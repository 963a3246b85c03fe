"""Runners that wait less: in the process of a test, or as one of their own by `python -m tests.runners.quick`."""

from __future__ import annotations

import contextlib
import functools
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from perfledger.ingest import cli as ingest
from perfledger.ingest.read import layout
from perfledger.ingest.read.walk import Input
from perfledger.ingest.record.run import runs_of
from perfledger.runners import agent_link, ingest_link, slurm
from perfledger.runners import run as runs
from perfledger.runners.cli import main
from perfledger.schema.figures import FiguresFound
from tests.runners.agents import all_of, kept, modules, replacing
from tests.runners.arrivals import LINE

#: The process that `python -m ingest` is, for tests of it.
INGEST = ingest_link.ask_ingest
#: The modules of the agent as they are.
AGENT = agent_link.AGENT
#: How long the agent waits, and how long in tests: the load of a machine that tests says nothing, and what ends there
#: must have been ended by the tested code, and not by the agent's patience.
WAITS = {
    "LOAD_SECONDS = 0.5": "LOAD_SECONDS = 0.02",
    "BUSY_PERCENT = 10": "BUSY_PERCENT = 101",
    "RELEASE_SECONDS = 5": "RELEASE_SECONDS = 0.02",
    "GRACE_SECONDS = 10": "GRACE_SECONDS = 300",
}


def agent() -> Path:
    """Return the folder of the agent with short waits."""
    return kept(all_of(*(replacing(old, new) for old, new in WAITS.items()))(modules(AGENT)))


@functools.cache
def compile_patterns() -> None:
    """Read a log, which compiles the patterns of all formats: copies of this process that read logs need not do it."""
    with tempfile.NamedTemporaryFile(suffix=".log") as log:
        for step in range(1, 9):
            log.write(LINE.format(step=step).encode())
        log.flush()
        runs_of(Input(Path(log.name), "train.log"), layout.load("perfledger"), "")


def printed(folder: Path, *words: str) -> str:
    """Return what `python -m ingest` prints in a folder, without the second that its start takes."""
    compile_patterns()
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()), contextlib.chdir(folder):
        ingest.main(words)
    return output.getvalue()


def ingested(folder: Path) -> FiguresFound:
    """Return what `python -m ingest figures --json` prints."""
    return msgspec.json.decode(printed(folder.parent, "figures", "--json", folder.name), type=FiguresFound)


def shorten(set_to: Callable[[Any, str, Any], None]) -> None:
    """Shorten the waits of this process."""
    set_to(agent_link, "AGENT", agent())
    set_to(runs, "LONGEST_PAUSE", 0.5)
    set_to(slurm, "SHARED_SECONDS", 0.5)
    set_to(ingest_link, "ask_ingest", ingested)


if __name__ == "__main__":
    shorten(setattr)
    sys.exit(main(sys.argv[1:]))
