"""A run as a job in its place: prepared, started, asked for its state, stopped, brought home."""

from __future__ import annotations

import secrets
import shlex
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from runners.command.launchers import on_every_node
from runners.errors import RunnerError
from runners.places import arrival, cluster, looks, nodes
from runners.places.kept import as_json, from_json
from runners.places.nodes import Said
from runners.places.place import Place
from runners.places.placed import Job, State
from runners.runs.plan import Run

__all__ = [
    "Job", "State", "as_json", "commands", "fetch", "from_json", "late_warnings", "prepare", "start", "state", "stop",
]  # fmt: skip

WARNING = "warning: "
# Lines of a host that are listened to, and characters of one.
MOST, LONGEST = 50, 1000
# How long a file that one node wrote may take to be seen from another.
SHARED_SECONDS = 5
SIGNALS = {"stopped": "TERM", "timeout": "USR1"}


def prepare(place: Place, run: Run) -> Job:
    """The job of a run, with an identity of its own; starts nothing and contacts nobody.

    Raises RunnerError where the place has too few hosts for the case.
    """
    recipe, case = run.recipe, run.case
    hosts = len(place.hosts) if place.kind == "ssh" else 1 if place.kind == "local" else case.nodes
    if hosts < case.nodes:
        named = "this machine is one" if place.kind == "local" else f"--on names {hosts}"
        raise RunnerError(
            f"{case.slug}: it takes {case.nodes} nodes, and {named}; name as many hosts, or choose with --case nodes=1"
        )
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return Job(
        place=place,
        nodes=case.nodes,
        devices_per_node=case.devices_per_node,
        every_node=on_every_node(recipe, case),
        gpus=recipe.device == "gpu",
        timeout_seconds=recipe.timeout_seconds,
        identity=f"{recipe.suite}-{now}-{secrets.token_hex(4)}",
        folder=run.folder,
    )


def commands(job: Job, script: str) -> list[str]:
    """What `start` executes, as lines for a shell; each reads a bash program, of which the script is a part."""
    if job.place.kind == "slurm":
        return [shlex.join(cluster.submission(job))]
    return [shlex.join(nodes.argv(job, rank)) for rank in range(job.nodes)]


def start(job: Job, script: str) -> list[str]:
    """Starts the script on every node, and returns what they warn of.

    Raises RunnerError where a node refuses, cannot be reached or does not start; then nothing is running anywhere, and
    what was started is asked to end. A cluster's nodes are asked when they are given: see `state`.
    """
    if job.place.kind == "slurm":
        cluster.submit(job, script)
        return []
    ranks = range(job.nodes)
    more = {"script": script, **nodes.meeting(job)}
    checked = nodes.tell(job, "check", ranks, more)
    if refused := _refusals(job, checked):
        nodes.tell(job, "forget", [rank for rank in ranks if not checked[rank].unreachable])
        raise RunnerError(refused)
    # There before anything runs, for what is noted beside what comes home.
    job.incoming.mkdir(parents=True, exist_ok=True)
    begun = nodes.tell(job, "begin", ranks, {**more, "script": ""})
    if refused := _refusals(job, begun):
        stop(job)
        raise RunnerError(refused)
    return [line for rank, said in checked.items() for line in _warned(job, rank, said.errors)]


def state(job: Job) -> State:
    """What is known of a job now: one question to each host. Observers are sent home once the first node has ended."""
    if job.place.kind == "slurm":
        return _clustered(job)
    seen = nodes.tell(job, "look", range(job.nodes))
    if not job.every_node and looks.kind(seen[0]) in ("ended", "lost"):
        observers = [rank for rank in seen if rank > 0 and looks.kind(seen[rank]) == "running"]
        nodes.tell(job, "dismiss", observers, {"signal": "TERM"})
    return looks.worst(job, seen)


def stop(job: Job, outcome: str = "stopped") -> None:
    """Asks all nodes to end; asked again, they kill. `outcome` is stopped or timeout, and what they write down.

    Where a script is gone, what it left running is ended. Raises RunnerError, when all have been asked, for those that
    cannot be reached: what runs there ends at its own time limit.
    """
    signal = SIGNALS[outcome]
    if job.place.kind == "slurm":
        return cluster.stop(job, signal)
    if missed := _refusals(job, nodes.tell(job, "finish", range(job.nodes), {"signal": signal})):
        raise RunnerError(f"{missed}\nWhat runs there ends by itself after {job.timeout_seconds} s.")
    return None


def fetch(job: Job) -> None:
    """Brings the folders of all nodes to `incoming/node<k>` and verifies them; may be called again.

    Raises RunnerError, when the others have been brought, for a node that cannot be reached or whose files are not
    those it wrote down.
    """
    faults = []
    for rank in range(job.nodes):
        try:
            if job.place.kind == "ssh":
                arrival.bring(job, rank)
            else:
                arrival.verify(job.node(rank))
        except RunnerError as error:
            faults.append(str(error))
    if faults:
        raise RunnerError("\n".join(faults))


def late_warnings(job: Job) -> list[str]:
    """What nodes warn of that were checked only after `start` had returned; none where all were checked before."""
    logs = {rank: job.node(rank) / "check.log" for rank in range(job.nodes)}
    texts = {rank: path.read_text(encoding="utf-8", errors="replace") for rank, path in logs.items() if path.is_file()}
    return [line for rank, text in texts.items() for line in _warned(job, rank, text)]


def _refusals(job: Job, said: Mapping[int, Said]) -> str:
    lines = []
    for rank, each in said.items():
        text = "\n".join([line for line in each.errors.splitlines() if WARNING not in line][:MOST])
        if each.refused:
            lines.append(
                text if each.unreachable else f"{nodes.name(job, rank)}: {text or 'it refused without a word'}"
            )
    return "\n".join(lines)


def _warned(job: Job, rank: int, text: str) -> list[str]:
    """By the number of the node: warnings go into records, which name no hosts, and bear no more than a few lines.

    The trap: what begins otherwise is another's warning, such as that of a login which lacks a locale.
    """
    where = f"node {rank}: " if job.nodes > 1 else ""
    found = [line.removeprefix(WARNING)[:LONGEST] for line in text.splitlines() if line.startswith(WARNING)]
    return [f"{where}{warning}" for warning in found[:MOST]]


def _clustered(job: Job) -> State:
    """The folders say who has ended, Slurm the rest. Of a job that is over, the last words may be slow to be seen."""
    seen = nodes.tell(job, "look", range(job.nodes))
    if looks.all_ended(seen):
        return looks.worst(job, seen)
    found = cluster.state(job)
    end = time.monotonic() + (SHARED_SECONDS if found.kind == "lost" else 0)
    while time.monotonic() < end:
        seen = nodes.tell(job, "look", range(job.nodes))
        if looks.all_ended(seen):
            return looks.worst(job, seen)
        time.sleep(0.5)
    return looks.reported(found, seen)
