"""Recipes as data: `recipes/**/<name>.toml`, one thing that can be launched, and the cases of its matrix.

`load` decodes a file into a `Recipe`: tables with fixed keys by msgspec, and those whose keys the author chooses
(`[[matrix]]`, `[options]`, `[slots]`, `[environment_variables]`, `[files]`) key by key. Errors name file
and line.
"""

from __future__ import annotations

import difflib
import hashlib
import itertools
import math
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct

from perfledger.runners.job import NODE_VARIABLES, NodeVariable, RunnerError, Scalar, Word, checked
from perfledger.schema.plans import DataSet
from perfledger.schema.redaction.keys import keys_in
from perfledger.schema.vocabulary import LAUNCHERS, PRECISIONS

T = TypeVar("T", bound=Struct)
FOLDER = Path(__file__).parent / "recipes"

#: What a site adds to the recipes beside it; see `site.py`.
SITE_FILE = "site.toml"
#: What every case has by itself, so that no option may have this name.
COMPUTED = ("nodes", "devices", "devices_per_node", "global_batch_size", "iterations", "data")
#: What identifies a case, beside its options and the hardware.
IDENTITY = ("nodes", "devices", "batch_size", "precision")
#: A slot in a text, or a brace that is written twice and stands for one.
SLOT = re.compile(r"\{\{|\}\}|\{([a-z_][a-z0-9_]*)\}")
SHAPE = re.compile(r"([1-9][0-9]*)n([1-9][0-9]*)d")
# Tables whose keys the author chooses; texts in them stay as they are, white space and all.
_OPEN_TABLES = ("matrix", "options", "slots", "environment_variables", "files")
#: Slots by which a command learns how many devices there are, and those by which nodes find each other.
COUNTING = ("devices", "devices_per_node", "global_batch_size", "host_slots", "hostfile", "gpu_ids")
MEETING = ("nodes", "node_rank", "hosts", "addresses", "master_address")
_KEY = re.compile(r"[a-z][a-z0-9_]*")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Names of variables whose values are secrets, whatever they look like: HF_TOKEN, but not MAX_TOKENS.
_SECRET_NAME = re.compile(r"(?i)(?:^|_)(?:token|secret|passw(?:or)?d|(?:api|access|private)_?key|credentials?)$")
_REDACTION_SECONDS = 1.0
# Lines of a TOML file: the header of a table, and a key.
_KEY_TEXT = r"""(?:"([^"]+)"|'([^']+)'|([\w-]++))"""
_HEADER = re.compile(rf"\s*\[(\[?)\s*({_KEY_TEXT}(?:\s*\.\s*{_KEY_TEXT})*+)\s*\]\]?\s*(?:#.*)?$")
_KEY_LINE = re.compile(rf"\s*{_KEY_TEXT}\s*=")

#: Keys on the way to a value of a file; the number of a table in a list of tables is one, too.
Keys = tuple[str | int, ...]
#: Values to combine, by key of the case.
Axes = Mapping[str, tuple[Scalar, ...]]
#: What the user chose: a value by key of the case, or several.
Choices = Mapping[str, str | Sequence[str]]

# The descriptions finish the sentence "`key` is VALUE, but must be ..." of an error message.
Text = Annotated[str, Meta(pattern=r"\S", description="a text that is not empty")]
Count = Annotated[int, Meta(ge=1, description="a whole number from 1")]
Slug = Annotated[
    str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]*$", description="the name of a folder, of a-z, 0-9, '.', '_' and '-'")
]
OptionalSlug = Annotated[str, Meta(pattern=r"^([a-z0-9][a-z0-9._-]*)?$", description=get_args(Slug)[1].description)]
Words = Annotated[tuple[str, ...], Meta(description="a list of texts")]
LauncherName = Annotated[
    str,
    Meta(
        pattern=f"^(?:{'|'.join(map(re.escape, LAUNCHERS))})$",
        description=f"one of {', '.join(LAUNCHERS)}",
        examples=list(LAUNCHERS),
    ),
]


class Launcher(Struct, frozen=True, forbid_unknown_fields=True):
    """How the ranks are started; `always` even where there is only one."""

    name: LauncherName = "plain"
    arguments: Words = ()
    always: Annotated[bool, Meta(description="true or false")] = False


class RequiredRecords(Struct, frozen=True, forbid_unknown_fields=True):
    """What must come out of the log."""

    format: Text
    at_least: Count
    node: Annotated[Literal["first", "last"], Meta(description="first or last")] = "first"


class Image(Struct, frozen=True, forbid_unknown_fields=True):
    """A container image; `digest` is empty where it is not known, `arguments` go to the tool as they are.

    Image and digest may hold slots, so that each case has its own.
    """

    # An image that begins with a dash would be an option of the tool.
    image: Annotated[
        str, Meta(pattern=r"^[^-@\s][^@]*$", description="the name of an image; its digest goes to `container.digest`")
    ]
    digest: Annotated[
        str,
        Meta(
            pattern=r"^(sha256:[0-9a-f]{64}|\{[a-z_][a-z0-9_]*\})?$",
            description="sha256: and 64 hexadecimal digits, or a slot",
        ),
    ] = ""
    arguments: Words = ()


