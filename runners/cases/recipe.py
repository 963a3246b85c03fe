"""Recipes as data: `recipes/**/<name>.toml`, one thing we can launch, with the matrix of its cases."""

from __future__ import annotations

import difflib
import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runners.cases import parts
from runners.cases.fields import FieldError, Table, Value
from runners.cases.matrix import Axes, read_matrix, read_options
from runners.cases.slots import Lookup, read_slots
from runners.errors import RunnerError

FOLDER = Path(__file__).parents[1] / "recipes"
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
REQUIRED = (
    "title", "suite", "framework", "model", "device", "iterations", "repeats", "timeout_seconds", "command", "records",
    "matrix",
)  # fmt: skip
OPTIONAL = (
    "label", "cool_down_seconds", "notes", "launcher", "options", "slots", "environment_variables", "files",
    "container", "setup", "source",
)  # fmt: skip


@dataclass(frozen=True)
class Recipe:
    """A recipe as its file states it.

    `matrix` holds tables of the values that cases combine, each with `shape` (`2n8d`: two nodes, eight devices each).
    `command`, `launcher.arguments`, `environment_variables` and the texts of `slots` hold slots such as `{batch_size}`.
    `files` are written into the folder that the command runs in: path there to file here. `sha256` is of the recipe.
    """

    name: str
    sha256: str
    title: str
    suite: str
    framework: str
    model: str
    device: str
    label: str
    notes: str
    iterations: int
    repeats: int
    timeout_seconds: int
    cool_down_seconds: int
    command: tuple[str, ...]
    launcher: parts.Launch
    records: parts.Records
    matrix: tuple[Axes, ...]
    options: Mapping[str, Value]
    slots: Mapping[str, Value | Lookup]
    environment_variables: Mapping[str, str]
    files: Mapping[str, Path]
    container: parts.Container | None
    setup: parts.Setup
    source: parts.Source


def names() -> list[str]:
    """The recipes shipped, sorted."""
    return sorted(_shipped())


def find(name: str) -> Path:
    """The file of a recipe: the name of a shipped one, in whatever folder it lies, or a path that ends in `.toml`.

    Raises RunnerError where there is none.
    """
    path = Path(name) if name.endswith(".toml") else _shipped().get(name)
    if path is None or not path.is_file():
        alike = " or ".join(difflib.get_close_matches(name, names()))
        remedy = f"did you mean {alike}?" if alike else "`python -m runners list` prints them"
        raise RunnerError(f"{name}: there is no such recipe, and a file of one ends in .toml; {remedy}")
    return path


def load(path: Path) -> Recipe:
    """Reads a recipe; raises RunnerError, naming file and key, or line and column, where it is not one."""
    try:
        content = path.read_bytes()
        values = tomllib.loads(content.decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RunnerError(f"{path}: this recipe cannot be read: {error}") from error
    try:
        _no_nul(values, "")
        return _recipe(path, hashlib.sha256(content).hexdigest(), Table(values).only(REQUIRED, OPTIONAL))
    except FieldError as fault:
        raise RunnerError(f"{path}: {fault}") from fault


def _shipped() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(FOLDER.rglob("*.toml")):
        if path.stem in found:
            raise RunnerError(f"{path}: {found[path.stem]} has the same name; rename one, for recipes go by their name")
        found[path.stem] = path
    return found


def _no_nul(value: object, key: str) -> None:
    if isinstance(value, dict):
        for name, each in value.items():
            _no_nul(name, key)
            _no_nul(each, f"{key}.{name}".lstrip("."))
    elif isinstance(value, list):
        for each in value:
            _no_nul(each, key)
    elif isinstance(value, str) and "\0" in value:
        raise FieldError(f"`{key}` holds a NUL byte, which no command line can; take it out")


def _recipe(path: Path, sha256: str, table: Table) -> Recipe:
    options = read_options(table.table("options"))
    return Recipe(
        name=path.stem,
        sha256=sha256,
        title=table.text("title"),
        suite=table.slug("suite"),
        framework=table.text("framework"),
        model=table.text("model"),
        device=table.one_of("device", ("cpu", "gpu")),
        label=table.slug("label", ""),
        notes=table.text("notes", ""),
        iterations=table.count("iterations"),
        repeats=table.count("repeats"),
        timeout_seconds=table.count("timeout_seconds"),
        cool_down_seconds=table.count("cool_down_seconds", 0, least=0),
        command=table.words("command"),
        launcher=parts.read_launch(table.table("launcher")),
        records=parts.read_records(table.table("records")),
        matrix=(axes := read_matrix(table, options)),
        options=options,
        slots=read_slots(table.table("slots"), {*options, *axes[0]}),
        environment_variables=_variables(table.table("environment_variables")),
        files=_files(table.table("files"), path.parent),
        container=parts.read_container(table.table("container")) if "container" in table.values else None,
        setup=parts.read_setup(table.table("setup")),
        source=parts.read_source(table.table("source")),
    )


def _files(table: Table, folder: Path) -> dict[str, Path]:
    return {table.relative(there, there): folder / table.text(there) for there in table.values}


def _variables(table: Table) -> dict[str, str]:
    for name, value in table.scalars().items():
        if not VARIABLE.fullmatch(name):
            raise table.wrong(name, value, "that is no name of an environment variable")
    return {name: str(value) for name, value in table.scalars().items()}
