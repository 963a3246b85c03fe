"""Ranks of a trainer, from the variables that torchrun, mpirun or nobody set."""

from __future__ import annotations

import pytest

from runners.workloads.ranks import Process, meeting_point, process_of

TORCHRUN = {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "29400"}
MPIRUN = {
    "OMPI_COMM_WORLD_RANK": "3",
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
}


@pytest.mark.parametrize(
    ("environment", "process"),
    [
        ({}, Process(0, 1, 0)),
        (TORCHRUN, Process(5, 8, 1)),
        (MPIRUN, Process(3, 4, 1)),
        ({**MPIRUN, **TORCHRUN}, Process(5, 8, 1)),
    ],
)
def test_the_launcher_says_which_process_this_is(environment, process):
    assert process_of(environment) == process


@pytest.mark.parametrize("complete", [TORCHRUN, MPIRUN])
@pytest.mark.parametrize("lacking", range(3))
def test_incomplete_variables_of_a_launcher_are_refused(complete, lacking):
    name = list(complete)[lacking]
    with pytest.raises(ValueError, match=f"{name} is not"):
        process_of({key: value for key, value in complete.items() if key != name})


def test_a_given_meeting_point_is_used():
    assert meeting_point(Process(5, 8, 1), TORCHRUN) == {}


def test_processes_of_one_host_meet_there():
    alone_here = {**MPIRUN, "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}
    assert meeting_point(Process(3, 4, 3), alone_here) == {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
    assert meeting_point(Process(3, 4, 3), {**alone_here, "MASTER_PORT": "7"}) == {"MASTER_ADDR": "127.0.0.1"}


def test_processes_of_several_hosts_need_a_meeting_place():
    with pytest.raises(ValueError, match="MASTER_ADDR is not set"):
        meeting_point(Process(3, 4, 1), MPIRUN)
