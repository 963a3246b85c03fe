"""Finished runs, as their `run.json` tells of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "run.json"
#: Outcomes after which a run need not be made again: its figure, or that the memory does not suffice, is known.
SETTLED = ("completed", "oom")


@dataclass(frozen=True)
class Finished:
    """What a later run asks of an earlier one; a number of seconds that is not known is 0."""

    repeat: int
    outcome: str
    hardware: str
    round: str
    wall_seconds: float
    environment: Mapping[str, Any]


def runs(case_folder: Path) -> list[Finished]:
    """The finished runs below a case's folder, by number; a `run.json` that cannot be read counts for none."""
    folders = [path.parent for path in case_folder.glob(f"*/{NAME}") if path.parent.name.isdecimal()]
    read = (_read(folder) for folder in sorted(folders, key=lambda folder: int(folder.name)))
    return [finished for finished in read if finished]


def alike(case_folder: Path, hardware: str, round: str) -> list[Finished]:
    """Those that are repeats of each other: of one hardware and one round."""
    return [each for each in runs(case_folder) if (each.hardware, each.round) == (hardware, round)]


def _read(folder: Path) -> Finished | None:
    try:
        data = json.loads((folder / NAME).read_text(encoding="utf-8"))
        return Finished(
            repeat=int(folder.name),
            outcome=str(data["outcome"]),
            hardware=str(data["case"]["hardware"]),
            round=str(data.get("round", "")),
            wall_seconds=float(data.get("wall_seconds", 0)),
            environment=dict(data.get("environment", {})),
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
