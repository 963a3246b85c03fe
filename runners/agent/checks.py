"""Before the run: what would make it fail, or its figures worthless."""

import contextlib
import errno
import fcntl
import os
import shutil
import subprocess
import time
from typing import IO

from .devices import GPU_SETTINGS, Row, busy_gpu, gpu_values
from .job import NodeJob
from .machine import BUSY_PERCENT, processor_times
from .programs import last_words, run_tool
from .record import source_record
from .tools import WITH_DAEMON, Busy, Disturbance, Refused, free_bytes, utc, write_file
from .vendors import VENDORS

SPACE_NEEDED = 64 * 1024 * 1024
# How long that load is measured.
LOAD_SECONDS = 0.5
# Attempts to take a lock, and the pause between them.
LOCK_ATTEMPTS, LOCK_SECONDS = 5, 0.2


def check(job: NodeJob) -> "list[str]":
    """Check this node before the run, and return warnings.

    Raises:
        Refused: the run must not be started.
    """
    warnings: "list[str]" = []
    for step in (
        check_lock, check_space, check_container, check_gpus, check_source, check_environment, check_program,
        check_packages, check_load,
    ):  # fmt: skip
        warnings += step(job) or []
    return warnings


def lock_path() -> str:
    """Return the file that is locked while a run goes on: one per host, for jobs may lie on a shared disk."""
    jobs = os.environ.get("PERFLEDGER_JOBS") or os.path.expanduser("~/.perfledger/jobs")
    # Beside the folder, which is removed with its last job.
    return f"{jobs.rstrip('/')}.measuring.{os.uname().nodename}"


