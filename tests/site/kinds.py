"""A site that has every kind of page, and few of each, for the tests that look at all of them."""

from __future__ import annotations

import csv
import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingest.published import publications
from ingest.read import walk
from ingest.site import builder
from ingest.site.run_paging import Limits
from schema.records import Problem, Run
from tests import builders

ROOT = Path(__file__).resolve().parents[2]
#: Where the site stands once it is published: below a name, as the pages of a project do.
ADDRESS = "https://example.org/sub/"
#: One page of each kind, below the folder of its language.
KINDS: Mapping[str, str] = {
    "front": "",
    "models": "models/",
    "model": "models/resnet50/",
    "framework": "models/resnet50/pytorch/",
    "compare": "compare/",
    "runs": "runs/",
    "run": "runs/logged-1/",
    "log": "runs/logged-1/log/",
    "list": "runs/list-resnet50/",
    "reports": "reports/",
    "report": "reports/perf-2021/",
    "method": "method/",
    "running": "running/",
    "formats": "formats/",
    "audit": "audit/",
    "problems": "problems/",
    "data": "data/",
}
#: So few that some runs stand in lists.
LIMITS = Limits(pages=19, listed=10, lists=4)
#: The smallest of the tables of published figures that are kept here: two of the reports are of it.
TABLE = "paddle-2019-2021.csv"
#: And figures with logs, one as our run gives it and one not; nobody published them.
MADE_UP = """
[[source]]
name = "Made up"
title = { en = "Figures made up", zh = "虚构数据" }
address = "https://example.net/made-up"
page = "https://example.net/made-up/{path}"
log = "https://example.net/made-up/{path}"
year = 2026
words = { en = "No figure was measured.", zh = "数字均为虚构。" }
"""


def languages(kind: str) -> tuple[str, ...]:
    """Return the folders that hold pages of this kind."""
    return ("", "zh/") if kind in KINDS else ("",)


def build(folder: Path, problem: Problem) -> None:
    """Write the pages into `folder/docs`."""
    found = publications.read([_kept(folder / "kept"), _made_up(folder / "made-up")])
    assert found.rows
    assert not found.problems
    run, log = logged(folder)
    builder.build(
        [*builders.runs(), run], [problem], folder / "docs", cache=folder / "cache.sqlite",
        published=found, logs={run.path: (log,)}, limits=LIMITS,
    )  # fmt: skip


def _kept(folder: Path) -> Path:
    folder.mkdir()
    for name in (walk.SOURCES, TABLE):
        shutil.copy(ROOT / "raw_logs" / "published" / name, folder / name)
    return folder


def _made_up(folder: Path) -> Path:
    folder.mkdir()
    (folder / walk.SOURCES).write_text(MADE_UP, "utf-8")
    of_all: dict[str, Any] = {
        "source": "Made up",
        "place": "README.md table 1",
        "hardware": builders.HARDWARE,
        "nodes": 1,
        "devices": 1,
    }
    of_all |= {"batch_size": 64, "precision": "fp32", "metric": "throughput", "state": "measured"}
    of_all |= {"model": "ResNet50V1.5", "framework": "PyTorch", "unit": "images/s"}
    log = "test/resnet50-pytorch-n1d1-fp32-1/train.log"
    with (folder / "made-up.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, publications.COLUMNS, restval="")
        writer.writeheader()
        writer.writerow(of_all | {"line": 7, "log": log, "value": "401.6"})
        writer.writerow(of_all | {"place": "other.md", "log": log, "value": "450.25"})
        writer.writerow(of_all | {"model": "CycleGAN", "state": "oom"})
    return folder


def logged(folder: Path) -> tuple[Run, Path]:
    """Return a run and the path of its log, which is written so that it can be shown; none of it was measured."""
    text = "".join(f"epoch: 1, step: {step}, ips: {300 + step % 7} images/s\n" for step in range(1, 61)).encode()
    path = folder / "train.log"
    path.write_bytes(text)
    problem = {
        "code": "contradiction",
        "path": "raw_logs/test/logged-1/train.log",
        "line": 3,
        "args": {"fact": "nodes", "first": 1, "first_source": "run.json", "second": 2, "second_source": "log"},
    }
    known: dict[str, Any] = {
        "sha256": hashlib.sha256(text).hexdigest(),
        "bytes": len(text),
        "lines": 60,
        "problems": [problem],
        **builders.TOLD,
    }
    run = builders.run("logged-1", batch_size=32, devices=2, speed=303.0, **known)
    return builders.edited(run, case={"nodes": 2}), path
