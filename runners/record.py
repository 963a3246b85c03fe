"""The record of a run: `run.json`, made of what was planned and what its nodes wrote, and what earlier runs say.

The files of a node lie in `incoming/node<k>` of the run's folder until the run is finished. What a node says of itself
is not trusted: paths are checked, and files held to their hashes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct, field

from runners.errors import RunnerError
from runners.job import PlannedRecord, WantedRecords

T = TypeVar("T")
RUN_JSON = "run.json"
HOST_JSON = "host.json"
LOG, ENVIRONMENT = "train.log", "environment.json"
#: Where the nodes' files are until the run is finished.
INCOMING = "incoming"
#: Of a job; it names folders and containers.
IDENTITY = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
#: The files of a node that are kept; whatever else a host sends is not. The trap: Paddle's launcher writes the whole
#: environment of the user beside its logs, which a node that was lost could not clear away.
KEPT = re.compile(
    r"train\.log|telemetry\.csv|environment\.json|ranks/paddle/(?:worker|server|trainer)log\.[0-9]+|"
    r"ranks(?!/paddle/)(?:/(?!\.)[\w.+=,@:-]{1,200}){1,8}",
    re.ASCII,
)
Outcome = Literal["stopped", "timeout", "oom", "failed", "completed"]
#: Strongest first: the one that says most of a run whose nodes ended differently.
OUTCOMES: Sequence[Outcome] = ("stopped", "timeout", "oom", "failed", "completed")
#: Outcomes after which a run need not be made again: its figure, or that the memory does not suffice, is known.
SETTLED_OUTCOMES = ("completed", "oom")
ROOT = Path(__file__).resolve().parents[1]


# --- Files ------------------------------------------------------------------------------------------------------------


def write(path: Path, text: str) -> None:
    """Put text under a name at once, on the disk before it bears that name.

    Raises:
        RunnerError: it cannot be written; what was there before is then still there.
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


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def readable_json(run: Mapping[str, object]) -> str:
    """Return JSON for people and for `diff`: a line per key, and per member of an object that a key holds."""
    return "{\n" + ",\n".join(f" {_json(key)}: {_members(value)}" for key, value in run.items()) + "\n}\n"


def _members(value: object) -> str:
    if not isinstance(value, Mapping) or not value:
        return _json(value)
    return "{\n" + ",\n".join(f"  {_json(key)}: {_json(each)}" for key, each in value.items()) + "\n }"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# --- What a node said of itself ---------------------------------------------------------------------------------------


class FileRecord(Struct, frozen=True):
    """Hash and size of a file, as its node wrote them down."""

    sha256: str
    bytes: int


class HostRecord(Struct, frozen=True):
    """`host.json`: how a node ended. It is the last file that a node writes."""

    schema: Literal["perfledger.host/1"]
    outcome: Outcome
    files: dict[str, FileRecord]
    start: str | None = None
    end: str | None = None
    wall_seconds: float | None = None
    exit_status: int | None = None
    hardware: str = ""
    source: dict[str, str | bool] = {}


class _Environment(Struct, frozen=True):
    facts: dict[str, Any] = {}


class Lost(Struct, frozen=True):
    """Why nothing more will be heard of a node, and the outcome that this is."""

    cause: str
    outcome: Outcome = "failed"


class NodeResult(Struct, frozen=True):
    """One node of a run: `host` is None where it was lost before it wrote how it ended."""

    rank: int
    folder: Path
    outcome: Outcome
    host: HostRecord | None
    facts: Mapping[str, Any]

    def files(self) -> dict[str, str]:
        """Return the paths below `folder` that are kept, with the SHA-256 that the node stated, if it did."""
        if self.host:
            return {name: entry.sha256 for name, entry in self.host.files.items() if KEPT.fullmatch(name)}
        below = [path.relative_to(self.folder).as_posix() for path in sorted(self.folder.rglob("*")) if path.is_file()]
        return {name: "" for name in below if KEPT.fullmatch(name) and not (self.folder / name).is_symlink()}

    def where(self, top: bool) -> str:
        """Return the subfolder of the run for its files; `.` for the node whose log is used."""
        return "." if top else f"node{self.rank}"

    def ending(self, top: bool) -> dict[str, Any]:
        """Return its entry in `nodes` of `run.json`."""
        status = {} if not self.host or self.host.exit_status is None else {"exit_status": self.host.exit_status}
        return {"folder": self.where(top), "outcome": self.outcome, **status}


