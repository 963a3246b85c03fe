"""Accelerators of other makers than NVIDIA, and why clocks are slowed down, with fake tools."""

from __future__ import annotations

import json
import shlex

import pytest

from perfledger.parsers.engine.registry import telemetry_by_id
from perfledger.parsers.engine.telemetry import claimant, read_telemetry
from perfledger.runners import settings
from perfledger.runners.agent.nvidia import slowdowns
from perfledger.runners.cli import main
from perfledger.runners.job import DeclaredAccelerator, RunnerError
from perfledger.runners.settings import Settings, SitePlace
from tests.runners.home import RECORD
from tests.runners.node import kernel, nvidia_smi, prepared, sampled, tool

pytestmark = pytest.mark.usefixtures("bash")


def value(number, unit=""):
    return {"value": number, "unit": unit}


def amd_metric(index):
    return {
        "gpu": index, "usage": {"gfx_activity": value(3, "%"), "umc_activity": value(0, "%")},
        "power": {"socket_power": value(142, "W"), "throttle_status": "UNTHROTTLED"},
        "clock": {"gfx_0": {"clk": value(132, "MHz"), "max_clk": value(2100, "MHz")},
                  "mem_0": {"clk": value(900, "MHz")}},
        "temperature": {"edge": "N/A", "hotspot": value(41, "C"), "mem": value(36, "C")},
        "mem_usage": {"total_vram": value(196592, "MB"), "used_vram": value(100, "MB")},
    }  # fmt: skip


def amd_static(index):
    return {
        "gpu": index, "asic": {"market_name": "Instinct MI300X", "asic_serial": "0x1234SERIAL"},
        "driver": {"name": "amdgpu", "version": "6.10.5"}, "vram": {"type": "HBM", "size": value(196592, "MB")},
        "limit": {"max_power": value(750, "W"), "socket_power": value(750, "W")},
    }  # fmt: skip


def amd_smi(folder, wrap=lambda rows: rows, busy=()):
    """Write a fake amd-smi with two GPUs, in the layout of ROCm 6, or 7 with `wrap`; a process runs on those `busy`."""
    idle = [{"process_info": "No running processes detected"}]
    running = [{"process_info": {"name": "python3", "pid": 4711}}]
    said = {
        "static": [amd_static(at) for at in range(2)],
        "metric": [amd_metric(at) for at in range(2)],
        "process": [{"gpu": at, "process_list": running if at in busy else idle} for at in range(2)],
    }
    cases = "".join(f"{name}) echo {shlex.quote(json.dumps(wrap(rows)))} ;; " for name, rows in said.items())
    version = json.dumps([{"tool": "AMDSMI Tool", "rocm_version": "6.4.1"}])
    return tool(folder, "amd-smi", f"echo 'WARNING: old' ; case $1 in {cases} version) echo '{version}' ;; esac")


NPU_SMI = """
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.rc1                 Version: 24.1.rc1                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 90.7        37                0    / 0             |
| 0                         | 0000:C1:00.0  | 7           0    / 0          2984 / 65536         |
+===========================+===============+====================================================+
| 1     910B3               | OK            | 96.9        36                0    / 0             |
| 0                         | 0000:C2:00.0  | 2           0    / 0          2314/ 65536          |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       0                 | 1712733       | python                   | 2048                    |
+===========================+===============+====================================================+
| No running processes found in NPU 1                                                            |
"""
#: Two chips of one card, in the older layout without HBM, whose second row also counts the chips.
NPU_SMI_310P = """
| npu-smi 22.0.4                   Version: 22.0.4                                               |
| NPU     Name              | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device            | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
| 8       310P3             | OK              | NA           39                0     / 0             |
| 0       0                 | 0000:05:00.0    | 0            621  / 21527                            |
| 8       310P3             | OK              | NA           40                0     / 0             |
| 1       1                 | 0000:05:00.0    | 0            700  / 21527                            |
"""


def environment_of(node):
    assert node.check().refused == ""
    assert node.run() == 0, node.log()
    return node.environment()


