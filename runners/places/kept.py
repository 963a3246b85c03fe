"""A job as `launch.json` keeps it; what is read from there is not trusted, for a tree of logs may be another's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runners.errors import RunnerError
from runners.places.place import HOST, PARTITION, Place
from runners.places.placed import Job

KINDS = {int: ("nodes", "devices_per_node", "timeout_seconds"), bool: ("every_node", "gpus"), str: ("identity",)}
# It names folders and containers.
IDENTITY = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)


def as_json(job: Job) -> dict[str, Any]:
    """All but the folder, for `launch.json`."""
    place = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(job.place).items()}
    return {**{name: value for name, value in vars(job).items() if name not in ("place", "folder")}, "place": place}


def from_json(data: Mapping[str, Any], folder: Path) -> Job:
    """The job that `as_json` wrote down; raises RunnerError where it is not one."""
    try:
        values = data["place"].items()
        place: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values}
        found = Job(**{**data, "place": Place(**place), "folder": folder})
        fault = "" if _fits(found) and _leads_somewhere(found) else "a value in it is none of a job"
    except (TypeError, KeyError, AttributeError) as error:
        fault = str(error)
    if fault:
        raise RunnerError(f"{folder}: its launch.json names no job: {fault}; it was not written by this version")
    return found


def _fits(job: Job) -> bool:
    right = all(type(getattr(job, name)) is kind for kind, names in KINDS.items() for name in names)
    return right and job.nodes > 0 and bool(IDENTITY.fullmatch(job.identity))


def _leads_somewhere(job: Job) -> bool:
    """Whether the place is one that `--on` can name."""
    place = job.place
    texts = all(isinstance(text, str) for text in (*place.hosts, place.partition, place.ssh_config, *place.sbatch))
    # The trap: a configuration of ssh can name programs, and a relative path one that came with the logs.
    own = texts and (not place.ssh_config or Path(place.ssh_config).is_absolute())
    return own and {
        "local": job.nodes == 1,
        "ssh": len(place.hosts) >= job.nodes and all(map(HOST.fullmatch, place.hosts)),
        "slurm": not place.partition or bool(PARTITION.fullmatch(place.partition)),
    }.get(place.kind, False)
