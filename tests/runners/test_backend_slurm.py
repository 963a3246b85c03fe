"""Jobs on a Slurm cluster, for real: two nodes on this machine, started by the test where it can be."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from perfledger.runners import agent_link, slurm_queue
from perfledger.runners import slurm as cluster
from perfledger.runners.cli import main
from perfledger.runners.job import RunnerError
from perfledger.runners.settings import Settings
from perfledger.runners.slurm import Slurm
from perfledger.runners.transport import Local, Warnings
from tests.runners.agents import change_agent
from tests.runners.clusters import slurm_cluster
from tests.runners.home import RECORD, folder_of, load
from tests.runners.jobs import CPU, GPU, planned
from tests.runners.node import ended, polls, tool

TWO = {"nodes": "2", "devices": "2"}
SLURM = Slurm()


@pytest.fixture(scope="module")
def started_cluster():
    with slurm_cluster() as found:
        yield found


@pytest.fixture
def slurm(started_cluster, monkeypatch):
    """Yield the cluster that this test's commands use, and empty it at the end."""
    for name, value in started_cluster.variables.items():
        monkeypatch.setenv(name, value)
    yield started_cluster
    started_cluster.call("scancel", "--user=root")
    deadline = time.monotonic() + 20
    while started_cluster.call("squeue", "--noheader") and time.monotonic() < deadline:
        time.sleep(0.1)


def log(started, rank=0):
    return (started.node(rank) / "train.log").read_text(encoding="utf-8")


def host(started, rank=0):
    return json.loads((started.node(rank) / "host.json").read_text(encoding="utf-8"))


def test_a_job_of_two_nodes_runs_knows_its_place_and_returns_late_warnings(slurm, write_recipe, tmp_path, monkeypatch):
    change_agent(monkeypatch, 'return {"warnings": [each', 'return {"warnings": ["it is warm"] + [each')
    more = 'RANK = "{node_rank}"\nMASTER = "{master_address}:{master_port}"\nHOSTS = "{hosts}"\n'
    path = write_recipe('echo "$RANK $HOSTS $MASTER $SLURMD_NODENAME"', more=more)
    started = planned(path, SLURM, tmp_path, TWO)
    assert started.start() == Warnings()
    assert started.over().kind == "ended"
    started.fetch()
    place = f"blade1,blade2 127.0.0.1:{started.job.port}"
    assert [log(started, rank) for rank in (0, 1)] == [f"0 {place} blade1\n", f"1 {place} blade2\n"]
    assert [host(started, rank)["outcome"] for rank in (0, 1)] == ["completed", "completed"]
    assert {"node 0: it is warm", "node 1: it is warm"} <= set(started.target.late_warnings(started.job).warnings)


def test_a_launcher_that_starts_the_other_nodes_itself_runs_on_the_first(slurm, write_recipe, tmp_path):
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is missing (openmpi-bin on Debian)")
    path = write_recipe('echo "rank $OMPI_COMM_WORLD_RANK on $SLURMD_NODENAME"', more='\n[launcher]\nname = "mpirun"\n')
    started = planned(path, SLURM, tmp_path, TWO)
    started.start()
    assert started.over().kind == "ended"
    # Open MPI may print notices of its own among the ranks' lines.
    assert sorted(re.findall(r"rank \d on \w+", log(started, 0))) == ["rank 0 on blade1", "rank 1 on blade2"]
    assert log(started, 1) == ""
    assert host(started, 1)["outcome"] == "completed"


def begun_on_both(started):
    """Wait until the command has printed a line on both nodes."""
    for _ in polls():
        if all((started.node(rank) / "train.log").exists() and log(started, rank) for rank in (0, 1)):
            return
    raise AssertionError(started.look())


