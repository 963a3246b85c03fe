"""The sampler of a run: its rows, its cost, and that it ends with the run."""

from __future__ import annotations

import csv
import io
import os
import sys
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from perfledger.parsers.engine.registry import telemetry_by_id
from perfledger.parsers.engine.telemetry import claimant, read_telemetry
from perfledger.runners.cli import main
from tests.runners.agents import all_of, replacing
from tests.runners.home import RECORD
from tests.runners.node import ended, kernel, nvidia_smi, polls, prepared, sampled, tool

pytestmark = pytest.mark.usefixtures("bash")

MEMINFO = "MemTotal: 8192000 kB\nMemFree: 1 kB\nMemAvailable: 4096000 kB\n"


def rows_of(node):
    return list(csv.DictReader(io.StringIO((node.job / "telemetry.csv").read_text())))


def test_on_a_cpu_there_is_a_row_a_second_in_utc_whatever_the_zone(write_recipe, tmp_path):
    before = datetime.now(UTC) - timedelta(seconds=1)
    node = prepared(write_recipe(sampled(2)), tmp_path / "job", TZ="JST-9")
    assert node.run() == 0
    rows = rows_of(node)
    of_disks = ["disk_read_mib_s", "disk_written_mib_s"]
    assert list(rows[0]) == ["timestamp", "load_1m", "cpu_percent", "memory_used_mib", "memory_total_mib", *of_disks]
    assert len(rows) == 2
    times = [datetime.fromisoformat(row["timestamp"]) for row in rows]
    assert all(before <= time <= datetime.now(UTC) for time in times)
    assert all(timedelta() < later - earlier <= timedelta(seconds=3) for earlier, later in pairwise(times))
    for row in rows:
        assert 0 <= float(row["cpu_percent"]) <= 100
        assert 0 < int(row["memory_used_mib"]) < int(row["memory_total_mib"])
        assert float(row["load_1m"]) >= 0
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    assert abs(int(rows[0]["memory_total_mib"]) - total) <= 1
    file = node.job / "telemetry.csv"
    assert claimant(file) == "host_csv"
    assert read_telemetry(file, telemetry_by_id("host_csv")).faults == ()


def test_the_share_of_the_processors_is_that_of_the_time_between_two_rows(write_recipe, tmp_path):
    """Of 200 jiffies 50 waited for nothing, 10 for a disk and 20 were stolen: 120 of 200 computed."""
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "stat").write_text("cpu  1000 0 0 1000 0 0 0 0 0 0\n")
    (proc / "meminfo").write_text(MEMINFO)
    (proc / "loadavg").write_text("1.25 0.5 0.1 1/2 3\n")
    # The sampler has read the first state when its header is there.
    state = f"echo 'cpu  1080 10 20 1050 10 4 6 20 0 0' >{proc}/stat"
    program = f"{sampled(0)}; {state}; {sampled(1)}"
    node = prepared(write_recipe(program), tmp_path / "job", change=kernel(proc))
    assert node.run() == 0
    (row,) = rows_of(node)
    assert row["cpu_percent"] == "60.0"
    assert (row["load_1m"], row["memory_used_mib"], row["memory_total_mib"]) == ("1.25", "4000", "8000")


def test_rows_of_gpus_are_those_of_nvidia_smi_and_the_parsers_read_them(write_recipe, tmp_path):
    said = {
        "timestamp": "2026/11/21 12:00:00.000", "name": "NVIDIA T0", "memory.used": "512 MiB",
        "utilization.gpu": "87 %", "power.draw": "68.50 W", "temperature.gpu": "61",
        "clocks.sm": "1590 MHz", "clocks.mem": "5000 MHz",
    }  # fmt: skip
    path = nvidia_smi(tmp_path / "tools", {**said, "index": "0"}, {**said, "index": "1"})
    node = prepared(write_recipe(sampled(2), device="gpu"), tmp_path / "job", PATH=path)
    assert node.run() == 0
    file = node.job / "telemetry.csv"
    lines = file.read_text().splitlines()
    assert len(lines) >= 3
    assert lines[1] == "2026/11/21 12:00:00.000, 0, NVIDIA T0, 512 MiB, 87 %, 68.50 W, 1590 MHz, 5000 MHz, 61"
    assert claimant(file) == "nvidia_smi_csv"
    found = read_telemetry(file, telemetry_by_id("nvidia_smi_csv"))
    assert (found.faults, found.devices) == ((), ("0", "1"))
    assert set(found.values["power"]) == {68.5}


