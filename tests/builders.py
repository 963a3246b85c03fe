"""Made-up runs for tests of everything after reading. These figures were not measured.

A test changes a usual run by keys of the ledger's JSON, and gets a typed `Run`.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable
from typing import Any

from perfledger.schema.plans import EXAMPLE_DATA, SCHEMA, Plan
from perfledger.schema.records import Run, from_json, to_json

HARDWARE = "Test accelerator (made up)"
#: Usual facts of a case.
CASE: dict[str, Any] = {
    "model": "ResNet-50 v1.5", "framework": "PyTorch", "hardware": HARDWARE, "nodes": 1, "devices": 1, "batch_size": 64,
    "precision": "fp32", "options": {},
}  # fmt: skip
SPEED = {"PyTorch": 400.0, "TensorFlow": 380.0, "PaddlePaddle": 410.0}


def run(identifier: str, *, speed: float = 400.0, repeat: int = 1, unit: str = "images/s", **other: Any) -> Run:
    """Return a run; `other` are facts of its case, and keys of the ledger that are added or replaced."""
    # The ledger's key `nodes` lists machines.
    case = {name: value if name == "nodes" else other.pop(name, value) for name, value in CASE.items()}
    values = [round(speed * (1 + 0.02 * math.sin(i + repeat)) * (0.3 if i < 3 else 1.0), 3) for i in range(40)]
    path = f"raw_logs/test/{identifier}/train.log"
    figures: dict[str, Any] = {
        rule: {
            "value": speed + shift,
            "unit": unit,
            "scope": "job",
            "used": 32,
            "skipped": 8,
            "first_line": 12,
            "last_line": 43,
            "arithmetic": f"32 records: 2048 images / {2048 / speed:.3f} s",
        }
        for rule, shift in (("sustained", 0.0), ("mean", 1.0), ("median", 0.5))
    }
    figures["reported"] = absent("not_stated", missing="summary")
    clock = witness("clock", value=speed + 1.0, against=speed, unit=unit, difference=-100 / (speed + 1.0))
    document: dict[str, Any] = {
        "id": identifier,
        "path": path,
        "session": 1,
        "sessions": 1,
        "format": "ngc.pytorch_resnet50",
        "outcome": "completed",
        "observations": 40,
        "case": case,
        "facts": {
            name: {"value": value, "source": "run.json", "where": "run.json"}
            for name, value in case.items()
            if name != "options"
        },
        "environment": {
            "cpu": "Test CPU",
            "cores": 2,
            "memory_gib": 23.5,
            "os": "Debian GNU/Linux 12",
            "python": "3.11.7",
            "packages": {case["framework"].lower(): "1.0"},
        },
        "figures": figures,
        "witnesses": [clock, silent("physics")],
        "problems": [],
        "sha256": hashlib.sha256(path.encode()).hexdigest(),
        "bytes": 12345,
        "lines": 60,
        "argv": ["python", "train.py", "--batch-size", str(case["batch_size"])],
        "repeat": repeat,
        "start": "2026-01-01T00:00:00Z",
        "end": "2026-01-01T00:01:00Z",
        "wall_seconds": 60.0,
        "notes": None,
        "source": {"repository": "test", "commit": "0" * 40},
        "suite": None,
        "published": True,
        "duplicate_of": None,
        "trace": {"step": list(range(1, 41)), "value": values, "unit": unit, "skipped": 8},
        **other,
    }
    return from_json(document, Run)


def runs_of(framework: str, speed: float, repeats: int = 3, **other: Any) -> list[Run]:
    """Return repeats of one case, half a per mille apart."""
    stated = [f"{key}{value}" for key, value in other.items() if key != "environment"]
    name = re.sub("[^a-z0-9]+", "-", "-".join((framework, str(speed), *stated)).lower()).strip("-")
    return [
        run(f"{name}-{n}", framework=framework, speed=speed * (1 + 0.0005 * n), repeat=n, **other)
        for n in range(1, repeats + 1)
    ]


def edited(given: Run, **changes: Any) -> Run:
    """Return the run with changed values in its JSON: objects are merged, everything else is replaced."""
    return from_json(_merged(to_json(given), changes), Run)


def _merged(document: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    inner = {
        key: _merged(document[key], value) if isinstance(value, dict) and isinstance(document.get(key), dict) else value
        for key, value in changes.items()
    }
    return {**document, **inner}


def with_speed(runs: Iterable[Run], identifier: str, speed: float) -> list[Run]:
    """Return the runs with the headline of one of them changed."""
    changes = {"sustained": {"value": speed}}
    return [edited(each, figures=changes) if each.id == identifier else each for each in runs]


def figure(value: float, unit: str = "images/s", **other: Any) -> dict[str, Any]:
    """Return a figure of the whole job in the ledger's form."""
    lines = {"used": 8, "skipped": 2, "first_line": 3, "last_line": 9, "arithmetic": "made up"}
    return {"value": value, "unit": unit, "scope": "job", **lines, **other}


