"""Real runs on this machine, of bash programs that print lines: outcomes, run.json, signals."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest

from runners import recipe, script
from runners.case import choose
from runners.cli import main
from runners.launch import launch
from runners.plan import order

ROOT = Path(__file__).parents[2]
KEYS = [
    "schema", "suite", "case", "repeat", "argv", "environment_variables", "environment", "start", "end",
    "wall_seconds", "exit_status", "outcome", "files",
]  # fmt: skip

pytestmark = pytest.mark.usefixtures("bash")


def test_a_run_that_completes_says_all_that_is_known(write_recipe, tmp_path, capfd, only_run):
    path = write_recipe('for i in 1 2 3; do echo "line $i"; done; echo "on stderr $OMP_NUM_THREADS" >&2')
    assert main(["run", str(path), "--raw-logs", str(tmp_path / "raw")]) == 0
    folder, run = only_run()
    assert folder == tmp_path / "raw/tiny/bash/cpu-n1d1-bs1-fp32/1"
    assert sorted(file.name for file in folder.iterdir()) == ["run.json", "train.log"]
    log = (folder / "train.log").read_bytes()
    assert log == b"line 1\nline 2\nline 3\non stderr 1\n"
    assert sorted(run) == sorted(KEYS)
    assert run["files"] == {"train.log": {"sha256": hashlib.sha256(log).hexdigest(), "bytes": len(log)}}
    assert (run["schema"], run["suite"], run["repeat"]) == ("perfledger.run/1", "tiny", 1)
    assert (run["exit_status"], run["outcome"]) == (0, "completed")
    assert run["environment_variables"] == {"OMP_NUM_THREADS": "1"}
    hardware = run["case"].pop("hardware")
    cores = f"{run['environment']['cores']} cores (CPU)"
    assert hardware == ", ".join(filter(None, (run["environment"].get("cpu"), cores)))
    assert run["case"] == {
        "model": "Loop", "framework": "Bash", "nodes": 1, "devices": 1, "batch_size": 1, "precision": "fp32",
        "options": {"word": "plain", "threads": 1},
    }  # fmt: skip
    start, end = (datetime.fromisoformat(run[key]) for key in ("start", "end"))
    assert abs((end - start).total_seconds() - run["wall_seconds"]) <= 1
    assert capfd.readouterr().err == ""


def test_the_environment_is_of_this_machine_and_names_nobody(write_recipe, tmp_path, only_run):
    assert main(["run", str(write_recipe("true")), "--raw-logs", str(tmp_path / "raw")]) == 0
    folder, run = only_run()
    assert run["environment"]["cores"] == os.sysconf("SC_NPROCESSORS_ONLN")
    assert run["environment"]["kernel"] == os.uname().release
    assert run["environment"]["threads"] == 1
    assert str(tmp_path) not in (folder / "run.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "said"),
    [("AMD EPYC", "AMD EPYC (family 25, model 17)"), ("Intel(R) Xeon(R) Gold 6271C", "Intel(R) Xeon(R) Gold 6271C")],
)
def test_a_processor_whose_name_has_no_number_is_told_by_its_family(write_recipe, tmp_path, only_run, name, said):
    (tmp_path / "cpuinfo").write_text(
        f"processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: {name}\n", encoding="utf-8"
    )
    chosen = recipe.load(write_recipe("true"))
    text = script.build(order(chosen, choose(chosen, {}), 1, tmp_path / "raw")[0])
    assert launch(["bash", "-s"], f"cpuinfo={tmp_path}/cpuinfo\n{text}") == 0
    _, run = only_run()
    assert run["environment"]["cpu"] == said
    assert run["case"]["hardware"].startswith(f"{said}, ")


def test_a_gpu_is_described_as_nvidia_smi_states_it(write_recipe, tmp_path, monkeypatch, only_run):
    tools = tmp_path / "tools"
    tools.mkdir()
    answer = """case $1 in
  --query-gpu=name) printf 'NVIDIA T0\\nNVIDIA T0\\n' ;;
  --query-gpu=memory.total) printf '16384\\n16384\\n' ;;
  --query-gpu=power.limit) printf '[N/A]\\n[N/A]\\n' ;;
  --query-gpu=driver_version) printf '550.1\\n550.1\\n' ;;
  '') printf '| NVIDIA-SMI 550.1    Driver Version: 550.1    CUDA Version: 12.4 |\\n' ;;
