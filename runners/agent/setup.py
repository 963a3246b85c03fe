"""The setup steps of a recipe."""

import json
import os
import re
import subprocess
import sys
from typing import Any, Dict, List, NamedTuple

from .environments import PythonEnvironment, after_prologue
from .job import fill
from .programs import NOTHING
from .spec import EnvironmentName, Word
from .tools import Refused, encoded, read_text


class SetupRequest(NamedTuple):
    """The request of a launcher; `cli/setup.py` of the launcher describes the fields."""

    steps: List[str]
    work: str
    virtual_environment: Any  # see `EnvironmentName`
    python: str
    lock: str
    prologue: List[str]
    variables: Dict[str, str]
    enter: List[Word]


def set_up(path: str) -> int:
    """Run the steps of a file up to the first failure, and return its exit status; remove the file."""
    request = json.loads(read_text(path))
    os.unlink(path)
    try:
        return _run(SetupRequest(**{name: request[name] for name in SetupRequest._fields}), os.path.dirname(path))
    except Refused as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 1
    except KeyboardInterrupt:
        return 130


def _run(wanted: SetupRequest, work: str) -> int:
    base = {**after_prologue(wanted.prologue), **wanted.variables}
    # pip then refuses to install into the system's Python.
    variables = {**base, "work": work, "PWD": work, "PIP_REQUIRE_VIRTUALENV": "1"}
    values = {"work": work, "working_folder": work, "identity": f"setup.{os.getpid()}", "node_rank": "0"}
    named = wanted.virtual_environment
    environment = PythonEnvironment(work, EnvironmentName(**named)) if named else None
    commands = []
    if environment:
        commands += [(" ".join(argv), argv) for argv in environment.make(wanted.python, wanted.lock, base)]
        variables = environment.entered(variables)
    for step in wanted.steps:
        # `${work}` is the shell's own variable, with the same value.
        text = re.sub(r"(?<!\$)\{work\}", '"${work}"', step)
        commands.append((step, [*(fill(word, values) for word in wanted.enter), "bash", "-c", text]))
    for shown, argv in commands:
        sys.stdout.buffer.write(encoded(f"+ {shown}\n"))
        sys.stdout.flush()
        status = subprocess.call(argv, cwd=work, env=variables, stdin=NOTHING)
        if status:
            return status
    if environment:
        environment.finish()
    return 0
