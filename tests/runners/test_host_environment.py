"""environment.json: what a node says of itself, from tools that may be missing, wrong or hostile."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import pytest

from perfledger.runners.agent import programs
from perfledger.runners.settings import Settings
from tests.runners.node import ended, kernel, nvidia_smi, prepared, tool

pytestmark = pytest.mark.usefixtures("bash")

GPU = {
    "name": "NVIDIA T0", "memory.total": "16384", "driver_version": "550.1", "power.limit": "70.00",
    "power.default_limit": "70.00", "persistence_mode": "Enabled", "ecc.mode.current": "[N/A]", "clocks.sm": "300",
    "clocks.mem": "405", "clocks.max.sm": "1590", "clocks.max.mem": "5001", "utilization.gpu": "0", "memory.used": "3",
}  # fmt: skip
IMAGE = '[container]\nimage = "maker/image:1"\n'


def test_the_description_of_the_machine_names_no_host_or_user(write_recipe, tmp_path):
    node = prepared(write_recipe("true"), tmp_path / "job")
    assert node.run() == 0
    found = node.environment()
    assert found["schema"] == "perfledger.environment/1"
    facts = found["facts"]
    assert facts["cores"] == os.sysconf("SC_NPROCESSORS_ONLN")
    assert facts["kernel"] == platform.release()
    assert facts["threads"] == 1
    assert len(facts["load_average_before"]) == 3
    assert 0 < facts["memory_gib"] < 100000
    assert set(found) == {"schema", "facts"}
    text = (node.job / "environment.json").read_text()
    assert str(tmp_path) not in text
    assert f'"{platform.node()}"' not in text


@pytest.mark.parametrize(
    ("name", "said"),
    [("AMD EPYC", "AMD EPYC (family 25, model 17)"), ("Intel(R) Xeon(R) Gold 6271C", "Intel(R) Xeon(R) Gold 6271C")],
)
def test_a_processor_whose_name_has_no_number_is_named_with_its_family(write_recipe, tmp_path, name, said):
    core = f"cpu family\t: 25\nmodel\t\t: 17\nmodel name\t: {name}\nphysical id\t: "
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("".join(f"processor\t: {n}\n{core}{n // 2}\n\n" for n in range(4)))
    node = prepared(write_recipe("true"), tmp_path / "job", change=kernel(tmp_path / "proc"))
    assert node.run() == 0
    assert node.environment()["facts"]["cpu"] == said
    assert node.environment()["facts"]["cpu_sockets"] == 2
    assert node.host()["hardware"].startswith(f"{said}, ")
    assert not {"memory_gib", "load_average_before"} & set(node.environment()["facts"])


def test_all_sockets_of_a_big_machine_are_counted(write_recipe, tmp_path):
    (tmp_path / "proc").mkdir()
    cores = "".join(f"processor\t: {n}\nflags\t: {'x' * 1500}\nphysical id\t: {n // 128}\n\n" for n in range(256))
    (tmp_path / "proc/cpuinfo").write_text(cores)
    node = prepared(write_recipe("true"), tmp_path / "job", change=kernel(tmp_path / "proc"))
    assert node.run() == 0
    assert node.environment()["facts"]["cpu_sockets"] == 2


def test_facts_that_the_kernel_does_not_state_are_left_out(write_recipe, tmp_path):
    path = tool(tmp_path / "tools", "lscpu", "exit 1")
    node = prepared(write_recipe("true"), tmp_path / "job", change=kernel(tmp_path, tmp_path), PATH=path)
    assert node.run() == 0
    assert set(node.environment()["facts"]) == {"cores", "threads", "os", "kernel"}
    assert "telemetry.csv" not in node.host()["files"]


def test_infiniband_numa_nodes_and_governor_are_those_that_the_kernel_shows(write_recipe, tmp_path):
    for device, state, rate in (
        ("mlx5_0", "4: ACTIVE", "200"),
        ("mlx5_1", "4: ACTIVE", "200"),
        ("mlx5_2", "1: DOWN", "10"),
    ):
        port = tmp_path / f"sys/class/infiniband/{device}/ports/1"
        port.mkdir(parents=True)
        for name, value in (("state", state), ("rate", f"{rate} Gb/sec (4X HDR)"), ("link_layer", "InfiniBand")):
            (port / name).write_text(f"{value}\n")
    for number in range(2):
        (tmp_path / f"sys/devices/system/node/node{number}").mkdir(parents=True)
    (tmp_path / "sys/devices/system/cpu/cpu0/cpufreq").mkdir(parents=True)
    (tmp_path / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").write_text("powersave\n")
    node = prepared(write_recipe("true"), tmp_path / "job", change=kernel(sys=tmp_path / "sys"))
    assert node.run() == 0
    found = node.environment()
    assert found["infiniband"] == [f"mlx5_{n}: 200 Gb/sec (4X HDR), InfiniBand" for n in range(2)]
    assert found["facts"]["infiniband"] == "2 x 200 Gb/sec (4X HDR), InfiniBand"
    assert (found["facts"]["numa_nodes"], found["facts"]["cpu_governor"]) == (2, "powersave")


def test_gpus_are_described_as_nvidia_smi_states_them(write_recipe, tmp_path):
    gpus = [{**GPU, "index": "0"}, {**GPU, "index": "1", "persistence_mode": "Disabled", "power.limit": "60.00"}]
    topology = "\t\x1b[4mGPU0\tGPU1\x1b[0m\nGPU0\t X \tNV12\n"
    path = nvidia_smi(tmp_path / "tools", *gpus, topology=topology)
    node = prepared(write_recipe(device="gpu"), tmp_path / "job", PATH=path)
    assert node.run() == 0
    assert node.host()["hardware"] == "NVIDIA T0"
    found = node.environment()
    facts = {key: value for key, value in found["facts"].items() if key.startswith(("gpu", "driver", "cuda"))}
    assert facts == {
        "gpu": "NVIDIA T0", "gpus": 2, "gpu_memory_mib": 16384, "driver": "550.1", "cuda_driver": "12.4",
        "gpu_persistence": "Disabled + Enabled", "gpu_clock_max_sm_mhz": 1590, "gpu_clock_max_memory_mhz": 5001,
    }  # fmt: skip
    assert found["gpus"][0] == {
        "index": 0, "name": "NVIDIA T0", "memory_mib": 16384, "power_limit_watts": 70.0,
        "power_limit_default_watts": 70.0, "persistence": "Enabled", "clock_sm_mhz": 300, "clock_memory_mhz": 405,
        "clock_max_sm_mhz": 1590, "clock_max_memory_mhz": 5001,
    }  # fmt: skip
    assert [gpu["power_limit_watts"] for gpu in found["gpus"]] == [70.0, 60.0]
    assert found["topology"] == "\tGPU0\tGPU1\nGPU0\t X \tNV12"


def test_a_driver_that_does_not_know_a_field_still_says_the_rest(write_recipe, tmp_path):
    path = nvidia_smi(tmp_path / "tools", {**GPU, "index": "0"}, refused=["clocks.applications.gr"])
    node = prepared(write_recipe(device="gpu"), tmp_path / "job", PATH=path)
    assert node.run() == 0
    assert node.environment()["facts"]["driver"] == "550.1"
    assert node.environment()["facts"]["gpu_power_limit_watts"] == 70
    assert "gpu_clock_applications_sm_mhz" not in node.environment()["facts"]
    assert node.environment()["gpus"][0]["clock_max_sm_mhz"] == 1590


def test_a_driver_that_refuses_in_words_of_its_own_still_says_what_any_does(write_recipe, tmp_path):
    answers = 'case "$*" in *persistence*) exit 2 ;; *query-gpu*) echo "0, NVIDIA T0, 16384, 550.1" ;; esac'
    path = tool(tmp_path / "tools", "nvidia-smi", f"{answers}; [ $# -gt 0 ] || echo '| CUDA UMD Version: 13.1 |'")
    node = prepared(write_recipe(device="gpu"), tmp_path / "job", PATH=path)
    assert node.run() == 0
    assert node.environment()["gpus"] == [{"index": 0, "name": "NVIDIA T0", "memory_mib": 16384}]
    assert node.environment()["facts"]["cuda_driver"] == "13.1"


def test_a_gpu_that_mig_divides_is_refused(write_recipe, tmp_path):
    both = [
        {**GPU, "index": str(index), "mig.mode.current": mode} for index, mode in enumerate(("Disabled", "Enabled"))
    ]
    path = nvidia_smi(tmp_path / "tools", *both)
    refused = prepared(write_recipe(device="gpu"), tmp_path / "job", PATH=path).check().refused
    assert refused.startswith("GPU 1 is divided by MIG")
    node = prepared(write_recipe(device="gpu"), tmp_path / "job", PATH=path, CUDA_VISIBLE_DEVICES="0")
    assert node.check().refused == ""


def test_the_command_counts_gpus_in_the_order_of_nvidia_smi(write_recipe, tmp_path):
    program = 'echo "$CUDA_DEVICE_ORDER"'
    assert prepared(write_recipe(program), tmp_path / "cpu").run() == 0
    node = prepared(write_recipe(program, device="gpu"), tmp_path / "gpu", CUDA_DEVICE_ORDER="FASTEST_FIRST")
    assert node.run() == 0
    assert node.log() == "PCI_BUS_ID\n"
    assert (tmp_path / "cpu/node0/train.log").read_text() == "\n"


@pytest.mark.parametrize(
    "printed",
    [
        rb"""'"\\ \t $(touch alive) `touch alive` \001\033[0m \177'""",
        rb"""'\377\376 \303 \355\240\200 caf\303\251'""",
        rb"""'\000\r\n'; head -c 1000000 /dev/urandom; printf 'x'""",
        rb"""'0, NVIDIA "T0" \\u0000, 1e9, 5\n1, , , \n'; yes 'a, b' | head -c 1000000; exit 1; printf ''""",
    ],
)
def test_files_are_json_whatever_the_tools_print(write_recipe, tmp_path, printed):
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("nvidia-smi", "lscpu", "uname", "git", "python"):
        (folder / name).write_bytes(b"#!/bin/bash\nprintf " + printed + b"\n")
        (folder / name).chmod(0o755)
    (tmp_path / "proc").mkdir()
    (tmp_path / "sources").mkdir()
    change = kernel(tmp_path / "proc")
    path = write_recipe(device="gpu", more='[setup]\npackages = ["torch"]\n[source]\nfolder = "sources"\n')
    settings = Settings(work=str(tmp_path))
    node = prepared(path, tmp_path / "job", settings, change, PATH=f"{folder}:{os.environ['PATH']}")
    assert node.run() == 0
    assert node.host()["outcome"] == "completed"
    assert node.environment()["schema"] == "perfledger.environment/1"
    assert "source" not in node.host()
    assert "gpu_memory_mib" not in node.environment()["facts"]
    assert not list(tmp_path.rglob("alive"))


@pytest.mark.parametrize(
    ("printed", "text"),
    [("品 é".encode(), "品 é"), (b"a\xffb\xc3", "a\ufffdb\ufffd"), (b"a\x01b", "a b"), (b"a\0\r\nb\tc", "a\nb\tc")],
)
def test_what_tools_print_becomes_text_without_control_characters(printed, text):
    assert programs.clean(printed) == text


def test_the_python_that_will_train_answers_for_its_packages(write_recipe, tmp_path):
    more = f'[setup]\npython = "{sys.executable}"\npackages = ["pytest", "PyYAML"]\n'
    node = prepared(write_recipe("true", more=more), tmp_path / "job")
    assert node.run() == 0
    facts = node.environment()["facts"]
    assert facts["python"] == platform.python_version()
    assert facts["packages"]["pytest"] == pytest.__version__
    assert set(facts["packages"]) == {"pytest", "PyYAML"}
    installed = node.environment()["packages_installed"]
    assert f"pytest=={pytest.__version__}" in installed
    assert installed == sorted(installed, key=lambda line: line.split("==")[0])
    assert "cuda" not in facts


def test_what_a_framework_was_built_with_comes_from_the_framework(write_recipe, tmp_path):
    write_distribution(tmp_path / "site", "torch", "2.9")
    write_distribution(tmp_path / "site", "nvidia-cudnn-cu12", "9.1.0.70")
    write_distribution(tmp_path / "site", "nvidia-nccl-cu12", "2.27.5")
    torch = tmp_path / "site/torch"
    (torch / "cuda").mkdir(parents=True)
    backends = "class backends:\n  class cudnn:\n    version = staticmethod(lambda: 90100)\n"
    hostile = "print('perfledger {', end='')\n"
    (torch / "__init__.py").write_text(f"class version:\n  cuda = '12.8'\n{backends}{hostile}")
    (torch / "cuda/__init__.py").write_text("")
    (torch / "cuda/nccl.py").write_text("def version(): raise RuntimeError('no NCCL')")
    more = f'[setup]\npython = "{sys.executable}"\npackages = ["torch"]\n'
    path = nvidia_smi(tmp_path / "tools", {**GPU, "index": "0"})
    node = prepared(
        write_recipe(device="gpu", more=more), tmp_path / "job", PATH=path, PYTHONPATH=str(tmp_path / "site")
    )
    assert node.run() == 0
    facts = node.environment()["facts"]
    assert (facts["cuda"], facts["cudnn"], facts["nccl"]) == ("12.8", "9.1.0", "2.27.5")


def write_distribution(folder: Path, name: str, version: str) -> None:
    where = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    where.mkdir(parents=True)
    (where / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


@pytest.mark.parametrize("container", ["docker", "podman"])
def test_inside_a_container_facts_come_from_the_container(write_recipe, tmp_path, container):
    digest = f"sha256:{'0a' * 32}"
    engine = f"""
