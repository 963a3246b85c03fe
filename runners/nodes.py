"""Nodes of a job: running programs in parallel, requests to the agent of a node, and fetching its files."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import subprocess
import tarfile
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Literal, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from runners import record
from runners.errors import RunnerError, printable
from runners.job import JobSpec, PlannedRun

T = TypeVar("T")

AGENT = Path(__file__).with_name("host_agent.py")
MARK = "perfledger "
#: Runs the agent, whose source is part of one line of JSON on standard input. It holds no single quotes, since a login
#: shell gets it in single quotes.
BOOT = (
    "import json,sys;"
    "sys.version_info>=(3,6) or sys.exit('Perfledger needs Python 3.6 or newer, and this is '+sys.version.split()[0]);"
    "request=json.loads(sys.stdin.buffer.readline().decode());"
    "agent={'__name__':'host_agent'};"
    "exec(compile(request['agent'],'host_agent.py','exec'),agent);"
    "agent['serve'](request)"
).replace("'", '"')
#: Without modules of the present folder, of the user and of site-packages: looking for them takes time.
PYTHON = ("-I", "-S", "-c", BOOT)
NO_ANSWER = 124
#: The longest output of a program that is read, in bytes.
LONGEST = 1 << 24
#: The longest line that a login may print before the files of a node, in bytes.
LONGEST_LINE = 1 << 16
#: Time limits in seconds. A check may first have to pull the image whose packages it lists.
SECONDS = {"check": 1800, "begin": 60}
USUAL_SECONDS = 45
#: On a cluster this includes waiting for a node.
HARDWARE_SECONDS = 600
#: Warnings that are kept of a node, and characters that are kept of each.
MOST_WARNINGS, LONGEST_WARNING = 50, 1000
#: SLURM_* variables that the user sets; all others describe the allocation we were started in, and are dropped.
USERS_SLURM_VARIABLES = ("SLURM_CLUSTERS", "SLURM_CONF", "SLURM_JWT")


class JobFacts(Struct, frozen=True):
    """The facts that `launch.json` keeps to find a job again; `identity` names it on every node."""

    identity: str
    nodes: int
    every_node: bool
    device: Literal["cpu", "gpu"]
    timeout_seconds: int

    def __post_init__(self) -> None:
        # The identity names folders and containers, and the logs may come from someone else.
        if not record.IDENTITY.fullmatch(self.identity) or self.nodes < 1:
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
        return (self.folder / record.INCOMING).resolve()

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


class Reply(Struct, frozen=True):
    """Answer of an agent to any request but `look`."""

    refused: str = ""
    warnings: tuple[str, ...] = ()
    hardware: str = ""


# --- Running programs in parallel -------------------------------------------------------------------------------------


class Question(Struct, frozen=True):
    """A command line, and its standard input."""

    argv: Sequence[str]
    text: str = ""


class ProgramResult(Struct, frozen=True):
    """Exit status, NO_ANSWER after a timeout, and what was printed; invalid UTF-8 is replaced."""

    status: int
    output: str
    errors: str

    @property
    def last_words(self) -> str:
        """The last line of standard error."""
        return (self.errors.strip().splitlines() or [""])[-1].strip()


class _RunningProgram(Struct, frozen=True):
    """A running program, and the files that it writes into.

    Files instead of pipes: older ssh clients pass our standard error on to the background process that keeps the
    connection open, and a pipe would not end before that process does.
    """

    process: subprocess.Popen[bytes]
    output: IO[bytes]
    errors: IO[bytes]

    def over(self) -> bool:
        """Return whether it has ended; kill one that prints without end, since it would fill our disk."""
        if self.endless():
            end(self.process)
        return self.process.poll() is not None

    def endless(self) -> bool:
        """Return whether it has printed too much."""
        return any(os.fstat(file.fileno()).st_size > LONGEST for file in (self.output, self.errors))

    def answer(self) -> ProgramResult:
        """Return the answer; NO_ANSWER if the program did not end by itself."""
        status = self.process.poll()
        stopped = status is None or self.endless()
        end(self.process)
        return ProgramResult(
            NO_ANSWER if status is None or stopped else status, contents(self.output), contents(self.errors)
        )


def ask(questions: Sequence[Question], seconds: float) -> list[ProgramResult]:
    """Run all programs and return their answers in order; kill those that run for longer than `seconds`.

    Raises:
        RunnerError: a program is not installed here; the others are killed, as on Ctrl-C.
    """
    deadline, step = time.monotonic() + seconds, 0.001
    with ExitStack() as stack:
        asked = [_started(question, stack) for question in questions]
        left = asked
        while left and time.monotonic() < deadline:
            left = [each for each in left if not each.over()]
            time.sleep(step if left else 0)
            step = min(2 * step, 0.05)
        return [each.answer() for each in asked]


def _started(question: Question, stack: ExitStack) -> _RunningProgram:
    output, errors = (stack.enter_context(holding("")) for _ in range(2))
    process = start(question.argv, stack.enter_context(holding(question.text)), output, errors)
    stack.callback(end, process)
    return _RunningProgram(process, output, errors)


def start(
    argv: Sequence[str], text: int | IO[bytes], output: int | IO[bytes], errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, so that Ctrl-C reaches us alone.

    Raises:
        RunnerError: it is not installed.
    """
    # Variables of the allocation that we may have been started in would override those of the target.
    variables = {
        name: value
        for name, value in os.environ.items()
        if name in USERS_SLURM_VARIABLES or not name.startswith(("SLURM_", "PMI_", "PMIX_"))
    }
    try:
        return subprocess.Popen(argv, stdin=text, stdout=output, stderr=errors, start_new_session=True, env=variables)
    except OSError as error:
        message = f"{argv[0]}: it cannot be started here: {error.strerror}; install it or put it on PATH"
        raise RunnerError(message) from error


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program that still runs."""
    if process.poll() is None:
        process.kill()
        process.wait()


@contextmanager
def holding(text: str) -> Iterator[IO[bytes]]:
    """Yield a temporary file that holds `text`, at its beginning.

    Raises:
        RunnerError: the disk is full.
    """
    with ExitStack() as stack:
        try:
            file = stack.enter_context(tempfile.TemporaryFile())
            file.write(text.encode())
            file.seek(0)
        except OSError as error:
            message = f"no temporary file can be written: {error.strerror}; make room, or set TMPDIR to another folder"
            raise RunnerError(message) from error
        yield file


def contents(file: IO[bytes]) -> str:
    """Return the content of a file, at most LONGEST bytes; invalid UTF-8 is replaced."""
    file.seek(0)
    return file.read(LONGEST).decode(errors="replace")


# --- The agent of a node ----------------------------------------------------------------------------------------------


def agent_source() -> str:
    """Return the program that nodes run."""
    return AGENT.read_text(encoding="utf-8")


def request(action: str, **values: Any) -> str:
    """Return the line that BOOT reads: the agent's source and the request; in ASCII, whatever the locale is."""
    content = {"agent": agent_source(), "action": action, **values}
    return json.dumps(msgspec.to_builtins(content)) + "\n"