class Setup(Struct, frozen=True, forbid_unknown_fields=True):
    """What a host needs: packages that `python` must have, what installs them, and words.

    `lock` is a requirements file beside the recipe, with a hash for each package; `steps` are shell lines.
    """

    python: Text = "python"
    packages: Words = ()
    steps: Words = ()
    text: str = ""
    lock: str = ""


class RecipeSource(Struct, frozen=True, forbid_unknown_fields=True):
    """What is run: a repository, its commit where known, and the folder below `--work` that the command runs in."""

    repository: str = ""
    commit: str = ""
    folder: Annotated[
        str, Meta(pattern=r"^(?!/)(?!(.*/)?\.\.(/|$))", description="a path without a leading / and without ..")
    ] = ""


class RecipeData(DataSet, frozen=True, forbid_unknown_fields=True):
    """The data set, for whoever has to put it there; nothing of it is checked."""


class Lookup(Struct, frozen=True):
    """A table of `[slots]`: texts or lists of words by the value of one key of the case."""

    by: str
    values: Mapping[str, str | tuple[str, ...]]


class RecipeFile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The keys of a recipe's file. Tables whose keys the author chooses are still as TOML gives them."""

    title: Text = ""
    suite: Slug
    framework: Annotated[
        str,
        Meta(pattern="[A-Za-z0-9]", description="a name with a letter from a to z or a digit, for it names a folder"),
    ]
    model: Text
    iterations: Count
    command: Annotated[tuple[str, ...], Meta(min_length=1, description="a list of texts, the program first")]
    records: RequiredRecords
    matrix: Any
    device: Annotated[Literal["cpu", "gpu"], Meta(description="cpu or gpu")] = "gpu"
    repeats: Count = 5
    timeout_seconds: Count = 3600
    label: OptionalSlug = ""
    cool_down_seconds: Annotated[int, Meta(ge=0, description="a whole number from 0")] = 0
    notes: str = ""
    launcher: Launcher = Launcher()
    options: dict[str, Any] = {}
    slots: dict[str, Any] = {}
    environment_variables: dict[str, Any] = {}
    files: dict[str, Any] = {}
    container: Image | None = None
    setup: Setup = Setup()
    source: RecipeSource = RecipeSource()
    data: RecipeData = RecipeData()


class LaunchRecipe(RecipeFile, frozen=True, kw_only=True):
    """A recipe.

    Attributes:
        name: of its file.
        sha256: of its file.
        command: holds slots such as `{batch_size}`, as do `launcher.arguments`, `environment_variables`, `slots` and
            `container.image`.
        matrix: tables of the values that cases combine.
        files: written into the folder that the command runs in: path there to file here.
        lock: the text of the file that `setup.lock` names, empty without one.
        folder: that of its file.
    """

    name: str
    sha256: str
    lock: str
    folder: Path
    matrix: tuple[Axes, ...]
    options: dict[str, Scalar]
    slots: dict[str, Scalar | Lookup]
    environment_variables: dict[str, str]
    files: dict[str, Path]


class FaultError(Exception):
    """What is wrong at some keys of a file; the reader of the file adds path and line."""

    def __init__(self, keys: Keys, what: str) -> None:
        super().__init__(what)
        self.keys = keys


def names() -> list[str]:
    """Return the names of the recipes shipped, sorted."""
    return sorted(_shipped())


def find(name: str) -> Path:
    """Return the file of a recipe: the name of a shipped one, or a path that ends in `.toml`.

    Raises:
        RunnerError: there is no such recipe.
    """
    path = Path(name) if name.endswith(".toml") else _shipped().get(name)
    if path is None or not path.is_file():
        similar = " or ".join(difflib.get_close_matches(name, names()))
        remedy = f"did you mean {similar}?" if similar else "`python -m runners list` prints them"
        toml = name.endswith(".toml")
        what = "there is no such file" if toml else "there is no such recipe, and the file of one ends in .toml"
        raise RunnerError(f"{name}: {what}; {remedy}")
    return path


