"""Jobs of the tiny recipe, as the command line makes and supervises them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from perfledger.runners import recipes
from perfledger.runners.cases import select_cases
from perfledger.runners.command import plan_run
from perfledger.runners.folders import AnyTarget
from perfledger.runners.job import JobSpec, PlannedRun
from perfledger.runners.settings import Settings
from perfledger.runners.ssh import Ssh
from perfledger.runners.transport import Job, JobState, Warnings
from tests.runners.node import polls, tool

#: Jobs of one process on each kind of device.
CPU = JobSpec(command=(), device="cpu", nodes=1, devices_per_node=1, every_node=True, timeout_seconds=1)
GPU = replace(CPU, device="gpu")


@dataclass(frozen=True)
class Placed:
    """A job where it runs."""

    target: AnyTarget
    job: Job
    run: PlannedRun

    @property
    def identity(self) -> str:
        return self.job.facts.identity

    @property
    def incoming(self) -> Path:
        return self.job.incoming

    def node(self, rank: int) -> Path:
        return self.job.node(rank)

    def start(self) -> Warnings:
        return self.target.start(self.job, self.run.spec)

    def look(self) -> JobState:
        return self.target.look(self.job)

    def stop(self, outcome: str = "stopped") -> None:
        self.target.stop(self.job, outcome)

    def fetch(self) -> None:
        self.target.fetch(self.job)

    def until(self, wanted: Callable[[JobState], bool], seconds: float = 60) -> JobState:
        """Wait for a state of the job that fulfils the condition, and return it."""
        state: JobState | None = None
        # Each look starts a Python for each node, which others need, too.
        pause = 0.1
        for _ in polls(seconds):
            state = self.look()
            if wanted(state):
                return state
            time.sleep(pause)
            pause = min(1.3 * pause, 0.5)
        raise AssertionError(f"the job did not come to it; it is {state}")

    def over(self, seconds: float = 60) -> JobState:
        """Return the state of the job when no node is running any more."""
        return self.until(lambda state: state.kind in ("ended", "lost"), seconds)

    def printing(self) -> JobState:
        """Return the state of the job when its log has begun."""
        return self.until(lambda state: state.log_bytes > 0)


def planned(
    path: Path,
    target: AnyTarget,
    folder: Path,
    choices: Mapping[str, str] | None = None,
    settings: Settings | None = None,
) -> Placed:
    """Return the job of the first case of a recipe; nothing is started."""
    chosen = recipes.load(path)
    built = plan_run(chosen, select_cases(chosen, choices or {})[0], folder, settings or Settings())
    run = replace(built, folder=folder / "raw/tiny/1")
    run.folder.mkdir(parents=True)
    return Placed(target, target.prepare(run), run)


def host_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str) -> None:
    """Has hosts by SSH run a bash program in place of their Python: their PATH is set by the user's own shell there."""
    tool(tmp_path / "tools", "python3", program)
    usual = Ssh.argv

    def argv(target: Ssh, rank: int) -> list[str]:
        *words, command = usual(target, rank)
        return [*words, f"{tmp_path}/tools/{command}"]

    monkeypatch.setattr(Ssh, "argv", argv)
