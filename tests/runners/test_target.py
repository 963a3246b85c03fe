"""What `--on` names, and what it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.errors import RunnerError
from runners.places.place import Place, parse


@pytest.mark.parametrize(
    ("on", "place"),
    [
        ("local", Place("local")),
        ("ssh:gpu1", Place("ssh", hosts=("gpu1",))),
        ("ssh:me@10.0.0.1,gpu_2.example.org,fe80::1", Place("ssh", ("me@10.0.0.1", "gpu_2.example.org", "fe80::1"))),
        ("slurm:v100-32g", Place("slurm", partition="v100-32g")),
        ("slurm:", Place("slurm")),
        ("slurm", Place("slurm")),
    ],
)
def test_places(on, place):
    assert parse(on) == place


@pytest.mark.parametrize(
    "on",
    ["", "docker", "local:1", "ssh", "ssh:", "ssh:a,", "ssh:-oProxyCommand=true", "ssh:a b", "ssh:a;b", "ssh:$(b)",
     "ssh:a\nb", "ssh:me@-x", "ssh:@a", "ssh:gp\u00fc", "slurm:-x", "slurm:a b", "slurm:a,b"],
)  # fmt: skip
def test_what_is_no_place_is_refused_and_named(on):
    with pytest.raises(RunnerError, match="--on"):
        parse(on)


def test_a_host_is_one_node():
    with pytest.raises(RunnerError, match="gpu1 is named twice"):
        parse("ssh:gpu1,gpu2,gpu1")


def test_arguments_of_one_back_end_are_not_silently_left_out_by_another():
    assert parse("ssh:a", ssh_config="here").ssh_config == str(Path("here").absolute())
    assert parse("slurm:a", sbatch=["--account=x"]).sbatch == ("--account=x",)
    with pytest.raises(RunnerError, match="--ssh-config here"):
        parse("local", ssh_config="here")
    with pytest.raises(RunnerError, match="--sbatch --account=x"):
        parse("ssh:a", sbatch=["--account=x"])