@pytest.mark.parametrize("outcome", ["stopped", "timeout"])
def test_a_stopped_job_records_why_on_every_node(slurm, write_recipe, tmp_path, outcome):
    started = planned(write_recipe('sleep 300 & echo "$!"; wait'), SLURM, tmp_path, TWO)
    started.start()
    begun_on_both(started)
    children = [int(log(started, rank)) for rank in (0, 1)]
    if outcome == "timeout":
        # Where its number was not kept, a job is found by its name.
        (started.incoming / "slurm.number").unlink()
        assert started.look().kind == "running"
    started.stop(outcome)
    assert started.over().kind == "ended"
    assert [host(started, rank)["outcome"] for rank in (0, 1)] == [outcome, outcome]
    assert all(map(ended, children))
    started.stop()


def test_a_waiting_job_can_be_removed_from_the_queue(slurm, write_recipe, tmp_path):
    first = planned(write_recipe("echo begun; sleep 300"), SLURM, tmp_path / "first", TWO)
    first.start()
    assert first.printing().kind == "running"
    second = planned(write_recipe("echo begun"), SLURM, tmp_path / "second", TWO)
    second.start()
    state = second.look()
    assert (state.kind, state.cause, state.failed) == ("waiting", "Slurm says PENDING", False)
    second.stop()
    state = second.over()
    assert (state.kind, state.outcome) == ("lost", "stopped")
    assert not (second.node(0) / "train.log").exists()


def test_a_node_that_refuses_ends_the_job_with_its_reason(slurm, write_recipe, tmp_path):
    started = planned(write_recipe(command=["no such program"]), SLURM, tmp_path, TWO)
    started.start()
    state = started.over()
    assert (state.kind, state.outcome) == ("lost", "failed")
    assert "node 0 refused: " in state.cause
    assert "node 1 refused: " in state.cause
    assert "no such program" in state.cause


def test_a_job_that_is_asked_to_end_while_its_nodes_are_checked_runs_nothing(
    slurm, write_recipe, tmp_path, monkeypatch
):
    slow = '(write_file(self.path("begun"), "") or time.sleep(2) or [])'
    change_agent(monkeypatch, 'return {"warnings": [each', f'return {{"warnings": {slow} + [each')
    started = planned(write_recipe("true"), SLURM, tmp_path)
    started.start()
    assert any((started.node(0) / "begun").exists() for _ in polls())
    assert started.look().cause == "its nodes are being checked"
    started.stop()
    state = started.over()
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
def test_the_state_comes_from_the_queue_or_the_accounting(
    write_recipe, tmp_path, monkeypatch, squeue, sacct, scontrol, kind, outcome
):
    for name, program in {"squeue": squeue, "sacct": sacct, "scontrol": scontrol}.items():
        path = tool(tmp_path / "tools", name, program)
    monkeypatch.setenv("PATH", path)
    started = planned(write_recipe("true"), SLURM, tmp_path)
    started.incoming.mkdir()
    (started.incoming / "slurm.number").write_text("7\n")
    state = cluster.slurm_state(started.job)
    assert (state.kind, state.outcome) == (kind, outcome)


def test_a_job_whose_number_was_not_kept_is_not_lost_while_slurm_does_not_answer(write_recipe, tmp_path, monkeypatch):
    started = planned(write_recipe("true"), SLURM, tmp_path)
    monkeypatch.setenv("PATH", tool(tmp_path / "tools", "squeue", "echo 'Unable to contact controller' >&2; exit 1"))
    assert cluster.slurm_state(started.job).kind == "unreachable"
    with pytest.raises(RunnerError, match="Slurm does not answer: Unable to contact controller"):
        started.stop()
    tool(tmp_path / "tools", "squeue", "true")
    assert cluster.slurm_state(started.job).kind == "lost"


def test_a_query_for_gpus_asks_slurm_for_one_node(tmp_path, monkeypatch):
    path = tool(
        tmp_path / "tools", "srun", f'echo "$*" >{tmp_path}/asked; while [ "$1" != python3 ]; do shift; done; exec "$@"'
    )
    monkeypatch.setenv("PATH", path)
    target = Slurm("v100", ("--account=me",))
    (named,) = target.hardware(CPU)
    assert named.endswith("cores (CPU)")
    asked = (tmp_path / "asked").read_text()
    assert asked.startswith("--nodes=1 --ntasks=1 --partition=v100 --account=me python3 -I -S -c ")
    assert target.hardware(GPU) == ["unknown"]
    assert "--gpus-per-node=1" in (tmp_path / "asked").read_text()


