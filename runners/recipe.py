"""Recipes as data: `recipes/**/<name>.toml`, one thing we can launch, with the matrix of its cases."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runners.argv import LATE
from runners.errors import RunnerError
from runners.fields import FieldError, Table, Value

FOLDER = Path(__file__).parent / "recipes"
PRECISIONS = ("fp32", "tf32", "amp", "fp16", "bf16")
LAUNCHERS = ("plain", "torchrun", "torch.distributed.launch", "paddle", "oneflow", "mpirun", "horovodrun", "deepspeed")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
KEY = re.compile(r"[a-z][a-z0-9_]*")
SHAPE = re.compile(r"([1-9][0-9]*)n([1-9][0-9]*)d")
#: What every case has by itself, so that no option may be called so.
DERIVED = ("nodes", "devices", "devices_per_node", "global_batch_size", "iterations", "data")
REQUIRED = (
    "title", "suite", "framework", "model", "device", "iterations", "repeats", "timeout_seconds", "command", "records",
    "matrix",
)  # fmt: skip
OPTIONAL = (
    "label", "cool_down_seconds", "notes", "launcher", "options", "slots", "environment_variables", "files",
    "container", "setup", "source",
)  # fmt: skip


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
class Lookup:
    """Texts or lists of words by the value of one key of the case."""

    by: str
    values: Mapping[str, str | tuple[str, ...]]


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
    launcher: Launch
    records: Records
    matrix: tuple[Mapping[str, tuple[Value, ...]], ...]
    options: Mapping[str, Value]
    slots: Mapping[str, Value | Lookup]
    environment_variables: Mapping[str, str]
    files: Mapping[str, Path]
    container: Container | None
    setup: Setup
    source: Source


def names() -> list[str]:
    """The recipes shipped, sorted."""
    return sorted(_shipped())


def find(name: str) -> Path:
    """The file of a recipe: the name of a shipped one, in whatever folder it lies, or a path that ends in `.toml`.

    Raises RunnerError where there is none.
    """
    path = Path(name) if name.endswith(".toml") else _shipped().get(name)
    if path is None or not path.is_file():
        raise RunnerError(f"{name}: there is no such recipe; choose one of {', '.join(names())}, or name a .toml file")
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
    options = _options(table.table("options"))
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
        launcher=_launch(table.table("launcher")),
        records=_records(table.table("records")),
        matrix=(matrix := _matrix(table, options)),
        options=options,
        slots=_slots(table.table("slots"), {*options, *matrix[0]}),
        environment_variables=_variables(table.table("environment_variables")),
        files=_files(table.table("files"), path.parent),
        container=_container(table.table("container")) if "container" in table.values else None,
        setup=_setup(table.table("setup")),
        source=_source(table.table("source")),
    )


def _launch(table: Table) -> Launch:
    table.only((), ("name", "arguments", "always"))
    return Launch(table.one_of("name", LAUNCHERS, "plain"), table.words("arguments", ()), table.truth("always", False))


def _records(table: Table) -> Records:
    table.only(("format", "at_least"), ("node",))
    return Records(table.text("format"), table.count("at_least"), table.one_of("node", ("first", "last"), "first"))


def _container(table: Table) -> Container:
    table.only(("image",), ("digest", "arguments"))
    digest = table.text("digest", "")
    if digest and not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise table.wrong("digest", digest, "must be sha256: and 64 hexadecimal digits")
    return Container(table.text("image"), digest, table.words("arguments", ()))


def _setup(table: Table) -> Setup:
    table.only((), ("python", "packages", "steps", "text"))
    return Setup(
        python=table.text("python", "python"),
        packages=table.words("packages", ()),
        steps=table.words("steps", ()),
        text=table.text("text", ""),
    )


def _source(table: Table) -> Source:
    table.only((), ("repository", "commit", "folder"))
    folder = table.text("folder", "")
    return Source(
        repository=table.text("repository", ""),
        commit=table.text("commit", ""),
        folder=table.relative("folder", folder) if folder else "",
    )


def _files(table: Table, folder: Path) -> dict[str, Path]:
    return {table.relative(there, there): folder / table.text(there) for there in table.values}


def _variables(table: Table) -> dict[str, str]:
    for name, value in table.scalars().items():
        if not VARIABLE.fullmatch(name):
            raise table.wrong(name, value, "that is no name of an environment variable")
    return {name: str(value) for name, value in table.scalars().items()}


def _options(table: Table) -> dict[str, Value]:
    for key, value in table.values.items():
        _name(table, key, value, {"batch_size", "precision", "shape"})
    return table.scalars()


def _name(table: Table, key: str, value: object, taken: set[str]) -> None:
    """Holds that a key can be named in braces, and that what stands there then is this key's value and no other's."""
    if not KEY.fullmatch(key) or key in (taken | {*DERIVED, *LATE}):
        raise table.wrong(key, value, "its name is taken or no name: use a-z, 0-9 and '_', and another word")


def _matrix(table: Table, options: Mapping[str, Value]) -> tuple[dict[str, tuple[Value, ...]], ...]:
    stated = table.values["matrix"]
    tables = [Table(each, "matrix.") for each in (stated if isinstance(stated, list) else [stated])]
    if not tables or not all(isinstance(each.values, dict) for each in tables):
        raise table.wrong("matrix", stated, "must be a table or several: [matrix], or [[matrix]] more than once")
    axes = [_axes(each) for each in tables]
    for each in axes:
        for key in {key for other in axes for key in other} - {*each, *options}:
            raise FieldError(f"`matrix.{key}` is in one table and not in all; add it to them or to `options`")
    return tuple(axes)


def _axes(table: Table) -> dict[str, tuple[Value, ...]]:
    axes = {"shape": ("1n1d",), **{key: _axis(table, key, value) for key, value in table.values.items()}}
    for key in ("batch_size", "precision"):
        if key not in axes:
            raise FieldError(f"`matrix.{key}` is missing or empty; state at least one value")
    return axes


def _axis(table: Table, key: str, value: object) -> tuple[Value, ...]:
    _name(table, key, value, set())
    values = tuple(table.scalar(key, each) for each in (value if isinstance(value, list) else [value]))
    if not values:
        raise FieldError(f"`{table.prefix}{key}` is missing or empty; state at least one value")
    if len({text_of(each) for each in values}) < len(values):
        raise table.wrong(key, value, "states a value twice")
    for each in values:
        if fault := fault_of(key, each):
            raise table.wrong(key, each, fault)
    return values


def fault_of(key: str, value: Value) -> str:
    """Why a value cannot be the one of a key of a case; empty where it can."""
    if key == "batch_size" and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        return "must be a whole number from 1"
    if key == "precision" and value not in PRECISIONS:
        return f"must be one of {', '.join(PRECISIONS)}"
    if key == "shape" and not SHAPE.fullmatch(str(value)):
        return "must be nodes and devices per node, such as 2n8d"
    return ""


def text_of(value: Value) -> str:
    """A value as it stands in a command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _slots(table: Table, keys: set[str]) -> dict[str, Value | Lookup]:
    for name, value in table.values.items():
        _name(table, name, value, keys)
    return {
        name: _lookup(table.table(name), keys) if isinstance(value, dict) else table.scalar(name, value)
        for name, value in table.values.items()
    }


def _lookup(table: Table, keys: set[str]) -> Lookup:
    by = table.one_of("by", sorted({*keys, *DERIVED} - {"shape", "data"}))
    values = {
        key: table.words(key, ()) if isinstance(value, list) else text_of(table.scalar(key, value))
        for key, value in table.values.items()
        if key != "by"
    }
    return Lookup(by, values)
