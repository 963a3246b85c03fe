"""Puts the files of nodes where they stay: of the node whose log holds the figures on top, the others in folders."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from runners.errors import RunnerError
from runners.runs.arrived import Node, path_of
from runners.runs.files import digest


def below(node: Node, top: bool) -> str:
    """The folder of a node below the run's; the one whose log holds the figures has none of its own."""
    return "." if top else f"node{node.rank}"


def put(folder: Path, node: Node, top: bool) -> dict[str, dict[str, Any]]:
    """Puts a node's files where they stay; what is there from an earlier attempt is compared, never overwritten."""
    placed = {}
    for name, sha256 in node.files.items():
        target = folder / below(node, top) / name
        found = _copied(path_of(node, name), target, sha256)
        placed[target.relative_to(folder).as_posix()] = {"sha256": found, "bytes": target.stat().st_size}
    return placed


def _copied(source: Path, target: Path, sha256: str) -> str:
    """The SHA-256 of the target, which is the source's, and the one that the node stated."""
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
