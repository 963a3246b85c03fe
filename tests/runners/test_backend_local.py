"""Jobs on this machine, for real: started apart from us, found again, stopped, killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from perfledger.runners.folders import open_launch, planned_launch
from perfledger.runners.job import RunnerError
from perfledger.runners.slurm import Slurm
from perfledger.runners.ssh import Ssh
from perfledger.runners.transport import Local
from tests.runners.agents import change_agent
from tests.runners.jobs import Placed, planned
from tests.runners.node import ended

pytestmark = pytest.mark.usefixtures("bash")
LOCAL = Local()
WAIT = 'echo begun; until [ -e "$PERFLEDGER_JOB/go" ]; do sleep 0.05; done; echo done'


def host(started):
    return json.loads((started.node(0) / "host.json").read_text(encoding="utf-8"))


def test_the_state_of_a_job_follows_it(write_recipe, tmp_path):
    started = planned(write_recipe(WAIT), LOCAL, tmp_path)
    started.start()
    state = started.printing()
    assert (state.kind, state.last_line, state.log_bytes, state.failed) == ("running", "begun", 6, False)
    (started.node(0) / "go").touch()
    state = started.over()
    assert (state.kind, state.last_line, state.failed) == ("ended", "done", False)
    started.fetch()
    assert host(started)["outcome"] == "completed"


def test_a_job_knows_its_place_and_texts_reach_it_byte_for_byte(write_recipe, tmp_path):
    text = "\u4e2d\u6587 $(touch hit) `touch hit` \"' \\t\\\\ "
    program = "pwd >&2; printf '%s\n' \"$1\" $PERFLEDGER_JOB $PERFLEDGER_IDENTITY $PERFLEDGER_NODE_RANK $HOSTS $MEET"
    more = 'HOSTS = "{hosts}"\nMEET = "{master_address}:{master_port}"\n'
    path = write_recipe(program, more=more, word=text)
    started = planned(path, LOCAL, tmp_path)
    started.start()
    assert started.over().kind == "ended"
    assert not list(tmp_path.rglob("hit"))
    found = (started.node(0) / "train.log").read_text(encoding="utf-8").splitlines()[1:]
    port = started.job.port
    assert found == [text, str(started.node(0)), started.identity, "0", "localhost", f"127.0.0.1:{port}"]


def test_a_job_outlives_whoever_started_it_and_is_found_again(write_recipe, tmp_path):
    started = planned(write_recipe(WAIT), LOCAL, tmp_path)
    kept = {"facts": msgspec.to_builtins(started.job.facts), "spec": msgspec.to_builtins(started.run.spec)}
    program = (
        "import json, msgspec, os, pathlib, signal; from perfledger.runners import job, transport\n"
        f"kept = json.loads({json.dumps(kept)!r})\n"
        "facts, spec = msgspec.convert(kept['facts'], transport.JobFacts), msgspec.convert(kept['spec'], job.JobSpec)\n"
        f"transport.Local().start(transport.Job(facts, pathlib.Path({str(started.run.folder)!r})), spec)\n"
        "os.killpg(os.getpgrp(), signal.SIGKILL)"
    )
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", program], cwd=root, start_new_session=True, timeout=30, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert started.printing().kind == "running"
    agent = int((started.node(0) / "pid").read_text())
    assert os.getsid(agent) == agent
    (started.node(0) / "go").touch()
    assert started.over().kind == "ended"


@pytest.mark.parametrize("outcome", ["stopped", "timeout"])
def test_a_stopped_job_records_why_it_ended(write_recipe, tmp_path, outcome):
    started = planned(write_recipe('sleep 300 & echo "$!"; wait'), LOCAL, tmp_path)
    started.start()
    child = int(started.printing().last_line)
    started.stop(outcome)
    state = started.over()
    assert (state.kind, state.failed) == ("ended", True)
    assert host(started)["outcome"] == outcome
    assert ended(child)
    started.stop()
    assert host(started)["outcome"] == outcome


def test_a_job_that_ignores_the_first_stop_is_killed_by_the_second(write_recipe, tmp_path):
    started = planned(write_recipe("trap '' TERM; echo \"$$\"; while :; do sleep 0.1; done"), LOCAL, tmp_path)
    started.start()
    deaf = int(started.printing().last_line)
    started.stop()
    assert started.look().kind == "running"
    started.stop()
    assert started.over().kind == "ended"
    assert (host(started)["outcome"], host(started)["exit_status"]) == ("stopped", 137)
    assert ended(deaf)


def test_a_job_whose_agent_is_killed_is_lost_and_leaves_no_process(write_recipe, tmp_path):
    started = planned(write_recipe('setsid sleep 300 & echo "$!"; wait'), LOCAL, tmp_path)
    started.start()
    child = int(started.printing().last_line)
    os.kill(int((started.node(0) / "pid").read_text()), signal.SIGKILL)
    state = started.over()
    assert (state.kind, state.failed) == ("lost", True)
    assert "as if killed" in state.cause
    started.stop()
    assert ended(child)
    assert (started.node(0) / "train.log").read_text() == f"{child}\n"


def test_a_job_that_was_never_started_differs_from_one_that_was_killed(write_recipe, tmp_path):
    started = planned(write_recipe("true"), LOCAL, tmp_path)
    started.node(0).mkdir(parents=True)
    assert started.look().cause == "it was never started"
    (started.node(0) / "pid").write_text("0\n")
    assert started.look().cause == "its agent is gone, as if killed"


def test_a_job_whose_agent_is_gone_differs_from_a_restart_another_machine_and_a_reused_pid(write_recipe, tmp_path):
    started = planned(write_recipe("echo begun; sleep 300"), LOCAL, tmp_path)
    started.start()
    started.printing()
    os.kill(int((started.node(0) / "pid").read_text()), signal.SIGKILL)
    assert started.over().kind == "lost"
    (started.node(0) / "machine").write_text(f"another\n{os.uname().nodename}\n")
    assert started.look().cause == "the host was restarted"
    (started.node(0) / "machine").write_text("another\nfar away\n")
    state = started.look()
    assert (state.kind, state.cause) == ("unreachable", "the run was started on another machine; ask there")
    stranger = subprocess.Popen(["sleep", "300"])
    try:
        (started.node(0) / "pid").write_text(f"{stranger.pid}\n")
        assert started.look().kind != "running"
        started.stop()
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_an_answer_is_found_after_a_line_that_a_login_left_open(write_recipe, tmp_path, monkeypatch):
    login = ["bash", "-c", "printf '\\e[1mWelcome '; exec \"$@\"", "bash"]
    usual = Local.argv
    monkeypatch.setattr(Local, "argv", lambda target, rank: [*login, *usual(target, rank)])
    started = planned(write_recipe("true"), LOCAL, tmp_path)
    started.start()
    assert started.over().kind == "ended"


def test_a_node_that_refuses_starts_nothing_and_leaves_nothing(write_recipe, tmp_path):
    started = planned(write_recipe(command=["no such program"]), LOCAL, tmp_path)
    with pytest.raises(RunnerError, match="no such program") as raised:
        started.start()
    assert str(raised.value).startswith("this machine: ")
    assert "runners: " not in str(raised.value)
    assert list(started.run.folder.iterdir()) == []


def test_warnings_of_a_node_are_returned(write_recipe, tmp_path, monkeypatch):
    change_agent(
        monkeypatch,
        '"warnings": [each',
        '"warnings": ["it is warm"] + ["x" * 5000] or [each',
    )
    started = planned(write_recipe("true"), LOCAL, tmp_path)
    assert started.start().warnings == ("it is warm", "x" * 1000)
    assert started.over().kind == "ended"


def test_an_agent_that_cannot_begin_says_so(write_recipe, tmp_path, monkeypatch):
    change_agent(monkeypatch, "    runner = Runner(NodeJob(folder))", '    raise SystemExit("not today")')
    with pytest.raises(RunnerError, match="did not start: not today"):
        planned(write_recipe("true"), LOCAL, tmp_path).start()


def test_an_agent_that_fails_differs_from_a_host_out_of_reach(write_recipe, tmp_path, monkeypatch):
    change_agent(monkeypatch, "\n    before = processor_times()", "\n    before = nothing")
    with pytest.raises(RunnerError, match=r"this machine: its agent failed, and said: NameError"):
        planned(write_recipe("true"), LOCAL, tmp_path).start()


def test_the_last_line_may_end_a_bar_of_progress(write_recipe, tmp_path):
    started = planned(write_recipe(r"printf 'one\n10%%\r20%%\e[2J\xff\r\n\n\n'"), LOCAL, tmp_path)
    started.start()
    assert started.over().last_line == "20%\x1b[2J\ufffd"


def test_a_case_of_two_nodes_needs_two_hosts(write_recipe, tmp_path):
    two = {"nodes": "2", "devices": "2"}
    with pytest.raises(RunnerError, match="takes 2 nodes, and here is 1"):
        planned(write_recipe("true"), LOCAL, tmp_path, two)
    with pytest.raises(RunnerError, match="and here is 1"):
        planned(write_recipe("true"), Ssh(("a",)), tmp_path / "b", two)
    assert planned(write_recipe("true"), Ssh(("a", "b", "c")), tmp_path / "c", two).job.facts.nodes == 2


def launch_json(placed: Placed, **change: object) -> Path:
    """Write the `launch.json` of a run, with values changed, and return the folder of the run."""
    document = msgspec.to_builtins(planned_launch(placed.target, placed.run))
    (placed.run.folder / "launch.json").write_text(json.dumps({**document, **change}), encoding="utf-8")
    return placed.run.folder


@pytest.mark.parametrize("target", [Local(), Ssh(("a", "b"), ("10.0.0.1", "")), Slurm(("n1", "n2"), "7", "gpu")])
def test_a_job_is_restored_from_launch_json(write_recipe, tmp_path, target):
    placed = planned(write_recipe("true"), target, tmp_path)
    with open_launch(launch_json(placed)) as launch:
        assert (launch.target, launch.plan, launch.records.format) == (
            target,
            placed.run.record,
            "ngc.pytorch_resnet50",
        )
        assert launch.job == msgspec.structs.replace(placed.job.facts, identity=launch.job.identity)


JOB = {"identity": "a", "nodes": 2, "every_node": True, "timeout_seconds": 9}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "perfledger.launch/2"}, r"\$\.schema"),
        ({"job": {}}, "missing required field `identity`"),
        ({"job": {**JOB, "nodes": "1"}}, r"Expected `int`, got `str` - at `\$\.job\.nodes`"),
        ({"job": {**JOB, "nodes": 0}}, "is not valid"),
        ({"job": {**JOB, "nodes": 3}}, "its job takes 3 nodes"),
        ({"job": {**JOB, "identity": "../../somebody"}}, "is not valid"),
        ({"target": {"kind": "ssh", "hosts": ["-oProxyCommand=id", "b"]}}, "it names an invalid host"),
        ({"target": {"kind": "ssh", "hosts": ["a", 1]}}, r"\$\.target\.hosts"),
        ({"target": {"kind": "slurm", "number": "7 --all", "hosts": ["a", "b"]}}, "it names an invalid Slurm job"),
        ({"target": {"kind": "slurm", "number": "7", "hosts": ["a", "-b"]}}, "it names an invalid Slurm job or node"),
        ({"target": {"kind": "slurm", "partition": "gpu"}}, "not a launch.json of this version .* invalid Slurm job"),
        ({"target": {"kind": "local"}}, "its job takes 2 nodes, and its target has 1"),
        ({"target": {"kind": "elsewhere"}}, "elsewhere"),
    ],
)  # fmt: skip
def test_the_content_of_launch_json_is_not_trusted(write_recipe, tmp_path, change, said):
    placed = planned(write_recipe("true"), Ssh(("a", "b")), tmp_path, {"nodes": "2", "devices": "2"})
    with pytest.raises(RunnerError, match=said), open_launch(launch_json(placed, **change)):
        pass


def test_jobs_have_identities_of_their_own(write_recipe, tmp_path):
    names = {planned(write_recipe("true"), LOCAL, tmp_path / str(number)).identity for number in range(20)}
    assert len(names) == 20
    assert all(name.startswith("tiny-") for name in names)
