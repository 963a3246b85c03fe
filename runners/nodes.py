"""Nodes of a job: how programs are asked in parallel, how the agent on a node is asked, and how its files come home."""

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
from msgspec.structs import replace

from runners import record
from runners.errors import RunnerError, printable
from runners.job import JobSpec, Run

T = TypeVar("T")

AGENT = Path(__file__).with_name("host_agent.py")
MARK = "perfledger "
#: Runs the agent that one line of JSON on standard input holds. Without single quotes: a login shell gets it in them.
BOOT = (
    "import json,sys;"
    "sys.version_info>=(3,6) or sys.exit('Perfledger needs Python 3.6 or newer, and this is '+sys.version.split()[0]);"
    "request=json.loads(sys.stdin.buffer.readline().decode());"
    "agent={'__name__':'host_agent'};"
    "exec(compile(request['agent'],'host_agent.py','exec'),agent);"
    "agent['serve'](request)"
).replace("'", '"')
#: Without the modules of the folder it is started in, of the user, and of others: reading their list takes its time.
PYTHON = ("-I", "-S", "-c", BOOT)
NO_ANSWER = 124
#: Of what a program prints, in bytes.
LONGEST = 1 << 24
#: What a login may print before the files of a node, in bytes of a line.
LONGEST_LINE = 1 << 16
#: A preflight may first have to fetch the image that it asks for its packages.
SECONDS = {"check": 1800, "begin": 60}
USUAL_SECONDS = 45
#: A cluster may let us wait for a node.
HARDWARE_SECONDS = 600
#: Warnings of a node that are listened to, and characters of one.
MOST_WARNINGS, LONGEST_WARNING = 50, 1000
#: SLURM_* variables that the user sets; all others describe the allocation we were started in, and are dropped.
USERS_SLURM_VARIABLES = ("SLURM_CLUSTERS", "SLURM_CONF", "SLURM_JWT")


class JobFacts(Struct, frozen=True):
    """What is needed to find a job again, as `launch.json` keeps it; `identity` names it on every node."""

    identity: str
    nodes: int
    every_node: bool
    device: Literal["cpu", "gpu"]
    timeout_seconds: int

    def __post_init__(self) -> None:
        # It names folders and containers, and a tree of logs may be another's.
        if not record.IDENTITY.fullmatch(self.identity) or self.nodes < 1:
            raise ValueError("a value in it is none of a job")


class Job(Struct, frozen=True):
    """A run that was started, and its folder at home."""

    facts: JobFacts
    folder: Path

    @property
    def ranks(self) -> range:
        """The nodes by number."""
        return range(self.facts.nodes)

    @property
    def incoming(self) -> Path:
        """The folder of what its nodes wrote: `node0`, `node1` and so on."""
        return (self.folder / record.INCOMING).resolve()

    @property
    def port(self) -> int:
        """The port where its ranks meet, derived from its identity and below the ephemeral range."""
        return 20000 + zlib.crc32(self.facts.identity.encode()) % 10000

    def node(self, rank: int) -> Path:
        """Return the folder of one node at home."""
        return self.incoming / f"node{rank}"


Kind = Literal["unreachable", "waiting", "running", "lost", "ended"]


class NodeState(Struct, frozen=True):
    """How the job of one node is, by its agent; `gone` means that a scheduler saw its process end without a word."""

    kind: Kind
    log_bytes: int = 0
    last_line: str = ""
    gone: bool = False
    outcome: str = ""
    cause: str = ""


class State(Struct, frozen=True):
    """How a job is, the worst over its nodes.

    `kind` is unreachable (of a node nothing is known), waiting, running, or, where no node is at work any more, lost
    (an agent is gone without its last word) or ended; `cause` says why. `outcome` is what a scheduler says that a lost
    job came to. `failed`: a node has not completed, while others may still be at work. The log is the longest of all
    nodes.
    """

    kind: Kind
    cause: str = ""
    log_bytes: int = 0
    last_line: str = ""
    outcome: str = ""
    failed: bool = False


class Reply(Struct, frozen=True):
    """What an agent answers to anything but `look`."""

    refused: str = ""
    warnings: tuple[str, ...] = ()
    hardware: str = ""


# --- Programs, asked at the same time ---------------------------------------------------------------------------------


class Question(Struct, frozen=True):
    """A command line, and what it reads on its standard input."""

    argv: Sequence[str]
    text: str = ""


class Answer(Struct, frozen=True):
    """Exit status, NO_ANSWER where the time was over, and what was printed, as far as it is UTF-8."""

    status: int
    output: str
    errors: str

    @property
    def last_words(self) -> str:
        """The last line on standard error."""
        return (self.errors.strip().splitlines() or [""])[-1].strip()


