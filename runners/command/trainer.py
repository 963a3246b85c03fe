"""The trainer that a launcher is to start, and what some launchers ask of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runners.cases.case import Case
from runners.cases.recipe import Recipe
from runners.command.argv import Late, Word, word
from runners.errors import RunnerError


@dataclass(frozen=True)
class Start:
    """What is to be started: the trainer's words, the launcher's further arguments, and the variables set for both."""

    recipe: Recipe
    case: Case
    trainer: Sequence[Word]
    arguments: Sequence[Word]
    variables: Mapping[str, Word]


def check_remote_shell(start: Start) -> None:
    """Refuses what DeepSpeed would change on its way to other nodes: it puts words before a shell there unquoted.

    Source: `PDSHRunner` and `EXPORT_ENVS` of `deepspeed/launcher`, 0.9.5.
    """
    for name, value in start.variables.items():
        if not name.startswith(("NCCL", "PYTHON", "MV2", "UCX", "MLFLOW")) or not _harmless(value):
            raise _fault(
                start, f"does not hand on the variable {name} as it is; set it on the hosts, in ~/.deepspeed_env"
            )
    for each in start.trainer:
        if any("'" in part for part in each if isinstance(part, str)) or (_is_option(each) and not _harmless(each)):
            raise _fault(start, f"does not hand on {each[0]!r} as it is; let the trainer read it from a file")


def _harmless(each: Word) -> bool:
    return all(isinstance(part, Late) or re.fullmatch(r"[A-Za-z0-9_@%+=:,./-]*", part) for part in each)


def python_part(start: Start, module: str = "") -> list[Word]:
    """The trainer for a launcher that puts the interpreter in front by itself; `module` is its option for `-m`."""
    first, *rest = start.trainer
    rest = rest[1:] if rest[:1] == [word("-u")] else rest
    if re.match(r"(.*/)?python[0-9.]*$", str(first[0])) and rest:
        if not _is_option(rest[0]):
            return rest
        if module and rest[0] == word("-m"):
            return [word(module), *rest[1:]]
    raise _fault(start, f"starts Python files{' and modules' if module else ''} only; let `command` begin with python")


def _is_option(each: Word) -> bool:
    return isinstance(each[0], str) and each[0].startswith("-")


def _fault(start: Start, why: str) -> RunnerError:
    return RunnerError(f"recipe {start.recipe.name}: `launcher.name` is {start.recipe.launcher.name!r}, which {why}")
