"""The record of a finished run: its files are put in their places, and `run.json` is written last.

Its facts come from the plan and from the nodes, whose files are in `incoming/node<k>` of the run's folder until the run
is finished.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from perfledger.runners.display import complain
from perfledger.runners.folders import LAUNCH_JSON, RUN_JSON, Facts, Launch
from perfledger.runners.ingest_link import count_records, is_empty, log_figures, shortfall
from perfledger.runners.job import PlannedRecord, RunnerError, SourceRecord
from perfledger.runners.nodes import HOST_JSON, KEPT, LOG, FileRecord, HostRecord, Outcome, digest, read_json
from perfledger.runners.transport import INCOMING, Warnings, numbered
from perfledger.schema.figures import FiguresFound
from perfledger.schema.records import Node, Records
from perfledger.schema.redaction.redact import redact, redacted

ENVIRONMENT = "environment.json"
#: In order of precedence: the outcome of a run is the first of these that one of its nodes came to.
OUTCOMES: Sequence[Outcome] = ("timeout", "oom", "failed", "stopped", "completed")
#: Facts of an environment that affect figures, in words. Of clocks the limits and settings, not the present values.
COMPARED: Mapping[str, str] = {
    "gpu": "the GPU",
    "gpu_memory_mib": "the memory of a GPU in MiB",
    "gpu_power_limit_watts": "the power limit in W",
    "gpu_clock_max_sm_mhz": "the highest SM clock in MHz",
    "gpu_clock_max_memory_mhz": "the highest memory clock in MHz",
    "gpu_clock_applications_sm_mhz": "the SM clock set for applications in MHz",
    "gpu_clock_applications_memory_mhz": "the memory clock set for applications in MHz",
    "gpu_persistence": "the persistence mode",
    "gpu_ecc": "the ECC mode",
    "driver": "the driver",
    "cuda": "CUDA",
    "cudnn": "cuDNN",
    "nccl": "NCCL",
    "rocm": "ROCm",
    "cann": "CANN",
    "container_digest": "the container's digest",
    "cpu": "the CPU",
    "cores": "the number of cores",
    "cpu_governor": "the CPU's governor",
    "python": "Python",
}


def write(path: Path, content: bytes) -> None:
    """Write a file atomically, and flush it to the disk first.

    Raises:
        RunnerError: it cannot be written; an earlier file is unchanged.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise RunnerError(f"{path}: it cannot be written: {error.strerror}; make room or choose --raw-logs") from error


class _Environment(Struct, frozen=True):
    facts: Facts = {}


class RunRecord(PlannedRecord, frozen=True, omit_defaults=True, kw_only=True):
    """The content of `run.json`: the plan of the run, and the facts found by its nodes."""

    environment: Facts
    start: str | None = None
    end: str | None = None
    wall_seconds: float | None = None
    exit_status: int | None = None
    outcome: str
    records: Records = Records()
    warnings: tuple[str, ...] = ()
    disturbances: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()
    files: dict[str, FileRecord]


class NodeResult(Struct, frozen=True):
    """One node of a run; one that `is_lost` wrote no `host.json`, and its `host` has an outcome alone."""

    rank: int
    folder: Path
    #: The subfolder for its files; `.` for the node whose log is used.
    place: str
    host: HostRecord
    is_lost: bool
    facts: Facts

    def files(self) -> dict[str, str]:
        """Return the files to keep by their path below `folder`, with the SHA-256 that the node stated, if it did."""
        if not self.is_lost:
            return {name: entry.sha256 for name, entry in self.host.files.items() if KEPT.fullmatch(name)}
        below = [path.relative_to(self.folder).as_posix() for path in sorted(self.folder.rglob("*")) if path.is_file()]
        return {name: "" for name in below if KEPT.fullmatch(name) and not (self.folder / name).is_symlink()}

    @property
    def ending(self) -> Node:
        """Its entry in `nodes` of `run.json`."""
        return Node(self.place, self.host.outcome, self.host.exit_status, self.host.gpus or None)


def read_node(job: Path, rank: int, top: int) -> NodeResult:
    """Read the files of a node; `top` is the node whose log is used.

    Raises:
        RunnerError: `host.json` or `environment.json` cannot be read.
    """
    folder, place = job / INCOMING / f"node{rank}", "." if rank == top else f"node{rank}"
    stated, environment = read_json(folder / HOST_JSON, HostRecord), read_json(folder / ENVIRONMENT, _Environment)
    host = stated or HostRecord(schema="perfledger.host/1", outcome="failed", files={})
    return NodeResult(rank, folder, place, host, stated is None, environment.facts if environment else {})


