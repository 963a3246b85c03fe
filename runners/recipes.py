"""The recipes shipped with Perfledger, and how any recipe is read."""

from __future__ import annotations

import difflib
import hashlib
from pathlib import Path

from perfledger.runners.cases import check_use
from perfledger.runners.job import RunnerError
from perfledger.runners.recipe import FOLDER, SITE_FILE, LaunchRecipe, recipe_of
from perfledger.runners.toml_errors import Table, read_toml


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

    def reader(content: bytes, tables: Table) -> LaunchRecipe:
        recipe = recipe_of(path, hashlib.sha256(content).hexdigest(), tables)
        check_use(recipe)
        return recipe

    return read_toml(path, "recipe", reader)


def _shipped() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(FOLDER.rglob("*.toml")):
        if path.name == SITE_FILE:
            continue
        if path.stem in found:
            raise RunnerError(f"{path}: {found[path.stem]} has the same name; rename one, for recipes go by their name")
        found[path.stem] = path
    return found
