"""`setup`: installs what recipes need."""

from __future__ import annotations

from typing import Literal

import click

from perfledger.runners import recipes
from perfledger.runners.batch import COMPLETED
from perfledger.runners.cli.options import container_option, site_option, target_options, work_option
from perfledger.runners.cli.series import at_site
from perfledger.runners.job import ContainerTool, RunnerError
from perfledger.runners.settings import Settings
from perfledger.runners.setup import set_up, setup_steps
from perfledger.runners.ssh import Ssh
from perfledger.runners.targets import AnyPlace
from perfledger.runners.transport import Local


@click.command("setup")
@click.argument("chosen", nargs=-1, required=True, metavar="RECIPE...")
@target_options
@container_option
@work_option
@site_option
def setup(
    chosen: tuple[str, ...], target: AnyPlace, container: ContainerTool | Literal["none"], work: str, site: str
) -> int:
    """Install what recipes need.

    The steps of each run in a Python environment of its own below --work, or in its image with --container, on one
    host after the other; Ctrl-C ends them. With --on slurm they run here, since the nodes share folders. RECIPE is a
    name that `list` prints, or a .toml file.
    """
    loaded = [recipes.load(recipes.find(name)) for name in dict.fromkeys(chosen)]
    placed = [at_site(each, Settings(container, work), target, site) for each in loaded]
    steps = [setup_steps(each, settings) for each, (settings, _) in zip(loaded, placed, strict=True)]
    failures = []
    for each, (_, place), wanted in zip(loaded, placed, steps, strict=True):
        try:
            set_up(place if isinstance(place, Ssh) else Local(), wanted)
        except RunnerError as error:  # the other recipes do not need this one
            failures.append(f"recipe {each.name}: {error}")
    if failures:
        raise RunnerError("\n".join(failures))
    return COMPLETED