def test_a_job_that_slurm_ends_says_so(slurm, write_recipe, tmp_path):
    started = planned(write_recipe("trap '' TERM; echo begun; sleep 300"), SLURM, tmp_path)
    started.start()
    started.printing()
    number = (started.incoming / "slurm.number").read_text().strip()
    slurm.call("scancel", "--signal=KILL", "--full", number)
    slurm.call("scancel", number)
    state = started.over()
    assert (state.kind, state.outcome, state.cause) == ("lost", "stopped", "Slurm says CANCELLED of its job")
    assert log(started) == "begun\n"


def test_a_node_whose_agent_is_killed_is_reported_while_the_other_runs(slurm, write_recipe, tmp_path):
    started = planned(write_recipe('echo "$$"; sleep 300'), SLURM, tmp_path, TWO)
    started.start()
    begun_on_both(started)
    os.kill(int((started.node(1) / "pid").read_text()), signal.SIGKILL)
    state = started.until(lambda state: state.failed)
    assert state.kind == "running"
    started.stop()
    state = started.over()
    assert (state.kind, state.failed) == ("lost", True)
    assert host(started, 0)["outcome"] == "stopped"


def test_a_refusal_of_sbatch_is_reported_and_leaves_nothing(slurm, write_recipe, tmp_path):
    started = planned(write_recipe("true"), Slurm(partition="nowhere"), tmp_path)
    with pytest.raises(RunnerError, match=r"sbatch did not take the job: .*Invalid partition"):
        started.start()
    assert not started.incoming.exists()


def test_a_controller_that_does_not_answer_leaves_the_job_as_it_is(slurm, write_recipe, tmp_path, monkeypatch):
    started = planned(write_recipe("echo begun; sleep 300"), SLURM, tmp_path)
    started.start()
    started.printing()
    text = (slurm.folder / "slurm.conf").read_text()
    port = text.partition("SlurmctldPort=")[2].split()[0]
    text = text.replace(f"SlurmctldPort={port}", "SlurmctldPort=1").replace("MessageTimeout=60", "MessageTimeout=1")
    (tmp_path / "slurm.conf").write_text(text)
    with monkeypatch.context() as away:
        away.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
        state = started.look()
        assert (state.kind, state.log_bytes) == ("unreachable", 6)
        assert "Slurm does not answer" in state.cause
        with pytest.raises(RunnerError, match="could not be asked to end"):
            started.stop()
    assert started.look().kind == "running"


def test_a_machine_without_slurm_says_so(write_recipe, tmp_path, monkeypatch):
    started = planned(write_recipe("true"), SLURM, tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunnerError, match=r"sbatch: it cannot be started here: No such file.*install it"):
        started.start()
    assert not started.incoming.exists()


def test_the_arguments_of_sbatch(write_recipe, tmp_path):
    target = Slurm("v100", ("--account=me", "--time=1"))

    def submission(folder: Path, launcher: str) -> list[str]:
        path = write_recipe(timeout=601, device="gpu", more=f'\n[launcher]\nname = "{launcher}"\n')
        placed = planned(path, target, folder, {"nodes": "2", "devices": "16"})
        return target.submission(placed.job, placed.run.spec)

    asked = submission(tmp_path / "100%", "torchrun")
    assert asked[:2] == ["sbatch", "--parsable"]
    assert asked[2].startswith("--job-name=perfledger-tiny-")
    assert asked[3] == f"--output={tmp_path}/100%%/raw/tiny/1/incoming/slurm.log"
    assert asked[4:] == [
        "--open-mode=append", "--no-requeue", "--nodes=2", "--ntasks-per-node=1", "--exclusive", "--mem=0",
        "--time=41", "--gpus-per-node=8", "--partition=v100", "--account=me", "--time=1",
    ]  # fmt: skip
    assert "--ntasks-per-node=8" in submission(tmp_path / "b", "mpirun")


