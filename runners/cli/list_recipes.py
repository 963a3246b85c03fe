"""`list`: the recipes."""

from __future__ import annotations

from collections.abc import Iterator

import click

from perfledger.runners import recipes
from perfledger.runners.batch import COMPLETED
from perfledger.runners.cli.text import aligned
from perfledger.runners.recipes import FOLDER


@click.command("list")
def list_recipes() -> int:
    """List the recipes.

    Each line has name, device, launcher and title.
    """
    print(*_recipe_list(), sep="\n")
    return COMPLETED


def _recipe_list() -> Iterator[str]:
    """Yield the recipes shipped, by the folder they lie in: name, device, launcher, title."""
    loaded = {path: recipes.load(path) for path in map(recipes.find, recipes.names())}
    rows = {path: ("", each.name, each.device, each.launcher.name, each.title) for path, each in loaded.items()}
    lines = dict(zip(rows, aligned(rows.values()), strict=True))
    # The archive comes last.
    for folder in sorted({path.parent for path in rows}, key=lambda path: ("archive" in path.parts, path)):
        yield f"{folder.relative_to(FOLDER.parent)}:"
        yield from (line for path, line in lines.items() if path.parent == folder)
