"""Jobs on a Slurm cluster, for real: two nodes on this machine, started by the test where it can be."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from perfledger.runners.cli import main
from perfledger.runners.job import RunnerError
from perfledger.runners.settings import Settings
from perfledger.runners.slurm import SCRIPT, Partition, Slurm
from perfledger.runners.transport import Local
from tests.runners.agents import change_agent
from tests.runners.clusters import slurm_cluster
from tests.runners.home import RECORD, folder_of, load, until
from tests.runners.jobs import CPU, Placed, planned
from tests.runners.node import ended, tool

TWO = {"nodes": "2", "devices": "2"}
NODES = ("blade1", "blade2")


@pytest.fixture(scope="module")
def started_cluster():
    with slurm_cluster() as found:
        yield found


@pytest.fixture
def slurm(started_cluster, tmp_path, monkeypatch):
    """Yield the cluster that this test's commands use, and empty it at the end; jobs print below `tmp_path`."""
    for name, value in started_cluster.variables.items():
        monkeypatch.setenv(name, value)
    # The runner in a job finds its modules there, and waits as little as that of a test.
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    monkeypatch.setattr("perfledger.runners.slurm.MODULE", "tests.runners.quick")
    monkeypatch.setattr("perfledger.runners.slurm.FOLLOW_SECONDS", 0.1)
    monkeypatch.chdir(tmp_path)
    yield started_cluster
    started_cluster.call("scancel", "--user=root")
    until(lambda: not started_cluster.call("squeue", "--noheader"))


@pytest.fixture
def nodes(slurm):
    """Return the nodes of a job that has no runner in it: that of the test is outside of it, as `collect` may be."""
    argv = ["salloc", "--no-shell", "--nodes=2", "--exclusive", "--mem=0", "--quiet"]
    subprocess.run(argv, env={**os.environ, **slurm.variables}, check=True, capture_output=True, timeout=60)
    number = slurm.call("squeue", "--noheader", "--states=RUNNING", "--format=%i").strip()
    return Slurm(NODES, number, "debug")


def log(started, rank=0):
    return (started.node(rank) / "train.log").read_text(encoding="utf-8")


def host(started, rank=0):
    return json.loads((started.node(rank) / "host.json").read_text(encoding="utf-8"))


def begun_on_both(started):
    """Wait until the command has printed a line on both nodes."""
    until(lambda: all((started.node(rank) / "train.log").exists() and log(started, rank) for rank in (0, 1)))


def jobs(slurm) -> list[str]:
    """Return the numbers of the jobs that Slurm knows."""
    return slurm.call("squeue", "--noheader", "--states=all", "--format=%i").split()


# --- Runs on the nodes of a job ---------------------------------------------------------------------------------------


def test_a_run_on_two_nodes_knows_its_place_and_returns_warnings(nodes, write_recipe, tmp_path, monkeypatch):
    change_agent(monkeypatch, '"warnings": [each', '"warnings": ["it is warm"] + [each')
    more = 'RANK = "{node_rank}"\nMASTER = "{master_address}:{master_port}"\nHOSTS = "{hosts}"\n'
    path = write_recipe('echo "$RANK $HOSTS $MASTER $SLURMD_NODENAME"', more=more)
    started = planned(path, nodes, tmp_path, TWO)
    assert {"node 0: it is warm", "node 1: it is warm"} <= set(started.start().warnings)
    assert started.over().kind == "ended"
    started.fetch()
    place = f"blade1,blade2 127.0.0.1:{started.job.port}"
    assert [log(started, rank) for rank in (0, 1)] == [f"0 {place} blade1\n", f"1 {place} blade2\n"]
    assert [host(started, rank)["outcome"] for rank in (0, 1)] == ["completed", "completed"]


@pytest.mark.parametrize("outcome", ["stopped", "timeout"])
def test_a_stopped_run_records_why_on_every_node_and_leaves_them_to_the_next(nodes, write_recipe, tmp_path, outcome):
    started = planned(write_recipe('sleep 300 & echo "$!"; wait'), nodes, tmp_path / "first", TWO)
    started.start()
    begun_on_both(started)
    children = [int(log(started, rank)) for rank in (0, 1)]
    started.stop(outcome)
    assert started.over().kind == "ended"
    assert [host(started, rank)["outcome"] for rank in (0, 1)] == [outcome, outcome]
    assert all(map(ended, children))
    started.stop()
    following = planned(write_recipe("echo next"), nodes, tmp_path / "second", TWO)
    following.start()
    assert following.over().kind == "ended"
    assert log(following, 1) == "next\n"


