"""The records of a run: `launch.json`, written before it starts, and `run.json`, written when it is finished.

With `launch.json` any runner can finish the run, even if the one that started it is gone: a folder that holds it and no
`run.json` is unfinished. The runner that supervises a run holds a lock on it. `run.json` is made of what was planned
and what the nodes wrote, whose files lie in `incoming/node<k>` of the run's folder until the run is finished.
"""

from __future__ import annotations

import difflib
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from perfledger import PROJECT_VARIABLE, TOP, project_folder
from perfledger.runners.job import PlannedRecord, PlannedRun, RunnerError, WantedRecords
from perfledger.runners.nodes import HOST_JSON, LOG, HostRecord, Outcome, digest, printable, read_json
from perfledger.runners.targets import AnyTarget
from perfledger.runners.transport import INCOMING, JobFacts, Ssh, Warnings
from perfledger.schema.figures import FiguresFound
from perfledger.schema.records import Node, told_apart
from perfledger.schema.redaction.redact import redact, redacted

#: How much of the end of a log is looked at for its last line, and how much of that is shown.
_LAST_BYTES, _LAST_LINE = 1 << 16, 200
LAUNCH_JSON = "launch.json"
#: How often, and with which pause, a lock that is held is tried.
_LOCK_ATTEMPTS, _LOCK_SECONDS = 5, 0.2
RUN_JSON = "run.json"
ENVIRONMENT = "environment.json"
#: The files of a node that are kept; all others are dropped. In particular, Paddle's launcher dumps the user's whole
#: environment beside its logs, and a node that was lost cannot have removed that.
KEPT = re.compile(
    r"train\.log|telemetry(?:-host)?\.csv|environment\.json|ranks/paddle/(?:worker|server|trainer)log\.[0-9]+|"
    r"ranks(?!/paddle/)(?:/(?!\.)[\w.+=,@:-]{1,200}){1,8}",
    re.ASCII,
)
#: In order of precedence: the outcome of a run is the first of these that one of its nodes came to.
OUTCOMES: Sequence[Outcome] = ("stopped", "timeout", "oom", "failed", "completed")
#: Outcomes after which a run is not repeated: its figure is known, or that its memory does not suffice.
SETTLED_OUTCOMES = ("completed", "oom")


# --- Files ------------------------------------------------------------------------------------------------------------


