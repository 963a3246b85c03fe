"""Questions to the agent of a node, which name its version; a node unpacks its archive once."""

from __future__ import annotations

import base64
import functools
import hashlib
import io
import json
import os
import sys
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from perfledger.runners.programs import ProgramResult, Question, ask

T = TypeVar("T")

#: The folder of the agent's modules; the name of the folder is that of the package.
AGENT = Path(__file__).with_name("agent")
#: Python before 3.8 writes no earlier date into an archive; a fixed one keeps the hash of the archive stable.
FIXED_DATE = (1980, 1, 1, 0, 0, 0)
MARK = "perfledger "
#: Reads a question, which is one line of JSON, and passes it to the agent. `above` is the folder of the package on this
#: machine. Another host unpacks the agent once, below the folder of jobs or of the user.
BOOT = """
import json, os, sys
if sys.version_info < (3, 6):
    sys.exit("Perfledger needs Python 3.6 or newer, and this is " + sys.version.split()[0])
question = json.loads(os.fsdecode(sys.stdin.buffer.readline()))
packed = question.pop("zip", "")
jobs = os.environ.get("PERFLEDGER_JOBS")
agents = os.path.join(jobs, ".agents") if jobs else os.path.expanduser("~/.perfledger/agents")
home = question.pop("above", "") or os.path.join(agents, question["agent"])
if packed and not os.path.isdir(home):
    import base64, io, shutil, tempfile, zipfile
    archive = zipfile.ZipFile(io.BytesIO(base64.b64decode(packed)))
    new = ""
    try:
        os.makedirs(agents, exist_ok=True)
        new = tempfile.mkdtemp(dir=agents)
        archive.extractall(new)
        os.rename(new, home)
    except OSError as error:
        shutil.rmtree(new, ignore_errors=True)
        # Another question may have been faster.
        if not os.path.isdir(home):
            sys.exit(
                "the agent cannot be unpacked in " + agents + ": " + str(error.strerror)
                + "; make room there, or set PERFLEDGER_JOBS to another folder"
            )
if not os.path.isdir(home):
    print("\\nperfledger " + json.dumps({"unknown_agent": True}))
    sys.exit()
sys.path.insert(0, home)
import agent
del sys.path[0]
from agent.actions import serve
serve(question)
"""
#: The program in a form that each login shell passes on: one line, without single quotes.
BOOT_WORD = f"exec({json.dumps(BOOT)})"
#: Without modules of the present folder, of the user and of site-packages: looking for them takes time.
PYTHON = ("-I", "-S", "-c", BOOT_WORD)
#: Starts the run of an archive that contains its job.
START = """
import sys
if sys.version_info < (3, 6):
    sys.exit("Perfledger needs Python 3.6 or newer, and this is " + sys.version.split()[0])
from agent.standalone import standalone
sys.exit(standalone())
"""


def archive(further: Mapping[str, str] | None = None) -> bytes:
    """Return a zip of the agent's modules, and of further texts by name."""
    modules = {f"agent/{path.name}": path.read_bytes() for path in sorted(AGENT.glob("*.py"))}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as into:
        for name, data in {**modules, **{name: os.fsencode(text) for name, text in (further or {}).items()}}.items():
            into.writestr(zipfile.ZipInfo(name, FIXED_DATE), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


@functools.cache
def _version(_folder: Path) -> tuple[str, str]:
    """Return the name of the agent's version, and its archive as text. Read once: files may change meanwhile."""
    packed = archive()
    return hashlib.sha256(packed).hexdigest()[:32], base64.b64encode(packed).decode()


def question(argv: Sequence[str], action: str, **values: object) -> str:
    """Return the line of JSON that BOOT reads, with texts as they are; see `encoded` of the agent.

    Args:
        argv: the command that runs BOOT. The Python of this process runs the modules in their own folder.
        action: a method of the agent's `Actions`.
        values: the rest of the question.
    """
    name = {"above": str(AGENT.parent)} if sys.executable in argv else {"agent": _version(AGENT)[0]}
    return json.dumps(msgspec.to_builtins({**name, "action": action, **values}), ensure_ascii=False) + "\n"


def with_archive(line: str) -> str:
    """Return a question with the archive, for a node that does not know the agent."""
    return json.dumps({**json.loads(line), "zip": _version(AGENT)[1]}, ensure_ascii=False) + "\n"


class _Unknown(Struct, frozen=True):
    """The answer of a node that does not have this version of the agent."""

    unknown_agent: bool = False


def ask_agents(questions: Sequence[Question], seconds: float) -> list[ProgramResult]:
    """Ask the agents of nodes like `ask`; send the agent to the nodes that do not know it, and ask these again."""
    answers = dict(enumerate(ask(questions, seconds)))
    unknown = [at for at, answer in answers.items() if (said := decoded(answer, _Unknown)) and said.unknown_agent]
    again = [replace(questions[at], text=with_archive(questions[at].text)) for at in unknown]
    answers.update(zip(unknown, ask(again, seconds) if again else (), strict=True))
    return list(answers.values())


def decoded(answer: ProgramResult, kind: type[T]) -> T | None:
    """Return the last answer of an agent; None if it gave no answer.

    Not with `splitlines`, which also splits at form feeds: what a login prints after one could pass for an answer.
    """
    for line in reversed(answer.output.split("\n")):
        if line.startswith(MARK + "{"):
            with suppress(msgspec.MsgspecError):
                return msgspec.json.decode(line.removeprefix(MARK), type=kind)
    return None
