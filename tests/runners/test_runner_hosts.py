"""`run` on hosts by SSH, from the command line to `run.json`: two nodes, a failing node, an unreachable host."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from perfledger.runners import run as runs
from perfledger.runners.cli import main
from tests.runners.clusters import SshHost, ssh_hosts
from tests.runners.home import RECORD, ROOT, folder_of, load, running, until
from tests.runners.node import ended

pytestmark = pytest.mark.usefixtures("bash")
PAIR = "cpu-n2d2-bs1-fp32"
RANK = 'RANK = "{node_rank}"\n'


@pytest.fixture
def hosts(tmp_path) -> Iterator[list[SshHost]]:
    """Two hosts, `one` and `two`."""
    with ssh_hosts(tmp_path, ["one", "two"]) as found:
        yield found


def on_both(*more: str) -> list[str]:
    """Return the options that send a run to both."""
    return ["--on", "ssh:one,two", "--case", "nodes=2,devices=2", *more]


def run(path, tmp_path, *more: str) -> int:
    return main(["run", str(path), "--raw-logs", str(tmp_path / "raw"), *on_both(*more)])


@pytest.mark.usefixtures("hosts")
def test_two_nodes_become_one_run_that_names_no_host(write_recipe, tmp_path):
    path = write_recipe(f'{RECORD} record 1; echo "rank $RANK"', more=RANK)
    assert run(path, tmp_path) == 0
    folder = folder_of(tmp_path, PAIR) / "1"
    written = load(folder / "run.json")
    assert (written["outcome"], written["records"]["count"], written["case"]["nodes"]) == ("completed", 1, 2)
    assert [node["folder"] for node in written["nodes"]] == [".", "node1"]
    assert (folder / "train.log").read_text().endswith("rank 0\n")
    assert (folder / "node1/train.log").read_text().endswith("rank 1\n")
    assert "node1/train.log" in written["files"]
    everything = "".join(file.read_text() for file in folder.rglob("*") if file.is_file())
    assert "127.0.0.1" not in everything
    assert str(tmp_path) not in everything
    assert run(path, tmp_path, "--resume") == 0
    assert [each.name for each in folder.parent.iterdir()] == ["1"]


SETUP = ["setup", "--on", "ssh:one,two"]


@pytest.mark.usefixtures("hosts")
def test_setup_makes_its_steps_on_one_host_after_the_other(write_recipe, tmp_path, capfd):
    step = f"echo $$ >>{tmp_path}/numbers; exit 3"
    path = write_recipe("true", more=f"[setup]\nsteps = [{json.dumps(step)}]\n")
    assert main([*SETUP, str(path), "--work", str(tmp_path)]) == 2
    printed = capfd.readouterr()
    assert [line for line in printed.out.splitlines() if line.endswith(":")] == ["one:", "two:"]
    for host in ("one", "two"):
        assert f"{host}: a setup step failed (exit status 3)" in printed.err
    assert (tmp_path / "numbers").read_text().count("\n") == 2


@pytest.mark.usefixtures("hosts")
def test_a_stopped_setup_ends_on_its_host(write_recipe, tmp_path):
    step = f"echo $$ >>{tmp_path}/numbers; exec sleep 60"
    path = write_recipe("true", more=f"[setup]\nsteps = [{json.dumps(step)}]\n")
    there = ["--work", str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-m", "runners", *SETUP, str(path), *there], cwd=ROOT, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        until(lambda: (tmp_path / "numbers").is_file() and (tmp_path / "numbers").read_text().endswith("\n"))
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out.splitlines()[0] == "one:"
    assert "two:" not in out
    until(lambda: ended(int((tmp_path / "numbers").read_text())))


@pytest.mark.usefixtures("hosts")
def test_a_node_that_fails_ends_the_others_and_gives_the_outcome(write_recipe, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "FAILED_SECONDS", 0.5)
    path = write_recipe('[ "$RANK" = 1 ] && { echo "CUDA out of memory"; exit 1; }; sleep 300', more=RANK)
    assert run(path, tmp_path) == 1
    written = load(folder_of(tmp_path, PAIR) / "1/run.json")
    assert written["outcome"] == "oom"
    assert [node["outcome"] for node in written["nodes"]] == ["stopped", "oom"]


@contextmanager
def meanwhile(act: Callable[[], None]) -> Iterator[None]:
    """Do something during the run, and wait until it is done."""
    thread = threading.Thread(target=act)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def cut_while_running(host: SshHost) -> None:
    until(lambda: any(log.stat().st_size for log in host.jobs.rglob("train.log")), 60)
    host.cut()


def test_an_unreachable_host_is_waited_for_and_the_run_completes(write_recipe, tmp_path, hosts):
    path = write_recipe(f"{RECORD} record 1; while [ ! -e {tmp_path}/go ]; do sleep 0.1; done")

    def cut_and_return() -> None:
        cut_while_running(hosts[1])
        time.sleep(1)
        hosts[1].start()
        (tmp_path / "go").touch()

    with meanwhile(cut_and_return):
        assert run(path, tmp_path) == 0
    assert load(folder_of(tmp_path, PAIR) / "1/run.json")["outcome"] == "completed"


def test_the_run_of_a_host_that_stays_unreachable_can_be_collected(write_recipe, tmp_path, hosts, capfd, monkeypatch):
    monkeypatch.setattr(runs, "PATIENCE_SECONDS", 1)
    path = write_recipe(f"{RECORD} record 1; while [ ! -e {tmp_path}/go ]; do sleep 0.1; done")
    with meanwhile(lambda: cut_while_running(hosts[1])):
        assert run(path, tmp_path, "--repeats", "3") == 1
    said = capfd.readouterr().out
    folder = folder_of(tmp_path, PAIR) / "1"
    assert f"{folder}: left unfinished, since it cannot be reached: two: " in said
    assert f"`python -m runners collect {folder}` finishes it" in said
    assert not (folder / "run.json").exists()
    # A process that still runs there would disturb the next run.
    assert [each.name for each in folder.parent.iterdir()] == ["1"]
    (tmp_path / "go").touch()
    hosts[1].start()
    until(lambda: main(["collect", str(folder)]) == 0)
    assert load(folder / "run.json")["outcome"] == "completed"


@pytest.mark.usefixtures("hosts")
def test_an_interrupt_stops_all_hosts_and_fetches_both_logs(write_recipe, tmp_path):
    path = write_recipe('echo "rank $RANK"; sleep 300', more=RANK)
    with running(path, tmp_path, *on_both(), nodes=2) as process:
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    folder = folder_of(tmp_path, PAIR) / "1"
    assert [node["outcome"] for node in load(folder / "run.json")["nodes"]] == ["stopped", "stopped"]
    assert (folder / "node1/train.log").read_text() == "rank 1\n"