def test_only_the_gpus_that_the_job_was_given_are_sampled(write_recipe, tmp_path):
    path = nvidia_smi(tmp_path / "tools", *({"index": str(number)} for number in range(4)))
    node = prepared(write_recipe(sampled(2), device="gpu"), tmp_path / "job", PATH=path, CUDA_VISIBLE_DEVICES="1,3")
    assert node.run() == 0
    indexes = [line.split(", ")[1] for line in (node.job / "telemetry.csv").read_text().splitlines()[1:]]
    assert indexes == ["1", "3"]


@pytest.mark.parametrize(
    ("asked", "given", "used"),
    [
        ([], {}, "1"),
        ([], {"CUDA_VISIBLE_DEVICES": "2,3"}, "2"),  # of those that a scheduler gave
        (["--env", "CUDA_VISIBLE_DEVICES=0,3"], {}, "3"),
        (["--if-busy", "run", "--env", "CUDA_VISIBLE_DEVICES=0"], {}, "0"),
        (["--site", "other.toml"], {}, "3"),  # whose prologue gives 0 and 3
    ],
)
def test_a_case_of_fewer_gpus_than_the_host_has_sees_and_samples_only_its_own(
    write_recipe, monkeypatch, only_run, asked, given, used
):
    idle = {
        "timestamp": "2026/11/21 12:00:00.000", "name": "NVIDIA T0", "memory.total": "16384 MiB",
        "memory.used": "0 MiB", "utilization.gpu": "0 %", "power.draw": "70.00 W", "temperature.gpu": "61",
    }  # fmt: skip
    gpus = [{**idle, "index": str(number), "processes": ["4711"] * (number == 0)} for number in range(4)]
    recipe = write_recipe(f'{RECORD} record 1; echo "sees $CUDA_VISIBLE_DEVICES"; {sampled()}', device="gpu")
    path = nvidia_smi(recipe.parent / "tools", *gpus)
    for name, value in {"PATH": path, **given}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(recipe.parent)
    Path("other.toml").write_text('[hosts.local]\nprologue = ["export CUDA_VISIBLE_DEVICES=0,3"]\n')
    assert main(["run", str(recipe), "--raw-logs", "raw", *asked]) == 0
    folder, run = only_run()
    assert f"sees {used}\n" in (folder / "train.log").read_text()
    assert run["environment_variables"]["CUDA_VISIBLE_DEVICES"] == used
    assert run["environment"]["gpus"] == (2 if given else 4)
    rows = [line.split(", ") for line in (folder / "telemetry.csv").read_text().splitlines()[1:]]
    assert {row[1] for row in rows} == set(used.split(","))
    assert any("GPU 0 is busy" in each for each in run.get("disturbances", [])) == ("0" in used)


@pytest.mark.parametrize(
    ("printed", "left"),
    [
        ("printf 'timestamp, index\\n1, 0\\n2, 0\\n3, '", "timestamp, index\n1, 0\n2, 0\n"),
        ("printf 'timestamp, index\\n1, '", None),
        ("echo 'NVIDIA-SMI has failed'", None),
        ("true", None),
    ],
)
def test_a_row_that_was_cut_off_and_a_file_without_rows_are_left_out(write_recipe, tmp_path, printed, left):
    path = tool(tmp_path / "tools", "nvidia-smi", f'case "$*" in *-lms*) {printed} ;; *) exit 9 ;; esac')
    node = prepared(write_recipe("sleep 0.3", device="gpu"), tmp_path / "job", PATH=path)
    assert node.run() == 0
    file = node.job / "telemetry.csv"
    assert (file.read_text() if file.exists() else None) == left
    assert ("telemetry.csv" in node.host()["files"]) == (left is not None)


