"""`script`: one case as a file for a host that cannot be reached."""

from __future__ import annotations

import json
from pathlib import Path

import click
import msgspec
from msgspec.structs import asdict

from perfledger.runners.agent_link import START, archive
from perfledger.runners.batch import COMPLETED
from perfledger.runners.cli.options import Chosen, case_options, raw_logs_option, round_option, settings_options
from perfledger.runners.cli.text import case_argument
from perfledger.runners.command import plan_run
from perfledger.runners.folders import planned_launch
from perfledger.runners.job import PlannedRun, RunnerError
from perfledger.runners.settings import Settings
from perfledger.runners.transport import Job, Local


@click.command("script")
@case_options
@settings_options
@raw_logs_option
@round_option
@click.option(
    "-o", "--output", required=True, metavar="FILE", type=click.Path(path_type=Path), help="The file to write."
)
def script(chosen: Chosen, settings: Settings, raw_logs: Path, output: Path) -> int:
    """Write one case into a file that Python runs, such as job.pyz.

    The file is for a host that cannot be reached from here and has Python 3.6 or newer: run it there with `python3`,
    copy the folder that it makes to --raw-logs here, and `collect` it. RECIPE is a name that `list` prints, or a .toml
    file.
    """
    recipe, cases = chosen.recipe, chosen.cases
    if len(cases) > 1:
        choices = "\n".join(f"  --case {case_argument(recipe, case)}" for case in cases)
        raise RunnerError(f"recipe {recipe.name}: a script is of one case, and these are {len(cases)}:\n{choices}")
    try:
        output.write_bytes(standalone(plan_run(recipe, cases[0], raw_logs, settings)))
    except OSError as error:
        raise RunnerError(f"{output}: it cannot be written: {error.strerror}; name another file with -o") from error
    return COMPLETED


def standalone(run: PlannedRun) -> bytes:
    """Return an archive that runs one run, in the folder that it is started in; see README.md.

    Raises:
        RunnerError: the run takes several nodes.
    """
    if run.spec.nodes > 1:
        raise RunnerError(
            f"{run.folder.parent.name}: a script is for one node, and this case takes {run.spec.nodes}; "
            "choose another with --case, or start it with --on ssh:HOST1,HOST2"
        )
    target = Local()
    launched = planned_launch(target, run)
    job = Job(launched.job, run.folder)
    request = {"identity": job.facts.identity, "rank": 0, "spec": run.spec, **asdict(target.meeting(job))}
    document = {"folder": str(run.folder), "launch": launched, "request": request}
    text = json.dumps(msgspec.to_builtins(document), ensure_ascii=False)
    return archive({"__main__.py": START, "job.json": text})
