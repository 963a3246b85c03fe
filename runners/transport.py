"""Where a run goes, as `--on` names it: this machine, hosts by SSH, or a partition of a Slurm cluster."""

from __future__ import annotations

import functools
import itertools
import json
import os
import re
import secrets
import shlex
import shutil
import stat
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from runners.job import JobSpec, PlannedRun, RunnerError, secret_values
from runners.nodes import (
    LOG,
    PYTHON,
    ProgramResult,
    Question,
    agent_source,
    ask,
    decoded,
    explain,
    fetch_files,
    read_json,
    request,
    verify,
)

T = TypeVar("T")
#: Time limits in seconds. A check may first have to pull the image whose packages it lists.
REQUEST_SECONDS = {"check": 1800, "begin": 60, "all_reduce": 150}
USUAL_SECONDS = 45
#: On a cluster this includes waiting for a node.
HARDWARE_SECONDS = 600
#: Warnings that are kept of a node, and characters that are kept of each.
MOST_WARNINGS, LONGEST_WARNING = 50, 1000
#: Where the nodes' files are until the run is finished.
INCOMING = "incoming"
#: Of a job; it names folders and containers.
IDENTITY = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
# A name must not begin with a dash: ssh or sbatch would take it for an option.
HOST = re.compile(r"(?:[A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9_][\w.:-]*", re.ASCII)
PARTITION = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
FORMS = "it is local, ssh:HOST1,HOST2 or slurm:PARTITION"
#: No password prompts; a host that does not answer for 15 seconds counts as unreachable; options of the user's
#: configuration for terminals, commands and forwardings are switched off.
OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": "10",
    "ServerAliveInterval": "5",
    "ServerAliveCountMax": "3",
    "ControlMaster": "auto",
    "ControlPersist": "60",
    "ClearAllForwardings": "yes",
    "ForwardX11": "no",
    "PermitLocalCommand": "no",
    "RemoteCommand": "none",
    "LogLevel": "ERROR",
}


class UnreachableError(RunnerError):
    """A host cannot be asked at all, so that nothing else can be asked of it either."""


class JobFacts(Struct, frozen=True):
    """The facts that `launch.json` keeps to find a job again; `identity` names it on every node."""

    identity: str
    nodes: int
    every_node: bool
    device: Literal["cpu", "gpu"]
    timeout_seconds: int

    def __post_init__(self) -> None:
        # The identity names folders and containers, and the logs may come from someone else.
        if not IDENTITY.fullmatch(self.identity) or self.nodes < 1:
            raise ValueError("its identity or its number of nodes is not valid")


class Job(Struct, frozen=True):
    """A run that was started, and its folder here."""

    facts: JobFacts
    folder: Path

    @property
    def ranks(self) -> range:
        """The nodes by number."""
        return range(self.facts.nodes)

    @property
    def incoming(self) -> Path:
        """The folder with the files of its nodes: `node0`, `node1` and so on."""
        return (self.folder / INCOMING).resolve()

    @property
    def port(self) -> int:
        """The rendezvous port: derived from the identity, below the ephemeral range."""
        return 20000 + zlib.crc32(self.facts.identity.encode()) % 10000

    def node(self, rank: int) -> Path:
        """Return the folder here with the files of one node."""
        return self.incoming / f"node{rank}"


class Meeting(Struct, frozen=True):
    """All hosts in order of rank, and the address and port where their ranks meet."""

    hosts: list[str]
    master_address: str
    master_port: int


Kind = Literal["unreachable", "waiting", "running", "lost", "ended"]


class NodeState(Struct, frozen=True):
    """State of one node, from its agent; `gone`: the scheduler saw the agent end before it wrote `host.json`."""

    kind: Kind
    log_bytes: int = 0
    last_line: str = ""
    gone: bool = False
    outcome: str = ""
    cause: str = ""


class JobState(Struct, frozen=True):
    """State of a job: the worst of the states of its nodes.

    `kind` is unreachable (the state of a node is unknown), waiting, running, or, if no node is running any more, lost
    (an agent ended before it wrote `host.json`) or ended; `cause` is the reason. `outcome` is that of a lost job
    according to the scheduler. `failed`: a node has not completed, while others may still run. The log is the longest
    of all nodes.
    """

    kind: Kind
    cause: str = ""
    log_bytes: int = 0
    last_line: str = ""
    outcome: str = ""
    failed: bool = False


