"""A tiny recipe, written again for each test, and fixtures of the tests of real runs."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

# A shell that starts the tests in the background has them ignore Ctrl-C, and so would every runner that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Hosts are locked while they measure: by tests, apart from other tests and from whatever measures here.
os.environ["PERFLEDGER_JOBS"] = tempfile.mkdtemp(prefix="perfledger-jobs.")
atexit.register(shutil.rmtree, os.environ["PERFLEDGER_JOBS"], ignore_errors=True)
os.environ["PERFLEDGER_COMPILED"] = f"{os.environ['PERFLEDGER_JOBS']}/compiled"  # see agents.kept
# Hosts of tests are asked by `python3`, which version managers replace by a shell script that takes longer than Python.
os.environ["PATH"] = f"{sys.base_prefix}/bin:{os.environ['PATH']}"

#: Values of the tiny recipe, which a test may give differently.
USUAL = {"timeout": 60, "batches": "1", "device": "cpu", "shape": "1n1d", "node": "first"}
TINY = """
title = "Lines printed by bash"
suite = "tiny"
framework = "Bash"
model = "Loop"
device = "{device}"
iterations = 3
repeats = 1
timeout_seconds = {timeout}
command = {command}

[records]
format = "ngc.pytorch_resnet50"
at_least = 1
node = "{node}"

[matrix]
shape = ["{shape}"]
batch_size = [{batches}]
precision = ["fp32"]

[options]
word = {word}
threads = 1

[environment_variables]
OMP_NUM_THREADS = "{{threads}}"
CASE = "{{batch_size}} {{devices}} {{precision}} {{iterations}} {{word}}"
"""

WriteRecipe = Callable[..., Path]
OnlyRun = Callable[[], tuple[Path, dict[str, Any]]]


@pytest.fixture(autouse=True)
def _short_waits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    # Workloads are tested on the Python of their framework, which may lack what the runners need.
    if not request.path.name.startswith("test_workload"):
        from tests.runners import quick

        quick.shorten(monkeypatch.setattr)


@pytest.fixture
def write_recipe(tmp_path: Path) -> WriteRecipe:
    """Return a function that writes the tiny recipe around a bash program, which finds the option `word` in `$1`.

    A `command` replaces bash and its program; it may contain slots. Further arguments replace values of `USUAL`.
    """

    def write(
        program: str = "true", *, more: str = "", command: Sequence[str] = (), word: str = "plain", **given: str | int
    ) -> Path:
        assert not given.keys() - USUAL.keys(), given
        path = tmp_path / "tiny.toml"
        # A slot's braces are doubled, since the program is bash and no template.
        bash = ["bash", "-c", program.replace("{", "{{").replace("}", "}}"), "bash", "{word}"]
        words = {"command": json.dumps(list(command) or bash), "word": json.dumps(word)}
        path.write_text(TINY.format(**words, **{**USUAL, **given}) + more, encoding="utf-8")
        return path

    return write


@pytest.fixture
def bash() -> str:
    """Return the bash of this machine; skip the test without one."""
    found = shutil.which("bash")
    if found is None:
        pytest.skip("bash is missing, and what the runners start is a bash script")
    return found


@pytest.fixture
def only_run(tmp_path: Path) -> OnlyRun:
    """Return a function that finds the folder and the run.json of the one finished run under `raw`."""

    def find() -> tuple[Path, dict[str, Any]]:
        (path,) = (tmp_path / "raw").rglob("run.json")
        return path.parent, json.loads(path.read_text(encoding="utf-8"))

    return find
