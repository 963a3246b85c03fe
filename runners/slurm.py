"""Slurm: partitions, where the runner submits a job that runs the same command again, and the nodes of such a job."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from perfledger.runners import agent_link
from perfledger.runners.agent_link import PYTHON
from perfledger.runners.job import JobSpec, PlannedRun, RunnerError
from perfledger.runners.programs import ProgramResult, Question, ask, users_variables
from perfledger.runners.transport import HOST, REQUEST_SECONDS, Job, JobState, Local, Meeting, Target, Warnings

#: How long a command of Slurm may take.
SLURM_SECONDS = 60
#: How long a file written on one node may take to become visible on another.
SHARED_SECONDS = 5
#: A name must not begin with a dash: sbatch would take it for an option.
PARTITION = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
#: So long before the time limit of the job its runner is warned, to stop and collect its run.
WARNING_SECONDS = 120
#: Between two looks at what the job has printed.
FOLLOW_SECONDS = 5.0
#: Our arguments of sbatch, and those of a user that take their place.
REPLACED_BY: Mapping[str, tuple[str, ...]] = {
    "--exclusive": ("--exclusive", "--oversubscribe", "--share", "-s"),
    "--mem": ("--mem", "--mem-per-cpu", "--mem-per-gpu"),
    "--gpus-per-node": ("--gpus-per-node", "--gpus", "--gpus-per-task", "--gres", "-G"),
}
#: The package that `python -m` starts in the job.
MODULE = "perfledger.runners"
#: Becomes the runner by exec, so that the runner gets the signals of Slurm.
SCRIPT = """#!/bin/sh
{python} -c 'import perfledger.runners' 2>/dev/null || {{
  echo "runners: {python} with Perfledger cannot be started on $(hostname);" \\
    "put both into a folder that this machine and the nodes share" >&2
  exit 2
}}
exec {command}
"""
#: The processes that keep the steps of this runner; they are reaped when they end.
_STEPS: list[subprocess.Popen[bytes]] = []


def ask_slurm(argv: list[str]) -> ProgramResult:
    """Run a command of Slurm, and return its answer."""
    return ask([Question(argv)], SLURM_SECONDS)[0]


def ask_queue(number: str, *words: str) -> str:
    """Return what squeue prints about a job; empty for one that it does not know any more.

    Raises:
        RunnerError: Slurm does not answer.
    """
    answer = ask_slurm(["squeue", "--noheader", f"--jobs={number}", *words])
    if answer.status and "Invalid job id" not in answer.errors:
        raise RunnerError(f"Slurm does not answer: {answer.last_words or 'squeue printed nothing'}")
    return answer.output


class Slurm(Target, frozen=True, tag="slurm"):
    """The nodes of a Slurm job, each reached by a step of the job; their folders are shared with this machine.

    `number` is that of the job, and `partition` the one that it runs in. `gpus` are those of a node if the job was
    given a number for all nodes, which Slurm would want of each step; 0 in other jobs.
    """

    number: str = ""
    partition: str = ""
    gpus: int = 0

    def __post_init__(self) -> None:
        # srun would take other texts for options, and the logs may come from someone else.
        if not self.number.isdecimal() or not self.hosts or not all(map(HOST.fullmatch, self.hosts)):
            raise ValueError("it names an invalid Slurm job or node")

    def step(self, rank: int, name: str = "perfledger") -> list[str]:
        """Return the srun command that starts one process on a node; without --cpu-bind it would get a single core."""
        return [
            "srun", f"--jobid={self.number}", f"--job-name={name}", "--overlap", "--export=ALL", "--nodes=1",
            "--ntasks=1", "--ntasks-per-node=1", "--cpu-bind=none", f"--nodelist={self.hosts[rank]}",
            *([f"--gpus={self.gpus}"] if self.gpus else []),
        ]  # fmt: skip

    def argv(self, rank: int) -> list[str]:
        """Return the command that asks the agent of a node, with the Python of this process."""
        return [*self.step(rank), sys.executable, *PYTHON]

    def meeting(self, job: Job) -> Meeting:
        """Return the nodes, and the address that Slurm uses for the first: not every cluster has its names in DNS."""
        hosts = list(self.hosts[: job.facts.nodes])
        shown = ask_slurm(["scontrol", "--oneliner", "show", "node", hosts[0]]).output
        address = re.search(r" NodeAddr=(\S+)", shown)
        return Meeting(hosts, address[1] if address else hosts[0], job.port)

    def prepare(self, run: PlannedRun) -> Job:
        """Return the job of a run; a launcher that starts the other nodes works on the first node alone."""
        if not run.spec.every_node and os.environ.get("SLURMD_NODENAME") != self.hosts[0]:
            remedy = "start the runner there, or submit a job with --on slurm:PARTITION"
            raise RunnerError(f"{run.folder.parent.name}: its launcher works on the node {self.hosts[0]}; {remedy}")
        return super().prepare(run)

    def check(self, run: PlannedRun, action: Literal["check", "idle"] = "check") -> Warnings:
        """Check the nodes; they are always idle, since those of a Slurm job are its own."""
        return super().check(run) if action == "check" else Warnings()

    def explained(self, rank: int, answer: ProgramResult) -> str:  # noqa: D102
        if "execve()" in answer.errors:
            remedy = "put this Python and Perfledger into a folder that all nodes share"
            return f"{self.name(rank)}: srun cannot start {sys.executable} there; {remedy}"
        return f"{self.name(rank)}: its step gave no answer (srun said: {answer.last_words or 'nothing'})"

    def begin(self, job: Job, spec: JobSpec) -> str:
        """Start the run in a step on each node; return why it did not start on one."""
        steps = {rank: self._start_step(job, rank) for rank in job.ranks}
        end = time.monotonic() + REQUEST_SECONDS["begin"]
        while (failed := _not_begun(job)) and time.monotonic() < end:
            ended = [rank for rank, step in steps.items() if step.poll() is not None]
            if failed := [rank for rank in _not_begun(job) if rank in ended]:
                break
            time.sleep(0.05)
        return "\n".join(f"{self.name(rank)}: {_start_failure(job, rank)}" for rank in failed)

    def _start_step(self, job: Job, rank: int) -> subprocess.Popen[bytes]:
        """Start the run of a node; a launcher that starts the other nodes runs outside of a step."""
        folder = job.node(rank)
        variables = {
            "PERFLEDGER_JOB": str(folder),
            "PERFLEDGER_IDENTITY": job.facts.identity,
            "PERFLEDGER_NODE_RANK": str(rank),
        }
        argv = [sys.executable, "-I", str(agent_link.AGENT), "run", str(folder)]
        if job.facts.every_node or rank:
            argv, outside = [*self.step(rank, _step_name(job, rank)), *argv], users_variables()
        else:
            # It reads the nodes of the job from variables that a step would replace.
            outside = dict(os.environ)
        _STEPS[:] = [each for each in _STEPS if each.poll() is None]
        with (folder / "host.log").open("wb") as log:
            process = subprocess.Popen(
                argv, cwd=folder, env={**outside, **variables}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        _STEPS.append(process)
        return process

    def node_states(self, job: Job) -> dict[int, JobState]:
        """Read the folders of the nodes, and ask Slurm whether runs on other machines still go on."""
        seen = Local().node_states(job)
        if not (others := _hidden_ranks(seen)):
            return seen
        try:
            steps = ask_queue(self.number, "--steps", "--format=%j").split()
        except RunnerError as error:
            return {**seen, **{rank: replace(seen[rank], kind="unreachable", cause=str(error)) for rank in others}}
        end = time.monotonic() + SHARED_SECONDS
        while any(_step_name(job, rank) not in steps for rank in _hidden_ranks(seen)) and time.monotonic() < end:
            time.sleep(0.5)
            seen = Local().node_states(job)
        for rank in _hidden_ranks(seen):
            goes_on = _step_name(job, rank) in steps
            seen[rank] = replace(seen[rank], kind="running", cause="") if goes_on else _lost(seen[rank])
        return seen

    def stop(self, job: Job, outcome: str = "stopped") -> None:
        """Stop the run on all nodes; Slurm itself stops the processes of a job that is ending."""
        if ask_queue(self.number, "--states=RUNNING"):
            super().stop(job, outcome)


def own_job() -> Slurm:
    """Return the nodes of the Slurm job that this process works in.

    Raises:
        RunnerError: it is not in one.
    """
    number = os.environ.get("SLURM_JOB_ID", "")
    if not number:
        remedy = "--on slurm:PARTITION submits one, and `sinfo` lists the partitions"
        raise RunnerError(f"--on slurm: this is not inside of a Slurm job; {remedy}")
    nodes = ask_slurm(["scontrol", "show", "hostnames", os.environ.get("SLURM_JOB_NODELIST", "")])
    if not (hosts := tuple(nodes.output.split())):
        raise RunnerError(f"--on slurm: the nodes of job {number} are not known: {nodes.last_words}")
    gpus = os.environ.get("SLURM_GPUS_ON_NODE", "") if "SLURM_GPUS" in os.environ else ""
    return Slurm(hosts, number, os.environ.get("SLURM_JOB_PARTITION", ""), int(gpus or 0))


def _step_name(job: Job, rank: int) -> str:
    return f"{job.facts.identity}-{rank}"


def _hidden_ranks(seen: dict[int, JobState]) -> list[int]:
    """Return the nodes whose run has not ended and has no process on this machine."""
    return [rank for rank, state in seen.items() if state.kind not in ("running", "ended")]


def _lost(state: JobState) -> JobState:
    if state.kind == "lost":
        return state
    return replace(state, kind="lost", cause="its step has ended, and it wrote no host.json")


def _not_begun(job: Job) -> list[int]:
    """Return the nodes whose agent has not begun the run."""
    # A network file system may not show a new file until its folder is listed.
    return [rank for rank in job.ranks if "pid" not in (each.name for each in job.node(rank).iterdir())]


def _start_failure(job: Job, rank: int) -> str:
    """Return why a node did not start the run, in the words of its agent or of srun."""
    lines = (job.node(rank) / "host.log").read_text(encoding="utf-8", errors="replace").splitlines()
    # srun adds that the agent has exited.
    said = [line for line in lines if not line.startswith("srun: ")] or lines or ["its step printed nothing"]
    return f"the run did not start: {said[-1]}"


class Partition(Struct, frozen=True):
    """A partition; `sbatch` are further arguments of sbatch."""

    name: str
    sbatch: tuple[str, ...] = ()

    def argv(self, runs: Sequence[PlannedRun]) -> list[str]:
        """Return the command that reads a batch script and prints the number of a job for these runs.

        The nodes are exclusive, for as long as the partition gives them by default. A job that lost its nodes is not
        requeued: it would make all runs again.
        """
        specs = [run.spec for run in runs]
        gpus = max(spec.devices_per_node if spec.device == "gpu" else 0 for spec in specs)
        # A launcher that starts the other nodes by itself needs a slot per rank.
        tasks = max(1 if spec.every_node else spec.devices_per_node for spec in specs)
        nodes = max(spec.nodes for spec in specs)
        ours = ["--exclusive", "--mem=0", *([f"--gpus-per-node={gpus}"] if gpus else [])]
        stated = {each.partition("=")[0] for each in self.sbatch}
        return [
            "sbatch", "--parsable", "--job-name=perfledger", "--output=slurm-%j.out", "--no-requeue",
            f"--signal=B:USR1@{WARNING_SECONDS}", f"--nodes={nodes}", f"--ntasks-per-node={tasks}",
            *(each for each in ours if stated.isdisjoint(REPLACED_BY[each.partition("=")[0]])),
            f"--partition={self.name}", *self.sbatch,
        ]  # fmt: skip

    def check(self, runs: Sequence[PlannedRun]) -> str:
        """Return what Slurm says to such a job, without submitting it; the job itself checks its nodes.

        Raises:
            RunnerError: Slurm would not take it.
        """
        answer = ask([Question([*self.argv(runs), "--test-only"], "#!/bin/sh\n")], SLURM_SECONDS)[0]
        if answer.status:
            raise RunnerError(f"sbatch would not take the job: {answer.last_words}")
        return answer.last_words

    def submit(self, runs: Sequence[PlannedRun], words: Sequence[str], wait: bool) -> int:
        """Submit a job that runs a command of the runner; with `wait`, show its output until it ends.

        Returns:
            The exit status of the runner in the job; 0 without `wait`.

        Raises:
            RunnerError: Slurm does not take the job.
        """
        command = shlex.join([sys.executable, "-m", MODULE, *words, "--on", "slurm"])
        script = SCRIPT.format(python=shlex.quote(sys.executable), command=command)
        answer = ask([Question(self.argv(runs), script)], SLURM_SECONDS)[0]
        number = answer.output.strip().partition(";")[0]
        if answer.status or not number.isdecimal():
            raise RunnerError(f"sbatch did not take the job: {answer.last_words}")
        log = Path(f"slurm-{number}.out")
        print(f"submitted as Slurm job {number}, which prints to {log}; `scancel {number}` ends it", flush=True)
        return _follow(number, log) if wait else 0


def _follow(number: str, log: Path) -> int:
    """Print what a job adds to its output until it ends; return its exit status, which is not 0 if Slurm ended it."""
    shown, over = 0, False
    while not over:
        over = not ask_queue(number)
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        print(text[shown:], end="", flush=True)
        shown = len(text)
        time.sleep(0 if over else FOLLOW_SECONDS)
    state, status = ask_queue(number, "--states=all", "--Format=State:40,exit_code:40").split()
    return 0 if state == "COMPLETED" else int(status) // 256 or 1