def write(path: Path, text: str) -> None:
    """Write a file atomically, and flush it to the disk first.

    Raises:
        RunnerError: it cannot be written; an earlier file is unchanged.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise RunnerError(f"{path}: it cannot be written: {error.strerror}; make room or choose --raw-logs") from error


def readable_json(run: Mapping[str, object]) -> str:
    """Return JSON with one line per key, and per member of the objects on the first level, for people and `diff`."""
    return "{\n" + ",\n".join(f" {_json(key)}: {_members(value)}" for key, value in run.items()) + "\n}\n"


def _members(value: object) -> str:
    if not isinstance(value, Mapping) or not value:
        return _json(value)
    return "{\n" + ",\n".join(f"  {_json(key)}: {_json(each)}" for key, each in value.items()) + "\n }"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# --- launch.json ------------------------------------------------------------------------------------------------------


class AttendedError(RunnerError):
    """Another runner supervises this run."""


class Launch(Struct, frozen=True):
    """The content of `launch.json`: where a run was started, and the record known beforehand."""

    schema: Literal["perfledger.launch/1"]
    target: AnyTarget
    job: JobFacts
    plan: PlannedRecord
    records: WantedRecords

    def __post_init__(self) -> None:
        if fault := self.target.too_few(self.job.nodes):
            raise ValueError(f"its job takes {self.job.nodes} nodes, and {fault}")


def planned_launch(target: AnyTarget, run: PlannedRun) -> Launch:
    """Return the content of `launch.json` for a run."""
    return Launch("perfledger.launch/1", target, target.prepare(run).facts, run.record, run.wanted)


def unfinished(raw_logs: Path) -> list[Path]:
    """Return the folders with a `launch.json`, sorted: their runs are unfinished or not cleared up."""
    found: list[Path] = []
    for folder, below, names in os.walk(raw_logs):
        if LAUNCH_JSON in names:
            found.append(Path(folder))
            below.clear()
        below[:] = [name for name in below if not name.startswith(".")]
    return sorted(found)


@contextmanager
def attended(folder: Path) -> Iterator[Launch]:
    """Lock the run of a folder and yield its `launch.json`.

    Raises:
        AttendedError: another runner supervises the run.
        RunnerError: the file cannot be read.
    """
    path = folder / LAUNCH_JSON
    try:
        file = path.open("r+", encoding="utf-8")
    except OSError as error:
        raise RunnerError(
            f"{path}: it cannot be opened: {error.strerror}; name the folder of an unfinished run"
        ) from error
    with file:
        lock(file, folder)
        yield _read(path, file)


def _read(path: Path, file: IO[str]) -> Launch:
    # The file is not trusted, since the logs may come from someone else: each type checks its own values.
    try:
        found = msgspec.json.decode(file.read(), type=Launch)
        _refuse_what_came_with_it(path.parent, found.target)
    except (OSError, ValueError, RecursionError) as error:
        raise RunnerError(
            f"{path}: it is not a launch.json of this version of Perfledger: {error}; nothing in its folder was changed"
        ) from error
    return found


def _refuse_what_came_with_it(folder: Path, target: AnyTarget) -> None:
    """Refuse what would run a program from among the logs, or write outside them."""
    if (folder / INCOMING).is_symlink():
        raise ValueError(f"{INCOMING} in its folder is a link")
    # A run's folder is the fourth below the raw logs: suite, framework, case, repeat.
    top = folder.resolve().parents[min(3, len(folder.resolve().parents) - 1)]
    if isinstance(target, Ssh) and target.config and Path(target.config).resolve().is_relative_to(top):
        raise ValueError("its ssh configuration, which can start programs, is inside the log folder")


def _locked(file: IO[str]) -> bool:
    # A process that a runner was about to start when it was killed holds its lock for a moment longer.
    for attempt in range(_LOCK_ATTEMPTS):
        time.sleep(_LOCK_SECONDS if attempt else 0)
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def lock(file: IO[str], folder: Path) -> None:
    """Lock the run until `file` is closed; close it on failure."""
    try:
        if not _locked(file):
            file.close()
            raise AttendedError(f"{folder}: another runner supervises this run; it is left to that one")
    except OSError as error:
        file.close()
        message = f"{folder}: its file system does not support locks: {error.strerror}; choose another with --raw-logs"
        raise RunnerError(message) from error


# --- The nodes of a run -----------------------------------------------------------------------------------------------


class _Environment(Struct, frozen=True):
    facts: dict[str, Any] = {}


class Lost(Struct, frozen=True):
    """Why a node was lost, and the outcome that this counts as."""

    cause: str
    outcome: Outcome = "failed"


class NodeResult(Struct, frozen=True):
    """One node of a run; `host` is None if the node was lost before it wrote `host.json`."""

    rank: int
    folder: Path
    outcome: Outcome
    host: HostRecord | None
    facts: Mapping[str, Any]

    def files(self) -> dict[str, str]:
        """Return the files to keep by their path below `folder`, with the SHA-256 that the node stated, if it did."""
        if self.host:
            return {name: entry.sha256 for name, entry in self.host.files.items() if KEPT.fullmatch(name)}
        below = [path.relative_to(self.folder).as_posix() for path in sorted(self.folder.rglob("*")) if path.is_file()]
        return {name: "" for name in below if KEPT.fullmatch(name) and not (self.folder / name).is_symlink()}

    def where(self, top: bool) -> str:
        """Return the subfolder for the files of the node; `.` for the node whose log is used."""
        return "." if top else f"node{self.rank}"

    def ending(self, top: bool) -> dict[str, Any]:
        """Return its entry in `nodes` of `run.json`."""
        status = {} if not self.host or self.host.exit_status is None else {"exit_status": self.host.exit_status}
        gpus = {"gpus": self.host.gpus} if self.host and self.host.gpus else {}
        return {"folder": self.where(top), "outcome": self.outcome, **status, **gpus}


def read_node(folder: Path, rank: int, otherwise: Outcome) -> NodeResult:
    """Read the files of a node; `otherwise` is its outcome if it has not written one.

    Raises:
        RunnerError: `host.json` or `environment.json` cannot be read.
    """
    host = read_json(folder / HOST_JSON, HostRecord)
    environment = read_json(folder / ENVIRONMENT, _Environment)
    outcome = host.outcome if host else otherwise
    return NodeResult(rank, folder, outcome, host, environment.facts if environment else {})


# --- Warnings and failures of a run in progress, kept until `run.json` is written -------------------------------------


_WARNINGS, _FAILED = "warnings.json", "a_node_failed"


def note_warnings(folder: Path, found: Warnings) -> None:
    """Keep the warnings of nodes from the start of a run."""
    if found != Warnings():
        write(folder / INCOMING / _WARNINGS, msgspec.json.encode(found).decode())


def pending_warnings(folder: Path) -> Warnings:
    """Return the warnings noted for an unfinished run."""
    path = folder / INCOMING / _WARNINGS
    return msgspec.json.decode(path.read_bytes(), type=Warnings) if path.is_file() else Warnings()


def note_failure(folder: Path) -> None:
    """Note that a node failed before the others were stopped; otherwise the run would count as stopped."""
    (folder / INCOMING).mkdir(exist_ok=True)
    write(folder / INCOMING / _FAILED, "")


# --- The finished run -------------------------------------------------------------------------------------------------


class Finished(Struct, frozen=True):
    """How a run ended, and the figures of its log without other repeats, empty if they were computed earlier."""

    outcome: str
    alone: FiguresFound = FiguresFound()


def finish(folder: Path, launch: Launch, lost: Lost | None = None) -> Finished:
    """Put the files of a run in their places and write `run.json`; may be called again.

    Args:
        folder: of the run, with the files of its nodes in `incoming`.
        launch: its `launch.json`.
        lost: applies to nodes without `host.json`; None if every node must have one.

    Raises:
        RunnerError: a node has no `host.json` and `lost` is None, files are missing or have changed, or the disk is
            full. The run stays unfinished.
    """
    alone = FiguresFound()
    if not (folder / RUN_JSON).exists():
        run, alone = _run(folder, launch, lost)
        write(folder / RUN_JSON, readable_json(run))
    return Finished(finished_run(folder).outcome, alone)


def _run(folder: Path, launch: Launch, lost: Lost | None) -> tuple[dict[str, Any], FiguresFound]:
    """Put the files in their places and return the content of `run.json`, with the figures of its log."""
    nodes = _nodes(folder, launch.job.nodes, lost)
    top = nodes[-1 if launch.records.node == "last" and launch.job.every_node else 0]
    files = {name: entry for node in nodes for name, entry in _store_files(folder, node, node is top).items()}
    outcome = _strongest(nodes, (folder / INCOMING / _FAILED).exists())
    hosts, noted = launch.target.public_names(), pending_warnings(folder)
    plan = msgspec.to_builtins(launch.plan)
    hardware = (top.host.hardware if top.host else "") or _hardware(top.facts, launch.job.device)
    earlier = comparable_runs(folder.parent, hardware, launch.plan.round)
    stated = msgspec.to_builtins(top.host) if top.host else {}
    status = next(node for node in nodes if node.outcome == outcome).ending(True)
    run = {
        **plan,
        "case": {**plan["case"], "hardware": hardware},
        "environment": _facts(top),
        "environment_variables": {**plan["environment_variables"], **_visible(nodes)},
        **{key: stated[key] for key in ("start", "end", "wall_seconds") if stated.get(key) is not None},
        **{key: status[key] for key in ("exit_status",) if key in status},
        "outcome": outcome,
        "source": _source(plan.get("source", {}), top.host.source if top.host else {}),
    }
    found = log_figures(folder / LOG, {key: value for key, value in run.items() if value and key != "smoke"})
    short, is_trial = judged(found, launch, outcome)
    short = "nothing was logged" if short and _is_empty(folder / LOG) else short
    run |= {
        "outcome": "short" if outcome == "completed" and short else outcome,
        **({"smoke": True} if is_trial else {}),
        "records": _records(found, launch, is_trial or bool(short) or outcome != "completed"),
        "warnings": [
            *[
                published(text, hosts)
                for text in [*noted.warnings, *_losses(nodes, lost, launch.plan.secrets), *_told(nodes)]
            ],
            *([short] if short else []),
            *drift_between_nodes([node.facts for node in nodes]),
            *drift_between_repeats(top.facts, earlier),
        ],
        "disturbances": [published(text, hosts) for text in [*noted.disturbances, *_told(nodes, "disturbances")]],
        "nodes": [node.ending(node is top) for node in nodes] if len(nodes) > 1 else [],
        "files": files,
    }
    # It is committed with its log, so what was put on a command line or into a variable must not stand in it.
    empty = ("source", "warnings", "disturbances", "nodes")
    stated = {key: value for key, value in run.items() if value or key not in empty}
    return dict(redact(stated)), found


def _visible(nodes: Sequence[NodeResult]) -> dict[str, str]:
    """Return the GPUs that the command saw, where all nodes chose the same; else `nodes` tells them."""
    chosen = {(node.host.gpu_variable, node.host.gpus) if node.host else ("", "") for node in nodes}
    variable, gpus = chosen.pop()
    return {variable: gpus} if gpus and not chosen else {}


def _facts(node: NodeResult) -> dict[str, Any]:
    """Return what a node said of itself, before the run and after it."""
    return {**node.facts, **(node.host.facts if node.host else {})}


def judged(found: FiguresFound, launch: Launch, outcome: str) -> tuple[str, bool]:
    """Return why a log holds too few records, empty if it does not; and whether the run is a trial."""
    counts, wanted = count_records(found), launch.records
    short = shortfall(counts, wanted)
    if (
        short
        and outcome == "completed"
        and wanted.of_trial
        and not shortfall(counts, replace(wanted, at_least=wanted.of_trial))
    ):
        return "", True
    return short, launch.plan.smoke


def _records(found: FiguresFound, launch: Launch, is_told: bool) -> dict[str, Any]:
    """Return `records` of `run.json`, with why there is no figure unless the outcome tells it."""
    wanted = launch.records
    reasons = [run.reason for run in found.runs if run.reason] if not is_told else []
    any_figure = any(run.value is not None for run in found.runs)
    return {
        "format": wanted.format,
        "count": count_records(found).get(wanted.format, 0),
        "at_least": wanted.at_least,
        **({"no_figure": reasons[-1]} if reasons and not any_figure else {}),
    }


def _nodes(folder: Path, count: int, lost: Lost | None) -> list[NodeResult]:
    otherwise = lost.outcome if lost else "failed"
    nodes = [read_node(folder / INCOMING / f"node{rank}", rank, otherwise) for rank in range(count)]
    silent = [node.rank for node in nodes if not node.host]
    if silent and lost is None:
        raise RunnerError(
            f"{folder}: node {silent[0]} has not said how it ended; collect the run later, or give it up with --abandon"
        )
    return nodes


def _losses(nodes: Sequence[NodeResult], lost: Lost | None, secrets: Sequence[str]) -> list[str]:
    silent = [node for node in nodes if lost and not node.host]
    found = [f"node {node.rank} was lost: {lost.cause}" for node in silent if lost]
    if secrets and not all(map(_is_empty, (node.folder / LOG for node in silent))):
        # A host that was switched off could not mask them.
        found.append(f"a log may show the value of {' or '.join(secrets)}; look into it before you publish it")
    return found


def _told(nodes: Sequence[NodeResult], kind: Literal["warnings", "disturbances"] = "warnings") -> list[str]:
    """Return what nodes found during the run, after their numbers where there are several."""
    found = [(node.rank, text) for node in nodes if node.host for text in getattr(node.host, kind)]
    return [f"node {rank}: {text}" if len(nodes) > 1 else text for rank, text in found]


def _strongest(nodes: Sequence[NodeResult], failed: bool) -> Outcome:
    """Return the outcome of the run: that of the failed node if the others were stopped because of it (`failed`)."""
    outcomes = [node.outcome for node in nodes]
    caused = [outcome for outcome in outcomes if outcome not in ("stopped", "completed")] if failed else []
    return min(caused or outcomes, key=OUTCOMES.index)


def _hardware(facts: Mapping[str, Any], device: str) -> str:
    """Return the hardware of a node that was lost before it stated it, in the same form as the host agent."""
    if device == "gpu":
        return str(facts.get("gpu", "unknown"))
    named = [str(facts["cpu"])] if "cpu" in facts else []
    some = f"{facts['cores_usable']} of " if "cores_usable" in facts else ""
    return ", ".join([*named, f"{some}{facts['cores']} cores (CPU)"]) if "cores" in facts else "unknown"


def _source(planned: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the source; the commit found on the node takes precedence over that of the recipe."""
    source = {**planned, **{key: value for key, value in found.items() if key in ("commit", "modified") and value}}
    return source if source.get("repository") and source.get("commit") else {}


