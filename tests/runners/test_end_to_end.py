"""From a recipe to a page: what `run` wrote, `ingest` reads with no layout and no further word."""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perfledger.runners.cli import main
from tests.runners import quick
from tests.runners.home import ROOT, load

#: The standard library alone, and honest: it prints how long it really took to do what it calls an image. These images
#: have a side of eight pixels: no processor would do as many of the usual size, and ingest knows.
TRAINER = """
import sys, time
from datetime import datetime
from runners.workloads.dllogger import images_per_second, iteration_line, loss, parameter_line

batch_size = int(sys.argv[1])
print(parameter_line(datetime.now(), {"data_backend": "synthetic", "arch": "resnet50", "batch_size": batch_size,
                                      "world_size": 1, "amp": False}))
for step in range(1, 21):
    before = time.perf_counter()
    for _ in range(batch_size):
        sum(number * number for number in range(20000))
    speed = batch_size / (time.perf_counter() - before)
    rates = (images_per_second("train.compute_ips", speed), images_per_second("train.total_ips", speed))
    print(iteration_line(datetime.now(), 0, step, (loss("train.loss", 7.0), *rates)), flush=True)
"""
RECIPE = """
title = "Squares summed, printed as NVIDIA's trainer prints"
suite = "resnet50"
framework = "PyTorch"
model = "ResNet-50 v1.5"
device = "cpu"
iterations = 20
repeats = 2
timeout_seconds = 60
command = [{python}, "trainer.py", "{{batch_size}}"]

[records]
format = "ngc.pytorch_resnet50"
at_least = 20

[matrix]
batch_size = [2, 4]
precision = ["fp32"]

[options]
image_size = 8

[files]
"trainer.py" = "trainer.py"
"runners/__init__.py" = "runners/__init__.py"
"runners/workloads/dllogger.py" = "runners/workloads/dllogger.py"
"""

pytestmark = pytest.mark.usefixtures("bash")


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a matrix and return its raw logs."""
    if not shutil.which("bash"):
        pytest.skip("bash is missing")
    folder = tmp_path_factory.mktemp("end")
    (folder / "runners/workloads").mkdir(parents=True)
    for name in ("runners/__init__.py", "runners/workloads/dllogger.py"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "trainer.py").write_text(TRAINER, encoding="utf-8")
    recipe = folder / "squares.toml"
    recipe.write_text(RECIPE.format(python=json.dumps(sys.executable)), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        quick.shorten(patch.setattr)
        assert main(["run", str(recipe), "--raw-logs", str(folder / "raw_logs")]) == 0
    return folder / "raw_logs"


@pytest.fixture(scope="module")
def site(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """Build the pages of these logs; return their folder, and the lines of the same build about the runs."""
    out = tmp_path_factory.mktemp("site") / "docs"
    command = [sys.executable, "-m", "ingest", str(raw), "--out", str(out), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return out, [json.loads(line) for line in done.stdout.splitlines()]


def test_every_run_is_claimed_with_the_case_of_its_recipe_and_no_problem(raw, site):
    _, runs = site
    assert len(runs) == 4
    for run in runs:
        written = load(raw.parent / Path(run["path"]).parent / "run.json")
        assert (run["format"], run["outcome"], run["observations"]) == ("ngc.pytorch_resnet50", "completed", 20)
        assert run["problems"] == []
        for key in ("framework", "model", "hardware", "nodes", "devices", "batch_size", "precision"):
            assert run["case"][key] == written["case"][key]


def test_the_figures_that_were_measured_are_on_the_pages(site):
    pages, runs = site
    cases: dict[str, list[float]] = {}
    for run in runs:
        speed = float(run["figures"]["sustained"]["value"])
        cases.setdefault(run["path"].split("/")[3], []).append(speed)
        assert said(pages / f"en/runs/{run['id']}.md", speed)
    assert len(cases) == 2
    for speeds in cases.values():
        assert said(pages / "en/models/resnet50/index.md", statistics.median(speeds))
        assert said(pages / "zh/models/resnet50/index.md", statistics.median(speeds))


def said(page: Path, figure: float) -> bool:
    """Return whether a page contains a figure, rounded as its spread asks for."""
    numbers = re.findall(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?", page.read_text(encoding="utf-8"))
    return any(abs(float(number.replace(",", "")) - figure) <= figure / 200 for number in numbers)


def test_logs_are_kept_as_printed(raw):
    for path in raw.rglob("train.log"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) == 21
        assert all(line.startswith("DLL ") for line in lines)