@pytest.mark.parametrize("wrap", [lambda rows: rows, lambda rows: {"gpu_data": rows}], ids=["ROCm 6", "ROCm 7"])
def test_gpus_of_amd_are_described_as_amd_smi_states_them(write_recipe, tmp_path, wrap):
    path = amd_smi(tmp_path / "tools", wrap)
    tool(tmp_path / "tools", "torchrun", sampled(2))
    recipe = write_recipe(device="gpu", shape="1n2d", more='[launcher]\nname = "torchrun"\n')
    node = prepared(recipe, tmp_path / "job", PATH=path)
    found = environment_of(node)
    facts = {key: each for key, each in found["facts"].items() if key.startswith(("gpu", "driver", "rocm", "cuda"))}
    assert facts == {
        "gpu": "AMD Instinct MI300X", "gpus": 2, "gpu_memory_mib": 196592, "gpu_power_limit_watts": 750,
        "driver": "6.10.5", "rocm": "6.4.1",
    }  # fmt: skip
    assert found["gpus"][1] == {
        "index": 1, "name": "AMD Instinct MI300X", "memory_mib": 196592, "power_limit_watts": 750
    }  # fmt: skip
    assert "SERIAL" not in json.dumps(found)
    assert node.host()["hardware"] == "AMD Instinct MI300X"
    file = node.job / "telemetry.csv"
    assert claimant(file) == "accelerator_csv"
    samples = read_telemetry(file, telemetry_by_id("accelerator_csv"))
    assert (samples.faults, samples.devices) == ((), ("0", "1"))
    assert {name: column[0] for name, column in samples.values.items()} == {
        "power": 142, "utilisation": 3, "memory_used": 100, "memory_total": 196592, "temperature": 41,
        "memory_temperature": 36, "graphics_clock": 132, "memory_clock": 900,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "variable"),
    [({}, "HIP_VISIBLE_DEVICES"), ({"ROCR_VISIBLE_DEVICES": "1"}, "ROCR_VISIBLE_DEVICES")],
)
def test_a_free_gpu_of_amd_is_chosen_by_the_variable_that_gives_some(
    write_recipe, tmp_path, monkeypatch, only_run, given, variable
):
    for name, each in {"PATH": amd_smi(tmp_path / "tools", busy=[0]), **given}.items():
        monkeypatch.setenv(name, each)
    recipe = write_recipe(f'{RECORD} record 1; echo "sees ${variable}"; {sampled()}', device="gpu")
    assert main(["run", str(recipe), "--raw-logs", str(tmp_path / "raw")]) == 0
    folder, run = only_run()
    assert "sees 1\n" in (folder / "train.log").read_text()
    assert run["environment_variables"][variable] == "1"
    assert "CUDA_VISIBLE_DEVICES" not in run["environment_variables"]
    rows = (folder / "telemetry.csv").read_text().splitlines()[1:]
    assert rows
    assert {row.split(",")[1] for row in rows} == {"1"}


def test_two_variables_that_choose_among_each_other_are_refused(write_recipe, tmp_path):
    given = {"HIP_VISIBLE_DEVICES": "0", "ROCR_VISIBLE_DEVICES": "1"}
    node = prepared(write_recipe(device="gpu"), tmp_path / "job", PATH=amd_smi(tmp_path / "tools"), **given)
    assert node.check().refused.startswith("HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES are both set")


def test_a_busy_gpu_of_amd_is_refused(write_recipe, tmp_path):
    path = amd_smi(tmp_path / "tools", busy=[0, 1])
    said = prepared(write_recipe(device="gpu"), tmp_path / "job", PATH=path).check().refused
    assert said.startswith("GPU 0 is busy: processes on it 1, utilisation 3 %, memory 100 of 196592 MiB")


