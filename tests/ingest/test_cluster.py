"""Logs read on a Dask cluster give the same bytes as here, even if workers die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_logs import run_json, seg
from made_trees import Called, write_run

from perfledger import PROJECT_VARIABLE
from perfledger.ingest.record import cluster
from perfledger.ingest.record.cluster import Cluster

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

Ingest = Callable[..., Called]
ROOT = Path(__file__).resolve().parents[2]
#: Size of a batch that makes a tree of small logs many batches.
SMALL = 1
#: A sitecustomize that kills a process when it opens a log named "poison", like a crash or a lack of memory.
POISON = """
import os, signal, sys
def end(event, args):
    if event == "open" and "poison" in str(args[0]) and str(args[0]).endswith("train.log"):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(end)
"""
#: A sitecustomize that writes a file when a log is read, and waits, in the processes that read batches.
WAIT = """
import os, pathlib, sys, time
def wait(event, args):
    reads = "perfledger.ingest.common.processes" in sys.orig_argv
    if event == "open" and reads and str(args[0]).endswith("case-01/1/train.log"):
        pathlib.Path({marker!r}).write_text(str(os.getpid()))
        time.sleep(600)
sys.addaudithook(wait)
"""


def cases(folder: Path, count: int) -> Path:
    """Write a tree of cases."""
    for at in range(count):
        speeds = [4.0, 20.0 + at, 21.0, 22.0, 23.0, 24.0]
        write_run(folder / "logs", f"case-{at:02}/1", seg(speeds, batch=4), run=run_json(model=f"model {at}"))
    return folder / "logs"


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Return a tree of a dozen cases."""
    return cases(tmp_path, 12)


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Return a tree of three cases, for tests that start a process for each."""
    return cases(tmp_path, 3)


def test_a_cluster_of_this_machine_gives_the_same_bytes(few: Path, ingest: Ingest) -> None:
    here, there = ingest(few, "--json"), ingest(few, "--json", "--on", "dask", "--jobs", 2)
    assert there.out == here.out
    assert (there.code, there.err) == (here.code, here.err)


def test_a_log_that_kills_its_reader_is_a_problem_of_that_log(
    few: Path, tmp_path: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = ingest(few, "--json").lines
    write_run(few, "poison/1", seg([9.0] * 6, batch=4), run=run_json())
    (tmp_path / "sitecustomize.py").write_text(POISON, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    called = ingest(few, "--json", "--on", "dask", "--jobs", 1)
    (problem,) = called.problems
    assert "poison/1/train.log" in problem
    assert called.code == 1
    others = [each for each in called.lines if "poison" not in each["path"]]
    assert others == expected


@pytest.mark.parametrize(
    ("where", "said"),
    [("tcp://127.0.0.1:9", "the cluster does not answer"), ("cluster", "give dask, or the address of a scheduler")],
)
def test_the_message_about_a_missing_cluster_names_it(
    few: Path, tmp_path: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch, where: str, said: str
) -> None:
    monkeypatch.setattr(cluster, "_ANSWER", 1)
    called = ingest(few, "--out", tmp_path / "docs", "--on", where)
    assert called.code == 2
    assert f"--on {where}: " in called.err
    assert said in called.err
    assert not (tmp_path / "docs" / "data").exists()


def test_the_message_without_dask_has_the_remedy(few: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    called = ingest(few, "--json", "--on", "dask")
    assert called.code == 2
    assert "pip install" in called.err


def test_the_message_about_workers_without_the_logs_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROJECT_VARIABLE, os.devnull)
    (tmp_path / "logs").mkdir()
    sender = replace(cluster.sender_of("perfledger", [Path("logs"), Path("other")]), folder=str(tmp_path))
    assert cluster.refusal(sender) == "has no other; share the folder under this path"
    assert cluster.refusal(replace(sender, folder=str(tmp_path / "gone"))).startswith("has no logs")
    assert cluster.refusal(replace(sender, paths=("logs",))) == ""


def start(*arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", *map(str, arguments)], cwd=ROOT, stderr=subprocess.PIPE)


def wait_for(path: Path) -> None:
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.1)
    raise AssertionError(path)


def test_if_the_scheduler_ends_the_command_ends_and_writes_nothing(
    few: Path, tmp_path: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    address_file = tmp_path / "scheduler.json"
    scheduler = start("distributed.cli.dask_scheduler", "--scheduler-file", address_file, "--port", 0, "--no-dashboard")
    wait_for(address_file)
    address = json.loads(address_file.read_text("utf-8"))["address"]
    worker = start("distributed.cli.dask_worker", address, "--nthreads", 1, "--no-dashboard")
    result = Cluster._result

    def end_scheduler(*args: Any) -> Any:
        found = result(*args)
        scheduler.kill()
        return found

    monkeypatch.setattr(cluster, "_LEAST", SMALL)
    monkeypatch.setattr(Cluster, "_result", end_scheduler)
    try:
        called = ingest(few, "--out", tmp_path / "docs", "--on", address)
    finally:
        for each in (scheduler, worker):
            each.kill()
            each.communicate()
    assert called.code == 2
    assert "the cluster does not answer" in called.err
    assert not (tmp_path / "docs" / "data").exists()


def test_an_interruption_changes_no_file_and_leaves_no_process(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, marker = tmp_path / "docs", tmp_path / "reading"
    (tmp_path / "sitecustomize.py").write_text(WAIT.format(marker=str(marker)), "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    process = subprocess.Popen(
        [sys.executable, "-m", "ingest", str(few), "--out", str(out), "--on", "dask", "--jobs", "2"],
        cwd=ROOT, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    wait_for(marker)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert b"interrupted; every file is either as before or complete" in said
    assert b"Traceback" not in said
    assert not (out / "data").exists()
    reader = Path("/proc") / marker.read_text("utf-8")
    for _ in range(100):
        if not reader.exists():
            break
        time.sleep(0.1)
    assert not reader.exists()


# These tests are the last ones, since a running cluster makes others slow.


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    """Yield a cluster of two worker processes, which start again if they die."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as made:
        yield made


def test_killing_a_worker_changes_no_output(
    many: Path, ingest: Ingest, workers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []
    result = Cluster._result

    def kill_one(*args: Any) -> Any:
        found = result(*args)
        if not killed:
            killed.append(workers.workers[0].pid)
            os.kill(killed[0], signal.SIGKILL)
        return found

    monkeypatch.setattr(cluster, "_LEAST", SMALL)
    monkeypatch.setattr(Cluster, "_result", kill_one)
    there = ingest(many, "--json", "--on", workers.scheduler_address)
    assert killed
    assert there.out == ingest(many, "--json").out
    assert there.code == 0


def test_workers_of_another_version_read_nothing(
    few: Path, ingest: Ingest, workers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "code_of", lambda _layout: "another")
    called = ingest(few, "--json", "--on", workers.scheduler_address)
    assert called.code == 2
    assert "another version of Perfledger" in called.err
    assert called.out == ""