def decoded(answer: ProgramResult, kind: type[T]) -> T | None:
    """Return the last answer of an agent; None if there is none.

    Not with `splitlines`, which also splits at form feeds: what a login prints after one could pass for an answer.
    """
    for line in reversed(answer.output.split("\n")):
        if line.startswith(MARK + "{"):
            with suppress(msgspec.MsgspecError):
                return msgspec.json.decode(line.removeprefix(MARK), type=kind)
    return None


#: Messages of OpenSSH with explanations, the most specific first. Source: its readconf.c and sshconnect.c.
SSH_ERRORS = {
    "REMOTE HOST IDENTIFICATION HAS CHANGED": (
        "its key is not the one known for it: it is another machine, or installed anew. Ask who runs it; if the new "
        "key is right, `ssh {host}` by hand says which known key to remove"
    ),
    "Host key verification failed": (
        "its key is not known here yet; connect once by hand with `ssh {host}` and accept it"
    ),
    "Could not resolve hostname": ("no such name is known; look for a slip in it, or add it to the ssh configuration"),
    "Permission denied (": ("it accepts none of your keys; add yours there (`ssh-copy-id`), or load it"),
    "bad configuration option": "the ssh configuration cannot be read",
    "Can't open user config file": "the file that --ssh-config names cannot be read",
    "Connection refused": ("it is there, and no SSH server answers; start one, or set the port in the configuration"),
    "timed out": "it does not answer; see whether it is up and whether the network reaches it",
    "No route to host": "the network does not reach it; see whether it is up",
    "Network is unreachable": "the network does not reach it; see whether this machine is connected",
    "not responding": "the connection broke off; see whether it is up and whether the network reaches it",
}
SILENT = "the connection broke off or gave no answer; see whether it is up and whether the network reaches it"
NO_PYTHON = "python3 is not installed there, and what runs on a host is a Python program (3.6 or newer); install it"
#: Exit status of ssh if the connection failed, and not the remote program.
SSH_FAILED = 255


def explain(host: str, answer: ProgramResult) -> str:
    """Return one message: the host, why the request failed, what to do, and the last line that ssh printed."""
    said = f" (it said: {answer.last_words})" if answer.last_words else ""
    if answer.status in (126, 127):
        return f"{host}: {NO_PYTHON}{said}"
    if answer.status == NO_ANSWER:
        return f"{host}: {SILENT}"
    for saying, meaning in SSH_ERRORS.items():
        if saying in answer.errors:
            return f"{host}: {meaning.format(host=host)}{said}"
    if answer.status not in (0, SSH_FAILED):
        return f"{host}: the agent failed there{said}"
    return f"{host}: {SILENT}{said}"