class Warnings(Struct, frozen=True):
    """What nodes found doubtful before a run; `disturbances` are other work on them, which makes its figures wrong.

    `notes` are for whoever checks them, and stand in no record.
    """

    warnings: tuple[str, ...] = ()
    disturbances: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Reply(Warnings, frozen=True):
    """Answer of an agent to any request but `look`."""

    refused: str = ""
    hardware: str = ""


class Target(Struct, frozen=True, tag_field="kind"):
    """Where runs go. This base class suits hosts that are contacted one by one; see the classes below.

    Every method that contacts a host raises RunnerError with a message for the user.
    """

    def argv(self, rank: int) -> list[str]:
        """Return the command that runs BOOT on a node; it reads the agent from standard input."""
        raise NotImplementedError

    def name(self, rank: int) -> str:
        """Return the name of a node for messages to the user."""
        raise NotImplementedError

    def too_few(self, nodes: int) -> str:
        """Return why the target does not have so many nodes; empty if it has."""
        raise NotImplementedError

    def meeting(self, job: Job) -> Meeting:
        """Return the hosts under the names by which they reach each other, and where their ranks meet."""
        raise NotImplementedError

    def jobs(self, job: Job) -> str:
        """Return the parent of the job's folder on a node; empty for the default of the node."""
        return str(job.incoming)

    def public_names(self) -> tuple[str, ...]:
        """Return the host names to redact in records, in order of rank."""
        return ()

    def site_names(self) -> tuple[Literal["hosts", "partitions"], tuple[str, ...]]:
        """Return the tables of a site file that are for this target."""
        return "hosts", ("local",)

    def at_site(self, addresses: Sequence[str], sbatch: Sequence[str]) -> AnyTarget:
        """Return the target with the addresses of its hosts and the arguments of sbatch that a site states."""
        raise NotImplementedError

    def prepare(self, run: PlannedRun) -> Job:
        """Return the job of a run, with a new identity; start nothing and contact no host.

        Raises:
            RunnerError: there are too few hosts for the case.
        """
        spec = run.spec
        if fault := self.too_few(spec.nodes):
            raise RunnerError(
                f"{run.folder.parent.name}: it takes {spec.nodes} nodes, and {fault}; name as many hosts, or "
                "choose with --case nodes=1"
            )
        if spec.container and spec.container.tool == "pyxis" and not isinstance(self, Slurm):
            remedy = "choose another --container, or --on slurm:PARTITION"
            raise RunnerError(f"{run.folder.parent.name}: --container pyxis is a part of Slurm; {remedy}")
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        identity = f"{run.record.suite}-{now}-{secrets.token_hex(4)}"
        return Job(JobFacts(identity, spec.nodes, spec.every_node, spec.device, spec.timeout_seconds), run.folder)

    def commands(self, run: PlannedRun) -> list[str]:
        """Return the shell lines that `start` executes; each reads the agent from standard input."""
        self.prepare(run)
        shown = [[*self.argv(rank)[:-1], "..."] for rank in range(run.spec.nodes)]
        return [shlex.join(argv) for argv in shown]

    def tell(self, job: Job, action: str, ranks: Iterable[int], kind: type[T], **values: Any) -> dict[int, T | str]:
        """Send a request to the agents of these nodes; return answers by rank, or texts that explain their absence."""
        asked = list(ranks)
        common = {"identity": job.facts.identity, "jobs": self.jobs(job), **values}
        questions = [Question(self.argv(rank), request(action, rank=rank, **common)) for rank in asked]
        answers = ask(questions, REQUEST_SECONDS.get(action, USUAL_SECONDS))
        return {
            rank: decoded(answer, kind) or self.explained(rank, answer)
            for rank, answer in zip(asked, answers, strict=True)
        }

    def check(self, run: PlannedRun) -> Warnings:
        """Check the nodes of a run and start nothing; return their warnings.

        Raises:
            RunnerError: a node refuses.
            UnreachableError: a node cannot be reached.
        """
        with tempfile.TemporaryDirectory(prefix="perfledger.") as folder:
            job = self.prepare(replace(run, folder=Path(folder)))
            checked = self._checked(job, run.spec)
            met = self._met(job, run.spec) if run.spec.nodes * run.spec.devices_per_node > 1 else Warnings()
            self.tell(job, "forget", job.ranks, Reply)
        return joined(warned(job, checked), met)

    def _met(self, job: Job, spec: JobSpec) -> Warnings:
        """Let the ranks of a job on GPUs meet in a small all-reduce; what hinders it is a warning."""
        if spec.device != "gpu":
            return Warnings()
        answers = self.tell(job, "all_reduce", job.ranks, Reply)
        # In words without the name of a host, since they are published.
        silent = Reply(warnings=("an all-reduce over the ranks of this case gave no answer",))
        return warned(job, {rank: each if isinstance(each, Reply) else silent for rank, each in answers.items()})

    def _checked(self, job: Job, spec: JobSpec) -> dict[int, Reply]:
        checked = self.tell(job, "check", job.ranks, Reply, spec=spec, **asdict(self.meeting(job)))
        if refusal := self._refusals(checked):
            answered = [rank for rank in job.ranks if isinstance(checked[rank], Reply)]
            self.tell(job, "forget", answered, Reply)
            raise RunnerError(refusal) if len(answered) == len(job.ranks) else UnreachableError(refusal)
        return {rank: reply for rank, reply in checked.items() if isinstance(reply, Reply)}

    def explained(self, rank: int, answer: ProgramResult) -> str:
        """Return why a node gave no answer, and what to do."""
        return explain(self.name(rank), answer)

    def log_place(self, job: Job) -> str:
        """Return where the log of the first node grows, for people."""
        return str(job.node(0) / LOG)

    def busy(self, run: PlannedRun) -> str:
        """Return why the nodes of a run are not idle; empty if they are.

        Raises:
            RunnerError: a node refuses the run whether it is idle or not.
            UnreachableError: a node cannot be reached.
        """
        with tempfile.TemporaryDirectory(prefix="perfledger.") as folder:
            job = self.prepare(replace(run, folder=Path(folder)))
            answers = self.tell(job, "idle", job.ranks, Reply, spec=run.spec, **asdict(self.meeting(job)))
            self.tell(job, "forget", [rank for rank in job.ranks if isinstance(answers[rank], Reply)], Reply)
        if refusal := self._refusals(answers):
            raise (
                RunnerError(refusal)
                if all(isinstance(each, Reply) for each in answers.values())
                else (UnreachableError(refusal))
            )
        return "; ".join(line for rank, reply in answers.items() if isinstance(reply, Reply) for line in reply.warnings)

    def start(self, job: Job, spec: JobSpec) -> Warnings:
        """Start the run on every node, and return the warnings of the nodes.

        Raises:
            RunnerError: a node refuses, cannot be reached or does not start; what was started is stopped again.
        """
        checked = warned(job, self._checked(job, spec))
        if spec.nodes > 1:
            checked = joined(checked, self._met(job, spec))
        # Exists before anything runs, since warnings are noted in it.
        job.incoming.mkdir(parents=True, exist_ok=True)
        # On standard input of the agent alone, which hands them to the run in its environment.
        secrets = secret_values(spec.secrets)
        if refusal := self._refusals(self.tell(job, "begin", job.ranks, Reply, secrets=secrets)):
            with suppress(RunnerError):
                self.stop(job)
            raise RunnerError(refusal)
        return checked

    def look(self, job: Job) -> JobState:
        """Poll every node once and return the state of the job. Stops the observers when node 0 has finished."""
        seen = self.node_states(job)
        if not job.facts.every_node and seen[0].kind in ("ended", "lost"):
            observers = [rank for rank in seen if rank > 0 and seen[rank].kind == "running"]
            self.tell(job, "dismiss", observers, Reply)
        return worst(job, seen)

    def node_states(self, job: Job) -> dict[int, NodeState]:
        """Ask every node for its state."""
        answers = self.tell(job, "look", job.ranks, NodeState)
        return {
            rank: NodeState("unreachable", cause=each) if isinstance(each, str) else each
            for rank, each in answers.items()
        }

    def stop(self, job: Job, outcome: str = "stopped") -> None:
        """Stop the job on all nodes; a second call kills it. `outcome` (stopped or timeout) is what nodes record.

        If an agent is gone, the processes that it left are killed.

        Raises:
            RunnerError: some nodes cannot be reached; all others have been stopped.
        """
        if missed := self._refusals(self.tell(job, "finish", job.ranks, Reply, outcome=outcome)):
            raise RunnerError(f"{missed}\nWhat runs there ends by itself after {job.facts.timeout_seconds} s.")

    def fetch(self, job: Job) -> None:
        """Fetch the folders of all nodes to `incoming/node<k>` and verify them; may be called again.

        Raises:
            RunnerError: a node cannot be reached, or its files do not match their hashes; the others were fetched.
        """
        faults = []
        for rank in job.ranks:
            try:
                self.bring(job, rank)
            except RunnerError as error:
                faults.append(str(error))
        if faults:
            raise RunnerError("\n".join(faults))

    def bring(self, job: Job, rank: int) -> None:
        """Verify the files of a node, which are here already on this kind of target."""
        verify(job.node(rank))

    def late_warnings(self, job: Job) -> Warnings:
        """Return warnings of nodes that were checked after `start` returned."""
        return Warnings()

    def hardware(self, spec: JobSpec) -> list[str]:
        """Return the hardware of each host, in order of rank, as `run.json` of such a run would state it.

        Raises:
            RunnerError: a host does not answer; the earlier runs that count are then unknown.
        """
        places = self.places(spec.device)
        about = {"identity": "", "rank": 0, "hosts": ["localhost"], "master_address": "", "master_port": 0}
        asked = request("hardware", spec=spec, **about)
        answers = ask([Question(argv, asked) for argv in places.values()], HARDWARE_SECONDS)
        return [_hardware(place, answer) for place, answer in zip(places, answers, strict=True)]

    def places(self, device: str) -> dict[str, list[str]]:
        """Return the commands that run the agent once per host, by host name; `device` is that of the recipe."""
        raise NotImplementedError

    def _refusals(self, replies: Mapping[int, Reply | str]) -> str:
        texts = [
            reply if isinstance(reply, str) else f"{self.name(rank)}: {reply.refused}" if reply.refused else ""
            for rank, reply in replies.items()
        ]
        return "\n".join(filter(None, texts))


