"""The run: the command, its supervision, and host.json."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any, Dict, List, NamedTuple, Union

from .checks import lock_host
from .devices import hardware
from .guard import Guard, SignalPipe
from .job import NodeJob
from .machine import BUSY_PERCENT, adopt_orphans, kernel_kills, own_seconds, processor_times, wait_for_orphans
from .nccl import NCCL_FOLDER, nccl_report, unused_infiniband
from .nvidia import slowdowns
from .programs import NOTHING
from .record import environment_record, source_record
from .telemetry import Sampler
from .tools import (
    CHECKED,
    NEVER,
    PREPARE_SECONDS,
    PROGRAM,
    WITH_DAEMON,
    Refused,
    as_json,
    digest,
    encoded,
    kill,
    machine,
    read_text,
    secret_texts,
    utc,
    without,
    without_unknown,
    write_file,
)

# A fact that only the run could find.
RunFact = Union[None, str, int, float]
# The work of others is not judged in a shorter run: the start of its processes is a large part of it.
JUDGED_SECONDS = 5
# How long a driver may take to forget the processes of a run that has ended.
RELEASE_SECONDS = 5
# Time between SIGTERM and SIGKILL.
GRACE_SECONDS = 10
EXIT_STATUS = {"completed": 0, "stopped": 130}


class HostJson(NamedTuple):
    """The content of host.json; see `HostRecord` in `nodes.py` of the launcher."""

    schema: str
    start: str
    end: str
    wall_seconds: float
    exit_status: int
    outcome: str
    hardware: str
    gpus: str
    gpu_variable: str
    facts: Dict[str, RunFact]
    warnings: List[str]
    disturbances: List[str]
    source: Dict[str, Union[str, bool]]
    files: Dict[str, Dict[str, Union[str, int]]]


class OtherWork:
    """Finds what other work ran on this machine during the command, from its processors and its GPUs."""

    def __init__(self, job: NodeJob) -> None:
        self.job = job
        container = job.spec.container
        # Processes that a daemon or another launcher started are not children of this one.
        self.starts_all = not (job.is_observer or (container and container.tool in (*WITH_DAEMON, "pyxis")))
        adopt_orphans()
        self.began, self.own, self.before = time.monotonic(), own_seconds(), processor_times()

    def found(self) -> "list[str]":
        """Return sentences on work that was not of the command, which has ended."""
        wait_for_orphans()
        after, own = processor_times(), own_seconds() - self.own
        disturbances = []
        is_judged = time.monotonic() - self.began >= JUDGED_SECONDS
        if is_judged and self.before and after and after[1] > self.before[1]:
            busy, total, stolen = (there - here for here, there in zip(self.before, after))
            others = (busy - own * os.sysconf("SC_CLK_TCK")) * 100 / total
            if self.starts_all and others >= BUSY_PERCENT:
                disturbances.append(
                    f"other work used {others:.0f} % of the processors of this host during the run (mean)"
                )
            if stolen * 100 >= BUSY_PERCENT * total:
                disturbances.append(
                    f"other virtual machines took {stolen * 100 // total} % of the time of this host's processors "
                    "during the run (mean)"
                )
        return disturbances + self.on_gpus()

    def on_gpus(self) -> "list[str]":
        """Return a text for each GPU that others use after the run has ended."""
        until = time.monotonic() + RELEASE_SECONDS
        while True:
            counts = {gpu["index"]: self.job.vendor.processes(gpu) for gpu in self.job.gpus}
            if not any(counts.values()) or time.monotonic() >= until:
                break
            time.sleep(0.5)
        return [
            f"processes of others on GPU {index} at the end of the run: {count}"
            for index, count in counts.items()
            if count
        ]


class Runner:
    """Runs a job: claims its folder, starts the command as a process group, supervises it."""

    def __init__(self, job: NodeJob) -> None:
        self.job = job
        self.requests = SignalPipe()
        self.outcome = ""
        self.status = 143
        self.scratch = ""
        self.sampler: "Sampler | None" = None

    def run(self) -> int:
        """Run the job and return the exit status of this program."""
        try:
            self.claim()
            self.guard = Guard(self.job)
            self.enter_folder()
            record = self.run_and_record()
            self.guard.tell("done")
        finally:
            if self.scratch:
                shutil.rmtree(self.scratch, ignore_errors=True)
        try:
            write_file(self.job.path("host.json"), as_json(without_unknown(record._asdict())) + "\n")
        except OSError:
            sys.stderr.write(f"{self.job.path('host.json')} cannot be written; is the disk full?\n")
            return 3
        return EXIT_STATUS.get(self.outcome, 1)

    def claim(self) -> None:
        """Create the log, and fail if there is one: no run overwrites another's log."""
        job = self.job
        # Held until this process ends, and the guard that it forks.
        self.lock = lock_host(job)
        try:
            os.close(os.open(job.path("train.log"), os.O_CREAT | os.O_EXCL, 0o666))
            job.prepare_folders()
            write_file(job.path("machine"), "\n".join(machine()) + "\n")
            # Last, because its existence shows that the job has begun.
            write_file(job.path("pid"), f"{os.getpid()}\n")
        except FileExistsError:
            raise Refused(f"a run was already started in {job.folder}; its log is not overwritten") from None
        except OSError:
            raise Refused(f"{job.folder} cannot be written to; is the disk full?") from None

    def enter_folder(self) -> None:
        """Create the scratch folder that the command runs in, with the files of the recipe.

        If one node starts the ranks of all, they need the same path everywhere, and two nodes on one machine share it.
        """
        job = self.job
        if not job.wants_scratch:
            return
        rank = f".{job.rank}" if job.spec.every_node else ""
        folder = os.path.join(job.temporary, f"perfledger.{job.identity}{rank}")
        try:
            os.mkdir(folder, 0o700)
        except OSError:
            is_this_node = (
                os.path.isdir(folder) and not os.path.islink(folder) and os.stat(folder).st_uid == os.geteuid()
            )
            if not is_this_node:
                raise Refused(
                    f"the scratch folder {folder} cannot be made; set TMPDIR to a folder with space"
                ) from None
        self.scratch = job.working_folder = folder
        self.guard.tell(f"folder {folder}")
        try:
            for name, text in job.spec.files.items():
                os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(encoded(text))
        except OSError:
            raise Refused(
                "the files of this recipe cannot be written to a scratch folder; set TMPDIR to one with space"
            ) from None

    def run_and_record(self) -> HostJson:
        """Run the command, and return the content of host.json."""
        job = self.job
        argv = [sys.executable, "-I", PROGRAM, "environment", job.folder, self.scratch]
        variables = {**os.environ, "PERFLEDGER_COMMAND": job.mark}
        self.supervise(argv, PREPARE_SECONDS, cwd=job.folder, env=variables, stdout=NOTHING)
        # Read now: somebody may check out another commit during the run.
        found = source_record(job)
        kills_before = kernel_kills()
        self.sampler = Sampler(job, self.guard)
        for request in self.requests.wait(0):
            self.outcome = self.outcome or request
        others = OtherWork(job)
        start, began = utc(), time.monotonic()
        if self.outcome:
            self.status = self.status or 143
        else:
            self.run_command()
        wall, end = time.monotonic() - began, utc()
        self.sampler.stop()
        job.kill_leftovers()
        checked = json.loads(read_text(job.path(CHECKED)) or '{"warnings": [], "disturbances": []}')
        disturbances = checked["disturbances"] + others.found()
        job.take_over_files()
        facts, slowed = slowdowns(read_text(job.path("telemetry.csv")))
        nccl = nccl_report(job.path("ranks", NCCL_FOLDER))
        warnings = checked["warnings"] + slowed + unused_infiniband(job.spec.nodes, nccl.nccl_transport)
        job.remove_unwanted()
        warnings += job.mask_secrets()
        self.name_outcome(kills_before)
        gpus, variable = shown_gpus(job)
        return HostJson(
            schema="perfledger.host/1",
            start=start,
            end=end,
            wall_seconds=round(wall, 2),
            exit_status=self.status,
            outcome=self.outcome,
            hardware=hardware(job.spec.device, job.gpus),
            gpus=gpus,
            gpu_variable=variable,
            facts=without_unknown({**facts, **nccl._asdict()}),
            warnings=warnings,
            disturbances=disturbances,
            source=without_unknown(found._asdict()),
            files=self.files(),
        )

    def run_command(self) -> None:
        """Run the command. The log is opened for appending, because programs may reopen /dev/stderr."""
        job = self.job
        # The first node removes the folder of the command as soon as it is over, and an observer may begin after that.
        folder = job.folder if job.is_observer else job.working_folder
        streams = {"stderr": subprocess.STDOUT, "env": job.environment(), "cwd": folder}
        with open(job.path("train.log"), "ab", 0) as log:
            try:
                self.supervise(job.command, job.seconds, stdout=log, **streams)
            except OSError as error:
                self.status = 127 if isinstance(error, FileNotFoundError) else 126
                with contextlib.suppress(OSError):
                    log.write(f"{job.command[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape"))

    def supervise(self, argv: "list[str]", seconds: float, **options: "Any") -> None:
        """Run a command as a process group until it ends; sets `status` (128 + n for signal n) and `outcome`."""
        process = subprocess.Popen(argv, stdin=NOTHING, start_new_session=True, **options)
        self.guard.tell(f"group {process.pid}")
        self.await_end(process, time.monotonic() + seconds)
        self.status = process.returncode if process.returncode >= 0 else 128 - process.returncode
        # Kill the rest of the group; processes outside it are found by PERFLEDGER_COMMAND.
        kill(process.pid, signal.SIGKILL, group=True)

    def await_end(self, process: "subprocess.Popen[bytes]", limit: float) -> None:
        """Wait for a command. The first request terminates it; a second one, or the end of the grace, kills it."""
        killing = NEVER
        while process.poll() is None:
            due = self.sampler.due if self.sampler else NEVER
            requests = self.requests.wait(min(limit, killing, due, time.monotonic() + 3600) - time.monotonic())
            now = time.monotonic()
            if now >= limit:
                limit = NEVER
                requests.append("timeout")
            if now >= killing:
                requests.append(self.outcome)
            for request in requests:
                kill(process.pid, signal.SIGKILL if self.outcome else signal.SIGTERM, group=True)
                if self.outcome:
                    self.job.kill_leftovers()
                self.outcome = self.outcome or request
                killing = now + GRACE_SECONDS
            if self.sampler:
                self.sampler.sample()

    def name_outcome(self, kills_before: str) -> None:
        """Set the outcome from exit status, logs and kernel counters."""
        if self.job.is_observer:
            self.outcome, self.status = "completed", 0
        elif not self.outcome and self.status == 0:
            self.outcome = "completed"
        elif not self.outcome:
            killed = kills_before not in ("", kernel_kills())
            # Note: TensorFlow prints the same words when it falls back to a smaller algorithm.
            short = any(OUT_OF_MEMORY.search(line) and b"this is not a failure" not in line for line in self.lines())
            killed = killed and (self.status == 137 or any(map(KILLED.search, self.lines())))
            self.outcome = "oom" if short or killed else "failed"

    def lines(self) -> "Iterator[bytes]":
        """Yield the lines of all logs."""
        for name in ["train.log", *self.job.rank_logs()]:
            with contextlib.suppress(OSError), open(self.job.path(name), "rb") as file:
                yield from file

    def files(self) -> "dict[str, dict[str, str | int]]":
        """Return hash and size of the files of the run.

        Skips empty logs of ranks, and names with unusual characters.
        """
        found: "dict[str, dict[str, str | int]]" = {}
        named = ["train.log", "telemetry.csv", "telemetry-host.csv", "environment.json"]
        for name in [*named, *self.job.rank_logs()]:
            path = self.job.path(name)
            # Files that a container wrote as root may be unreadable.
            if os.path.isfile(path) and os.access(path, os.R_OK) and re.match(r"[A-Za-z0-9._/+=,@:-]+$", name):
                size = os.path.getsize(path)
                if size or not name.startswith("ranks/"):
                    found[name] = {"sha256": digest(path), "bytes": size}
        return found


