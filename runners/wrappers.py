"""The words around a trainer: those of its launcher and of the container tool, as `wrappers.toml` states them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from perfledger.runners.cases import RecipeCase
from perfledger.runners.job import NODE_VARIABLES, ContainerTool, NodeVariable, RunnerError, Word, literal, word
from perfledger.runners.recipe import Image, LaunchRecipe
from perfledger.runners.slots import filled_word, slot_alone

#: The container's name, so that a leftover container can be found and ended.
CONTAINER_NAME: Word = ("perfledger-", NodeVariable("identity"), "-", NodeVariable("node_rank"))

_ON_NODES = {name: NodeVariable(name) for name in NODE_VARIABLES}


class Choice(Struct, frozen=True, forbid_unknown_fields=True):
    """Words for one or several nodes, for one or several devices on a node, or for the kind of device."""

    by: Literal["nodes", "devices_per_node", "device"]
    one: tuple[str, ...] = ()
    several: tuple[str, ...] = ()
    cpu: tuple[str, ...] = ()
    gpu: tuple[str, ...] = ()


class Each(Struct, frozen=True, forbid_unknown_fields=True):
    """Words for each entry of a list, `{each}`; with `between`, they are joined to one text."""

    words: tuple[str, ...]
    between: str | None = None


class Wrapper(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of `wrappers.toml`, with the common keys of launchers and container tools."""

    words: tuple[str, ...]
    slots: dict[str, Choice] = {}
    each: dict[str, Each] = {}

    def filled(
        self,
        choices: Mapping[str, str],
        texts: Mapping[str, str | Word],
        lists: Mapping[str, Sequence[str | NodeVariable]],
        words: Mapping[str, Sequence[Word]],
    ) -> list[Word]:
        """Return the words with their slots filled.

        Args:
            choices: for each `by`, one of: one, several, cpu, gpu.
            texts: slots inside of texts.
            lists: the entries of `each`.
            words: slots that are a whole word and become any number of words.
        """
        parts: dict[str, Word] = {name: (variable,) for name, variable in _ON_NODES.items()}
        parts |= {name: word(text) if isinstance(text, str) else text for name, text in texts.items()}
        found = dict(words)
        for name, entries in lists.items():
            made = self.each.get(name)
            rows = [_fill(made.words, {**parts, "each": (entry,)}, {}) for entry in entries] if made else []
            if made and made.between is not None:
                parts[name] = _joined(rows, made.between)
            else:
                found[name] = [each for row in rows for each in row]
        for name, choice in self.slots.items():
            found[name] = _fill(getattr(choice, choices[choice.by]), parts, found)
        return _fill(self.words, parts, found)


class LauncherWrapper(Wrapper, frozen=True, forbid_unknown_fields=True):
    """How one trainer becomes a process per device."""

    every_node: bool = True
    python_files: bool = False
    module: str = ""


class ContainerWrapper(Wrapper, frozen=True, forbid_unknown_fields=True):
    """How words are run in an image."""

    names: Literal["docker", "apptainer", "enroot"] = "docker"


class _Wrappers(Struct, frozen=True, forbid_unknown_fields=True):
    launcher: dict[str, LauncherWrapper]
    container: dict[ContainerTool, ContainerWrapper]