class Target(Struct, frozen=True, tag_field="kind"):
    """Where runs go. This base class suits hosts that are contacted one by one; see `transport.py` and `slurm.py`.

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
        answers = ask(questions, SECONDS.get(action, USUAL_SECONDS))
        return {
            rank: decoded(answer, kind) or explain(self.name(rank), answer)
            for rank, answer in zip(asked, answers, strict=True)
        }

    def start(self, job: Job, spec: JobSpec) -> list[str]:
        """Start the run on every node, and return the warnings of the nodes.

        Raises:
            RunnerError: a node refuses, cannot be reached or does not start; what was started is stopped again.
        """
        checked = self.tell(job, "check", job.ranks, Reply, spec=spec, **asdict(self.meeting(job)))
        if refusal := self._refusals(checked):
            self.tell(job, "forget", [rank for rank in job.ranks if isinstance(checked[rank], Reply)], Reply)
            raise RunnerError(refusal)
        # Exists before anything runs, since warnings are noted in it.
        job.incoming.mkdir(parents=True, exist_ok=True)
        if refusal := self._refusals(self.tell(job, "begin", job.ranks, Reply)):
            with suppress(RunnerError):
                self.stop(job)
            raise RunnerError(refusal)
        return [
            line for rank, reply in checked.items() if isinstance(reply, Reply) for line in warned(job, rank, reply)
        ]

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
        record.verify(job.node(rank))

    def late_warnings(self, job: Job) -> list[str]:
        """Return warnings of nodes that were checked after `start` returned."""
        return []

    def hardware(self, device: str) -> list[str]:
        """Return the hardware of each host, in order of rank, as `run.json` states it.

        Raises:
            RunnerError: a host does not answer; the earlier runs that count are then unknown.
        """
        places = self.places(device)
        answers = ask(
            [Question(argv, request("hardware", device=device)) for argv in places.values()], HARDWARE_SECONDS
        )
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


def warned(job: Job, rank: int, reply: Reply) -> list[str]:
    """Return warnings with node numbers instead of host names, limited in number and length, for records."""
    where = f"node {rank}: " if job.facts.nodes > 1 else ""
    return [f"{where}{warning[:LONGEST_WARNING]}" for warning in reply.warnings[:MOST_WARNINGS]]


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
    return replace(found, log_bytes=longest.log_bytes, last_line=printable(longest.last_line[:200]))


def _cause(job: Job, rank: int, state: NodeState) -> str:
    # By number, since the cause is published; an unreachable host is named, since that message is for the user alone.
    where = f"node {rank}: " if job.facts.nodes > 1 and state.kind != "unreachable" else ""
    return where + state.cause if state.cause else ""


# --- Fetching the files of a node -------------------------------------------------------------------------------------


def fetch_files(argv: Sequence[str], host: str, text: str, there: Path) -> None:
    """Fetch the files of a node completely or not at all; do nothing if they are here already.

    Args:
        argv: runs the agent on the node.
        host: the name of the node in messages.
        text: the request to send its files.
        there: its folder here.

    Raises:
        RunnerError: the host cannot be reached, the connection breaks, or a hash differs; files fetched earlier stay.
    """
    _restore(there)
    if (there / record.HOST_JSON).exists():
        return record.verify(there)
    partial = there.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        _receive(argv, host, text, partial)
        record.verify(partial)
        _replace(there, partial)
    except OSError as error:
        raise RunnerError(f"{there}: it cannot be written: {error.strerror}; make room, then collect again") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return None


def _receive(argv: Sequence[str], host: str, text: str, folder: Path) -> None:
    with holding(text) as asked, tempfile.TemporaryFile() as errors:
        process = start(argv, asked, subprocess.PIPE, errors)
        assert process.stdout is not None
        try:
            fault = unpack(process.stdout, folder)
        except BaseException:
            process.kill()
            raise
        finally:
            process.stdout.close()
            status = process.wait()
        if status or fault:
            answer = ProgramResult(status, "", contents(errors) if status else fault)
            raise RunnerError(f"{explain(host, answer)}; nothing of it was kept here")


def unpack(stream: IO[bytes], folder: Path) -> str:
    """Unpack an archive; return what is wrong with it, empty if nothing is."""
    # What a login prints comes before the archive.
    head = (MARK + "{").encode()
    if not any(line.startswith(head) for line in iter(lambda: stream.readline(LONGEST_LINE), b"")):
        return "no files were sent"
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            archive.extractall(folder, filter=_plain)
    except (tarfile.TarError, ValueError, OverflowError) as error:
        return f"the archive is not complete: {error}"
    return ""


def _plain(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
    """Accept regular files and folders only: links and names could lead out of the folder."""
    return tarfile.data_filter(member, path) if member.isreg() or member.isdir() else None


def _replace(there: Path, partial: Path) -> None:
    """Replace an earlier, incomplete copy; refuse if its log is longer, since a log can only grow."""
    before = there.with_suffix(".before")
    if there.exists():
        if _size(partial / record.LOG) < _size(there / record.LOG):
            raise RunnerError(f"{there}: its train.log is longer than the one on the host now; nothing was overwritten")
        shutil.rmtree(before, ignore_errors=True)
        there.rename(before)
    partial.rename(there)
    shutil.rmtree(before, ignore_errors=True)


def _restore(there: Path) -> None:
    """Put the earlier copy back if we were killed while replacing it."""
    before = there.with_suffix(".before")
    if before.exists() and not there.exists():
        before.rename(there)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