def test_a_run_becomes_one_folder_and_counts_when_the_batch_is_resumed(slurm, write_recipe, tmp_path):
    path = write_recipe(f'{RECORD} record 1; echo "rank $RANK on $SLURMD_NODENAME"', more='RANK = "{node_rank}"\n')
    words = ["--raw-logs", str(tmp_path / "raw"), "--on", "slurm:debug", "--case", "nodes=2,devices=2", "--resume"]
    assert main(["run", str(path), *words]) == 0
    folder = folder_of(tmp_path, "cpu-n2d2-bs1-fp32") / "1"
    assert (folder / "train.log").read_text().endswith("rank 0 on blade1\n")
    assert (folder / "node1/train.log").read_text().endswith("rank 1 on blade2\n")
    assert [node["outcome"] for node in load(folder / "run.json")["nodes"]] == ["completed", "completed"]
    assert not {each.name for each in folder.iterdir()} & {"incoming", "launch.json"}
    # The partition is asked for its hardware, and finds that the run counts.
    assert main(["run", str(path), *words]) == 0
    assert [each.name for each in folder.parent.iterdir()] == ["1"]


@pytest.mark.parametrize(
    ("stated", "kept", "gone"),
    [
        ((), {"--exclusive", "--mem=0", "--gpus-per-node=8"}, set()),
        (("--exclusive=no",), {"--mem=0", "--gpus-per-node=8"}, {"--exclusive", "--exclusive=no"}),
        (("--exclusive=user",), {"--exclusive=user", "--mem=0"}, {"--exclusive"}),
        (("--mem-per-gpu=64G",), {"--mem-per-gpu=64G", "--exclusive"}, {"--mem=0"}),
        (("--gres=gpu:h100:8",), {"--gres=gpu:h100:8"}, {"--gpus-per-node=8"}),
        (("--account=mine",), {"--exclusive", "--mem=0", "--gpus-per-node=8", "--account=mine"}, set()),
    ],
)
def test_an_argument_of_the_user_takes_the_place_of_ours(write_recipe, tmp_path, stated, kept, gone):
    path = write_recipe("true", device="gpu", shape="1n8d", more='\n[launcher]\nname = "torchrun"\n')
    placed = planned(path, Slurm("gpu", stated), tmp_path)
    words = set(placed.target.submission(placed.job, placed.run.spec))
    assert kept <= words
    assert not gone & words
    (asked,) = placed.target.places("gpu").values()
    assert ("--gpus-per-node=1" in asked) == ("--gres=gpu:h100:8" not in stated)


def test_secrets_reach_the_nodes_and_stand_in_no_file(slurm, write_recipe, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "hush-0123456789-hush")
    path = write_recipe('echo "it is $MY_TOKEN"')
    started = planned(path, SLURM, tmp_path, settings=Settings(secrets=("MY_TOKEN",)))
    started.start()
    assert started.over().kind == "ended"
    started.fetch()
    assert log(started) == f"it is {'*' * 20}\n"
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


def test_an_image_is_run_by_pyxis_in_a_step_on_each_node(slurm, write_recipe, tmp_path, monkeypatch):
    # The plugin is not installed here: this srun takes its options off, and everything else is Slurm's own.
    path = write_recipe(
        'echo "$RANK $WORD $PWD $SLURMD_NODENAME"', more='RANK = "{node_rank}"\n[container]\nimage = "a/b"\n'
    )
    program = PYXIS.replace("LOG", f"{tmp_path}/options").replace("SRUN", str(shutil.which("srun")))
    monkeypatch.setenv("PATH", tool(tmp_path / "tools", "srun", program))
    settings = Settings(container="pyxis", variables={"WORD": "said"})
    started = planned(path, SLURM, tmp_path, TWO, settings)
    started.start()
    assert started.over().kind == "ended"
    started.fetch()
    # Before it, srun may say that this cluster cannot bind processors.
    words = [log(started, rank).splitlines()[-1].split() for rank in (0, 1)]
    assert [(rank, word, node) for rank, word, _, node in words] == [("0", "said", "blade1"), ("1", "said", "blade2")]
    given = (tmp_path / "options").read_text().splitlines()
    assert "--container-image=a/b" in given
    assert any(each.startswith(f"--container-mounts={words[0][2]}:{words[0][2]},") for each in given)


