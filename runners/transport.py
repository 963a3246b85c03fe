"""Where a run goes, as `--on` names it: this machine, hosts by SSH, or a partition of a Slurm cluster."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shlex
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

from msgspec import Struct

from runners.errors import RunnerError, printable
from runners.nodes import (
    PYTHON,
    USUAL_SECONDS,
    Job,
    Meeting,
    ProgramResult,
    Question,
    Target,
    ask,
    contents,
    explain,
    fetch_files,
    holding,
    request,
    start,
)
from runners.slurm import PARTITION, Slurm

# A name must not begin with a dash: ssh would take it for an option.
HOST = re.compile(r"(?:[A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9_][\w.:-]*", re.ASCII)
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
#: How long setup steps may take to end after Ctrl-C.
GRACE_SECONDS = 10


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

    def places(self, device: str) -> dict[str, list[str]]:  # noqa: D102
        return {"local": self.argv(0)}


class Ssh(Target, frozen=True, tag="ssh"):
    """Hosts by OpenSSH with the user's own configuration; all requests to a host share one connection.

    `hosts` are names in that configuration, in order of rank; `config` is a file to use instead.
    """

    hosts: tuple[str, ...]
    config: str = ""

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
        known = [_address(host, answer) for host, answer in zip(hosts, ask(asked, USUAL_SECONDS), strict=True)]
        return Meeting(known, known[0], job.port)

    def jobs(self, job: Job) -> str:  # noqa: D102
        return ""

    def public_names(self) -> tuple[str, ...]:  # noqa: D102
        return self.hosts

    def bring(self, job: Job, rank: int) -> None:
        """Fetch the folder of a node to `incoming/node<k>`; see `fetch_files`."""
        asked = request("send", identity=job.facts.identity, rank=rank)
        fetch_files(self.argv(rank), self.name(rank), asked, job.node(rank))

    def places(self, device: str) -> dict[str, list[str]]:  # noqa: D102
        return {host: self.argv(rank) for rank, host in enumerate(self.hosts)}


def _address(host: str, answer: ProgramResult) -> str:
    for line in answer.output.splitlines() if answer.status == 0 else []:
        key, _, value = line.partition(" ")
        if key == "hostname":
            return value
    raise RunnerError(explain(host, answer))


@functools.cache
def _sockets() -> str:
    """Return a private folder for sockets in /tmp.

    Not in TMPDIR: the path of a socket has at most 104 bytes, of which ssh needs 58, so TMPDIR may be too long.
    """
    folder = Path(f"/tmp/perfledger-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
        return str(folder)
    return tempfile.mkdtemp(prefix="perfledger-", dir="/tmp")


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


# --- Setup steps ------------------------------------------------------------------------------------------------------


class _Setup(Struct, frozen=True):
    """A host that runs setup steps; `errors` holds the messages of ssh."""

    host: str
    process: subprocess.Popen[bytes]
    errors: IO[bytes]


def set_up(target: Target, steps: Sequence[str], work: str) -> None:
    """Run setup steps on all hosts, print their output behind the host's name, and end them on Ctrl-C.

    Raises:
        RunnerError: a step failed; the message names all hosts on which one did.
    """
    places = target.places("cpu")
    asked = request("setup", steps=steps, work=work)
    # The readers are in the outer context, since they end when the programs do.
    with ThreadPoolExecutor(len(places)) as readers, ExitStack() as stack:
        started = [_begin(host, argv, asked, stack) for host, argv in places.items()]
        failures = [failure for failure in readers.map(_failure, started) if failure]
    if failures:
        raise RunnerError("\n".join(failures))


def _begin(host: str, argv: Sequence[str], asked: str, stack: ExitStack) -> _Setup:
    errors = stack.enter_context(holding(""))
    process = stack.enter_context(start(argv, subprocess.PIPE, subprocess.PIPE, errors))
    stack.callback(_end, process)
    if process.stdin:
        # An unreachable host reads nothing; its exit status tells.
        with suppress(BrokenPipeError):
            process.stdin.write(asked.encode())
            process.stdin.flush()
    return _Setup(host, process, errors)


def _failure(setup: _Setup) -> str:
    """Print the output of a host; return why its steps failed, empty if they did not."""
    for line in setup.process.stdout or ():
        text = line.decode(errors="replace").rstrip("\n")
        if text and not text.startswith("perfledger {"):
            print(f"{setup.host}: {printable(text)}", flush=True)
    if not (status := setup.process.wait()):
        return ""
    last = contents(setup.errors).strip().splitlines()[-1:]
    return f"{setup.host}: {': '.join([f'a setup step failed (exit status {status})', *last])}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program by closing its standard input, so that the agent on the host ends its steps, too."""
    if process.stdin:
        with suppress(BrokenPipeError):
            process.stdin.close()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
