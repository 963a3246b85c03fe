"""`script`: one case as a file for a host that cannot be reached."""

from __future__ import annotations

from pathlib import Path

import click

from perfledger.runners.batch import COMPLETED, Batch
from perfledger.runners.cli.options import Asked, script_options
from perfledger.runners.cli.series import at_site
from perfledger.runners.cli.text import case_argument
from perfledger.runners.command import Numbered
from perfledger.runners.job import RunnerError
from perfledger.runners.run import standalone
from perfledger.runners.ssh import Ssh


@click.command("script")
@script_options
@click.option(
    "-o", "--output", required=True, metavar="FILE", type=click.Path(path_type=Path), help="The file to write."
)
def script(asked: Asked, output: Path) -> int:
    """Write one case into a file that Python runs, such as job.pyz.

    The file is for a host that cannot be reached from here and has Python 3.6 or newer: run it there with `python3`,
    copy the folder that it makes to --raw-logs here, and `collect` it. RECIPE is a name that `list` prints, or a .toml
    file.
    """
    (chosen,) = asked.chosen
    recipe, settings = chosen.recipe, asked.settings
    if len(chosen.cases) > 1:
        choices = "\n".join(f"  --case {case_argument(recipe, case)}" for case in chosen.cases)
        raise RunnerError(
            f"recipe {recipe.name}: a script is of one case, and these are {len(chosen.cases)}:\n{choices}"
        )
    if isinstance(asked.target, Ssh):
        settings, _ = at_site(recipe, settings, asked.target, asked.site)
    batch = Batch(
        recipe=recipe,
        cases=chosen.cases,
        settings=settings,
        raw_logs=asked.raw_logs,
        numbered=Numbered(round=asked.round),
    )
    (one,) = batch.first_runs()
    try:
        output.write_bytes(standalone(one))
    except OSError as error:
        raise RunnerError(f"{output}: it cannot be written: {error.strerror}; name another file with -o") from error
    return COMPLETED
