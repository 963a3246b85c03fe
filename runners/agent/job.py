"""A job on this node: its specification, and the values that only this node knows."""

import contextlib
import glob
import json
import mmap
import os
import re
import shutil
import signal
import time
from typing import Dict, NamedTuple, Sequence

from .environments import PythonEnvironment, after_prologue
from .nccl import NCCL_FILE, NCCL_FOLDER, NCCL_REPORT, OF_INTERFACE, interface_towards, loops_back
from .programs import LONGEST_LIST, run_tool, tool_output
from .spec import Word, job_spec
from .tools import (
    MARK,
    PREPARE_SECONDS,
    PROLOGUE_SECONDS,
    WITH_DAEMON,
    Refused,
    kill,
    processes_with,
    program_text,
    read_job,
    read_text,
    secret_texts,
)
from .vendors import NVIDIA, vendor_here

MYPY = False
if MYPY:
    from re import Pattern

    from .spec import JobDocument


class PythonFacts(NamedTuple):
    """The answers of `packages.py`; versions are empty if they are unknown."""

    python: str = ""
    packages: "Dict[str, str] | None" = None
    missing: Sequence[str] = ()
    installed: Sequence[str] = ()
    cuda: str = ""
    cudnn: str = ""
    nccl: str = ""


def fill(word: "Word", values: "dict[str, str]") -> str:
    """Fill the node variables of one word of a command line."""
    return "".join(part if isinstance(part, str) else values[part["node"]] for part in word)


def address_of(host: str, is_this_node: bool) -> str:
    """Return the address of a host, or its name if it has none.

    Note: many hosts resolve their own name to 127.0.1.1, which other hosts cannot use.
    """
    if re.match(r"[0-9.]+$", host):
        return host
    import socket

    try:
        found = [str(info[4][0]) for info in socket.getaddrinfo(host, None, socket.AF_INET, socket.SOCK_STREAM)]
    except OSError:
        found = []
    if is_this_node:
        found += [word for word in tool_output("hostname", "-I").split() if re.match(r"[0-9.]+$", word)]
    return next((address for address in found if not address.startswith("127.")), host)


def is_own(path: str) -> bool:
    """Return whether a file is this user's; one that is gone is nobody's concern."""
    try:
        return os.lstat(path).st_uid == os.getuid()
    except OSError:
        return True


def mask(path: str, pattern: "Pattern[bytes]") -> None:
    """Overwrite the matches in a log with as many stars: this needs no space, so a full disk cannot prevent it."""
    with open(path, "rb+") as file, mmap.mmap(file.fileno(), 0) as log:
        for start, end in [found.span() for found in pattern.finditer(log)]:
            log[start:end] = b"*" * (end - start)


