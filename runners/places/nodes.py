"""What is asked of the nodes of a job on this machine and on hosts by SSH, of all of them at the same time."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from runners import backends
from runners.backends import ssh
from runners.errors import RunnerError
from runners.places.ask import Answer, Question, ask
from runners.places.placed import Job
from runners.places.remedies import explain

NODE = Path(__file__).parents[1] / "backends" / "node.sh"
# Where hosts keep jobs; PERFLEDGER_JOBS is theirs, set by their own shell or SSH server.
THERE = '"${PERFLEDGER_JOBS:-$HOME/.perfledger/jobs}"'
# A preflight may first have to fetch the image that it asks for its packages.
SECONDS = {"check": 1800, "begin": 60}
USUAL_SECONDS = 45


@dataclass(frozen=True)
class Said:
    """What a node answered: `facts` by name, and what it could not do, empty where it did all."""

    facts: Mapping[str, str]
    errors: str
    refused: bool
    unreachable: bool


def tell(job: Job, action: str, ranks: Iterable[int], more: Mapping[str, str] | None = None) -> dict[int, Said]:
    """What the nodes of these ranks say to an action of `node.sh`, by rank; `more` are variables that it needs."""
    asked = list(ranks)
    questions = [Question(argv(job, rank), program(job, rank, action, more or {})) for rank in asked]
    answers = ask(questions, SECONDS.get(action, USUAL_SECONDS))
    return {rank: _said(job, rank, answer) for rank, answer in zip(asked, answers, strict=True)}


def argv(job: Job, rank: int) -> list[str]:
    """Runs on a node the bash program on its standard input. The folders of a cluster's nodes are here too."""
    return ssh.argv(job.hosts[rank], job.place.ssh_config) if job.place.kind == "ssh" else backends.local.argv()


def program(job: Job, rank: int, action: str, more: Mapping[str, str]) -> str:
    """The bash program of one action."""
    values = {"identity": job.identity, "rank": str(rank), "action": action, **more}
    jobs = f"{THERE}/{shlex.quote(job.identity)}" if job.place.kind == "ssh" else shlex.quote(str(job.incoming))
    lines = [f"jobs={jobs}", *assignments(values), NODE.read_text(encoding="utf-8"), "main", ""]
    return "\n".join(lines)


def assignments(values: Mapping[str, str]) -> list[str]:
    """Lines of bash that set variables to any text."""
    return [f"{name}={shlex.quote(value)}" for name, value in values.items()]


def meeting(job: Job) -> dict[str, str]:
    """Where the ranks meet: the hosts by the names that they know each other by, and address and port of the first."""
    hosts = _addresses(job) if job.place.kind == "ssh" else ["localhost"]
    first = hosts[0] if job.place.kind == "ssh" else "127.0.0.1"
    return {"hosts": ",".join(hosts), "master_address": first, "master_port": str(job.port)}


def name(job: Job, rank: int) -> str:
    """A node as its user knows it."""
    if job.place.kind == "ssh":
        return job.hosts[rank]
    return "this machine" if job.place.kind == "local" else f"node {rank}"


def _addresses(job: Job) -> list[str]:
    """Aliases are the user's own: the nodes know each other by what these stand for."""
    asked = [Question(ssh.resolution(host, job.place.ssh_config)) for host in job.hosts]
    return [_address(host, answer) for host, answer in zip(job.hosts, ask(asked, USUAL_SECONDS), strict=True)]


def _address(host: str, answer: Answer) -> str:
    for line in answer.output.splitlines() if answer.status == 0 else []:
        key, _, value = line.partition(" ")
        if key == "hostname":
            return value
    raise RunnerError(explain(host, answer))


def _said(job: Job, rank: int, answer: Answer) -> Said:
    # Not `splitlines`: for it a form feed in the last line of a log ends that line, and the rest would be an answer.
    lines = [line.removeprefix("perfledger ") for line in answer.output.split("\n") if line.startswith("perfledger ")]
    facts = {key: value for key, _, value in (line.partition(" ") for line in lines)}
    if answer.status in (0, 1, 2):
        return Said(facts, answer.errors.strip(), refused=answer.status != 0, unreachable=False)
    return Said(facts, explain(name(job, rank), answer), refused=True, unreachable=True)