def lock_host(job: NodeJob) -> "IO[str] | None":
    """Lock this host for a run, and return the open file, which keeps the lock; None where no file can be made.

    Raises:
        Refused: another run measures here, and the two would slow each other down.
    """
    if "SLURM_JOB_ID" in os.environ:  # Its nodes are its own.
        return None
    try:
        os.makedirs(os.path.dirname(lock_path()), exist_ok=True)
        file = open(lock_path(), "a+", encoding="utf-8")  # noqa: SIM115
    except OSError:
        return None
    # A check takes it for a moment.
    for attempt in range(LOCK_ATTEMPTS):
        time.sleep(LOCK_SECONDS if attempt else 0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            taken = error.errno in (errno.EACCES, errno.EAGAIN)
            continue
        file.truncate(0)
        file.write(f"{job.identity} {utc()}\n")
        file.flush()
        return file
    file.seek(0)
    identity, since = [*file.read().split(), "", ""][:2]
    file.close()
    # Nodes of one job may share a machine, and some file systems know no locks.
    if not taken or identity == job.identity or job.spec.even_if_busy:
        return None
    raise Busy(f"this host is busy: another run measures here{f', {identity} since {since}' if since else ''}")


def check_lock(job: NodeJob) -> None:
    """Refuse a host where another run measures."""
    file = lock_host(job)
    if file:
        file.close()


def why_busy(job: NodeJob) -> "list[str]":
    """Return why this host is not idle: another run, busy GPUs, busy processors."""
    try:
        check_lock(job)
        check_gpus(job)
    except Busy as refusal:
        return [refusal.why]
    return check_load(job)


def check_space(job: NodeJob) -> None:
    """Refuse folders that are not writable or have no space."""
    for place in (job.folder, job.temporary):
        if not os.access(place, os.W_OK):
            raise Refused(f"the folder {place} cannot be written to on this host")
        free = free_bytes(place)
        if free < SPACE_NEEDED:
            raise Refused(
                f"there is no space left on this host: {free >> 20} MiB below {place}, and a run needs "
                f"{SPACE_NEEDED >> 20}; free some"
            )


def check_container(job: NodeJob) -> "list[str]":
    """Refuse a container tool that is missing or does not work; warn if the image has to be pulled."""
    container = job.spec.container
    if not container:
        return []
    tool = container.tool
    if tool == "pyxis":
        if "--container-image" not in run_tool(["srun", "--help"])[1]:
            raise Refused("srun knows no --container-image here: pyxis is not installed; choose another --container")
        return []
    if not shutil.which(tool):
        raise Refused(f"{tool} is not on this host; install it, or choose another with --container")
    if tool == "apptainer":
        return []
    status, said = run_tool([tool, "info"], stderr=subprocess.STDOUT)
    if status:
        last = last_words(said)
        raise Refused(f"{tool} does not work on this host: {last}; is its service running, and may you use it?")
    if job.inspect_image("{{.Id}}"):
        return []
    return [f"the image {container.image} is not on this host yet; the run begins by pulling it"]


def check_gpus(job: NodeJob) -> "list[str]":
    """Choose the GPUs of a job, or what accelerators this host has, and keep the choice for all that follows.

    Refuse too few or busy ones; warn if their settings differ, because the facts then cannot state them.
    """
    spec = job.spec
    if spec.device == "cpu":
        return []
    given = given_gpus(job)
    gpus = choose_gpus(job, given)
    busy = [Disturbance(gpu["busy"]) for gpu in gpus if gpu["busy"]]
    if busy and not spec.even_if_busy:
        raise Busy(busy[0])
    with contextlib.suppress(FileNotFoundError):
        os.unlink(job.path("gpus"))
    # A trainer that takes all it sees would use more than its case says.
    if job.gpu_variable and len(gpus) < len(given):
        write_file(job.path("gpus"), ",".join(gpu["index"] for gpu in gpus))
    values = {key: gpu_values(gpus, key) for key in ("name", *GPU_SETTINGS, "persistence", "ecc", "mig")}
    differing = [f"the GPUs of this host differ in {key}: {value}" for key, value in values.items() if " + " in value]
    return busy + differing


def given_gpus(job: NodeJob) -> "list[Row]":
    """Return the GPUs that are given to a job, each with why it is `busy`; that is empty if it is idle.

    Raises:
        Refused: a tool that shows them is missing, or one is divided.
    """
    vendor = job.vendor
    if not (job.spec.accelerator or shutil.which(vendor.tool)):
        tools = ", ".join(each.tool for each in VENDORS)
        raise Refused(f"this recipe needs a GPU, and this host has none of {tools}; a site can declare another device")
    found = vendor.devices(job.given_gpus)
    divided = next((gpu["index"] for gpu in found if gpu.get("mig") == "Enabled"), "")
    if divided:
        raise Refused(
            f"GPU {divided} is divided by MIG, and the figures of a slice depend on the others; switch MIG off, leave "
            "the GPU out of CUDA_VISIBLE_DEVICES, or declare the slice in the site file, with a probe"
        )
    return [{**gpu, "busy": busy_gpu(vendor, gpu)} for gpu in found]


def choose_gpus(job: NodeJob, given: "list[Row]") -> "list[Row]":
    """Return the GPUs that a job is to use of those that are given to it: free ones, in their order.

    Raises:
        Refused: there are too few, or the launcher uses others.
    """
    spec, wanted = job.spec, job.spec.devices_per_node
    if len(given) < wanted:
        asked = f"asked by `{job.vendor.tool}`"
        raise Refused(f"this case needs {wanted} GPUs per node, and this host shows {len(given)} ({asked})")
    if len(given) > wanted and not job.vendor.variables:
        raise Refused(
            f"this case needs {wanted} of the {len(given)} devices of this host, and its site names no `variable` that "
            "chooses some; add it to [hosts.*.accelerator]"
        )
    # A launcher that starts the other nodes gives them no variable of this one, and counts GPUs from 0 on.
    is_counting = spec.nodes > 1 and not spec.every_node
    # Sorting keeps the order among those that are free.
    gpus = given if is_counting else sorted(given, key=lambda gpu: bool(gpu["busy"]))
    gpus = sorted(gpus[:wanted], key=given.index)
    if all(gpu["index"].isdigit() for gpu in gpus):
        gpus.sort(key=lambda gpu: int(gpu["index"]))
    if is_counting and [gpu["index"] for gpu in gpus] != [str(at) for at in range(wanted)]:
        raise Refused(
            f"the launcher of this recipe uses GPU 0 to {wanted - 1}, whatever {job.gpu_variable} says, which is "
            f"{job.given_gpus} here; leave the variable out"
        )
    return gpus


def check_source(job: NodeJob) -> "list[str]":
    """Refuse missing data or sources; warn of sources that are modified or at another commit."""
    if job.spec.data and not os.path.exists(job.spec.data):
        raise Refused(f"the data {job.spec.data} is not on this host; name its place there with --data")
    if job.spec.source_folder and not os.path.isdir(job.sources):
        raise Refused(
            f"the folder {job.sources} is not on this host; `python -m runners setup` fetches the sources, --work says "
            "where they are"
        )
    found, expected = source_record(job), job.spec.expected_commit
    commit, warnings = found.commit, []
    if commit and expected and not commit.startswith(expected):
        warnings.append(
            f"the sources in {job.sources} are at commit {commit[:12]}, not at the recipe's {expected[:12]}"
        )
    if found.modified:
        warnings.append(f"the sources in {job.sources} have been changed since their commit")
    return warnings


def check_environment(job: NodeJob) -> None:
    """Refuse a Python environment of the recipe that other setup steps made, or not all of them."""
    found = job.used_environment
    if found and not found.is_current:
        raise Refused(
            f"the Python environment {found.folder} is not of the recipe's present setup steps, or "
            "they did not finish; make it again with `python -m runners setup`, or remove it to use the host's Python"
        )


def check_secrets(job: NodeJob) -> None:
    """Refuse a run whose secrets this process did not get."""
    for name in job.spec.secrets:
        if not os.environ.get(name):
            raise Refused(f"the secret {name} is not set here; export it where the run is started")


def check_program(job: NodeJob) -> None:
    """Refuse a missing program; it is looked up with the PATH and in the folder of the command."""
    program = job.command[0]
    found = os.path.join(job.working_folder, program) if "/" in program else program
    if not job.spec.container and not shutil.which(found, path=job.environment().get("PATH")):
        raise Refused(
            f"the program {program} is not on this host; install it or put it on PATH (`python -m runners show` says "
            "what a recipe needs)"
        )


def check_packages(job: NodeJob) -> None:
    """Refuse a Python that lacks packages. Skipped for an image that would have to be pulled first."""
    container, python = job.spec.container, job.spec.python
    if not job.spec.packages or (container and container.tool not in WITH_DAEMON):
        return
    if container:
        if not job.inspect_image("{{.Id}}"):
            return
        job.prepare_folders()
    # Without the device: versions of CUDA are asked when the run begins.
    answers = job.ask_python("none", 120)
    missing = ", ".join(answers.missing)
    if missing:
        raise Refused(
            f"{python} lacks packages that this recipe needs: {missing}; `python -m runners setup` installs what the "
            "recipe's steps name, and `show` says what else it needs"
        )
    if not answers.python:
        raise Refused(f"{python} cannot say what packages it has; is it a Python?")


def check_load(_job: NodeJob) -> "list[str]":
    """Warn if the CPU is busy. It may be busy for a moment between two runs, so the series goes on.

    The load average is useless here: it still includes the run before this one.
    """
    before = processor_times()
    time.sleep(LOAD_SECONDS if before else 0)
    after = processor_times() if before else None
    if before and after and after[1] > before[1]:
        share = (after[0] - before[0]) * 100 // (after[1] - before[1])
        if share >= BUSY_PERCENT:
            return [
                Disturbance(
                    f"the processors of this host are {share} % busy before the run: something else computes here"
                )
            ]
    return []
