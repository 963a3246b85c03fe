"""A made-up site that has every kind of page, few of each."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from perfledger.ingest.published import publications
from perfledger.ingest.read import walk
from perfledger.ingest.read.plans import Plans
from perfledger.ingest.site import builder
from perfledger.ingest.site.model import site_of_runs
from perfledger.ingest.site.run_paging import Limits
from perfledger.schema.records import Problem, Run, text_of
from tests import builders
from tests.site import traced

ROOT = Path(__file__).resolve().parents[2]
#: Address of the published site: below a name, as for the pages of a project.
ADDRESS = "https://example.org/sub/"
#: One page of each kind, below the folder of its language.
KINDS: Mapping[str, str] = {
    "front": "",
    "models": "models/",
    "model": "models/resnet50/",
    "history": "models/resnet50/history/",
    "frameworks": "frameworks/",
    "scorecard": "frameworks/pytorch/",
    "hardware list": "hardware/",
    "hardware": "hardware/test-accelerator-made-up/",
    "compare": "compare/",
    "runs": "runs/",
    "run": "runs/logged-1/",
    "reports": "reports/",
    "report": "reports/perf-2021/",
    "method": "method/",
    "glossary": "glossary/",
    "running": "running/",
    "submit": "submit/",
    "formats": "formats/",
    "format": "formats/paddle-seg/",
    "audit": "audit/",
    "problems": "problems/",
    "data": "data/",
}
#: How a publisher calls itself, and where it keeps its logs; `logs` keeps ingest from reading them again.
REPOSITORY = "https://github.com/someone/results"
LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4"/></svg>\n'
PUBLISHER = """  logs: [nowhere]
  publisher:
    name: Example & Lab
    url: https://example.net/
    logo: lab.svg
    color: "#ffd400"
    footer: {en: Run by the lab., zh: 由实验室运营。}