@pytest.mark.parametrize(
    ("printed", "name", "used", "memory"),
    [
        (NPU_SMI, "Ascend 910B3", "1", 65536),
        (NPU_SMI.replace("910B3    ", "Ascend910"), "Ascend 910", "1", 65536),
        (NPU_SMI_310P, "Ascend 310P3", "0", 21527),
    ],
    ids=["910B", "a name with its maker", "310P"],
)
def test_npus_of_ascend_are_described_and_chosen(write_recipe, tmp_path, printed, name, used, memory):
    path = tool(tmp_path / "tools", "npu-smi", f'[ "$*" = info ] && cat <<"END"\n{printed}\nEND')
    program = f'echo "sees $ASCEND_RT_VISIBLE_DEVICES"; {sampled()}'
    node = prepared(write_recipe(program, device="gpu"), tmp_path / "job", PATH=path)
    found = environment_of(node)
    assert node.log() == f"sees {used}\n"
    assert node.host()["hardware"] == name
    assert (node.host()["gpu_variable"], node.host()["gpus"]) == ("ASCEND_RT_VISIBLE_DEVICES", used)
    facts = found["facts"]
    assert (facts["gpus"], facts["gpu_memory_mib"]) == (2, memory)
    assert facts["driver"] in printed
    row = (node.job / "telemetry.csv").read_text().splitlines()[1].split(",")
    assert row[1:8] == (
        ["1", name, "96.9", "2", "2314", "65536", "36"]
        if used == "1"
        else ["0", name, "N/A", "0", "621", "21527", "39"]
    )


def test_a_site_declares_an_accelerator(write_recipe, tmp_path):
    (tmp_path / "said").write_text("memory_mib, used_mib, power_watts\n128, 100, 91.5\n128, 1, 92")
    declared = DeclaredAccelerator(name="Gaudi 3", probe=f"cat {tmp_path}/said", variable="HABANA_VISIBLE_DEVICES")
    settings = Settings(place=SitePlace(accelerator=declared))
    program = f'echo "sees $HABANA_VISIBLE_DEVICES"; {sampled()}'
    node = prepared(write_recipe(program, device="gpu"), tmp_path / "job", settings=settings)
    found = environment_of(node)
    assert node.log() == "sees 1\n"  # the other one's memory is in use
    assert (found["facts"]["gpu"], found["facts"]["gpus"], node.host()["hardware"]) == ("Gaudi 3", 2, "Gaudi 3")
    assert (node.job / "telemetry.csv").read_text().splitlines()[1].split(",")[1:4] == ["1", "Gaudi 3", "92"]


@pytest.mark.parametrize(
    ("probe", "variable", "said"),
    [
        ("exit 1", "X", "this case needs 1 GPUs per node, and this host shows 0 (asked by `exit 1`)"),
        (
            "echo name; echo X; echo X",
            "",
            "this case needs 1 of the 2 devices of this host, and its site names no `variable`",
        ),
    ],
)
def test_a_declared_accelerator_that_cannot_be_used_is_refused(write_recipe, tmp_path, probe, variable, said):
    settings = Settings(place=SitePlace(accelerator=DeclaredAccelerator("Gaudi 3", probe, variable)))
    node = prepared(write_recipe(device="gpu"), tmp_path / "job", settings=settings)
    assert said in node.check().refused


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "Gaudi 3"', r"site\.toml:1: the key `hosts\.accelerator\.probe` is missing"),
        ('name = ""\nprobe = "x"', r"site\.toml:2: `hosts\.accelerator\.name`"),
        ('name = "X"\nprobe = "x"\nvariable = "A B"', r"site\.toml:4: `hosts\.accelerator\.variable`"),
        (
            'name = "X"\nprob = "x"',
            r"site\.toml:3: `hosts\.accelerator\.prob` is not a key of a site file; did you mean",
        ),
    ],
)
def test_a_wrong_accelerator_of_a_site_is_refused_with_its_line(tmp_path, text, said):
    path = tmp_path / "site.toml"
    path.write_text(f"[hosts.a.accelerator]\n{text}\n")
    with pytest.raises(RunnerError, match=said):
        settings.find_site(str(path))


# --- Clocks, and the machine around the GPUs --------------------------------------------------------------------------

T0 = {
    "timestamp": "2026/11/21 12:00:00.000", "name": "NVIDIA T0", "memory.used": "512 MiB", "utilization.gpu": "87 %",
    "power.draw": "68.50 W", "temperature.gpu": "61", "clocks.sm": "1590 MHz", "clocks.mem": "5000 MHz", "index": "0",
}  # fmt: skip


FIELDS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")


