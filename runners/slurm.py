"""A partition of a Slurm cluster: runs as its jobs, or one after the other in one allocation."""

from __future__ import annotations

import json
import re
import secrets
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Literal, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from perfledger.runners.agent_link import ARCHIVE, PYTHON, archive
from perfledger.runners.job import JobSpec, PlannedRun, RunnerError
from perfledger.runners.nodes import read_json
from perfledger.runners.slurm_queue import (
    SLURM_RUNNING,
    SLURM_WAITING,
    accounted_state,
    ask_slurm,
    batch_script,
    error_text,
    first_word,
    is_active,
    limit_seconds,
    remembered_state,
    state_and_seconds,
    submit,
)
from perfledger.runners.transport import (
    LONGEST_WARNING,
    Job,
    JobState,
    NodeState,
    Reply,
    Target,
    Warnings,
    has_failed,
    warned,
    with_log,
    worst,
)

#: A name must not begin with a dash: sbatch would take it for an option.
PARTITION = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
#: Added to the time limit of the run for the check, which may have to pull an image, and for the grace period.
MARGIN_SECONDS = 1800
#: The number of a job; and that the job of a series is done with a run, whatever became of it.
NUMBER, OVER_FILE = "slurm.number", "over"
#: How long a file written on one node may take to become visible on another.
SHARED_SECONDS = 5
SLURM_OUTCOMES = {"CANCELLED": "stopped", "TIMEOUT": "timeout", "DEADLINE": "timeout", "OUT_OF_MEMORY": "oom"}
SLURM_SIGNALS = {"stopped": "TERM", "timeout": "USR1"}
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

    has_pyxis: ClassVar[bool] = True
    partition: str = ""
    sbatch: tuple[str, ...] = ()
    allocation: Allocation | None = None

    def __post_init__(self) -> None:
        if self.partition and not PARTITION.fullmatch(self.partition):
            raise ValueError("it names an invalid partition")

    def site_names(self) -> tuple[Literal["hosts", "partitions"], tuple[str, ...]]:  # noqa: D102
        return "partitions", (self.partition or "default",)

    def at_site(self, addresses: Sequence[str], sbatch: Sequence[str]) -> Self:
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

    def commands(self, run: PlannedRun) -> list[str]:
        """Return the shell line that `start` executes."""
        job = self.prepare(run)
        held = self.allocation
        return [shlex.join(self.allocated(held, Path(held.folder)) if held else self.submission(job, run.spec))]

    def for_series(self, runs: Sequence[PlannedRun], cool_down_seconds: int) -> Self:
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
        """Let the allocation end after its present run, and take it from the queue if it has no run."""
        if self.allocation is None or not (folder := _latest(Path(self.allocation.folder))):
            return
        number = _text_of(folder / NUMBER)
        with suppress(OSError):
            (folder / "end").touch()
            if number.isdecimal() and not any((folder / "queue").iterdir()):
                ask_slurm(["scancel", "--state=PENDING", number])
        try:
            active = number.isdecimal() and is_active(state_and_seconds(number)[0])
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
        answer = ask_slurm(argv, batch_script(job.incoming, "batch"))
        if answer.status:
            raise RunnerError(f"sbatch would not take the job: {error_text(answer)}")
        return Warnings((f"its nodes are checked when they are allocated; Slurm says: {error_text(answer)}",))

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
        limit = 0 if any(each.startswith(("--time", "-t")) for each in self.sbatch) else limit_seconds(self.partition)
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

    def start(self, job: Job, spec: JobSpec, is_stopped: Callable[[], bool] = lambda: False) -> Warnings:
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
        return submit(self.submission(job, spec), job.incoming, "batch")

    def _handed_over(self, job: Job, spec: JobSpec) -> str:
        """Hand a run to the allocation, to a new one where the present one has ended or ends too soon."""
        assert self.allocation is not None
        folder = _latest(Path(self.allocation.folder))
        number = _text_of(folder / NUMBER) if folder else ""
        if folder and number.isdecimal():
            word, left = state_and_seconds(number)
            # Without a limit nothing is left of it to count.
            enough = not left or left >= spec.timeout_seconds + SPARE_SECONDS
            # One that is COMPLETING takes no more.
            if (word in SLURM_WAITING or word == "RUNNING") and enough and _enqueue(folder, job):
                return number
            with suppress(OSError):
                (folder / "end").touch()
        folder = _new_allocation(self.allocation, folder)
        _enqueue(folder, job)
        return submit(self.allocated(self.allocation, folder), folder, "series", folder / NUMBER)

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
            answer = ask_slurm(argv)
            over = "Invalid job id" in answer.errors or "already completing or completed" in answer.errors
            if answer.status and not over:
                raise RunnerError(f"Slurm job {number} could not be asked to end: {error_text(answer)}")

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
        word, _ = state_and_seconds(number)
    except RunnerError as error:
        return JobState("unreachable", str(error))
    word = word or accounted_state(number) or remembered_state(number)
    if word in SLURM_WAITING:
        return JobState("waiting", f"Slurm says {word}")
    if word in SLURM_RUNNING:
        return JobState("running")
    return _ended_state(job, word, f"Slurm says {word or 'nothing'} of its job")


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
        (job.incoming / ARCHIVE).write_bytes(archive())
        (job.incoming / "batch.json").write_text(json.dumps(request, ensure_ascii=False), encoding="utf-8")
        for rank in job.ranks:
            job.node(rank).mkdir()
    except OSError as error:
        message = f"{job.incoming}: it cannot be written: {error.strerror}; make room, or name another with --raw-logs"
        raise RunnerError(message) from error


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
        (folder / ARCHIVE).write_bytes(archive())
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
    """Return the number of the job, as stored at its submission or found by its name; empty if it is unknown.

    Raises:
        RunnerError: Slurm does not answer.
    """
    # Slurm would take other texts for options, and the folder may come from someone else.
    if (kept := _text_of(job.incoming / NUMBER)).isdecimal():
        return kept
    named = ask_slurm(["squeue", "--noheader", "--me", f"--name={_job_name(job)}", "--format=%i"])
    if named.status:
        raise RunnerError(f"Slurm does not answer: {error_text(named)}")
    return first_word(named.output)


def _job_name(job: Job) -> str:
    return f"perfledger-{job.facts.identity}"


def _all_ended(seen: dict[int, NodeState]) -> bool:
    return all(each.kind == "ended" for each in seen.values())


def _text_of(path: Path) -> str:
    """Return the beginning of a text; empty if there is no file, or a link, which could publish any other file."""
    try:
        if path.is_symlink() or not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(LONGEST_WARNING).decode(errors="replace").strip()
    except OSError:
        return ""
