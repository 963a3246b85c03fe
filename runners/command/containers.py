"""Container tools: how words that run on a host run inside an image. Each builds words around them and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from runners.cases.parts import Container
from runners.command.argv import Late, Word, literal, word
from runners.errors import RunnerError

#: The container's name, so that one left behind can be found and ended.
NAME: Word = ("perfledger-", Late("identity"), "-", Late("node_rank"))


@dataclass(frozen=True)
class Inside:
    """What runs inside: `variables` are names only, their values come from outside; `mounts` are `there:here` each."""

    container: Container
    words: Sequence[Word]
    variables: Sequence[str]
    mounts: Sequence[Word]
    gpus: bool


def contained(
    tool: str,
    container: Container | None,
    words: Sequence[Word],
    variables: Iterable[str],
    mounts: Sequence[Word],
    gpus: bool,
) -> list[Word]:
    """The words under a container tool, one of `CONTAINERS`; as they are where it is `none`.

    Raises RunnerError where the recipe names no image, and for a folder that no tool can be told.
    """
    if tool == "none":
        return list(words)
    if container is None:
        raise RunnerError(f"the recipe names no image for {tool}; add [container] to it, or leave --container out")
    for part in (part for mount in mounts for part in mount if isinstance(part, str)):
        if part != ":" and re.search("[:,]", part):
            raise RunnerError(f"{part}: {tool} takes : and , in a folder for the end of its name; rename it")
    return CONTAINERS[tool](Inside(container, words, tuple(variables), mounts, gpus))


def ending(tool: str) -> list[Word]:
    """What ends a container that outlived its command; nothing where its processes are those of the command."""
    return [*literal(tool, "rm", "--force"), NAME] if tool in ("docker", "podman") else []


def _docker(inside: Inside) -> list[Word]:
    return [*_run("docker", inside, ["--gpus", "all"]), word(_pinned(inside.container)), *inside.words]


def _podman(inside: Inside) -> list[Word]:
    return [*_run("podman", inside, ["--device", "nvidia.com/gpu=all"]), word(_pinned(inside.container)), *inside.words]


def _run(tool: str, inside: Inside, gpus: list[str]) -> list[Word]:
    """The limits are for pinned memory, as the makers of the images ask; a host without GPUs may not grant them."""
    limits = ["--ulimit", "memlock=-1", "--ulimit", "stack=67108864"]
    return [
        *literal(tool, "run", "--rm", "--init", "--name"),
        NAME,
        *literal("--network=host", "--ipc=host"),
        *literal(*(gpus + limits if inside.gpus else [])),
        *[each for name in inside.variables for each in literal("-e", name)],
        *[each for mount in inside.mounts for each in (word("-v"), mount)],
        *[word("-w"), (Late("working_folder"),)],
        *literal(*inside.container.arguments),
    ]


def _apptainer(inside: Inside) -> list[Word]:
    """Variables come along by themselves."""
    return [
        *literal("apptainer", "exec", *(["--nv"] if inside.gpus else [])),
        *[each for mount in inside.mounts for each in (word("--bind"), mount)],
        *[word("--pwd"), (Late("working_folder"),)],
        *literal(*inside.container.arguments, _apptainer_image(inside.container)),
        *inside.words,
    ]


def _apptainer_image(container: Container) -> str:
    """A file or an address as it stands; anything else is the name of a Docker image."""
    image = container.image
    return image if "://" in image or image.endswith(".sif") else f"docker://{_pinned(container)}"


def _pinned(container: Container) -> str:
    """The image by its digest where that is known. Not with the tag too: older tools refuse both together."""
    return f"{re.sub(r':[^:/]*$', '', container.image)}@{container.digest}" if container.digest else container.image


CONTAINERS: Mapping[str, Callable[[Inside], list[Word]]] = {
    "docker": _docker,
    "podman": _podman,
    "apptainer": _apptainer,
}
