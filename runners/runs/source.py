"""The version of a recipe's own files, from git, where there is one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path


def commit(files: Iterable[Path]) -> str:
    """The commit that holds these files as they are; empty without git or files, and where one was changed since."""
    paths = [str(path.resolve()) for path in files]
    if not paths or _git(paths[0], "status", "--porcelain", "--", *paths) != "":
        return ""
    return _git(paths[0], "rev-parse", "HEAD") or ""


def _git(beside: str, *words: str) -> str | None:
    """What git prints, without white space around it; None where it fails."""
    try:
        answer = subprocess.run(["git", *words], cwd=Path(beside).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()
