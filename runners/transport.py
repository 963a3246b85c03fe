"""Targets of runs: start a job on each host, poll, stop and fetch it. `Local` is this machine."""

from __future__ import annotations

import re
import secrets
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

from perfledger.runners.agent_link import PYTHON, ask_agents, decoded, question
from perfledger.runners.job import JobSpec, PlannedRun, RunnerError, secret_values
from perfledger.runners.nodes import Outcome
from perfledger.runners.programs import ProgramResult, Question

T = TypeVar("T")
#: Time limits in seconds. A check may first have to pull the image whose packages it lists.
REQUEST_SECONDS = {"check": 1800, "begin": 60}
USUAL_SECONDS = 45
#: Characters that are kept of a warning.
LONGEST_WARNING = 1000
#: Folder of the nodes' files until the run is finished.
INCOMING = "incoming"
#: The identity of a job, which names folders and containers.
IDENTITY = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
# A name must not begin with a dash: ssh or sbatch would take it for an option.
HOST = re.compile(r"(?:[A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9_][\w.:-]*", re.ASCII)


class UnreachableError(RunnerError):
    """A host cannot be reached; other questions would fail, too."""


class UncertainStartError(RunnerError):
    """A run may go on at a host that gave no answer when it was to start, and that cannot be asked to stop."""


class JobFacts(Struct, frozen=True):
    """The facts that `launch.json` keeps to find a job again; `identity` names it on every node."""

    identity: str
    nodes: int
    every_node: bool
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


Kind = Literal["unreachable", "running", "lost", "ended"]


class JobState(Struct, frozen=True):
    """State of a node, from its agent; or that of a job, which is the worst of its nodes.

    `kind` is unreachable (its state is unknown), running, lost (an agent ended before it wrote `host.json`) or ended;
    `cause` is the reason. `outcome` is that of a node. `failed`: a node of the job has not completed, while others may
    still run. The log of a job is the longest of its nodes.
    """

    kind: Kind
    log_bytes: int = 0
    last_line: str = ""
    outcome: Outcome | Literal[""] = ""
    cause: str = ""
    failed: bool = False


class Warnings(Struct, frozen=True):
    """Doubts of nodes before a run; `disturbances` are other work on them, which makes its figures wrong."""

    warnings: tuple[str, ...] = ()
    disturbances: tuple[str, ...] = ()


class Reply(Warnings, frozen=True):
    """Answer of an agent to any request but `look`."""

    refused: str = ""
    hardware: str = ""
    argv: tuple[str, ...] = ()


