"""`check`: the checks before a run."""

from __future__ import annotations

from collections.abc import Sequence

import click

from perfledger.runners.batch import COMPLETED, REFUSED, checked_part
from perfledger.runners.cli.options import Asked, check_options
from perfledger.runners.cli.series import series_of
from perfledger.runners.display import complain
from perfledger.runners.ingest_link import check_ingest
from perfledger.runners.job import PlannedRun, RunnerError
from perfledger.runners.nodes import printable
from perfledger.runners.slurm import Partition
from perfledger.runners.transport import Target, UnreachableError


@click.command("check")
@check_options
def check(asked: Asked) -> int:
    """Check hosts for a run, and start nothing.

    It makes the checks that come before each run (container tool, GPUs, sources, programs, packages, space, load), for
    each case that needs others. RECIPE is a name that `list` prints, or a .toml file.
    """
    series = series_of(asked)
    check_ingest({each.recipe.name: each.recipe.records.format for each in asked.chosen})
    if isinstance(series.target, Partition):
        print(f"the job checks its nodes itself; Slurm says: {printable(series.target.check(series.firsts))}")
        return COMPLETED
    return check_hosts(series.firsts, series.target)


def check_hosts(firsts: Sequence[PlannedRun], target: Target) -> int:
    """Check the hosts once for all cases that ask the same of them; return 2 where one is refused."""
    asked: dict[bytes, PlannedRun] = {}
    for first in firsts:
        asked.setdefault(checked_part(first.spec), first)
    worst = COMPLETED
    for each in asked.values():
        try:
            warnings = target.check(each)
        except UnreachableError:
            raise
        except RunnerError as error:
            complain(RunnerError(f"{each.folder.parent.name}: {error}"))
            worst = REFUSED
            continue
        for warning in (*warnings.warnings, *warnings.disturbances):
            print(f"{each.folder.parent.name}: warning: {printable(warning)}")
        hosts = ", ".join(target.hosts[: each.spec.nodes])
        print(f"{each.folder.parent.name}: can run{' on ' + hosts if hosts else ''}")
    return worst
