"""What `--on` names: where the runs of a command go."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from perfledger.runners.job import PlannedRun, RunnerError
from perfledger.runners.sbatch import PARTITION, Partition
from perfledger.runners.slurm import Slurm, own_job
from perfledger.runners.ssh import Ssh
from perfledger.runners.transport import HOST, Local

FORMS = "it is local, ssh:HOST1,HOST2, slurm:PARTITION or, inside of a Slurm job, slurm"
#: The targets that `launch.json` can name.
AnyTarget = Local | Ssh | Slurm
#: What `--on` can name: a partition is where a job is submitted, whose nodes are the target.
AnyPlace = AnyTarget | Partition


def parse_target(on: str, ssh_config: str = "", sbatch: Sequence[str] = ()) -> AnyPlace:
    """Return the target, or the partition, that `--on` names.

    Raises:
        RunnerError: the target is unknown, or an option is for another kind of target.
    """
    kind, _, rest = on.partition(":")
    if sbatch and kind != "slurm":
        raise RunnerError(f"--sbatch {sbatch[0]}: it is for --on slurm:PARTITION, and this is --on {on}; leave it out")
    if ssh_config and kind != "ssh":
        raise RunnerError(f"--ssh-config {ssh_config}: it is for --on ssh:HOST, and this is --on {on}; leave it out")
    if on == "local":
        return Local()
    if kind == "ssh":
        # Absolute, since a run may be collected from another folder.
        return Ssh(_hosts(on, rest), ssh_config and str(Path(ssh_config).absolute()))
    if on == "slurm":
        return own_job()
    if kind == "slurm":
        if not PARTITION.fullmatch(rest):
            raise RunnerError(f"--on {on}: {rest!r} is not the name of a partition; `sinfo` lists them")
        return Partition(rest, tuple(sbatch))
    raise RunnerError(f"--on {on}: this target is unknown; {FORMS}")


def shown(target: AnyTarget, run: PlannedRun) -> str:
    """Return where a run goes, for a person; contact no host.

    Raises:
        RunnerError: the target has too few nodes for it.
    """
    target.prepare(run)
    return f"on {', '.join(target.hosts[: run.spec.nodes]) or 'this machine'}"


def _hosts(on: str, text: str) -> tuple[str, ...]:
    hosts = tuple(text.split(","))
    for host in hosts:
        if not HOST.fullmatch(host):
            raise RunnerError(
                f"--on {on}: {host!r} is not the name of a host; a port or a key belongs in the ssh configuration"
            )
        if hosts.count(host) > 1:
            raise RunnerError(f"--on {on}: {host} is named twice; one host is one node")
    return hosts
