"""Made-up folders of `python -m runners run`: log, telemetry, environment, and run.json with hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from made_logs import clock

RECIPE = {
    "name": "resnet50-pytorch",
    "sha256": "ab" * 32,
    "case": {"nodes": "1", "devices": "1", "batch_size": "16", "precision": "fp32", "threads": "1"},
    "command": ["python", "train.py", "--batch-size", "{batch_size}"],
    "setup": ["python3 -m venv torch", "torch/bin/pip install 'torch==2.13.0'"],
    "launcher": "plain",
}
TELEMETRY = "timestamp,load_1m,cpu_percent,memory_used_mib,memory_total_mib\n" + "".join(
    f"2026-11-20T08:00:{second:02}Z,{1 + second / 10:.2f},{50 + second}.5,{4000 + second},24064\n"
    for second in range(11)
)
TOPOLOGY = "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV12\tSYS\nGPU1\tNV12\t X \tSYS\n"
ENVIRONMENT = {
    "schema": "perfledger.environment/1",
    "facts": {"cpu": "made-up"},
    "gpus": [
        {"index": 0, "name": "made-up GPU", "power_limit_watts": 300.0, "ecc": "Enabled"},
        {"index": 1, "name": "made-up GPU", "power_limit_watts": 250.0},
    ],
    "topology": TOPOLOGY,
    "infiniband": ["mlx5_0: 100 Gb/sec (4X EDR), InfiniBand"],
    "packages_installed": ["numpy==2.4.6", "torch==2.13.0+cpu"],
}
#: The package of each framework.
PACKAGES = {"PyTorch": "torch", "TensorFlow": "tensorflow-cpu", "MXNet": "mxnet", "JAX": "jax"}


def log_of(framework: str, speeds: Sequence[float], batch: int = 16) -> str:
    """Return the log of one of four frameworks with these speeds in images/s."""
    at = [sum(batch / speed for speed in speeds[: n + 1]) for n in range(len(speeds))]
    return "".join(f"{_line(framework, n, speed, at[n - 1], batch)}\n" for n, speed in enumerate(speeds, 1))


def _line(framework: str, n: int, speed: float, at: float, batch: int) -> str:
    seconds, stamp = batch / speed, clock(at).replace(".", ",")[:-3]
    lines = {
        "PyTorch": f"DLL {clock(at)} - Epoch: 0 Iteration: {n}  train.loss : 6.90000 None train.compute_ips : "
        f"{speed:.2f} images/s train.total_ips : {speed:.2f} images/s train.lr : 0.01  ",
        "MXNet": f"{stamp} Node[0] Epoch[0] Batch [{n}]\tSpeed: {speed:.2f} samples/sec\ta=0.001",
        "TensorFlow": f"Epoch {n}/99\n1/1 - {seconds:.0f}s - {seconds * 1000:.0f}ms/step - loss: 6.9000",
        "JAX": f'DLLL {{"timestamp": "{1795168800 + at:.6f}", "type": "LOG", "step": [0, {n}], '
        f'"data": {{"train.loss": 6.9, "train.total_ips": {speed:.2f}}}}}',
    }
    return lines[framework]


#: Usual facts of a case.
CASE = {"framework": "PyTorch", "batch_size": 16, "devices": 1, "case_nodes": 1, "threads": 1}


def write(
    folder: Path,
    *,
    speeds: Sequence[float] | None = None,
    repeat: int = 1,
    files: dict[str, str] | None = None,
    packages: dict[str, str] | None = None,
    **other: Any,
) -> Path:
    """Write a run, and return the path of its log.

    Args:
        folder: the folder of the run.
        speeds: the printed speeds in images/s.
        repeat: the number of the repeat.
        files: texts of further files by their paths below the folder.
        packages: further installed packages.
        other: facts of CASE, and keys of run.json.
    """
    framework, batch_size, devices, nodes, threads = (other.pop(name, value) for name, value in CASE.items())
    logged = log_of(framework, speeds or [40.0 + 0.1 * repeat] * 50, batch_size * devices)
    written = {"train.log": logged, "telemetry.csv": TELEMETRY, "environment.json": json.dumps(ENVIRONMENT)}
    written |= files or {}
    for name, text in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    case = {"model": "ResNet-50 v1.5", "framework": framework, "hardware": "made-up, 2 cores (CPU)"}
    case |= {"nodes": nodes, "devices": devices, "batch_size": batch_size, "precision": "fp32"}
    said = {
        "schema": "perfledger.run/1",
        "suite": "resnet50",
        "case": {**case, "options": {"image_size": 64, "threads": threads}},
        "repeat": repeat,
        "recipe": {**RECIPE, "name": f"resnet50-{framework.lower()}"},
        "argv": ["python", "train.py", "--batch-size", str(batch_size), "--title", "it's $(here)"],
        "environment_variables": {"OMP_NUM_THREADS": str(threads), "TITLE": "a b"},
        "environment": {"cpu": "made-up", "cores": 2, "packages": {PACKAGES[framework]: "1.0", **(packages or {})}},
        "start": "2026-11-20T08:00:00Z",
        "end": "2026-11-20T08:00:20Z",
        "wall_seconds": 20.0,
        "exit_status": 0,
        "outcome": "completed",
        "records": {"format": "", "count": 50, "at_least": 40},
        "files": {name: _hashed(folder / name) for name in written},
        **other,
    }
    (folder / "run.json").write_text(json.dumps(said), "utf-8")
    return folder / "train.log"


def _hashed(path: Path) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size}
