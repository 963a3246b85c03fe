"""From what came home of each node to a finished run: files in their places, then `run.json`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners.errors import RunnerError
from runners.places import job
from runners.runs import arrived, finished, noted, records, trust
from runners.runs.arrived import Node
from runners.runs.files import json_of, write
from runners.runs.keeping import below, put
from runners.runs.launch_file import INCOMING, NAME
from runners.runs.public import without_places

RUN_JSON = finished.NAME


@dataclass(frozen=True)
class Lost:
    """Why nothing more will be heard of a node, and the outcome that this is."""

    cause: str
    outcome: str = "failed"


def collect(folder: Path, content: Mapping[str, Any], lost: Lost | None = None) -> str:
    """Finishes a run whose files are at home, and returns its outcome; may be called again after whatever broke it off.

    Args:
        folder: the run's.
        content: its `launch.json`, which the caller attends.
        lost: what the nodes came to that did not say how they ended.

    Raises RunnerError, and leaves the run unfinished, where a node has not said how it ended and `lost` is None, and
    where files are missing, changed on the way or find no room.
    """
    if not (folder / RUN_JSON).exists():
        write(folder / RUN_JSON, json_of(_run(folder, content, lost)))
    outcome = json.loads((folder / RUN_JSON).read_text(encoding="utf-8"))["outcome"]
    _clear(folder)
    return str(outcome)


def warnings(folder: Path) -> list[str]:
    """What a finished run warns of."""
    return [str(each) for each in json.loads((folder / RUN_JSON).read_text(encoding="utf-8")).get("warnings", [])]


def _run(folder: Path, content: Mapping[str, Any], lost: Lost | None) -> dict[str, Any]:
    """The content of `run.json`, once all files are in their places."""
    plan, wanted = content["plan"], content["records"]
    started = job.from_json(content["job"], folder)
    nodes = _nodes(folder, started.nodes, lost)
    top = nodes[-1 if wanted["node"] == "last" and started.every_node else 0]
    files = {name: entry for node in nodes for name, entry in put(folder, node, node is top).items()}
    found = _records(folder / arrived.LOG)
    short, count = records.shortfall(found, wanted), found.get(wanted["format"], 0)
    outcome = _strongest(nodes, noted.failure(folder))
    hardware = str(top.ended.get("hardware") or _hardware(top.facts, started.gpus))
    run = {
        **plan,
        "case": {**plan["case"], "hardware": hardware},
        "environment": top.facts,
        **_stated(top, "start", "end", "wall_seconds"),
        **_status(nodes, outcome),
        "outcome": "short" if outcome == "completed" and short else outcome,
        "source": _source(plan.get("source", {}), top.ended.get("source")),
        "records": {key: count if key == "count" else wanted[key] for key in ("format", "count", "at_least")},
        "warnings": [
            *[without_places(text, started.hosts) for text in [*noted.warnings(folder), *_losses(nodes, lost)]],
            *([short] if short else []),
            *trust.between_nodes([node.facts for node in nodes]),
            *trust.between_repeats(top.facts, finished.alike(folder.parent, hardware, plan.get("round", ""))),
        ],
        "nodes": [_ending(node, node is top) for node in nodes] if len(nodes) > 1 else [],
        "files": files,
    }
    return {key: value for key, value in run.items() if value or key not in ("source", "warnings", "nodes")}


def _nodes(folder: Path, count: int, lost: Lost | None) -> list[Node]:
    otherwise = lost.outcome if lost else "failed"
    nodes = [arrived.read(folder / INCOMING / f"node{rank}", rank, otherwise) for rank in range(count)]
    silent = [node.rank for node in nodes if not node.ended]
    if silent and lost is None:
        raise RunnerError(
            f"{folder}: node {silent[0]} has not said how it ended; collect the run later, or give it up with --abandon"
        )
    return nodes


def _losses(nodes: Sequence[Node], lost: Lost | None) -> list[str]:
    return [f"node {node.rank} was lost: {lost.cause}" for node in nodes if lost and not node.ended]


def _strongest(nodes: Sequence[Node], failed: bool) -> str:
    outcomes = [node.outcome for node in nodes]
    caused = [outcome for outcome in outcomes if outcome not in ("stopped", "completed")] if failed else []
    return min(caused or outcomes, key=arrived.OUTCOMES.index)


def _records(log: Path) -> dict[str, int]:
    return records.count(log) if log.is_file() and log.stat().st_size else {}


def _hardware(facts: Mapping[str, Any], gpus: bool) -> str:
    """The hardware of a node that was lost before it named it, in the words in which nodes do."""
    if gpus:
        return str(facts.get("gpu", "unknown"))
    named = [str(facts["cpu"])] if "cpu" in facts else []
    return ", ".join([*named, f"{facts['cores']} cores (CPU)"]) if "cores" in facts else "unknown"


def _status(nodes: Sequence[Node], outcome: str) -> dict[str, Any]:
    """The exit status of the first node that ended as the whole run did, where it is known."""
    return _stated(next(node for node in nodes if node.outcome == outcome), "exit_status")


def _ending(node: Node, top: bool) -> dict[str, Any]:
    return {"folder": below(node, top), "outcome": node.outcome, **_stated(node, "exit_status")}


def _stated(node: Node, *keys: str) -> dict[str, Any]:
    """What a node said of its end, as far as it did."""
    return {key: node.ended[key] for key in keys if key in node.ended}


def _source(planned: Mapping[str, Any], found: object) -> dict[str, Any]:
    """What was run: the commit found where it ran outweighs the one that the recipe wants."""
    there = dict(found) if isinstance(found, Mapping) else {}
    source = {**planned, **{key: value for key, value in there.items() if key in ("commit", "modified") and value}}
    return source if source.get("repository") and source.get("commit") else {}


def _clear(folder: Path) -> None:
    """Drops what only an unfinished run needs, `launch.json` last."""
    try:
        if (folder / INCOMING).exists():
            shutil.rmtree(folder / INCOMING)
        (folder / NAME).unlink(missing_ok=True)
    except OSError as error:
        raise RunnerError(
            f"{folder}: the run is finished, but {error.filename or INCOMING} cannot be removed: {error.strerror}"
        ) from error