def load(path: Path) -> LaunchRecipe:
    """Read a recipe.

    Raises:
        RunnerError: it is not a recipe; the message names the file, and line and key where they are known.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RunnerError(f"{path}: this recipe cannot be read: {error.strerror}") from error
    text, tables = parsed(path, content)
    try:
        return _recipe(path, hashlib.sha256(content).hexdigest(), tables)
    except FaultError as fault:
        raise RunnerError(f"{path}:{line_of(text, fault.keys)}: {fault}") from fault


def parsed(path: Path, content: bytes) -> tuple[str, dict[str, Any]]:
    """Return a TOML file's text and tables.

    Raises:
        RunnerError: it is no TOML; the message names the line.
    """
    try:
        text = content.decode()
        return text, tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise RunnerError(f"{path}:{line}: is not UTF-8; save the file in that encoding") from error
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), ", str(error))  # else it is at the end
        line = int(found[1]) if found else text.count("\n") + 1
        raise RunnerError(f"{path}:{line}: is not TOML: {error}") from error


def text_of(value: Scalar) -> str:
    """Return a value as it stands in a command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def slot_alone(text: str) -> str:
    """Return the slot that a text consists of; empty if it is anything else."""
    alone = SLOT.fullmatch(text)
    return (alone[1] or "") if alone else ""


def filled_word(text: str, value: Callable[[str], Word]) -> Word:
    """Return a text with what `value` has for its slots, which are put in as they are: nothing in them is a slot."""
    parts: list[str | NodeVariable] = []
    end = 0
    for match in SLOT.finditer(text):
        parts += [text[end : match.start()], *(value(match[1]) if match[1] else (match[0][0],))]
        end = match.end()
    merged: list[str | NodeVariable] = []
    for part in [*parts, text[end:]]:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        elif part:
            merged.append(part)
    return tuple(merged) or ("",)


def case_value_fault(key: str, value: Scalar) -> str:
    """Return why a value cannot be that of a key of a case; empty where it can."""
    if key == "batch_size" and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        return "must be a whole number from 1"
    if key == "precision" and value not in PRECISIONS:
        return f"must be one of {', '.join(PRECISIONS)}"
    if key == "shape" and not SHAPE.fullmatch(str(value)):
        return "must be nodes and devices per node, such as 2n8d"
    return ""


def _shipped() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(FOLDER.rglob("*.toml")):
        if path.name == SITE_FILE:
            continue
        if path.stem in found:
            raise RunnerError(f"{path}: {found[path.stem]} has the same name; rename one, for recipes go by their name")
        found[path.stem] = path
    return found


def _recipe(path: Path, sha256: str, tables: Mapping[str, Any]) -> LaunchRecipe:
    refuse_nul(tables, ())
    stripped = {key: value if key in _OPEN_TABLES else _stripped(value) for key, value in tables.items()}
    file = decoded(stripped, RecipeFile, "a recipe")
    matrix = _matrix(file.matrix, file.options)
    read = {
        "title": file.title or f"{file.model} in {file.framework}",
        "matrix": matrix,
        "options": _options(file.options),
        "slots": _slots(file.slots, {*file.options, *matrix[0]}),
        "environment_variables": _variables(file.environment_variables),
        "files": _files(file.files, path.parent),
        "lock": _lock(file.setup, path.parent),
    }
    stated = {name: getattr(file, name) for name in file.__struct_fields__}
    recipe = LaunchRecipe(name=path.stem, sha256=sha256, folder=path.parent, **{**stated, **read})
    _check_slots(recipe)
    _check_use(recipe)
    return recipe


def _stripped(value: object) -> object:
    """Remove white space around a text, or around those of a table."""
    if isinstance(value, dict):
        return {key: each.strip() if isinstance(each, str) else each for key, each in value.items()}
    return value.strip() if isinstance(value, str) else value


def decoded(tables: Mapping[str, object], kind: type[T], file: str, at: tuple[str, ...] = ()) -> T:
    """Return tables of a file as a record.

    Args:
        tables: as TOML gives them.
        kind: the record.
        file: what the file is, for messages: `a recipe`.
        at: the keys at which the tables lie in it.

    Raises:
        FaultError: a key is unknown or missing, or its value has another type.
    """
    try:
        return msgspec.convert(tables, kind)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        raise _explained(what, tuple(re.findall(r"\.(\w+)", place)), tables, kind, file, at) from error


def _explained(
    what: str, keys: tuple[str, ...], tables: Mapping[str, object], kind: type[Struct], file: str, at: tuple[str, ...]
) -> FaultError:
    """Return the fault that msgspec found, in our words: what stands there, what must, and what may be meant."""
    name, whole = next(iter(re.findall("`([^`]*)`", what)), ""), (*at, *keys)
    if what.startswith("Object missing"):
        return FaultError(whole, f"the key `{'.'.join((*whole, name))}` is missing; add it")
    if what.startswith("Object contains unknown"):
        known = _struct_at(kind, keys).__struct_fields__
        remedy = _nearest(name, known) or f"the keys here are {', '.join(known)}"
        return FaultError((*whole, name), f"`{'.'.join((*whole, name))}` is not a key of {file}; {remedy}")
    value: Any = tables
    for key in keys:
        value = value[key]
    hint = get_type_hints(_struct_at(kind, keys[:-1]), include_extras=True)[keys[-1]]
    return FaultError(whole, f"`{'.'.join(whole)}` is {value!r}, but must be {_expected(hint, value)}")


