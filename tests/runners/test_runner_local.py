"""`run` on this machine, for real, with programs in bash: the files that it leaves and what it prints."""

from __future__ import annotations

import hashlib
import os
import signal
import time
from datetime import datetime

import pytest

from perfledger.runners import record
from perfledger.runners import run as runs
from perfledger.runners.cli import main
from perfledger.runners.job import RunnerError
from perfledger.runners.transport import Local
from tests.runners.agents import change_agent
from tests.runners.home import RECORD, folder_of, load, running, until, words
from tests.runners.node import ended, sampled

KEYS = {
    "schema", "suite", "case", "format", "repeat", "recipe", "argv", "environment_variables", "environment", "start",
    "end", "wall_seconds", "exit_status", "outcome", "records", "files",
}  # fmt: skip

SEGMENTATION = (
    "2026-11-20 11:50:55 [INFO]\t[TRAIN] epoch: 3, iter: 40/40, loss: 2.0594, lr: 0.010000, batch_cost: 0.1853, "
    "reader_cost: 0.00247, ips: 21.5905 samples/sec | ETA 00:00:00"
)

pytestmark = pytest.mark.usefixtures("bash")


def test_run_json_of_a_completed_run_has_all_facts(write_recipe, tmp_path, capfd, only_run):
    path = write_recipe(f'{RECORD} record 1; record 2; {sampled()}; echo "on stderr $OMP_NUM_THREADS" >&2')
    assert main(["run", str(path), "--raw-logs", str(tmp_path / "raw"), "--round", "2026Q4"]) == 0
    folder, run = only_run()
    assert folder == folder_of(tmp_path) / "1"
    files = {"train.log", "telemetry.csv", "environment.json"}
    assert {file.name for file in folder.iterdir()} == {*files, "run.json"}
    assert (folder / "train.log").read_text().endswith("images/s\non stderr 1\n")
    # The load of this machine is not tested.
    assert set(run) - {"warnings", "disturbances"} == KEYS | {"round", "order_seed"}
    assert set(run["files"]) == files
    for name, stated in run["files"].items():
        content = (folder / name).read_bytes()
        assert stated == {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    assert (run["schema"], run["suite"], run["repeat"], run["round"]) == ("perfledger.run/1", "tiny", 1, "2026Q4")
    assert (run["exit_status"], run["outcome"]) == (0, "completed")
    reason = run["records"].pop("no_figure")
    assert reason.startswith("has no result: too few: 1 training records after the warm-up")
    assert run["records"] == {"format": "ngc.pytorch_resnet50", "count": 2, "at_least": 1}
    assert run["recipe"] == {
        "name": "tiny",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "case": {"nodes": "1", "devices": "1", "batch_size": "1", "precision": "fp32"},
        "command": ["bash", "-c", run["recipe"]["command"][2], "bash", "{word}"],
        "launcher": "plain",
    }
    assert run["argv"] == ["bash", "-c", run["argv"][2], "bash", "plain"]
    assert run["environment_variables"] == {"OMP_NUM_THREADS": "1", "CASE": "1 1 fp32 3 plain"}
    assert run["environment"] == load(folder / "environment.json")["facts"]
    hardware = run["case"].pop("hardware")
    cores = f"{run['environment']['cores']} cores (CPU)"
    assert hardware == ", ".join(filter(None, (run["environment"].get("cpu"), cores)))
    assert run["case"] == {
        "model": "Loop", "framework": "Bash", "nodes": 1, "devices": 1, "batch_size": 1, "precision": "fp32",
        "options": {"word": "plain", "threads": 1},
    }  # fmt: skip
    start, end = (datetime.fromisoformat(run[key]) for key in ("start", "end"))
    assert abs((end - start).total_seconds() - run["wall_seconds"]) <= 1
    assert str(tmp_path) not in (folder / "run.json").read_text(encoding="utf-8")
    said = capfd.readouterr()
    assert said.err == ""
    assert said.out.splitlines()[0] == f"[1/1] {folder}"
    assert said.out.splitlines()[-1].startswith(f"{folder}: completed, and no figure: has no result: too few")


@pytest.mark.parametrize(
    ("program", "timeout", "expected"),
    [
        ("record 1; echo 'RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB'; exit 1", 20, ("oom", 1, 1)),
        ("record 1; record 2; sleep 300", 1, ("timeout", 143, 2)),
        ("true", 20, ("short", 0, 0)),
    ],
)
def test_every_other_outcome_keeps_its_log(write_recipe, tmp_path, only_run, program, timeout, expected):
    path = write_recipe(RECORD + program, timeout=timeout)
    assert main(["run", str(path), "--raw-logs", str(tmp_path / "raw")]) == 1
    folder, run = only_run()
    assert (run["outcome"], run["exit_status"], run["records"]["count"]) == expected
    assert (folder / "train.log").is_file()
    assert not (folder / "incoming").exists()
    assert not (folder / "launch.json").exists()


def test_the_runner_stops_a_host_that_exceeds_its_own_limit(write_recipe, tmp_path, only_run, monkeypatch):
    change_agent(monkeypatch, "self.supervise(job.command, job.seconds,", "self.supervise(job.command, 1000,")
    monkeypatch.setattr(runs, "MARGIN_SECONDS", 0)
    path = write_recipe(f"{RECORD} record 1; sleep 300", timeout=1)
    assert main(["run", str(path), "--raw-logs", str(tmp_path / "raw")]) == 1
    assert only_run()[1]["outcome"] == "timeout"


def test_a_log_in_another_format_is_short_with_a_reason(write_recipe, tmp_path, only_run, capfd):
    assert main(["run", str(write_recipe(f'echo "{SEGMENTATION}"')), "--raw-logs", str(tmp_path / "raw")]) == 1
    said = "the log is not in the recipe's format ngc.pytorch_resnet50: it is in paddle.seg"
    _, run = only_run()
    assert run["outcome"] == "short"
    assert said in run["warnings"]
    assert said in capfd.readouterr().out


def test_one_bad_case_does_not_stop_the_others(write_recipe, tmp_path, capfd):
    path = write_recipe("exit 1", batches="1, 2")
    assert main(["run", str(path), "--repeats", "2", "--raw-logs", str(tmp_path / "raw")]) == 1
    begun = [line.rsplit("bash/")[1] for line in capfd.readouterr().out.splitlines() if line.startswith("[")]
    rounds = [sorted(begun[:2]), sorted(begun[2:])]
    assert rounds == [[f"cpu-n1d1-bs{batch}-fp32/{repeat}" for batch in (1, 2)] for repeat in (1, 2)]


def test_a_refused_case_leaves_no_folder_and_the_others_run(write_recipe, tmp_path, capfd):
    path = write_recipe("true")
    text = path.read_text().replace('command = ["bash", "-c"', 'command = ["{program}", "-c"')
    path.write_text(text.replace("batch_size = [1]", 'batch_size = [1]\nprogram = ["no-such-trainer", "bash"]'))
    assert main(["run", str(path), "--repeats", "2", "--raw-logs", str(tmp_path / "raw")]) == 2
    said = capfd.readouterr().err
    assert said.startswith("runners: this machine: the program no-such-trainer is not on this host")
    assert said.count("\n") == 1, "the other repeat would be refused in the same way, and is not asked"
    assert [folder.name for folder in folder_of(tmp_path).parent.iterdir()] == ["cpu-n1d1-bs1-fp32-program-bash"]
    assert len(list((tmp_path / "raw").rglob("run.json"))) == 2


def test_a_run_whose_start_got_no_answer_is_not_forgotten(write_recipe, tmp_path, only_run, monkeypatch, capfd):
    path = write_recipe(f"{RECORD} record 1")
    with monkeypatch.context() as patch:
        # It has started when the connection breaks, and for longer than it is waited for.
        answer = "            time.sleep(0.05)\n        return {}\n"
        change_agent(patch, answer, answer.replace("return {}", "sys.exit(1)"))
        patch.setattr(Local, "stop", unreachable)
        assert main(words(path, tmp_path)) == 1
        assert "1: left unfinished, since it may have been started all the same; `python" in capfd.readouterr().out
    until(lambda: any(tmp_path.rglob("host.json")))
    assert main(["collect", str(tmp_path / "raw")]) == 0
    _, run = only_run()
    assert run["outcome"] == "completed"


def test_a_run_that_is_stopped_during_its_check_does_not_begin(write_recipe, tmp_path, monkeypatch, capfd):
    checked = Local._checked

    def slow(*words):
        os.kill(os.getpid(), signal.SIGTERM)
        return checked(*words)

    monkeypatch.setattr(Local, "_checked", slow)
    assert main(words(write_recipe(f"touch {tmp_path}/ran"), tmp_path)) == 130
    assert "/1: stopped before it began; nothing is left of it" in capfd.readouterr().out
    assert [(tmp_path / name).exists() for name in ("ran", "raw")] == [False, False]


def unreachable(*_: object) -> None:
    raise RunnerError("this machine: out of reach")


def test_a_finished_run_is_never_touched(write_recipe, tmp_path, only_run):
    arguments = ["run", str(write_recipe("date +%N")), "--raw-logs", str(tmp_path / "raw")]
    main(arguments)
    folder, _ = only_run()
    before = [(file.read_bytes(), file.stat().st_mtime_ns) for file in sorted(folder.iterdir())]
    main(arguments)
    assert [(file.read_bytes(), file.stat().st_mtime_ns) for file in sorted(folder.iterdir())] == before
    assert load(folder.parent / "2/run.json")["repeat"] == 2


def test_launch_json_is_written_before_the_run_starts(write_recipe, tmp_path):
    with running(write_recipe("echo begun; sleep 300"), tmp_path):
        folder = folder_of(tmp_path) / "1"
        assert sorted(file.name for file in folder.iterdir()) == ["incoming", "launch.json"]
        launch = load(folder / "launch.json")
        assert launch["schema"] == "perfledger.launch/1"
        assert launch["records"] == {"format": "ngc.pytorch_resnet50", "at_least": 1, "node": "first"}
        assert launch["plan"]["case"]["model"] == "Loop"
        assert launch["target"] == {"kind": "local"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_is_stopped_and_collected_and_no_other_starts(write_recipe, tmp_path, number, only_run):
    path = write_recipe('sleep 300 & echo "$!"; sleep 300', batches="1, 2")
    with running(path, tmp_path) as process:
        process.send_signal(number)
        assert process.wait() == 130
    _, errors = process.said()
    assert errors == ""
    folder, run = only_run()
    assert (run["outcome"], run["exit_status"]) == ("stopped", 143)
    assert ended(int((folder / "train.log").read_text()))
    assert not (folder / "launch.json").exists()


def test_a_second_interrupt_kills_the_command(write_recipe, tmp_path, only_run):
    with running(write_recipe("trap '' TERM; echo deaf; while :; do sleep 0.1; done"), tmp_path) as process:
        process.send_signal(signal.SIGINT)
        time.sleep(1)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    assert (only_run()[1]["outcome"], only_run()[1]["exit_status"]) == ("stopped", 137)


def test_a_third_interrupt_leaves_a_run_that_can_be_collected(write_recipe, tmp_path, only_run):
    path = write_recipe("trap 'echo asked' TERM; echo deaf; while :; do sleep 0.1; done")
    with running(path, tmp_path) as process:
        process.send_signal(signal.SIGINT)
        (log,) = tmp_path.rglob("train.log")
        until(lambda: "asked" in log.read_text())
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)  # the kernel makes one of those that come together
        assert process.wait() == 130
    # Asked once more, the command is killed, and nobody waits for it.
    assert main(["collect", str(tmp_path / "raw"), "--abandon"]) in (0, 1)
    _, run = only_run()
    assert (run["outcome"], run["exit_status"]) == ("stopped", 137)


def test_two_signals_are_counted_and_the_third_interrupts():
    with runs.count_signals() as signals:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        assert signals.count == 2
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_ends_the_cool_down(write_recipe, tmp_path):
    path = write_recipe("echo a line")
    path.write_text("cool_down_seconds = 300\n" + path.read_text(), encoding="utf-8")
    with running(path, tmp_path, "--repeats", "2") as process:
        until(lambda: (folder_of(tmp_path) / "1/run.json").exists())
        time.sleep(0.5)
        assert not (folder_of(tmp_path) / "2").exists()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    assert not (folder_of(tmp_path) / "2").exists()


def test_a_run_is_finished_though_its_leftovers_cannot_be_removed(write_recipe, tmp_path, capfd, only_run, monkeypatch):
    remove = record.shutil.rmtree

    def refuses(path, *more, **options):
        if not str(path).endswith("incoming"):
            remove(path, *more, **options)

    monkeypatch.setattr(record.shutil, "rmtree", refuses)
    path = write_recipe(f"{RECORD} record 1; record 2")
    assert main(["run", str(path), "--raw-logs", str(tmp_path / "raw")]) == 0
    folder, run = only_run()
    assert run["outcome"] == "completed"
    assert not (folder / "launch.json").exists()
    assert "the run is finished, but incoming in it cannot be removed; remove it as root" in capfd.readouterr().err


def test_a_record_that_no_reader_takes_is_reported_after_the_first_run(write_recipe, tmp_path, capfd):
    path = write_recipe(f"{RECORD} record 1; echo {{accumulation}}")
    path.write_text(path.read_text().replace("[options]\n", '[options]\naccumulation = "8"\n'))
    assert main(["run", str(path), "--raw-logs", str(tmp_path / "raw"), "--repeats", "2"]) == 2
    said = capfd.readouterr().err
    assert "run.json: it is not valid: expected a positive whole number, got '8'" in said
    assert said.count("run.json") == 1


def test_a_failed_run_says_exit_status_and_last_line(write_recipe, tmp_path, capfd):
    path = write_recipe("echo 'RuntimeError: no route to node 1'; echo; exit 3")
    assert main(["run", str(path), "--raw-logs", str(tmp_path / "raw")]) == 1
    printed = capfd.readouterr()
    ended = f"{folder_of(tmp_path)}/1: failed (exit status 3: RuntimeError: no route to node 1)"
    assert ended in printed.out + printed.err