def witness(kind: str, verdict: str = "agrees", **other: Any) -> dict[str, Any]:
    """Return a witness with a verdict in the ledger's form."""
    lines = {"first_line": 3, "last_line": 9, "arithmetic": "made up"}
    return {"kind": kind, "verdict": verdict, "resolution": 0.5, "tolerance": 3.0, **lines, **other}


def silent(kind: str) -> dict[str, Any]:
    """Return a witness without a verdict."""
    return {"kind": kind, "verdict": "silent", "reason": {"code": "not_stated", "args": {"missing": "operations"}}}


def absent(code: str = "too_few_records", **args: object) -> dict[str, Any]:
    """Return the record that replaces a figure."""
    return {"value": None, "reason": {"code": code, "args": args}}


def metrics(framework: str, repeat: int) -> dict[str, Any]:
    """Return metrics other than the throughput; TensorFlow's logs do not state memory."""
    about = {"source": "log", "first_line": 12, "last_line": 43, "arithmetic": "as printed"}
    latency = {"latency": {"value": 64_000 / SPEED[framework] + 0.25 * repeat, "unit": "ms", **about}}
    memory = {"memory": {"value": 11_000.0 - len(framework) + repeat, "unit": "MiB", **about}}
    return latency if framework == "TensorFlow" else {**latency, **memory}


def runs() -> list[Run]:
    """Return two dozen runs: three frameworks, two precisions, one and eight devices, repeats, and failed runs."""
    found = [
        run(
            f"resnet50-{framework.lower()}-n1d{devices}-{precision}-{repeat}",
            framework=framework,
            devices=devices,
            precision=precision,
            repeat=repeat,
            speed=SPEED[framework] * devices**0.97 * (2.5 if precision == "amp" else 1) * (1 + 0.004 * repeat),
            metrics=metrics(framework, repeat),
        )
        for framework in SPEED
        for devices in (1, 8)
        for precision in ("fp32", "amp")
        for repeat in (1, 2)
        if not (framework == "TensorFlow" and devices == 8)
    ]
    found.append(run("bert-pytorch-1", model="BERT-base", unit="sequences/s", speed=88.0))
    found.append(run("unknown-model-1", model="Test net 7", speed=12.5, options={"threads": 1}))
    stalled = run("resnet50-stalled-1", batch_size=128, speed=300.0)
    values = stalled.trace.value if stalled.trace else ()
    values = (*values[:20], *[20.0] * 4, *values[24:])
    even = {"records": 32, "slow": 4, "change": 0.0}
    stalled = edited(stalled, trace={"value": values}, figures={"median": {"value": 390.0}}, evenness=even)
    contradiction = {
        "code": "contradiction",
        "path": "raw_logs/test/contradictory/train.log",
        "line": 3,
        "args": {"fact": "nodes", "first": 1, "first_source": "run.json", "second": 2, "second_source": "log"},
    }
    figures = {"sustained": absent("not_stated", missing="summary")}
    failed = run(
        "resnet50-failed-1", batch_size=512, outcome="oom", published=False, trace=None, observations=0, figures=figures
    )
    return [*found, stalled, failed, run("contradictory-1", published=False, problems=[contradiction])]


