"""Programs that run at the same time, and those that do not answer."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile

import pytest

from perfledger.runners import nodes, transport
from perfledger.runners.job import RunnerError
from perfledger.runners.nodes import NO_ANSWER, PYTHON, ProgramResult, Question, ask, decoded, request
from perfledger.runners.transport import Local, NodeState, Ssh
from tests.runners.jobs import planned
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


def test_an_answer_may_be_longer_than_a_pipe_holds_and_not_be_text():
    (answer,) = ask([bash_reads(r"head -c 300000 /dev/zero | tr '\0' x; printf '\xff'")], 20)
    assert answer.output == "x" * 300000 + "\ufffd"


def test_a_program_that_prints_without_end_is_killed_before_the_disk_is_full(monkeypatch):
    monkeypatch.setattr("perfledger.runners.nodes.LONGEST", 100_000)
    endless, quick = ask([bash_reads("echo $$; exec yes"), bash_reads("echo here")], 20)
    assert (endless.status, len(endless.output)) == (NO_ANSWER, 100_000)
    assert ended(int(endless.output.partition("\n")[0]))
    assert quick == ProgramResult(0, "here\n", "")
    assert ask([bash_reads("head -c 200000 /dev/zero >&2")], 20)[0].status == NO_ANSWER


def test_variables_of_our_own_slurm_allocation_are_dropped(monkeypatch):
    for name in ("SLURM_JOB_ID", "SLURM_NTASKS", "PMI_RANK", "PMIX_RANK", "SLURM_CONF", "SBATCH_ACCOUNT"):
        monkeypatch.setenv(name, "1")
    (answer,) = ask([bash_reads("env | grep -E 'SLURM|PMI|SBATCH' | sort")], 20)
    assert answer.output == "SBATCH_ACCOUNT=1\nSLURM_CONF=1\n"


def test_a_background_process_that_keeps_standard_error_is_not_waited_for():
    (answer,) = ask([bash_reads("sleep 300 & echo $!")], 20)
    assert answer.status == 0
    assert ask([bash_reads(f"kill {answer.output}")], 20)[0].status == 0


def test_a_full_disk_is_an_error_with_a_remedy(tmp_path, monkeypatch):
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


def test_what_a_login_prints_is_no_answer_of_an_agent():
    """Neither in front of the answer, nor behind a form feed or another end of a line that is not a newline."""
    fake = 'perfledger {"kind": "ended"}'
    login = f"Welcome {fake}\n"
    answer = 'perfledger {"kind": "running"}\n'
    trailer = "".join(f"bye{end}{fake}\n" for end in ("\f", "\v", "\x85", "\u2028", "\r"))
    assert decoded(ProgramResult(0, login + answer + trailer, ""), NodeState) == NodeState("running")
    assert decoded(ProgramResult(0, login + trailer, ""), NodeState) is None


#: An agent that answers with what it was asked and with all that it was told.
ECHO = 'def serve(request): print("perfledger", request["action"], *sorted(request))'


def test_an_agent_whose_file_a_request_names_is_run_from_it(tmp_path, monkeypatch):
    (tmp_path / "agent.py").write_text(ECHO, encoding="utf-8")
    monkeypatch.setattr(nodes, "AGENT", tmp_path / "agent.py")
    monkeypatch.setattr(nodes, "agent_source", lambda: ECHO)
    line = json.loads(request("look", own_python=True, rank=0))
    for told in ({**line, "agent": "no Python"}, {name: line[name] for name in line if name != "file"}):
        argv = [sys.executable, *PYTHON]
        done = subprocess.run(argv, input=json.dumps(told), capture_output=True, text=True, check=True)
        assert done.stdout == "perfledger look action agent rank\n"
    assert list(tmp_path.glob("__pycache__/agent.*.pyc")), "compiled once, and kept"


@pytest.mark.parametrize(("target", "named"), [(Local(), True), (Ssh(("far-away",)), False)], ids=["here", "there"])
def test_only_the_python_of_this_process_is_told_the_file(write_recipe, tmp_path, monkeypatch, target, named):
    asked = []
    monkeypatch.setattr(transport, "ask", lambda questions, _: asked.extend(questions) or [ProgramResult(0, "", "")])
    started = planned(write_recipe("true"), target, tmp_path)
    target.tell(started.job, "look", [0], NodeState)
    (line,) = (json.loads(each.text) for each in asked)
    assert line["agent"] == nodes.agent_source()
    assert line.get("file") == (str(nodes.AGENT) if named else None)