def _store_files(folder: Path, node: NodeResult, top: bool) -> dict[str, dict[str, Any]]:
    """Copy the files of a node to their final places; files of an earlier attempt are compared, never overwritten."""
    placed = {}
    for name, sha256 in node.files().items():
        target = folder / node.where(top) / name
        found = _copied(_plain(node.folder, name), target, sha256)
        placed[target.relative_to(folder).as_posix()] = {"sha256": found, "bytes": target.stat().st_size}
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
            raise RunnerError(f"{source}: it is not as its node left it (SHA-256 differs); fetch it again")
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


# --- How many records a log holds -------------------------------------------------------------------------------------


def log_figures(log: Path, run: Mapping[str, object]) -> FiguresFound:
    """Return what `ingest` makes of a log beside a `run.json`, before that is written; of no log, nothing.

    Raises:
        RunnerError: `ingest` cannot be run.
    """
    if _is_empty(log):
        return FiguresFound()
    # In a folder of its own: ingest would otherwise read the unfinished run's files beside the log.
    with tempfile.TemporaryDirectory(prefix="perfledger.") as folder:
        (Path(folder) / log.name).symlink_to(log.resolve())
        (Path(folder) / RUN_JSON).write_text(json.dumps(run), encoding="utf-8")
        return _ingest(Path(folder))


