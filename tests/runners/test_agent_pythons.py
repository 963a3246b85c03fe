"""The agent on each Python that a host may have."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from perfledger.runners import agent_link
from perfledger.runners.cli import main
from perfledger.runners.transport import Local
from tests.runners.home import RECORD, folder_of, load, words
from tests.runners.node import sampled

pytestmark = pytest.mark.usefixtures("bash")
#: Prints where the command was started from: the program of its parent process, which is the agent.
PROGRAM = f"{RECORD} record 1; {sampled()}; readlink /proc/$PPID/exe"


@pytest.fixture(params=[f"3.{minor}" for minor in range(6, 14)])
def python(request):
    """Return a Python of this version; skip the test if it is not on PATH. A pyenv takes the version by a variable."""
    name = f"python{request.param}"
    variables = {**os.environ, "PYENV_VERSION": request.param}
    asked = [name, "-c", "import os, sys; print(os.path.realpath(sys.executable))"]
    try:
        found = subprocess.run(asked, env=variables, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"there is no {name} on PATH")
    return found


def test_a_whole_run_goes_through(python, write_recipe, tmp_path, monkeypatch):
    monkeypatch.setattr(Local, "argv", lambda *_: [python, *agent_link.PYTHON])
    monkeypatch.setenv("PERFLEDGER_JOBS", str(tmp_path / "jobs"))
    assert main(words(write_recipe(PROGRAM), tmp_path)) == 0
    folder = folder_of(tmp_path) / "1"
    run = load(folder / "run.json")
    assert (run["outcome"], run["records"]["count"]) == ("completed", 1)
    assert (folder / "train.log").read_text().splitlines()[-1] == python
    assert {"telemetry.csv", "environment.json"} <= run["files"].keys()
    assert len(list((tmp_path / "jobs/.agents").iterdir())) == 1


@pytest.mark.parametrize("python", ["3.6", "3.13"], indirect=True)
def test_a_script_starts(python, write_recipe, tmp_path):
    job = tmp_path / "job.pyz"
    assert main(["script", str(write_recipe(PROGRAM)), "--raw-logs", "raw", "-o", str(job)]) == 0
    subprocess.run([python, str(job)], cwd=tmp_path, check=True, capture_output=True)
    node = folder_of(tmp_path) / "1/incoming/node0"
    assert json.loads((node / "host.json").read_bytes())["outcome"] == "completed"
    assert (node / "train.log").read_text().splitlines()[-1] == python


def test_packages_are_reported(python):
    program = (agent_link.AGENT / "packages.py").read_text(encoding="utf-8")
    answer = subprocess.run([python, "-c", program, "gpu", "yes", "pip"], capture_output=True, text=True, check=True)
    found = json.loads(answer.stdout.split(agent_link.MARK)[1])
    version = subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout
    assert version == f"Python {found['python']}\n"


def test_an_older_python_is_refused():
    old = agent_link.BOOT.replace("(3, 6)", "(99,)")
    refused = subprocess.run([sys.executable, "-c", old], input="", capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert refused.stderr.startswith("Perfledger needs Python 3.6 or newer, and this is 3.")
