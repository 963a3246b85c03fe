"""The setup steps of a recipe."""

import json
import os
import re
import subprocess
import sys

from .environments import PythonEnvironment, after_prologue
from .job import fill
from .programs import NOTHING
from .spec import EnvironmentName
from .tools import Refused, encoded, read_text

MYPY = False
if MYPY:
    from typing import Any


def set_up(path: str) -> int:
    """Run the steps of a file up to the first failure, and return its exit status; remove the file."""
    request = json.loads(read_text(path))
    os.unlink(path)
    try:
        return _run(request, os.path.dirname(path))
    except Refused as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 1
    except KeyboardInterrupt:
        return 130


def _run(request: "dict[str, Any]", work: str) -> int:
    base = {**after_prologue(request["prologue"]), **request["variables"]}
    # pip then refuses to install into the system's Python.
    variables = {**base, "work": work, "PWD": work, "PIP_REQUIRE_VIRTUALENV": "1"}
    values = {"work": work, "working_folder": work, "identity": f"setup.{os.getpid()}", "node_rank": "0"}
    wanted = request["virtual_environment"]
    environment = PythonEnvironment(work, EnvironmentName(**wanted)) if wanted else None
    commands = []
    if environment:
        commands += [(" ".join(argv), argv) for argv in environment.make(request["python"], request["lock"], base)]
        variables = environment.entered(variables)
    for step in request["steps"]:
        # `${work}` is the shell's own variable, with the same value.
        text = re.sub(r"(?<!\$)\{work\}", '"${work}"', step)
        commands.append((step, [*(fill(word, values) for word in request["enter"]), "bash", "-c", text]))
    for shown, argv in commands:
        sys.stdout.buffer.write(encoded(f"+ {shown}\n"))
        sys.stdout.flush()
        status = subprocess.call(argv, cwd=work, env=variables, stdin=NOTHING)
        if status:
            return status
    if environment:
        environment.finish()
    return 0
