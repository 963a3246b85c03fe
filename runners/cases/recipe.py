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
from runners.cases.fields import FieldError, Table, Value, refuse_nul
from runners.cases.matrix import DERIVED, Axes, read_matrix, read_options
from runners.cases.slots import Lookup, check, read_slots, texts_of
from runners.command.argv import LATE
from runners.errors import RunnerError

FOLDER = Path(__file__).parents[1] / "recipes"
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
        refuse_nul(values)
        return _checked(_recipe(path, hashlib.sha256(content).hexdigest(), Table(values).only(REQUIRED, OPTIONAL)))
    except FieldError as fault:
        raise RunnerError(f"{path}: {fault}") from fault


def _shipped() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(FOLDER.rglob("*.toml")):
        if path.stem in found:
            raise RunnerError(f"{path}: {found[path.stem]} has the same name; rename one, for recipes go by their name")
        found[path.stem] = path
    return found


def _recipe(path: Path, sha256: str, table: Table) -> Recipe:
    options = read_options(table.table("options"))
    return Recipe(
        name=path.stem,
        sha256=sha256,
        title=table.text("title"),
        suite=table.slug("suite"),
        framework=_framework(table),
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
        environment_variables=parts.read_variables(table.table("environment_variables")),
        files=parts.read_files(table.table("files"), path.parent),
        container=parts.read_container(table.table("container")) if "container" in table.values else None,
        setup=parts.read_setup(table.table("setup")),
        source=parts.read_source(table.table("source")),
    )


def _framework(table: Table) -> str:
    name = table.text("framework")
    if not re.search(r"[A-Za-z0-9]", name):
        raise table.wrong("framework", name, "names a folder too: it needs a letter from a to z or a digit")
    return name


def _checked(made: Recipe) -> Recipe:
    """The recipe itself; raises FieldError for a slot that no case can fill."""
    of_case = {*made.options, *made.matrix[0], *DERIVED, *LATE} - {"shape"}
    for name, slot in made.slots.items():
        check(f"slots.{name}", texts_of(slot), of_case)
    texts = {"command": made.command, "launcher.arguments": made.launcher.arguments}
    variables = {f"environment_variables.{name}": (text,) for name, text in made.environment_variables.items()}
    for key, each in {**texts, **variables}.items():
        check(key, each, {*of_case, *made.slots})
    return made
