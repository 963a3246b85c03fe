"""Going on where a runner was killed: the run it left is finished, what is missing is added, nothing runs twice."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess

import pytest

from runners.cases import recipe
from runners.cases.case import choose
from runners.cli import main
from runners.errors import RunnerError
from runners.places import job
from runners.places.place import Place
from runners.places.placed import State
from runners.resume import hardware
from runners.runs import launch_file
from runners.runs.plan import order
from tests.runners.arrivals import arrive, begun
from tests.runners.home import RECORD, ROOT, folder_of, load, running, until, words
from tests.runners.node import ended

pytestmark = pytest.mark.usefixtures("bash")


def begins(said: str) -> list[str]:
    """The runs that were begun, as `case/number`."""
    return ["/".join(line.split("/")[-2:]) for line in said.splitlines() if line.startswith("[")]


def test_a_runner_that_is_killed_leaves_a_run_that_another_finishes(write_recipe, tmp_path, capfd):
    path = write_recipe(f"{RECORD} record 1; while [ ! -e {tmp_path}/go ]; do sleep 0.1; done; record 2")
    with running(path, tmp_path, "--repeats", "2") as process:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=10)
    folder = folder_of(tmp_path)
    assert not (folder / "1/run.json").exists()
    (tmp_path / "go").touch()
    assert main(["run", str(path), "--repeats", "2", "--resume", "--raw-logs", str(tmp_path / "raw")]) == 0
    assert begins(capfd.readouterr().out) == ["cpu-n1d1-bs1-fp32/1", "cpu-n1d1-bs1-fp32/2"]
    for number in ("1", "2"):
        run = load(folder / number / "run.json")
        assert (run["outcome"], run["records"]["count"], run["repeat"]) == ("completed", 2, int(number))
    assert main(["run", str(path), "--repeats", "2", "--resume", "--raw-logs", str(tmp_path / "raw")]) == 0
    assert capfd.readouterr().out == "nothing is left to run\n"


def test_a_run_whose_script_was_killed_too_has_failed_with_its_log_at_home(write_recipe, tmp_path):
    path = write_recipe('echo "$$"; sleep 300')
    with running(path, tmp_path) as process:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=10)
    folder = folder_of(tmp_path) / "1"
    script = int((folder / "incoming/node0/pid").read_text())
    os.killpg(script, signal.SIGKILL)
    assert main(["collect", str(tmp_path / "raw")]) == 1
    run = load(folder / "run.json")
    assert run["outcome"] == "failed"
    assert any("killed" in warning for warning in run["warnings"])
    command = int((folder / "train.log").read_text())
    assert ended(command)


def test_another_runner_leaves_a_run_that_is_attended(write_recipe, tmp_path):
    path = write_recipe("echo begun; sleep 300")
    with running(path, tmp_path) as process:
        second = subprocess.run(
            words(path, tmp_path, "--resume"), cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert second.returncode == 0
        assert "another runner attends this run" in second.stderr
        assert sorted(folder.name for folder in folder_of(tmp_path).iterdir()) == ["1"]
        assert main(["collect", str(tmp_path / "raw")]) == 2
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert load(folder_of(tmp_path) / "1/run.json")["outcome"] == "stopped"


def test_what_counts_are_settled_runs_of_the_same_hardware_and_round(write_recipe, tmp_path, capfd):
    path = write_recipe(f"{RECORD} record 1")
    words = ["run", str(path), "--raw-logs", str(tmp_path / "raw"), "--resume", "--repeats", "1"]
    assert main(words) == 0
    assert begins(capfd.readouterr().out) == ["cpu-n1d1-bs1-fp32/1"]
    assert main(words) == 0
    assert begins(capfd.readouterr().out) == []
    assert main([*words, "--round", "2026Q4"]) == 0
    assert begins(capfd.readouterr().out) == ["cpu-n1d1-bs1-fp32/2"]
    first = folder_of(tmp_path) / "1/run.json"
    for number, change in ((3, {"outcome": "failed"}), (4, {"case": {**load(first)["case"], "hardware": "another"}})):
        kept = first.read_text()
        first.write_text(json.dumps({**load(first), **change}))
        assert main(words) == 0
        assert begins(capfd.readouterr().out) == [f"cpu-n1d1-bs1-fp32/{number}"]
        (folder_of(tmp_path) / str(number) / "run.json").unlink()
        first.write_text(kept)


def test_memory_that_does_not_suffice_is_not_asked_for_twice(write_recipe, tmp_path, capfd):
    path = write_recipe("echo 'CUDA out of memory'; exit 1")
    words = ["run", str(path), "--raw-logs", str(tmp_path / "raw"), "--resume"]
    assert main(words) == 1
    assert main(words) == 0
    assert begins(capfd.readouterr().out) == ["cpu-n1d1-bs1-fp32/1"]


def test_a_resumed_matrix_goes_on_in_the_order_it_had(write_recipe, tmp_path):
    chosen = recipe.load(write_recipe("true", batches="1, 2, 3, 4"))
    cases = choose(chosen, {})
    whole = [run.case.slug for run in order(chosen, cases, 2, tmp_path)]
    rest = order(chosen, cases, 2, tmp_path, settled={cases[0].slug: 1, cases[1].slug: 1})
    assert [run.case.slug for run in rest] == whole[2:]


def test_over_all_repeats_every_case_is_as_early_as_any_other(write_recipe, tmp_path):
    chosen = recipe.load(write_recipe("true", batches="1, 2, 3, 4, 5"))
    cases = choose(chosen, {})
    runs = [run.case.slug for run in order(chosen, cases, 5, tmp_path)]
    turns = [runs[start : start + 5] for start in range(0, 25, 5)]
    for case in cases:
        assert sorted(turn.index(case.slug) for turn in turns) == [0, 1, 2, 3, 4]


def test_collect_finishes_what_came_home_by_hand_and_says_when_nothing_is_left(write_recipe, tmp_path, capfd):
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
    assert f"{bad}/launch.json: it cannot be read" in capfd.readouterr().err
    assert (good / "run.json").exists()


def test_a_run_that_still_goes_on_is_left_and_given_up_when_asked_to(write_recipe, tmp_path, capfd):
    path = write_recipe("echo begun; sleep 300")
    with running(path, tmp_path) as process:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=10)
    assert main(["collect", str(tmp_path / "raw")]) == 1
    assert "unfinished: running" in capfd.readouterr().out
    assert main(["collect", str(tmp_path / "raw"), "--abandon"]) == 1
    assert load(folder_of(tmp_path) / "1/run.json")["outcome"] == "stopped"


def test_a_host_that_does_not_come_back_is_given_up_with_what_is_here(write_recipe, tmp_path, capfd):
    folder = begun(write_recipe("true"), tmp_path, nodes=2)
    assert main(["collect", str(folder)]) == 1
    assert "unfinished: unreachable" in capfd.readouterr().out
    assert main(["collect", str(folder), "--abandon"]) == 1
    run = load(folder / "run.json")
    assert run["outcome"] == "failed"
    assert "given up while unreachable" in run["warnings"][0]


HOLLOW = (
    '{"schema": "perfledger.launch/1", "job": {}, "plan": {"case": {}}, "records": {"format": "x", "at_least": "1"}}'
)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "perfledger.launch/1", "job": 1}', "[" * 9999, HOLLOW])
def test_a_launch_json_that_is_none_is_said_to_be(tmp_path, text):
    (tmp_path / "launch.json").write_text(text)
    with pytest.raises(launch_file.RunnerError, match=r"launch\.json"), launch_file.attended(tmp_path):
        pass


def test_where_a_file_system_keeps_no_locks_nothing_starts(write_recipe, tmp_path, monkeypatch, capfd):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(launch_file.fcntl, "flock", refuse)
    assert main(["run", str(write_recipe("true")), "--raw-logs", str(tmp_path / "raw")]) == 2
    assert "its file system keeps no locks: No locks available; name a folder on another" in capfd.readouterr().err
    assert not (tmp_path / "raw").exists()


def test_the_logs_of_nodes_within_reach_come_home_from_a_run_that_is_given_up(write_recipe, tmp_path, monkeypatch):
    folder = begun(write_recipe("true"), tmp_path, nodes=2)

    def fail(*_):
        raise RunnerError("host1.invalid: it does not answer")

    def bring_the_first(_):
        arrive(folder, 0)
        fail()

    monkeypatch.setattr(job, "stop", fail)
    monkeypatch.setattr(job, "fetch", bring_the_first)
    assert main(["collect", str(folder), "--abandon"]) == 1
    assert (folder / "train.log").exists()
    assert load(folder / "run.json")["outcome"] == "failed"


def test_a_lost_run_whose_log_cannot_be_brought_home_stays_unfinished(write_recipe, tmp_path, monkeypatch, capfd):
    folder = begun(write_recipe("true"), tmp_path, nodes=2)

    def fail(*_):
        raise RunnerError("no room for it here")

    monkeypatch.setattr(job, "state", lambda _: State("lost", "killed"))
    monkeypatch.setattr(job, "stop", lambda _: None)
    monkeypatch.setattr(job, "fetch", fail)
    assert main(["collect", str(folder)]) == 2
    assert "no room for it here" in capfd.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == ["launch.json"]


def test_what_a_login_prints_is_no_hardware(write_recipe, monkeypatch):
    chosen = recipe.load(write_recipe("true"))
    (quiet,) = hardware(chosen, Place("local"))
    noisy = ["bash", "-c", "printf 'Welcome to\\nhost1 '; exec bash -s"]
    monkeypatch.setattr("runners.backends.local.argv", lambda: noisy)
    assert hardware(chosen, Place("local")) == [quiet]
    assert quiet.endswith("cores (CPU)")


def test_two_runners_that_begin_at_once_take_a_number_each(write_recipe, tmp_path):
    path = write_recipe(f"{RECORD} record 1")
    both = [subprocess.Popen(words(path, tmp_path), cwd=ROOT, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    until(lambda: len(list(folder_of(tmp_path).iterdir())) == 2)
    assert [load(folder_of(tmp_path) / number / "run.json")["repeat"] for number in ("1", "2")] == [1, 2]
