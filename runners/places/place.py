"""Where a run goes: this machine, hosts by SSH, or a partition of a Slurm cluster, as `--on` names it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runners.errors import RunnerError

# A name must not begin with a dash: ssh and sbatch would take it for an option of theirs.
HOST = re.compile(r"(?:[A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9_][\w.:-]*", re.ASCII)
PARTITION = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
FORMS = "it is local, ssh:HOST1,HOST2 or slurm:PARTITION"


@dataclass(frozen=True)
class Place:
    """`kind` is local, ssh or slurm.

    `hosts` are as the user's ssh configuration knows them, in order of rank; an empty `partition` is the cluster's
    default; `ssh_config` is the path of a file to use instead of the user's own; `sbatch` are further arguments.
    """

    kind: str
    hosts: tuple[str, ...] = ()
    partition: str = ""
    ssh_config: str = ""
    sbatch: tuple[str, ...] = ()


def parse(on: str, ssh_config: str = "", sbatch: Sequence[str] = ()) -> Place:
    """The place that `--on` names; raises RunnerError where it names none."""
    kind, _, rest = on.partition(":")
    if sbatch and kind != "slurm":
        raise RunnerError(f"--sbatch {sbatch[0]}: it is for --on slurm:PARTITION, and this is --on {on}; leave it out")
    if ssh_config and kind != "ssh":
        raise RunnerError(f"--ssh-config {ssh_config}: it is for --on ssh:HOST, and this is --on {on}; leave it out")
    if on == "local":
        return Place("local")
    if kind == "ssh":
        # Whole, for a run may be collected from another folder.
        return Place("ssh", hosts=_hosts(on, rest), ssh_config=ssh_config and str(Path(ssh_config).absolute()))
    if kind == "slurm":
        return Place("slurm", partition=_partition(on, rest), sbatch=tuple(sbatch))
    raise RunnerError(f"--on {on}: there is no such place; {FORMS}")


def _hosts(on: str, text: str) -> tuple[str, ...]:
    hosts = tuple(text.split(","))
    for host in hosts:
        if not HOST.fullmatch(host):
            raise RunnerError(
                f"--on {on}: {host!r} is no name of a host; a port or a key belongs in the ssh configuration"
            )
        if hosts.count(host) > 1:
            raise RunnerError(f"--on {on}: {host} is named twice; one host is one node")
    return hosts


def _partition(on: str, text: str) -> str:
    if text and not PARTITION.fullmatch(text):
        raise RunnerError(f"--on {on}: {text!r} is no name of a partition; `sinfo` lists them")
    return text
