"""Setup steps of a recipe, on one host after the other, in the terminal of the user."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess

from msgspec import Struct
from msgspec.structs import asdict

from perfledger.runners.agent_link import ask_agents, decoded, question
from perfledger.runners.job import NodeVariable, RunnerError, VirtualEnvironment, Word
from perfledger.runners.programs import Question
from perfledger.runners.recipe import LaunchRecipe
from perfledger.runners.settings import Settings
from perfledger.runners.transport import USUAL_SECONDS, Reply, Target
from perfledger.runners.wrappers import entered

#: A setup step that installs for Python.
_PIP = re.compile(r"\bpip3?\b")


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
    # A Python that the site names is its owner's: nothing is installed for it, unless it is an environment itself.
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
    if settings.container == "pyxis":
        remedy = "run it with --container apptainer or docker, or without --container for steps that only fetch sources"
        raise RunnerError(f"recipe {recipe.name}: pyxis works inside of Slurm jobs, and setup is none; {remedy}")
    if recipe.container is None:
        raise RunnerError(f"recipe {recipe.name}: it names no image for --container {settings.container}; leave it out")
    lost = next((step for step in recipe.setup.steps if _PIP.search(step) and "--target" not in step), "")
    if lost or recipe.lock:
        lines = f"  FROM {recipe.container.image}\n  RUN {lost or 'python -m pip install --require-hashes -r ...'}"
        why = f"what it installs would be gone with the container; build an image of your own,\n{lines}\n"
        raise RunnerError(f"recipe {recipe.name}: {why}and name it in `container.image` of a copy of the recipe")
    variables = ["work", *settings.variables]
    return tuple(entered(settings.container, recipe.container, variables, [NodeVariable("work")], "cpu"))


def virtual_environment(recipe: LaunchRecipe) -> VirtualEnvironment | None:
    """Return the Python environment that `setup` makes for a recipe; None if it installs nothing, or names a Python.

    If the steps only fetch sources, the host's own Python runs the recipe.
    """
    installs = bool(recipe.lock) or any(map(_PIP.search, recipe.setup.steps))
    if not installs or "/" in recipe.setup.python:
        return None
    made_of = json.dumps([recipe.setup.python, recipe.lock, recipe.setup.steps])
    return VirtualEnvironment(recipe.name, hashlib.sha256(made_of.encode()).hexdigest())


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