def read_node(folder: Path, rank: int, otherwise: Outcome) -> NodeResult:
    """Return the node whose files lie in a folder; `otherwise` is its outcome where it has not said one itself.

    Raises:
        RunnerError: what it says cannot be read.
    """
    host = _decoded(folder / HOST_JSON, HostRecord)
    environment = _decoded(folder / ENVIRONMENT, _Environment)
    outcome = host.outcome if host else otherwise
    return NodeResult(rank, folder, outcome, host, environment.facts if environment else {})


def verify(folder: Path) -> None:
    """Hold every file of a node to the hash that its `host.json` states; without one, nothing is stated.

    Raises:
        RunnerError: a file is missing, or another than it was.
    """
    host = _decoded(folder / HOST_JSON, HostRecord)
    for name, stated in host.files.items() if host else ():
        path = folder / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            continue
        if not path.is_file() or path.is_symlink():
            raise RunnerError(f"{path}: it is missing, and {folder / HOST_JSON} says it was written; collect again")
        if (found := digest(path)) != stated.sha256:
            raise RunnerError(
                f"{path}: its SHA-256 is {found}, and {folder / HOST_JSON} says {stated.sha256}: it was changed or "
                "damaged since it was written; compare it with the one on the host"
            )


def _decoded(path: Path, kind: type[T]) -> T | None:
    """Return the content of a JSON file, None where there is none; a link is none, for it would name something else."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        raise RunnerError(f"{path}: it cannot be read: {error}; the run stays unfinished, its log beside it") from error


# --- What is noted before a run has ended -----------------------------------------------------------------------------

_WARNINGS, _FAILED = "warnings.json", "a_node_failed"


def note_warnings(folder: Path, found: Sequence[str]) -> None:
    """Keep what nodes warned of when the run started."""
    if found:
        write(folder / INCOMING / _WARNINGS, json.dumps(list(found)))


def pending_warnings(folder: Path) -> list[str]:
    """Return what nodes warned of, as long as the run is unfinished."""
    path = folder / INCOMING / _WARNINGS
    return msgspec.json.decode(path.read_bytes(), type=list[str]) if path.is_file() else []


def note_failure(folder: Path) -> None:
    """Keep that a node failed before the others are stopped, lest the run be taken for one that was stopped."""
    (folder / INCOMING).mkdir(exist_ok=True)
    write(folder / INCOMING / _FAILED, "")


# --- The finished run -------------------------------------------------------------------------------------------------


class Ending(Struct, frozen=True):
    """What a run needs to be finished: what was planned, its nodes, and the names of hosts that no record may hold."""

    plan: PlannedRecord
    wanted: WantedRecords
    nodes: int
    every_node: bool
    device: str
    hosts: tuple[str, ...] = ()


class _Outcome(Struct):
    outcome: str
    warnings: list[str] = []


def finish(folder: Path, ending: Ending, lost: Lost | None = None) -> str:
    """Put the files of a run in their places, write `run.json`, and return the outcome; may be called again.

    Args:
        folder: the run's; what its nodes wrote is in `incoming`.
        ending: the run.
        lost: what the nodes came to that did not say how they ended.

    Raises:
        RunnerError: a node has not said how it ended and `lost` is None, or files are missing, changed on the way or
            find no room. The run stays unfinished.
    """
    if not (folder / RUN_JSON).exists():
        write(folder / RUN_JSON, readable_json(_run(folder, ending, lost)))
    return _finished(folder).outcome


def warnings(folder: Path) -> list[str]:
    """Return what a finished run warns of."""
    return _finished(folder).warnings


def _finished(folder: Path) -> _Outcome:
    return msgspec.json.decode((folder / RUN_JSON).read_bytes(), type=_Outcome)


def _run(folder: Path, ending: Ending, lost: Lost | None) -> dict[str, Any]:
    """The content of `run.json`, once all files are in their places."""
    nodes = _nodes(folder, ending.nodes, lost)
    top = nodes[-1 if ending.wanted.node == "last" and ending.every_node else 0]
    files = {name: entry for node in nodes for name, entry in _place(folder, node, node is top).items()}
    found = _records(folder / LOG)
    short = shortfall(found, ending.wanted)
    outcome = _strongest(nodes, (folder / INCOMING / _FAILED).exists())
    plan = msgspec.to_builtins(ending.plan)
    hardware = (top.host.hardware if top.host else "") or _hardware(top.facts, ending.device)
    stated = msgspec.to_builtins(top.host) if top.host else {}
    status = next(node for node in nodes if node.outcome == outcome).ending(True)
    run = {
        **plan,
        "case": {**plan["case"], "hardware": hardware},
        "environment": top.facts,
        **{key: stated[key] for key in ("start", "end", "wall_seconds") if stated.get(key) is not None},
        **{key: status[key] for key in ("exit_status",) if key in status},
        "outcome": "short" if outcome == "completed" and short else outcome,
        "source": _source(plan.get("source", {}), top.host.source if top.host else {}),
        "records": {
            "format": ending.wanted.format,
            "count": found.get(ending.wanted.format, 0),
            "at_least": ending.wanted.at_least,
        },
        "warnings": [
            *[redact(text, ending.hosts) for text in [*pending_warnings(folder), *_losses(nodes, lost)]],
            *([short] if short else []),
            *drift_between_nodes([node.facts for node in nodes]),
            *drift_between_repeats(top.facts, comparable_runs(folder.parent, hardware, ending.plan.round)),
        ],
        "nodes": [node.ending(node is top) for node in nodes] if len(nodes) > 1 else [],
        "files": files,
    }
    return {key: value for key, value in run.items() if value or key not in ("source", "warnings", "nodes")}


def _nodes(folder: Path, count: int, lost: Lost | None) -> list[NodeResult]:
    otherwise = lost.outcome if lost else "failed"
    nodes = [read_node(folder / INCOMING / f"node{rank}", rank, otherwise) for rank in range(count)]
    silent = [node.rank for node in nodes if not node.host]
    if silent and lost is None:
        raise RunnerError(
            f"{folder}: node {silent[0]} has not said how it ended; collect the run later, or give it up with --abandon"
        )
    return nodes


def _losses(nodes: Sequence[NodeResult], lost: Lost | None) -> list[str]:
    return [f"node {node.rank} was lost: {lost.cause}" for node in nodes if lost and not node.host]


def _strongest(nodes: Sequence[NodeResult], failed: bool) -> Outcome:
    """The outcome of the run; where a node failed and the others were stopped for that reason alone, the failure."""
    outcomes = [node.outcome for node in nodes]
    caused = [outcome for outcome in outcomes if outcome not in ("stopped", "completed")] if failed else []
    return min(caused or outcomes, key=OUTCOMES.index)


def _hardware(facts: Mapping[str, Any], device: str) -> str:
    """The hardware of a node that was lost before it named it, in the words in which nodes do."""
    if device == "gpu":
        return str(facts.get("gpu", "unknown"))
    named = [str(facts["cpu"])] if "cpu" in facts else []
    return ", ".join([*named, f"{facts['cores']} cores (CPU)"]) if "cores" in facts else "unknown"


def _source(planned: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """What was run: the commit found where it ran outweighs the one that the recipe wants."""
    source = {**planned, **{key: value for key, value in found.items() if key in ("commit", "modified") and value}}
    return source if source.get("repository") and source.get("commit") else {}


def _place(folder: Path, node: NodeResult, top: bool) -> dict[str, dict[str, Any]]:
    """Put a node's files where they stay; what is there from an earlier attempt is compared, never overwritten."""
    placed = {}
    for name, sha256 in node.files().items():
        target = folder / node.where(top) / name
        found = _copied(_plain(node.folder, name), target, sha256)
        placed[target.relative_to(folder).as_posix()] = {"sha256": found, "bytes": target.stat().st_size}
    return placed