def test_a_node_that_refuses_says_why_by_its_name(nodes, write_recipe, tmp_path):
    started = planned(write_recipe(command=["no such program"]), nodes, tmp_path, TWO)
    with pytest.raises(RunnerError, match=r"blade1: .*no such program(.|\n)*blade2: .*no such program"):
        started.start()


def test_a_run_that_does_not_start_on_a_node_says_why(nodes, write_recipe, tmp_path):
    started = planned(write_recipe("sleep 300"), nodes, tmp_path, TWO)
    started.incoming.mkdir(parents=True)
    for rank in (0, 1):
        started.node(rank).mkdir()
    (started.node(1) / "train.log").write_text("kept\n")
    with pytest.raises(RunnerError, match="blade2: the run did not start: a run was already started in"):
        started.start()
    assert started.over().kind == "lost"
    assert log(started, 1) == "kept\n"


def test_a_python_that_a_node_lacks_is_refused_with_the_remedy(nodes, write_recipe, tmp_path, monkeypatch):
    started = planned(write_recipe("true"), nodes, tmp_path, TWO)
    monkeypatch.setattr(sys, "executable", "/mine/alone/python")
    said = "blade2: srun cannot start /mine/alone/python there; put this Python and Perfledger into a folder that all"
    with pytest.raises(RunnerError, match=said):
        started.start()


def elsewhere(started: Placed, rank: int) -> None:
    """Make a node's process look like one of another machine, whose processes are not seen here."""
    (started.node(rank) / "pid").write_text("999999999\n")
    (started.node(rank) / "machine").write_text("another boot\nanother machine\n")


def test_whether_a_node_still_runs_is_known_from_its_step(nodes, write_recipe, tmp_path):
    started = planned(write_recipe('echo "$$"; sleep 300'), nodes, tmp_path, TWO)
    started.start()
    begun_on_both(started)
    process = int((started.node(1) / "pid").read_text())
    elsewhere(started, 1)
    state = started.look()
    assert (state.kind, state.failed, state.cause) == ("running", False, "")
    os.kill(process, signal.SIGKILL)
    state = started.until(lambda state: state.failed)
    assert state.kind == "running"
    started.stop()
    state = started.over()
    assert (state.kind, state.failed, state.outcome) == ("lost", True, "")
    assert state.cause == "node 1: its step has ended, and it wrote no host.json"
    assert host(started, 0)["outcome"] == "stopped"


def test_a_job_that_slurm_ends_says_so(nodes, slurm, write_recipe, tmp_path):
    started = planned(write_recipe("trap '' TERM; echo begun; sleep 300"), nodes, tmp_path)
    started.start()
    started.printing()
    slurm.call("scancel", "--signal=KILL", "--full", nodes.number)
    slurm.call("scancel", nodes.number)
    until(lambda: not slurm.call("squeue", "--noheader"))
    state = started.over()
    assert state.kind == "lost"
    assert log(started) == "begun\n"
    # What Slurm has ended is not stopped again.
    started.stop()


def test_a_controller_that_does_not_answer_leaves_the_run_as_it_is(nodes, slurm, write_recipe, tmp_path, monkeypatch):
    started = planned(write_recipe("echo begun; sleep 300"), nodes, tmp_path)
    started.start()
    started.printing()
    process = (started.node(0) / "pid").read_text()
    elsewhere(started, 0)
    text = (slurm.folder / "slurm.conf").read_text()
    port = text.partition("SlurmctldPort=")[2].split()[0]
    text = text.replace(f"SlurmctldPort={port}", "SlurmctldPort=1").replace("MessageTimeout=60", "MessageTimeout=1")
    (tmp_path / "slurm.conf").write_text(text)
    with monkeypatch.context() as away:
        away.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
        state = started.look()
        assert (state.kind, state.log_bytes) == ("unreachable", 6)
        assert "Slurm does not answer" in state.cause
        with pytest.raises(RunnerError, match="Slurm does not answer"):
            started.stop()
    assert started.look().kind == "running"
    (started.node(0) / "pid").write_text(process)
    started.stop()
    assert started.over().kind == "ended"


def test_the_hardware_of_each_node_is_known(nodes):
    first, second = nodes.hardware(CPU)
    assert first == second
    assert first.endswith("cores (CPU)")


