"""`show`: what a recipe needs, and its cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from msgspec import structs

from perfledger.runners.batch import COMPLETED
from perfledger.runners.cases import RecipeCase
from perfledger.runners.cli.options import Chosen, case_options, settings_options
from perfledger.runners.cli.text import case_argument, command_line
from perfledger.runners.command import plan_run
from perfledger.runners.ingest_link import check_ingest
from perfledger.runners.recipes import LaunchRecipe
from perfledger.runners.settings import Settings
from perfledger.schema.plans import EXAMPLE_DATA


@click.command("show")
@case_options
@settings_options
def show(chosen: Chosen, settings: Settings) -> int:
    """Show a recipe: what it needs, its cases.

    Each case is shown with its command and with the --case that chooses it. RECIPE is a name that `list` prints, or a
    .toml file.
    """
    recipe = chosen.recipe
    settings = structs.replace(settings, data=settings.data or EXAMPLE_DATA)
    print(*_describe(recipe, chosen.cases, settings), sep="\n")
    # After the description, which a Python without what `ingest` needs can print, too.
    check_ingest({recipe.name: recipe.records.format})
    return COMPLETED


def _describe(recipe: LaunchRecipe, cases: Sequence[RecipeCase], settings: Settings) -> Iterator[str]:
    """Yield what a recipe needs, and its cases with the command of each."""
    yield f"{recipe.name}: {recipe.title}"
    yield f"suite {recipe.suite}: {recipe.model} in {recipe.framework}, on {recipe.device}"
    yield f"{recipe.repeats} repeats, at most {recipe.timeout_seconds} s each, {recipe.cool_down_seconds} s apart"
    records = recipe.records
    yield f"{records.at_least} records of format {records.format} must be in the log of the {records.node} node"
    yield from _requirements(recipe)
    for text in filter(None, (recipe.notes, recipe.setup.text)):
        yield f"\n{text}"
    if recipe.setup.lock:
        yield f"  $ python -m pip install --require-hashes -r {recipe.setup.lock}"
    for step in recipe.setup.steps:
        yield f"  $ {step}"
    for case in cases:
        run = plan_run(recipe, case, Path("raw_logs"), settings)
        yield f"\n{case.slug}\n  --case {case_argument(recipe, case)}\n  {command_line(run)}"


def _requirements(recipe: LaunchRecipe) -> Iterator[str]:
    source, image = recipe.source, recipe.container
    if source.repository:
        folder = f", in {source.folder} below --work" if source.folder else ""
        pinned = source.commit or ("at no stated commit" if source.folder else "")
        yield f"source {source.repository} {pinned}".rstrip() + folder
    if image:
        yield f"image {image.image} {image.digest}".rstrip()
    if recipe.setup.packages:
        yield f"{recipe.setup.python} with {', '.join(recipe.setup.packages)}"
    data = recipe.data
    if stated := ", ".join(filter(None, (data.name, data.address, data.checksum))):
        yield f"data {stated}"
    if data.layout:
        yield f"in {data.below}: {', '.join(data.layout)}"