class _Asked(Struct, frozen=True):
    """A program that runs, and the files that it writes into.

    The trap: no pipes, because older ssh clients leave our standard error to the background process that keeps the
    connection, and a pipe would not end before that process does.
    """

    process: subprocess.Popen[bytes]
    output: IO[bytes]
    errors: IO[bytes]

    def over(self) -> bool:
        """Return whether it has ended; one that prints without end is killed, for it would fill our disk."""
        if self.endless():
            end(self.process)
        return self.process.poll() is not None

    def endless(self) -> bool:
        """Return whether it has printed too much."""
        return any(os.fstat(file.fileno()).st_size > LONGEST for file in (self.output, self.errors))

    def answer(self) -> Answer:
        """Return what it answered; of one that had not ended by itself it is no answer."""
        status = self.process.poll()
        stopped = status is None or self.endless()
        end(self.process)
        return Answer(NO_ANSWER if status is None or stopped else status, contents(self.output), contents(self.errors))


def ask(questions: Sequence[Question], seconds: float) -> list[Answer]:
    """Return the answers in the order of the questions; who has not answered after `seconds` is killed.

    Raises:
        RunnerError: a program is not installed here; the others are killed then, as on Ctrl-C.
    """
    deadline, step = time.monotonic() + seconds, 0.001
    with ExitStack() as stack:
        asked = [_asked(question, stack) for question in questions]
        left = asked
        while left and time.monotonic() < deadline:
            left = [each for each in left if not each.over()]
            time.sleep(step if left else 0)
            step = min(2 * step, 0.05)
        return [each.answer() for each in asked]


def _asked(question: Question, stack: ExitStack) -> _Asked:
    output, errors = (stack.enter_context(holding("")) for _ in range(2))
    process = start(question.argv, stack.enter_context(holding(question.text)), output, errors)
    stack.callback(end, process)
    return _Asked(process, output, errors)