def test_a_sampler_that_ignores_signals_ends_with_the_run(write_recipe, tmp_path):
    sampler = f'case "$*" in *-lms*) echo $$ >{tmp_path}/sampler; trap "" TERM; while :; do sleep 0.1; done ;; esac'
    path = tool(tmp_path / "tools", "nvidia-smi", sampler)
    node = prepared(write_recipe("sleep 0.5", device="gpu"), tmp_path / "job", PATH=path)
    assert node.run() == 0
    assert ended(int((tmp_path / "sampler").read_text()))


def test_a_sampler_ends_with_an_agent_that_was_killed(write_recipe, tmp_path):
    sampler = f'case "$*" in *-lms*) echo $$ >{tmp_path}/sampler; exec sleep 300 ;; esac'
    path = tool(tmp_path / "tools", "nvidia-smi", sampler)
    node = prepared(write_recipe("echo begun; sleep 300", device="gpu"), tmp_path / "job", PATH=path)
    with node.running() as process:
        assert any((tmp_path / "sampler").exists() for _ in polls())
        process.kill()
        process.wait()
        assert ended(int((tmp_path / "sampler").read_text()))


#: The kernel's numbers before and after: 1,000 jiffies, some of them busy and some stolen.
JIFFIES = "cpu  {busy} 0 0 {idle} 0 0 0 {stolen} 0 0\n"


@pytest.fixture
def disturbed(write_recipe, tmp_path):
    """Run a program while the kernel counts 1,000 jiffies; return what disturbed it."""

    def run(program, busy, stolen=0, **of_recipe):
        proc = tmp_path / "proc"
        proc.mkdir()
        (proc / "stat").write_text(JIFFIES.format(busy=0, idle=0, stolen=0))
        after = JIFFIES.format(busy=busy, idle=1000 - busy - stolen, stolen=stolen).strip()

        judged = all_of(
            kernel(proc),
            replacing("BUSY_PERCENT = 101", "BUSY_PERCENT = 10"),
            replacing("JUDGED_SECONDS = 5", "JUDGED_SECONDS = 0"),
        )
        node = prepared(
            write_recipe(f"{program}\necho '{after}' >{proc}/stat", **of_recipe), tmp_path / "job", change=judged
        )
        assert node.run() == 0
        return node.host().get("disturbances", [])

    return run


@pytest.mark.parametrize(
    ("busy", "stolen", "said"),
    [
        (800, 0, ["other work used {share} % of the processors of this host during the run (mean)"]),
        (90, 90, []),
        (
            90,
            200,
            ["other virtual machines took 20 % of the time of this host's processors during the run (mean)"],
        ),
    ],
)
def test_other_work_during_a_run_disturbs_it(disturbed, busy, stolen, said):
    found = disturbed("true", busy, stolen)
    # The processes of the run itself took some of the jiffies.
    assert found in [[each.format(share=share) for each in said] for share in range(60, 81)]


def test_the_time_of_a_leftover_process_counts_as_that_of_the_command(disturbed, tmp_path):
    burn = f"while time.process_time() < 0.5: pass\nopen('{tmp_path}/burnt', 'w').close()"
    (tmp_path / "burn.py").write_text(f"import time\n{burn}\n")
    program = f"(setsid {sys.executable} {tmp_path}/burn.py &)\nuntil [ -e {tmp_path}/burnt ]; do sleep 0.05; done"
    assert disturbed(f"{program}; sleep 0.3", 130) == []


def test_others_on_a_gpu_when_a_run_has_ended_disturb_it(write_recipe, tmp_path):
    idle = {"name": "NVIDIA T0", "memory.total": "16000 MiB", "utilization.gpu": "0 %", "memory.used": "9 MiB"}
    gpus = [{**idle, "index": "0"}, {**idle, "index": "1"}]
    nvidia_smi(tmp_path / "busy", gpus[0], {**gpus[1], "processes": ["4711"]})
    path = nvidia_smi(tmp_path / "tools", *gpus)
    program = f"cp {tmp_path}/busy/nvidia-smi {tmp_path}/tools/nvidia-smi"
    node = prepared(write_recipe(program, device="gpu", shape="1n2d"), tmp_path / "job", PATH=path)
    assert node.run() == 0
    assert node.host()["disturbances"] == ["processes of others on GPU 1 at the end of the run: 1"]
