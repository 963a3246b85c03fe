"""Pages and charts after 1, 10 and 100 changed logs, with 200 and with 400 logs in the tree.

The cost should follow what changed, not what exists. The logs are copies of one of our own with other speeds: made up,
good for measuring time and for nothing else.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

from bench.measure import Row, child
from bench.scan import LOG

SIZES = (200, 400)
CHANGED = (1, 10, 100)

INGEST = """
import contextlib, io
from ingest.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    code = main([sys.argv[1], "--out", sys.argv[2]])
assert code < 2, code
"""


def rows(folder: Path, gib: float) -> list[Row]:
    """Measure each size with each number of changed logs, against an unchanged call on the tree of that size."""
    found = []
    for size in SIZES:
        tree, out = folder / f"tree{size}", folder / f"docs{size}"
        for number in range(size):
            _log(tree, number, factor=1.0)
        cold = child(INGEST, str(tree), str(out))
        nothing = child(INGEST, str(tree), str(out))
        found.append(Row(f"{size} logs, all new", cold.wall, f"{size} logs, none changed", nothing.wall, "", cold.peak))
        for changed in CHANGED:
            for number in range(changed):
                _log(tree, number, factor=1.0 + changed / 1000)
            used = child(INGEST, str(tree), str(out))
            found.append(
                Row(
                    f"{size} logs, {changed} changed",
                    used.wall,
                    f"{size} logs, none changed",
                    nothing.wall,
                    "",
                    used.peak,
                )
            )
        shutil.rmtree(tree)
        shutil.rmtree(out)
    return found


def _log(tree: Path, number: int, factor: float) -> None:
    """Return log `number` of the tree: cases of five repeats, each repeat with its own speeds."""
    case, repeat = divmod(number, 5)
    put(tree, sorted(LOG.glob("*static*/1"))[0], case, repeat, number, factor, options={"case": case})


def put(tree: Path, source: Path, case: int, repeat: int, number: int, factor: float = 1.0, **facts: Any) -> None:
    """Make a run from another one: its log with other speeds, and its `run.json` with other facts of the case."""
    folder = tree / "bench" / "made-up" / f"case{case}" / str(repeat + 1)
    folder.mkdir(parents=True, exist_ok=True)
    shift = factor * random.Random(number).uniform(0.9, 1.1)
    log = _scaled((source / "train.log").read_bytes(), shift)
    (folder / "train.log").write_bytes(log + b"made up: log %d\n" % number)
    run = json.loads((source / "run.json").read_text("utf-8"))
    run["case"] |= facts | {"options": run["case"].get("options", {}) | facts.get("options", {})}
    run["repeat"] = repeat + 1
    run["files"] = {"train.log": {}}
    (folder / "run.json").write_text(json.dumps(run), "utf-8")


def _scaled(log: bytes, by: float) -> bytes:
    """Return the log with all speeds times `by`, and seconds to match."""
    faster = re.sub(rb"(?<=ips: )[0-9.]+", lambda each: b"%.5f" % (float(each[0]) * by), log)
    return re.sub(rb"(?<=batch_cost: )[0-9.]+", lambda each: b"%.5f" % (float(each[0]) / by), faster)