def _is_empty(log: Path) -> bool:
    return not log.is_file() or not log.stat().st_size


def count_records(found: FiguresFound) -> dict[str, int]:
    """Return the number of usable records by format; empty if no format claims the log."""
    counts: Counter[str] = Counter()
    for run in found.runs:
        if run.format:
            counts[run.format] += run.records
    return dict(counts)


def check_ingest(formats: Mapping[str, str]) -> None:
    """Ask `ingest` for the formats that recipes name: better to fail before hours of training than after.

    Args:
        formats: by name of the recipe.

    Raises:
        RunnerError: it cannot be run, or does not know a format.
    """
    with tempfile.TemporaryDirectory(prefix="perfledger.") as folder:
        (Path(folder) / LOG).touch()
        known = _ingest(Path(folder)).formats
    for recipe, format in formats.items():
        if format not in known:
            similar = nearest_formats(format, known)
            meant = f"did you mean `{'` or `'.join(similar)}`?"
            remedy = meant if similar else "`python -m ingest figures LOG` prints the format of a log"
            raise RunnerError(f"recipe {recipe}: `records.format` is {format!r}, which ingest does not know; {remedy}")


def nearest_formats(format: str, known: Iterable[str]) -> list[str]:
    """Return the formats whose id, or the part of it after the dot, is most like a text; empty if none is like it."""
    whole = {name: [name] for name in known}
    spellings = dict(whole)
    for name in whole:
        short = name.rpartition(".")[2]
        spellings[short] = [*spellings.get(short, ()), name]
    similar = difflib.get_close_matches(format.lower(), spellings, n=1)
    return spellings[similar[0]] if similar else []


