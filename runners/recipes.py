"""Recipes as data: the keys of a file `recipes/**/<name>.toml`, each of them checked, and the recipes shipped."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from perfledger.runners.job import NODE_VARIABLES, Count, RequiredRecords, RunnerError, Scalar, Text
from perfledger.runners.matrix import (
    COMPUTED,
    SLOT,
    Axes,
    Lookup,
    Table,
    check_name,
    check_texts,
    read_matrix,
    texts_of,
)
from perfledger.runners.toml_errors import nearest, read_toml, wrong
from perfledger.schema.plans import DataSet
from perfledger.schema.redaction.redact import has_key
from perfledger.schema.vocabulary import LAUNCHERS

#: The recipes that are shipped.
FOLDER = Path(__file__).parent / "recipes"
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: A path below a folder.
_BELOW = r"^(?!/)(?!(.*/)?\.\.(/|$))"
#: Names of variables whose values are secrets, whatever they look like: HF_TOKEN, but not MAX_TOKENS.
_SECRET_NAME = re.compile(r"(?i)(?:^|_)(?:token|secret|passw(?:or)?d|(?:api|access|private)_?key|credentials?)$")
_REDACTION_SECONDS = 1.0

# The descriptions finish the sentence "`key` is VALUE, but must be ..." of an error message.
Slug = Annotated[
    str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]*$", description="the name of a folder, of a-z, 0-9, '.', '_' and '-'")
]
OptionalSlug = Annotated[str, Meta(pattern=r"^([a-z0-9][a-z0-9._-]*)?$", description=get_args(Slug)[1].description)]
Words = Annotated[tuple[str, ...], Meta(description="a list of texts")]
VariableName = Annotated[str, Meta(pattern=f"^{VARIABLE.pattern}$")]
Variables = Annotated[dict[VariableName, str], Meta(description="a table of texts by names of environment variables")]
LauncherName = Annotated[
    str,
    Meta(pattern=f"^(?:{'|'.join(map(re.escape, LAUNCHERS))})$", description=f"one of {', '.join(LAUNCHERS)}"),
]


class Launcher(Struct, frozen=True, forbid_unknown_fields=True):
    """How the ranks are started; `always` even where there is only one."""

    name: LauncherName = "plain"
    arguments: Words = ()
    always: Annotated[bool, Meta(description="true or false")] = False


class Image(Struct, frozen=True, forbid_unknown_fields=True):
    """A container image; `digest` is empty where it is not known, `arguments` go to the tool as they are.

    Image and digest may contain slots, so that each case has its own.
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
    """The needs of a host: packages that `python` must have, the steps that install them, and words.

    `lock` is a requirements file next to the recipe, with a hash for each package; `steps` are shell lines.
    """

    python: Text = "python"
    packages: Words = ()
    steps: Words = ()
    text: str = ""
    lock: str = ""


class RecipeSource(Struct, frozen=True, forbid_unknown_fields=True):
    """The source: a repository, its commit if known, and the folder below `--work` where the command runs."""

    repository: str = ""
    commit: str = ""
    folder: Annotated[str, Meta(pattern=_BELOW, description="a path without a leading / and without ..")] = ""


class RecipeData(DataSet, frozen=True, forbid_unknown_fields=True):
    """The data set, for a reader who has to fetch it; it is not checked."""