def warned(job: Job, replies: Mapping[int, Warnings]) -> Warnings:
    """Return warnings with node numbers instead of host names, limited in number and length, for records."""

    def lines(kind: str) -> tuple[str, ...]:
        return tuple(
            f"node {rank}: {line[:LONGEST_WARNING]}" if job.facts.nodes > 1 else line[:LONGEST_WARNING]
            for rank, reply in replies.items()
            for line in getattr(reply, kind)[:MOST_WARNINGS]
        )

    return Warnings(lines("warnings"), lines("disturbances"), lines("notes"))


def joined(one: Warnings, other: Warnings) -> Warnings:
    """Return the warnings of both."""
    return Warnings(
        one.warnings + other.warnings,
        one.disturbances + other.disturbances,
        tuple(dict.fromkeys(one.notes + other.notes)),
    )


def _hardware(place: str, answer: ProgramResult) -> str:
    reply = decoded(answer, Reply)
    if reply is None or not reply.hardware:
        said = answer.last_words or "it gave no answer"
        raise RunnerError(f"{place}: it cannot be asked for its hardware, which says which runs count: {said}")
    return reply.hardware


#: The worst first: a job is not over as long as a node may be running.
KINDS: Sequence[Kind] = ("unreachable", "running", "lost", "ended")