def case_figures(folder: Path) -> FiguresFound:
    """Return the figures of the finished runs of a case.

    Raises:
        RunnerError: `ingest` cannot be run.
    """
    return _ingest(folder)


def shortfall(found: Mapping[str, int], wanted: WantedRecords) -> str:
    """Return why the records of a log are too few or in another format; empty if they are sufficient."""
    if wanted.format in found:
        count = found[wanted.format]
        return (
            ""
            if count >= wanted.at_least
            else f"the log holds {count} records, and the recipe asks for {wanted.at_least}"
        )
    others = f"it is in {', '.join(sorted(found))}" if found else "no format knows it"
    return f"the log is not in the recipe's format {wanted.format}: {others}"


def _ingest(folder: Path) -> FiguresFound:
    """Return what `python -m ingest figures` says of the logs of a folder; paths in it begin with its name."""
    path = os.pathsep.join(filter(None, (str(TOP), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "perfledger.ingest", "figures", "--json", folder.name],
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": path, PROJECT_VARIABLE: str(project_folder() or "")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # so that Ctrl-C reaches the runner alone
    )
    try:
        return msgspec.json.decode(done.stdout, type=FiguresFound)
    except msgspec.MsgspecError as error:
        cause = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise RunnerError(
            f"the records of a log cannot be counted, because `python -m ingest` fails: {cause} "
            "(once it works, `python -m runners collect` finishes the unfinished runs)"
        ) from error


# --- Earlier runs, and how this one differs from them -----------------------------------------------------------------


class _Hardware(Struct, frozen=True):
    hardware: str


class _ChosenCase(Struct, frozen=True):
    case: dict[str, str] = {}


class _NoFigure(Struct, frozen=True):
    no_figure: str = ""


class FinishedRun(Struct, frozen=True):
    """What is needed of the `run.json` of an earlier run; unknown seconds are 0."""

    outcome: str
    case: _Hardware
    repeat: int = 0
    round: str = ""
    smoke: bool = False
    recipe: _ChosenCase = _ChosenCase()
    records: _NoFigure = _NoFigure()
    wall_seconds: float = 0
    environment: dict[str, Any] = {}
    warnings: tuple[str, ...] = ()
    disturbances: tuple[str, ...] | None = None
    accept_disturbed: bool = False
    exit_status: int | None = None
    nodes: tuple[Node, ...] = ()

    @property
    def disturbed(self) -> bool:
        """Whether no result counts it, because something else ran on its hosts."""
        return bool(told_apart(self.warnings, self.disturbances)[1]) and not self.accept_disturbed


def how_it_ended(folder: Path) -> str:
    """Return how a run ended that did not complete: node, exit status, and the last line of the node's log."""
    run = finished_run(folder)
    rank, node = next(
        ((at, each) for at, each in enumerate(run.nodes) if each.outcome == run.outcome),
        (None, Node(".", run.outcome, run.exit_status)),
    )
    said = [] if rank is None else [f"node {rank}"]
    said += [] if node.exit_status is None else [f"exit status {node.exit_status}"]
    lines: list[str] = []
    with suppress(OSError), (folder / node.folder / LOG).open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - _LAST_BYTES))
        lines = [line for each in log.read().decode("utf-8", "replace").splitlines() if (line := printable(each))]
    return ": ".join(filter(None, [", ".join(said), lines[-1][:_LAST_LINE] if lines else "its log is empty"]))


