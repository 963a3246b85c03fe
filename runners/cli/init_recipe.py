"""`init-recipe`: drafts a recipe from a command that works."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from perfledger import as_called
from perfledger.runners import draft
from perfledger.runners.batch import COMPLETED
from perfledger.runners.job import RunnerError


@click.command("init-recipe", context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND...")
@click.option(
    "--log", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A log of it."
)
@click.option("--to", metavar="FILE", type=click.Path(path_type=Path), help="The recipe.  [default: by the script]")
def init_recipe(command: tuple[str, ...], log: Path | None, to: Path | None) -> int:
    """Draft a recipe from a command that works.

    Example: init-recipe --log train.log -- torchrun --nproc_per_node 8 train.py --batch 32. Facts that the command does
    not state are left blank, with a question; a log answers some of them. Nothing is run, and no file is replaced.
    """
    facts = draft.read(command)
    path = to or Path(f"{facts.name}.toml")
    if path.suffix != ".toml":
        raise RunnerError(f"--to {path}: the name of a recipe ends in .toml")
    drafted = [
        draft.DraftLine("", None, "Drafted by init-recipe; lines with a ? want an answer."),
        *draft.lines(facts, draft.figure_of(log) if log else None, path.parent),
    ]
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.writelines(f"{each.text()}\n" for each in drafted)
    except OSError as error:
        raise RunnerError(f"{path}: {error.strerror}; give --to another file") from None
    for number, each in enumerate(drafted, start=1):
        if each.is_question:
            print(f"{path}:{number}: {each.remark}")
    print(as_called(f"next: python -m runners run {shlex.quote(str(path))} --smoke"))
    return COMPLETED
