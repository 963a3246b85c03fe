"""What the site costs as logs are added and changed, in processor seconds.

The logs are copies of our own with other speeds, on machines of other names: good for measuring time and for nothing
else.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import random
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.measure import Row, Used, child

_ROOT = Path(__file__).resolve().parents[1]
_REPEATS = 5
_HARDWARE = ("Made-up accelerator 1", "Made-up accelerator 2", "Made-up accelerator 3")


def changes(folder: Path, sizes: Sequence[int] = (200, 400), changed: Sequence[int] = (1, 10, 100)) -> list[Row]:
    """Compare a build after some logs changed with one after none did; the cost should follow what changed."""
    rows = []
    for size in sizes:
        logs, out = folder / f"tree{size}", folder / f"docs{size}"
        write_logs(logs, range(size))
        cold, warm = (child(_ingest, logs, out) for _ in range(2))
        base = f"{size} logs, none changed", warm
        rows.append(Row.of(f"{size} logs, all new", cold, *base))
        for count in changed:
            write_logs(logs, range(count), factor=1 + count / 1000)
            rows.append(Row.of(f"{size} logs, {count} changed", child(_ingest, logs, out), *base))
    return rows


def sizes(folder: Path, counts: Sequence[int] = (20, 200, 2000)) -> list[Row]:
    """Compare sites of more and more runs: a further run should cost no more in a large site than in a small one."""
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    rows: list[Row] = []
    totals: list[tuple[int, float]] = []
    before: tuple[str, Used, Used] | tuple[str, None, None] = "", None, None
    for count in counts:
        site = folder / f"site{count}"
        write_logs(site / "logs", range(count))
        ingest, mkdocs, described = _built(site)
        name, goal = f"{count:,} runs", f"{count / totals[-1][0]:.0f}" if totals else ""
        rows.append(Row.of(f"{name}, ingest", ingest, before[0], before[1], goal))
        rows.append(Row.of(f"{name}, mkdocs build: {described}", mkdocs, before[0], before[2], goal))
        totals.append((count, ingest.cpu + mkdocs.cpu))
        before = name, ingest, mkdocs
    return [*rows, *_per_further_run(totals)]


def write_logs(folder: Path, numbers: Sequence[int], factor: float = 1.0) -> None:
    """Write runs with these numbers below `folder`: cases of five repeats, of our models and frameworks in turn."""
    sources = sorted(each.parent for each in (_ROOT / "raw_logs").glob("*/*/*/1/run.json"))
    step = next(each for each in (5, 7, 11) if len(sources) % each)  # neighbouring cases are of other models
    for number in numbers:
        case, repeat = divmod(number, _REPEATS)
        again, machine = divmod(case // len(sources), len(_HARDWARE))
        target = folder / "bench" / "made-up" / f"case{case}" / str(repeat + 1)
        source = sources[case * step % len(sources)]
        facts = {"options": {"case": again}, "hardware": _HARDWARE[machine]}
        _copy(source, target, factor * random.Random(number).uniform(0.9, 1.1), facts)


def _copy(source: Path, target: Path, factor: float, facts: dict[str, Any]) -> None:
    """Copy a run with all speeds times `factor`, and other facts of the case in its `run.json`."""
    target.mkdir(parents=True, exist_ok=True)
    log = (source / "train.log").read_bytes()
    log = re.sub(rb"(?<=ips: )[0-9.]+", lambda each: b"%.5f" % (float(each[0]) * factor), log)
    log = re.sub(rb"(?<=batch_cost: )[0-9.]+", lambda each: b"%.5f" % (float(each[0]) / factor), log)
    (target / "train.log").write_bytes(log + b"made up: times %.9f\n" % factor)
    run = json.loads((source / "run.json").read_text("utf-8"))
    run["case"] |= facts | {"options": run["case"].get("options", {}) | facts["options"]}
    run["repeat"] = int(target.name)
    run["files"] = {"train.log": {}}
    (target / "run.json").write_text(json.dumps(run), "utf-8")


def _built(folder: Path) -> tuple[Used, Used, str]:
    """Build a site and remove it; return what ingest and MkDocs used, and how many pages and bytes it has."""
    shutil.copy(_ROOT / "mkdocs.yml", folder)
    (folder / "report_templates").symlink_to(_ROOT / "report_templates")
    ingest = child(_ingest, folder / "logs", folder / "docs")
    mkdocs = child(_mkdocs, folder)
    files = [each for each in (folder / "site").rglob("*") if each.is_file()]
    pages = sum(each.suffix == ".html" for each in files)
    size = sum(each.stat().st_size for each in files)
    shutil.rmtree(folder)
    return ingest, mkdocs, f"{pages:,} pages, {size / 2**20:.0f} MiB"


def _ingest(logs: str, out: str, layout: str = "perfledger") -> None:
    from perfledger.ingest.cli import main

    with contextlib.redirect_stdout(io.StringIO()):
        code = main([logs, "--out", out, "--layout", layout])
    assert code < 2, code


def _mkdocs(folder: str) -> None:
    from mkdocs.__main__ import cli

    os.chdir(folder)
    cli(["build", "--strict", "--quiet"], standalone_mode=False)


def _per_further_run(totals: Sequence[tuple[int, float]]) -> list[Row]:
    """Return seconds per further run between two sizes, against those between the two sizes before."""
    rows: list[Row] = []
    for (fewer, less), (count, more) in itertools.pairwise(totals):
        name, seconds = f"a further run, {fewer:,} to {count:,}", (more - less) / (count - fewer)
        rows.append(Row(name, seconds, rows[-1].what, rows[-1].seconds, "1") if rows else Row(name, seconds))
    return rows
