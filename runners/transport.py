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


class Target(Struct, frozen=True, omit_defaults=True, tag_field="kind"):
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

    def for_series(self, runs: Sequence[PlannedRun], cool_down_seconds: int) -> AnyTarget:
        """Return the target for all runs of a command, one after the other with so many seconds between; see `release`.

        Args:
            runs: as many as there can be.
            cool_down_seconds: between two of them.
        """
        raise NotImplementedError

    def release(self) -> None:
        """Give back what is held for a series, once no further run of it is started."""

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
    """This machine; or, with several nodes, those of a script, whose files somebody brings here."""

    brought_nodes: int = 1

    def argv(self, rank: int) -> list[str]:  # noqa: D102
        return [sys.executable, *PYTHON]

    def name(self, rank: int) -> str:  # noqa: D102
        return "this machine"

    def too_few(self, nodes: int) -> str:  # noqa: D102
        return "this machine is one" if nodes > self.brought_nodes else ""

    def meeting(self, job: Job) -> Meeting:
        """Return this machine; the nodes of a script are told of each other where it is started."""
        return Meeting(["localhost"], "127.0.0.1", job.port)

    def node_states(self, job: Job) -> dict[int, NodeState]:
        """Ask for the state of every node; one of a script whose files are missing here is out of reach."""
        seen = super().node_states(job)
        absent = [rank for rank in job.ranks if self.brought_nodes > 1 and not job.node(rank).is_dir()]
        cause = "the files of node {} are not here; copy them from there, to the same path below the raw logs"
        return {**seen, **{rank: NodeState("unreachable", cause=cause.format(rank)) for rank in absent}}

    def at_site(self, addresses: Sequence[str], sbatch: Sequence[str]) -> AnyTarget:  # noqa: D102
        return self

    def places(self, device: str) -> dict[str, list[str]]:  # noqa: D102
        return {"local": self.argv(0)}

    def for_series(self, runs: Sequence[PlannedRun], cool_down_seconds: int) -> AnyTarget:  # noqa: D102
        return self


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

    def for_series(self, runs: Sequence[PlannedRun], cool_down_seconds: int) -> AnyTarget:  # noqa: D102
        return self


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
#: The number of a job; and that the job of a series is done with a run, whatever became of it.
NUMBER, OVER_FILE = "slurm.number", "over"
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
os.execv(sys.executable, [sys.executable, "-I", {agent!r}, {action!r}])
"""
#: Below the folder of raw logs, hidden from all that reads logs: where runs of a series are handed to their allocation.
ALLOCATIONS = ".slurm"
#: How long an allocation waits for the next run beyond the time between two of them; then it ends.
IDLE_SECONDS = 120
#: What must be left of an allocation beyond the time limit of a run, for its checks.
SPARE_SECONDS = 300


#: Our arguments of sbatch, and those of a user that take their place.
REPLACED_BY: Mapping[str, tuple[str, ...]] = {
    "--exclusive": ("--exclusive", "--oversubscribe", "--share", "-s"),
    "--mem": ("--mem", "--mem-per-cpu", "--mem-per-gpu"),
    "--gpus-per-node": ("--gpus-per-node", "--gpus", "--gpus-per-task", "--gres", "-G"),
}
#: Sbatch has no argument that takes `--exclusive` back; this one is ours.
NOT_EXCLUSIVE = "--exclusive=no"


def _gpus(count: int) -> list[str]:
    return [f"--gpus-per-node={count}"] if count else []


def _tasks(spec: JobSpec) -> int:
    return 1 if spec.every_node else spec.devices_per_node


def slurm_seconds(text: str) -> int:
    """Return a time of Slurm, `[days-]hours:minutes:seconds` or less of it; 0 for any other. Source: squeue(1), %L."""
    days, _, clock = text.rpartition("-")
    parts = clock.split(":")
    if not all(map(str.isdecimal, parts)) or not (days or "0").isdecimal():
        return 0
    # With days it is hours first; without, two parts are minutes and seconds.
    units = (3600, 60, 1) if days or len(parts) == 3 else (60, 1)
    return int(days or 0) * 86400 + sum(int(part) * unit for part, unit in zip(parts, units, strict=False))


class Allocation(Struct, frozen=True):
    """One job of Slurm for a series of runs: what the largest of them takes, for as long as all may last.

    `folder` is that of its present job and its earlier ones, numbered from 1: one that ended too early is followed by
    another.
    """

    folder: str
    nodes: int
    tasks: int
    gpus: int
    seconds: int
    idle_seconds: int


class Slurm(Target, frozen=True, tag="slurm"):
    """A partition, empty for the default of the cluster; `sbatch` are further arguments of sbatch.

    A run is a job of its own, or, with an `allocation`, it is handed to the job that all runs of its series share.
    """

    partition: str = ""
    sbatch: tuple[str, ...] = ()
    allocation: Allocation | None = None

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
        gpus = self._unless_stated(*_gpus(int(device == "gpu")))
        return {
            self.partition or "slurm": ["srun", "--nodes=1", "--ntasks=1", *gpus, *self._arguments, "python3", *PYTHON]
        }

    def commands(self, run: PlannedRun) -> list[str]:  # noqa: D102
        job = self.prepare(run)
        held = self.allocation
        return [shlex.join(self.allocated(held, Path(held.folder)) if held else self.submission(job, run.spec))]

    def for_series(self, runs: Sequence[PlannedRun], cool_down_seconds: int) -> AnyTarget:
        """Return the target with one allocation for all runs, so that they wait once, and have the same nodes."""
        if len(runs) < 2:
            return self
        specs = [run.spec for run in runs]
        folder = runs[0].folder.parents[3] / ALLOCATIONS / secrets.token_hex(4)
        allocation = Allocation(
            str(folder.absolute()),
            nodes=max(spec.nodes for spec in specs),
            tasks=max(map(_tasks, specs)),
            gpus=max(spec.devices_per_node if spec.device == "gpu" else 0 for spec in specs),
            seconds=sum(spec.timeout_seconds + cool_down_seconds for spec in specs),
            idle_seconds=cool_down_seconds + IDLE_SECONDS,
        )
        return replace(self, allocation=allocation)

    def release(self) -> None:
        """Let the allocation end after its present run, and take it from the queue where it holds none."""
        if self.allocation is None or not (folder := _latest(Path(self.allocation.folder))):
            return
        number = _text_of(folder / NUMBER)
        with suppress(OSError):
            (folder / "end").touch()
            if number.isdecimal() and not any((folder / "queue").iterdir()):
                _ask_slurm(["scancel", "--state=PENDING", number])
        try:
            active = number.isdecimal() and _is_active(_slurm_word(number)[0])
        except RunnerError:
            # It ends by itself, and removes its folder, once it has waited in vain.
            return
        if not active:
            shutil.rmtree(self.allocation.folder, ignore_errors=True)
            with suppress(OSError):
                Path(self.allocation.folder).parent.rmdir()

    def check(self, run: PlannedRun) -> Warnings:
        """Ask Slurm whether it would take the job; its nodes are checked when they are allocated."""
        job = self.prepare(run)
        argv = [*self.submission(job, run.spec), "--test-only"]
        answer = _ask_slurm(argv, BATCH_SCRIPT.format(agent="agent.py", action="batch"))
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
        gpus = spec.devices_per_node if spec.device == "gpu" else 0
        seconds = spec.timeout_seconds + MARGIN_SECONDS
        return self._sbatch(_job_name(job), job.incoming, spec.nodes, _tasks(spec), gpus, seconds)

    def allocated(self, held: Allocation, folder: Path) -> list[str]:
        """Return the command that submits the job of a series; its folder is named."""
        # A partition refuses a job, or lets it wait for ever, that asks for more time than it gives.
        limit = 0 if any(each.startswith(("--time", "-t")) for each in self.sbatch) else self._limit_seconds()
        seconds = min(held.seconds + MARGIN_SECONDS, limit or held.seconds + MARGIN_SECONDS)
        name = f"perfledger-{Path(held.folder).name}"
        return self._sbatch(name, folder, held.nodes, held.tasks, held.gpus, seconds)

    def _sbatch(self, name: str, folder: Path, nodes: int, tasks: int, gpus: int, seconds: int) -> list[str]:
        log = str(folder / "slurm.log").replace("%", "%%")
        return [
            "sbatch", "--parsable", f"--job-name={name}", f"--output={log}", "--open-mode=append",
            "--no-requeue", f"--nodes={nodes}", f"--ntasks-per-node={tasks}",
            *self._unless_stated("--exclusive", "--mem=0"),
            f"--time={-(-seconds // 60)}",
            *self._unless_stated(*_gpus(gpus)),
            *self._arguments,
        ]  # fmt: skip

    def _limit_seconds(self) -> int:
        """Return the time limit of the partition; 0 where there is none, or none is known. The default is marked."""
        if not shutil.which("sinfo"):
            return 0
        named = [f"--partition={self.partition}"] if self.partition else []
        answer = _ask_slurm(["sinfo", "--noheader", "--format=%P %l", *named])
        rows = [line.split() for line in answer.output.splitlines()]
        found = [row[1] for row in rows if len(row) == 2 and (named or row[0].endswith("*"))]
        return slurm_seconds(found[0]) if found else 0

    def start(self, job: Job, spec: JobSpec) -> Warnings:
        """Submit the job. Its nodes are checked when they are allocated; one that refuses ends the job.

        Raises:
            RunnerError: Slurm does not accept the job; nothing is left of it.
        """
        try:
            _write_batch(job, spec)
            number = self._handed_over(job, spec) if self.allocation else self._submitted(job, spec)
        except RunnerError:
            shutil.rmtree(job.incoming, ignore_errors=True)
            raise
        # Optional: without this file the job is found by its name.
        with suppress(OSError):
            (job.incoming / NUMBER).write_text(f"{number}\n", encoding="utf-8")
        return Warnings()

    def _submitted(self, job: Job, spec: JobSpec) -> str:
        return _submit(self.submission(job, spec), job.incoming / "agent.py", "batch")

    def _handed_over(self, job: Job, spec: JobSpec) -> str:
        """Hand a run to the allocation, to a new one where the present one has ended or ends too soon."""
        assert self.allocation is not None
        folder = _latest(Path(self.allocation.folder))
        number = _text_of(folder / NUMBER) if folder else ""
        if folder and number.isdecimal():
            word, left = _slurm_word(number)
            # Without a limit nothing is left of it to count.
            enough = not left or left >= spec.timeout_seconds + SPARE_SECONDS
            # One that is COMPLETING takes no more.
            if (word in SLURM_WAITING or word == "RUNNING") and enough and _enqueue(folder, job):
                return number
            with suppress(OSError):
                (folder / "end").touch()
        folder = _new_allocation(self.allocation, folder)
        _enqueue(folder, job)
        return _submit(self.allocated(self.allocation, folder), folder / "agent.py", "series", folder / NUMBER)

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
        # The job may be at work at another run already, if it is that of a series.
        if (job.incoming / OVER_FILE).exists() or not (number := _job_number(job)):
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
    if (job.incoming / OVER_FILE).exists():
        return _ended_state(job, "", "its batch program has ended")
    try:
        number = _job_number(job)
    except RunnerError as error:
        return JobState("unreachable", str(error))
    if not number:
        return JobState("lost", "Slurm has no such job: it was never submitted, or ended before its number was stored")
    try:
        word, _ = _slurm_word(number)
    except RunnerError as error:
        return JobState("unreachable", str(error))
    word = word or _accounted_state(number) or _remembered_state(number)
    if word in SLURM_WAITING:
        return JobState("waiting", f"Slurm says {word}")
    if word in SLURM_RUNNING:
        return JobState("running")
    return _ended_state(job, word, f"Slurm says {word or 'nothing'} of its job")


def _slurm_word(number: str) -> tuple[str, int]:
    """Return the state of a job in the queue, empty where it is not there, and the seconds that are left of it.

    Raises:
        RunnerError: Slurm does not answer.
    """
    answer = _ask_slurm(["squeue", "--noheader", "--states=all", f"--jobs={number}", "--format=%T %L"])
    if answer.status and "Invalid job id" not in answer.errors:
        raise RunnerError(f"Slurm does not answer: {_error_text(answer)}")
    word, left = [*answer.output.split(), "", ""][:2]
    return word, slurm_seconds(left)


def _is_active(word: str) -> bool:
    return word in SLURM_WAITING or word in SLURM_RUNNING


def _accounted_state(number: str) -> str:
    """Return the state from the accounting, if the cluster has one; without a width it would be truncated."""
    argv = ["sacct", "--noheader", "--allocations", f"--jobs={number}", "--format=State%40"]
    return _first_word(_ask_slurm(argv).output) if shutil.which(argv[0]) else ""


def _remembered_state(number: str) -> str:
    words = _ask_slurm(["scontrol", "--oneliner", "show", "job", number]).output.split()
    return next((word.removeprefix("JobState=") for word in words if word.startswith("JobState=")), "")


def _ended_state(job: Job, word: str, cause: str) -> JobState:
    refusals = {rank: _text_of(job.node(rank) / "refused") for rank in job.ranks}
    said = [f"node {rank} refused: {text}" for rank, text in refusals.items() if text]
    if said:
        return JobState("lost", "; ".join(said), outcome="failed")
    outcome = "stopped" if (job.incoming / "stopped").exists() else SLURM_OUTCOMES.get(word, "")
    return JobState("lost", cause, outcome=outcome)


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


def _submit(argv: Sequence[str], agent: Path, action: str, number_file: Path | None = None) -> str:
    """Submit a job, whose agent carries out the action, and return its number.

    Raises:
        RunnerError: Slurm does not accept it.
    """
    answer = _ask_slurm([*argv], BATCH_SCRIPT.format(agent=str(agent), action=action))
    number = answer.output.strip().split(";")[0]
    if answer.status == 0 and number.isdecimal():
        if number_file:
            number_file.write_text(f"{number}\n", encoding="utf-8")
        return number
    # A controller that was slow to answer may have accepted the job all the same.
    name = next(each for each in argv if each.startswith("--job-name="))
    _ask_slurm(["scancel", name.replace("--job-name", "--name")])
    raise RunnerError(f"sbatch did not take the job: {_error_text(answer)}")


def _latest(folder: Path) -> Path | None:
    """Return the folder of the present job of an allocation, if one was submitted."""
    try:
        found = [int(each.name) for each in folder.iterdir() if each.name.isdecimal()]
    except OSError:
        return None
    return folder / str(max(found)) if found else None


def _new_allocation(held: Allocation, before: Path | None) -> Path:
    """Make the folder of the next job of an allocation; return it."""
    folder = Path(held.folder) / str(int(before.name) + 1 if before else 1)
    try:
        (folder / "queue").mkdir(parents=True)
        (folder / "agent.py").write_text(agent_source(), encoding="utf-8")
        (folder / "series.json").write_text(json.dumps({"idle_seconds": held.idle_seconds}), encoding="utf-8")
    except OSError as error:
        message = f"{folder}: it cannot be written: {error.strerror}; make room, or name another with --raw-logs"
        raise RunnerError(message) from error
    return folder


def _enqueue(folder: Path, job: Job) -> bool:
    """Hand a run to a job of a series; return False if that job has closed its queue."""
    waiting = folder / f"{job.facts.identity}.request"
    try:
        waiting.write_text(str(job.incoming), encoding="utf-8")
        waiting.rename(folder / "queue" / job.facts.identity)
    except OSError:
        return False
    return True


def _job_number(job: Job) -> str:
    """Return the number of the job, as stored at its submission or found by its name; empty if there is none.

    Raises:
        RunnerError: Slurm does not answer.
    """
    # Slurm would take other texts for options, and the folder may come from someone else.
    if (kept := _text_of(job.incoming / NUMBER)).isdecimal():
        return kept
    named = _ask_slurm(["squeue", "--noheader", "--me", f"--name={_job_name(job)}", "--format=%i"])
    if named.status:
        raise RunnerError(f"Slurm does not answer: {_error_text(named)}")
    return _first_word(named.output)


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
