"""The rank of this process in its job, and the job's meeting point, from the variables of torchrun or mpirun."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

#: Variables of launchers for the rank of a process, the number of processes, and the rank on this host. torchrun's
#: come first, since it may itself run below mpirun.
PLACES = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
)
ON_THIS_HOST = "OMPI_COMM_WORLD_LOCAL_SIZE"
MEETING_POINT = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}


@dataclass(frozen=True)
class Process:
    """One of `world_size` processes; `local_rank` counts those of this host and chooses the GPU."""

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0


def process_of(environment: Mapping[str, str]) -> Process:
    """Return this process's rank from the variables of the launcher that started it; a single process without one.

    Raises:
        ValueError: a launcher's variables are incomplete: each process would train alone and call that the job.
    """
    for names in PLACES:
        given = [name for name in names if name in environment]
        missing = ", ".join(name for name in names if name not in environment)
        if given and missing:
            raise ValueError(f"{', '.join(given)} is set and {missing} is not: set all three, or none for one process")
        if given:
            return Process(*(int(environment[name]) for name in names))
    return Process()


def meeting_point(process: Process, environment: Mapping[str, str]) -> dict[str, str]:
    """Set MASTER_ADDR and MASTER_PORT if the environment lacks them, as it does below mpirun.

    Raises:
        ValueError: the job spans several hosts, and no meeting point is set.
    """
    if "MASTER_ADDR" not in environment and environment.get(ON_THIS_HOST) != str(process.world_size):
        raise ValueError(
            "MASTER_ADDR is not set, and processes of this job are on other hosts: give it the address of rank 0's host"
        )
    return {name: value for name, value in MEETING_POINT.items() if name not in environment}