def _struct_at(found: type[Struct], keys: Iterable[str]) -> type[Struct]:
    for key in keys:
        hint = get_type_hints(found)[key]
        found = next(each for each in (hint, *get_args(hint)) if isinstance(each, type) and issubclass(each, Struct))
    return found


def _expected(hint: Any, value: object) -> str:
    """Return what a key takes, from the description of its type, and the permitted value nearest to the one given."""
    meta = next((each for each in get_args(hint) if isinstance(each, Meta)), Meta())
    description = meta.description
    choices = meta.examples or [each for each in get_args(next(iter(get_args(hint)), None)) if isinstance(each, str)]
    near = _nearest(str(value), choices)
    kind = "a text" if hint is str else "a table"
    return f"{description or kind}; {near}" if near else description or kind


def _nearest(name: str, known: Iterable[str]) -> str:
    similar = difflib.get_close_matches(name, known, n=1)
    return f"did you mean `{similar[0]}`?" if similar else ""


def refuse_nul(value: object, keys: tuple[str, ...]) -> None:
    """Raise for a text with a NUL byte, at whatever depth."""
    if isinstance(value, dict):
        for name, each in value.items():
            refuse_nul(name, keys)
            refuse_nul(each, (*keys, name))
    elif isinstance(value, list):
        for each in value:
            refuse_nul(each, keys)
    elif isinstance(value, str) and "\0" in value:
        raise FaultError(keys, f"`{'.'.join(keys)}` holds a NUL byte, which no command line can; take it out")


def _wrong(keys: Keys, value: object, why: str) -> FaultError:
    name = ".".join(key for key in keys if isinstance(key, str))
    return FaultError(keys, f"`{name}` is {value!r}, but {why}")


def _scalar(keys: Keys, value: object) -> Scalar:
    if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
        raise _wrong(keys, value, "must be a string, a number or a truth value")
    return value


def _check_name(keys: Keys, value: object, taken: Collection[str]) -> None:
    """Hold that `{key}` can stand in a text and means this value and no other."""
    key = str(keys[-1])
    if not _KEY.fullmatch(key) or key in {*taken, *COMPUTED, *NODE_VARIABLES}:
        raise _wrong(keys, value, "this name is taken, or is not a name: use a-z, 0-9 and '_', and another word")


def _matrix(stated: object, options: Collection[str]) -> tuple[Axes, ...]:
    """Read `matrix`, one table or several; a key of one table must be in all of them or in `options`."""
    tables = stated if isinstance(stated, list) else [stated]
    if not tables or not all(isinstance(each, dict) for each in tables):
        raise _wrong(("matrix",), stated, "must be a table or several: [matrix], or [[matrix]] more than once")
    found = tuple(_axes(table, ("matrix", number)) for number, table in enumerate(tables))
    for key in dict.fromkeys(key for axes in found for key in axes):
        for number, axes in enumerate(found):
            if key not in axes and key not in options:
                what = f"`matrix.{key}` is in one table and not in all; add it to them or to `options`"
                raise FaultError(("matrix", number), what)
    return found


def _axes(table: Mapping[str, object], keys: Keys) -> Axes:
    for key in ("batch_size", "precision"):
        if key not in table:
            similar = difflib.get_close_matches(key, table, n=1)
            remedy = f"is `{similar[0]}` a misspelling of it?" if similar else "state at least one value"
            raise FaultError(keys, f"`matrix.{key}` is missing or empty; {remedy}")
    axes: dict[str, tuple[Scalar, ...]] = {} if "shape" in table else {"shape": ("1n1d",)}
    return axes | {key: _axis((*keys, key), value) for key, value in table.items()}


def _axis(keys: Keys, value: object) -> tuple[Scalar, ...]:
    """Read the values of a key."""
    _check_name(keys, value, ())
    values = tuple(_scalar(keys, each) for each in (value if isinstance(value, list) else [value]))
    if not values:
        raise FaultError(keys, f"`matrix.{keys[-1]}` is missing or empty; state at least one value")
    if len({text_of(each) for each in values}) < len(values):
        raise _wrong(keys, value, "states a value twice")
    for each in values:
        if fault := case_value_fault(str(keys[-1]), each):
            raise _wrong(keys, each, fault)
    return values


def _options(table: Mapping[str, object]) -> dict[str, Scalar]:
    for key, value in table.items():
        _check_name(("options", key), value, ("batch_size", "precision", "shape"))
    return {key: _scalar(("options", key), value) for key, value in table.items()}


def _slots(table: Mapping[str, object], keys: Collection[str]) -> dict[str, Scalar | Lookup]:
    """Read `[slots]`; `keys` are those of the recipe's matrix and options."""
    for name, value in table.items():
        _check_name(("slots", name), value, keys)
    return {
        name: _lookup(name, value, keys) if isinstance(value, dict) else _scalar(("slots", name), value)
        for name, value in table.items()
    }


