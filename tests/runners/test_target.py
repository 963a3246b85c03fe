"""Targets that `--on` can name, and those that it cannot."""

from __future__ import annotations

import pytest

from perfledger.runners.cli.options import parse_target
from perfledger.runners.job import RunnerError
from perfledger.runners.slurm import Partition, Slurm
from perfledger.runners.ssh import Ssh
from perfledger.runners.transport import Local
from tests.runners.node import tool


@pytest.mark.parametrize(
    ("on", "target"),
    [
        ("local", Local()),
        ("ssh:gpu1", Ssh(("gpu1",))),
        ("ssh:me@10.0.0.1,gpu_2.example.org,fe80::1", Ssh(("me@10.0.0.1", "gpu_2.example.org", "fe80::1"))),
        ("slurm:v100-32g", Partition("v100-32g")),
    ],
)
def test_targets(on, target):
    assert parse_target(on) == target


@pytest.mark.parametrize(
    "on",
    ["", "docker", "local:1", "ssh", "ssh:", "ssh:a,", "ssh:-oProxyCommand=true", "ssh:a b", "ssh:a;b", "ssh:$(b)",
     "ssh:a\nb", "ssh:me@-x", "ssh:@a", "ssh:gp\u00fc", "slurm:", "slurm:-x", "slurm:a b", "slurm:a,b"],
)  # fmt: skip
def test_an_invalid_target_is_refused_with_its_option(on):
    with pytest.raises(RunnerError, match="--on"):
        parse_target(on)


def test_the_nodes_of_a_slurm_job_are_those_that_slurm_names(tmp_path, monkeypatch):
    for name, value in {"JOB_ID": "7", "JOB_NODELIST": "n[1-2]", "JOB_PARTITION": "v100"}.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    monkeypatch.setenv("PATH", tool(tmp_path, "scontrol", '[ "$*" = "show hostnames n[1-2]" ] && printf "n1\nn2\n"'))
    assert parse_target("slurm", sbatch=["--account=x"]) == Slurm(("n1", "n2"), "7", "v100")
    for name, value in {"GPUS": "16", "GPUS_ON_NODE": "8"}.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    assert "--gpus=8" in parse_target("slurm").argv(1)
    tool(tmp_path, "scontrol", "exit 1")
    with pytest.raises(RunnerError, match="the nodes of job 7 are not known"):
        parse_target("slurm")


def test_a_host_is_one_node():
    with pytest.raises(RunnerError, match="an invalid host, or one twice"):
        parse_target("ssh:gpu1,gpu2,gpu1")


def test_options_of_another_kind_of_target_are_refused():
    assert parse_target("slurm:a", sbatch=["--account=x"]).sbatch == ("--account=x",)
    with pytest.raises(RunnerError, match="--sbatch --account=x"):
        parse_target("ssh:a", sbatch=["--account=x"])