def start(
    argv: Sequence[str], text: int | IO[bytes], output: int | IO[bytes], errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, so that Ctrl-C reaches us alone.

    Raises:
        RunnerError: it is not installed.
    """
    # The allocation that we may have been started in would speak for the place that is meant.
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
    """Yield a file without a name that holds `text`, to be read from its beginning.

    Raises:
        RunnerError: there is no room.
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
    """Return what was written to a file, whatever its bytes, up to LONGEST of them."""
    file.seek(0)
    return file.read(LONGEST).decode(errors="replace")


# --- The agent of a node ----------------------------------------------------------------------------------------------


def agent_source() -> str:
    """Return the program that nodes run."""
    return AGENT.read_text(encoding="utf-8")


def request(action: str, **values: Any) -> str:
    """Return the line that BOOT reads: the agent and what is asked of it; in ASCII, whatever the locale there."""
    content = {"agent": agent_source(), "action": action, **values}
    return json.dumps(msgspec.to_builtins(content)) + "\n"


def decoded(answer: Answer, kind: type[T]) -> T | None:
    """Return the last answer of an agent; None where there is none.

    Not by `splitlines`: for it a form feed ends a line, and what a login prints after one would be an answer.
    """
    for line in reversed(answer.output.split("\n")):
        if line.startswith(MARK + "{"):
            with suppress(msgspec.MsgspecError):
                return msgspec.json.decode(line.removeprefix(MARK), type=kind)
    return None


#: What OpenSSH prints, in the order in which it counts, and what it means. Source: its readconf.c and sshconnect.c.
SSH_ERRORS = {
    "REMOTE HOST IDENTIFICATION HAS CHANGED": (
        "its key is not the one known for it: it is another machine, or installed anew. Ask who runs it; if the new "
        "key is right, `ssh {host}` by hand says which known key to remove"
    ),
    "Host key verification failed": (
        "its key is not known here yet; connect once by hand with `ssh {host}` and accept it"
    ),
    "Could not resolve hostname": ("no such name is known; look for a slip in it, or add it to the ssh configuration"),
    "Permission denied (": ("it lets nobody in with the keys at hand; add yours there (`ssh-copy-id`), or load it"),
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
#: Exit status of ssh where the connection, and not the program at its other end, failed.
SSH_FAILED = 255


def explain(host: str, answer: Answer) -> str:
    """Return one message: the host, why it did not do what was asked, what to do, and the last words of ssh."""
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
    """Where runs go. What is here fits hosts that are asked one by one; see `transport.py` and `slurm.py`.

    Every function that asks a host raises RunnerError where something has to be told to the user.
    """

    def argv(self, rank: int) -> list[str]:
        """Return the command that runs, on a node, the agent on its standard input."""
        raise NotImplementedError

    def name(self, rank: int) -> str:
        """Return a node as its user knows it."""
        raise NotImplementedError

    def too_few(self, nodes: int) -> str:
        """Return why so many nodes cannot be had; empty where they can."""
        raise NotImplementedError

    def addresses(self, job: Job) -> list[str]:
        """Return the hosts by the names that they know each other by, in order of rank."""
        raise NotImplementedError

    def jobs(self, job: Job) -> str:
        """Return the folder on a node that holds the job's; empty for the node's own default."""
        return str(job.incoming)

    def public_names(self) -> tuple[str, ...]:
        """Return the names of hosts that no record may hold, in order of rank."""
        return ()

    def prepare(self, run: Run) -> Job:
        """Return the job of a run, with an identity of its own; starts nothing and contacts nobody.

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

    def commands(self, run: Run) -> list[str]:
        """Return what `start` executes, as lines for a shell; each reads the agent on its standard input."""
        self.prepare(run)
        shown = [[*self.argv(rank)[:-1], "..."] for rank in range(run.spec.nodes)]
        return [shlex.join(argv) for argv in shown]

    def tell(self, job: Job, action: str, ranks: Iterable[int], kind: type[T], **values: Any) -> dict[int, T | str]:
        """Return what the agents of these nodes answer, by rank; a text says why there is no answer."""
        asked = list(ranks)
        common = {"identity": job.facts.identity, "jobs": self.jobs(job), **values}
        questions = [Question(self.argv(rank), request(action, rank=rank, **common)) for rank in asked]
        answers = ask(questions, SECONDS.get(action, USUAL_SECONDS))
        return {
            rank: decoded(answer, kind) or explain(self.name(rank), answer)
            for rank, answer in zip(asked, answers, strict=True)
        }

    def start(self, job: Job, spec: JobSpec) -> list[str]:
        """Start the run on every node, and return what the nodes warn of.

        Raises:
            RunnerError: a node refuses, cannot be reached or does not start; then nothing is running anywhere, and what
                was started is asked to end.
        """
        addresses = self.addresses(job)
        meeting = {"hosts": addresses, "master_address": addresses[0], "master_port": job.port}
        checked = self.tell(job, "check", job.ranks, Reply, spec=spec, **meeting)
        if refusal := self._refusals(checked):
            self.tell(job, "forget", [rank for rank in job.ranks if isinstance(checked[rank], Reply)], Reply)
            raise RunnerError(refusal)
        # There before anything runs, for what is noted beside what comes home.
        job.incoming.mkdir(parents=True, exist_ok=True)
        if refusal := self._refusals(self.tell(job, "begin", job.ranks, Reply)):
            with suppress(RunnerError):
                self.stop(job)
            raise RunnerError(refusal)
        return [
            line for rank, reply in checked.items() if isinstance(reply, Reply) for line in warned(job, rank, reply)
        ]

    def look(self, job: Job) -> State:
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
        """Ask all nodes to end, which write down `outcome` (stopped or timeout); asked again, they kill.

        Where an agent is gone, what it left running is ended.

        Raises:
            RunnerError: some cannot be reached, when all have been asked: what runs there ends at its own time limit.
        """
        if missed := self._refusals(self.tell(job, "finish", job.ranks, Reply, outcome=outcome)):
            raise RunnerError(f"{missed}\nWhat runs there ends by itself after {job.facts.timeout_seconds} s.")

    def fetch(self, job: Job) -> None:
        """Bring the folders of all nodes to `incoming/node<k>` and verify them; may be called again.

        Raises:
            RunnerError: a node cannot be reached, or its files are not those it wrote down. The others are here.
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
        """Verify the files of a node, which are here already."""
        record.verify(job.node(rank))

    def late_warnings(self, job: Job) -> list[str]:
        """Return warnings of nodes that were checked only after `start` had returned."""
        return []

    def hardware(self, device: str) -> list[str]:
        """Return the hardware of each host, in order of rank, as its runs name it.

        Raises:
            RunnerError: a host does not say it; without it nobody knows which earlier runs count.
        """
        places = self.places(device)
        answers = ask(
            [Question(argv, request("hardware", device=device)) for argv in places.values()], HARDWARE_SECONDS
        )
        return [_hardware(place, answer) for place, answer in zip(places, answers, strict=True)]

    def places(self, device: str) -> dict[str, list[str]]:
        """Return, by name, the commands that run the agent once per host; `device` is what it will ask about."""
        raise NotImplementedError

    def _refusals(self, replies: Mapping[int, Reply | str]) -> str:
        texts = [
            reply if isinstance(reply, str) else f"{self.name(rank)}: {reply.refused}" if reply.refused else ""
            for rank, reply in replies.items()
        ]
        return "\n".join(filter(None, texts))


def warned(job: Job, rank: int, reply: Reply) -> list[str]:
    """Return warnings by the number of the node: they go into records, which name no hosts and hold few lines."""
    where = f"node {rank}: " if job.facts.nodes > 1 else ""
    return [f"{where}{warning[:LONGEST_WARNING]}" for warning in reply.warnings[:MOST_WARNINGS]]


def _hardware(place: str, answer: Answer) -> str:
    reply = decoded(answer, Reply)
    if reply is None or not reply.hardware:
        said = answer.last_words or "it gave no answer"
        raise RunnerError(f"{place}: it cannot be asked for its hardware, which says which runs count: {said}")
    return reply.hardware


#: The worst first: nothing is over as long as a node may be at work.
KINDS: Sequence[Kind] = ("unreachable", "running", "lost", "ended")


def worst(job: Job, seen: Mapping[int, NodeState]) -> State:
    """Return the state of a job whose nodes were all asked."""
    found = min((state.kind for state in seen.values()), key=KINDS.index)
    causes = [_cause(job, rank, state) for rank, state in seen.items() if state.kind == found]
    failed = has_failed(seen) or any(state.kind == "lost" for state in seen.values())
    return with_log(State(found, "; ".join(filter(None, causes)), failed=failed), seen)


def has_failed(seen: Mapping[int, NodeState]) -> bool:
    """Return whether a node said that it did not complete."""
    return any(state.outcome not in ("", "completed") for state in seen.values())


def with_log(found: State, seen: Mapping[int, NodeState]) -> State:
    """Return a state with the longest log of the nodes."""
    longest = max(seen.values(), key=lambda state: state.log_bytes)
    return replace(found, log_bytes=longest.log_bytes, last_line=printable(longest.last_line[:200]))


def _cause(job: Job, rank: int, state: NodeState) -> str:
    # By number, not by name: what it came to is published. A host out of reach is named to its user.
    where = f"node {rank}: " if job.facts.nodes > 1 and state.kind != "unreachable" else ""
    return where + state.cause if state.cause else ""


# --- The files of a node that come home -------------------------------------------------------------------------------


def bring_home(argv: Sequence[str], host: str, text: str, there: Path) -> None:
    """Put the files of a node in place, whole or not at all; one that is there whole is left as it is.

    Args:
        argv: runs the agent on the node.
        host: the node as its user knows it.
        text: the request to send its files.
        there: its folder at home.

    Raises:
        RunnerError: the host cannot be reached, the connection breaks off, or a hash is not right; what was brought
            before stays then.
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
            answer = Answer(status, "", contents(errors) if status else fault)
            raise RunnerError(f"{explain(host, answer)}; nothing of it was kept here")


def unpack(stream: IO[bytes], folder: Path) -> str:
    """Write the files of an archive, and return what was wrong with it; empty where nothing was."""
    # Whatever a login prints comes first.
    head = (MARK + "{").encode()
    if not any(line.startswith(head) for line in iter(lambda: stream.readline(LONGEST_LINE), b"")):
        return "no files came"
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            archive.extractall(folder, filter=_plain)
    except (tarfile.TarError, ValueError, OverflowError) as error:
        return f"what came is no whole archive: {error}"
    return ""


def _plain(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
    """Files and folders below the folder only: a host is not trusted with links or names that lead elsewhere."""
    return tarfile.data_filter(member, path) if member.isreg() or member.isdir() else None


def _replace(there: Path, partial: Path) -> None:
    """Put a copy in place of an earlier one of a job that had not ended; the log can only have grown."""
    before = there.with_suffix(".before")
    if there.exists():
        if _size(partial / record.LOG) < _size(there / record.LOG):
            raise RunnerError(f"{there}: its train.log is longer than the one on the host now; nothing was overwritten")
        shutil.rmtree(before, ignore_errors=True)
        there.rename(before)
    partial.rename(there)
    shutil.rmtree(before, ignore_errors=True)


def _restore(there: Path) -> None:
    """Put the earlier copy back, where we were killed just before the new one took its place."""
    before = there.with_suffix(".before")
    if before.exists() and not there.exists():
        before.rename(there)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
