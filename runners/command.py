"""From a case to the command of its nodes: slots filled, the trainer under its launcher, in its container.

Words contain a `NodeVariable` for each value that only the node knows.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from perfledger.runners.cases import RecipeCase, case_choices, case_folder
from perfledger.runners.folders import next_repeat
from perfledger.runners.job import (
    NCCL_VARIABLES,
    OF_INTERFACE,
    RUN_SCHEMA,
    ContainerSpec,
    JobSpec,
    NodeVariable,
    PlannedRecord,
    PlannedRun,
    RequiredRecords,
    RunnerError,
    SourceRecord,
    VirtualEnvironment,
    Word,
    literal,
    texts,
)
from perfledger.runners.recipes import Image, LaunchRecipe
from perfledger.runners.settings import Settings
from perfledger.runners.wrappers import LAUNCHERS, CaseWords, entered, pinned, used_launcher
from perfledger.schema.records import Case, Container, Recipe

#: A setup step that installs for Python.
PIP = re.compile(r"\bpip3?\b")


def plan_run(recipe: LaunchRecipe, case: RecipeCase, raw_logs: Path, settings: Settings | None = None) -> PlannedRun:
    """Return the next run of a case, with all that it needs to start.

    Args:
        recipe: the recipe.
        case: one of its cases.
        raw_logs: the folder that runs go to.
        settings: what the user chose beyond the recipe.

    Raises:
        RunnerError: a slot has no value, a file cannot be read, or the recipe cannot be run in this way.
    """
    settings = settings or Settings()
    written, recipe, case = recipe, settings.applied(recipe), settings.prefixed(case)
    environment = virtual_environment(recipe) if settings.container == "none" else None
    passed = _passed_on(recipe, case, settings, environment)
    words = CaseWords(recipe, case, settings.data)
    command = [*literal(*settings.place.prefix), *words.launch(passed)]
    launcher = LAUNCHERS[used_launcher(recipe, case)]
    container = _container(recipe, case, settings, command, used_image(recipe, case))
    spec = JobSpec(
        command=tuple(command),
        device=recipe.device,
        accelerator=settings.place.accelerator,
        nodes=case.nodes,
        devices_per_node=case.devices_per_node,
        every_node=launcher.every_node,
        timeout_seconds=recipe.timeout_seconds,
        variables=words.variables(),
        files={name: _content(recipe, path) for name, path in recipe.sent.items()},
        container=container,
        python=recipe.setup.python,
        packages=recipe.setup.packages,
        virtual_environment=environment,
        prologue=settings.place.prologue,
        secrets=settings.secrets,
        source_folder=recipe.source.folder,
        expected_commit=recipe.source.commit,
        work=settings.work,
        data=settings.data,
        threads=str(case.slots.get("threads", "")),
        even_if_busy=settings.if_busy in ("run", "count"),
    )
    folder = case_folder(recipe, case, raw_logs)
    repeat = next_repeat(folder)
    record = _record(written, case, settings, spec, repeat)
    wanted = _wanted(recipe, case, settings.smoke)
    return PlannedRun(folder=folder / str(repeat), record=record, wanted=wanted, spec=spec)


def _wanted(recipe: LaunchRecipe, case: RecipeCase, smoke: bool) -> RequiredRecords:
    """Return the records that the log must have; a smoke run prints fewer."""
    asked, iterations = recipe.records, int(case.slots["iterations"])
    fewer = max(1, asked.at_least * iterations // recipe.iterations)
    return replace(asked, at_least=min(fewer, asked.at_least) if smoke else asked.at_least)


def _passed_on(
    recipe: LaunchRecipe, case: RecipeCase, settings: Settings, environment: VirtualEnvironment | None
) -> list[str]:
    """Return the variables that a launcher which starts other nodes by itself must pass on to them.

    Raises:
        RunnerError: such a launcher would start the other nodes without the prefix of the site.
    """
    if LAUNCHERS[used_launcher(recipe, case)].every_node or case.nodes == 1:
        return [*settings.secrets]
    if settings.place.prefix:
        what = (
            f"`launcher.name` is {recipe.launcher.name!r}, which starts the other nodes without the prefix of the site"
        )
        raise RunnerError(f"recipe {recipe.name}: {what}; use an argument of the launcher instead")
    paths = ["PATH"] if environment or settings.place.prologue else []
    return [*settings.secrets, *paths, *(["LD_LIBRARY_PATH"] if settings.place.prologue else [])]


def virtual_environment(recipe: LaunchRecipe) -> VirtualEnvironment | None:
    """Return the Python environment that `setup` makes for a recipe; None if it installs nothing, or names a Python.

    If the steps only fetch sources, the host's own Python runs the recipe.
    """
    installs = bool(recipe.lock) or any(map(PIP.search, recipe.setup.steps))
    if not installs or "/" in recipe.setup.python:
        return None
    made_of = json.dumps([recipe.setup.python, recipe.lock, recipe.setup.steps])
    return VirtualEnvironment(recipe.name, hashlib.sha256(made_of.encode()).hexdigest())


def commit_of(files: Iterable[Path]) -> str:
    """Return the git commit that contains these files unchanged; empty if no commit does."""
    paths = [str(path.resolve()) for path in files]
    if not paths or _git(paths[0], "status", "--porcelain", "--", *paths) != "":
        return ""
    return _git(paths[0], "rev-parse", "HEAD") or ""


#: Computed once, since files may change during a long series.
_commit = functools.cache(commit_of)


def _git(beside: str, *words: str) -> str | None:
    """Return what git prints, without white space around it; None where it fails."""
    try:
        answer = subprocess.run(["git", *words], cwd=Path(beside).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()


def _content(recipe: LaunchRecipe, path: Path) -> str:
    try:
        # Not read as text, which would change ends of lines.
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        why = f"{getattr(error, 'strerror', None) or error}; paths under [files] begin at the recipe's folder"
        raise RunnerError(f"recipe {recipe.name}: its file {path} cannot be read: {why}") from error


# What run.json says of a run before it starts.


def _record(recipe: LaunchRecipe, case: RecipeCase, settings: Settings, spec: JobSpec, repeat: int) -> PlannedRecord:
    repository = recipe.source.repository
    version = recipe.source.commit or (repository and _commit(tuple(recipe.sent.values())))
    return PlannedRecord(
        schema=RUN_SCHEMA,
        suite=recipe.suite,
        case=Case(
            # Without the hardware, which only the host knows.
            model=recipe.model,
            framework=recipe.framework,
            nodes=case.nodes,
            devices=case.devices,
            batch_size=case.batch_size,
            precision=case.precision,
            options=dict(case.options),
        ),
        format=recipe.records.format,
        repeat=repeat,
        recipe=_recipe_record(recipe, case, settings),
        argv=tuple(texts(spec.argv)),
        environment_variables=dict(zip(spec.variables, texts(list(spec.variables.values())), strict=True)),
        secrets=settings.secrets,
        site=settings.place.record,
        accept_disturbed=settings.if_busy == "count",
        smoke=settings.smoke,
        order_seed=settings.order_seed,
        round=settings.round,
        source=SourceRecord(repository, version) if repository and version else None,
        notes=recipe.notes,
    )


def _recipe_record(recipe: LaunchRecipe, case: RecipeCase, settings: Settings) -> Recipe:
    used = used_image(recipe, case) if settings.container != "none" else None
    return Recipe(
        name=recipe.name,
        sha256=recipe.sha256,
        case=case_choices(recipe, case),
        command=recipe.command,
        launcher=used_launcher(recipe, case),
        setup=recipe.setup.steps,
        lock=hashlib.sha256(recipe.lock.encode()).hexdigest() if recipe.lock else "",
        container=Container(settings.container, used.image, used.digest) if used else None,
        data=bool(settings.data),  # not which: that is a private path
    )


# Container tools.


def used_image(recipe: LaunchRecipe, case: RecipeCase) -> Image | None:
    """Return the image of a case; None if the recipe names none."""
    image = recipe.container
    if image is None:
        return None
    name, digest = (" ".join(texts(CaseWords(recipe, case).words(each))) for each in (image.image, image.digest))
    return replace(image, image=name, digest=digest)


def _container(
    recipe: LaunchRecipe, case: RecipeCase, settings: Settings, command: Sequence[Word], image: Image | None
) -> ContainerSpec | None:
    tool = settings.container
    if tool == "none":
        return None
    if image is None:
        raise RunnerError(f"the recipe names no image for {tool}; add [container] to it, or leave --container out")
    if re.search("[:,]", settings.data):
        raise RunnerError(f"{settings.data}: {tool} takes : and , in a folder for the end of its name; rename it")
    gpus = recipe.device == "gpu"
    # A scheduler states its GPUs and their order in these variables, and a node its own settings.
    given = ["CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", *NCCL_VARIABLES] if gpus else []
    given += [declared.variable] if gpus and (declared := settings.place.accelerator) and declared.variable else []
    given += [] if case.nodes == 1 else [name for name in OF_INTERFACE if name not in recipe.environment_variables]
    variables = [*recipe.environment_variables, *settings.secrets, *given]
    enter = entered(tool, image, variables, _mounts(recipe, settings, command), recipe.device)
    return ContainerSpec(tool, image.image, tuple(enter), image.digest, pinned(image))


def _mounts(recipe: LaunchRecipe, settings: Settings, command: Sequence[Word]) -> list[str | NodeVariable]:
    named = {part for each in command for part in each}
    output = NodeVariable("output")
    wanted: dict[str | NodeVariable, bool] = {
        NodeVariable("working_folder"): bool(recipe.files) or not recipe.source.folder,
        NodeVariable("work"): bool(recipe.source.folder),
        NodeVariable("ranks"): True,
        output: output in named,
        settings.data: bool(settings.data),
    }
    return [folder for folder, is_wanted in wanted.items() if is_wanted]
