"""A made-up site of much hardware, many models and many runs, more of each than a page has room for."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.read.accelerators import Accelerator, Accelerators
from perfledger.ingest.site import builder
from perfledger.ingest.site.data import explorer
from perfledger.ingest.site.model import site_of_runs
from perfledger.ingest.site.pages import front
from perfledger.ingest.site.run_paging import Limits
from perfledger.schema.records import Run
from tests import builders
from tests.builders import edited, run

ACCELERATORS, MODELS = 16, 15
#: Two frameworks ran this number of models on this number of accelerators, on one device and on eight.
RIVALS, SHARED_MODELS = 3, 9
LIMITS = Limits(pages=12)
#: So few lines that the front page has room for one table, and parts so small that there are several.
SIZES = (
    (front, "LINES", 20), (explorer, "SIZE", 80), (explorer, "MOST", 100), (explorer, "DETAILED", 30),
    (explorer, "MOST_DETAILED", 40),
)  # fmt: skip
ROUND = {"round": {"value": "v5.1", "source": "layout", "where": "the path"}}
#: Facts about two accelerators, as a file states them.
STATED = Accelerators(
    {
        f"accelerator 0{n} of 80 gb": Accelerator(dt.date(2026, 11, 1), 100.0 * n, "https://example.org/watts")
        for n in (1, 2)
    }
)
#: A run that failed, whose log gives no figure.
ODD = run(
    "test-net-7-odd", model="Test net 7", outcome="failed", session=2, sessions=3, published=False, precision="amp",
    figures={"sustained": builders.absent("not_stated", missing="summary")}, path="raw_logs/odd one/train.log",
    options={"threads": 1},
    problems=[
        {
            "code": "contradiction", "path": "raw_logs/odd one/train.log", "line": 7,
            "args": {"fact": "devices", "first": 8, "first_source": "run.json", "second": 16, "second_source": "log"},
        },
        {"code": "empty", "path": "raw_logs/odd one/train.log", "args": {}},
    ],
)  # fmt: skip
UNKNOWN = edited(run("unknown", model="Test net 7"), case={"precision": None, "devices": None}, published=False)


def accelerator(number: int) -> str:
    return f"Accelerator {number:02} of 80 GB"


def network(number: int) -> str:
    return f"Network number {number}"


def _speed(hardware: int, model: int) -> float:
    """Return a speed; that of the last accelerator is one and an eighth of that of the one before it."""
    tie = hardware == ACCELERATORS - 1
    return (1.125 if tie else 1) * (100.0 + ((hardware - tie) * 61 + model * 37) % 509)


def _run(hardware: int, model: int, **other: Any) -> Run:
    speed = _speed(hardware, model) * other.get("devices", 1)
    name = f"{hardware}-{model}-" + "-".join(map(str, other.values())).lower()
    more = {"model": network(model), "hardware": accelerator(hardware), "speed": speed, **other}
    return run(name.strip("-"), **more)


def _runs() -> list[Run]:
    """Return a result of every model on every accelerator but one, and fewer of another precision and of a round."""
    found = [_run(n, m) for n in range(ACCELERATORS) for m in range(MODELS) if (n, m) != (7, 3)]
    found += [_run(n, m, precision="amp") for n in range(3) for m in range(2)]
    rounds = [_run(n, m, batch_size=32) for n in (1, 2) for m in range(2)]
    found += [edited(each, id=f"{each.id}-round", path=f"{each.path}-round", facts=ROUND) for each in rounds]
    pairs = [(n, m) for n in range(RIVALS) for m in range(SHARED_MODELS)]
    found += [_run(n, m, devices=8) for n, m in pairs]
    for devices in (1, 8):
        slower = [_run(n, m, framework="JAX", devices=devices) for n, m in pairs if (n, m, devices) != (1, 8, 1)]
        found += [edited(each, figures={"sustained": {"value": 50.0 * devices}}) for each in slower]
    return [*found, ODD, UNKNOWN]


RUNS = _runs()
SITE = site_of_runs(RUNS, limits=LIMITS)
#: A run without a page, which is neither the first nor the last of its part.
SHOWN = next(each for each in RUNS if each.id == "7-5")


def build(folder: Path, cache: Path) -> None:
    """Write the pages of the site into `folder/docs`."""
    shards = {each.id: "made-up.jsonl" for each in RUNS}
    with pytest.MonkeyPatch.context() as patched:
        for module, name, size in SIZES:
            patched.setattr(module, name, size)
        site = site_of_runs(RUNS, limits=LIMITS, accelerators=STATED, shards=shards)
        builder.build(site, folder / "docs", cache)
    ledger = folder / "docs" / "data" / "runs"
    ledger.mkdir()
    (ledger / "made-up.jsonl").write_text("{}\n", "utf-8")
