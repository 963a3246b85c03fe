"""The Python environment of a recipe, and the variables of a site's prologue."""

import json
import os
import shutil
import subprocess
import sys

from .programs import NOTHING, clean, last_words
from .spec import EnvironmentName
from .tools import PROLOGUE_SECONDS, Refused, first_match, read_text, write_file


class PythonEnvironment:
    """The virtual environment of a recipe, below the work folder. A mark in it, written last, says what made it."""

    def __init__(self, work: str, wanted: "EnvironmentName") -> None:
        self.name, self.made_by = wanted.name, wanted.made_by
        self.folder = os.path.join(work, "environments", self.name)
        self.mark = os.path.join(self.folder, "perfledger.json")
        self.bin = os.path.join(self.folder, "bin")

    @property
    def is_there(self) -> bool:
        """Whether its setup was begun."""
        return os.path.isdir(self.folder)

    @property
    def is_current(self) -> bool:
        """Whether the steps that the recipe has now made it, all of them."""
        return first_match(r'"made_by": *"([0-9a-f]*)"', read_text(self.mark)) == self.made_by

    def entered(self, variables: "dict[str, str]") -> "dict[str, str]":
        """Return environment variables as they are inside it, and without those that would lead out of it."""
        path = os.pathsep.join(filter(None, [self.bin, variables.get("PATH", os.defpath)]))
        kept = {name: value for name, value in variables.items() if name != "PYTHONHOME"}
        return {**kept, "PATH": path, "VIRTUAL_ENV": self.folder}

    def make(self, python: str, lock: str, variables: "dict[str, str]") -> "list[list[str]]":
        """Remove an environment of other steps, and return the commands that make this one; none if it is current."""
        if self.is_current:
            return []
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(os.path.dirname(self.folder), exist_ok=True)
        path = variables.get("PATH")
        found = shutil.which(python, path=path) or shutil.which("python3", path=path) or sys.executable
        uv = shutil.which("uv", path=path)
        # Seeded, because setup steps call pip.
        made = [uv, "venv", "--seed", "--python", found] if uv else [found, "-m", "venv"]
        commands = [[*made, self.folder]]
        if lock:
            requirements = self.folder + ".lock"
            write_file(requirements, lock)
            inside = os.path.join(self.bin, "python")
            pip = [uv, "pip", "install", "--python", inside] if uv else [inside, "-m", "pip", "install"]
            commands.append([*pip, "--require-hashes", "-r", requirements])
        return commands

    def finish(self) -> None:
        """Mark it as complete."""
        write_file(self.mark, json.dumps({"schema": "perfledger.environment_made/1", "made_by": self.made_by}))


def after_prologue(lines: "list[str]") -> "dict[str, str]":
    """Return the environment variables after the lines of a site's prologue.

    Raises:
        Refused: a line failed.
    """
    if not lines:
        return dict(os.environ)
    # The output of the lines goes to stderr, so that the answer contains the variables alone.
    program = "\n".join(["set -e", "exec 3>&1 1>&2", *lines, "env -0 >&3"])
    try:
        done = subprocess.run(
            ["bash", "-c", program],
            stdin=NOTHING,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=PROLOGUE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused(f"the site's prologue cannot be run: {error}") from None
    if done.returncode:
        last = last_words(clean(done.stderr))
        raise Refused(f"a line of the site's prologue failed (exit status {done.returncode}): {last}")
    pairs = (os.fsdecode(each).partition("=") for each in done.stdout.split(b"\0"))
    return {name: value for name, equals, value in pairs if equals and name not in ("_", "SHLVL")}
