"""Made-up logs, printed as trainers print them, for a site with all kinds of pages."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from pathlib import Path
from typing import Any

from perfledger.ingest import build
from perfledger.ingest.build import State

ROOT = Path(__file__).resolve().parents[2]
BERT = ROOT / "tests/golden/ngc.pytorch_bert/made-up.log"
#: Facts of that log, with the line that states each, as tests/golden has them.
STATED = {"batch_size": (3, "batch_size_per_gpu : 32"), "accumulation": (1, "gradient_accumulation_steps")}
START = dt.datetime(2026, 11, 20, 11, 50)
EVIL = '<script>alert(1)</script><img src=x onerror=alert(2)> --8<-- "mkdocs.yml" {{ 7*7 }} [x](javascript:alert(3))'
#: A log of 4,000 lines; pages show parts of it.
LONG = Path("raw_logs/seg/paddle/long/1/train.log")


def seg(count: int, first: int = 0) -> str:
    """Return lines as PaddleSeg prints them, ten steps of 0.4 s each; two of ten records are warm-up."""
    return "".join(
        f"{START + dt.timedelta(seconds=4 * i)} [INFO]\t[TRAIN] epoch: 1, iter: {10 * (i + 1)}/99999, loss: 2.0594, "
        f"lr: 0.010000, batch_cost: 0.400000, reader_cost: 0.00247, ips: 10.0000 samples/sec | ETA 00:00:00\n"
        for i in range(first, first + count)
    )


def run_json(threads: int, **other: Any) -> str:
    """Return the run.json of a run whose result is that of no other number of threads."""
    case = {
        "model": "DeepLabV3+", "framework": "PaddlePaddle", "hardware": "made-up", "nodes": 1, "devices": 1,
        "batch_size": 4, "precision": "fp32", "options": {"threads": threads},
    }  # fmt: skip
    return json.dumps({"schema": "perfledger.run/1", "outcome": "completed", "case": case, "repeat": 1} | other)


def write(folder: Path) -> State:
    """Write logs below `folder/raw_logs` and read them: plain, long, hostile, of bars, and one that states facts."""
    texts = {
        "plain": seg(30),
        "long": seg(4000),
        "hostile": f"{EVIL}\n" + seg(30) + f"\x00\x1b[31m{EVIL}\n</pre></code>\ncudaErrorMemoryAllocation {EVIL}\n",
        "bars": seg(15) + "a bar\rof a run\rthat wrote over itself\n" + seg(15, first=15),
    }
    for threads, (name, text) in enumerate(texts.items(), 1):
        there = folder / "raw_logs" / "seg" / "paddle" / name / "1"
        there.mkdir(parents=True)
        (there / "train.log").write_text(text, "utf-8")
        outcome = "oom" if name == "hostile" else "completed"
        (there / "run.json").write_text(run_json(threads, outcome=outcome), "utf-8")
    there = folder / "raw_logs" / "bert" / "pytorch" / "golden" / "1"
    there.mkdir(parents=True)
    shutil.copy(BERT, there / "train.log")
    return build.read(build.Inputs((folder / "raw_logs",), jobs=1, out=folder / "none"))
