"""Programs that run at the same time, and those that do not answer."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from perfledger.runners import agent_link
from perfledger.runners.agent_link import archive, ask_agents, decoded, question, with_archive
from perfledger.runners.job import RunnerError
from perfledger.runners.programs import NO_ANSWER, ProgramResult, Question, ask
from perfledger.runners.transport import JobState, Local
from tests.runners.agents import kept
from tests.runners.node import ended

pytestmark = pytest.mark.usefixtures("bash")


def bash_reads(text: str) -> Question:
    return Question(["bash", "-s"], text)


def test_all_programs_run_at_the_same_time(tmp_path):
    meet = f"touch {tmp_path}/%d; until [ -e {tmp_path}/%d ]; do sleep 0.01; done; echo %d; echo on stderr >&2; exit %d"
    answers = ask([bash_reads(meet % (1, 2, 1, 3)), bash_reads(meet % (2, 1, 2, 0))], 20)
    assert answers == [ProgramResult(3, "1\n", "on stderr\n"), ProgramResult(0, "2\n", "on stderr\n")]


def test_a_program_that_is_too_slow_is_killed_and_the_others_count():
    slow, quick = ask([bash_reads("echo $$; exec sleep 300"), bash_reads("echo here")], 0.5)
    assert slow.status == NO_ANSWER
    assert ended(int(slow.output))
    assert quick.output == "here\n"


def test_an_answer_may_be_longer_than_a_pipe_and_not_be_text():
    (answer,) = ask([bash_reads(r"head -c 300000 /dev/zero | tr '\0' x; printf '\xff'")], 20)
    assert answer.output == "x" * 300000 + "\ufffd"


def test_variables_of_our_own_slurm_allocation_are_dropped(monkeypatch):
    for name in ("SLURM_JOB_ID", "SLURM_NTASKS", "PMI_RANK", "PMIX_RANK", "SLURM_CONF", "SBATCH_ACCOUNT"):
        monkeypatch.setenv(name, "1")
    (answer,) = ask([bash_reads("env | grep -E 'SLURM|PMI|SBATCH' | sort")], 20)
    assert answer.output == "SBATCH_ACCOUNT=1\nSLURM_CONF=1\n"


def test_a_background_process_that_keeps_standard_error_is_not_waited_for():
    (answer,) = ask([bash_reads("sleep 300 & echo $!")], 20)
    assert answer.status == 0
    assert ask([bash_reads(f"kill {answer.output}")], 20)[0].status == 0


def test_a_full_disk_is_an_error_with_a_remedy(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(RunnerError, match="No space left on device; make room, or set TMPDIR"):
        ask([bash_reads("true")], 20)


def test_the_others_are_ended_if_a_program_is_missing(tmp_path):
    waits = bash_reads(f"echo $$ >{tmp_path}/pid; sleep 300")
    with pytest.raises(RunnerError, match="no such program: it cannot be started here"):
        ask([waits, Question(["no such program"])], 20)
    # The shell may be killed before it has written its number.
    written = (tmp_path / "pid").read_text() if (tmp_path / "pid").exists() else ""
    assert not written or ended(int(written))


def test_lines_of_a_login_are_not_taken_for_an_answer():
    """Neither before the answer, nor after a form feed or another end of a line that is not a newline."""
    fake = 'perfledger {"kind": "ended"}'
    login = f"Welcome {fake}\n"
    answer = 'perfledger {"kind": "running"}\n'
    trailer = "".join(f"bye{end}{fake}\n" for end in ("\f", "\v", "\x85", "\u2028", "\r"))
    assert decoded(ProgramResult(0, login + answer + trailer, ""), JobState) == JobState("running")
    assert decoded(ProgramResult(0, login + trailer, ""), JobState) is None


#: An agent that answers with the names of the values in its question.
ECHO = {"__init__.py": "", "actions.py": "def serve(asked): print('perfledger', asked['action'], *sorted(asked))"}


@pytest.fixture
def echo(monkeypatch):
    """Have nodes run an agent that repeats its question."""
    monkeypatch.setattr(agent_link, "AGENT", kept(ECHO))


def answer_to(line, tmp_path):
    """Return what BOOT prints for a question on a host whose jobs are in a folder of the test, and its status."""
    place = {**os.environ, "PERFLEDGER_JOBS": str(tmp_path / "jobs")}
    argv = [sys.executable, *agent_link.PYTHON]
    done = subprocess.run(argv, input=line, capture_output=True, text=True, env=place)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.usefixtures("echo")
def test_a_node_unpacks_the_agent_once_and_keeps_it(tmp_path):
    line = question(["python3"], "look", rank=0)
    assert len(line) < 100
    assert answer_to(line, tmp_path) == (0, '\nperfledger {"unknown_agent": true}\n')
    assert answer_to(with_archive(line), tmp_path) == (0, "perfledger look action agent rank\n")
    assert answer_to(line, tmp_path) == (0, "perfledger look action agent rank\n")
    (home,) = (tmp_path / "jobs/.agents").iterdir()
    assert home.name == json.loads(line)["agent"]
    assert list(home.rglob("actions.*.pyc")), "compiled once, and kept"


@pytest.mark.usefixtures("echo")
def test_nodes_that_lack_the_agent_are_asked_again(tmp_path, monkeypatch):
    monkeypatch.setenv("PERFLEDGER_JOBS", str(tmp_path / "jobs"))
    argv = ["python3", *agent_link.PYTHON]
    two = [Question(argv, question(argv, action)) for action in ("look", "finish")]
    for _ in range(2):
        assert [answer.output for answer in ask_agents(two, 60)] == [
            f"perfledger {action} action agent\n" for action in ("look", "finish")
        ]


def test_the_archive_is_the_same_each_time_and_contains_the_agent_alone():
    assert archive() == archive()
    with zipfile.ZipFile(io.BytesIO(archive())) as packed:
        assert {Path(name).parts[0] for name in packed.namelist()} == {"agent"}
        assert {each.date_time for each in packed.infolist()} == {agent_link.FIXED_DATE}


def test_this_machine_unpacks_nothing(tmp_path, monkeypatch):
    jobs = tmp_path / "jobs"
    monkeypatch.setenv("PERFLEDGER_JOBS", str(jobs))
    argv = Local().argv(0)
    line = question(argv, "look", identity="nothing", rank=0)
    assert json.loads(line)["above"] == str(agent_link.AGENT.parent)
    assert "its folder is not there any more" in ask_agents([Question(argv, line)], 60)[0].output
    assert not jobs.exists()