def finish(folder: Path, launch: Launch, lost: str = "") -> FiguresFound:
    """Put the files of a run in their places, write `run.json`, and clear up; may be called again.

    Return the figures of its log without other repeats, empty if they were computed earlier.

    Args:
        folder: of the run, with the files of its nodes in `incoming`.
        launch: its `launch.json`.
        lost: why nodes have no `host.json`; empty if every node must have one.

    Raises:
        RunnerError: a node has no `host.json` and `lost` is empty, files are missing or have changed, or the disk is
            full. The run stays unfinished.
    """
    alone = FiguresFound()
    if not (folder / RUN_JSON).exists():
        run, alone = _run(folder, launch, lost)
        # It is committed with its log, so a key or password on the command line or in a variable must not be in it.
        document = msgspec.json.encode(redact(msgspec.to_builtins(run)))
        write(folder / RUN_JSON, msgspec.json.format(document, indent=1) + b"\n")
    _clear_up(folder)
    return alone


def _clear_up(folder: Path) -> None:
    shutil.rmtree(folder / INCOMING, ignore_errors=True)
    if (folder / INCOMING).exists():  # A container wrote files as root. The run is still finished.
        what = f"the run is finished, but {INCOMING} in it cannot be removed; remove it as root"
        complain(RunnerError(f"{folder}: {what}"))
    try:
        # Last, so that an interrupted clearing up is noticed and repeated.
        (folder / LAUNCH_JSON).unlink(missing_ok=True)
    except OSError as error:
        raise RunnerError(
            f"{folder / LAUNCH_JSON}: the run is finished, but this cannot be removed: {error.strerror}"
        ) from error


def _run(folder: Path, launch: Launch, lost: str) -> tuple[RunRecord, FiguresFound]:
    """Put the files in their places and return the content of `run.json`, with the figures of its log."""
    count = launch.job.nodes
    at_top = count - 1 if launch.records.node == "last" and launch.job.every_node else 0
    nodes = _nodes(folder, count, at_top, lost)
    top = nodes[at_top]
    files = {name: entry for node in nodes for name, entry in _store_files(folder, node).items()}
    outcome = min((node.host.outcome for node in nodes), key=OUTCOMES.index)
    known = _known(launch.plan, nodes, top, outcome)
    found = log_figures(folder / LOG, replace(known, smoke=False))
    short = "nothing was logged" if is_empty(folder / LOG) else shortfall(count_records(found), launch.records)
    has_reason = known.smoke or bool(short) or outcome != "completed"
    hosts = launch.target.hosts
    stated = {node.rank: Warnings(node.host.warnings, node.host.disturbances) for node in nodes}
    found_by = numbered(len(nodes), stated)
    texts = [*_losses(nodes, lost, launch.plan.secrets), *found_by.warnings]
    record = replace(
        known,
        outcome="short" if outcome == "completed" and short else outcome,
        records=_records(found, launch, has_reason),
        warnings=(
            *(published(text, hosts) for text in texts),
            *([short] if short else []),
            *drift_between_nodes([node.facts for node in nodes]),
        ),
        disturbances=tuple(published(text, hosts) for text in found_by.disturbances),
        nodes=tuple(node.ending for node in nodes) if len(nodes) > 1 else (),
        files=files,
    )
    return record, found


def _known(plan: PlannedRecord, nodes: Sequence[NodeResult], top: NodeResult, outcome: Outcome) -> RunRecord:
    """Return the record of a run before its log is read."""
    host = top.host
    variables = {**plan.environment_variables, **_visible(nodes)}
    case = replace(plan.case, hardware=host.hardware or "unknown")
    planned = {**asdict(plan), "case": case, "environment_variables": variables}
    return RunRecord(
        **{**planned, "source": _source(plan.source, host)},
        # If Python and NCCL both state a version of NCCL, that of Python counts.
        environment={**host.facts, **top.facts},
        start=host.start,
        end=host.end,
        wall_seconds=host.wall_seconds,
        exit_status=next(node.host.exit_status for node in nodes if node.host.outcome == outcome),
        outcome=outcome,
        files={},
    )


def _visible(nodes: Sequence[NodeResult]) -> dict[str, str]:
    """Return the GPUs that the command saw, if all nodes chose the same; else `nodes` lists them."""
    chosen = {(node.host.gpu_variable, node.host.gpus) for node in nodes}
    variable, gpus = chosen.pop()
    return {variable: gpus} if gpus and not chosen else {}