_WRAPPERS = msgspec.convert(tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")), _Wrappers)
LAUNCHERS: Mapping[str, LauncherWrapper] = _WRAPPERS.launcher
CONTAINERS: Mapping[ContainerTool, ContainerWrapper] = _WRAPPERS.container


def _fill(texts: Iterable[str], parts: Mapping[str, Word], lists: Mapping[str, Sequence[Word]]) -> list[Word]:
    found: list[Word] = []
    for text in texts:
        found += (
            lists.get(slot_alone(text)) or [] if slot_alone(text) in lists else [filled_word(text, parts.__getitem__)]
        )
    return found


def _joined(rows: Sequence[Sequence[Word]], between: str) -> Word:
    parts: list[str | NodeVariable] = []
    for row in rows:
        parts += [*([between] if parts else []), *(part for each in row for part in each)]
    return tuple(parts)


class Start(NamedTuple):
    """The input of a launcher: the trainer's words, the launcher's arguments, and the variables set for both.

    `passed` are names of variables that have no value here, and that other nodes need, too.
    """

    recipe: LaunchRecipe
    case: RecipeCase
    trainer: Sequence[Word]
    arguments: Sequence[Word]
    variables: Mapping[str, Word]
    passed: Sequence[str]

    def fault(self, why: str) -> RunnerError:
        """Return what to raise where the launcher cannot start the trainer."""
        return RunnerError(f"recipe {self.recipe.name}: `launcher.name` is {self.recipe.launcher.name!r}, which {why}")


def launched(name: str, start: Start) -> list[Word]:
    """Return the words of a trainer under a launcher.

    Raises:
        RunnerError: the launcher cannot start such a trainer.
    """
    launcher, case = LAUNCHERS[name], start.case
    counts = {"nodes": case.nodes, "devices": case.devices, "devices_per_node": case.devices_per_node}
    return launcher.filled(
        choices={"device": start.recipe.device, **{key: "one" if n == 1 else "several" for key, n in counts.items()}},
        texts={"python": start.recipe.setup.python, **{key: str(count) for key, count in counts.items()}},
        lists={
            "other_ranks": [str(rank) for rank in range(1, case.devices_per_node)],
            "variables": [*start.variables, *start.passed],
        },
        words={
            "arguments": start.arguments,
            "trainer": _python_part(start, launcher.module) if launcher.python_files else start.trainer,
        },
    )


def _is_option(each: Word) -> bool:
    return isinstance(each[0], str) and each[0].startswith("-")


def _python_part(start: Start, module: str) -> Sequence[Word]:
    """Return the trainer without its interpreter, for a launcher that adds it; `module` is its option for `-m`."""
    first, *rest = start.trainer
    rest = rest[1:] if rest[:1] == [word("-u")] else rest
    if re.match(r"(.*/)?python[0-9.]*$", str(first[0])) and rest:
        if not _is_option(rest[0]):
            return rest
        if module and rest[0] == word("-m"):
            return [word(module), *rest[1:]]
    raise start.fault(f"starts Python files{' and modules' if module else ''} only; let `command` begin with python")


def entered(
    tool: ContainerTool,
    image: Image,
    variables: Sequence[str],
    mounts: Sequence[str | NodeVariable],
    device: Literal["cpu", "gpu"],
) -> list[Word]:
    """Return the words that run those after them in an image.

    Args:
        tool: what runs the image.
        image: the image.
        variables: names of variables that are passed on; their values come from outside.
        mounts: folders, each with the same path inside and outside.
        device: whether the container needs GPUs.
    """
    container = CONTAINERS[tool]
    return container.filled(
        choices={"device": device},
        texts={"name": CONTAINER_NAME, "image": _NAMES[container.names](image)},
        lists={"variables": variables, "mounts": mounts},
        words={"arguments": literal(*image.arguments)},
    )


def pinned(image: Image) -> str:
    """Return the image by its digest where that is known; not with the tag too, which older tools refuse."""
    return f"{re.sub(r':[^:/]*$', '', image.image)}@{image.digest}" if image.digest else image.image


def _for_apptainer(image: Image) -> str:
    """Return a file or an address unchanged; anything else is the name of a Docker image."""
    name = image.image
    return name if "://" in name or name.endswith(".sif") else f"docker://{pinned(image)}"


def _for_enroot(image: Image) -> str:
    """Return a file unchanged, and anything else as enroot writes it: a registry is parted from its image by #."""
    name = pinned(image)
    registry, slash, rest = name.partition("/")
    if name.startswith("/") or "#" in name or not slash or not re.search(r"[.:]|^localhost$", registry):
        return name
    return f"{registry}#{rest}"


_NAMES = {"docker": pinned, "apptainer": _for_apptainer, "enroot": _for_enroot}
