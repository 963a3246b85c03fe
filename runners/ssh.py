"""Hosts by SSH."""

from __future__ import annotations

import atexit
import functools
import itertools
import re
import shlex
import shutil
import tempfile
from collections.abc import Sequence

from perfledger.runners.agent_link import PYTHON, question
from perfledger.runners.job import RunnerError
from perfledger.runners.nodes import fetch_files
from perfledger.runners.programs import ProgramResult, Question, ask
from perfledger.runners.transport import HOST, USUAL_SECONDS, Job, Meeting, Target, UnreachableError

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


class Ssh(Target, frozen=True, tag="ssh"):
    """Hosts by OpenSSH with the user's own configuration; all requests to a host share one connection.

    `hosts` are names in that configuration. The hosts reach each other by `addresses`, which are empty if those of ssh
    will do.
    """

    addresses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.hosts or not all(map(HOST.fullmatch, self.hosts)) or len({*self.hosts}) < len(self.hosts):
            raise ValueError("it names an invalid host, or one twice")

    def argv(self, rank: int) -> list[str]:  # noqa: D102
        return self._ssh("-T", rank, ["python3", *PYTHON])

    def attached(self, rank: int, command: Sequence[str]) -> list[str]:  # noqa: D102
        return self._ssh("-tt", rank, command)

    def _ssh(self, terminal: str, rank: int, command: Sequence[str]) -> list[str]:
        options = {**OPTIONS, "ControlPath": f"{_sockets()}/%C"}
        settings = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        return ["ssh", terminal, *settings, "--", self.hosts[rank], shlex.join(command)]

    def meeting(self, job: Job) -> Meeting:
        """Return the host names of the user's aliases, which the nodes use for each other."""
        hosts = self.hosts[: job.facts.nodes]
        answers = ask([Question(["ssh", "-G", "--", host]) for host in hosts], USUAL_SECONDS)
        known = []
        for rank, (answer, stated) in enumerate(itertools.zip_longest(answers, self.addresses[: len(hosts)])):
            found = re.search(r"^hostname (.*)$", answer.output, re.MULTILINE)
            if answer.status or not found:
                raise UnreachableError(self.explained(rank, answer))
            # The address of ssh may be public, or that of a jump host; the site knows better.
            known.append(stated or found[1])
        return Meeting(known, known[0], job.port)

    def jobs(self, job: Job) -> str:  # noqa: D102
        return ""

    def explained(self, rank: int, answer: ProgramResult) -> str:  # noqa: D102
        if answer.status == 1:
            return super().explained(rank, answer)
        said = answer.last_words or "nothing"
        by_hand = f"`ssh {self.hosts[rank]} python3 --version` must print 3.6 or newer, and ask nothing"
        return f"{self.name(rank)}: it gave no answer, and ssh said: {said}; {by_hand}"

    def fetch(self, job: Job) -> None:  # noqa: D102
        faults = []
        for rank in job.ranks:
            argv, explained = self.argv(rank), functools.partial(self.explained, rank)
            asked = Question(argv, question(argv, "send", identity=job.facts.identity, rank=rank))
            try:
                fetch_files(asked, job.node(rank), explained)
            except RunnerError as error:
                faults.append(str(error))
        if faults:
            raise RunnerError("\n".join(faults))


@functools.cache
def _sockets() -> str:
    """Return a folder for the sockets of connections, which goes with this process.

    Not in TMPDIR: the path of a socket has at most 104 bytes, and ssh needs 58 of them, so TMPDIR may be too long.
    """
    folder = tempfile.mkdtemp(prefix="perfledger-", dir="/tmp")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