"""
#: So few that some runs have no page.
LIMITS = Limits(pages=23)
PROBLEM = Problem("empty", "raw_logs/test/empty.log")
#: Made-up runs that have a log: the front page links to the first, and run.json of the second has every field.
LOGGED = ("resnet50-paddlepaddle-n1d1-fp32-2", "logged-1")
#: The smallest of the tables of published figures that are kept here: two of the reports are of it.
TABLE = "paddle-2019-2021.csv"
#: A log of the ordinary fixture.
LOG = "test/resnet50-pytorch-n1d1-fp32-1/train.log"
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
#: A day with a move and a day with a new result, as `changes.json` has them; none of it was measured.
MOVED: dict[str, Any] = {
    "date": "2026-11-20", "kind": "moved", "result": "resnet50-pytorch-1",
    "title": {"en": "ResNet-50", "zh": "残差网络"},
    "model": "ResNet-50 v1.5", "framework": "PyTorch", "framework_version": "2.0", "hardware": "<Made up> & Co",
    "nodes": 1, "devices": 8, "batch_size": 64, "precision": "amp", "options": {"xla": True}, "round": None,
    "unit": "images/s", "before": 400.0, "after": 420.0, "before_text": "400.0", "after_text": "420.0", "share": 0.05,
    "share_text": "+5.0%", "grade": "clear", "page": "models/resnet50/",
    "runs": [{"id": "a-1", "page": "runs/resnet50-stalled-1/"}],
}  # fmt: skip
_UNKNOWN = dict.fromkeys(("before", "before_text", "share", "share_text", "grade"))
CHANGES = (MOVED, {**MOVED, **_UNKNOWN, "date": "2026-11-19", "kind": "new"})
#: A recipe that states all it can, and has no run.
PLAN = builders.plan(
    "planned",
    cases=[{"devices": size, "options": {"dali": True}} for size in range(1, 13)],
    image={"image": "example.org/torch:1"},
    data_set={
        "name": "ImageNet-1k",
        "layout": ["train/"],
        "address": "https://example.org/data.tar",
        "checksum": "md5 0",
    },
    source={"repository": "example/trainer", "commit": "d" * 8},
    setup=["pip install torch"],
    packages=["torch"],
    text="Needs a driver of that year.",
)


def languages(kind: str) -> tuple[str, ...]:
    """Return the folders with pages of this kind."""
    return ("", "zh/") if kind in KINDS else ("",)


def figure(**change: str) -> dict[str, str]:
    """Return a made-up published figure, as a row of a table."""
    return {
        "source": "Made up", "place": "README.md table 1", "line": "7", "log": LOG, "model": "ResNet50V1.5",
        "framework": "PyTorch", "hardware": builders.HARDWARE, "nodes": "1", "devices": "1", "batch_size": "64",
        "precision": "fp32", "metric": "throughput", "unit": "images/s", "value": "401.6", "state": "measured",
    } | change  # fmt: skip


def made_up(folder: Path, rows: Iterable[Mapping[str, str]]) -> Path:
    """Write made-up figures with their source into a folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / walk.SOURCES).write_text(MADE_UP, "utf-8")
    with (folder / "made-up.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, publications.COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return folder


def build(folder: Path, cache: Path) -> None:
    """Write the pages of a site that has every kind of page into `folder/docs`, and its logs below `folder/made`."""
    oom = figure(line="", log="", model="CycleGAN", value="", state="oom")
    rows = (figure(), figure(line="", place="other.md", value="450.25"), oom)
    found = publications.read([_smallest(folder / "kept"), made_up(folder / "made-up", rows)])
    assert found.rows
    assert not found.problems
    state = traced.write(folder / "made")
    runs = {each.id: each for each in (*builders.runs(), _noted(), *state.ledger.runs)}
    logs = dict(state.logs)
    for name in LOGGED:
        runs[name], path = logged(runs[name], folder)
        logs[runs[name].path] = (path,)
    # Two days of one case are a history.
    others = [
        builders.run(
            f"other-hardware-{at}",
            hardware="Other accelerator (made up)",
            speed=400.0 + at,
            repeat=at,
            start=f"2026-0{at}-01T00:00:00Z",
        )
        for at in (1, 2)
    ]
    shards = dict.fromkeys(runs, "made-up.jsonl")
    site = site_of_runs(
        [*runs.values(), *others], [PROBLEM], published=found, logs=logs, limits=LIMITS,
        plans=Plans({"planned": PLAN}), shards=shards,
    )  # fmt: skip
    builder.build(site, folder / "docs", cache)
    (folder / "docs" / "data" / "changes.json").write_text(json.dumps({"version": 1, "changes": CHANGES}), "utf-8")
    (folder / "docs" / "data" / "runs").mkdir()
    ledger = "".join(f"{text_of(each)}\n" for each in (*runs.values(), *others))
    (folder / "docs" / "data" / "runs" / "made-up.jsonl").write_text(ledger, "utf-8")


def _smallest(folder: Path) -> Path:
    folder.mkdir()
    for name in (walk.SOURCES, TABLE):
        shutil.copy(ROOT / "raw_logs" / "published" / name, folder / name)
    return folder


def logged(run: Run, folder: Path) -> tuple[Run, Path]:
    """Write the log of a made-up run, which has the lines that the run names, and return both."""
    text = "".join(f"epoch: 1, step: {step}, ips: {300 + step % 7} images/s\n" for step in range(1, 61)).encode()
    path = folder / f"{run.id}.log"
    path.write_bytes(text)
    return builders.edited(run, sha256=hashlib.sha256(text).hexdigest(), bytes=len(text), lines=60), path


def _noted() -> Run:
    """Return a run whose run.json has every field, and whose log contradicts it."""
    problem = {
        "code": "contradiction",
        "path": "raw_logs/test/logged-1/train.log",
        "line": 3,
        "args": {"fact": "nodes", "first": 1, "first_source": "run.json", "second": 2, "second_source": "log"},
    }
    run = builders.run("logged-1", batch_size=32, devices=2, speed=303.0, problems=[problem], **builders.TOLD)
    return builders.edited(run, case={"nodes": 2})
