"""Launchers as tables of words, and the ones that can be had here with real processes."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess

import pytest
from msgspec.structs import replace

from perfledger.runners import wrappers
from perfledger.runners.agent import job
from perfledger.runners.cases import select_cases
from perfledger.runners.command import plan_run
from perfledger.runners.job import NODE_VARIABLES, RunnerError, texts
from perfledger.runners.wrappers import CaseWords
from perfledger.schema.vocabulary import LAUNCHERS
from tests.runners.node import prepared, tool
from tests.runners.written import filled, loaded, written

MATRIX = '[matrix]\nshape = ["1n1d", "1n2d", "2n2d"]\nbatch_size = [8]\nprecision = ["fp32"]\n'
VARIABLES = '[environment_variables]\nNCCL_DEBUG = "INFO"\nPYTHONHASHSEED = "{global_batch_size}"\n'
MEETING = ["--master_addr", "{master_address}", "--master_port", "{master_port}"]
TWO_NODES = ["--nnodes", "2", "--nproc_per_node", "2", "--node_rank", "{node_rank}", *MEETING]


def words(folder, name, nodes, devices, trainer=("python", "-u", "t.py", "--b", "{batch_size}"), more=""):
    table = f'[launcher]\nname = "{name}"\n{more}\n{VARIABLES}'
    recipe = loaded(folder, list(trainer), MATRIX, table)
    (case,) = select_cases(recipe, {"nodes": str(nodes), "devices": str(devices)})
    return texts(CaseWords(recipe, case).launch())


def test_run_json_names_the_launcher_that_was_used(tmp_path):
    recipe = loaded(tmp_path, ["python", "t.py"], MATRIX, '[launcher]\nname = "torchrun"\n')
    cases = select_cases(recipe, {})
    runs = [plan_run(recipe, case, tmp_path) for case in cases]
    assert [run.record.recipe.launcher for run in runs] == ["plain", "torchrun", "torchrun"]
    always = replace(recipe, launcher=replace(recipe.launcher, always=True))
    assert plan_run(always, cases[0], tmp_path).record.recipe.launcher == "torchrun"


@pytest.mark.parametrize(
    ("name", "nodes", "devices", "expected"),
    [
        ("plain", 2, 4, ["python", "-u", "t.py", "--b", "8"]),
        (
            "torchrun", 2, 4,
            ["torchrun", *TWO_NODES, "--log_dir", "{ranks}", "--redirects", "1:3", "--no_python",
             "python", "-u", "t.py", "--b", "8"],
        ),
        (
            "torch.distributed.launch", 2, 4,
            ["python", "-m", "torch.distributed.launch", *TWO_NODES, "t.py", "--b", "8"],
        ),
        ("oneflow", 2, 4, ["python", "-m", "oneflow.distributed.launch", *TWO_NODES, "t.py", "--b", "8"]),
        (
            "paddle", 1, 2,
            ["python", "-m", "paddle.distributed.launch", "--gpus", "{gpu_ids}", "--log_dir", "{ranks}/paddle",
             "t.py", "--b", "8"],
        ),
        (
            "paddle", 2, 4,
            ["env", "POD_IP={address}", "python", "-m", "paddle.distributed.launch", "--ips", "{addresses}",
             "--gpus", "{gpu_ids}", "--log_dir", "{ranks}/paddle", "t.py", "--b", "8"],
        ),
        (
            "mpirun", 2, 4,
            ["mpirun", "--allow-run-as-root", "--tag-output", "-np", "4", "-H", "{host_slots}", "-x", "NCCL_DEBUG",
             "-x", "PYTHONHASHSEED", "python", "-u", "t.py", "--b", "8"],
        ),
        ("horovodrun", 2, 4, ["horovodrun", "-np", "4", "-H", "{host_slots}", "python", "-u", "t.py", "--b", "8"]),
        ("deepspeed", 1, 2, ["deepspeed", "--include", "localhost:{gpu_ids}", *MEETING, "t.py", "--b", "8"]),
        (
            "deepspeed", 2, 4,
            ["python", "-m", "torch.distributed.launch", *TWO_NODES, "t.py", "--b", "8"],
        ),
    ],
)  # fmt: skip
def test_the_words_of_every_launcher(tmp_path, name, nodes, devices, expected):
    assert words(tmp_path, name, nodes, devices) == expected


def test_each_launcher_of_the_vocabulary_has_a_table_of_words():
    assert set(wrappers.LAUNCHERS) == set(LAUNCHERS)


@pytest.mark.parametrize("wrapper", [*wrappers.LAUNCHERS.values(), *wrappers.CONTAINERS.values()])
def test_a_choice_states_words_for_the_values_of_its_key_alone(wrapper):
    for choice in wrapper.slots.values():
        said = {key for key in ("one", "several", "cpu", "gpu") if getattr(choice, key)}
        assert said
        assert said <= ({"cpu", "gpu"} if choice.by == "device" else {"one", "several"})


@pytest.mark.parametrize("name", sorted(LAUNCHERS))
def test_one_device_has_no_launcher_unless_always_is_set(tmp_path, name):
    trainer = ["python", "-u", "t.py", "--b", "8"]
    assert words(tmp_path, name, 1, 1) == trainer
    assert (words(tmp_path, name, 1, 1, more="always = true") == trainer) == (name == "plain")


@pytest.mark.parametrize("name", sorted(set(LAUNCHERS) - {"plain"}))
def test_further_arguments_come_before_the_trainer_and_contain_slots(tmp_path, name):
    built = words(tmp_path, name, 1, 2, more='arguments = ["-p", "1234", "--per={devices_per_node}"]')
    at = built.index("-p")
    assert built[at : at + 3] == ["-p", "1234", "--per=2"]
    assert at < built.index("t.py")


def test_torchrun_redirects_all_ranks_but_the_first_to_files(tmp_path):
    recipe = loaded(tmp_path, ["python", "t.py"], MATRIX, '[launcher]\nname = "torchrun"\nalways = true\n')
    (eight,) = select_cases(recipe, {"devices": "8"})
    built = texts(CaseWords(recipe, eight).launch())
    assert built[built.index("--redirects") + 1] == "1:3,2:3,3:3,4:3,5:3,6:3,7:3"
    (one,) = select_cases(recipe, {"devices": "1"})
    assert "--redirects" not in texts(CaseWords(recipe, one).launch())


@pytest.mark.parametrize(("nodes", "devices"), [(1, 2), (2, 4)])
def test_paddle_without_gpus_counts_its_workers(tmp_path, nodes, devices):
    launcher = '[launcher]\nname = "paddle"\n'
    recipe = replace(loaded(tmp_path, ["python", "t.py"], MATRIX, launcher), device="cpu")
    (case,) = select_cases(recipe, {"nodes": str(nodes), "devices": str(devices)})
    built = texts(CaseWords(recipe, case).launch())
    assert "--gpus" not in built
    assert built[built.index("--nproc_per_node") + 1] == "2"


def test_launchers_use_the_interpreter_of_setup(tmp_path):
    recipe = loaded(
        tmp_path, ["python", "t.py"], MATRIX, '[launcher]\nname = "paddle"\n[setup]\npython = "python3.10"\n'
    )
    (case,) = select_cases(recipe, {"nodes": "1", "devices": "2"})
    assert texts(CaseWords(recipe, case).launch())[0] == "python3.10"


@pytest.mark.parametrize("name", ["torch.distributed.launch", "oneflow", "deepspeed"])
def test_a_module_is_started_with_the_module_option(tmp_path, name):
    assert words(tmp_path, name, 1, 2, ("/opt/bin/python3.8", "-m", "a.b", "--b"))[-3:] == ["--module", "a.b", "--b"]


@pytest.mark.parametrize(
    ("name", "trainer"),
    [
        ("paddle", ["python", "-m", "a.b"]),
        ("paddle", ["./train"]),
        ("oneflow", ["bash", "run.sh"]),
        ("torch.distributed.launch", ["python"]),
        ("deepspeed", ["python", "-c", "print()"]),
        ("deepspeed", ["pythonic", "t.py"]),
    ],
)
def test_a_launcher_of_python_files_refuses_anything_else(tmp_path, name, trainer):
    with pytest.raises(RunnerError, match=f"recipe tiny: `launcher.name` is '{name}', which starts Python files"):
        words(tmp_path, name, 1, 2, trainer)


def test_which_launchers_start_the_ranks_of_other_nodes_by_themselves(tmp_path):
    for name in LAUNCHERS:
        recipe = loaded(tmp_path, ["python", "t.py", "{devices}"], MATRIX, f'[launcher]\nname = "{name}"\n')
        (one, two) = (select_cases(recipe, {"nodes": nodes, "devices": nodes})[0] for nodes in ("1", "2"))
        assert plan_run(recipe, two, tmp_path).spec.every_node == (name not in ("mpirun", "horovodrun"))
        assert plan_run(recipe, one, tmp_path).spec.every_node, "one device is started plain"


def real(built, program, tmp_path, variables=None, **node):
    """Return what two real ranks print, sorted; skip the test where the launcher is not installed."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    values = {**dict.fromkeys(NODE_VARIABLES, ""), "ranks": str(tmp_path / "ranks"), **node}
    result = subprocess.run(
        filled(built, values),
        env={**os.environ, **(variables or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert result.returncode == 0, result.stderr
    return sorted(result.stdout.splitlines())


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@pytest.mark.usefixtures("bash")
def test_mpirun_passes_variables_and_hostile_words_to_two_ranks(tmp_path):
    more = '[launcher]\nname = "mpirun"\narguments = ["--oversubscribe"]\n[environment_variables]\nA = "a b"\n'
    program = 'echo "$OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE" "$A" "$@"'
    recipe = loaded(tmp_path, ["bash", "-c", program, "bash", "$(id) it's"], MATRIX, more)
    (case,) = select_cases(recipe, {"nodes": "1", "devices": "2"})
    printed = real(CaseWords(recipe, case).launch(), "mpirun", tmp_path, {"A": "a b"}, host_slots="localhost:2")
    assert printed == ["[1,0]<stdout>:0/2 a b $(id) it's", "[1,1]<stdout>:1/2 a b $(id) it's"]


@pytest.mark.usefixtures("bash")
def test_torchrun_starts_two_ranks_with_separate_output(tmp_path):
    program = 'echo "$RANK/$WORLD_SIZE" "$@"'
    recipe = loaded(tmp_path, ["bash", "-c", program, "bash", "$(id) it's"], MATRIX, '[launcher]\nname = "torchrun"\n')
    (case,) = select_cases(recipe, {"nodes": "1", "devices": "2"})
    built = CaseWords(recipe, case).launch()
    late = {"node_rank": "0", "master_address": "127.0.0.1", "master_port": free_port()}
    assert real(built, "torchrun", tmp_path, **late) == ["0/2 $(id) it's"]
    (other,) = (tmp_path / "ranks").rglob("stdout.log")
    assert other.read_text(encoding="utf-8") == "1/2 $(id) it's\n"


def on_a_node(tmp_path, command_words):
    """Run words on one node, through the agent that runs there."""
    path = written(tmp_path, command_words)
    path.write_text(path.read_text(encoding="utf-8").replace('"gpu"', '"cpu"'), encoding="utf-8")
    node = prepared(path, tmp_path / "job")
    assert node.run() == 0, node.log()
    return node


@pytest.mark.usefixtures("bash")
def test_a_node_fills_every_node_variable(tmp_path):
    names = sorted(NODE_VARIABLES)
    program = "printf '%s\\n' \"$@\""
    words = ["bash", "-c", program, "bash", *[f"{name}={{{name}}}" for name in names]]
    known = dict(line.split("=", 1) for line in on_a_node(tmp_path, words).log().splitlines())
    assert set(known) == set(names)
    assert [name for name in names if not known[name]] == []


@pytest.mark.usefixtures("bash")
def test_hosts_are_named_by_addresses_that_other_hosts_can_reach(tmp_path, monkeypatch):
    known = {"one": "10.0.0.1", "two": "127.0.1.1"}

    def look_up(host, *_):
        if host not in known:
            raise OSError("no such host")
        return [(0, 0, 0, "", (known[host], 0))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setenv("PATH", tool(tmp_path / "tools", "hostname", 'echo "127.0.0.1 10.0.0.2 fe80::1"'))
    hosts = ("one", "two", "three", "10.0.0.4")
    node = prepared(written(tmp_path, ["echo"]), tmp_path / "jobs", rank=1, hosts=hosts)
    values = job.NodeJob(str(node.job)).values
    assert (values["address"], values["addresses"]) == ("10.0.0.2", "10.0.0.1,10.0.0.2,three,10.0.0.4")


@pytest.mark.usefixtures("bash")
def test_checkpoints_and_paddles_dumps_of_the_environment_are_dropped(tmp_path):
    program = (
        "mkdir $0/paddle; cd $0/paddle; touch workerlog.1 envlog.0 backup_env.0.json default.x.log; touch $0/a.log $1/b"
    )
    node = on_a_node(tmp_path, ["bash", "-c", program, "{ranks}", "{output}"])
    left = sorted(str(path.relative_to(node.job)) for path in node.job.rglob("*log*") if path.name != "train.log")
    assert left == ["ranks/a.log", "ranks/paddle/workerlog.1"]
    assert not (node.job / "output").exists()
