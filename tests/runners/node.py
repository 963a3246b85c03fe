"""One node as a launcher sees it: a job's folder with the agent in it, and fake tools of a host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from perfledger.runners import agent_link, recipes
from perfledger.runners.cases import select_cases
from perfledger.runners.command import plan_run
from perfledger.runners.programs import ProgramResult
from perfledger.runners.settings import Settings
from perfledger.runners.transport import Reply
from tests.runners.agents import Change, kept, modules, replacing

#: The Python that runs the agent: that of these tests, or an older one that a variable names.
PYTHON = os.environ.get("AGENT_PYTHON", sys.executable)


@dataclass(frozen=True)
class Node:
    """`request` is what the agent is sent, `agent` its folder; `variables` come on top of those of the test."""

    request: Mapping[str, Any]
    agent: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def job(self) -> Path:
        """The folder of the job on the node."""
        return Path(self.request["jobs"]) / f"node{self.request['rank']}"

    def check(self, action: str = "check") -> Reply:
        """Return the agent's answer to a request to check the node."""
        asked = json.dumps({**self.request, "above": str(self.agent.parent), "action": action})
        argv = [PYTHON, *agent_link.PYTHON]
        done = subprocess.run(
            argv, input=asked, capture_output=True, text=True, check=False, **self._place(), timeout=60
        )
        reply = agent_link.decoded(ProgramResult(done.returncode, done.stdout, done.stderr), Reply)
        assert reply, done
        return reply

    def call(self) -> subprocess.CompletedProcess[str]:
        """Run the agent as it is started for a job, and return its output."""
        return subprocess.run(self._argv(), capture_output=True, text=True, check=False, timeout=60, **self._place())

    def run(self) -> int:
        """Return the exit status of the whole run, which prints nothing besides its log."""
        done = self.call()
        assert done.stdout + done.stderr == "", done
        return done.returncode

    @contextmanager
    def running(self, until: Path | None = None) -> Iterator[subprocess.Popen[str]]:
        """Start the agent as a process, and wait until a file (the log, or another one) is not empty."""
        seen = until or self.job / "train.log"
        with subprocess.Popen(
            self._argv(), text=True, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            **self._place(),
        ) as process:  # fmt: skip
            try:
                assert any(seen.exists() and seen.stat().st_size for _ in polls())
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
        return (self.job / "train.log").read_bytes().decode()

    def _json(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.job / f"{name}.json").read_bytes())
        return found

    def _argv(self) -> list[str]:
        return [PYTHON, "-I", str(self.agent), "run", str(self.job)]

    def _place(self) -> dict[str, Any]:
        identity, folder = self.request["identity"], self.job.parent.parent
        named = {
            "PERFLEDGER_JOB": str(self.job),
            "PERFLEDGER_IDENTITY": identity,
            "PERFLEDGER_NODE_RANK": str(self.request["rank"]),
        }
        given = {**named, "TMPDIR": str(folder), **self.variables}
        return {"env": {**os.environ, **given}, "cwd": folder}


def prepared(
    path: Path,
    jobs: Path,
    settings: Settings | None = None,
    change: Change = lambda texts: texts,
    rank: int = 0,
    hosts: Sequence[str] = ("127.0.0.1",),
    **variables: str,
) -> Node:
    """Make a node with a job of the first case of a recipe, and the agent, which `change` may change."""
    chosen = recipes.load(path)
    spec = plan_run(chosen, select_cases(chosen, {})[0], Path("raw"), settings or Settings()).spec
    agent = kept(change(modules(agent_link.AGENT)))
    meeting = {"hosts": list(hosts), "master_address": hosts[0], "master_port": 29500}
    about = {"identity": jobs.name, "rank": rank, **meeting}
    node = Node({"jobs": str(jobs), "spec": msgspec.to_builtins(spec), **about}, agent, variables)
    node.job.mkdir(parents=True, exist_ok=True)
    document = {"spec": node.request["spec"], **about}
    (node.job / "job.json").write_text(json.dumps(document), encoding="utf-8")
    return node


def kernel(proc: Path | str = "/proc", sys: Path | str = "/sys") -> Change:
    """Return a change of the agent that makes it read another kernel's files."""
    return replacing('PROC, SYS = "/proc", "/sys"', f'PROC, SYS = "{proc}", "{sys}"')


def sampled(rows: int = 1, name: str = "telemetry.csv") -> str:
    """Return bash that waits until a file of telemetry of its job has this number of rows."""
    return f'until [ "$(wc -l <"$PERFLEDGER_JOB/{name}")" -gt {rows} ]; do sleep 0.02; done'


def tool(folder: Path, name: str, program: str) -> str:
    """Write a program that bash runs, and return a PATH that begins with its folder."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/bash\n{program}\n", encoding="utf-8")
    (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


# Tests start it a thousand times, so it imports no slow module.
FAKE_NVIDIA_SMI = """
import sys, time
told = {told!r}
words = sys.argv[1:]
options = dict(word.split("=", 1) for word in words if "=" in word)
chosen = words[words.index("-i") + 1].split(",") if "-i" in words else None
gpus = [gpu for gpu in told["gpus"] if chosen is None or gpu["index"] in chosen]
if "--query-gpu" in options:
    fields = options["--query-gpu"].split(",")
    unknown = [field for field in fields if field in told["refused"]]
    if unknown:
        print(f'Field "{{unknown[0]}}" is not a valid field to query.')
        sys.exit(2)
    if "-lms" in words:
        print(", ".join(fields), flush=True)
    while True:
        for gpu in gpus:
            print(", ".join(gpu.get(field, "[N/A]") for field in fields), flush=True)
        if "-lms" not in words:
            break
        time.sleep(int(words[words.index("-lms") + 1]) / 1000)
elif "--query-compute-apps" in options:
    print("\\n".join(process for gpu in gpus for process in gpu.get("processes", ())))
elif words[:1] == ["topo"]:
    sys.stdout.write(told["topology"])
else:
    print("| NVIDIA-SMI 550.1    Driver Version: 550.1    CUDA Version: 12.4 |")
"""


def nvidia_smi(folder: Path, *gpus: Mapping[str, Any], refused: Sequence[str] = (), topology: str = "") -> str:
    """Write a fake nvidia-smi that answers, field by field, for some GPUs; return a PATH that begins with its folder.

    `refused` are fields that make it refuse the whole question, as one does that does not know them.
    """
    told = {"gpus": [dict(gpu) for gpu in gpus], "refused": list(refused), "topology": topology}
    path = tool(folder, "nvidia-smi", "")
    program = FAKE_NVIDIA_SMI.format(told=told)
    (folder / "nvidia-smi").write_text(f"#!{sys.executable} -IS\n{program}", encoding="utf-8")
    return path


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """Mount a disk of this size (`320k`, `80m`); skip the test if it cannot be mounted."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(["mount", *options], capture_output=True, check=False).returncode:
        pytest.skip("a small disk can be mounted by root only")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


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


def polls(seconds: float = 60) -> Iterator[None]:
    """Yield every 20 ms for some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.02)
