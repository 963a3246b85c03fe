"""Recipes as data: `recipes/<name>.toml`, one thing we can launch, with the matrix of its cases."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners.errors import RunnerError

Value = str | int | float | bool

FOLDER = Path(__file__).parent / "recipes"
PRECISIONS = ("fp32", "tf32", "amp", "fp16", "bf16")
SLUG = re.compile(r"[a-z0-9][a-z0-9._-]*")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
REQUIRED = (
    "title",
    "suite",
    "framework",
    "model",
    "device",
    "command",
    "iterations",
    "repeats",
    "timeout_seconds",
    "matrix",
)
OPTIONAL = (
    "label", "format", "nodes", "devices", "notes", "files", "options", "environment_variables", "setup", "source",
)  # fmt: skip


@dataclass(frozen=True)
class Recipe:
    """A recipe as its file states it.

    `device` is `cpu` or the slug of a GPU model; `matrix` lists the values that its cases combine; `options` are the
    same for all of them. `command` and `environment_variables` hold slots such as `{batch_size}`. `files` are written
    beside the command before it starts, path there to content.
    """

    name: str
    title: str
    suite: str
    framework: str
    model: str
    device: str
    command: tuple[str, ...]
    iterations: int
    repeats: int
    timeout_seconds: int
    matrix: Mapping[str, tuple[Value, ...]]
    nodes: int
    devices: int
    label: str
    format: str
    notes: str
    options: Mapping[str, Value]
    environment_variables: Mapping[str, str]
    files: Mapping[str, Path]
    python: str
    packages: tuple[str, ...]
    setup: str
    repository: str


def names() -> list[str]:
    """The recipes shipped, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find(name: str) -> Path:
    """The file of a recipe: the name of a shipped one, or a path that ends in `.toml`.

    Raises RunnerError where there is none.
    """
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not path.is_file():
        raise RunnerError(f"{name}: there is no such recipe; choose one of {', '.join(names())}, or name a .toml file")
    return path


def load(path: Path) -> Recipe:
    """Reads a recipe; raises RunnerError, naming file and key, where it is not one."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RunnerError(f"{path}: this recipe cannot be read: {error}") from error
    try:
        return _recipe(path, table)
    except _FaultError as fault:
        raise RunnerError(f"{path}: {fault}") from fault


class _FaultError(Exception):
    """What is wrong with a recipe, without its path."""


def _recipe(path: Path, table: dict[str, Any]) -> Recipe:
    _check_keys(table)
    setup = _typed(table, "setup", dict, {})
    source = _typed(table, "source", dict, {})
    return Recipe(
        name=path.stem,
        title=_typed(table, "title", str),
        suite=_slug(table, "suite"),
        framework=_typed(table, "framework", str),
        model=_typed(table, "model", str),
        device=_slug(table, "device"),
        command=_command(table),
        iterations=_positive(table, "iterations"),
        repeats=_positive(table, "repeats"),
        timeout_seconds=_positive(table, "timeout_seconds"),
        matrix=_matrix(table),
        nodes=_positive(table, "nodes", 1),
        devices=_positive(table, "devices", 1),
        label=_slug(table, "label") if "label" in table else "",
        format=_typed(table, "format", str, ""),
        notes=_typed(table, "notes", str, ""),
        options=_scalars("options", _typed(table, "options", dict, {})),
        environment_variables=_variables(table),
        files={name: path.parent / where for name, where in _strings(table, "files").items()},
        python=_typed(setup, "python", str, "python"),
        packages=tuple(_typed(setup, "packages", list, [])),
        setup=_typed(setup, "text", str, "").strip(),
        repository=_typed(source, "repository", str, ""),
    )


def _check_keys(table: dict[str, Any]) -> None:
    missing = [key for key in REQUIRED if key not in table]
    if missing:
        raise _FaultError(f"the key `{missing[0]}` is missing; add it")
    unknown = [key for key in table if key not in REQUIRED + OPTIONAL]
    if unknown:
        raise _FaultError(f"`{unknown[0]}` is no key of a recipe; the keys are {', '.join(REQUIRED + OPTIONAL)}")


def _typed(table: dict[str, Any], key: str, kind: type[Any], default: Any = None) -> Any:
    value = table.get(key, default)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _FaultError(f"`{key}` is {value!r}, but must be of type {kind.__name__}")
    return value


def _positive(table: dict[str, Any], key: str, default: int | None = None) -> int:
    value = int(_typed(table, key, int, default))
    if value < 1:
        raise _FaultError(f"`{key}` is {value}, but must be at least 1")
    return value


def _slug(table: dict[str, Any], key: str) -> str:
    value = str(_typed(table, key, str))
    if not SLUG.fullmatch(value):
        raise _FaultError(f"`{key}` is {value!r}, but names a folder: use a-z, 0-9, '.', '_' and '-'")
    return value


def _command(table: dict[str, Any]) -> tuple[str, ...]:
    command = _typed(table, "command", list)
    if not command or not all(isinstance(word, str) for word in command):
        raise _FaultError("`command` must be a list of words, the program first")
    return tuple(command)


def _matrix(table: dict[str, Any]) -> dict[str, tuple[Value, ...]]:
    matrix = {
        key: value if isinstance(value, list) else [value] for key, value in _typed(table, "matrix", dict).items()
    }
    for key in ("batch_size", "precision"):
        if not matrix.get(key):
            raise _FaultError(f"`matrix.{key}` is missing or empty; state at least one value")
    for key, values in matrix.items():
        for value in values:
            _scalars("matrix", {key: value})
    return {key: tuple(values) for key, values in matrix.items()}


def _scalars(where: str, table: dict[str, Any]) -> dict[str, Value]:
    for key, value in table.items():
        if not isinstance(value, (str, int, float, bool)):
            raise _FaultError(f"`{where}.{key}` holds {value!r}, but must be a string, a number or a truth value")
    return dict(table)


def _strings(table: dict[str, Any], key: str) -> dict[str, str]:
    return {name: str(value) for name, value in _typed(table, key, dict, {}).items()}


def _variables(table: dict[str, Any]) -> dict[str, str]:
    variables = _strings(table, "environment_variables")
    for name in variables:
        if not VARIABLE.fullmatch(name):
            raise _FaultError(f"`environment_variables.{name}` is no name of an environment variable")
    return variables