def test_a_launcher_that_starts_the_other_nodes_works_on_the_first_alone(write_recipe, tmp_path, monkeypatch):
    path = write_recipe("true", more='\n[launcher]\nname = "mpirun"\n')
    (tmp_path / "a").mkdir()
    monkeypatch.setenv("SLURMD_NODENAME", "blade1")
    planned(path, Slurm(NODES, "7"), tmp_path / "a", TWO)
    monkeypatch.setenv("SLURMD_NODENAME", "blade2")
    with pytest.raises(RunnerError, match="its launcher works on the node blade1; start the runner there, or submit"):
        planned(path, Slurm(NODES, "7"), tmp_path / "b", TWO)


def test_secrets_reach_the_nodes_and_are_in_no_file(nodes, write_recipe, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "hush-0123456789-hush")
    path = write_recipe('echo "it is $MY_TOKEN"')
    started = planned(path, nodes, tmp_path, TWO, settings=Settings(secrets=("MY_TOKEN",)))
    started.start()
    assert started.over().kind == "ended"
    started.fetch()
    assert log(started, 1) == f"it is {'*' * 20}\n"
    files = [each for each in (tmp_path / "raw").rglob("*") if each.is_file()]
    assert files
    assert not [each for each in files if b"hush-" in each.read_bytes()]


PYXIS = """
if [ "$1" = --help ]; then echo "--container-image=[USER@][REGISTRY#]IMAGE[:TAG]|PATH"; exit; fi
words=()
for word; do
  case $word in
    --container-workdir=*) words+=("--chdir=${word#*=}") ;;
    --container-*|--no-container-*) echo "$word" >>LOG ;;
    *) words+=("$word") ;;
  esac
done
exec SRUN "${words[@]}"
"""


def test_an_image_is_run_by_pyxis_in_a_step_on_each_node(nodes, write_recipe, tmp_path, monkeypatch):
    # The plugin is not installed here: this srun takes its options off, and everything else is Slurm's own.
    path = write_recipe(
        'echo "$RANK $WORD $PWD $SLURMD_NODENAME"', more='RANK = "{node_rank}"\n[container]\nimage = "a/b"\n'
    )
    program = PYXIS.replace("LOG", f"{tmp_path}/options").replace("SRUN", str(shutil.which("srun")))
    monkeypatch.setenv("PATH", tool(tmp_path / "tools", "srun", program))
    settings = Settings(container="pyxis", variables={"WORD": "said"})
    started = planned(path, nodes, tmp_path, TWO, settings)
    started.start()
    assert started.over().kind == "ended"
    started.fetch()
    # Before it, srun may say that this cluster cannot bind processors.
    words = [log(started, rank).splitlines()[-1].split() for rank in (0, 1)]
    assert [(rank, word, node) for rank, word, _, node in words] == [("0", "said", "blade1"), ("1", "said", "blade2")]
    given = (tmp_path / "options").read_text().splitlines()
    assert "--container-image=a/b" in given
    assert any(each.startswith(f"--container-mounts={words[0][2]}:{words[0][2]},") for each in given)


def test_pyxis_must_be_installed(nodes, write_recipe, tmp_path):
    path = write_recipe("true", more='[container]\nimage = "a/b"\n')
    started = planned(path, nodes, tmp_path, settings=Settings(container="pyxis"))
    with pytest.raises(RunnerError, match="srun knows no --container-image here: pyxis is not installed"):
        started.start()


# --- Jobs that are submitted ------------------------------------------------------------------------------------------


def words(path: Path, tmp_path: Path, *more: str) -> list[str]:
    return ["run", str(path), "--raw-logs", str(tmp_path / "raw"), "--on", "slurm:debug", *more]


def test_all_runs_of_a_command_are_made_by_the_runner_in_one_job(slurm, write_recipe, tmp_path, capfd):
    path = write_recipe(f'{RECORD} record 1; echo "$SLURM_JOB_ID on $SLURMD_NODENAME"')
    before = len(jobs(slurm))
    # Those of one node run in the job that the largest needs; GPUs for all nodes are not wanted of each.
    more = ("--repeats", "1", "--seed", "1", "--case", "nodes=1|2,devices=2", "--wait", "--sbatch=--gpus=4")
    assert main(words(path, tmp_path, *more)) == 0
    assert len(jobs(slurm)) == before + 1
    logs = sorted((tmp_path / "raw").rglob("1/train.log"))
    assert len(logs) == 2
    said = [log.read_text().splitlines()[-1].split() for log in logs]
    assert {(number, node) for number, _, node in said} == {(jobs(slurm)[-1], "blade1")}
    folder = folder_of(tmp_path, "cpu-n2d2-bs1-fp32") / "1"
    assert (folder / "node1/train.log").read_text().endswith(" on blade2\n")
    assert [node["outcome"] for node in load(folder / "run.json")["nodes"]] == ["completed", "completed"]
    assert not {each.name for each in folder.iterdir()} & {"incoming", "launch.json"}
    printed = capfd.readouterr().out
    assert "[2/2]" in printed
    assert printed.count("completed") == 2
    # In another job, the nodes are asked for their hardware, and the runs count.
    assert main(words(path, tmp_path, *more, "--resume")) == 0
    assert "nothing is left to run" in capfd.readouterr().out
    assert len(list((tmp_path / "raw").rglob("run.json"))) == 2