def _plain(folder: Path, name: str) -> Path:
    """A file of a node; not one behind a link, which would have another file published."""
    path = folder / name
    if path.resolve() != folder.resolve() / name or not path.is_file():
        raise RunnerError(f"{path}: there is no such file, or a link in its place; the run stays unfinished")
    return path


def _copied(source: Path, target: Path, sha256: str) -> str:
    """Copy a file and return its SHA-256, which is the one that the node stated, if it did."""
    partial = target.with_name(f".{target.name}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, partial)
        # On the disk before the source is dropped, and before `run.json` speaks of it.
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        found = digest(partial)
        if sha256 and found != sha256:
            raise RunnerError(f"{source}: it is not as its node left it (SHA-256); bring it home again")
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


#: Addresses of version 4; of version 6, that is three colons or two together. A time of day has two at most.
_ADDRESS = re.compile(
    r"\b\d{1,3}(?:\.\d{1,3}){3}\b|(?<!\w)[0-9a-fA-F]{0,4}(?:(?::[0-9a-fA-F]{0,4}){3,7}|::[0-9a-fA-F]{0,4})(?!\w)"
)
_PATH = re.compile(r"(?<![\w.])~?/[^\s,;:'\"`)]+")


def redact(text: str, hosts: Sequence[str]) -> str:
    """Return a message with hosts called by number, and addresses and absolute paths hidden.

    `hosts` are in order of rank, as their user names them: `name`, or `user@name`.
    """
    names = {name: f"node {rank}" for rank, host in enumerate(hosts) for name in (host, host.rpartition("@")[2])}
    # The longest first: one name may begin another.
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", names[name], text)
    return _PATH.sub("…", _ADDRESS.sub("…", text))


# --- How many records a log holds -------------------------------------------------------------------------------------


class _Reason(Struct):
    code: str = ""
    args: dict[str, Any] = {}


class _Figure(Struct):
    reason: _Reason = field(default_factory=_Reason)


class _Ingested(Struct):
    """A run as `python -m ingest --json` prints it."""

    format: str | None
    observations: int
    figures: dict[str, _Figure]

    def usable(self) -> int:
        """Return records without those that give no positive finite figure, such as an epoch printed as of 0 s."""
        reason = self.figures["sustained"].reason
        return self.observations - (int(reason.args["count"]) if reason.code == "impossible_figure" else 0)


def count_records(log: Path) -> dict[str, int]:
    """Return the usable records of a log by the format that claims them, as `ingest` alone can tell; empty without one.

    Raises:
        RunnerError: `ingest` cannot be asked.
    """
    # In a folder of its own: what lies beside a log, unfinished as it is, would speak for it.
    with tempfile.TemporaryDirectory(prefix="perfledger.") as folder:
        alone = Path(folder) / log.name
        alone.symlink_to(log.resolve())
        runs = [msgspec.json.decode(line, type=_Ingested) for line in _ingest(alone)]
    found: Counter[str] = Counter()
    for run in runs:
        if run.format:
            found[run.format] += run.usable()
    return dict(found)


def check_ingest() -> None:
    """Ask `ingest` for an empty log: better to fail before hours of training than after.

    Raises:
        RunnerError: it cannot be asked.
    """
    with tempfile.NamedTemporaryFile(prefix="perfledger.", suffix=".log") as log:
        count_records(Path(log.name))


def shortfall(found: Mapping[str, int], wanted: WantedRecords) -> str:
    """Return why the records of a log are not what a recipe asks for; empty where they are."""
    if wanted.format in found:
        count = found[wanted.format]
        return (
            ""
            if count >= wanted.at_least
            else f"the log holds {count} records, and the recipe asks for {wanted.at_least}"
        )
    others = f"it is in {', '.join(sorted(found))}" if found else "no format knows it"
    return f"the log is not in the recipe's format {wanted.format}: {others}"


def _records(log: Path) -> dict[str, int]:
    return count_records(log) if log.is_file() and log.stat().st_size else {}


def _ingest(log: Path) -> list[str]:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "ingest", "--json", log.name],
        cwd=log.parent,
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # Ctrl-C is ours to answer
    )
    # The trap: status 1 is that of a log which is not understood, and of a Python that lacks a package. But every log
    # that is read has its line.
    if done.returncode not in (0, 1) or not done.stdout:
        cause = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise RunnerError(
            f"the records of a log cannot be counted, for `python -m ingest` fails: {cause} "
            "(once it does not, `python -m runners collect` finishes what is unfinished)"
        )
    return done.stdout.splitlines()