esac
"""
    (tools / "nvidia-smi").write_text(f"#!/bin/bash\n{answer}", encoding="utf-8")
    (tools / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    path = write_recipe("true")
    path.write_text(path.read_text().replace('device = "cpu"', 'device = "t0"'), encoding="utf-8")
    assert main(["run", str(path), "--raw-logs", str(tmp_path / "raw")]) == 0
    folder, run = only_run()
    assert folder.parent.name == "t0-n1d1-bs1-fp32"
    assert run["case"]["hardware"] == "NVIDIA T0"
    found = {key: value for key, value in run["environment"].items() if key.startswith(("gpu", "driver", "cuda"))}
    assert found == {"gpu": "NVIDIA T0", "gpus": 2, "gpu_memory_mib": 16384, "driver": "550.1", "cuda_driver": "12.4"}


@pytest.mark.parametrize(
    ("program", "outcome", "status"),
    [
        ("echo going; exit 3", "failed", 3),
        ("kill -KILL $$", "failed", 137),
        ("kill -SEGV $$", "failed", 139),
        ("exit 127", "failed", 127),
        ("echo 'RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB'; exit 1", "oom", 1),
        ("echo 'torch.OutOfMemoryError: of the device'; exit 1", "oom", 1),
        ("echo 'RESOURCE_EXHAUSTED: failed to allocate'; kill -ABRT $$", "oom", 134),
        ('echo "DefaultCPUAllocator: can\'t allocate memory"; exit 1', "oom", 1),
        ("echo 'CUDA out of memory, batch halved'; exit 0", "completed", 0),
        ("echo 'loss 0.1, no more room'; exit 1", "failed", 1),
    ],
)
def test_outcomes(write_recipe, tmp_path, program, outcome, status, only_run):
    returned = main(["run", str(write_recipe(program)), "--raw-logs", str(tmp_path / "raw")])
    _, run = only_run()
    assert (run["outcome"], run["exit_status"]) == (outcome, status)
    assert returned == (0 if outcome == "completed" else 1)


def test_a_run_that_lasts_too_long_is_ended_with_all_it_started(write_recipe, tmp_path, only_run):
    path = write_recipe('sleep 300 & echo "$!"; sleep 300', timeout=1)
    assert main(["run", str(path), "--raw-logs", str(tmp_path / "raw")]) == 1
    folder, run = only_run()
    assert (run["outcome"], run["exit_status"]) == ("timeout", 143)
    assert 1 <= run["wall_seconds"] < 5
    assert ended(int((folder / "train.log").read_text()))


def test_a_run_that_lasts_too_long_and_does_not_listen_is_killed(write_recipe, tmp_path, only_run, monkeypatch):
    text = script.HOST.read_text(encoding="utf-8")
    assert text.count("grace_seconds=10") == 1
    (tmp_path / "host.sh").write_text(text.replace("grace_seconds=10", "grace_seconds=1"), encoding="utf-8")
    monkeypatch.setattr(script, "HOST", tmp_path / "host.sh")
    path = write_recipe("trap '' TERM; while :; do sleep 0.1; done", timeout=1)
    assert main(["run", str(path), "--raw-logs", str(tmp_path / "raw")]) == 1
    _, run = only_run()
    assert (run["outcome"], run["exit_status"]) == ("timeout", 137)


def test_what_a_command_leaves_running_is_ended(write_recipe, tmp_path, only_run):
    assert main(["run", str(write_recipe('sleep 300 & echo "$!"')), "--raw-logs", str(tmp_path / "raw")]) == 0
    folder, _ = only_run()
    assert ended(int((folder / "train.log").read_text()))


def test_one_bad_case_does_not_stop_the_others_and_repeats_are_interleaved(write_recipe, tmp_path, capfd):
    path = write_recipe("exit 1", batches="1, 2")
    assert main(["run", str(path), "--repeats", "2", "--raw-logs", str(tmp_path / "raw")]) == 1
    begun = [line.rsplit("bash/")[1] for line in capfd.readouterr().out.splitlines() if line.startswith("[")]
    assert begun == [f"cpu-n1d1-bs{batch}-fp32/{repeat}" for repeat in (1, 2) for batch in (1, 2)]


def test_a_finished_run_is_never_touched(write_recipe, tmp_path, only_run):
    arguments = ["run", str(write_recipe("date +%N")), "--raw-logs", str(tmp_path / "raw")]
    assert main(arguments) == 0
    folder, _ = only_run()
    before = [(file.read_bytes(), file.stat().st_mtime_ns) for file in sorted(folder.iterdir())]
    assert main(arguments) == 0
    assert [(file.read_bytes(), file.stat().st_mtime_ns) for file in sorted(folder.iterdir())] == before
    assert json.loads((folder.parent / "2/run.json").read_text())["repeat"] == 2


def test_run_json_comes_last(write_recipe, tmp_path):
    with running(write_recipe("echo begun; sleep 300"), tmp_path):
        (folder,) = (tmp_path / "raw").glob("*/*/*/1")
        assert [file.name for file in folder.iterdir()] == ["train.log"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_is_recorded_as_stopped(write_recipe, tmp_path, number, only_run):
    with running(write_recipe('sleep 300 & echo "$!"; sleep 300'), tmp_path) as process:
        process.send_signal(number)
        _, errors = process.communicate(timeout=10)
    assert process.returncode == 130
    assert errors == ""
    folder, run = only_run()
    assert (run["outcome"], run["exit_status"]) == ("stopped", 143)
    assert ended(int((folder / "train.log").read_text()))


def test_a_second_interrupt_kills_what_does_not_listen(write_recipe, tmp_path, only_run):
    with running(write_recipe("trap '' TERM; echo deaf; while :; do sleep 0.1; done"), tmp_path) as process:
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
    assert process.returncode == 130
    assert only_run()[1]["outcome"] == "stopped"


@contextmanager
def running(path: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """`python -m runners run` as a process of its own, from when its command has printed a line."""
    command = [sys.executable, "-m", "runners", "run", str(path), "--raw-logs", str(folder / "raw")]
    with subprocess.Popen(
        command, cwd=ROOT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            assert any(any(log.stat().st_size for log in folder.rglob("train.log")) for _ in polls())
            yield process
        finally:
            process.terminate()


def ended(process: int) -> bool:
    """Whether a process is gone, or a zombie that nobody has asked after yet."""
    for _ in polls():
        try:
            state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
    return False


def polls() -> Iterator[None]:
    """Ten seconds, in steps."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        yield
        time.sleep(0.02)
