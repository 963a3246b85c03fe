"""Runs of several nodes as they come home, without the nodes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from runners.cases import recipe
from runners.cases.case import choose
from runners.command.script import Settings
from runners.places import job
from runners.places.place import Place
from runners.runs import launch_file
from runners.runs.beforehand import plan
from runners.runs.plan import order

LINE = (
    "DLL 2026-11-20 11:54:58.903454 - Epoch: 0 Iteration: {step}  train.loss : 7.00000 None "
    "train.compute_ips : 100.00 images/s train.total_ips : 100.00 images/s\n"
)
FACTS = {"cpu": "A CPU", "cores": 4, "kernel": "6.1"}


def begun(
    path: Path, tmp_path: Path, nodes: int = 1, every_node: bool = True, choices: Mapping[str, str] | None = None
) -> Path:
    """The folder of a run of the tiny recipe that was started on so many nodes, and of which nothing came yet."""
    chosen = recipe.load(path)
    wanted = {"nodes": str(nodes), "devices": str(nodes), **(choices or {})}
    run = order(chosen, choose(chosen, wanted), 1, tmp_path / "raw")[0]
    place = Place("ssh", hosts=tuple(f"host{rank}.invalid" for rank in range(nodes))) if nodes > 1 else Place("local")
    started = replace(job.prepare(place, run), every_node=every_node)
    run.folder.mkdir(parents=True)
    document = launch_file.document(job.as_json(started), plan(run, Settings(), ""), chosen.records)
    (run.folder / launch_file.NAME).write_text(json.dumps(document), encoding="utf-8")
    return run.folder


def arrive(folder: Path, rank: int, outcome: str = "completed", log: str = LINE.format(step=1), **more: Any) -> Path:
    """A node of it that came home, its log and environment with it; `more` goes into its `host.json`."""
    node = lost(folder, rank, log, more.pop("facts", FACTS))
    host = {
        "schema": "perfledger.host/1", "node_rank": rank, "start": "2026-11-20T10:00:00Z",
        "end": "2026-11-20T10:01:00Z", "wall_seconds": 60.5, "exit_status": 0 if outcome == "completed" else 1,
        "outcome": outcome, "hardware": "A CPU, 4 cores (CPU)", "files": stated(node), **more,
    }  # fmt: skip
    (node / "host.json").write_text(json.dumps(host), encoding="utf-8")
    return node


def lost(folder: Path, rank: int, log: str = LINE.format(step=1), facts: Mapping[str, Any] | None = None) -> Path:
    """A node of which only files came, and no word on how it ended."""
    node = folder / "incoming" / f"node{rank}"
    node.mkdir(parents=True)
    (node / "train.log").write_text(log, encoding="utf-8")
    environment = {"schema": "perfledger.environment/1", "facts": FACTS if facts is None else facts}
    (node / "environment.json").write_text(json.dumps(environment), encoding="utf-8")
    (node / "script.sh").write_text("# what ran", encoding="utf-8")
    return node


def stated(node: Path, names: Sequence[str] = ("train.log", "environment.json")) -> dict[str, dict[str, Any]]:
    """What a node says of its files."""
    return {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for name in names
        for content in [(node / name).read_bytes()]
    }


def document(folder: Path) -> dict[str, Any]:
    """Its `launch.json`."""
    with launch_file.attended(folder) as content:
        return content
