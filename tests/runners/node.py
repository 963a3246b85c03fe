"""One node as a back end sees it: a job folder, the script in it, and the variables that the script is given."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runners import recipe
from runners.case import choose
from runners.plan import Run
from runners.script import Settings, build


@dataclass(frozen=True)
class Node:
    """`job` is the folder of the job on the node; `variables` come on top of those of the test."""

    job: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> subprocess.CompletedProcess[str]:
        """What the script says before anything starts."""
        return self._call("check")

    def run(self) -> int:
        """The exit status of the whole run, which prints nothing beside its log."""
        done = self._call("run")
        assert done.stdout + done.stderr == "", done
        return done.returncode

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[str]]:
        """The script as a process of its own, from when its command has printed a line."""
        with subprocess.Popen(self._argv("run"), text=True, start_new_session=True, **self._streams()) as process:
            try:
                assert any(log.exists() and log.stat().st_size for log in [self.job / "train.log"] for _ in polls())
                yield process
            finally:
                process.kill()

    def host(self) -> dict[str, Any]:
        """host.json."""
        return self._json("host")

    def environment(self) -> dict[str, Any]:
        """environment.json."""
        return self._json("environment")

    def log(self) -> str:
        """train.log."""
        return (self.job / "train.log").read_text(encoding="utf-8")

    def _json(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.job / f"{name}.json").read_bytes())
        return found

    def _call(self, mode: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self._argv(mode), text=True, check=False, timeout=60, **self._streams())

    def _argv(self, mode: str) -> list[str]:
        return ["bash", str(self.job / "script.sh"), mode]

    def _streams(self) -> dict[str, Any]:
        given = {"PERFLEDGER_JOB": str(self.job), "PERFLEDGER_IDENTITY": self.job.name, **self.variables}
        pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        return {"env": {**os.environ, **given}, "cwd": self.job.parent, "stdin": subprocess.DEVNULL, **pipes}


def prepared(
    path: Path,
    job: Path,
    choices: Mapping[str, str] | None = None,
    settings: Settings | None = None,
    change: Callable[[str], str] = lambda text: text,
    **variables: str,
) -> Node:
    """A node with the script of the first case of a recipe, which `change` may change."""
    chosen = recipe.load(path)
    job.mkdir(parents=True, exist_ok=True)
    text = build(Run(chosen, choose(chosen, choices or {})[0], 1, Path("raw")), settings or Settings())
    (job / "script.sh").write_text(change(text), encoding="utf-8")
    return Node(job, variables)


def replacing(old: str, new: str) -> Callable[[str], str]:
    """A change of the one place in the script where something stands."""

    def change(text: str) -> str:
        assert text.count(old) == 1
        return text.replace(old, new)

    return change


def tool(folder: Path, name: str, program: str) -> str:
    """Writes a program that bash runs, and returns the PATH on which it comes first."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/bash\n{program}\n", encoding="utf-8")
    (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def ended(process: int) -> bool:
    """Whether a process is gone, or a zombie that nobody has asked after yet."""
    for _ in polls():
        try:
            state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
    return False


def polls(seconds: float = 10) -> Iterator[None]:
    """Some seconds, in steps."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.02)
