"""Jobs on a Slurm cluster, for real: two nodes on this machine, started by the test where it can be."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from runners.cases import recipe
from runners.errors import RunnerError
from runners.places import cluster, job
from runners.places.place import Place
from runners.resume import hardware
from tests.runners.clusters import slurm_cluster
from tests.runners.jobs import over, planned, printing, until
from tests.runners.node import ended, polls, tool

TWO = {"nodes": "2", "devices": "2"}
SLURM = Place("slurm")


@pytest.fixture(scope="module")
def started_cluster():
    with slurm_cluster() as found:
        yield found


@pytest.fixture
def slurm(started_cluster, monkeypatch):
    """The cluster, to which the commands of this test lead, empty again at its end."""
    for name, value in started_cluster.variables.items():
        monkeypatch.setenv(name, value)
    # Both nodes and we write to one disk.
    monkeypatch.setattr(job, "SHARED_SECONDS", 0.5)
    yield started_cluster
    started_cluster.call("scancel", "--user=root")
    deadline = time.monotonic() + 20
    while started_cluster.call("squeue", "--noheader") and time.monotonic() < deadline:
        time.sleep(0.1)


def log(started, rank=0):
    return (started.node(rank) / "train.log").read_text(encoding="utf-8")


def host(started, rank=0):
    return json.loads((started.node(rank) / "host.json").read_text(encoding="utf-8"))


def test_a_job_of_two_nodes_runs_and_knows_its_place(slurm, write_recipe, tmp_path):
    more = 'RANK = "{node_rank}"\nMASTER = "{master_address}:{master_port}"\nHOSTS = "{hosts}"\n'
    path = write_recipe('echo "$RANK $HOSTS $MASTER $SLURMD_NODENAME"', more=more)
    started, script = planned(path, SLURM, tmp_path, TWO)
    assert job.start(started, script) == []
    assert over(started, 60).kind == "ended"
    job.fetch(started)
    place = f"blade1,blade2 127.0.0.1:{started.port}"
    assert [log(started, rank) for rank in (0, 1)] == [f"0 {place} blade1\n", f"1 {place} blade2\n"]
    assert [host(started, rank)["outcome"] for rank in (0, 1)] == ["completed", "completed"]


def test_a_launcher_that_starts_the_other_nodes_itself_runs_on_the_first(slurm, write_recipe, tmp_path):
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is missing (openmpi-bin on Debian)")
    path = write_recipe('echo "rank $OMPI_COMM_WORLD_RANK on $SLURMD_NODENAME"', more='\n[launcher]\nname = "mpirun"\n')
    started, script = planned(path, SLURM, tmp_path, TWO)
    job.start(started, script)
    assert over(started, 60).kind == "ended"
    assert sorted(line.split(":")[-1] for line in log(started, 0).splitlines()) == [
        "rank 0 on blade1",
        "rank 1 on blade2",
    ]
    assert log(started, 1) == ""
    assert host(started, 1)["outcome"] == "completed"


@pytest.mark.parametrize("outcome", ["stopped", "timeout"])
def test_a_job_that_is_asked_to_end_says_why_on_every_node(slurm, write_recipe, tmp_path, outcome):
    started, script = planned(write_recipe('sleep 300 & echo "$!"; wait'), SLURM, tmp_path, TWO)
    job.start(started, script)
    until(
        started,
        lambda state: all((started.node(rank) / "train.log").exists() and log(started, rank) for rank in (0, 1)),
        60,
    )
    children = [int(log(started, rank)) for rank in (0, 1)]
    job.stop(started, outcome)
    assert over(started, 60).kind == "ended"
    assert [host(started, rank)["outcome"] for rank in (0, 1)] == [outcome, outcome]
    assert all(map(ended, children))
    job.stop(started)


def test_a_job_waits_its_turn_and_can_be_taken_back(slurm, write_recipe, tmp_path):
    first = planned(write_recipe("echo begun; sleep 300"), SLURM, tmp_path / "first", TWO)
    job.start(*first)
    assert printing(first[0]).kind == "running"
    second, script = planned(write_recipe("echo begun"), SLURM, tmp_path / "second", TWO)
    job.start(second, script)
    state = job.state(second)
    assert (state.kind, state.cause, state.failed) == ("waiting", "Slurm says PENDING", False)
    job.stop(second)
    state = over(second, 60)
    assert (state.kind, state.outcome) == ("lost", "stopped")
    assert not (second.node(0) / "train.log").exists()


def test_a_job_is_found_again_by_its_name_where_its_number_was_not_kept(slurm, write_recipe, tmp_path):
    started, script = planned(write_recipe("echo begun; sleep 300"), SLURM, tmp_path)
    job.start(started, script)
    number = (started.incoming / "slurm.number").read_text().strip()
    (started.incoming / "slurm.number").unlink()
    again = job.from_json(json.loads(json.dumps(job.as_json(started))), started.folder)
    assert printing(again).kind == "running"
    job.stop(again)
    assert over(again, 60).kind == "ended"
    assert number.isdecimal()


def test_a_node_that_refuses_ends_the_job_with_its_reason(slurm, write_recipe, tmp_path):
    path = write_recipe("true")
    path.write_text(path.read_text().replace('command = ["bash"', 'command = ["no such program"'), encoding="utf-8")
    started, script = planned(path, SLURM, tmp_path, TWO)
    job.start(started, script)
    state = over(started, 60)
    assert (state.kind, state.outcome) == ("lost", "failed")
    assert "node 0 refused: " in state.cause
    assert "node 1 refused: " in state.cause
    assert "no such program" in state.cause


def test_what_nodes_warn_of_after_the_start_is_told_at_the_end(slurm, write_recipe, tmp_path):
    started, script = planned(write_recipe("true"), SLURM, tmp_path, TWO)
    assert script.count("#!/usr/bin/env bash") == 1
    job.start(started, script.replace("#!/usr/bin/env bash", "echo 'warning: it is warm' >&2"))
    assert over(started, 60).kind == "ended"
    assert {"node 0: it is warm", "node 1: it is warm"} <= set(job.late_warnings(started))


def test_a_job_that_is_asked_to_end_while_its_nodes_are_checked_runs_nothing(slurm, write_recipe, tmp_path):
    started, script = planned(write_recipe("true"), SLURM, tmp_path)
    job.start(started, script.replace("#!/usr/bin/env bash", "touch begun; sleep 3"))
    assert any((started.node(0) / "begun").exists() for _ in polls(30))
    assert job.state(started).cause == "its nodes are being checked"
    job.stop(started)
    state = over(started, 60)
    assert (state.kind, state.outcome) == ("lost", "stopped")
    assert not (started.node(0) / "train.log").exists()


# What is asked for the state of a job, by the tools of clusters that keep accounts or do not.
FORGOTTEN = "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"


@pytest.mark.parametrize(
    ("squeue", "sacct", "scontrol", "kind", "outcome"),
    [
        ("echo RUNNING", "exit 1", "exit 1", "running", ""),
        ("echo CONFIGURING", "exit 1", "exit 1", "waiting", ""),
        ("echo TIMEOUT", "exit 1", "exit 1", "lost", "timeout"),
        (FORGOTTEN, "echo '      OUT_OF_MEMORY '", "exit 1", "lost", "oom"),
        (FORGOTTEN, "echo 'CANCELLED by 1000'", "exit 1", "lost", "stopped"),
        (FORGOTTEN, "echo NODE_FAIL", "exit 1", "lost", ""),
        (
            "true",
            "echo 'accounting storage is disabled' >&2; exit 1",
            "echo JobId=7 JobState=TIMEOUT",
            "lost",
            "timeout",
        ),
        (FORGOTTEN, "exit 1", "exit 1", "lost", ""),
        ("echo 'Unable to contact slurm controller' >&2; exit 1", "echo COMPLETED", "exit 1", "unreachable", ""),
    ],
)
def test_the_state_is_what_slurm_remembers_or_has_written_down(
    write_recipe, tmp_path, monkeypatch, squeue, sacct, scontrol, kind, outcome
):
    for name, program in {"squeue": squeue, "sacct": sacct, "scontrol": scontrol}.items():
        path = tool(tmp_path / "tools", name, program)
    monkeypatch.setenv("PATH", path)
    started, _ = planned(write_recipe("true"), SLURM, tmp_path)
    started.incoming.mkdir()
    (started.incoming / "slurm.number").write_text("7\n")
    state = cluster.state(started)
    assert (state.kind, state.outcome) == (kind, outcome)


def test_a_job_whose_number_was_not_kept_is_not_lost_while_slurm_does_not_answer(write_recipe, tmp_path, monkeypatch):
    started, _ = planned(write_recipe("true"), SLURM, tmp_path)
    monkeypatch.setenv("PATH", tool(tmp_path / "tools", "squeue", "echo 'Unable to contact controller' >&2; exit 1"))
    assert cluster.state(started).kind == "unreachable"
    with pytest.raises(RunnerError, match="Slurm does not answer: Unable to contact controller"):
        cluster.stop(started, "TERM")
    tool(tmp_path / "tools", "squeue", "true")
    assert cluster.state(started).kind == "lost"


def test_who_asks_a_node_for_its_gpus_asks_for_one_and_pays_as_a_job_does(write_recipe, tmp_path, monkeypatch):
    place = Place("slurm", partition="v100", sbatch=("--account=me",))
    monkeypatch.setenv("PATH", tool(tmp_path / "tools", "srun", f'echo "$*" >{tmp_path}/asked; exec "${{@: -2}}"'))
    path = write_recipe("true")
    hardware(recipe.load(path), place)
    assert (tmp_path / "asked").read_text() == "--nodes=1 --ntasks=1 --partition=v100 --account=me bash -s\n"
    path.write_text(path.read_text().replace('device = "cpu"', 'device = "gpu"'), encoding="utf-8")
    hardware(recipe.load(path), place)
    assert "--gpus-per-node=1" in (tmp_path / "asked").read_text()


def test_a_job_that_slurm_ends_says_so(slurm, write_recipe, tmp_path):
    started, script = planned(write_recipe("trap '' TERM; echo begun; sleep 300"), SLURM, tmp_path)
    job.start(started, script)
    printing(started)
    number = (started.incoming / "slurm.number").read_text().strip()
    slurm.call("scancel", "--signal=KILL", "--full", number)
    slurm.call("scancel", number)
    state = over(started, 60)
    assert (state.kind, state.outcome, state.cause) == ("lost", "stopped", "Slurm says CANCELLED of its job")
    assert log(started) == "begun\n"


def test_a_node_whose_script_is_killed_is_told_while_the_other_goes_on(slurm, write_recipe, tmp_path):
    started, script = planned(write_recipe('echo "$$"; sleep 300'), SLURM, tmp_path, TWO)
    job.start(started, script)
    until(
        started,
        lambda state: all((started.node(rank) / "train.log").exists() and log(started, rank) for rank in (0, 1)),
        60,
    )
    os.kill(int((started.node(1) / "pid").read_text()), signal.SIGKILL)
    state = until(started, lambda state: state.failed)
    assert state.kind == "running"
    job.stop(started)
    state = over(started, 60)
    assert (state.kind, state.failed) == ("lost", True)
    assert host(started, 0)["outcome"] == "stopped"


def test_what_sbatch_refuses_is_handed_on_and_leaves_nothing(slurm, write_recipe, tmp_path):
    started, script = planned(write_recipe("true"), Place("slurm", partition="nowhere"), tmp_path)
    with pytest.raises(RunnerError, match=r"sbatch did not take the job: .*Invalid partition"):
        job.start(started, script)
    assert not started.incoming.exists()


def test_a_controller_that_does_not_answer_leaves_the_job_as_it_is(slurm, write_recipe, tmp_path, monkeypatch):
    started, script = planned(write_recipe("echo begun; sleep 300"), SLURM, tmp_path)
    job.start(started, script)
    printing(started)
    text = (slurm.folder / "slurm.conf").read_text()
    port = text.partition("SlurmctldPort=")[2].split()[0]
    (tmp_path / "slurm.conf").write_text(text.replace(f"SlurmctldPort={port}", "SlurmctldPort=1\nMessageTimeout=1"))
    with monkeypatch.context() as away:
        away.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
        state = job.state(started)
        assert (state.kind, state.log_bytes) == ("unreachable", 6)
        assert "Slurm does not answer" in state.cause
        with pytest.raises(RunnerError, match="could not be asked to end"):
            job.stop(started)
    assert job.state(started).kind == "running"


def test_a_machine_without_slurm_says_so(write_recipe, tmp_path, monkeypatch):
    started, script = planned(write_recipe("true"), SLURM, tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunnerError, match=r"sbatch: it cannot be started here: No such file.*install it"):
        job.start(started, script)
    assert not started.incoming.exists()


def test_what_a_job_asks_of_slurm(write_recipe, tmp_path):
    place = Place("slurm", partition="v100", sbatch=("--account=me", "--time=1"))
    path = write_recipe("true", timeout=601)
    path.write_text(path.read_text().replace('device = "cpu"', 'device = "gpu"'), encoding="utf-8")
    asked, _ = planned(path, place, tmp_path, {"nodes": "2", "devices": "16"})
    assert f"--output={tmp_path}/100%%/raw/" in " ".join(cluster.submission(planned(path, place, tmp_path / "100%")[0]))
    assert cluster.submission(asked) == [
        "sbatch", "--parsable", f"--job-name=perfledger-{asked.identity}", f"--output={asked.incoming}/slurm.log",
        "--open-mode=append", "--no-requeue", "--nodes=2", "--ntasks-per-node=1", "--exclusive", "--mem=0",
        "--time=41", "--gpus-per-node=8", "--partition=v100", "--account=me", "--time=1",
    ]  # fmt: skip
    path.write_text(path.read_text() + '\n[launcher]\nname = "mpirun"\n', encoding="utf-8")
    asked, _ = planned(path, place, Path(tmp_path / "b"), {"nodes": "2", "devices": "16"})
    assert "--ntasks-per-node=8" in cluster.submission(asked)
