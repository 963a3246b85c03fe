"""Targets that `--on` can name, and those that it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfledger.runners.job import RunnerError
from perfledger.runners.slurm import Slurm
from perfledger.runners.targets import parse_target
from perfledger.runners.transport import Local, Ssh


@pytest.mark.parametrize(
    ("on", "target"),
    [
        ("local", Local()),
        ("ssh:gpu1", Ssh(("gpu1",))),
        ("ssh:me@10.0.0.1,gpu_2.example.org,fe80::1", Ssh(("me@10.0.0.1", "gpu_2.example.org", "fe80::1"))),
        ("slurm:v100-32g", Slurm("v100-32g")),
        ("slurm:", Slurm("")),
        ("slurm", Slurm("")),
    ],
)
def test_targets(on, target):
    assert parse_target(on) == target


@pytest.mark.parametrize(
    "on",
    ["", "docker", "local:1", "ssh", "ssh:", "ssh:a,", "ssh:-oProxyCommand=true", "ssh:a b", "ssh:a;b", "ssh:$(b)",
     "ssh:a\nb", "ssh:me@-x", "ssh:@a", "ssh:gp\u00fc", "slurm:-x", "slurm:a b", "slurm:a,b"],
)  # fmt: skip
def test_an_invalid_target_is_refused_with_its_option(on):
    with pytest.raises(RunnerError, match="--on"):
        parse_target(on)


def test_a_host_is_one_node():
    with pytest.raises(RunnerError, match="gpu1 is named twice"):
        parse_target("ssh:gpu1,gpu2,gpu1")


def test_options_of_another_kind_of_target_are_refused():
    assert parse_target("ssh:a", ssh_config="here").config == str(Path("here").absolute())
    assert parse_target("slurm:a", sbatch=["--account=x"]).sbatch == ("--account=x",)
    with pytest.raises(RunnerError, match="--ssh-config here"):
        parse_target("local", ssh_config="here")
    with pytest.raises(RunnerError, match="--sbatch --account=x"):
        parse_target("ssh:a", sbatch=["--account=x"])
