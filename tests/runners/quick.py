"""Runners that wait less: in the process of a test, or as one of their own by `python -m tests.runners.quick`."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from perfledger.ingest import cli as ingest
from perfledger.runners import nodes, record, run, slurm
from perfledger.runners.cli import main
from perfledger.schema.figures import FiguresFound

#: The process that `python -m ingest` is, for tests of it.
INGEST = record._ingest
#: What sends nodes the agent's source, for tests of it.
SOURCE = nodes.agent_source
#: A program that is the agent at `path`, of which each Python keeps its bytecode.
COMPILED = """
from importlib.machinery import SourceFileLoader
exec(SourceFileLoader("host_agent", {path!r}).get_code("host_agent"))
"""
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


@functools.cache
def kept(agent: str) -> Path:
    """Return the file of an agent, the same for all processes, so that one of them compiles it."""
    folder = Path(os.environ["PERFLEDGER_COMPILED"])
    folder.mkdir(exist_ok=True)
    path = folder / f"agent_{hashlib.sha256(agent.encode()).hexdigest()}.py"
    if not path.exists():
        own = path.with_suffix(f".{os.getpid()}")
        own.write_text(agent, encoding="utf-8")
        own.replace(path)
    return path


def compiled(agent: str) -> str:
    """Return a short program that is an agent: to compile it anew is most of what a question to a node takes.

    It holds for hosts that are this machine, which all hosts of these tests are.
    """
    return COMPILED.format(path=str(kept(agent)))


def printed(folder: Path, *words: str) -> str:
    """Return what `python -m ingest` prints in a folder, without the second that its start takes."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()), contextlib.chdir(folder):
        ingest.main(words)
    return output.getvalue()


def ingested(folder: Path) -> FiguresFound:
    """Return what `python -m ingest figures --json` prints."""
    return msgspec.json.decode(printed(folder.parent, "figures", "--json", folder.name), type=FiguresFound)


def shorten(set_to: Callable[[Any, str, Any], None]) -> None:
    """Shorten the waits of this process."""
    set_to(nodes, "AGENT", kept(agent()))
    set_to(nodes, "agent_source", lambda: compiled(SOURCE()))
    set_to(run, "LONGEST_PAUSE", 0.5)
    set_to(slurm, "SHARED_SECONDS", 0.5)
    set_to(record, "_ingest", ingested)


if __name__ == "__main__":
    shorten(setattr)
    sys.exit(main(sys.argv[1:]))
