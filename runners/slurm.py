"""A Slurm cluster whose nodes share the folder of raw logs with this machine. Options as of Slurm 20.11 and later."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
import sys
import time
from pathlib import Path

import msgspec

from runners.errors import RunnerError
from runners.job import JobSpec, PlannedRun
from runners.nodes import (
    PYTHON,
    Job,
    JobState,
    NodeState,
    ProgramResult,
    Question,
    Reply,
    Target,
    agent_source,
    ask,
    has_failed,
    warned,
    with_log,
    worst,
)

#: A name must not begin with a dash: sbatch would take it for an option.
PARTITION = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
#: Added to the time limit of the run for the check, which may have to pull an image, and for the grace period.
MARGIN_SECONDS = 1800
SECONDS = 60
#: How long a file written on one node may take to become visible on another.
SHARED_SECONDS = 5
# States of Slurm jobs. Source: squeue(1), "JOB STATE CODES". All others are an end.
WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT")
RUNNING = ("RUNNING", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED", "SUSPENDED")
OUTCOMES = {"CANCELLED": "stopped", "TIMEOUT": "timeout", "DEADLINE": "timeout", "OUT_OF_MEMORY": "oom"}
SIGNALS = {"stopped": "TERM", "timeout": "USR1"}
#: Slurm copies the batch script to the node. It becomes the agent by exec, so that the agent gets the signals.
BATCH = """#!/usr/bin/env python3
import os, sys
os.execv(sys.executable, [sys.executable, "-I", {agent!r}, "batch"])
"""


class Slurm(Target, frozen=True, tag="slurm"):
    """A partition, empty for the default of the cluster; `sbatch` are further arguments of sbatch."""

    partition: str = ""
    sbatch: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.partition and not PARTITION.fullmatch(self.partition):
            raise ValueError("it names an invalid partition")

    def argv(self, rank: int) -> list[str]:
        """Run the agent here: the folders of the nodes are shared."""
        return [sys.executable, *PYTHON]

    def name(self, rank: int) -> str:  # noqa: D102
        return f"node {rank}"

    def too_few(self, nodes: int) -> str:  # noqa: D102
        return ""

    @property
    def _arguments(self) -> list[str]:
        return [*([f"--partition={self.partition}"] if self.partition else []), *self.sbatch]

    def places(self, device: str) -> dict[str, list[str]]:
        """Return one node of the partition, as if all were alike. Without `--gpus-per-node` Slurm hides all GPUs."""
        gpus = ["--gpus-per-node=1"] if device == "gpu" else []
        return {
            self.partition or "slurm": ["srun", "--nodes=1", "--ntasks=1", *gpus, *self._arguments, "python3", *PYTHON]
        }

    def commands(self, run: PlannedRun) -> list[str]:  # noqa: D102
        return [shlex.join(self.submission(self.prepare(run), run.spec))]

    def submission(self, job: Job, spec: JobSpec) -> list[str]:
        """Return the command that reads a batch script and prints the number of the job.

        The nodes are exclusive, and a job that lost its nodes is not requeued, since it would overwrite its logs. A
        launcher that starts the other nodes by itself needs a slot per rank.
        """
        tasks = 1 if spec.every_node else spec.devices_per_node
        log = str(job.incoming / "slurm.log").replace("%", "%%")
        return [
            "sbatch", "--parsable", f"--job-name={_name(job)}", f"--output={log}", "--open-mode=append", "--no-requeue",
            f"--nodes={spec.nodes}", f"--ntasks-per-node={tasks}", "--exclusive", "--mem=0",
            f"--time={-(-(spec.timeout_seconds + MARGIN_SECONDS) // 60)}",
            *([f"--gpus-per-node={spec.devices_per_node}"] if spec.device == "gpu" else []),
            *self._arguments,
        ]  # fmt: skip

    def start(self, job: Job, spec: JobSpec) -> list[str]:
        """Submit the job. Its nodes are checked when they are allocated; one that refuses ends the job.

        Raises:
            RunnerError: Slurm does not accept the job; nothing is left of it.
        """
        try:
            _write(job, spec)
            number = self._submit(job, spec)
        except RunnerError:
            shutil.rmtree(job.incoming, ignore_errors=True)
            raise
        # Optional: without this file the job is found by its name.
        with contextlib.suppress(OSError):
            _number_file(job).write_text(f"{number}\n", encoding="utf-8")
        return []

    def _submit(self, job: Job, spec: JobSpec) -> str:
        answer = _ask(self.submission(job, spec), BATCH.format(agent=str(job.incoming / "agent.py")))
        number = answer.output.strip().split(";")[0]
        if answer.status == 0 and number.isdecimal():
            return number
        # A controller that was slow to answer may have accepted the job all the same.
        _ask(["scancel", f"--name={_name(job)}"])
        raise RunnerError(f"sbatch did not take the job: {_error_text(answer)}")

    def look(self, job: Job) -> JobState:
        """Return the state of the job: from the folders of nodes that have ended, and else from Slurm."""
        seen = self.node_states(job)
        if _all_ended(seen):
            return worst(job, seen)
        found = state(job)
        # If Slurm says that the job is over, the last files of its nodes may become visible late.
        end = time.monotonic() + (SHARED_SECONDS if found.kind == "lost" else 0)
        while time.monotonic() < end:
            seen = self.node_states(job)
            if _all_ended(seen):
                return worst(job, seen)
            time.sleep(0.5)
        if found.kind == "running" and not any(each.log_bytes for each in seen.values()):
            return JobState("waiting", "its nodes are being checked")
        failed = found.kind == "lost" or has_failed(seen) or any(each.gone for each in seen.values())
        return with_log(msgspec.structs.replace(found, failed=failed), seen)

    def stop(self, job: Job, outcome: str = "stopped") -> None:
        """Remove a waiting job from the queue, or stop a running one.

        The signal goes to the batch script, which stops its nodes. Plain `scancel` would end `srun`, too, and with it
        the agents before they have written `host.json`.
        """
        if not (number := _number(job)):
            return
        signal = f"--signal={SIGNALS[outcome]}"
        for argv in (["scancel", "--state=PENDING", number], ["scancel", signal, "--batch", number]):
            answer = _ask(argv)
            over = "Invalid job id" in answer.errors or "already completing or completed" in answer.errors
            if answer.status and not over:
                raise RunnerError(f"Slurm job {number} could not be asked to end: {_error_text(answer)}")

    def late_warnings(self, job: Job) -> list[str]:
        """Return warnings of nodes that were checked after `start` returned."""
        texts = {rank: _text(job.node(rank) / "check.json") for rank in job.ranks}
        replies = {rank: msgspec.json.decode(text, type=Reply) for rank, text in texts.items() if text}
        return [line for rank, reply in replies.items() for line in warned(job, rank, reply)]


def state(job: Job) -> JobState:
    """Return the state of a job according to Slurm: waiting, running, unreachable, or lost."""
    try:
        number = _number(job)
    except RunnerError as error:
        return JobState("unreachable", str(error))
    if not number:
        return JobState("lost", "Slurm has no such job: it was never submitted, or ended before its number was stored")
    answer = _ask(["squeue", "--noheader", "--states=all", f"--jobs={number}", "--format=%T"])
    if answer.status and "Invalid job id" not in answer.errors:
        return JobState("unreachable", f"Slurm does not answer: {_error_text(answer)}")
    word = _first(answer.output) or _accounted(number) or _remembered(number)
    if word in WAITING:
        return JobState("waiting", f"Slurm says {word}")
    return JobState("running") if word in RUNNING else _ended(job, word)


def _accounted(number: str) -> str:
    """Return the state from the accounting, if the cluster has one; without a width it would be truncated."""
    argv = ["sacct", "--noheader", "--allocations", f"--jobs={number}", "--format=State%40"]
    return _first(_ask(argv).output) if shutil.which(argv[0]) else ""


def _remembered(number: str) -> str:
    words = _ask(["scontrol", "--oneliner", "show", "job", number]).output.split()
    return next((word.removeprefix("JobState=") for word in words if word.startswith("JobState=")), "")


def _ended(job: Job, word: str) -> JobState:
    refusals = {rank: _text(job.node(rank) / "refused") for rank in job.ranks}
    said = [f"node {rank} refused: {text}" for rank, text in refusals.items() if text]
    if said:
        return JobState("lost", "; ".join(said), outcome="failed")
    outcome = "stopped" if (job.incoming / "stopped").exists() else OUTCOMES.get(word, "")
    return JobState("lost", f"Slurm says {word or 'nothing'} of its job", outcome=outcome)


def _write(job: Job, spec: JobSpec) -> None:
    request = {"spec": msgspec.to_builtins(spec), "identity": job.facts.identity, "master_port": job.port}
    try:
        job.incoming.mkdir(parents=True, exist_ok=True)
        (job.incoming / "agent.py").write_text(agent_source(), encoding="utf-8")
        (job.incoming / "batch.json").write_text(json.dumps(request), encoding="utf-8")
        for rank in job.ranks:
            job.node(rank).mkdir()
    except OSError as error:
        message = f"{job.incoming}: it cannot be written: {error.strerror}; make room, or name another with --raw-logs"
        raise RunnerError(message) from error


def _number(job: Job) -> str:
    """Return the number of the job, as stored at its submission or found by its name; empty if there is none.

    Raises:
        RunnerError: Slurm does not answer.
    """
    if kept := _text(_number_file(job)):
        return kept
    named = _ask(["squeue", "--noheader", "--me", f"--name={_name(job)}", "--format=%i"])
    if named.status:
        raise RunnerError(f"Slurm does not answer: {_error_text(named)}")
    return _first(named.output)


def _number_file(job: Job) -> Path:
    return job.incoming / "slurm.number"


def _name(job: Job) -> str:
    return f"perfledger-{job.facts.identity}"


def _all_ended(seen: dict[int, NodeState]) -> bool:
    return all(each.kind == "ended" for each in seen.values())


def _ask(argv: list[str], text: str = "") -> ProgramResult:
    return ask([Question(argv, text)], SECONDS)[0]


def _first(output: str) -> str:
    """Return the first word; sacct appends the user who cancelled a job."""
    return (output.split() or [""])[0]


def _error_text(answer: ProgramResult) -> str:
    return answer.last_words or "nothing"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