class RecipeFile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The keys of a recipe's file.

    Attributes:
        command: has slots such as `{batch_size}`, as do `launcher.arguments`, `environment_variables`, `slots` and
            `container.image`.
        matrix: one table or several, of the values that cases combine.
        slots: texts or lists of words by the value of the key that `by` names.
        files: written into the folder that the command runs in: path there to file or folder here.
    """

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
    matrix: Annotated[
        Table | tuple[Table, ...],
        Meta(
            description="a table or several, [matrix] or [[matrix]], of texts, numbers, truth values and lists of them"
        ),
    ]
    device: Annotated[Literal["cpu", "gpu"], Meta(description="cpu or gpu")] = "gpu"
    repeats: Count = 5
    timeout_seconds: Count = 3600
    label: OptionalSlug = ""
    cool_down_seconds: Annotated[int, Meta(ge=0, description="a whole number from 0")] = 0
    notes: str = ""
    launcher: Launcher = Launcher()
    options: Annotated[dict[str, Scalar], Meta(description="a table of texts, numbers and truth values")] = {}
    slots: Annotated[
        dict[str, Lookup],
        Meta(description="tables, each with `by`, and a text or a list of texts for each of its values"),
    ] = {}
    environment_variables: Variables = {}
    files: Annotated[
        dict[Annotated[str, Meta(pattern=f"{_BELOW}.")], Text],
        Meta(description="a table: a path without a leading / and without .., and the path of a file or a folder here"),
    ] = {}
    container: Image | None = None
    setup: Setup = Setup()
    source: RecipeSource = RecipeSource()
    data: RecipeData = RecipeData()


class LaunchRecipe(RecipeFile, frozen=True, kw_only=True):
    """A recipe.

    Attributes:
        name: of its file.
        sha256: of its file.
        lock: the text of the file that `setup.lock` names, empty without one.
        tables: of the matrix.
        sent: files by their path in the folder that the command runs in.
    """

    name: str
    sha256: str
    lock: str
    tables: tuple[Axes, ...]
    sent: dict[str, Path]


def recipe_of(path: Path, content: bytes, file: RecipeFile) -> LaunchRecipe:
    """Return the recipe of a TOML file, by its bytes and its record.

    Raises:
        FaultError: a key or its value is wrong.
    """
    for key in file.options:
        check_name(("options", key), ("batch_size", "precision", "shape"))
    tables = read_matrix(file.matrix, file.options)
    for name, slot in file.slots.items():
        check_name(("slots", name), {*file.options, *tables[0]})
        known = sorted({*file.options, *tables[0], *COMPUTED} - {"shape", "data"})
        if slot.get("by") not in known:
            raise wrong(("slots", name, "by"), f"must be one of {', '.join(known)}")
    check_variables(file.environment_variables, ("environment_variables",))
    title = file.title or f"{file.model} in {file.framework}"
    # A text of several lines ends with a line break.
    setup = replace(file.setup, text=file.setup.text.strip())
    recipe = LaunchRecipe(
        **{**asdict(file), "title": title, "setup": setup},
        name=path.stem,
        sha256=hashlib.sha256(content).hexdigest(),
        lock=_lock(file.setup, path.parent),
        tables=tables,
        sent=_sent(file.files, path.parent),
    )
    _check_slots(recipe)
    return recipe


def check_variables(variables: Mapping[str, str], keys: tuple[str, ...]) -> None:
    """Raise for a variable whose value must not be published; `keys` are those of the table."""
    for name, value in variables.items():
        if fault := secret_fault(name, value):
            raise wrong((*keys, name), fault)


def secret_fault(name: str, value: str) -> str:
    """Return why a variable must not be stated with its value, which would be published; empty if it may."""
    if value and (_SECRET_NAME.search(name) or has_key(f"{name}={value}", _REDACTION_SECONDS)):
        return f"looks like a secret, and its value would be published; leave it out and run with --secret {name}"
    return ""


def _lock(setup: Setup, folder: Path) -> str:
    """Return the text of `setup.lock`, a requirements file for pip's `--require-hashes`."""
    try:
        return (folder / setup.lock).read_text(encoding="utf-8") if setup.lock else ""
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise wrong(("setup", "lock"), f"cannot be read: {why}; paths begin at the recipe's folder") from error


def _sent(files: Mapping[str, str], folder: Path) -> dict[str, Path]:
    """Return the files that `[files]` names, by their path there; those of a folder without hidden ones."""
    found: dict[str, Path] = {}
    for there, here in files.items():
        base = folder / here
        paths = [path for path in sorted(base.rglob("*")) if _is_source(path, base)] if base.is_dir() else [base]
        if not paths:
            raise wrong(("files", there), f"is {here!r}, and no file is there; paths begin at the recipe's folder")
        found |= {str(PurePosixPath(there) / path.relative_to(base).as_posix()): path for path in paths}
    return found


def _is_source(path: Path, base: Path) -> bool:
    hidden = any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(base).parts)
    return path.is_file() and not hidden


def _check_slots(recipe: LaunchRecipe) -> None:
    """Raise for a slot that no case can fill."""
    of_case = {*case_keys(recipe), *COMPUTED, *NODE_VARIABLES} - {"shape"}
    for name, slot in recipe.slots.items():
        check_texts(("slots", name), texts_of(slot), of_case)
    known = {*of_case, *recipe.slots}
    check_texts(("command",), recipe.command, known)
    check_texts(("launcher", "arguments"), recipe.launcher.arguments, known)
    for name, text in recipe.environment_variables.items():
        check_texts(("environment_variables", name), [text], known)
    if recipe.container:
        # Both must be known before a node is.
        check_texts(("container", "image"), [recipe.container.image], known - {*NODE_VARIABLES, "data"})
        check_texts(("container", "digest"), [recipe.container.digest], known - {*NODE_VARIABLES, "data"})


def case_keys(recipe: LaunchRecipe) -> dict[str, None]:
    """Return the keys that distinguish the cases of a recipe, in one order for all tables."""
    return dict.fromkeys((*recipe.options, *recipe.tables[0]))


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
            found |= {name, str(slot["by"])} if slot else {name}
            texts += texts_of(slot) if slot else ()
    return frozenset(found | ({"batch_size", "devices"} if "global_batch_size" in found else set()))


def names() -> list[str]:
    """Return the names of the recipes shipped, sorted."""
    return sorted(_shipped())


def find(name: str) -> Path:
    """Return the file of a recipe: the name of a shipped one, or a path that ends in `.toml`.

    Raises:
        RunnerError: the recipe does not exist.
    """
    path = Path(name) if name.endswith(".toml") else _shipped().get(name)
    if path is None or not path.is_file():
        remedy = nearest(name, names()) or "`python -m runners list` prints them"
        toml = name.endswith(".toml")
        what = "there is no such file" if toml else "there is no such recipe, and the file of one ends in .toml"
        raise RunnerError(f"{name}: {what}; {remedy}")
    return path


def load(path: Path) -> LaunchRecipe:
    """Read a recipe.

    Raises:
        RunnerError: it is not a recipe; the message names the file, and line and key where they are known.
    """
    return read_toml(path, RecipeFile, "recipe", lambda content, file: recipe_of(path, content, file))


def _shipped() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(FOLDER.rglob("*.toml")):
        if path.stem in found:
            raise RunnerError(f"{path}: {found[path.stem]} has the same name; rename one, for recipes go by their name")
        found[path.stem] = path
    return found
