"""Runners that wait less: in the process of a test, or as one of their own by `python -m tests.runners.quick`."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import marshal
import os
import sys
from collections.abc import Callable
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any

import msgspec

from ingest import cli as ingest
from runners import nodes, record, run, slurm, submit
from runners.cli import main
from schema.figures import FiguresFound
from schema.submission import SubmissionCheck

#: The process that `python -m ingest` is, for tests of it.
INGEST = record._ingest
#: What sends nodes the agent's source, for tests of it.
SOURCE = nodes.agent_source
#: A program that is the agent at `path`, whose source another Python than that of these tests compiles for itself.
COMPILED = """
import marshal
from _frozen_importlib_external import MAGIC_NUMBER
with open({path!r} + ".code", "rb") as file:
    code = file.read()
if code.startswith(MAGIC_NUMBER):
    exec(marshal.loads(code[len(MAGIC_NUMBER) :]))
else:
    with open({path!r}, encoding="utf-8") as file:
        exec(compile(file.read(), "host_agent.py", "exec"))
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


@functools.cache
def compiled(agent: str) -> str:
    """Return a short program that is an agent: to compile it anew is most of what a question to a node takes.

    It holds for hosts that are this machine, which all hosts of these tests are.
    """
    folder = Path(os.environ["PERFLEDGER_COMPILED"])
    folder.mkdir(exist_ok=True)
    path = folder / f"{hashlib.sha256(agent.encode()).hexdigest()}.{os.getpid()}"
    path.write_text(agent, encoding="utf-8")
    code = marshal.dumps(compile(agent, "host_agent.py", "exec"))
    path.with_name(f"{path.name}.code").write_bytes(MAGIC_NUMBER + code)
    return COMPILED.format(path=str(path))


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
    set_to(nodes, "AGENT", kept(agent()))
    set_to(nodes, "agent_source", lambda: compiled(SOURCE()))
    set_to(run, "LONGEST_PAUSE", 0.5)
    set_to(slurm, "SHARED_SECONDS", 0.5)
    set_to(record, "_ingest", ingested)
    set_to(submit, "_checked", checked)


if __name__ == "__main__":
    shorten(setattr)
    sys.exit(main(sys.argv[1:]))