def _lookup(name: str, table: Mapping[str, object], keys: Collection[str]) -> Lookup:
    by, known = table.get("by"), sorted({*keys, *COMPUTED} - {"shape", "data"})
    if by not in known:
        raise _wrong(("slots", name, "by"), by, f"must be one of {', '.join(known)}")
    return Lookup(
        str(by), {key: _slot_texts(("slots", name, key), value) for key, value in table.items() if key != "by"}
    )


def _slot_texts(keys: tuple[str, ...], value: object) -> str | tuple[str, ...]:
    if not isinstance(value, list):
        return text_of(_scalar(keys, value))
    if not all(isinstance(each, str) for each in value):
        raise _wrong(keys, value, "must be a list of texts")
    return tuple(value)


def _variables(table: Mapping[str, object]) -> dict[str, str]:
    """Read `[environment_variables]`: a text for each, which may hold slots."""
    for name, value in table.items():
        if not VARIABLE.fullmatch(name):
            raise _wrong(("environment_variables", name), value, "this is not the name of an environment variable")
        if fault := secret_fault(name, str(value)):
            raise FaultError(("environment_variables", name), f"`environment_variables.{name}` {fault}")
    return {name: str(_scalar(("environment_variables", name), value)) for name, value in table.items()}


def secret_fault(name: str, value: str) -> str:
    """Return why a variable must not be stated with its value, which would be published; empty if it may."""
    if value and (_SECRET_NAME.search(name) or _holds_key(f"{name}={value}")):
        return f"looks like a secret, and its value would be published; leave it out and run with --secret {name}"
    return ""


def _holds_key(text: str) -> bool:
    # `list` and `show` need no `regex`; whatever runs has it.
    with suppress(ImportError):
        return bool(keys_in(text, _REDACTION_SECONDS))
    return False


def _lock(setup: Setup, folder: Path) -> str:
    """Return the text of `setup.lock`, a requirements file in which pip's `--require-hashes` can hold."""
    if not setup.lock:
        return ""
    keys = ("setup", "lock")
    try:
        text = (folder / setup.lock).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise _wrong(keys, setup.lock, f"it cannot be read: {why}; paths begin at the recipe's folder") from error
    if "--hash=" not in text:
        remedy = "`uv pip compile --generate-hashes` writes them"
        raise _wrong(keys, setup.lock, f"the file states no hashes (--hash=sha256:...); {remedy}")
    return text


def _files(table: Mapping[str, object], folder: Path) -> dict[str, Path]:
    """Read `[files]`: path there = path here, from the recipe's `folder` on; here may be a folder or a glob."""
    found: dict[str, Path] = {}
    for there, here in table.items():
        keys = ("files", there)
        if not there or there.startswith("/") or ".." in PurePosixPath(there).parts:
            raise _wrong(keys, there, "must be a path without a leading / and without ..")
        if not isinstance(here, str) or not here.strip():
            raise _wrong(keys, here, "must be a text that is not empty: a file, a folder or a glob")
        found |= _matched(keys, folder, here.strip())
    return found


def _matched(keys: tuple[str, str], folder: Path, here: str) -> dict[str, Path]:
    """Return the files that one entry names: of a folder or a glob each below `keys[1]`, as it lies here."""
    there, parts = keys[1], PurePosixPath(here).parts
    plain = next((number for number, part in enumerate(parts) if re.search(r"[*?[]", part)), len(parts))
    whole = folder / here
    if whole.is_file() or (plain == len(parts) and not whole.is_dir()):
        return {there: whole}
    base = folder.joinpath(*parts[:plain])
    paths = [path for path in sorted(base.glob("/".join(parts[plain:]) or "**/*")) if _is_source(path, base)]
    if not paths:
        raise _wrong(keys, here, "no file is there; paths begin at the recipe's folder")
    return {str(PurePosixPath(there) / path.relative_to(base).as_posix()): path for path in paths}


def _is_source(path: Path, base: Path) -> bool:
    hidden = any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(base).parts)
    return path.is_file() and not hidden


def _check_slots(recipe: LaunchRecipe) -> None:
    """Raise for a slot that no case can fill."""
    of_case = {*_case_keys(recipe), *COMPUTED, *NODE_VARIABLES} - {"shape"}
    for name, slot in recipe.slots.items():
        _check_texts(("slots", name), _texts_of(slot), of_case)
    known = {*of_case, *recipe.slots}
    _check_texts(("command",), recipe.command, known)
    _check_texts(("launcher", "arguments"), recipe.launcher.arguments, known)
    for name, text in recipe.environment_variables.items():
        _check_texts(("environment_variables", name), [text], known)
    if recipe.container:
        # Both must be known before a node is.
        _check_texts(("container", "image"), [recipe.container.image], known - {*NODE_VARIABLES, "data"})
        _check_texts(("container", "digest"), [recipe.container.digest], known - {*NODE_VARIABLES, "data"})