printf '%s\\n' "$*" >>{tmp_path}/calls
case $1 in
  image) [ "$*" = "image inspect --format {{{{range .RepoDigests}}}}{{{{println .}}}}{{{{end}}}} -- maker/image:1" ] &&
    echo "docker.io/maker/image@{digest}" ;;
  run)
    while [ "$1" != maker/image:1 ]; do
      [ "$1" != -e ] || names+=" $2"
      shift
    done
    shift
    CUDA_VERSION=11.1.1 CUDNN_VERSION=8.0.5 NCCL_VERSION=2.8.3 exec "$@" ;;
esac"""
    tool(tmp_path / "tools", container, engine)
    tool(tmp_path / "tools", "python", f'exec {sys.executable} "$@"')
    path = nvidia_smi(tmp_path / "tools", {**GPU, "index": "0"})
    settings = Settings(container=container)
    node = prepared(write_recipe(device="gpu", more=IMAGE), tmp_path / "job", settings, PATH=path)
    assert node.run() == 0
    found = node.environment()
    assert found["container"] == {"tool": container, "image": "maker/image:1", "digest": digest}
    facts = found["facts"]
    assert facts["container_digest"] == digest
    assert (facts["cuda"], facts["cudnn"], facts["nccl"]) == ("11.1.1", "8.0.5", "2.8.3")
    assert facts["python"] == platform.python_version()
    assert found["packages_installed"]
    calls = (tmp_path / "calls").read_text()
    assert "run --rm --init --name perfledger-job-0 " in calls
    assert calls.splitlines()[-1] == "rm --force perfledger-job-0"


def test_a_container_that_ignores_signals_is_killed_by_its_tool(write_recipe, tmp_path):
    """The tool's client can be killed, and what it started runs on: elsewhere, and as nobody's child."""
    engine = f"""