def _records(found: FiguresFound, launch: Launch, has_reason: bool) -> Records:
    """Return `records` of `run.json`, with the reason for a missing figure unless the outcome states one."""
    wanted = launch.records
    reasons = [run.reason for run in found.runs if run.reason] if not has_reason else []
    any_figure = any(run.value is not None for run in found.runs)
    return Records(
        format=wanted.format,
        count=count_records(found).get(wanted.format, 0),
        at_least=wanted.at_least,
        no_figure=reasons[-1] if reasons and not any_figure else None,
    )


def _nodes(folder: Path, count: int, top: int, lost: str) -> list[NodeResult]:
    nodes = [read_node(folder, rank, top) for rank in range(count)]
    silent = [node.rank for node in nodes if node.is_lost]
    if silent and not lost:
        raise RunnerError(
            f"{folder}: node {silent[0]} has not said how it ended; collect the run later, or give it up with --abandon"
        )
    return nodes


def _losses(nodes: Sequence[NodeResult], lost: str, secrets: Sequence[str]) -> list[str]:
    silent = [node for node in nodes if node.is_lost]
    found = [f"node {node.rank} was lost: {lost}" for node in silent]
    if secrets and not all(map(is_empty, (node.folder / LOG for node in silent))):
        # A host that was switched off could not mask them.
        found.append(f"a log may show the value of {' or '.join(secrets)}; look into it before you publish it")
    return found


def _source(planned: SourceRecord | None, host: HostRecord) -> SourceRecord | None:
    """Return the source; the commit found on the node takes precedence over that of the recipe."""
    if planned is None:
        return None
    commit = str(host.source.get("commit") or planned.commit)
    return replace(planned, commit=commit, modified=bool(host.source.get("modified")))


def _store_files(folder: Path, node: NodeResult) -> dict[str, FileRecord]:
    """Copy the files of a node to their final places; files of an earlier attempt are compared, never overwritten."""
    placed = {}
    for name, sha256 in node.files().items():
        target = folder / node.place / name
        found = _copied(_plain(node.folder, name), target, sha256)
        placed[target.relative_to(folder).as_posix()] = FileRecord(found, target.stat().st_size)
    return placed


def _plain(folder: Path, name: str) -> Path:
    """Return the path of a regular file of a node; a link could publish any other file."""
    path = folder / name
    if path.resolve() != folder.resolve() / name or not path.is_file():
        raise RunnerError(f"{path}: there is no such file, or a link in its place; the run stays unfinished")
    return path


def _copied(source: Path, target: Path, sha256: str) -> str:
    """Copy a file, verify it against the SHA-256 that the node stated, if it did, and return its SHA-256."""
    partial = target.with_name(f".{target.name}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, partial)
        # On the disk before the source is removed and before `run.json` names it.
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        found = digest(partial)
        if sha256 and found != sha256:
            raise RunnerError(
                f"{source}: it is not as its node left it (SHA-256 differs); compare it with the one on the host"
            )
        if target.exists() and digest(target) != found:
            raise RunnerError(f"{target}: another file is there already, and is not overwritten; move it away")
        partial.replace(target)
    except OSError as error:
        raise RunnerError(
            f"{target}: it cannot be written: {error.strerror}; make room, then `python -m runners collect`"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    return found


def published(text: str, hosts: Sequence[str]) -> str:
    """Replace host names by node numbers, and redact the rest, before a message is published.

    `hosts` are in order of rank, as the user names them: `name`, or `user@name`.
    """
    names = {name: f"node {rank}" for rank, host in enumerate(hosts) for name in (host, host.rpartition("@")[2])}
    # Longest first: one name may be the beginning of another.
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", names[name], text)
    return redacted(text)


def drift_between_nodes(environments: Sequence[Facts]) -> list[str]:
    """Return a sentence for each fact that differs between a node and node 0; facts unknown on one side are ignored."""
    first, *others = [_compared(environment) for environment in environments] or [{}]
    return [
        f"{words} is {value} on node {node} and {first[words]} on node 0"
        for node, there in enumerate(others, start=1)
        for words, value in there.items()
        if words in first and value != first[words]
    ]


def _compared(environment: Facts) -> dict[str, str]:
    """Return the facts to compare, in words; the packages that the recipe names are compared one by one."""
    packages = environment.get("packages")
    named = packages.items() if isinstance(packages, Mapping) else ()
    facts = [(words, environment[key]) for key, words in COMPARED.items() if key in environment]
    return {words: str(value) for words, value in [*facts, *named]}
