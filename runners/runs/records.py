"""How many records came out of a log: asked of `python -m ingest`, which alone knows how to read one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runners.errors import RunnerError

ROOT = Path(__file__).resolve().parents[2]


def count(log: Path) -> dict[str, int]:
    """Usable records of the main metric by the format that claims a session of the log; empty where none does.

    Raises RunnerError where `ingest` cannot be asked.
    """
    # In a folder of its own: what lies beside a log, unfinished as it is, would speak for it.
    with tempfile.TemporaryDirectory(prefix="perfledger.") as folder:
        alone = Path(folder) / log.name
        alone.symlink_to(log.resolve())
        lines = _ingested(alone)
    found: Counter[str] = Counter()
    for run in map(json.loads, lines):
        if run["format"]:
            found[run["format"]] += _usable(run)
    return dict(found)


def _usable(run: Mapping[str, Any]) -> int:
    """Records without those whose figure is no positive finite number, such as an epoch printed as of no seconds."""
    reason = run["figures"]["sustained"].get("reason", {})
    impossible = reason["args"]["count"] if reason.get("code") == "impossible_figure" else 0
    return int(run["observations"]) - int(impossible)


def check() -> None:
    """Raises RunnerError where `ingest` cannot be asked: better said before hours of training than after."""
    with tempfile.NamedTemporaryFile(prefix="perfledger.", suffix=".log") as log:
        count(Path(log.name))


def shortfall(found: Mapping[str, int], wanted: Mapping[str, Any]) -> str:
    """Why records of a log are not what a recipe asks for; empty where they are.

    Args:
        found: as `count` gives them.
        wanted: `format`, and the number `at_least`.
    """
    name, least = wanted["format"], wanted["at_least"]
    if name in found:
        return "" if found[name] >= least else f"the log holds {found[name]} records, and the recipe asks for {least}"
    others = f"it is in {', '.join(sorted(found))}" if found else "no format knows it"
    return f"the log is not in the recipe's format {name}: {others}"


def _ingested(log: Path) -> list[str]:
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