def shown_gpus(job: NodeJob) -> "tuple[str, str]":
    """Return the value of the variable that chose accelerators, and its name; empty for UUIDs, which are private."""
    used = job.used_gpus if job.spec.device == "gpu" else ""
    return (used, job.gpu_variable) if re.match(r"[\d,]+$", used) else ("", "")


OUT_OF_MEMORY = re.compile(
    rb"[Oo]ut [Oo]f [Mm]emory|OutOfMemory|OUT_OF_MEMORY|RESOURCE_EXHAUSTED|ResourceExhaustedError|"
    rb"CUBLAS_STATUS_ALLOC_FAILED|cudaErrorMemoryAllocation|hipErrorOutOfMemory|std::bad_alloc|"
    rb"^([A-Za-z_.]*\.)?_?(Array)?MemoryError|an.t allocate memory|annot allocate memory|not enough memory:|"
    rb"Allocate memory failed|oom.kill event"
)
# How launchers report that a rank was killed.
KILLED = re.compile(rb"SIGKILL|[Ss]ignal:? 9|exitcode: -9")


def run_job(folder: str) -> int:
    """Run the job in a folder, and return the exit status."""
    runner = Runner(NodeJob(folder))
    try:
        return runner.run()
    except Refused as refusal:
        # A launcher repeats it.
        sys.stderr.write(without(secret_texts(runner.job.spec.secrets), f"{refusal}\n"))
        return 2


def write_environment(folder: str, scratch: str) -> int:
    """Write environment.json; `scratch` is the folder that the command runs in, if it has one to itself."""
    job = NodeJob(folder)
    job.working_folder = scratch or job.working_folder
    # The mark of the command, so that what is started here is killed with it.
    job.mark = os.environ["PERFLEDGER_COMMAND"]
    write_file(job.path("environment.json"), as_json(environment_record(job)) + "\n")
    return 0
