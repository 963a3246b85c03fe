"""Runs whose files arrived, without the nodes that wrote them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from perfledger.runners import recipes
from perfledger.runners.cases import select_cases
from perfledger.runners.command import plan_run
from perfledger.runners.folders import LAUNCH_JSON, Launch, next_repeat, open_launch, planned_launch
from perfledger.runners.settings import Settings
from perfledger.runners.ssh import Ssh
from perfledger.runners.transport import Local

LINE = (
    "DLL 2026-11-20 11:54:58.903454 - Epoch: 0 Iteration: {step}  train.loss : 7.00000 None "
    "train.compute_ips : 100.00 images/s train.total_ips : 100.00 images/s\n"
)
FACTS = {"cpu": "A CPU", "cores": 4, "kernel": "6.1"}


def begun(
    path: Path,
    tmp_path: Path,
    nodes: int = 1,
    every_node: bool = True,
    choices: Mapping[str, str] | None = None,
    settings: Settings | None = None,
) -> Path:
    """Make the folder of a run of the tiny recipe that was started on `nodes` nodes, before any of its files arrive."""
    chosen = recipes.load(path)
    wanted = {"nodes": str(nodes), "devices": str(nodes), **(choices or {})}
    run = plan_run(chosen, select_cases(chosen, wanted)[0], tmp_path / "raw", settings)
    number = next_repeat(run.folder.parent)
    planned = replace(run.record, repeat=number)
    run = replace(run, folder=run.folder.parent / str(number), record=planned)
    target = Ssh(tuple(f"host{rank}.invalid" for rank in range(nodes))) if nodes > 1 else Local()
    launch = planned_launch(target, run)
    launch = replace(launch, job=replace(launch.job, every_node=every_node))
    run.folder.mkdir(parents=True)
    (run.folder / LAUNCH_JSON).write_bytes(msgspec.json.encode(launch))
    return run.folder


def arrive(folder: Path, rank: int, outcome: str = "completed", log: str = LINE.format(step=1), **more: Any) -> Path:
    """Put the files of a node that ended into the folder of a run; `more` goes into its `host.json`."""
    node = lost(folder, rank, log, more.pop("facts", FACTS))
    host = {
        "schema": "perfledger.host/1", "start": "2026-11-20T10:00:00Z",
        "end": "2026-11-20T10:01:00Z", "wall_seconds": 60.5, "exit_status": 0 if outcome == "completed" else 1,
        "outcome": outcome, "hardware": "A CPU, 4 cores (CPU)", "files": stated(node), **more,
    }  # fmt: skip
    (node / "host.json").write_text(json.dumps(host), encoding="utf-8")
    return node


def lost(folder: Path, rank: int, log: str = LINE.format(step=1), facts: Mapping[str, Any] | None = None) -> Path:
    """Put the files of a node into the folder of a run, without `host.json`, which says how it ended."""
    node = folder / "incoming" / f"node{rank}"
    node.mkdir(parents=True)
    (node / "train.log").write_text(log, encoding="utf-8")
    environment = {"schema": "perfledger.environment/1", "facts": FACTS if facts is None else facts}
    (node / "environment.json").write_text(json.dumps(environment), encoding="utf-8")
    (node / "agent.py").write_text("# what ran", encoding="utf-8")
    return node


def stated(node: Path, names: Sequence[str] = ("train.log", "environment.json")) -> dict[str, dict[str, Any]]:
    """Return what a node states of its files."""
    return {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for name in names
        for content in [(node / name).read_bytes()]
    }


def launched(folder: Path) -> Launch:
    """Return the `launch.json` of a run."""
    with open_launch(folder) as content:
        return content
