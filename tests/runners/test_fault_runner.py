"""The command line with hosts by SSH and with Slurm, from recipe to `run.json`, through cuts and killed runners."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from runners.cli import main
from tests.runners.clusters import slurm_cluster, ssh_hosts
from tests.runners.home import RECORD
from tests.runners.node import polls

pytestmark = pytest.mark.usefixtures("bash")
ROOT = Path(__file__).parents[2]
WAIT = RECORD + 'record 1; until [ -e "$1" ]; do sleep 0.05; done; record 2'


@pytest.fixture
def hosts(tmp_path):
    with ssh_hosts(tmp_path, ["alpha", "omega"]) as found:
        yield found


@pytest.fixture
def waiting(write_recipe, tmp_path):
    """Write a recipe whose command waits for the file `go`."""
    path = write_recipe(WAIT)
    path.write_text(path.read_text().replace('word = "plain"', f'word = "{tmp_path}/go"'), encoding="utf-8")
    return path


def arguments(path, tmp_path, on, *more):
    config = ["--ssh-config", str(tmp_path / "ssh_config")] if on.startswith("ssh") else []
    return ["run", str(path), "--on", on, *config, "--raw-logs", str(tmp_path / "raw"), *more]


def lines(tmp_path):
    """Return how many lines the logs of all jobs have on their hosts."""
    return [log.read_text().count("\n") for log in tmp_path.glob("*/jobs/*/node*/train.log")]


def test_a_run_on_two_hosts_becomes_one_folder_that_names_neither(write_recipe, tmp_path, hosts, only_run):
    path = write_recipe(RECORD + "record $RANK", more='RANK = "{node_rank}"\n')
    assert main(arguments(path, tmp_path, "ssh:alpha,omega", "--case", "nodes=2,devices=2")) == 0
    folder, run = only_run()
    assert "Iteration: 0 " in (folder / "train.log").read_text()
    assert "Iteration: 1 " in (folder / "node1/train.log").read_text()
    assert [(node["folder"], node["outcome"]) for node in run["nodes"]] == [(".", "completed"), ("node1", "completed")]
    assert not (folder / "incoming").exists()
    assert not (folder / "launch.json").exists()
    text = (folder / "run.json").read_text()
    assert not [name for name in ("alpha", "omega", "127.0.0.1", str(tmp_path)) if name in text]


def test_another_runner_finishes_the_run_of_a_killed_one(tmp_path, waiting, hosts, only_run):
    argv = [sys.executable, "-m", "runners", *arguments(waiting, tmp_path, "ssh:alpha")]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True) as runner:
        assert any(lines(tmp_path) == [1] for _ in polls(30))
        os.killpg(runner.pid, signal.SIGKILL)
    (tmp_path / "go").touch()
    assert main(arguments(waiting, tmp_path, "ssh:alpha", "--resume")) == 0
    _, run = only_run()
    assert (run["outcome"], run["records"]["count"]) == ("completed", 2)
    assert lines(tmp_path) == [2]


def test_a_run_whose_host_is_unreachable_for_too_long_is_left_and_collected_later(tmp_path, waiting, hosts, only_run):
    argv = [sys.executable, "-m", "runners", *arguments(waiting, tmp_path, "ssh:alpha", "--patience", "1")]
    with subprocess.Popen(argv, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as runner:
        assert any(lines(tmp_path) == [1] for _ in polls(30))
        hosts[0].cut()
        said, _ = runner.communicate(timeout=60)
    assert runner.returncode == 1
    assert "alpha: " in said
    assert "python -m runners collect" in said
    assert not list(tmp_path.rglob("run.json"))
    (tmp_path / "go").touch()
    hosts[0].start()
    assert main(["collect", "--raw-logs", str(tmp_path / "raw")]) == 0
    _, run = only_run()
    assert (run["outcome"], run["records"]["count"]) == ("completed", 2)


def test_a_run_on_a_cluster_becomes_one_folder(write_recipe, tmp_path, monkeypatch, only_run):
    path = write_recipe(RECORD + "record $RANK; echo $SLURMD_NODENAME", more='RANK = "{node_rank}"\n')
    with slurm_cluster() as cluster:
        for name, value in cluster.variables.items():
            monkeypatch.setenv(name, value)
        assert main(arguments(path, tmp_path, "slurm:debug", "--case", "nodes=2,devices=2")) == 0
    folder, run = only_run()
    assert (folder / "train.log").read_text().endswith("\nblade1\n")
    assert (folder / "node1/train.log").read_text().endswith("\nblade2\n")
    assert [node["outcome"] for node in run["nodes"]] == ["completed", "completed"]
    assert not (folder / "incoming").exists()
    assert run["records"]["count"] == 1