class Target(Struct, frozen=True, omit_defaults=True, tag_field="kind"):
    """A target of runs. This base class suits hosts that are contacted one by one; see the classes below.

    `hosts` are names in order of rank, none for this machine. Every method that contacts a host raises RunnerError with
    a message for the user.
    """

    hosts: tuple[str, ...] = ()

    def argv(self, rank: int) -> list[str]:
        """Return the command that runs BOOT on a node; it reads the agent from standard input."""
        raise NotImplementedError

    def attached(self, rank: int, command: Sequence[str]) -> list[str]:
        """Return the command that runs another one on a node, in the terminal of the user."""
        return [*command]

    @property
    def ranks(self) -> range:
        """The hosts by number."""
        return range(len(self.hosts) or 1)

    def name(self, rank: int) -> str:
        """Return the name of a node for messages to the user."""
        return self.hosts[rank] if self.hosts else "this machine"

    def meeting(self, job: Job) -> Meeting:
        """Return the names that hosts use for each other, and the meeting place of their ranks."""
        raise NotImplementedError

    def jobs(self, job: Job) -> str:
        """Return the parent of the job's folder on a node; empty for the default of the node."""
        return str(job.incoming)

    def prepare(self, run: PlannedRun) -> Job:
        """Return the job of a run, with a new identity; start nothing and contact no host.

        Raises:
            RunnerError: there are too few hosts for the case.
        """
        spec = run.spec
        if spec.nodes > len(self.ranks):
            remedy = "name as many hosts with --on, or choose with --case nodes=1"
            raise RunnerError(
                f"{run.folder.parent.name}: it takes {spec.nodes} nodes, and here is {len(self.ranks)}; {remedy}"
            )
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        identity = f"{run.record.suite}-{now}-{secrets.token_hex(4)}"
        return Job(JobFacts(identity, spec.nodes, spec.every_node, spec.timeout_seconds), run.folder)

    def ask(self, job: Job, action: str, ranks: Iterable[int], kind: type[T], **values: object) -> dict[int, T | str]:
        """Send a request to the agents of these nodes; return answers by rank, or texts that explain their absence."""
        common = {"identity": job.facts.identity, "jobs": self.jobs(job), **values}
        programs = {rank: self.argv(rank) for rank in ranks}
        questions = [Question(argv, question(argv, action, rank=rank, **common)) for rank, argv in programs.items()]
        answers = ask_agents(questions, REQUEST_SECONDS.get(action, USUAL_SECONDS))
        return {
            rank: decoded(answer, kind) or self.explained(rank, answer)
            for rank, answer in zip(programs, answers, strict=True)
        }

    def check(self, run: PlannedRun, action: Literal["check", "idle"] = "check") -> Warnings:
        """Check the nodes of a run, or only whether they are idle, and start nothing; return their warnings.

        Raises:
            RunnerError: a node refuses.
            UnreachableError: a node cannot be reached.
        """
        with tempfile.TemporaryDirectory(prefix="perfledger.") as folder:
            job = self.prepare(replace(run, folder=Path(folder)))
            checked = self._checked(job, run.spec, action)
            self.ask(job, "forget", job.ranks, Reply)
        return numbered(len(job.ranks), checked)

    def _checked(self, job: Job, spec: JobSpec, action: str = "check") -> dict[int, Reply]:
        place = asdict(self.meeting(job))
        checked = self.ask(job, action, job.ranks, Reply, spec=spec, **place)
        answered = {rank: reply for rank, reply in checked.items() if isinstance(reply, Reply)}
        if refusal := self._refusals(checked):
            self.ask(job, "forget", answered, Reply)
            raise RunnerError(refusal) if len(answered) == len(job.ranks) else UnreachableError(refusal)
        return answered

    def explained(self, rank: int, answer: ProgramResult) -> str:
        """Return why a node gave no answer, and what to do."""
        return f"{self.name(rank)}: its agent failed, and said: {answer.last_words or 'nothing'}"

    def start(self, job: Job, spec: JobSpec, is_stopped: Callable[[], bool] = lambda: False) -> Warnings | None:
        """Start the run on every node, and return the warnings of the nodes; None if it was stopped before it began.

        Raises:
            RunnerError: a node refuses, cannot be reached or does not start; what was started is stopped again.
            UncertainStartError: that could not be stopped.
        """
        checked = numbered(len(job.ranks), self._checked(job, spec))
        if is_stopped():
            self.ask(job, "forget", job.ranks, Reply)
            return None
        # Exists before anything runs, since warnings are noted in it.
        job.incoming.mkdir(parents=True, exist_ok=True)
        if refusal := self.begin(job, spec):
            try:
                self.stop(job)
            except RunnerError as error:
                raise UncertainStartError(refusal) from error
            raise RunnerError(refusal)
        return checked

    def begin(self, job: Job, spec: JobSpec) -> str:
        """Start the run on every node; return why it did not start on one, empty if it started on all."""
        # On standard input of the agent alone, which hands them to the run in its environment.
        secrets = secret_values(spec.secrets)
        return self._refusals(self.ask(job, "begin", job.ranks, Reply, secrets=secrets))

    def look(self, job: Job) -> JobState:
        """Poll every node once and return the state of the job. Stops the observers when node 0 has finished."""
        seen = self.node_states(job)
        if not job.facts.every_node and seen[0].kind in ("ended", "lost"):
            observers = [rank for rank in seen if rank > 0 and seen[rank].kind == "running"]
            self.ask(job, "finish", observers, Reply)
        return worst(job, seen)

    def node_states(self, job: Job) -> dict[int, JobState]:
        """Ask every node for its state."""
        answers = self.ask(job, "look", job.ranks, JobState).items()
        return {rank: JobState("unreachable", cause=each) if isinstance(each, str) else each for rank, each in answers}

    def stop(self, job: Job, outcome: str = "stopped") -> None:
        """Stop the job on all nodes; a second call kills it. `outcome` (stopped or timeout) is what nodes record.

        If an agent is gone, the processes that it left are killed.

        Raises:
            RunnerError: some nodes cannot be reached; all others have been stopped.
        """
        if missed := self._refusals(self.ask(job, "finish", job.ranks, Reply, outcome=outcome)):
            raise RunnerError(f"{missed}\nWhat runs there ends by itself after {job.facts.timeout_seconds} s.")

    def fetch(self, job: Job) -> None:
        """Fetch the files of all nodes to `incoming/node<k>`, where those of most targets are already.

        Raises:
            RunnerError: a node cannot be reached, or its files do not match their hashes; the others were fetched.
        """

    def hardware(self, spec: JobSpec) -> list[str]:
        """Return the hardware of each host, in order of rank, as `run.json` of such a run would state it.

        Raises:
            RunnerError: a host does not answer; the earlier runs that count are then unknown.
        """
        facts = JobFacts("hardware", len(self.ranks), spec.every_node, spec.timeout_seconds)
        place = asdict(Meeting(["localhost"] * facts.nodes, "", 0))
        replies = self.ask(Job(facts, Path()), "hardware", self.ranks, Reply, spec=spec, **place)
        if refused := self._refusals(replies):
            raise RunnerError(f"{refused}\nIts hardware decides which earlier runs count.")
        return [reply.hardware for reply in replies.values() if isinstance(reply, Reply)]

    def _refusals(self, replies: Mapping[int, Reply | str]) -> str:
        texts = [
            reply if isinstance(reply, str) else f"{self.name(rank)}: {reply.refused}" if reply.refused else ""
            for rank, reply in replies.items()
        ]
        return "\n".join(filter(None, texts))


