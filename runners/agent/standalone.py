"""A run in a file of its own, for a host that cannot be reached: an archive of the agent with the job in it."""

import json
import os
import shutil
import sys
import zipfile

from .actions import Actions
from .checks import check_secrets
from .job import NodeJob
from .tools import PROGRAM, Refused, as_json, write_file

MYPY = False
if MYPY:
    from .spec import Request


def standalone() -> int:
    """Create the folder of the run below the current one, check this host, and run."""
    with zipfile.ZipFile(os.path.dirname(PROGRAM)) as archive:
        document = json.loads(os.fsdecode(archive.read("job.json")))
    folder = document["folder"]
    request: "Request" = document["request"]
    request["jobs"] = os.path.abspath(os.path.join(folder, "incoming"))
    actions = Actions(request)
    try:
        os.makedirs(folder)
        write_file(os.path.join(folder, "launch.json"), as_json(document["launch"]))
    except OSError:
        sys.stderr.write(f"runners: {folder} cannot be made here, or is there already\n")
        return 2
    try:
        check_secrets(NodeJob(actions.folder, request))
        found = actions.check()
        for warning in found["warnings"] + found["disturbances"]:
            sys.stderr.write(f"warning: {warning}\n")
    except Refused as refusal:
        shutil.rmtree(folder)
        sys.stderr.write(f"runners: {refusal}\n")
        return 2
    sys.stderr.write(
        f"at its end, copy {os.path.abspath(folder)} to the folder of raw logs on the machine with Perfledger, under "
        "the same path below it, and run `python -m runners collect` there\n"
    )
    os.chdir(actions.folder)
    os.execve(sys.executable, actions.argv(), actions.environment())
    return 0