def worst(job: Job, seen: Mapping[int, NodeState]) -> JobState:
    """Return the state of a job from those of its nodes."""
    found = min((state.kind for state in seen.values()), key=KINDS.index)
    causes = [_cause(job, rank, state) for rank, state in seen.items() if state.kind == found]
    failed = has_failed(seen) or any(state.kind == "lost" for state in seen.values())
    return with_log(JobState(found, "; ".join(filter(None, causes)), failed=failed), seen)


def has_failed(seen: Mapping[int, NodeState]) -> bool:
    """Return whether a node recorded an outcome other than completed."""
    return any(state.outcome not in ("", "completed") for state in seen.values())


def with_log(found: JobState, seen: Mapping[int, NodeState]) -> JobState:
    """Return a state with the longest log of the nodes."""
    longest = max(seen.values(), key=lambda state: state.log_bytes)
    return replace(found, log_bytes=longest.log_bytes, last_line=longest.last_line[:200])


def _cause(job: Job, rank: int, state: NodeState) -> str:
    # By number, since the cause is published; an unreachable host is named, since that message is for the user alone.
    where = f"node {rank}: " if job.facts.nodes > 1 and state.kind != "unreachable" else ""
    return where + state.cause[:LONGEST_WARNING] if state.cause else ""


# --- This machine, and hosts by SSH -----------------------------------------------------------------------------------