def test_a_launcher_that_starts_the_other_nodes_itself_runs_on_the_first(slurm, write_recipe, tmp_path):
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is missing (openmpi-bin on Debian)")
    program = f'{RECORD} record 1; echo "rank $OMPI_COMM_WORLD_RANK on $SLURMD_NODENAME"'
    path = write_recipe(program, more='\n[launcher]\nname = "mpirun"\n')
    assert main(words(path, tmp_path, "--case", "nodes=2,devices=2", "--wait")) == 0
    (folder,) = (each.parent for each in (tmp_path / "raw").rglob("run.json"))
    # Open MPI may print notices of its own among the ranks' lines.
    found = re.findall(r"rank \d on \w+", (folder / "train.log").read_text())
    assert sorted(found) == ["rank 0 on blade1", "rank 1 on blade2"]
    assert [node["outcome"] for node in load(folder / "run.json")["nodes"]] == ["completed", "completed"]


def begun_in_a_job(slurm, path, tmp_path) -> str:
    """Submit a series, return at once, and wait until its first run has begun; return the number of the job."""
    assert main(words(path, tmp_path, "--case", "nodes=2,devices=2")) == 0
    number = jobs(slurm)[-1]
    # Both nodes, or what is asked may find one that is not ready for a signal yet.
    until(lambda: [each.read_text() for each in (tmp_path / "raw").rglob("node?/train.log")] == ["begun\n"] * 2, 120)
    return number


def run_json(tmp_path):
    """Wait until the one run is finished, and return its record."""
    until(lambda: any((tmp_path / "raw").rglob("run.json")) and not any((tmp_path / "raw").rglob("launch.json")))
    (path,) = (tmp_path / "raw").rglob("run.json")
    return load(path)


@pytest.mark.parametrize(
    ("argv", "outcome"),
    [
        (["scancel"], "stopped"),
        (["scancel", "--batch", "--signal=TERM"], "stopped"),
        # So Slurm warns of the time limit.
        (["scancel", "--batch", "--signal=USR1"], "timeout"),
    ],
)
def test_a_job_that_slurm_ends_stops_and_collects_its_run(slurm, write_recipe, tmp_path, argv, outcome):
    path = write_recipe("echo begun; sleep 300", batches="1, 2")
    slurm.call(*argv, begun_in_a_job(slurm, path, tmp_path))
    found = run_json(tmp_path)
    assert found["outcome"] == outcome
    assert [node["outcome"] for node in found["nodes"]] == [outcome, outcome]
    until(lambda: not slurm.call("squeue", "--noheader"))
    assert len(list((tmp_path / "raw").rglob("run.json"))) == 1


def test_a_runner_that_is_killed_in_its_job_leaves_the_run_to_collect(slurm, write_recipe, tmp_path):
    number = begun_in_a_job(slurm, write_recipe("echo begun; sleep 300"), tmp_path)
    slurm.call("scancel", "--batch", "--signal=KILL", number)
    until(lambda: not slurm.call("squeue", "--noheader"))
    assert main(["collect", str(tmp_path / "raw")]) == 1
    assert run_json(tmp_path)["outcome"] in ("failed", "stopped")


def test_a_refusal_of_sbatch_is_reported_and_leaves_nothing(slurm, write_recipe, tmp_path, capfd):
    argv = words(write_recipe("true"), tmp_path)
    argv[argv.index("slurm:debug")] = "slurm:nowhere"
    assert main(argv) == 2
    assert re.search(r"sbatch did not take the job: .*invalid partition", capfd.readouterr().err, re.IGNORECASE)
    assert not (tmp_path / "raw").exists()
    assert main(["check", *argv[1:2], *argv[4:]]) == 2
    assert "sbatch would not take the job" in capfd.readouterr().err