def test_pyxis_is_for_slurm_and_must_be_installed(slurm, write_recipe, tmp_path):
    path = write_recipe("true", more='[container]\nimage = "a/b"\n')
    with pytest.raises(RunnerError, match="--container pyxis is a part of Slurm; choose another"):
        planned(path, Local(), tmp_path / "a", settings=Settings(container="pyxis"))
    (tmp_path / "b").mkdir()
    started = planned(path, SLURM, tmp_path / "b", settings=Settings(container="pyxis"))
    started.start()
    assert "srun knows no --container-image here: pyxis is not installed" in started.over().cause


def submitted(slurm) -> list[str]:
    """Return the names of the jobs that Slurm knows, in the order of their numbers."""
    lines = slurm.call("squeue", "--noheader", "--states=all", "--format=%i %j").splitlines()
    return [name for _, name in sorted((int(line.split()[0]), line.split()[1]) for line in lines)]


def test_all_runs_of_a_series_share_one_allocation_and_nothing_of_it_is_left(slurm, write_recipe, tmp_path):
    path = write_recipe(f'{RECORD} record 1; echo "$SLURM_JOB_ID on $SLURMD_NODENAME"')
    before = len(submitted(slurm))
    words = ["--raw-logs", str(tmp_path / "raw"), "--on", "slurm:debug", "--repeats", "2", "--seed", "1"]
    # Those of one node run in the allocation that the largest needs.
    assert main(["run", str(path), *words, "--case", "nodes=1|2,devices=2"]) == 0
    assert len(submitted(slurm)) == before + 1
    logs = sorted((tmp_path / "raw").rglob("[12]/train.log"))
    assert len(logs) == 4
    said = {log.parent.parent.name + "/" + log.parent.name: log.read_text().splitlines()[-1] for log in logs}
    assert len({each.split()[0] for each in said.values()}) == 1, said
    assert {each.split()[-1] for each in said.values()} == {"blade1"}
    assert not any("incoming" in each.name for each in (tmp_path / "raw").rglob("*"))
    assert any(not (tmp_path / "raw/.slurm").exists() for _ in polls())
    assert any(not slurm.call("squeue", "--noheader") for _ in polls())


def test_an_allocation_goes_on_where_a_run_was_brought_home_before_its_batch_program_was_over(tmp_path):
    folder, brought_home, stays = (tmp_path / name for name in ("allocation/1", "first", "second"))
    for each in (folder / "queue", brought_home, stays):
        each.mkdir(parents=True)
    (folder / "series.json").write_text('{"idle_seconds": 0}')
    for each, program in ((brought_home, "import shutil, sys; shutil.rmtree(sys.argv[2])"), (stays, "")):
        with zipfile.ZipFile(each / agent_link.ARCHIVE, "w") as archive:
            archive.writestr("agent/__main__.py", program)
    for number, run in enumerate((brought_home, stays)):
        (folder / "queue" / run.name).write_text(str(run))
        os.utime(folder / "queue" / run.name, (number, number))
    assert subprocess.run([sys.executable, "-I", agent_link.AGENT, "series", folder], timeout=60).returncode == 0
    assert not brought_home.exists()
    assert (stays / "over").exists()
    assert not (tmp_path / "allocation").exists()


def series(path, tmp_path, choices=None, target=SLURM, runs=2):
    """Return jobs of a series that share an allocation."""
    (tmp_path / "raw").mkdir()
    placed = [planned(path, target, tmp_path / f"raw/{number}", choices) for number in range(runs)]
    place = target.for_series([each.run for each in placed], 0)
    return [replace(each, target=place) for each in placed]


