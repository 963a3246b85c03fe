"""Back ends: each builds the argv that reaches a place, and nothing else."""

from __future__ import annotations

from runners.backends import local, slurm, ssh
from runners.places.place import Place


def shells(place: Place, gpus: int = 0) -> dict[str, list[str]]:
    """By host, the argv that runs there the bash program on its standard input.

    Of a Slurm cluster it is one node of the partition, with so many `gpus`, under the partition's name: its nodes are
    taken to be alike.
    """
    if place.kind == "ssh":
        return {host: ssh.argv(host, place.ssh_config) for host in place.hosts}
    if place.kind == "slurm":
        return {place.partition or "slurm": slurm.shell(place, gpus)}
    return {"local": local.argv()}