def test_slurm_says_whether_it_would_take_a_job(slurm, write_recipe, capfd):
    assert main(["check", str(write_recipe("true")), "--on", "slurm:debug"]) == 0
    assert "the job checks its nodes itself; Slurm says: sbatch: Job " in capfd.readouterr().out


def test_a_machine_without_slurm_says_so(write_recipe, tmp_path, monkeypatch, capfd):
    argv = words(write_recipe("true"), tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(argv) == 2
    assert re.search(r"sbatch: it cannot be started here: No such file.*install it", capfd.readouterr().err)


@pytest.mark.parametrize(("ended", "status"), [("COMPLETED 0", 0), ("FAILED 512", 2), ("CANCELLED 0", 1)])
def test_the_status_of_a_job_is_that_of_its_runner(write_recipe, tmp_path, monkeypatch, ended, status):
    tool(tmp_path / "tools", "sbatch", "cat >/dev/null; echo '7;cluster'")
    monkeypatch.setenv("PATH", tool(tmp_path / "tools", "squeue", f'[ "$3" != --states=all ] || echo {ended}'))
    monkeypatch.chdir(tmp_path)
    assert main(words(write_recipe("true"), tmp_path, "--wait")) == status


def test_waiting_for_a_job_is_for_slurm(write_recipe, capfd):
    assert main(["run", str(write_recipe("true")), "--wait"]) == 2
    assert "--wait: it is for --on slurm:PARTITION; leave it out" in capfd.readouterr().err


def test_a_runner_outside_of_a_job_is_refused_with_the_remedy(write_recipe, monkeypatch, capfd):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert main(["run", str(write_recipe("true")), "--on", "slurm"]) == 2
    assert "this is not inside of a Slurm job; --on slurm:PARTITION submits one" in capfd.readouterr().err


@pytest.mark.parametrize("python", ["/mine/alone/python", "/bin/true"])
def test_a_job_whose_node_lacks_the_runner_says_so(python):
    script = SCRIPT.format(python=python, command="echo begun")
    found = subprocess.run(["sh"], input=script, capture_output=True, text=True, timeout=60)
    there = python == "/bin/true"
    assert (found.returncode, found.stdout) == ((0, "begun\n") if there else (2, ""))
    assert ("with Perfledger cannot be started on" in found.stderr) != there


def test_the_arguments_of_sbatch(write_recipe, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    target = Partition("v100", ("--account=me",))

    def submission(folder: Path, launcher: str) -> list[str]:
        path = write_recipe(timeout=601, device="gpu", more=f'\n[launcher]\nname = "{launcher}"\n')
        return target.argv([planned(path, Local(), folder, {"nodes": "1", "devices": "8"}).run])

    assert submission(tmp_path / "a", "torchrun") == [
        "sbatch", "--parsable", "--job-name=perfledger", "--output=slurm-%j.out", "--no-requeue",
        "--signal=B:USR1@120", "--nodes=1", "--ntasks-per-node=1", "--exclusive", "--mem=0",
        "--gpus-per-node=8", "--partition=v100", "--account=me",
    ]  # fmt: skip
    assert "--ntasks-per-node=8" in submission(tmp_path / "b", "mpirun")


@pytest.mark.parametrize(
    ("stated", "kept", "gone"),
    [
        ((), {"--exclusive", "--mem=0", "--gpus-per-node=8"}, set()),
        (("--oversubscribe",), {"--oversubscribe", "--mem=0", "--gpus-per-node=8"}, {"--exclusive"}),
        (("--exclusive=user",), {"--exclusive=user", "--mem=0"}, {"--exclusive"}),
        (("--mem-per-gpu=64G",), {"--mem-per-gpu=64G", "--exclusive"}, {"--mem=0"}),
        (("--gres=gpu:h100:8",), {"--gres=gpu:h100:8"}, {"--gpus-per-node=8"}),
        (("--account=mine",), {"--exclusive", "--mem=0", "--gpus-per-node=8", "--account=mine"}, set()),
    ],
)
def test_an_argument_of_the_user_takes_the_place_of_ours(write_recipe, tmp_path, stated, kept, gone):
    path = write_recipe(device="gpu", more='\n[launcher]\nname = "torchrun"\n')
    words = set(Partition("gpu", stated).argv([planned(path, Local(), tmp_path, {"devices": "8"}).run]))
    assert kept <= words
    assert not gone & words
