"""What came home of one node: its files, checked against what the node said of them, and that itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners.errors import RunnerError

HOST_JSON = "host.json"
SCHEMA = "perfledger.host/1"
LOG, ENVIRONMENT = "train.log", "environment.json"
#: The files of a node that are kept; whatever else a host sends is not. The trap: Paddle's launcher writes the whole
#: environment of the user beside its logs, which a node that was lost could not clear away (`keep_logs` of the host).
KEPT = re.compile(
    r"train\.log|telemetry\.csv|environment\.json|ranks/paddle/(?:worker|server|trainer)log\.[0-9]+|"
    r"ranks(?!/paddle/)(?:/(?!\.)[\w.+=,@:-]{1,200}){1,8}",
    re.ASCII,
)
#: Strongest first: the one that says most of a run whose nodes ended differently.
OUTCOMES = ("stopped", "timeout", "oom", "failed", "completed")


@dataclass(frozen=True)
class Node:
    """One node of a run.

    `ended` is its `host.json`, empty where the node was lost before it wrote one; `facts` are those of its environment.
    `files` are paths below `folder` with the SHA-256 that each must have, empty where nobody has said it.
    """

    rank: int
    folder: Path
    outcome: str
    ended: Mapping[str, Any]
    facts: Mapping[str, Any]
    files: Mapping[str, str]


def read(folder: Path, rank: int, otherwise: str) -> Node:
    """The node whose files lie in a folder; `otherwise` is its outcome where it has not said one itself.

    Raises RunnerError where what it says cannot be read.
    """
    ended = _ended(folder / HOST_JSON)
    files = _stated(ended) if ended else dict.fromkeys(_present(folder), "")
    facts = (_object(folder / ENVIRONMENT) or {}).get("facts")
    outcome = str(ended.get("outcome", otherwise))
    return Node(rank, folder, outcome, ended, facts if isinstance(facts, dict) else {}, files)


def path_of(node: Node, name: str) -> Path:
    """A file of a node; raises RunnerError for a missing one, and for a link: it would have another file published."""
    path = node.folder / name
    if path.resolve() != node.folder.resolve() / name or not path.is_file():
        raise RunnerError(f"{path}: there is no such file, or a link in its place; the run stays unfinished")
    return path


def _ended(path: Path) -> dict[str, Any]:
    data = _object(path)
    if data is None:
        return {}
    fits = data.get("schema") == SCHEMA and data.get("outcome") in OUTCOMES and isinstance(data.get("files"), dict)
    if not fits or not all(isinstance(entry, dict) for entry in data["files"].values()):
        raise RunnerError(f"{path}: it is no {SCHEMA}; the run stays unfinished, and its log is beside it")
    return data


def _object(path: Path) -> dict[str, Any] | None:
    """A JSON object, None where there is no file; a link is none, for it would speak of something else."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RunnerError(f"{path}: it cannot be read: {error}; the run stays unfinished") from error
    return data if isinstance(data, dict) else {}


def _stated(ended: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(entry.get("sha256", "")) for name, entry in ended["files"].items() if KEPT.fullmatch(name)}


def _present(folder: Path) -> list[str]:
    """What a lost node left, as far as it came."""
    below = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
    return [name for name in below if KEPT.fullmatch(name) and not (folder / name).is_symlink()]