def _case_keys(recipe: LaunchRecipe) -> dict[str, None]:
    """Return the keys that distinguish the cases of a recipe, in one order for all tables."""
    return dict.fromkeys((*recipe.options, *recipe.matrix[0]))


def used_keys(recipe: LaunchRecipe) -> frozenset[str]:
    """Return the names that reach what a node executes: command, launcher, variables or image, also through a table."""
    image = recipe.container
    arguments = () if recipe.launcher.name == "plain" else recipe.launcher.arguments
    texts = [*recipe.command, *arguments, *recipe.environment_variables.values()]
    texts += [image.image, image.digest] if image else []
    found: set[str] = set()
    while texts:
        for name in {match[1] for match in SLOT.finditer(texts.pop()) if match[1]} - found:
            slot = recipe.slots.get(name)
            found |= {name, slot.by} if isinstance(slot, Lookup) else {name}
            texts += [] if slot is None else _texts_of(slot)
    return frozenset(found | ({"batch_size", "devices"} if "global_batch_size" in found else set()))


def _check_use(recipe: LaunchRecipe) -> None:
    """Raise where two cases of the matrix have different names and the same command."""
    tables = [_with_common_values(recipe, axes) for axes in recipe.matrix]
    cases = [_case(recipe, values) for axes in tables for values in _combinations(axes)]
    if same := _same_command(recipe, cases):
        raise FaultError(("matrix",), same)


def _same_command(recipe: LaunchRecipe, cases: Iterable[RecipeCase]) -> str:
    """Return which cases differ in name only; empty where none do."""
    used, seen = used_keys(recipe), dict[tuple[tuple[str, str], ...], RecipeCase]()
    for case in cases:
        own = sorted((key, text_of(case.slots[key])) for key in {*used, "nodes", "devices"} & case.slots.keys())
        first = seen.setdefault(tuple(own), case)
        if first.slug != case.slug:
            differing = [key for key in first.slots if first.slots[key] != case.slots[key] and key not in COMPUTED]
            names = " and ".join(f"`{key}`" for key in differing)
            return (
                f"{first.slug} and {case.slug} would run the same command, for nothing uses {names}; name it as a slot "
                "in `command`, `launcher.arguments`, `environment_variables` or `container.image`"
            )
    return ""


def _texts_of(slot: Scalar | Lookup) -> Iterator[str]:
    for each in slot.values.values() if isinstance(slot, Lookup) else [text_of(slot)]:
        yield from [each] if isinstance(each, str) else each


def _check_texts(keys: tuple[str, ...], texts: Iterable[str], known: Collection[str]) -> None:
    for text in texts:
        for match in SLOT.finditer(text):
            if match[1] and match[1] not in known:
                remedy = _nearest(match[1], known) or f"a slot here is one of {', '.join(sorted(known))}"
                what = f"`{'.'.join(keys)}` names {match[0]}, which has no value; {remedy}"
                raise FaultError(keys, f"{what} (a brace that is meant as one is written twice)")
        if lone := re.search(r"[{}]\S*", SLOT.sub("", text)):
            what = f"`{'.'.join(keys)}` is {text!r}, whose {lone[0][0]} belongs to no slot"
            raise FaultError(keys, f"{what}; a slot is {{name}} in small letters, a brace as such is written twice")


def line_of(text: str, keys: Keys) -> int:
    """Return the line of the value at these keys, or of the table around it; 1 where neither is found."""
    lines: dict[Keys, int] = {}
    for found, number in _key_lines(text):
        lines.setdefault(found, number)
    for length in range(len(keys), 0, -1):
        # The number of a table: there is none in the text where it is the only one.
        for each in (keys[:length], tuple(key for key in keys[:length] if isinstance(key, str))):
            if each in lines:
                return lines[each]
    return 1


def _key_lines(text: str) -> Iterator[tuple[Keys, int]]:
    """Yield the keys of a TOML text with their lines; tomllib keeps no positions.

    A table of `[[matrix]]` has its number as a key; what stands inside a value has the line of its key.
    """
    table: Keys = ()
    count, in_text = 0, False
    for number, line in enumerate(text.splitlines(), start=1):
        if not in_text and (header := _HEADER.match(line)):
            table = tuple("".join(key) for key in re.findall(_KEY_TEXT, header[2]))
            yield table, number
            if header[1]:
                table, count = (*table, count), count + 1
                yield table, number
        elif not in_text and (key := _KEY_LINE.match(line)):
            yield (*table, key[1] or key[2] or key[3]), number
        in_text ^= (line.count('"""') + line.count("'''")) % 2 == 1


# --- Cases: the combinations of the matrix, chosen by `--case`, each with the folder that its runs go to --------------


class RecipeCase(Struct, frozen=True, kw_only=True):
    """One combination: what is compared, without the hardware, which only the host knows.

    Attributes:
        devices: of the whole job.
        batch_size: per device.
        options: what distinguishes the case beyond its identity.
        slots: all values that a command may name.
        slug: the name of its folder.
    """

    nodes: int
    devices: int
    devices_per_node: int
    batch_size: int
    precision: str
    options: dict[str, Scalar]
    slots: dict[str, Scalar]
    slug: str


