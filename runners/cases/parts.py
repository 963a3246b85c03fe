"""The tables of a recipe that hold one thing each, and how they are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from runners.cases.fields import Table

LAUNCHERS = ("plain", "torchrun", "torch.distributed.launch", "paddle", "oneflow", "mpirun", "horovodrun", "deepspeed")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Launch:
    """How the ranks are started; `always` even where there is only one."""

    name: str
    arguments: tuple[str, ...]
    always: bool


@dataclass(frozen=True)
class Records:
    """What must come out of the log: at least so many records of one format; `node` is `first` or `last`."""

    format: str
    at_least: int
    node: str


@dataclass(frozen=True)
class Container:
    """An image; `digest` is empty where it is not known, `arguments` go to the tool as they are."""

    image: str
    digest: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Setup:
    """What a host needs: packages that `python` must have, shell lines that put them there, and words."""

    python: str
    packages: tuple[str, ...]
    steps: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Source:
    """What is run: a repository, its commit where known, and the folder below `--work` that the command runs in."""

    repository: str
    commit: str
    folder: str


def read_launch(table: Table) -> Launch:
    """Reads `[launcher]`."""
    table.only((), ("name", "arguments", "always"))
    return Launch(table.one_of("name", LAUNCHERS, "plain"), table.words("arguments", ()), table.truth("always", False))


def read_records(table: Table) -> Records:
    """Reads `[records]`."""
    table.only(("format", "at_least"), ("node",))
    return Records(table.text("format"), table.count("at_least"), table.one_of("node", ("first", "last"), "first"))


def read_container(table: Table) -> Container:
    """Reads `[container]`."""
    table.only(("image",), ("digest", "arguments"))
    digest = table.text("digest", "")
    if digest and not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise table.wrong("digest", digest, "must be sha256: and 64 hexadecimal digits")
    return Container(_image(table), digest, table.words("arguments", ()))


def _image(table: Table) -> str:
    """The name of an image; the trap: one that begins with a dash would be an option of the tool."""
    image = table.text("image")
    if image.startswith("-") or "@" in image:
        raise table.wrong("image", image, "must be the name of an image; its digest goes to `container.digest`")
    return image


def read_setup(table: Table) -> Setup:
    """Reads `[setup]`."""
    table.only((), ("python", "packages", "steps", "text"))
    return Setup(
        python=table.text("python", "python"),
        packages=table.words("packages", ()),
        steps=table.words("steps", ()),
        text=table.text("text", ""),
    )


def read_source(table: Table) -> Source:
    """Reads `[source]`."""
    table.only((), ("repository", "commit", "folder"))
    folder = table.text("folder", "")
    return Source(
        repository=table.text("repository", ""),
        commit=table.text("commit", ""),
        folder=table.relative("folder", folder) if folder else "",
    )


def read_variables(table: Table) -> dict[str, str]:
    """Reads `[environment_variables]`: a text for each, which may hold slots."""
    for name, value in table.scalars().items():
        if not VARIABLE.fullmatch(name):
            raise table.wrong(name, value, "that is no name of an environment variable")
    return {name: str(value) for name, value in table.scalars().items()}


def read_files(table: Table, folder: Path) -> dict[str, Path]:
    """Reads `[files]`: path there to file here; `folder` is the recipe's, from which the latter are named."""
    return {table.relative(there, there): folder / table.text(there) for there in table.values}
