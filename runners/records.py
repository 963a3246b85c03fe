"""How many records came out of a log: asked of `python -m ingest`, which alone knows how to read one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from runners.errors import RunnerError

ROOT = Path(__file__).resolve().parent.parent


def count(log: Path) -> dict[str, int]:
    """Records of the main metric by the format that claims a session of the log; empty where none does.

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
            found[run["format"]] += int(run["observations"])
    return dict(found)


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
    if done.returncode not in (0, 1):
        cause = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise RunnerError(
            f"the records of a log cannot be counted, for `python -m ingest` fails: {cause}; "
            "install what requirements/site.txt lists, then `python -m runners collect`"
        )
    return done.stdout.splitlines()
