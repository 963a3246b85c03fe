"""`export`: writes recipes as plans, which pages show."""

from __future__ import annotations

from pathlib import Path

import click

from perfledger.runners import plans, recipes
from perfledger.runners.batch import COMPLETED
from perfledger.schema.plans import PLANS_FOLDER


@click.command("export")
@click.argument("chosen", nargs=-1, metavar="[RECIPE]...")
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    default=Path("raw_logs") / PLANS_FOLDER,
    metavar="DIR",
    show_default=True,
    help="Folder that the plans are written to.",
)
def export(chosen: tuple[str, ...], to: Path) -> int:
    """Write recipes as plans, which the pages show.

    A plan lists the cases of a recipe with their commands. `python -m ingest` reads those in the folder `plans` next to
    the logs: pages then say how to make each case, and which were not run yet. RECIPE is a name that `list` prints, or
    a .toml file; without any, all that `list` prints are written.
    """
    loaded = [recipes.load(recipes.find(name)) for name in chosen or recipes.names()]
    print(*plans.write(loaded, to), sep="\n")
    return COMPLETED