def finished_run(folder: Path) -> FinishedRun:
    """Read the `run.json` of a run, with the number of its folder."""
    found = msgspec.json.decode((folder / RUN_JSON).read_bytes(), type=FinishedRun)
    return replace(found, repeat=int(folder.name))


def finished_runs(case_folder: Path) -> list[FinishedRun]:
    """Return the finished runs of a case by number, without those whose `run.json` cannot be read."""
    found = []
    for path in case_folder.glob(f"*/{RUN_JSON}"):
        with suppress(OSError, ValueError, RecursionError):
            found.append(finished_run(path.parent))
    return sorted(found, key=lambda run: run.repeat)


def comparable_runs(case_folder: Path, hardware: str, round: str) -> list[FinishedRun]:
    """Return the finished runs of a case on one hardware and in one round, which are repeats of each other."""
    return [each for each in finished_runs(case_folder) if (each.case.hardware, each.round) == (hardware, round)]


def next_repeat(case_folder: Path) -> int:
    """Return the next free number of a case; unfinished runs keep theirs, too."""
    try:
        taken = [int(path.name) for path in case_folder.iterdir() if path.name.isdecimal()]
    except (FileNotFoundError, NotADirectoryError):
        return 1
    return max(taken, default=0) + 1


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


def drift_between_nodes(environments: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each fact in which a node differs from node 0; facts unknown on one side are ignored."""
    first, *others = [_compared(environment) for environment in environments] or [{}]
    return [
        f"{words} is {value} on node {node} and {first[words]} on node 0"
        for node, there in enumerate(others, start=1)
        for words, value in there.items()
        if words in first and value != first[words]
    ]


def drift_between_repeats(environment: Mapping[str, Any], earlier: Sequence[FinishedRun]) -> list[str]:
    """Return a sentence for each fact that had another value in earlier repeats, one per earlier value."""
    return _differences(_compared(environment), [(run.repeat, _compared(run.environment)) for run in earlier])


def _differences(here: Mapping[str, str], earlier: Sequence[tuple[int, Mapping[str, str]]]) -> list[str]:
    repeats: dict[tuple[str, str], list[int]] = defaultdict(list)
    for repeat, there in earlier:
        for words, value in there.items():
            if words in here and value != here[words]:
                repeats[words, value].append(repeat)
    return [
        f"{words} is {here[words]}, and was {value} in repeat {', '.join(map(str, numbers))}"
        for (words, value), numbers in repeats.items()
    ]


def _compared(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts to compare, in words; the packages that the recipe names are compared one by one."""
    packages = environment.get("packages")
    named = packages.items() if isinstance(packages, Mapping) else ()
    facts = [(words, environment[key]) for key, words in COMPARED.items() if key in environment]
    return {words: str(value) for words, value in [*facts, *named]}
