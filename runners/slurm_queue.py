"""The commands of Slurm: submit a job, and ask for its state."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from perfledger.runners.agent_link import program
from perfledger.runners.job import RunnerError
from perfledger.runners.programs import ProgramResult, Question, ask

#: How long a command of Slurm may take.
SLURM_SECONDS = 60
# States of Slurm jobs. Source: squeue(1), "JOB STATE CODES". All others are an end.
SLURM_WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT")
SLURM_RUNNING = ("RUNNING", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED", "SUSPENDED")
#: Slurm copies the batch script to the node. It becomes the agent by exec, so that the agent gets the signals.
BATCH_SCRIPT = """#!/usr/bin/env python3
import os, sys
os.execv(sys.executable, [sys.executable, "-I", {agent!r}, {action!r}, {folder!r}])
"""


def ask_slurm(argv: list[str], text: str = "") -> ProgramResult:
    """Run a command of Slurm with a standard input, and return its answer."""
    return ask([Question(argv, text)], SLURM_SECONDS)[0]


def first_word(output: str) -> str:
    """Return the first word; sacct appends the user who cancelled a job."""
    return (output.split() or [""])[0]


def error_text(answer: ProgramResult) -> str:
    """Return the last error of a command for a message."""
    return answer.last_words or "nothing"


def slurm_seconds(text: str) -> int:
    """Return a time of Slurm, `[days-]hours:minutes:seconds` or less of it; 0 for any other. Source: squeue(1), %L."""
    days, _, clock = text.rpartition("-")
    parts = clock.split(":")
    if not all(map(str.isdecimal, parts)) or not (days or "0").isdecimal():
        return 0
    # With days it is hours first; without, two parts are minutes and seconds.
    units = (3600, 60, 1) if days or len(parts) == 3 else (60, 1)
    return int(days or 0) * 86400 + sum(int(part) * unit for part, unit in zip(parts, units, strict=False))


def state_and_seconds(number: str) -> tuple[str, int]:
    """Return the state of a job in the queue, empty where it is not there, and the seconds that are left of it.

    Raises:
        RunnerError: Slurm does not answer.
    """
    answer = ask_slurm(["squeue", "--noheader", "--states=all", f"--jobs={number}", "--format=%T %L"])
    if answer.status and "Invalid job id" not in answer.errors:
        raise RunnerError(f"Slurm does not answer: {error_text(answer)}")
    word, left = [*answer.output.split(), "", ""][:2]
    return word, slurm_seconds(left)


def is_active(word: str) -> bool:
    """Return whether a job in this state waits or runs."""
    return word in SLURM_WAITING or word in SLURM_RUNNING


def accounted_state(number: str) -> str:
    """Return the state from the accounting, if the cluster has one; without a width it would be truncated."""
    argv = ["sacct", "--noheader", "--allocations", f"--jobs={number}", "--format=State%40"]
    return first_word(ask_slurm(argv).output) if shutil.which(argv[0]) else ""


def remembered_state(number: str) -> str:
    """Return the state of a job that the controller still remembers; empty if it does not."""
    words = ask_slurm(["scontrol", "--oneliner", "show", "job", number]).output.split()
    return next((word.removeprefix("JobState=") for word in words if word.startswith("JobState=")), "")


def batch_script(folder: Path, command: str) -> str:
    """Return the batch script that has the agent in a folder carry out a command for this folder."""
    return BATCH_SCRIPT.format(agent=program(folder), action=command, folder=str(folder))


def submit(argv: Sequence[str], folder: Path, command: str, number_file: Path | None = None) -> str:
    """Submit a job, whose agent carries out the command for the folder, and return the number of the job.

    Raises:
        RunnerError: Slurm does not accept it.
    """
    answer = ask_slurm([*argv], batch_script(folder, command))
    number = answer.output.strip().split(";")[0]
    if answer.status == 0 and number.isdecimal():
        if number_file:
            number_file.write_text(f"{number}\n", encoding="utf-8")
        return number
    # A controller that was slow to answer may have accepted the job all the same.
    name = next(each for each in argv if each.startswith("--job-name="))
    ask_slurm(["scancel", name.replace("--job-name", "--name")])
    raise RunnerError(f"sbatch did not take the job: {error_text(answer)}")


def limit_seconds(partition: str) -> int:
    """Return the time limit of the partition; 0 if it is unlimited or unknown. The default is marked."""
    if not shutil.which("sinfo"):
        return 0
    named = [f"--partition={partition}"] if partition else []
    answer = ask_slurm(["sinfo", "--noheader", "--format=%P %l", *named])
    rows = [line.split() for line in answer.output.splitlines()]
    found = [row[1] for row in rows if len(row) == 2 and (named or row[0].endswith("*"))]
    return slurm_seconds(found[0]) if found else 0