#: Keys of a run.json that describe how the run was started.
TOLD: dict[str, Any] = {
    "recipe": {
        "name": "resnet50-pytorch",
        "sha256": "ab" * 32,
        "case": {"nodes": "2", "devices": "2", "batch_size": "32", "title": 'it\'s $(here), "b"'},
        "command": ["python", "train.py", "--batch-size", "{batch_size}"],
        "setup": ["python3 -m venv torch && . torch/bin/activate", "pip install 'torch==2.13.0'"],
        "container": {"tool": "docker", "image": "example.org/torch:1", "digest": "sha256:" + "c" * 64},
        "launcher": "torchrun",
        "data": True,
    },
    "argv": ["docker", "run", "torchrun", "--node-rank", "{node_rank}", "train.py", "--title", "it's $(here)"],
    "environment_variables": {"OMP_NUM_THREADS": "1", "TITLE": "a b"},
    "source": {"repository": "example/trainer", "commit": "d" * 40, "modified": True},
    "records": {"format": "ngc.pytorch_resnet50", "count": 40, "at_least": 30},
    "warnings": ["the power limits of the nodes differ: 300, 250"],
    "nodes": [{"folder": ".", "outcome": "completed"}, {"folder": "node1", "outcome": "stopped"}],
    "environment_details": {
        "gpus": [{"index": 0, "name": "made-up", "ecc": "Enabled"}, {"index": 1, "name": "made-up"}],
        "topology": "\tGPU0\tGPU1\nGPU0\t X \tNV12\n",
        "infiniband": ["mlx5_0: 100 Gb/sec"],
        "packages_installed": ["numpy==2.4.6", "torch==2.13.0"],
    },
}

HOSTILE = (
    "<script>alert(1)</script>",
    "a|b|c",
    "`code` ``more``",
    "{{ 7*7 }} {% raw %}",
    "[x](javascript:alert(1))",
    '--8<-- "mkdocs.yml"',
    "line\n\n# heading\n\n- list",
    "&lt;img src=x onerror=alert(1)&gt; <img src=x onerror=alert(1)>",
    "[[wiki]] *bold* _under_ **x** ~~y~~",
    "*_",
    '"><svg onload=alert(1)>',
    "</title><script>alert(2)</script>",
    "\u202edesrever\x00\x02klzzwxh:0001\x03",
    "!!! note",
    "    indented code",
    "1. one",
    "- two",
    "$x^2$ \\( y \\)",
    "</pre></code></figure><b>",
    "https://example.org/ <javascript:alert(3)>",
    "{: onclick=alert(1) }",
    "|---|---|",
)


def hostile() -> list[Run]:
    """Return runs whose every text is an attempt at markup."""
    found = []
    for index, text in enumerate(HOSTILE):
        problem = {
            "code": "contradiction",
            "path": text,
            "line": 1,
            "args": dict.fromkeys(("fact", "first", "first_source", "second", "second_source"), text),
        }
        each = run(
            f"hostile-{index}",
            model=text,
            framework=text,
            hardware=text,
            unit=text,
            precision=text,
            options={text: text},
            notes=text,
            argv=["python", text, "--x=" + text],
            format=text,
            outcome=text,
            problems=[problem],
            path=text,
            source={"repository": text, "commit": text, "modified": index % 2 == 0},
            environment_variables={"A": text},
            warnings=[text],
            records={"format": text, "count": 1, "at_least": 2},
            nodes=[{"folder": text, "outcome": text}],
            environment_details={
                "gpus": [{text: text, "name": text}],
                "topology": text,
                "infiniband": [text],
                "packages_installed": [text],
            },
            environment={"cpu": text, "packages": {text: text}, text: text},
            facts={text: {"value": text, "source": text, "where": text}},
        )
        if index % 2:
            recipe = {"name": text, "sha256": text, "case": {text: text}, "command": [text], "setup": [text]}
            container = {"tool": text, "image": text, "digest": text}
            each = edited(each, recipe={**recipe, "launcher": text, "container": container})
        each = edited(each, figures={"sustained": {"arithmetic": text}})
        found.append(each)
    return found


def plan(
    recipe: str, *, cases: Iterable[dict[str, Any]] = ({"devices": 8}, {"nodes": 2, "devices": 16}), **other: Any
) -> Plan:
    """Return a plan of these cases; each states only its differences from a usual case."""
    whole = [{"nodes": 1, "batch_size": 64, "precision": "fp32", "options": {}, "data": True, **each} for each in cases]
    for each in whole:
        each.setdefault("choices", {key: str(each[key]) for key in ("nodes", "devices")})
        each.setdefault("command", f"python train.py --devices {each['devices']} --data {EXAMPLE_DATA}")
    usual = {
        "title": f"Title of {recipe}", "suite": "resnet50", "model": "ResNet-50 v1.5", "framework": "PyTorch",
        "device": "gpu", "launcher": "torchrun", "iterations": 100, "repeats": 3,
    }  # fmt: skip
    return from_json({"schema": SCHEMA, "recipe": recipe, **usual, "cases": whole, **other}, Plan)
