"""Resuming where a runner was killed: the run that it left is finished, missing ones are added, none runs twice."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
from pathlib import Path
from threading import Timer
from types import SimpleNamespace

import pytest

from perfledger.runners import folders, recipes
from perfledger.runners.batch import settled_counts
from perfledger.runners.cases import select_cases
from perfledger.runners.cli import main
from perfledger.runners.cli.run import result_lines
from perfledger.runners.command import plan_run
from perfledger.runners.job import PlannedRun, RunnerError
from perfledger.runners.ssh import Ssh
from perfledger.runners.transport import JobState, Local, Target
from tests.runners.arrivals import arrive, begun
from tests.runners.home import RECORD, Runner, folder_of, load, running, until
from tests.runners.jobs import CPU
from tests.runners.node import ended, nvidia_smi

pytestmark = pytest.mark.usefixtures("bash")


def begins(said: str) -> list[str]:
    """Return the runs that were begun, as `case/number`."""
    return ["/".join(line.split("/")[-2:]) for line in said.splitlines() if line.startswith("[")]


def first_runs(path: Path, tmp_path: Path) -> list[PlannedRun]:
    """Return the first run of each case of a recipe."""
    chosen = recipes.load(path)
    return [plan_run(chosen, case, tmp_path) for case in select_cases(chosen, {})]


def test_resume_finishes_the_run_of_a_killed_runner(write_recipe, tmp_path, capfd):
    path = write_recipe(f"{RECORD} record 1; while [ ! -e {tmp_path}/go ]; do sleep 0.1; done; record 2")
    with running(path, tmp_path, "--repeats", "2") as process:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    folder = folder_of(tmp_path)
    assert not (folder / "1/run.json").exists()
    (tmp_path / "go").touch()
    assert main(["run", str(path), "--repeats", "2", "--resume", "--raw-logs", str(tmp_path / "raw")]) == 0
    assert begins(capfd.readouterr().out) == ["cpu-n1d1-bs1-fp32/1", "cpu-n1d1-bs1-fp32/2"]
    for number in ("1", "2"):
        found = load(folder / number / "run.json")
        assert (found["outcome"], found["records"]["count"], found["repeat"]) == ("completed", 2, int(number))
    assert main(["run", str(path), "--repeats", "2", "--resume", "--raw-logs", str(tmp_path / "raw")]) == 0
    assert capfd.readouterr().out == "nothing is left to run\n"


def test_a_run_whose_agent_was_killed_has_failed_and_keeps_its_log(write_recipe, tmp_path):
    path = write_recipe('echo "$$"; sleep 300')
    with running(path, tmp_path) as process:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    folder = folder_of(tmp_path) / "1"
    script = int((folder / "incoming/node0/pid").read_text())
    os.killpg(script, signal.SIGKILL)
    assert main(["collect", str(tmp_path / "raw")]) == 1
    found = load(folder / "run.json")
    assert found["outcome"] == "failed"
    assert any("killed" in warning for warning in found["warnings"])
    command = int((folder / "train.log").read_text())
    assert ended(command)


def test_a_runner_waits_a_moment_for_a_lock(tmp_path):
    """So does the copy of a killed runner that was about to become another program."""
    (tmp_path / folders.LAUNCH_JSON).touch()
    with (tmp_path / folders.LAUNCH_JSON).open() as held, (tmp_path / folders.LAUNCH_JSON).open() as file:
        fcntl.flock(held, fcntl.LOCK_EX)
        Timer(0.3, held.close).start()
        folders.lock(file, tmp_path)


def test_a_run_that_another_runner_attends_is_left_alone(write_recipe, tmp_path):
    path = write_recipe("echo begun; sleep 300")
    with running(path, tmp_path) as process:
        second = Runner(path, tmp_path, "--resume")
        assert second.wait() == 0
        assert "another runner supervises this run" in second.said()[1]
        assert sorted(folder.name for folder in folder_of(tmp_path).iterdir()) == ["1"]
        assert main(["collect", str(tmp_path / "raw")]) == 2
        process.send_signal(signal.SIGINT)
        process.wait()
    assert load(folder_of(tmp_path) / "1/run.json")["outcome"] == "stopped"


def test_a_settled_run_is_not_repeated_in_its_round(write_recipe, tmp_path, capfd):
    path = write_recipe(f"{RECORD} record 1")
    words = ["run", str(path), "--raw-logs", str(tmp_path / "raw"), "--resume", "--repeats", "1"]
    for round, begun_runs in ((), ["1"]), ((), []), (("--round", "2026Q4"), ["2"]):
        assert main([*words, *round]) == 0
        assert begins(capfd.readouterr().out) == [f"cpu-n1d1-bs1-fp32/{number}" for number in begun_runs]


def finished(run: PlannedRun, hardware: str, **facts: object) -> PlannedRun:
    """Write the run.json of a completed run."""
    run.folder.mkdir(parents=True)
    document = {"schema": "perfledger.run/1", "outcome": "completed", "case": {"hardware": hardware}, **facts}
    (run.folder / "run.json").write_text(json.dumps(document), encoding="utf-8")
    return run


def on_hardware(*names: str) -> SimpleNamespace:
    """Return a target whose hosts have this hardware, in order of rank."""
    return SimpleNamespace(hardware=lambda _: list(names))


@pytest.mark.parametrize(
    ("change", "count"),
    [
        ({}, 1),
        ({"outcome": "oom"}, 1),
        ({"outcome": "failed"}, 0),
        ({"disturbances": ["other work"]}, 0),
        ({"disturbances": ["other work"], "accept_disturbed": True}, 1),
        # As runners wrote it before disturbances had a key.
        ({"warnings": ["GPU 0 is busy: processes on it 1, utilisation 9 %, memory 1 of 2 MiB"]}, 0),
        ({"warnings": ["the processors of this host are 97 % busy before the run: something else computes here"]}, 0),
        ({"warnings": ["GPU 0 was slowed down in 1 of 2 samples: for its heat"]}, 1),
        ({"hardware": "another"}, 0),
        ({"round": "2026Q4"}, 0),
    ],
)
def test_settled_runs_of_the_same_hardware_and_round_count(write_recipe, tmp_path, change, count):
    earlier = finished(*first_runs(write_recipe("true"), tmp_path), **{"hardware": "A", **change})
    assert settled_counts([earlier], on_hardware("A"), set())[earlier.folder.parent] == count


@pytest.mark.parametrize(
    ("change", "count"),
    [({}, 0), ({"disturbances": ["other work"]}, 1), ({"disturbances": ["other work"], "smoke": True}, 0)],
)
def test_the_way_to_repeat_disturbed_runs_is_printed_if_no_run_counts(write_recipe, tmp_path, change, count):
    run = finished(*first_runs(write_recipe("true"), tmp_path), "A", **change)
    assert ["--if-busy wait" in line for line in result_lines([run], {})] == [True] * count


@pytest.mark.parametrize(("node", "count"), [("first", 0), ("last", 1)])
def test_the_hardware_of_a_run_is_that_of_the_node_with_the_log(write_recipe, tmp_path, node, count):
    chosen = recipes.load(write_recipe(node=node))
    (case,) = select_cases(chosen, {"nodes": "2", "devices": "2"})
    earlier = finished(plan_run(chosen, case, tmp_path), "B")
    assert settled_counts([earlier], on_hardware("A", "B"), set())[earlier.folder.parent] == count


def test_collect_finishes_a_copied_folder_and_reports_when_nothing_is_left(write_recipe, tmp_path, capfd):
    folder = begun(write_recipe("true"), tmp_path)
    arrive(folder, 0)
    assert main(["collect", str(folder)]) == 0
    assert load(folder / "run.json")["outcome"] == "completed"
    assert main(["collect", str(tmp_path / "raw")]) == 0
    assert "nothing there is unfinished" in capfd.readouterr().out


def test_one_folder_that_cannot_be_collected_does_not_stop_the_others(write_recipe, tmp_path, capfd):
    path = write_recipe("true")
    bad = begun(path, tmp_path)
    (bad / "launch.json").write_text("{")
    good = begun(path, tmp_path)
    arrive(good, 0)
    assert main(["collect", "--raw-logs", str(tmp_path / "raw")]) == 2
    assert f"{bad}/launch.json: it is not a launch.json of this version" in capfd.readouterr().err
    assert (good / "run.json").exists()


def test_collect_leaves_a_run_that_still_goes_on_and_abandon_stops_it(write_recipe, tmp_path, capfd):
    path = write_recipe("echo begun; sleep 300")
    with running(path, tmp_path) as process:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert main(["collect", str(tmp_path / "raw")]) == 1
    assert "left unfinished, since it still runs" in capfd.readouterr().out
    assert main(["collect", str(tmp_path / "raw"), "--abandon"]) == 1
    assert load(folder_of(tmp_path) / "1/run.json")["outcome"] == "stopped"


def test_abandon_finishes_the_run_of_a_lost_host_with_the_files_that_are_here(write_recipe, tmp_path, capfd):
    folder = begun(write_recipe("true"), tmp_path, nodes=2)
    assert main(["collect", str(folder)]) == 1
    assert "left unfinished, since it cannot be reached:" in capfd.readouterr().out
    assert main(["collect", str(folder), "--abandon"]) == 1
    found = load(folder / "run.json")
    assert found["outcome"] == "failed"
    assert "given up while unreachable" in found["warnings"][0]


HOLLOW = (
    '{"schema": "perfledger.launch/1", "job": {}, "plan": {"case": {}}, "records": {"format": "x", "at_least": "1"}}'
)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "perfledger.launch/1", "job": 1}', "[" * 9999, HOLLOW])
def test_an_invalid_launch_json_is_refused(tmp_path, text):
    (tmp_path / "launch.json").write_text(text)
    with (
        pytest.raises(RunnerError, match=r"launch\.json: it is not a launch\.json of this"),
        folders.open_launch(tmp_path),
    ):
        pass


def test_nothing_starts_on_a_file_system_without_locks(write_recipe, tmp_path, monkeypatch, capfd):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(folders.fcntl, "flock", refuse)
    assert main(["run", str(write_recipe("true")), "--raw-logs", str(tmp_path / "raw")]) == 2
    assert "its file system does not support locks: No locks available; choose another" in capfd.readouterr().err
    assert not (tmp_path / "raw").exists()


def test_abandon_keeps_the_logs_of_reachable_nodes(write_recipe, tmp_path, monkeypatch):
    folder = begun(write_recipe("true"), tmp_path, nodes=2)

    def fail(*_):
        raise RunnerError("host1.invalid: it does not answer")

    def bring_the_first(*_):
        arrive(folder, 0)
        fail()

    monkeypatch.setattr(Target, "stop", fail)
    monkeypatch.setattr(Ssh, "fetch", bring_the_first)
    assert main(["collect", str(folder), "--abandon"]) == 1
    assert (folder / "train.log").exists()
    assert load(folder / "run.json")["outcome"] == "failed"


def test_a_lost_run_whose_log_cannot_be_fetched_stays_unfinished(write_recipe, tmp_path, monkeypatch, capfd):
    folder = begun(write_recipe("true"), tmp_path, nodes=2)

    def fail(*_):
        raise RunnerError("no room for it here")

    monkeypatch.setattr(Target, "look", lambda *_: JobState("lost", cause="killed"))
    monkeypatch.setattr(Target, "stop", lambda *_: None)
    monkeypatch.setattr(Ssh, "fetch", fail)
    assert main(["collect", str(folder)]) == 2
    assert "no room for it here" in capfd.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == ["launch.json"]


def test_lines_of_a_login_are_not_taken_for_the_hardware(monkeypatch):
    (quiet,) = Local().hardware(CPU)
    agent = Local().argv(0)
    noisy = ["bash", "-c", "printf 'Welcome to\\nhost1 '; exec \"$@\"", "bash", *agent]
    monkeypatch.setattr(Local, "argv", lambda *_: noisy)
    assert Local().hardware(CPU) == [quiet]
    assert quiet.endswith("cores (CPU)")


def test_on_a_host_with_two_kinds_of_gpus_a_smaller_case_is_made_once(write_recipe, tmp_path, monkeypatch, capfd):
    """Its hardware is that of the GPU which it gets, and not of all."""
    idle = {"memory.total": "16384", "memory.used": "0", "utilization.gpu": "0", "driver_version": "550.1"}
    gpus = ({**idle, "index": str(at), "name": name} for at, name in enumerate(("NVIDIA T0", "NVIDIA L0")))
    monkeypatch.setenv("PATH", nvidia_smi(tmp_path / "tools", *gpus))
    argv = ["run", str(write_recipe(f"{RECORD} record 1", device="gpu")), "--raw-logs", str(tmp_path / "raw")]
    for begun_runs in (["1"], []):
        assert main([*argv, "--resume", "--repeats", "1"]) == 0
        assert begins(capfd.readouterr().out) == [f"gpu-n1d1-bs1-fp32/{number}" for number in begun_runs]


def test_two_runners_at_once_use_different_numbers(write_recipe, tmp_path):
    path = write_recipe(f"{RECORD} record 1")
    both = [Runner(path, tmp_path) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    until(lambda: len(list(folder_of(tmp_path).iterdir())) == 2)
    assert [load(folder_of(tmp_path) / number / "run.json")["repeat"] for number in ("1", "2")] == [1, 2]