case $1 in
  run)
    case "$*" in *' installed '*) exit 0 ;; esac
    env -i PATH="$PATH" setsid bash -c 'echo $$ >{tmp_path}/inside; trap "" TERM; while :; do sleep 0.1; done' &
    echo begun
    wait ;;
  rm) kill -KILL "$(cat {tmp_path}/inside)" ;;
esac"""
    path = tool(tmp_path / "tools", "docker", engine)
    recipe = write_recipe("true", timeout=1, more=IMAGE)
    node = prepared(recipe, tmp_path / "job", Settings(container="docker"), PATH=path)
    assert node.run() == 1
    assert node.host()["outcome"] == "timeout"
    assert ended(int((tmp_path / "inside").read_text()))


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give files to others")
def test_what_a_container_wrote_as_another_user_is_taken_over(write_recipe, tmp_path):
    engine = """
case "$*" in *' installed '*) exit 0 ;; *'--entrypoint chown '*) program=chown ;; esac
while [ "$1" != maker/image:1 ] && [ $# -gt 0 ]; do shift; done
shift
exec $program "$@"
"""
    path = tool(tmp_path / "tools", "docker", engine)
    program = 'cd "$1"; mkdir none_x; echo hello >none_x/0.log; chmod 700 none_x; chown -R 4711 none_x'
    node = prepared(
        write_recipe(more=IMAGE, command=["bash", "-c", program, "bash", "{ranks}"]),
        tmp_path / "job",
        Settings(container="docker"),
        PATH=path,
    )
    assert node.run() == 0
    written = [node.job / "ranks/none_x", node.job / "ranks/none_x/0.log"]
    assert [each.stat().st_uid for each in written] == [0, 0]
    assert "ranks/none_x/0.log" in node.host()["files"]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processors")
def test_a_run_on_some_processors_of_a_machine_is_not_one_on_all_of_them(write_recipe, tmp_path):
    every = os.sched_getaffinity(0)
    node = prepared(write_recipe("true"), tmp_path / "job")
    os.sched_setaffinity(0, {min(every)})
    try:
        assert node.run() == 0
    finally:
        os.sched_setaffinity(0, every)
    cores = os.sysconf("SC_NPROCESSORS_ONLN")
    assert node.host()["hardware"].endswith(f"1 of {cores} cores (CPU)")
    assert (node.environment()["facts"]["cores"], node.environment()["facts"]["cores_usable"]) == (cores, 1)
