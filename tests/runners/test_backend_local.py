"""Jobs on this machine, for real: started apart from us, found again, stopped, killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from runners.errors import RunnerError
from runners.places import job, nodes
from runners.places.place import Place
from tests.runners.jobs import over, planned, printing, until
from tests.runners.node import ended

pytestmark = pytest.mark.usefixtures("bash")
LOCAL = Place("local")
WAIT = 'echo begun; until [ -e "$PERFLEDGER_JOB/go" ]; do sleep 0.05; done; echo done'


def host(started):
    return json.loads((started.node(0) / "host.json").read_text(encoding="utf-8"))


def test_the_state_of_a_job_follows_it(write_recipe, tmp_path):
    started, script = planned(write_recipe(WAIT), LOCAL, tmp_path)
    job.start(started, script)
    state = printing(started)
    assert (state.kind, state.last_line, state.log_bytes, state.failed) == ("running", "begun", 6, False)
    (started.node(0) / "go").touch()
    state = over(started)
    assert (state.kind, state.last_line, state.failed) == ("ended", "done", False)
    job.fetch(started)
    assert host(started)["outcome"] == "completed"


def test_the_script_reaches_its_node_byte_for_byte_and_knows_its_place(write_recipe, tmp_path):
    started, script = planned(write_recipe("true"), LOCAL, tmp_path)
    script = f"{script}\n: '\u4e2d\u6587 $(touch hit) `touch hit` \"' \t\\ \n: no newline at the end"
    job.start(started, script)
    assert over(started).kind == "ended"
    assert (started.node(0) / "script.sh").read_text(encoding="utf-8") == script
    assert not list(tmp_path.rglob("hit"))
    variables = "PERFLEDGER_JOB PERFLEDGER_IDENTITY PERFLEDGER_NODE_RANK PERFLEDGER_HOSTS PERFLEDGER_MASTER_ADDRESS"
    shown = planned(
        write_recipe(f"for v in {variables} PERFLEDGER_MASTER_PORT; do echo ${{!v}}; done"), LOCAL, tmp_path / "b"
    )
    job.start(*shown)
    assert over(shown[0]).kind == "ended"
    found = (shown[0].node(0) / "train.log").read_text(encoding="utf-8").splitlines()
    assert found == [str(shown[0].node(0)), shown[0].identity, "0", "localhost", "127.0.0.1", str(shown[0].port)]


def test_a_job_outlives_whoever_started_it_and_is_found_again(write_recipe, tmp_path):
    started, script = planned(write_recipe(WAIT), LOCAL, tmp_path)
    (tmp_path / "script").write_text(script, encoding="utf-8")
    kept = json.dumps(job.as_json(started))
    program = (
        "import json, os, pathlib, signal, sys; from runners.places import job\n"
        f"started = job.from_json(json.loads({kept!r}), pathlib.Path({str(started.folder)!r}))\n"
        f"job.start(started, pathlib.Path({str(tmp_path / 'script')!r}).read_text())\n"
        "os.killpg(os.getpgrp(), signal.SIGKILL)"
    )
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", program], cwd=root, start_new_session=True, timeout=30, check=False)
    assert killed.returncode == -signal.SIGKILL
    again = job.from_json(json.loads(kept), started.folder)
    assert again == started
    assert printing(again).kind == "running"
    script_process = int((again.node(0) / "pid").read_text())
    assert os.getsid(script_process) == script_process
    (again.node(0) / "go").touch()
    assert over(again).kind == "ended"


@pytest.mark.parametrize("outcome", ["stopped", "timeout"])
def test_a_job_that_is_asked_to_end_says_why_it_did(write_recipe, tmp_path, outcome):
    started, script = planned(write_recipe('sleep 300 & echo "$!"; wait'), LOCAL, tmp_path)
    job.start(started, script)
    child = int(printing(started).last_line)
    job.stop(started, outcome)
    state = over(started)
    assert (state.kind, state.failed) == ("ended", True)
    assert host(started)["outcome"] == outcome
    assert ended(child)
    job.stop(started)
    assert host(started)["outcome"] == outcome


def test_a_deaf_job_is_killed_when_it_is_asked_again(write_recipe, tmp_path):
    started, script = planned(write_recipe("trap '' TERM; echo \"$$\"; while :; do sleep 0.1; done"), LOCAL, tmp_path)
    job.start(started, script)
    deaf = int(printing(started).last_line)
    job.stop(started)
    assert job.state(started).kind == "running"
    job.stop(started)
    assert over(started, 8).kind == "ended"
    assert (host(started)["outcome"], host(started)["exit_status"]) == ("stopped", 137)
    assert ended(deaf)


def test_a_job_whose_script_is_killed_is_lost_and_leaves_nothing_at_work(write_recipe, tmp_path):
    started, script = planned(write_recipe('setsid sleep 300 & echo "$!"; wait'), LOCAL, tmp_path)
    job.start(started, script)
    child = int(printing(started).last_line)
    os.kill(int((started.node(0) / "pid").read_text()), signal.SIGKILL)
    state = over(started)
    assert (state.kind, state.failed) == ("lost", True)
    assert "as if killed" in state.cause
    job.stop(started)
    assert ended(child)
    assert (started.node(0) / "train.log").read_text() == f"{child}\n"


def test_a_process_that_was_given_the_number_of_a_lost_one_is_none_of_ours(write_recipe, tmp_path):
    started, script = planned(write_recipe("echo begun; sleep 300"), LOCAL, tmp_path)
    job.start(started, script)
    printing(started)
    os.kill(int((started.node(0) / "pid").read_text()), signal.SIGKILL)
    stranger = subprocess.Popen(["sleep", "300"])
    try:
        (started.node(0) / "pid").write_text(f"{stranger.pid}\n")
        assert over(started).kind == "lost"
        job.stop(started)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_job_that_was_there_before_a_restart_of_its_host_is_said_to_be(write_recipe, tmp_path):
    started, script = planned(write_recipe("echo begun; sleep 300"), LOCAL, tmp_path)
    job.start(started, script)
    printing(started)
    os.kill(int((started.node(0) / "pid").read_text()), signal.SIGKILL)
    (started.node(0) / "machine").write_text(f"another\n{os.uname().nodename}\n")
    assert until(started, lambda state: state.kind == "lost").cause == "the host was restarted"
    job.stop(started)


def test_a_job_of_another_machine_is_not_taken_for_lost(write_recipe, tmp_path):
    started, script = planned(write_recipe("echo begun; sleep 300"), LOCAL, tmp_path)
    job.start(started, script)
    printing(started)
    os.kill(int((started.node(0) / "pid").read_text()), signal.SIGKILL)
    assert over(started).kind == "lost"
    (started.node(0) / "machine").write_text("another\nfar away\n")
    state = job.state(started)
    assert (state.kind, state.cause) == ("unreachable", "the run was started on another machine; ask there")
    job.stop(started)


def test_no_line_of_a_log_is_taken_for_an_answer_of_the_runner(write_recipe, tmp_path):
    answer = "perfledger kind ended"
    program = f"printf 'x\\f{answer}\\v{answer}\\u2028{answer}\\x85{answer}\\n'; sleep 300"
    started, script = planned(write_recipe(program), LOCAL, tmp_path)
    job.start(started, script)
    assert printing(started).kind == "running"
    job.stop(started)
    assert over(started).kind == "ended"


def test_an_answer_is_found_behind_a_line_that_a_login_left_open(write_recipe, tmp_path, monkeypatch):
    monkeypatch.setattr(nodes, "argv", lambda *_: ["bash", "-c", "printf '\\e[1mWelcome '; exec bash -s"])
    started, script = planned(write_recipe("true"), LOCAL, tmp_path)
    job.start(started, script)
    assert over(started).kind == "ended"


def test_a_script_that_refuses_starts_nothing_and_leaves_nothing(write_recipe, tmp_path):
    path = write_recipe("true")
    path.write_text(path.read_text().replace('command = ["bash"', 'command = ["no such program"'), encoding="utf-8")
    started, script = planned(path, LOCAL, tmp_path)
    with pytest.raises(RunnerError, match="no such program") as raised:
        job.start(started, script)
    assert str(raised.value).startswith("this machine: ")
    assert "runners: " not in str(raised.value)
    assert list(started.folder.iterdir()) == []


# With what a login may say for itself.
SAYING = """
echo 'bash: warning: setlocale: LC_ALL: cannot change locale' >&2
{ echo 'warning: it is warm'; yes "warning: $(head -c 5000 /dev/zero | tr '\\0' x)" | head -n 100; } >&2
"""


def test_what_a_script_warns_of_is_handed_on(write_recipe, tmp_path):
    started, script = planned(write_recipe("true"), LOCAL, tmp_path)
    assert script.count("#!/usr/bin/env bash") == 1
    warned = job.start(started, script.replace("#!/usr/bin/env bash", SAYING))
    assert warned == ["it is warm", *["x" * 1000] * 49]
    assert over(started).kind == "ended"


def test_a_script_that_cannot_begin_says_so(write_recipe, tmp_path):
    started, script = planned(write_recipe("true"), LOCAL, tmp_path)
    broken = script.replace("#!/usr/bin/env bash", '[ "$1" = check ] || { echo not today; exit 3; }')
    with pytest.raises(RunnerError, match="did not start: not today"):
        job.start(started, broken)


def test_the_last_line_moves_no_cursor_and_may_end_a_bar_of_progress(write_recipe, tmp_path):
    started, script = planned(write_recipe(r"printf 'one\n10%%\r20%%\e[2J\xff\r\n\n\n'"), LOCAL, tmp_path)
    job.start(started, script)
    assert over(started).last_line == "20% [2J\ufffd"


def test_a_case_of_two_nodes_needs_two_hosts(write_recipe, tmp_path):
    two = {"nodes": "2", "devices": "2"}
    with pytest.raises(RunnerError, match="takes 2 nodes, and this machine is one"):
        planned(write_recipe("true"), LOCAL, tmp_path, two)
    with pytest.raises(RunnerError, match="--on names 1"):
        planned(write_recipe("true"), Place("ssh", hosts=("a",)), tmp_path / "b", two)
    assert planned(write_recipe("true"), Place("ssh", hosts=("a", "b", "c")), tmp_path / "c", two)[0].hosts == (
        "a",
        "b",
    )


def test_a_job_is_itself_again_after_launch_json(write_recipe, tmp_path):
    place = Place("slurm", partition="p", sbatch=("--account=a",))
    started, _ = planned(write_recipe("true"), place, tmp_path)
    assert job.from_json(json.loads(json.dumps(job.as_json(started))), started.folder) == started
    assert job.from_json(job.as_json(started), tmp_path) == replace(started, folder=tmp_path)


@pytest.mark.parametrize("data", [{}, {"place": 1}, {"place": {"kind": "local"}}, {"place": {}, "nodes": 1}])
def test_what_is_no_job_is_refused(data, tmp_path):
    with pytest.raises(RunnerError, match="names no job"):
        job.from_json(data, tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"nodes": "1"},
        {"nodes": 0},
        {"nodes": 3},
        {"gpus": 1},
        {"identity": "../../somebody"},
        {"place": {"kind": "ssh", "hosts": ["-oProxyCommand=id", "b"]}},
        {"place": {"kind": "ssh", "hosts": ["a", 1]}},
        {"place": {"kind": "ssh", "hosts": ["a", "b"], "ssh_config": "raw_logs/config"}},
        {"place": {"kind": "slurm", "partition": "--wrap=id"}},
        {"place": {"kind": "local"}},
        {"place": {"kind": "elsewhere"}},
    ],
)  # fmt: skip
def test_what_a_tree_of_logs_says_of_a_job_is_not_trusted(write_recipe, tmp_path, change):
    place = Place("ssh", hosts=("a", "b"), ssh_config="/my/config")
    data = job.as_json(planned(write_recipe("true"), place, tmp_path, {"nodes": "2", "devices": "2"})[0])
    assert job.from_json(data, tmp_path).hosts == ("a", "b")
    with pytest.raises(RunnerError, match="names no job"):
        job.from_json({**data, **change}, tmp_path)


def test_jobs_have_identities_of_their_own(write_recipe, tmp_path):
    names = {planned(write_recipe("true"), LOCAL, tmp_path / str(number))[0].identity for number in range(20)}
    assert len(names) == 20
    assert all(name.startswith("tiny-") for name in names)


def test_what_start_executes_can_be_shown_without_starting_it(write_recipe, tmp_path):
    shown, script = planned(write_recipe("true"), LOCAL, tmp_path)
    assert job.commands(shown, script) == ["bash -s"]
    assert not (shown.folder / "incoming").exists()