def test_a_stopped_run_of_a_series_leaves_the_allocation_to_the_next(slurm, write_recipe, tmp_path):
    first, second = series(write_recipe('sleep 300 & echo "$!"; wait'), tmp_path, TWO)
    first.start()
    begun_on_both(first)
    first.stop()
    assert first.over().kind == "ended"
    assert host(first)["outcome"] == "stopped"
    # What is over is not stopped again, though its number is that of the next.
    second.start()
    begun_on_both(second)
    assert (first.incoming / "slurm.number").read_text() == (second.incoming / "slurm.number").read_text()
    assert any((first.incoming / "over").exists() for _ in polls())
    first.stop()
    assert second.look().kind == "running"
    second.stop("timeout")
    assert second.over().kind == "ended"
    assert host(second, 1)["outcome"] == "timeout"
    second.target.release()


def test_a_run_of_a_series_that_a_node_refuses_is_over_and_the_next_one_runs(slurm, write_recipe, tmp_path):
    refused, good = series(write_recipe("echo good"), tmp_path)
    spec = msgspec.structs.replace(refused.run.spec, command=(("no such program",),))
    refused.target.start(refused.job, spec)
    state = refused.over()
    assert (state.kind, state.outcome) == ("lost", "failed")
    assert "no such program" in state.cause
    good.start()
    assert good.over().kind == "ended"
    assert log(good) == "good\n"
    good.target.release()


def test_an_allocation_that_has_ended_is_followed_by_another(slurm, write_recipe, tmp_path):
    lost, good = series(write_recipe("echo begun; sleep 3"), tmp_path)
    lost.start()
    lost.printing()
    slurm.call("scancel", (lost.incoming / "slurm.number").read_text().strip())
    assert lost.over().kind in ("ended", "lost")
    good.start()
    assert good.over().kind == "ended"
    numbers = {(each.incoming / "slurm.number").read_text() for each in (lost, good)}
    assert len(numbers) == 2
    good.target.release()


def test_an_allocation_ends_by_itself_where_the_runner_is_gone(slurm, write_recipe, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "IDLE_SECONDS", 1)
    one, _ = series(write_recipe("echo done"), tmp_path)
    one.start()
    assert one.over().kind == "ended"
    assert any(not slurm.call("squeue", "--noheader") for _ in polls())
    assert not Path(one.target.allocation.folder).exists()


def test_a_series_that_is_stopped_in_the_queue_leaves_nothing(slurm, write_recipe, tmp_path):
    other = planned(write_recipe("echo begun; sleep 300"), SLURM, tmp_path / "other", TWO)
    other.start()
    other.printing()
    waiting, _ = series(write_recipe("echo begun"), tmp_path)
    waiting.start()
    assert waiting.look().cause == "Slurm says PENDING"
    waiting.stop()
    assert (waiting.over().kind, waiting.look().outcome) == ("lost", "stopped")
    waiting.target.release()
    assert not Path(waiting.target.allocation.folder).exists()


def test_an_allocation_lasts_for_all_runs_but_not_longer_than_its_partition_allows(write_recipe, tmp_path, monkeypatch):
    path = write_recipe(timeout=3600, device="gpu", more='\n[launcher]\nname = "torchrun"\n')
    small, large = (planned(path, Slurm("v100"), tmp_path / each, {"devices": each}).run for each in ("1", "8"))
    limit = tool(tmp_path / "tools", "sinfo", "echo 'v100 infinite'")
    monkeypatch.setenv("PATH", limit)
    place = Slurm("v100").for_series([small, large, large], 600)
    (line,) = place.commands(small)
    assert "--nodes=1 --ntasks-per-node=1 --exclusive --mem=0 --time=240 --gpus-per-node=8 --partition=v100" in line
    tool(tmp_path / "tools", "sinfo", "echo 'v100 1:30:00'")
    assert "--time=90" in place.commands(small)[0]
    # What the user states comes last, and holds.
    stated = Slurm("v100", ("--time=15",)).for_series([small, large], 600)
    assert stated.commands(small)[0].endswith("--partition=v100 --time=15")
    assert "--time=170" in stated.commands(small)[0]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2-03:00:00", 183_600),
        ("1:30:00", 5400),
        ("41:00", 2460),
        ("0:05", 5),
        ("infinite", 0),
        ("UNLIMITED", 0),
        ("", 0),
    ],
)
def test_times_of_slurm(text, seconds):
    assert slurm_queue.slurm_seconds(text) == seconds