class Local(Target, frozen=True, tag="local"):
    """This machine."""

    def argv(self, rank: int) -> list[str]:  # noqa: D102
        return [sys.executable, *PYTHON]

    def name(self, rank: int) -> str:  # noqa: D102
        return "this machine"

    def too_few(self, nodes: int) -> str:  # noqa: D102
        return "this machine is one" if nodes > 1 else ""

    def meeting(self, job: Job) -> Meeting:  # noqa: D102
        return Meeting(["localhost"], "127.0.0.1", job.port)

    def at_site(self, addresses: Sequence[str], sbatch: Sequence[str]) -> AnyTarget:  # noqa: D102
        return self

    def places(self, device: str) -> dict[str, list[str]]:  # noqa: D102
        return {"local": self.argv(0)}


class Ssh(Target, frozen=True, tag="ssh"):
    """Hosts by OpenSSH with the user's own configuration; all requests to a host share one connection.

    `hosts` are names in that configuration, in order of rank; `config` is a file to use instead. `addresses` are those
    by which the hosts reach each other, empty where ssh's own will do.
    """

    hosts: tuple[str, ...]
    config: str = ""
    addresses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # An ssh configuration can start programs, and a relative path could name one that came with the logs.
        if not all(map(HOST.fullmatch, self.hosts)) or (self.config and not Path(self.config).is_absolute()):
            raise ValueError("it names an invalid host or a relative ssh configuration")

    def argv(self, rank: int) -> list[str]:  # noqa: D102
        options = {**OPTIONS, "ControlPath": f"{_sockets()}/%C"}
        settings = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        command = shlex.join(["python3", *PYTHON])
        return ["ssh", "-T", *self._file, *settings, "--", self.hosts[rank], command]

    @property
    def _file(self) -> list[str]:
        return ["-F", self.config] if self.config else []

    def name(self, rank: int) -> str:  # noqa: D102
        return self.hosts[rank]

    def too_few(self, nodes: int) -> str:  # noqa: D102
        return f"--on names {len(self.hosts)}" if nodes > len(self.hosts) else ""

    def meeting(self, job: Job) -> Meeting:
        """Return the host names behind the user's aliases, by which the nodes reach each other."""
        hosts = self.hosts[: job.facts.nodes]
        asked = [Question(["ssh", "-G", *self._file, "--", host]) for host in hosts]
        known = [
            _address(host, answer, self.config) for host, answer in zip(hosts, ask(asked, USUAL_SECONDS), strict=True)
        ]
        # What ssh connects to may be a public address, or that of a jump host; the site knows better.
        known = [stated or found for stated, found in itertools.zip_longest(self.addresses[: len(known)], known)]
        return Meeting(known, known[0], job.port)

    def site_names(self) -> tuple[Literal["hosts", "partitions"], tuple[str, ...]]:  # noqa: D102
        return "hosts", self.hosts

    def at_site(self, addresses: Sequence[str], sbatch: Sequence[str]) -> AnyTarget:  # noqa: D102
        return replace(self, addresses=tuple(addresses) if any(addresses) else ())

    def jobs(self, job: Job) -> str:  # noqa: D102
        return ""

    def explained(self, rank: int, answer: ProgramResult) -> str:  # noqa: D102
        return explain(self.name(rank), answer, self.config)

    def log_place(self, job: Job) -> str:  # noqa: D102
        return f"{self.hosts[0]}:~/.perfledger/jobs/{job.facts.identity}/node0/{LOG}"

    def public_names(self) -> tuple[str, ...]:  # noqa: D102
        return self.hosts

    def bring(self, job: Job, rank: int) -> None:
        """Fetch the folder of a node to `incoming/node<k>`; see `fetch_files`."""
        asked = request("send", identity=job.facts.identity, rank=rank)
        fetch_files(self.argv(rank), self.name(rank), asked, job.node(rank), self.config)

    def places(self, device: str) -> dict[str, list[str]]:  # noqa: D102
        return {host: self.argv(rank) for rank, host in enumerate(self.hosts)}


def _address(host: str, answer: ProgramResult, config: str) -> str:
    for line in answer.output.splitlines() if answer.status == 0 else []:
        key, _, value = line.partition(" ")
        if key == "hostname":
            return value
    raise UnreachableError(explain(host, answer, config))


@functools.cache
def _sockets() -> str:
    """Return a private folder for sockets in /tmp.

    Not in TMPDIR: the path of a socket has at most 104 bytes, of which ssh needs 58, so TMPDIR may be too long.
    """
    folder = Path(f"/tmp/perfledger-{os.getuid()}")
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
        return str(folder)
    return tempfile.mkdtemp(prefix="perfledger-", dir="/tmp")


