"""`script`: one case as a file for a host that cannot be reached."""

from __future__ import annotations

from pathlib import Path

import click

from perfledger.runners.batch import COMPLETED, first_runs
from perfledger.runners.cli.options import Chosen, case_options, raw_logs_option, round_option, settings_options
from perfledger.runners.cli.text import case_argument
from perfledger.runners.command import Numbered
from perfledger.runners.job import RunnerError
from perfledger.runners.run import standalone
from perfledger.runners.settings import Settings


@click.command("script")
@case_options
@settings_options
@raw_logs_option
@round_option
@click.option(
    "-o", "--output", required=True, metavar="FILE", type=click.Path(path_type=Path), help="The file to write."
)
def script(chosen: Chosen, settings: Settings, raw_logs: Path, round: str, output: Path) -> int:
    """Write one case into a file that Python runs, such as job.pyz.

    The file is for a host that cannot be reached from here and has Python 3.6 or newer: run it there with `python3`,
    copy the folder that it makes to --raw-logs here, and `collect` it. RECIPE is a name that `list` prints, or a .toml
    file.
    """
    recipe, cases = chosen.recipe, chosen.cases
    if len(cases) > 1:
        choices = "\n".join(f"  --case {case_argument(recipe, case)}" for case in cases)
        raise RunnerError(f"recipe {recipe.name}: a script is of one case, and these are {len(cases)}:\n{choices}")
    (one,) = first_runs(recipe, cases, raw_logs, settings, Numbered(round=round))
    try:
        output.write_bytes(standalone(one))
    except OSError as error:
        raise RunnerError(f"{output}: it cannot be written: {error.strerror}; name another file with -o") from error
    return COMPLETED
