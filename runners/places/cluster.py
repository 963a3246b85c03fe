"""A job on a Slurm cluster: submitted once, found again by its number or its name, and asked for its state."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from runners.backends import slurm
from runners.errors import RunnerError
from runners.places import nodes
from runners.places.ask import Answer, Question, ask
from runners.places.placed import Job, State

BATCH = Path(__file__).parents[1] / "backends" / "batch.sh"
SECONDS = 60

# States of Slurm jobs. Source: squeue(1), "JOB STATE CODES". All others are an end.
WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT")
RUNNING = ("RUNNING", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED", "SUSPENDED")
OUTCOMES = {"CANCELLED": "stopped", "TIMEOUT": "timeout", "DEADLINE": "timeout", "OUT_OF_MEMORY": "oom"}


def submit(job: Job, script: str) -> None:
    """Writes the node folders and hands the job to Slurm; RunnerError where it is not taken, and then nothing is left.

    Whether the nodes are fit is seen when they are given: one that refuses ends the job, and `state` says why.
    """
    try:
        _write(job, script)
        number = _submitted(job)
    except RunnerError:
        shutil.rmtree(job.incoming, ignore_errors=True)
        raise
    # Without it the job is found by its name.
    with contextlib.suppress(OSError):
        _number_file(job).write_text(f"{number}\n", encoding="utf-8")


def submission(job: Job) -> list[str]:
    """The sbatch command of a job. A launcher that starts the other nodes by itself needs a slot per rank."""
    return slurm.submit(
        job.place,
        name=_name(job),
        nodes=job.nodes,
        tasks=1 if job.every_node else job.devices_per_node,
        gpus=job.devices_per_node if job.gpus else 0,
        seconds=job.timeout_seconds,
        log=str(job.incoming / "slurm.log").replace("%", "%%"),
    )


def state(job: Job) -> State:
    """What Slurm says of a job: waiting, running, unreachable, or lost, for whoever knows that it did not end well."""
    try:
        number = _number(job)
    except RunnerError as error:
        return State("unreachable", str(error))
    if not number:
        return State("lost", "Slurm has no such job: it was never submitted, or was over before its number was kept")
    answer = _ask(slurm.queued(number))
    if answer.status and "Invalid job id" not in answer.errors:
        return State("unreachable", f"Slurm does not answer: {_said(answer)}")
    word = _first(answer.output) or _first(_ask_if_there(slurm.accounted(number))) or _remembered(number)
    if word in WAITING:
        return State("waiting", f"Slurm says {word}")
    return State("running") if word in RUNNING else _ended(job, word)


def stop(job: Job, signal: str) -> None:
    """Takes a waiting job from the queue, asks a running one to end; RunnerError where Slurm does not answer."""
    number = _number(job)
    for argv in [slurm.cancel(number), slurm.stop(number, signal)] if number else []:
        answer = _ask(argv)
        over = "Invalid job id" in answer.errors or "already completing or completed" in answer.errors
        if answer.status and not over:
            raise RunnerError(f"Slurm job {number} could not be asked to end: {_said(answer)}")


def _write(job: Job, script: str) -> None:
    try:
        for rank in range(job.nodes):
            job.node(rank).mkdir(parents=True)
            (job.node(rank) / "script.sh").write_text(script, encoding="utf-8")
        (job.incoming / "node.sh").write_text(_node_program(job), encoding="utf-8")
    except OSError as error:
        message = f"{job.incoming}: it cannot be written: {error.strerror}; make room, or name another with --raw-logs"
        raise RunnerError(message) from error


def _submitted(job: Job) -> str:
    answer = _ask(submission(job), _batch_program(job))
    number = answer.output.strip().split(";")[0]
    if answer.status == 0 and number.isdecimal():
        return number
    # The trap: where the controller was slow to answer, it may have taken the job all the same.
    _ask(slurm.cancel_named(_name(job)))
    raise RunnerError(f"sbatch did not take the job: {_said(answer)}")


def _node_program(job: Job) -> str:
    """`node.sh` with what Slurm knows: which node this is, by its name among all."""
    values = nodes.assignments({"identity": job.identity, "jobs": str(job.incoming), "master_port": str(job.port)})
    late = [
        "action=$1 signal=${2:-TERM} hosts=$PERFLEDGER_HOSTS master_address=$PERFLEDGER_MASTER_ADDRESS rank=0",
        'for name in ${hosts//,/ }; do [ "$name" != "$SLURMD_NODENAME" ] || break; rank=$((rank + 1)); done',
    ]
    return "\n".join([*values, *late, nodes.NODE.read_text(encoding="utf-8"), "main", ""])


def _batch_program(job: Job) -> str:
    values = {"jobs": str(job.incoming), "nodes": str(job.nodes), "every_node": str(int(job.every_node))}
    return "\n".join(["#!/bin/bash", *nodes.assignments(values), BATCH.read_text(encoding="utf-8")])


def _ended(job: Job, word: str) -> State:
    refusals = [(rank, _text(job.node(rank) / "refused")) for rank in range(job.nodes)]
    said = [f"node {rank} refused: {text}" for rank, text in refusals if text]
    if said:
        return State("lost", "; ".join(said), outcome="failed")
    outcome = "stopped" if (job.incoming / "stopped").exists() else OUTCOMES.get(word, "")
    return State("lost", f"Slurm says {word or 'nothing'} of its job", outcome=outcome)


def _number(job: Job) -> str:
    """The job's number, as kept when it was submitted, or as found by its name; empty where there is none.

    Raises RunnerError where Slurm does not answer: then it is not known whether there is one.
    """
    if kept := _text(_number_file(job)):
        return kept
    named = _ask(slurm.number(_name(job)))
    if named.status:
        raise RunnerError(f"Slurm does not answer: {_said(named)}")
    return _first(named.output)


def _number_file(job: Job) -> Path:
    return job.incoming / "slurm.number"


def _name(job: Job) -> str:
    return f"perfledger-{job.identity}"


def _remembered(number: str) -> str:
    words = _ask(slurm.remembered(number)).output.split()
    return next((word.removeprefix("JobState=") for word in words if word.startswith("JobState=")), "")


def _ask(argv: list[str], text: str = "") -> Answer:
    return ask([Question(argv, text)], SECONDS)[0]


def _ask_if_there(argv: list[str]) -> str:
    return _ask(argv).output if shutil.which(argv[0]) else ""


def _first(output: str) -> str:
    """The first word; sacct goes on with who cancelled a job."""
    return (output.split() or [""])[0]


def _said(answer: Answer) -> str:
    return (answer.errors.strip().splitlines() or ["nothing"])[-1]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