# --- Slurm ------------------------------------------------------------------------------------------------------------


#: Added to the time limit of the run for the check, which may have to pull an image, and for the grace period.
MARGIN_SECONDS = 1800
SLURM_SECONDS = 60
#: How long a file written on one node may take to become visible on another.
SHARED_SECONDS = 5
# States of Slurm jobs. Source: squeue(1), "JOB STATE CODES". All others are an end.
SLURM_WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT")
SLURM_RUNNING = ("RUNNING", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED", "SUSPENDED")
SLURM_OUTCOMES = {"CANCELLED": "stopped", "TIMEOUT": "timeout", "DEADLINE": "timeout", "OUT_OF_MEMORY": "oom"}
SLURM_SIGNALS = {"stopped": "TERM", "timeout": "USR1"}
#: Slurm copies the batch script to the node. It becomes the agent by exec, so that the agent gets the signals.
BATCH_SCRIPT = """#!/usr/bin/env python3
import os, sys
os.execv(sys.executable, [sys.executable, "-I", {agent!r}, "batch"])
"""


#: Our arguments of sbatch, and those of a user that take their place.
REPLACED_BY: Mapping[str, tuple[str, ...]] = {
    "--exclusive": ("--exclusive", "--oversubscribe", "--share", "-s"),
    "--mem": ("--mem", "--mem-per-cpu", "--mem-per-gpu"),
    "--gpus-per-node": ("--gpus-per-node", "--gpus", "--gpus-per-task", "--gres", "-G"),
}
#: Sbatch has no argument that takes `--exclusive` back; this one is ours.
NOT_EXCLUSIVE = "--exclusive=no"


def _gpus(device: str, count: int) -> list[str]:
    return [f"--gpus-per-node={count}"] if device == "gpu" else []


class Slurm(Target, frozen=True, tag="slurm"):
    """A partition, empty for the default of the cluster; `sbatch` are further arguments of sbatch."""

    partition: str = ""
    sbatch: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.partition and not PARTITION.fullmatch(self.partition):
            raise ValueError("it names an invalid partition")

    def site_names(self) -> tuple[Literal["hosts", "partitions"], tuple[str, ...]]:  # noqa: D102
        return "partitions", (self.partition or "default",)

    def at_site(self, addresses: Sequence[str], sbatch: Sequence[str]) -> AnyTarget:
        """Return the target with the site's arguments first: of two that disagree, sbatch takes the last."""
        return replace(self, sbatch=(*sbatch, *self.sbatch))

    def argv(self, rank: int) -> list[str]:
        """Run the agent here: the folders of the nodes are shared."""
        return [sys.executable, *PYTHON]

    def name(self, rank: int) -> str:  # noqa: D102
        return f"node {rank}"

    def too_few(self, nodes: int) -> str:  # noqa: D102
        return ""

    @property
    def _arguments(self) -> list[str]:
        stated = [each for each in self.sbatch if each != NOT_EXCLUSIVE]
        return [*([f"--partition={self.partition}"] if self.partition else []), *stated]

    def _unless_stated(self, *arguments: str) -> list[str]:
        """Return those of our arguments that none of the user's speaks against."""
        stated = {each.partition("=")[0] for each in self.sbatch}
        return [each for each in arguments if stated.isdisjoint(REPLACED_BY[each.partition("=")[0]])]

    def places(self, device: str) -> dict[str, list[str]]:
        """Return one node of the partition, as if all were alike. Without `--gpus-per-node` Slurm hides all GPUs."""
        gpus = self._unless_stated(*_gpus(device, 1))
        return {
            self.partition or "slurm": ["srun", "--nodes=1", "--ntasks=1", *gpus, *self._arguments, "python3", *PYTHON]
        }

    def commands(self, run: PlannedRun) -> list[str]:  # noqa: D102
        return [shlex.join(self.submission(self.prepare(run), run.spec))]

    def check(self, run: PlannedRun) -> Warnings:
        """Ask Slurm whether it would take the job; its nodes are checked when they are allocated."""
        job = self.prepare(run)
        argv = [*self.submission(job, run.spec), "--test-only"]
        answer = _ask_slurm(argv, BATCH_SCRIPT.format(agent="agent.py"))
        if answer.status:
            raise RunnerError(f"sbatch would not take the job: {_error_text(answer)}")
        return Warnings((f"its nodes are checked when they are allocated; Slurm says: {_error_text(answer)}",))

    def busy(self, run: PlannedRun) -> str:
        """Nodes of a Slurm job are its own: until they are idle, the job waits in the queue."""
        return ""

    def submission(self, job: Job, spec: JobSpec) -> list[str]:
        """Return the command that reads a batch script and prints the number of the job.

        The nodes are exclusive, and a job that lost its nodes is not requeued, since it would overwrite its logs. A
        launcher that starts the other nodes by itself needs a slot per rank.
        """
        tasks = 1 if spec.every_node else spec.devices_per_node
        log = str(job.incoming / "slurm.log").replace("%", "%%")
        return [
            "sbatch", "--parsable", f"--job-name={_job_name(job)}", f"--output={log}", "--open-mode=append",
            "--no-requeue", f"--nodes={spec.nodes}", f"--ntasks-per-node={tasks}",
            *self._unless_stated("--exclusive", "--mem=0"),
            f"--time={-(-(spec.timeout_seconds + MARGIN_SECONDS) // 60)}",
            *self._unless_stated(*_gpus(spec.device, spec.devices_per_node)),
            *self._arguments,
        ]  # fmt: skip

    def start(self, job: Job, spec: JobSpec) -> Warnings:
        """Submit the job. Its nodes are checked when they are allocated; one that refuses ends the job.

        Raises:
            RunnerError: Slurm does not accept the job; nothing is left of it.
        """
        try:
            _write_batch(job, spec)
            number = self._submit(job, spec)
        except RunnerError:
            shutil.rmtree(job.incoming, ignore_errors=True)
            raise
        # Optional: without this file the job is found by its name.
        with suppress(OSError):
            _number_file(job).write_text(f"{number}\n", encoding="utf-8")
        return Warnings()

    def _submit(self, job: Job, spec: JobSpec) -> str:
        answer = _ask_slurm(self.submission(job, spec), BATCH_SCRIPT.format(agent=str(job.incoming / "agent.py")))
        number = answer.output.strip().split(";")[0]
        if answer.status == 0 and number.isdecimal():
            return number
        # A controller that was slow to answer may have accepted the job all the same.
        _ask_slurm(["scancel", f"--name={_job_name(job)}"])
        raise RunnerError(f"sbatch did not take the job: {_error_text(answer)}")

    def look(self, job: Job) -> JobState:
        """Return the state of the job: from the folders of nodes that have ended, and else from Slurm."""
        seen = self.node_states(job)
        if _all_ended(seen):
            return worst(job, seen)
        found = slurm_state(job)
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
        if not (number := _job_number(job)):
            return
        signal = f"--signal={SLURM_SIGNALS[outcome]}"
        for argv in (["scancel", "--state=PENDING", number], ["scancel", signal, "--batch", number]):
            answer = _ask_slurm(argv)
            over = "Invalid job id" in answer.errors or "already completing or completed" in answer.errors
            if answer.status and not over:
                raise RunnerError(f"Slurm job {number} could not be asked to end: {_error_text(answer)}")

    def late_warnings(self, job: Job) -> Warnings:
        """Return warnings of nodes that were checked after `start` returned."""
        return warned(job, {rank: _check_of(job.node(rank)) for rank in job.ranks})


def _check_of(folder: Path) -> Reply:
    """Return what the check of a node found; a file that is not the agent's is a warning itself."""
    try:
        return read_json(folder / "check.json", Reply) or Reply()
    except RunnerError:
        return Reply(warnings=("what its check found cannot be read",))


def slurm_state(job: Job) -> JobState:
    """Return the state of a job according to Slurm: waiting, running, unreachable, or lost."""
    try:
        number = _job_number(job)
    except RunnerError as error:
        return JobState("unreachable", str(error))
    if not number:
        return JobState("lost", "Slurm has no such job: it was never submitted, or ended before its number was stored")
    answer = _ask_slurm(["squeue", "--noheader", "--states=all", f"--jobs={number}", "--format=%T"])
    if answer.status and "Invalid job id" not in answer.errors:
        return JobState("unreachable", f"Slurm does not answer: {_error_text(answer)}")
    word = _first_word(answer.output) or _accounted_state(number) or _remembered_state(number)
    if word in SLURM_WAITING:
        return JobState("waiting", f"Slurm says {word}")
    return JobState("running") if word in SLURM_RUNNING else _ended_state(job, word)


def _accounted_state(number: str) -> str:
    """Return the state from the accounting, if the cluster has one; without a width it would be truncated."""
    argv = ["sacct", "--noheader", "--allocations", f"--jobs={number}", "--format=State%40"]
    return _first_word(_ask_slurm(argv).output) if shutil.which(argv[0]) else ""


def _remembered_state(number: str) -> str:
    words = _ask_slurm(["scontrol", "--oneliner", "show", "job", number]).output.split()
    return next((word.removeprefix("JobState=") for word in words if word.startswith("JobState=")), "")


def _ended_state(job: Job, word: str) -> JobState:
    refusals = {rank: _text_of(job.node(rank) / "refused") for rank in job.ranks}
    said = [f"node {rank} refused: {text}" for rank, text in refusals.items() if text]
    if said:
        return JobState("lost", "; ".join(said), outcome="failed")
    outcome = "stopped" if (job.incoming / "stopped").exists() else SLURM_OUTCOMES.get(word, "")
    return JobState("lost", f"Slurm says {word or 'nothing'} of its job", outcome=outcome)


def _write_batch(job: Job, spec: JobSpec) -> None:
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


def _job_number(job: Job) -> str:
    """Return the number of the job, as stored at its submission or found by its name; empty if there is none.

    Raises:
        RunnerError: Slurm does not answer.
    """
    # Slurm would take other texts for options, and the folder may come from someone else.
    if (kept := _text_of(_number_file(job))).isdecimal():
        return kept
    named = _ask_slurm(["squeue", "--noheader", "--me", f"--name={_job_name(job)}", "--format=%i"])
    if named.status:
        raise RunnerError(f"Slurm does not answer: {_error_text(named)}")
    return _first_word(named.output)


def _number_file(job: Job) -> Path:
    return job.incoming / "slurm.number"


def _job_name(job: Job) -> str:
    return f"perfledger-{job.facts.identity}"


def _all_ended(seen: dict[int, NodeState]) -> bool:
    return all(each.kind == "ended" for each in seen.values())


def _ask_slurm(argv: list[str], text: str = "") -> ProgramResult:
    return ask([Question(argv, text)], SLURM_SECONDS)[0]


def _first_word(output: str) -> str:
    """Return the first word; sacct appends the user who cancelled a job."""
    return (output.split() or [""])[0]


def _error_text(answer: ProgramResult) -> str:
    return answer.last_words or "nothing"


def _text_of(path: Path) -> str:
    """Return the beginning of a text; empty if there is no file, or a link, which could publish any other file."""
    try:
        if path.is_symlink() or not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(LONGEST_WARNING).decode(errors="replace").strip()
    except OSError:
        return ""


# --- What `--on` names ------------------------------------------------------------------------------------------------


#: The targets that `launch.json` can hold.
AnyTarget = Local | Ssh | Slurm


def parse_target(on: str, ssh_config: str = "", sbatch: Sequence[str] = ()) -> AnyTarget:
    """Return the target that `--on` names.

    Raises:
        RunnerError: there is no such target, or an option is for another kind of target.
    """
    kind, _, rest = on.partition(":")
    if sbatch and kind != "slurm":
        raise RunnerError(f"--sbatch {sbatch[0]}: it is for --on slurm:PARTITION, and this is --on {on}; leave it out")
    if ssh_config and kind != "ssh":
        raise RunnerError(f"--ssh-config {ssh_config}: it is for --on ssh:HOST, and this is --on {on}; leave it out")
    if on == "local":
        return Local()
    if kind == "ssh":
        # Absolute, since a run may be collected from another folder.
        return Ssh(_hosts(on, rest), ssh_config and str(Path(ssh_config).absolute()))
    if kind == "slurm":
        if rest and not PARTITION.fullmatch(rest):
            raise RunnerError(f"--on {on}: {rest!r} is not the name of a partition; `sinfo` lists them")
        return Slurm(rest, tuple(sbatch))
    raise RunnerError(f"--on {on}: there is no such target; {FORMS}")


def _hosts(on: str, text: str) -> tuple[str, ...]:
    hosts = tuple(text.split(","))
    for host in hosts:
        if not HOST.fullmatch(host):
            raise RunnerError(
                f"--on {on}: {host!r} is not the name of a host; a port or a key belongs in the ssh configuration"
            )
        if hosts.count(host) > 1:
            raise RunnerError(f"--on {on}: {host} is named twice; one host is one node")
    return hosts
