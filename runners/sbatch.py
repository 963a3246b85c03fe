"""A partition of a Slurm cluster: the runner submits a job that runs the same command again; see `slurm.py`."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from perfledger.runners.job import JobSpec, PlannedRun, RunnerError
from perfledger.runners.programs import Question, ask
from perfledger.runners.slurm import SLURM_SECONDS, ask_queue, ask_slurm

#: A name must not begin with a dash: sbatch would take it for an option.
PARTITION = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
#: Added to the time limits of the runs for their checks, which may have to pull an image.
MARGIN_SECONDS = 1800
#: So long before the time limit of the job its runner is warned, to stop and collect its run.
WARNING_SECONDS = 120
#: Between two looks at what the job has printed.
FOLLOW_SECONDS = 5.0
#: Our arguments of sbatch, and those of a user that take their place.
REPLACED_BY: Mapping[str, tuple[str, ...]] = {
    "--exclusive": ("--exclusive", "--oversubscribe", "--share", "-s"),
    "--mem": ("--mem", "--mem-per-cpu", "--mem-per-gpu"),
    "--gpus-per-node": ("--gpus-per-node", "--gpus", "--gpus-per-task", "--gres", "-G"),
    "--time": ("--time", "-t"),
}
#: Sbatch has no argument that takes `--exclusive` back; this one is ours.
NOT_EXCLUSIVE = "--exclusive=no"
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


class Needs(Struct, frozen=True):
    """The part of a cluster that a series of runs needs: that of its largest run, for as long as all may last."""

    nodes: int
    tasks: int
    gpus: int
    seconds: int


def needs(runs: Sequence[PlannedRun], cool_down_seconds: int) -> Needs:
    """Return the needs of runs that follow each other, with `cool_down_seconds` between two of them."""
    specs = [run.spec for run in runs]
    return Needs(
        nodes=max(spec.nodes for spec in specs),
        tasks=max(map(_tasks, specs)),
        gpus=max(spec.devices_per_node if spec.device == "gpu" else 0 for spec in specs),
        seconds=sum(spec.timeout_seconds + cool_down_seconds for spec in specs) + MARGIN_SECONDS,
    )


def _tasks(spec: JobSpec) -> int:
    """Return the tasks per node: a launcher that starts the other nodes by itself needs a slot per rank."""
    return 1 if spec.every_node else spec.devices_per_node


class Partition(Struct, frozen=True):
    """A partition; `sbatch` are further arguments of sbatch."""

    name: str
    sbatch: tuple[str, ...] = ()

    def argv(self, wanted: Needs) -> list[str]:
        """Return the command that reads a batch script and prints the number of the job.

        The nodes are exclusive. A job that lost its nodes is not requeued: it would make all runs again.
        """
        ours = [
            "--exclusive",
            "--mem=0",
            f"--time={-(-self._limited(wanted.seconds) // 60)}",
            *([f"--gpus-per-node={wanted.gpus}"] if wanted.gpus else []),
        ]
        stated = {each.partition("=")[0] for each in self.sbatch}
        return [
            "sbatch", "--parsable", "--job-name=perfledger", "--output=slurm-%j.out", "--no-requeue",
            f"--signal=B:USR1@{WARNING_SECONDS}", f"--nodes={wanted.nodes}", f"--ntasks-per-node={wanted.tasks}",
            *(each for each in ours if stated.isdisjoint(REPLACED_BY[each.partition("=")[0]])),
            f"--partition={self.name}",
            *(each for each in self.sbatch if each != NOT_EXCLUSIVE),
        ]  # fmt: skip

    def _limited(self, seconds: int) -> int:
        """Return the seconds, at most those of the partition, which refuses a job that asks for more."""
        if not shutil.which("sinfo"):
            return seconds
        shown = ask_slurm(["sinfo", "--noheader", "--format=%l", f"--partition={self.name}"])
        return min(seconds, slurm_seconds(shown.output.strip()) or seconds)

    def check(self, wanted: Needs) -> str:
        """Return what Slurm says to such a job, without submitting it; the job itself checks its nodes.

        Raises:
            RunnerError: Slurm would not take it.
        """
        answer = ask([Question([*self.argv(wanted), "--test-only"], "#!/bin/sh\n")], SLURM_SECONDS)[0]
        if answer.status:
            raise RunnerError(f"sbatch would not take the job: {answer.last_words}")
        return answer.last_words

    def submit(self, wanted: Needs, words: Sequence[str], wait: bool) -> int:
        """Submit a job that runs a command of the runner; with `wait`, show its output until it ends.

        Returns:
            The exit status of the runner in the job; 0 without `wait`.

        Raises:
            RunnerError: Slurm does not take the job.
        """
        command = shlex.join([sys.executable, "-m", MODULE, *words, "--on", "slurm"])
        script = SCRIPT.format(python=shlex.quote(sys.executable), command=command)
        answer = ask([Question(self.argv(wanted), script)], SLURM_SECONDS)[0]
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


def slurm_seconds(text: str) -> int:
    """Return a time of Slurm, `[days-]hours:minutes:seconds` or less of it; 0 for any other. Source: squeue(1), %L."""
    days, _, clock = text.rpartition("-")
    parts = clock.split(":")
    if not all(map(str.isdecimal, parts)) or not (days or "0").isdecimal():
        return 0
    # With days it is hours first; without, two parts are minutes and seconds.
    units = (3600, 60, 1) if days or len(parts) == 3 else (60, 1)
    return int(days or 0) * 86400 + sum(int(part) * unit for part, unit in zip(parts, units, strict=False))
