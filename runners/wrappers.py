"""The words of a command: those of the trainer, filled for a case, and around them those of its launcher and of the
container tool, as `wrappers.toml` states them.
"""

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
from perfledger.runners.matrix import SLOT, filled_word, slot_alone, text_of
from perfledger.runners.recipes import Image, LaunchRecipe

#: The container's name. The agent ends a leftover container of this name.
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


def _is_option(each: Word) -> bool:
    return isinstance(each[0], str) and each[0].startswith("-")


def used_launcher(recipe: LaunchRecipe, case: RecipeCase) -> str:
    """Return the launcher of a case: the recipe's, or `plain` for one device that needs none."""
    return recipe.launcher.name if case.devices > 1 or recipe.launcher.always else "plain"


class CaseWords(NamedTuple):
    """The texts of a recipe, filled for a case; `data` is the value of `{data}`, empty without a folder.

    Its methods raise RunnerError if a slot has no value, or data are needed and none are named.
    """

    recipe: LaunchRecipe
    case: RecipeCase
    data: str = ""

    def trainer(self) -> list[Word]:
        """Return the words of the trainer alone."""
        return self.filled(self.recipe.command)

    def variables(self) -> dict[str, Word]:
        """Return the variables set for the case, without those that a table of `[slots]` makes empty."""
        return {name: each for name, text in self.recipe.environment_variables.items() for each in self.words(text)}

    def launch(self, passed: Sequence[str] = ()) -> list[Word]:
        """Return the trainer's words under its launcher; for one device as they are, unless it is `always`.

        `passed` names variables beyond the recipe's that ranks on other nodes must get.
        """
        launcher, case = LAUNCHERS[used_launcher(self.recipe, self.case)], self.case
        counts = {"nodes": case.nodes, "devices": case.devices, "devices_per_node": case.devices_per_node}
        trainer = self.trainer()
        return launcher.filled(
            choices={
                "device": self.recipe.device,
                **{key: "one" if n == 1 else "several" for key, n in counts.items()},
            },
            texts={"python": self.recipe.setup.python, **{key: str(count) for key, count in counts.items()}},
            lists={
                "other_ranks": [str(rank) for rank in range(1, case.devices_per_node)],
                "variables": [*self.variables(), *passed],
            },
            words={
                "arguments": self.filled(self.recipe.launcher.arguments),
                "trainer": self._python_part(trainer, launcher.module) if launcher.python_files else trainer,
            },
        )

    def _python_part(self, trainer: Sequence[Word], module: str) -> Sequence[Word]:
        """Return the trainer without its interpreter, for a launcher that adds it; `module` is its option for `-m`."""
        first, *rest = trainer
        rest = rest[1:] if rest[:1] == [word("-u")] else rest
        if re.match(r"(.*/)?python[0-9.]*$", str(first[0])) and rest:
            if not _is_option(rest[0]):
                return rest
            if module and rest[0] == word("-m"):
                return [word(module), *rest[1:]]
        what = f"starts Python files{' and modules' if module else ''} only; let `command` begin with python"
        raise self._fault(f"`launcher.name` is {self.recipe.launcher.name!r}, which {what}")

    def filled(self, texts: Iterable[str]) -> list[Word]:
        """Return the words of several texts."""
        return [each for text in texts for each in self.words(text)]

    def words(self, text: str) -> list[Word]:
        """Return the words that a text becomes: one; through a table of `[slots]` also none, or, standing alone, many.

        The texts of `[slots]` are filled with the case; none names another slot, as `recipe` has checked, so this ends.
        """
        found = self._slot(alone) if (alone := slot_alone(text)) in self.recipe.slots else None
        if isinstance(found, tuple):
            return [self._word(each) for each in found]
        whole = self._word(text)
        names = (match[1] for match in SLOT.finditer(text))
        is_optional = any(name in self.recipe.slots for name in names)
        return [] if whole == ("",) and is_optional else [whole]

    def _word(self, text: str) -> Word:
        return filled_word(text, lambda name: self._value(name, text))

    def _value(self, name: str, text: str) -> Word:
        if name in self.case.slots:
            return word(text_of(self.case.slots[name]))
        if name in NODE_VARIABLES:
            return (NodeVariable(name),)
        if name == "data":
            if not self.data:
                raise self._fault(f"in {text!r}, it needs data; name their folder with --data DIR")
            return word(self.data)
        found = self._slot(name)
        if isinstance(found, tuple):
            raise self._fault(f"in {text!r}, {{{name}}} is a list there, and must be an argument of its own")
        return self._word(found)

    def _slot(self, name: str) -> str | tuple[str, ...]:
        slot = self.recipe.slots[name]
        by = str(slot["by"])
        value = text_of(self.case.slots[by])
        if value not in slot:
            remedy = f"add it, or choose one of {', '.join(key for key in slot if key != 'by')}"
            raise self._fault(f"`slots.{name}` has no entry for {by}={value}; {remedy}")
        found = slot[value]
        return found if isinstance(found, tuple) else str(found)

    def _fault(self, why: str) -> RunnerError:
        return RunnerError(f"recipe {self.recipe.name}: {why}")


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