# --- Earlier runs, and what differs from them -------------------------------------------------------------------------


class FinishedRun(Struct, frozen=True):
    """What a later run asks of an earlier one; a number of seconds that is not known is 0."""

    repeat: int
    outcome: str
    hardware: str
    round: str
    wall_seconds: float
    environment: Mapping[str, Any]


class _FinishedCase(Struct):
    hardware: str


class _FinishedFile(Struct):
    outcome: str
    case: _FinishedCase
    round: str = ""
    wall_seconds: float = 0
    environment: dict[str, Any] = {}


def finished_runs(case_folder: Path) -> list[FinishedRun]:
    """Return the finished runs below a case's folder, by number; a `run.json` that cannot be read counts for none."""
    folders = [path.parent for path in case_folder.glob(f"*/{RUN_JSON}") if path.parent.name.isdecimal()]
    read = (_read(folder) for folder in sorted(folders, key=lambda folder: int(folder.name)))
    return [finished for finished in read if finished]


def comparable_runs(case_folder: Path, hardware: str, round: str) -> list[FinishedRun]:
    """Return those that are repeats of each other: of one hardware and one round."""
    return [each for each in finished_runs(case_folder) if (each.hardware, each.round) == (hardware, round)]


def next_repeat(case_folder: Path) -> int:
    """Return one more than the highest number in a case's folder; an unfinished run keeps its number too."""
    try:
        taken = [int(path.name) for path in case_folder.iterdir() if path.name.isdecimal()]
    except (FileNotFoundError, NotADirectoryError):
        return 1
    return max(taken, default=0) + 1


