"""`setup`: installs what recipes need, on one host after the other, in the terminal of the user."""

from __future__ import annotations

import subprocess
from typing import Literal

import click
from msgspec import Struct
from msgspec.structs import asdict

from perfledger.runners import recipes
from perfledger.runners.agent_link import ask_agents, decoded, question
from perfledger.runners.batch import COMPLETED
from perfledger.runners.cli.options import AnyPlace, container_option, site_option, target_options, work_option
from perfledger.runners.cli.series import at_site
from perfledger.runners.command import virtual_environment
from perfledger.runners.job import ContainerTool, NodeVariable, RunnerError, VirtualEnvironment, Word
from perfledger.runners.programs import Question
from perfledger.runners.recipes import LaunchRecipe
from perfledger.runners.settings import Settings
from perfledger.runners.ssh import Ssh
from perfledger.runners.transport import USUAL_SECONDS, Local, Reply, Target
from perfledger.runners.wrappers import entered


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
    place, target = at_site(target, site)
    for wanted in [setup_steps(each, Settings(container, work).at(place, each)) for each in loaded]:
        set_up(target if isinstance(target, Ssh) else Local(), wanted)
    return COMPLETED


class SetupSteps(Struct, frozen=True, kw_only=True):
    """The steps of `setup` on a host: make the recipe's Python environment, if it has one, and run the steps inside it.

    `python` is what the environment is made of, `lock` the text of a requirements file with hashes that is installed
    first; `prologue` and `variables` are the site's; `enter` are the words that run a step in an image.
    """

    steps: tuple[str, ...]
    work: str = ""
    virtual_environment: VirtualEnvironment | None = None
    python: str = "python"
    lock: str = ""
    prologue: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    enter: tuple[Word, ...] = ()


def setup_steps(recipe: LaunchRecipe, settings: Settings) -> SetupSteps:
    """Return what `setup` does on each host.

    Raises:
        RunnerError: the recipe has no steps, or they would install into a container that is gone when they end.
    """
    if not recipe.setup.steps and not recipe.lock:
        raise RunnerError(f"recipe {recipe.name}: it has no setup steps; `show` says in words what it needs")
    used = settings.applied(recipe)
    made = virtual_environment(used) if settings.container == "none" else None
    return SetupSteps(
        steps=used.setup.steps,
        work=settings.work,
        virtual_environment=made,
        python=used.setup.python,
        lock=used.lock,
        prologue=settings.place.prologue,
        variables=dict(settings.variables),
        enter=_entering(used, settings),
    )


def _entering(recipe: LaunchRecipe, settings: Settings) -> tuple[Word, ...]:
    """Return the words that run a setup step in the recipe's image, where one is used: what lands in --work stays."""
    if settings.container == "none":
        return ()
    if recipe.container is None:
        raise RunnerError(f"recipe {recipe.name}: it names no image for --container {settings.container}; leave it out")
    variables = ["work", *settings.variables]
    return tuple(entered(settings.container, recipe.container, variables, [NodeVariable("work")], "cpu"))


def set_up(target: Target, wanted: SetupSteps) -> None:
    """Run setup steps on one host after the other.

    Raises:
        RunnerError: a step failed; the message names each host with a failed step.
    """
    failures = [fault for rank in target.ranks if (fault := _set_up(target, rank, wanted))]
    if failures:
        raise RunnerError("\n".join(failures))


def _set_up(target: Target, rank: int, wanted: SetupSteps) -> str:
    """Run setup steps on a host; return why they failed, empty if they did not."""
    host = target.name(rank)
    print(f"{host}:", flush=True)
    argv = target.argv(rank)
    (answer,) = ask_agents([Question(argv, question(argv, "setup", **asdict(wanted)))], USUAL_SECONDS)
    ready = decoded(answer, Reply)
    if ready is None:
        return target.explained(rank, answer)
    if ready.refused:
        return f"{host}: {ready.refused}"
    # The terminal sends Ctrl-C to the steps, on another host through ssh.
    status = subprocess.call(target.attached(rank, ready.argv))
    return f"{host}: a setup step failed (exit status {status})" if status else ""