def select_cases(recipe: LaunchRecipe, choices: Choices) -> list[RecipeCase]:
    """Return the cases of the matrix, in its order, with each key in `choices` fixed to one value, or to several.

    If several tables state the value, those are taken; if no table states it, it is tried in all of them. `nodes` and
    `devices` choose among the shapes, and make a new one if none fits.

    Raises:
        RunnerError: the recipe does not have such a key, the key cannot have such a value, or the command does not use
            it.
    """
    tables = [_with_common_values(recipe, axes) for axes in recipe.matrix]
    keys = ("nodes", "devices", *(key for key in tables[0] if key != "shape"))
    for key in choices:
        if key not in keys:
            raise RunnerError(f"recipe {recipe.name}: it has no key {key!r} to choose by; it has {', '.join(keys)}")
    found: dict[str, RecipeCase] = {}
    for each in itertools.product(*map(_one_or_several, choices.values())):
        found |= {case.slug: case for case in _fixed_cases(recipe, tables, dict(zip(choices, each, strict=True)))}
    cases = [*found.values()]
    _refuse_idle(recipe, cases, bool(choices))
    return cases


def _one_or_several(value: str | Sequence[str]) -> Sequence[str]:
    return (value,) if isinstance(value, str) else value


def _fixed_cases(recipe: LaunchRecipe, tables: Sequence[Axes], choices: Mapping[str, str]) -> Iterator[RecipeCase]:
    left = tables
    for key, text in choices.items():
        if key not in ("nodes", "devices"):
            left = _fixed(left, key, _value(recipe.name, tables, key, checked(text, f"--case {key}")))
    wanted = {key: _count(recipe.name, key, choices[key]) for key in ("nodes", "devices") if key in choices}
    for axes in _with_shapes(recipe.name, left, wanted):
        for values in _combinations(axes):
            yield _case(recipe, values)


def _refuse_idle(recipe: LaunchRecipe, cases: Sequence[RecipeCase], is_chosen: bool) -> None:
    """Refuse what changes the name of a case and nothing that runs."""
    used = used_keys(recipe)
    fewer = [case.slots["iterations"] for case in cases if case.slots["iterations"] != recipe.iterations]
    if fewer and "iterations" not in used:
        why = "nothing in the recipe uses {iterations}, so it would run as long as ever"
        raise RunnerError(f"recipe {recipe.name}: --case iterations={fewer[0]}: {why}")
    if is_chosen and (same := _same_command(recipe, [*select_cases(recipe, {}), *cases])):
        raise RunnerError(f"recipe {recipe.name}: {same}")
    for case in cases if recipe.launcher.name == "plain" else ():
        why = ""
        if case.devices_per_node > 1 and not used & {*COUNTING}:
            why = f"{case.devices_per_node} devices per node, and one process starts there, for nothing uses "
            why += _slot_list(COUNTING)
        elif case.nodes > 1 and not used & {*COUNTING, *MEETING}:
            why = f"{case.nodes} nodes, whose processes do not find each other, for nothing uses {_slot_list(MEETING)}"
        if why:
            remedy = "choose nodes=1,devices=1, or give it a launcher"
            raise RunnerError(f"recipe {recipe.name}: it has no launcher, and {case.slug} takes {why}; {remedy}")


def _slot_list(names: Sequence[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names[:-1]) + f" or {{{names[-1]}}}"


def case_choices(recipe: LaunchRecipe, case: RecipeCase) -> dict[str, str]:
    """Return the choices that give exactly this case again; what is the same in all cases is left out."""
    varied = {*IDENTITY, *(key for axes in recipe.matrix for key in axes)}
    usual = {"iterations": recipe.iterations, **recipe.options}
    # What a site adds to the options is none of the recipe's keys.
    given = [key for key in case.options if key in case.slots]
    texts = {key: text_of(case.slots[key]) for key in (*IDENTITY, "iterations", *given)}
    return {key: text for key, text in texts.items() if key in varied or text != text_of(usual[key])}


def case_folder(recipe: LaunchRecipe, case: RecipeCase, raw_logs: Path) -> Path:
    """Return `<raw logs>/<suite>/<framework>/<case>`."""
    return raw_logs / recipe.suite / framework_slug(recipe.framework) / case.slug


def framework_slug(framework: str) -> str:
    """Return the name of a framework's folder: `PyTorch` is `pytorch`."""
    return re.sub(r"[^a-z0-9]+", "-", framework.lower()).strip("-")


def slugify(text: str) -> str:
    """Slugify `text` for a folder name; append a short hash if characters were replaced, so slugs stay unique."""
    slug = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:40]
    return slug if slug and slug == text else f"{slug}-{hashlib.sha256(text.encode()).hexdigest()[:6]}".lstrip("-")


