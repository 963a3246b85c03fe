"""A planned run as one self-contained bash script; what never changes of it lies in `host/`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runners.cases.case import command, environment_variables
from runners.command import launchers
from runners.command.argv import Late, Word, shell, word
from runners.command.containers import contained, ending
from runners.errors import RunnerError
from runners.runs.plan import Run

HOST = Path(__file__).parents[1] / "host"
#: The pieces of the script, in their order; the last one begins the work.
PIECES = ("json", "tools", "machine", "gpu", "environment", "telemetry", "preflight", "command", "outcome", "main")


@dataclass(frozen=True)
class Settings:
    """What the user chose beyond the recipe: `container` a tool or `none`; `work` and `data` folders on the nodes."""

    container: str = "none"
    work: str = ""
    data: str = ""
    even_if_busy: bool = False


def argv(run: Run, settings: Settings) -> list[Word]:
    """The whole command: the trainer, under its launcher, in its container.

    Raises RunnerError where a slot has no value, and where the recipe cannot be run in this way.
    """
    words = launchers.launched(run.recipe, run.case, command(run.recipe, run.case, settings.data), settings.data)
    return _contained(run, settings, words)


def build(run: Run, settings: Settings) -> str:
    """The script of a run, the same for all its nodes: `check` refuses or warns, `run` runs.

    The values of a node come to it as `PERFLEDGER_*` variables. Every text is quoted for the shell. Raises RunnerError
    as `argv` does, and where a file of the recipe cannot be read.
    """
    pieces = [_read(HOST / f"{piece}.sh") for piece in PIECES]
    return "\n\n".join(["#!/usr/bin/env bash", _values(run, settings), _functions(run, settings), *pieces])


def _values(run: Run, settings: Settings) -> str:
    recipe, case = run.recipe, run.case
    image = recipe.container if settings.container != "none" else None
    values = {
        "device": recipe.device,
        "devices_per_node": str(case.devices_per_node),
        "every_node": str(int(launchers.on_every_node(recipe, case))),
        "uses_port": str(int(any(Late("master_port") in each for each in argv(run, settings)))),
        "timeout_seconds": str(recipe.timeout_seconds),
        "threads": str(case.slots.get("threads", "")),
        "work": settings.work,
        "data": settings.data,
        "even_if_busy": str(int(settings.even_if_busy)),
        "source_folder": recipe.source.folder,
        "expected_commit": recipe.source.commit,
        "container": settings.container,
        "image": image.image if image else "",
        "image_digest": image.digest if image else "",
        "python": recipe.setup.python,
        "question": _read(HOST / "inside.sh"),
        "python_question": _read(HOST / "inside.py"),
        "work_files": str(int(bool(recipe.files))),
    }
    return "\n".join(f"{name}={shlex.quote(value)}" for name, value in values.items())


def _functions(run: Run, settings: Settings) -> str:
    """What holds values of the node, which is filled in when it is called."""
    recipe = run.recipe
    variables: list[Word] = [
        (f"{name}=", *value) for name, value in environment_variables(recipe, run.case, settings.data).items()
    ]
    programs = [each for each in command(recipe, run.case, settings.data)[:1] if each in argv(run, settings)]
    lists = {
        "command": argv(run, settings),
        "variables": variables,
        "programs": programs if settings.container == "none" else [],
        "packages": [word(package) for package in recipe.setup.packages],
        "inside": _contained(run, settings, _asking(run)),
        "ending": ending(settings.container),
    }
    assignments = [f"{name}=({shell(words)})" for name, words in lists.items()]
    return "\n".join(["set_command() {", *assignments, "}", "", "write_files() {", *_file_writes(run), "}"])


def _contained(run: Run, settings: Settings, words: Sequence[Word]) -> list[Word]:
    recipe = run.recipe
    gpus = recipe.device == "gpu"
    # Which GPUs a scheduler gave, and in which order they are counted.
    variables = [*recipe.environment_variables, *(["CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"] if gpus else [])]
    return contained(settings.container, recipe.container, words, variables, _mounts(run, settings, words), gpus)


def _mounts(run: Run, settings: Settings, words: Sequence[Word]) -> list[Word]:
    """Each under its own path, so that a path in the command means the same inside and outside."""
    if settings.data and not settings.data.startswith("/"):
        raise RunnerError(f"--data {settings.data}: the command runs in another folder; name the whole path, from / on")
    source = run.recipe.source.folder
    named = {part for each in words for part in each}
    wanted: dict[str | Late, bool] = {
        Late("working_folder"): bool(run.recipe.files) or not source,
        Late("work"): bool(source),
        Late("ranks"): True,
        Late("output"): Late("output") in named,
        Late("hostfile"): Late("hostfile") in named,
        settings.data: bool(settings.data),
    }
    return [(place, ":", place) for place, is_wanted in wanted.items() if is_wanted]


def _asking(run: Run) -> list[Word]:
    """What asks the place of the command about itself; see `host/inside.sh`."""
    about: list[Word] = [(Late(name),) for name in ("container", "asked_device", "python", "python_question")]
    packages = map(word, run.recipe.setup.packages)
    return [word("bash"), word("-c"), (Late("question"),), word("inside"), *about, *packages]


def _file_writes(run: Run) -> list[str]:
    lines = []
    for name, path in run.recipe.files.items():
        target = shlex.quote(name)
        lines.append(f'mkdir -p -- "$(dirname -- {target})" && printf %s {shlex.quote(_file(run, path))} >{target} &&')
    return [*lines, ":"]


def _file(run: Run, path: Path) -> str:
    try:
        text = _read(path)
    except (OSError, UnicodeDecodeError) as error:
        why = f"{getattr(error, 'strerror', None) or error}; paths under [files] begin at the recipe's folder"
        raise RunnerError(f"recipe {run.recipe.name}: its file {path} cannot be read: {why}") from error
    if "\0" in text:
        raise RunnerError(f"recipe {run.recipe.name}: its file {path} holds a NUL byte, so that it is no text")
    return text


def _read(path: Path) -> str:
    # Not as text, which would change ends of lines.
    return path.read_bytes().decode()
