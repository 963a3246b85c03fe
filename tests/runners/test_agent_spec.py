"""The records that the launcher and the agent exchange have the same fields on both sides."""

from __future__ import annotations

import msgspec
import pytest

from perfledger.runners import job, nodes
from perfledger.runners.agent import run, setup, spec
from perfledger.runners.cli import setup as launcher_setup
from tests.runners.jobs import CPU

PAIRS = {
    spec.Specification: job.JobSpec,
    spec.NodeContainer: job.ContainerSpec,
    spec.EnvironmentName: job.VirtualEnvironment,
    spec.SiteDevice: job.DeclaredAccelerator,
    setup.SetupRequest: launcher_setup.SetupSteps,
    run.HostJson: nodes.HostRecord,
}


@pytest.mark.parametrize("agents", PAIRS, ids=lambda kind: kind.__name__)
def test_both_records_have_the_same_fields(agents):
    assert set(agents._fields) == set(PAIRS[agents].__struct_fields__)


def test_records_inside_a_specification_are_records():
    container = job.ContainerSpec("docker", "an/image:1", (("docker",), ("run",)))
    sent = msgspec.structs.replace(CPU, prologue=("module load cuda",), container=container)
    found = spec.job_spec(msgspec.to_builtins(sent))
    assert found.prologue == ("module load cuda",)
    assert found.container == spec.NodeContainer("docker", "an/image:1", (("docker",), ("run",)), "", "")
    assert (found.accelerator, found.device) == (None, "cpu")
