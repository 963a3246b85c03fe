"""A run that is carried to its host as a script: it knows its place by itself."""

from __future__ import annotations

import os
import subprocess

import pytest

from runners.cases import recipe
from runners.cases.case import choose
from runners.command.script import Settings
from runners.runs.carried import program
from runners.runs.plan import order

pytestmark = pytest.mark.usefixtures("bash")


def test_no_variable_of_the_user_says_where_a_carried_run_meets(write_recipe, tmp_path):
    path = write_recipe('echo "$HOSTS $MEET"', more='HOSTS = "{hosts}"\nMEET = "{master_address}:{master_port}"\n')
    chosen = recipe.load(path)
    (run,) = order(chosen, choose(chosen, {}), 1, tmp_path / "raw")
    leaked = {"PERFLEDGER_HOSTS": "a,b", "PERFLEDGER_MASTER_ADDRESS": "far", "PERFLEDGER_MASTER_PORT": "1"}
    done = subprocess.run(
        ["bash"], input=program(run, Settings(), ""), text=True, env={**os.environ, **leaked}, check=False
    )
    assert done.returncode == 0
    assert (run.folder / "incoming/node0/train.log").read_text() == "127.0.0.1 127.0.0.1:29500\n"
