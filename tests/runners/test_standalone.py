"""A run that is taken to its host as one Python file."""

from __future__ import annotations

import os
import subprocess
import sys

from runners import recipe
from runners.command import build_run
from runners.recipe import select_cases
from runners.run import standalone


def test_variables_of_the_user_do_not_set_the_meeting_point_of_a_standalone_run(write_recipe, tmp_path):
    path = write_recipe('echo "$HOSTS $MEET"', more='HOSTS = "{hosts}"\nMEET = "{master_address}:{master_port}"\n')
    chosen = recipe.load(path)
    run = build_run(chosen, select_cases(chosen, {})[0], tmp_path / "raw")
    (tmp_path / "job.py").write_text(standalone(run), encoding="utf-8")
    leaked = {"PERFLEDGER_HOSTS": "a,b", "PERFLEDGER_MASTER_ADDRESS": "far", "PERFLEDGER_MASTER_PORT": "1"}
    done = subprocess.run([sys.executable, str(tmp_path / "job.py")], env={**os.environ, **leaked}, check=False)
    assert done.returncode == 0
    hosts, _, meeting = (run.folder / "incoming/node0/train.log").read_text().strip().partition(" ")
    assert (hosts, meeting.partition(":")[0]) == ("localhost", "127.0.0.1")
    assert meeting != "127.0.0.1:1"