@pytest.mark.parametrize("field", FIELDS)
def test_why_clocks_are_slowed_down_is_recorded(write_recipe, tmp_path, monkeypatch, only_run, field):
    other = {*FIELDS} - {field}
    path = nvidia_smi(tmp_path / "tools", {**T0, field: "0x0000000000000048"}, refused=[*other])
    monkeypatch.setenv("PATH", path)
    recipe = write_recipe(f"{RECORD} record 1; {sampled()}", device="gpu")
    assert main(["run", str(recipe), "--if-busy", "run", "--raw-logs", str(tmp_path / "raw")]) == 0
    folder, run = only_run()
    count = len((folder / "telemetry.csv").read_text().splitlines()) - 1
    assert run["warnings"] == [f"GPU 0 was slowed down in {count} of {count} samples: by its hardware, for its heat"]
    assert run["environment"]["gpu_power_capped_percent"] == 0


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    ("reasons", "why", "capped"),
    [
        (["0x0000000000000000", "[N/A]"], "", 0),
        (["0x0000000000000001"], "", 0),  # idle
        (["0x0000000000000004", "0x0000000000000000"], "", 50),
        (["0x0000000000000048", "0x0000000000000000"], "1 of 2 samples: by its hardware, for its heat", 0),
        (["0x0000000000000088"], "1 of 1 samples: by its hardware, by a power brake", 0),
        (["0x0000000000000024"] * 2, "2 of 2 samples: by software, for its heat", 100),
    ],
)
def test_samples_say_why_clocks_are_slowed_down(field, reasons, why, capped):
    rows = "".join(f"0, NVIDIA T0, {each}\n" for each in reasons)
    expected = [f"GPU 0 was slowed down in {why}"] if why else []
    assert slowdowns(f"index, name, {field}\n{rows}") == ({"gpu_power_capped_percent": capped}, expected)


@pytest.mark.parametrize("printed", ["", "index, name\n0, NVIDIA T0\n", f"index, {FIELDS[0]}\n0, [N/A]\n0\n"])
def test_samples_without_reasons_give_no_fact_of_clocks(printed):
    assert slowdowns(printed) == ({}, [])


def test_the_machine_is_sampled_as_well_as_its_gpus(write_recipe, tmp_path, monkeypatch, only_run):
    monkeypatch.setenv("PATH", nvidia_smi(tmp_path / "tools", T0))
    recipe = write_recipe(f"{RECORD} record 1; {sampled()}; {sampled(name='telemetry-host.csv')}", device="gpu")
    assert main(["run", str(recipe), "--if-busy", "run", "--raw-logs", str(tmp_path / "raw")]) == 0
    folder, run = only_run()
    assert "telemetry-host.csv" in run["files"]
    file = folder / "telemetry-host.csv"
    assert claimant(file) == "host_csv"
    samples = read_telemetry(file, telemetry_by_id("host_csv"))
    assert samples.faults == ()
    assert {"cpu", "load", "host_memory_used", "disk_read", "disk_written"} <= {*samples.values}


def test_disks_are_summed_without_what_lies_on_top_of_them(write_recipe, tmp_path):
    block, log = tmp_path / "sys/block", tmp_path / "job/node0/telemetry.csv"
    for name in ("sda", "sdb", "dm-0"):
        (block / name).mkdir(parents=True)
        (block / name / "stat").write_text("1 0 0 0 1 0 0 0 0 0 0\n")
    for name in ("sda", "sdb"):
        (block / name / "device").mkdir()
    # 64 and 32 MiB in the time between two rows.
    change = "".join(f"echo '9 0 65536 0 9 0 32768 0 0 0 0' >{block}/{name}/stat; " for name in ("sda", "sdb", "dm-0"))
    program = f"until [ $(wc -l <{log}) -ge 2 ]; do sleep 0.02; done; {change} sleep 1.5"
    node = prepared(write_recipe(program), tmp_path / "job", change=kernel(sys=tmp_path / "sys"))
    assert node.run() == 0
    rows = [line.split(",")[5:] for line in log.read_text().splitlines()[1:]]
    found = max((float(read), float(written)) for read, written in rows)
    assert 20 < found[0] <= 80
    assert found[0] == pytest.approx(2 * found[1], abs=0.2)