class NodeJob:
    """One job on this node: its specification, and the values that only this node knows."""

    def __init__(self, folder: str, document: "JobDocument | None" = None) -> None:
        self.folder = os.path.abspath(folder)
        document = document or read_job(self.folder)
        self.spec = job_spec(document["spec"])
        self.vendor = vendor_here(self.spec.accelerator)
        self.rank = document["rank"]
        self.identity = document["identity"]
        self.hosts = document["hosts"]
        self.master = (document["master_address"], document["master_port"])
        self.mark = f"{self.identity}.{self.rank}.{os.getpid()}"
        self.addresses: "list[str]" = []
        self.temporary = os.environ.get("TMPDIR") or "/tmp"
        spec = self.spec
        # Without sources and without --work, or with files of its own, the command runs in a new empty folder.
        self.wants_scratch = bool(spec.files) or not (spec.source_folder or spec.work)
        work = os.path.expanduser(spec.work or "~/.perfledger/work")
        self.work = os.path.join(os.path.expanduser("~"), work)
        self.sources = os.path.join(self.work, spec.source_folder).rstrip("/")
        self.working_folder = self.temporary if self.wants_scratch else self.sources
        wanted = spec.virtual_environment
        self.python_environment = PythonEnvironment(self.work, wanted) if wanted else None
        self.variables: "dict[str, str]" = {}
        # If the launcher starts the other nodes itself, those only sample telemetry and wait.
        self.is_observer = not spec.every_node and self.rank != 0

    def path(self, *names: str) -> str:
        """Return a path below the job's folder."""
        return os.path.join(self.folder, *names)

    @property
    def used_environment(self) -> "PythonEnvironment | None":
        """The recipe's own Python environment, if its setup was run here; else the host's Python runs the command."""
        found = self.python_environment
        return found if found and found.is_there else None

    @property
    def gpu_variable(self) -> str:
        """The variable that shows the command some accelerators only: one that is set, or else the first.

        Raises:
            Refused: two give some, and one counts among those of the other.
        """
        names = self.vendor.variables
        set_here = [name for name in names if name in self.spec.variables or self.base_variables.get(name)]
        if len(set_here) > 1:
            raise Refused(
                f"{' and '.join(set_here)} are both set, and each chooses among the GPUs; leave one of them out"
            )
        return next(iter([*set_here, *names]), "")

    @property
    def given_gpus(self) -> str:
        """The accelerators that recipe, user, site or scheduler give to the command; empty: all of this host."""
        word = self.spec.variables.get(self.gpu_variable)
        # A recipe that names those which are chosen here gives none.
        if word and {"node": "gpu_ids"} in word:
            word = None
        given = fill(word, self.values) if word else self.base_variables.get(self.gpu_variable, "")
        return given.replace(" ", "")

    @property
    def used_gpus(self) -> str:
        """The accelerators of this job as the variable names them; empty: all of this host."""
        return read_text(self.path("gpus")) or self.given_gpus

    @property
    def gpus(self) -> "list[dict[str, str]]":
        """The accelerators of this job."""
        return self.vendor.devices(self.used_gpus) if self.spec.device == "gpu" else []

    @property
    def base_variables(self) -> "dict[str, str]":
        """The environment variables after the site's prologue. Once, because modules and conda take seconds."""
        self.variables = self.variables or after_prologue(self.spec.prologue)
        return self.variables

    @property
    def values(self) -> "dict[str, str]":
        """The node variables; see `NODE_VARIABLES` in job.py."""
        per_node = self.spec.devices_per_node
        # Looked up once, and only after the job has begun: a name server may be slow.
        self.addresses = self.addresses or [address_of(host, at == self.rank) for at, host in enumerate(self.hosts)]
        return {
            "node_rank": str(self.rank),
            "master_address": self.master[0],
            "master_port": str(self.master[1]),
            "hosts": ",".join(self.hosts),
            "addresses": ",".join(self.addresses),
            "address": self.addresses[self.rank],
            "host": self.hosts[self.rank],
            "host_slots": ",".join(f"{host}:{per_node}" for host in self.hosts),
            "ranks": self.path("ranks"),
            "output": self.path("output"),
            "work": self.work,
            "working_folder": self.working_folder,
            "identity": self.identity,
        }

    @property
    def gpu_ids(self) -> str:
        """The numbers of the GPUs of this job, or of all that its case has where it chose none."""
        count = self.spec.devices_per_node
        return self.used_gpus or ",".join(map(str, range(count)))

    def filled(self, word: "Word") -> str:
        """Fill the node variables of a word; the numbers of GPUs only where it names them: they may depend on it."""
        ids = {"gpu_ids": self.gpu_ids} if {"node": "gpu_ids"} in word else {}
        return fill(word, {**self.values, **ids})

    def fill(self, words: "list[Word]") -> "list[str]":
        """Fill the node variables of a command line."""
        return list(map(self.filled, words))

    def contained(self, words: "list[str]") -> "list[str]":
        """Return a command line that runs `words` in the container, if there is one."""
        container = self.spec.container
        return [*(self.fill(container.enter) if container else []), *words]

    @property
    def command(self) -> "list[str]":
        """The command in its container; an observer sleeps instead."""
        if self.is_observer:
            return ["sleep", str(self.seconds + PREPARE_SECONDS)]
        return self.contained(self.fill(self.spec.command))

    @property
    def seconds(self) -> int:
        """The time limit; observers have one too, or they would run forever if the launcher died."""
        return int(self.spec.timeout_seconds) + (PREPARE_SECONDS if self.is_observer else 0)

    def environment(self) -> "dict[str, str]":
        """Return the environment variables of the command.

        PERFLEDGER_COMMAND marks all processes that it starts, also those in sessions of their own, as launchers do it.
        CUDA_DEVICE_ORDER makes CUDA number the GPUs as nvidia-smi does.
        """
        order = {} if self.spec.device == "cpu" else {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
        given = {name: self.filled(word) for name, word in self.spec.variables.items()}
        chosen = {} if self.spec.device == "cpu" or not self.used_gpus else {self.gpu_variable: self.used_gpus}
        variables = {**self.base_variables, "PERFLEDGER_COMMAND": self.mark, **order, **given, **chosen}
        variables = {**self.reporting(variables), **self.meeting(set(variables)), **variables}
        inside = self.used_environment
        return inside.entered(variables) if inside else variables

    def reporting(self, variables: "dict[str, str]") -> "dict[str, str]":
        """Return variables that make NCCL report the connections of ranks to files of this job, unless they are set.

        Not where the launcher starts other nodes, which lack this folder: NCCL would report into the log.
        """
        spec = self.spec
        is_alone = spec.nodes * spec.devices_per_node == 1 or (spec.nodes > 1 and not spec.every_node)
        has_nccl = spec.device == "gpu" and self.vendor is NVIDIA
        if is_alone or not has_nccl or any(name in variables for name in (*NCCL_REPORT, NCCL_FILE)):
            return {}
        return {**NCCL_REPORT, NCCL_FILE: self.path("ranks", NCCL_FOLDER, "%p.log")}

    def meeting(self, stated: "set[str]") -> "dict[str, str]":
        """Return the variables of the network interface that are not stated, where ranks would meet at loopback.

        Gloo and NCCL take the address to which the machine's own name is resolved.
        """
        wanted = [name for name in OF_INTERFACE if name not in stated]
        if self.spec.nodes == 1 or self.is_observer or not wanted or not loops_back(os.uname().nodename):
            return {}
        other = self.hosts[1 if self.rank == 0 else 0]
        found = interface_towards(address_of(other, False))
        return dict.fromkeys(wanted, found) if found else {}

    def prepare_folders(self) -> None:
        """Create the folders that the command and its container may name."""
        for name in ("ranks", "output", os.path.join("ranks", NCCL_FOLDER)):
            os.makedirs(self.path(name), exist_ok=True)

    def kill_leftovers(self) -> None:
        """Kill what the command left running; repeat, because a dying process may just have started another."""
        container = self.spec.container
        # With Apptainer and pyxis, the processes in the container are processes of this user like any other.
        if container and container.tool in WITH_DAEMON:
            tool_output(container.tool, "rm", "--force", f"perfledger-{self.identity}-{self.rank}")
        for attempt in range(1, 4):
            left = processes_with(f"PERFLEDGER_COMMAND={self.mark}")
            for process in left:
                kill(process, signal.SIGKILL)
            if not left:
                return
            time.sleep(attempt / 10)

    def take_over_files(self) -> None:
        """Make files that a container wrote as another user this user's own, or nobody could read or remove them.

        With a daemon that runs as root, a launcher in the container keeps logs of ranks in folders of root alone. Only
        root in a container may give them away.
        """
        container = self.spec.container
        places = [self.path(name) for name in ("ranks", "output")]
        found = (
            os.path.join(top, name)
            for place in places
            for top, folders, files in os.walk(place)
            for name in [*folders, *files]
        )
        if not container or container.tool not in WITH_DAEMON or all(map(is_own, found)):
            return
        mounts = [word for place in places for word in ("-v", f"{place}:{place}")]
        owner = f"{os.getuid()}:{os.getgid()}"
        tool_output(
            container.tool, "run", "--rm", "--user", "0:0", "--entrypoint", "chown", *mounts, container.pinned,
            "-R", owner, *places, seconds=PROLOGUE_SECONDS,
        )  # fmt: skip

    def remove_unwanted(self) -> None:
        """Remove files that are not collected.

        Note: Paddle's launcher writes all environment variables of the user, with secrets, next to the logs of ranks.
        """
        shutil.rmtree(self.path("output"), ignore_errors=True)
        shutil.rmtree(self.path("ranks", NCCL_FOLDER), ignore_errors=True)
        for path in glob.glob(self.path("ranks", "paddle", "*")):
            if not re.match(r"(worker|server|trainer)log\.\d+$", os.path.basename(path)):
                with contextlib.suppress(OSError):
                    shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def mask_secrets(self) -> "list[str]":
        """Replace the values of secrets in the logs, which are published; return a warning where that fails."""
        texts, warnings = secret_texts(self.spec.secrets), []
        pattern = re.compile(b"|".join(re.escape(os.fsencode(text)) for text in texts))
        for name in ["train.log", *self.rank_logs()] if texts else []:
            try:
                # An empty file cannot be mapped.
                if os.path.getsize(self.path(name)):
                    mask(self.path(name), pattern)
            except OSError as error:
                warnings.append(f"secrets in {name} could not be masked ({error.strerror}); look before you publish it")
        return warnings

    def rank_logs(self) -> "list[str]":
        """Return the logs of ranks, relative to the job's folder."""
        found = []
        for folder, folders, files in os.walk(self.path("ranks")):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            found += [os.path.join(folder, name) for name in sorted(files) if not name.startswith(".")]
        return [os.path.relpath(path, self.folder) for path in found if not os.path.islink(path)]

    def ask_python(self, device: str, seconds: float) -> PythonFacts:
        """Return the answers of `packages.py`; unknown ones for a recipe without Python, which names no packages."""
        contained = self.spec.container is not None
        if not contained and not self.spec.packages:
            return PythonFacts()
        asked = "yes" if contained else "no"
        question = [self.spec.python, "-c", program_text("packages.py"), device, asked]
        argv = self.contained([*question, *self.spec.packages])
        folder = self.working_folder
        _, text = run_tool(
            argv, seconds, LONGEST_LIST, cwd=folder if os.path.isdir(folder) else None, env=self.environment()
        )
        answers = PythonFacts()
        for line in text.splitlines():
            if line.startswith(MARK + "{"):
                with contextlib.suppress(ValueError, TypeError):
                    answers = answers._replace(**json.loads(line[len(MARK) :]))
        return answers

    def inspect_image(self, template: str) -> str:
        """Ask the container tool about the image, by its digest if the recipe states one."""
        container = self.spec.container
        assert container is not None
        return tool_output(container.tool, "image", "inspect", "--format", template, "--", container.pinned)