def _with_common_values(recipe: LaunchRecipe, axes: Axes) -> Axes:
    """Return a table with what all cases share in front, so that the order of its own keys is that of the cases."""
    fixed = {"iterations": recipe.iterations, **recipe.options}
    return {**{key: (value,) for key, value in fixed.items() if key not in axes}, **axes}


def _combinations(axes: Axes) -> Iterator[dict[str, Scalar]]:
    """Yield each value of a key with each one of the others, with the keys in the order of the table."""
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def _fixed(tables: Sequence[Axes], key: str, value: Scalar) -> list[Axes]:
    stating = [axes for axes in tables if text_of(value) in map(text_of, axes[key])]
    return [{**axes, key: (value,)} for axes in stating or tables]


def _with_shapes(recipe: str, tables: Sequence[Axes], wanted: Mapping[str, int]) -> list[Axes]:
    fitting = [{**axes, "shape": tuple(each for each in axes["shape"] if _fits(each, wanted))} for axes in tables]
    return [axes for axes in fitting if axes["shape"]] or [
        {**axes, "shape": (_new_shape(recipe, wanted),)} for axes in tables
    ]


def _fits(shape: Scalar, wanted: Mapping[str, int]) -> bool:
    nodes, per_node = _counts(shape)
    return wanted.get("nodes", nodes) == nodes and wanted.get("devices", nodes * per_node) == nodes * per_node


def _new_shape(recipe: str, wanted: Mapping[str, int]) -> str:
    nodes, devices = wanted.get("nodes", 1), wanted.get("devices")
    if devices is None:
        raise RunnerError(f"recipe {recipe}: no shape has nodes={nodes}; state devices= of the whole job too")
    if devices % nodes:
        raise RunnerError(f"recipe {recipe}: devices={devices} cannot be shared out evenly among nodes={nodes}")
    return f"{nodes}n{devices // nodes}d"


def _counts(shape: Scalar) -> tuple[int, int]:
    """Return nodes and devices per node of a shape such as `2n8d`."""
    match = SHAPE.fullmatch(str(shape))
    assert match, "`recipe` and `_new_shape` give no other"
    return int(match[1]), int(match[2])


def _count(recipe: str, key: str, text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise RunnerError(f"recipe {recipe}: {key}={text!r} must be a whole number from 1")
    return int(text)


def _value(recipe: str, tables: Sequence[Axes], key: str, text: str) -> Scalar:
    """Return the value that the matrix states so, or else the text in the type of the first that it states."""
    if key in ("batch_size", "iterations"):
        return _count(recipe, key, text)
    stated = [value for axes in tables for value in axes[key]]
    value = next((value for value in stated if text_of(value) == text), None)
    value = _converted(recipe, key, text, stated[0]) if value is None else value
    if fault := case_value_fault(key, value):
        raise RunnerError(f"recipe {recipe}: {key}={value!r} {fault}")
    return value


def _converted(recipe: str, key: str, text: str, example: Scalar) -> Scalar:
    kind = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[type(example)]
    try:
        value = {"true": True, "false": False}[text.lower()] if isinstance(example, bool) else type(example)(text)
    except (KeyError, ValueError):
        value = math.nan
    if isinstance(value, float) and not math.isfinite(value):
        raise RunnerError(f"recipe {recipe}: {key}={text!r} must be {kind}, like its {text_of(example)}")
    return value


def _case(recipe: LaunchRecipe, values: dict[str, Scalar]) -> RecipeCase:
    nodes, per_node = _counts(values.pop("shape"))
    batch_size, precision = int(values["batch_size"]), str(values["precision"])
    # In one order for all tables, or two of them would give one case two names.
    options = {key: values[key] for key in _case_keys(recipe) if key in values and key not in IDENTITY}
    devices = nodes * per_node
    counts = {"devices_per_node": per_node, "global_batch_size": batch_size * devices}
    slots: dict[str, Scalar] = {"nodes": nodes, "devices": devices, **counts, **values}
    return RecipeCase(
        nodes=nodes,
        devices=devices,
        devices_per_node=per_node,
        batch_size=batch_size,
        precision=precision,
        options=options,
        slots=slots,
        slug=_slug(recipe, f"n{nodes}d{devices}-bs{batch_size}-{precision}", options),
    )


def _slug(recipe: LaunchRecipe, identity: str, options: Mapping[str, Scalar]) -> str:
    # An option that all cases share says nothing in a name; one that differs must, or two cases would share a folder.
    usual = {key: text_of(value) for key, value in recipe.options.items()}
    differing = {key: text_of(value) for key, value in options.items() if usual.get(key) != text_of(value)}
    parts = [recipe.device, identity, *([recipe.label] if recipe.label else [])]
    return "-".join(parts + [f"{key.replace('_', '-')}-{slugify(text)}" for key, text in differing.items()])
