"""Texts that several commands print: counts, durations, tables, and commands as a shell takes them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence

from perfledger.runners.cases import RecipeCase, case_choices
from perfledger.runners.job import PlannedRun
from perfledger.runners.recipes import LaunchRecipe


def case_argument(recipe: LaunchRecipe, case: RecipeCase) -> str:
    """Return the value of `--case` that gives exactly this case, quoted for a shell."""
    choices = case_choices(recipe, case).items()
    return shlex.quote(",".join(f"{key}={value}" for key, value in choices))


def command_line(run: PlannedRun) -> str:
    """Return the command of a run with its variables."""
    return command_text(run.record.environment_variables, run.record.argv)


def command_text(variables: Mapping[str, str], argv: Sequence[str]) -> str:
    """Return a command for a person to read; values that only the node knows are in braces."""
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in variables.items()), shlex.join(argv)])


def aligned(rows: Collection[Sequence[str]]) -> Iterator[str]:
    """Yield rows as lines, with the cells of a column below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def counted(count: int, what: str) -> str:
    """Return `1 run`, `2 runs`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """Return hours and minutes, rounded up."""
    hours, minutes = divmod(math.ceil(seconds / 60), 60)
    shown = [f"{hours} h"] if hours else []
    return " ".join([*shown, f"{minutes} min"] if minutes or not hours else shown)