def _read(folder: Path) -> FinishedRun | None:
    try:
        run = msgspec.json.decode((folder / RUN_JSON).read_bytes(), type=_FinishedFile)
    except (OSError, msgspec.MsgspecError, RecursionError):
        return None
    return FinishedRun(int(folder.name), run.outcome, run.case.hardware, run.round, run.wall_seconds, run.environment)


#: Facts of an environment that move a figure, in words. Of clocks the limits and settings, not that of a moment.
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
    "container_digest": "the container's digest",
    "cpu": "the CPU",
    "cores": "the number of cores",
    "cpu_governor": "the CPU's governor",
    "python": "Python",
}


def drift_between_nodes(environments: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence per fact in which a node differs from the first; a fact that one does not know is none."""
    first, *others = [_compared(environment) for environment in environments] or [{}]
    return [
        f"{words} is {value} on node {node} and {first[words]} on node 0"
        for node, there in enumerate(others, start=1)
        for words, value in there.items()
        if words in first and value != first[words]
    ]


def drift_between_repeats(environment: Mapping[str, Any], earlier: Sequence[FinishedRun]) -> list[str]:
    """Return a sentence per fact and value that earlier repeats of the same case, hardware and round had otherwise."""
    here = _compared(environment)
    repeats: dict[tuple[str, str], list[int]] = defaultdict(list)
    for run in earlier:
        for words, value in _compared(run.environment).items():
            if words in here and value != here[words]:
                repeats[words, value].append(run.repeat)
    return [
        f"{words} is {here[words]}, and was {value} in repeat {', '.join(map(str, numbers))}"
        for (words, value), numbers in repeats.items()
    ]


def _compared(environment: Mapping[str, Any]) -> dict[str, str]:
    """What is compared, by its words; the packages, which a recipe names because they train, one by one."""
    packages = environment.get("packages")
    named = packages.items() if isinstance(packages, Mapping) else ()
    facts = [(words, environment[key]) for key, words in COMPARED.items() if key in environment]
    return {words: str(value) for words, value in [*facts, *named]}