def numbered(nodes: int, replies: Mapping[int, Warnings]) -> Warnings:
    """Return the warnings of nodes after the number of each if there are several, limited in length."""

    def lines(kind: str) -> tuple[str, ...]:
        return tuple(
            f"node {rank}: {line[:LONGEST_WARNING]}" if nodes > 1 else line[:LONGEST_WARNING]
            for rank, reply in replies.items()
            for line in getattr(reply, kind)
        )

    return Warnings(lines("warnings"), lines("disturbances"))


#: The worst first: a job is not over as long as a node may be running.
KINDS: Sequence[Kind] = ("unreachable", "running", "lost", "ended")


def worst(job: Job, seen: Mapping[int, JobState]) -> JobState:
    """Return the state of a job from those of its nodes."""
    found = min((state.kind for state in seen.values()), key=KINDS.index)
    causes = [_cause(job, rank, state) for rank, state in seen.items() if state.kind == found]
    longest = max(seen.values(), key=lambda state: state.log_bytes)
    return JobState(
        found,
        log_bytes=longest.log_bytes,
        last_line=longest.last_line[:200],
        cause="; ".join(filter(None, causes)),
        failed=any(state.kind == "lost" or state.outcome not in ("", "completed") for state in seen.values()),
    )


def _cause(job: Job, rank: int, state: JobState) -> str:
    # By number, since the cause is published; an unreachable host is named, since that message is for the user alone.
    where = f"node {rank}: " if job.facts.nodes > 1 and state.kind != "unreachable" else ""
    return where + state.cause[:LONGEST_WARNING] if state.cause else ""


class Local(Target, frozen=True, tag="local"):
    """This machine."""

    def argv(self, rank: int) -> list[str]:  # noqa: D102
        return [sys.executable, *PYTHON]

    def meeting(self, job: Job) -> Meeting:
        """Return this machine."""
        return Meeting(["localhost"], "127.0.0.1", job.port)
