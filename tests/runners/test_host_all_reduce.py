"""The all-reduce by which nodes meet before a run, with a stand-in for torch and, where torch is, with Gloo."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from perfledger.runners.agent import all_reduce
from perfledger.runners.agent import tools as of_agent
from perfledger.runners.cli import main
from perfledger.runners.command import build_run
from perfledger.runners.recipe import load, select_cases
from perfledger.runners.transport import Meeting, Reply, Ssh
from tests.runners.node import kernel, nvidia_smi, prepared, tool

pytestmark = pytest.mark.usefixtures("bash")

#: A torch whose ranks meet at files, and whose NCCL reports what a file says.
TORCH = {
    "torch/__init__.py": """
class Tensor:
    def __init__(self, value): self.value = value
    def __getitem__(self, at): return self.value
    def zero_(self): self.value = 0
def ones(count, device): return Tensor(1.0)
def device(*words): return words
""",
    "torch/cuda.py": """
import os
def is_available(): return "NO_CUDA" not in os.environ
def set_device(device): pass
def synchronize(): pass
""",
    "torch/distributed.py": """
import os, pathlib, shutil, time
place, ranks = pathlib.Path(os.environ["MEETING"]), 0
def init_process_group(backend, rank, world_size, timeout):
    global ranks
    ranks = world_size
    assert backend == "nccl"
    (place / str(rank)).write_text(os.environ["MASTER_ADDR"] + ":" + os.environ["MASTER_PORT"])
    end = time.time() + 20
    while len(list(place.iterdir())) < ranks:
        assert time.time() < end, "the others did not come"
        time.sleep(0.02)
    if "NCCL_DEBUG_FILE" in os.environ and "REPORT" in os.environ:
        shutil.copy(os.environ["REPORT"], os.environ["NCCL_DEBUG_FILE"].replace("%p", str(os.getpid())))
def all_reduce(tensor): tensor.value *= ranks
def destroy_process_group(): pass
""",
}
GPU = {
    "name": "NVIDIA T0",
    "memory.total": "16384",
    "driver_version": "550.1",
    "memory.used": "0",
    "utilization.gpu": "0",
}
SOCKETS = "h:1:1 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/Socket/0\n"
RDMA = "h:1:1 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0/GDRDMA\n"
LAUNCHED = f'[launcher]\nname = "torchrun"\n[setup]\npython = "{sys.executable}"\n'


@pytest.fixture
def tools(tmp_path):
    """Write the stand-ins, and return the variables under which they are found."""
    for name, text in TORCH.items():
        (tmp_path / "python" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "python" / name).write_text(text)
    (tmp_path / "python/torch/__init__.py").write_text(TORCH["torch/__init__.py"] + "from . import cuda, distributed\n")
    (tmp_path / "meeting").mkdir()
    (tmp_path / "report").write_text(RDMA)
    tool(tmp_path / "tools", "torchrun", "true")
    path = nvidia_smi(tmp_path / "tools", *({**GPU, "index": str(at)} for at in range(2)))
    return {
        "PATH": path, "PYTHONPATH": str(tmp_path / "python"), "MEETING": str(tmp_path / "meeting"),
        "REPORT": str(tmp_path / "report"),
    }  # fmt: skip


def node(write_recipe, tmp_path, tools, rank=0, shape="2n2d", **more):
    recipe = write_recipe(device="gpu", shape=shape, more=LAUNCHED)
    hosts = ["127.0.0.1"] * int(shape[0])
    return prepared(recipe, tmp_path / f"job{rank}", rank=rank, hosts=hosts, port=29500, **tools, **more)


def test_all_ranks_of_all_nodes_meet_and_the_run_states_what_came_of_it(write_recipe, tmp_path, tools):
    found = [node(write_recipe, tmp_path, tools, rank) for rank in range(2)]
    with ThreadPoolExecutor(2) as both:
        replies = list(both.map(lambda each: each.check("all_reduce"), found))
    for reply in replies:
        assert reply.warnings == reply.disturbances == ()
        assert reply.notes[0].startswith("all-reduce over 4 ranks: ")
        assert reply.notes[0].endswith(" GB/s bus bandwidth, by NET/IB (GDRDMA)")
    # At the address of the run, and at a port of its own.
    assert {each.read_text() for each in (tmp_path / "meeting").iterdir()} == {"127.0.0.1:19500"}
    first = found[0]
    assert not [*(first.job / "ranks").iterdir()]
    assert first.run() == 0
    facts = first.environment()["facts"]
    assert facts["allreduce_gb_s"] > 0
    assert facts["allreduce_transport"] == "NET/IB (GDRDMA)"


def test_infiniband_that_is_not_used_is_said_before_the_run(write_recipe, tmp_path, tools):
    port = tmp_path / "sys/class/infiniband/mlx5_0/ports/1"
    port.mkdir(parents=True)
    for name, each in (("state", "4: ACTIVE"), ("rate", "400 Gb/sec (4X NDR)"), ("link_layer", "InfiniBand")):
        (port / name).write_text(f"{each}\n")
    (tmp_path / "report").write_text(SOCKETS)
    change = kernel(sys=tmp_path / "sys")
    both = [node(write_recipe, tmp_path, tools, rank, change=change) for rank in range(2)]
    with ThreadPoolExecutor(2) as pool:
        (first, _) = pool.map(lambda each: each.check("all_reduce"), both)
    assert first.warnings[0].startswith(
        "NCCL connected the nodes by sockets (NET/Socket), although this host has 1 active"
    )


def test_ranks_that_do_not_meet_are_a_warning(write_recipe, tmp_path, tools):
    (tmp_path / "python/torch/distributed.py").write_text(
        "def init_process_group(*_, **__): raise RuntimeError('no route to host')"
    )
    (warning,) = node(write_recipe, tmp_path, tools).check("all_reduce").warnings
    said = "an all-reduce over the ranks of this case failed (exit status 1): RuntimeError: no route to host"
    assert warning == said


def test_a_wrong_sum_is_a_warning(write_recipe, tmp_path, tools):
    path = tmp_path / "python/torch/distributed.py"
    path.write_text(path.read_text().replace("tensor.value *= ranks", "tensor.value *= ranks - 1"))
    (warning,) = node(write_recipe, tmp_path, tools, shape="1n2d").check("all_reduce").warnings
    assert warning.endswith("AssertionError: the sum of 2 ones is 1.0")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"PYTHONPATH": ""}, "no all-reduce was tried: the recipe's Python has no torch"),
        ({"NO_CUDA": "1"}, "no all-reduce was tried: the torch of the recipe's Python has no CUDA"),
    ],
)
def test_without_torch_or_cuda_nothing_is_tried(write_recipe, tmp_path, tools, change, said):
    if change == {"PYTHONPATH": ""} and importlib.util.find_spec("torch"):
        pytest.skip("there is torch here")
    reply = node(write_recipe, tmp_path, {**tools, **change}).check("all_reduce")
    assert (reply.notes, reply.warnings) == ((said,), ())


@pytest.mark.parametrize(("shape", "tried"), [("1n2d", True), ("1n1d", False)])
def test_check_tries_it_and_says_so(write_recipe, tmp_path, tools, monkeypatch, capfd, shape, tried):
    for name, each in tools.items():
        monkeypatch.setenv(name, each)
    assert main(["check", str(write_recipe(device="gpu", shape=shape, more=LAUNCHED))]) == 0
    assert ("all-reduce over 2 ranks: " in capfd.readouterr().out) == tried


@pytest.mark.parametrize(
    ("shape", "device", "asked"), [("2n1d", "gpu", True), ("1n2d", "gpu", False), ("2n1d", "cpu", False)]
)
def test_nodes_meet_before_a_run_of_several_on_gpus(write_recipe, tmp_path, monkeypatch, shape, device, asked):
    recipe = load(write_recipe(device=device, shape=shape, more=LAUNCHED))
    run = build_run(recipe, select_cases(recipe, {})[0], tmp_path)
    told = []

    def tell(_self, _job, action, ranks, _kind, **_values):
        told.append(action)
        return {rank: Reply(warnings=("slow",) if action == "all_reduce" else ()) for rank in ranks}

    monkeypatch.setattr(Ssh, "tell", tell)
    monkeypatch.setattr(Ssh, "meeting", lambda *_: Meeting(["h1", "h2"], "h1", 29500))
    target = Ssh(("h1", "h2")[: int(shape[0])])
    found = target.start(target.prepare(run), run.spec)
    assert told == ["check", "all_reduce", "begin"] if asked else ["check", "begin"]
    assert found.warnings == (("node 0: slow", "node 1: slow") if asked else ())


def test_a_node_of_slurm_adds_what_it_found_to_its_check(write_recipe, tmp_path, tools):
    (tmp_path / "python/torch/distributed.py").write_text("raise RuntimeError('no way')")
    there = node(write_recipe, tmp_path, tools, shape="1n2d")
    (there.job / "check.json").write_text('{"warnings": ["it is warm"], "disturbances": []}')
    kept = ("spec", "identity", "master_port")
    (there.job.parent / "batch.json").write_text(json.dumps({key: there.request[key] for key in kept}))
    named = {"PERFLEDGER_HOSTS": "h1", "SLURMD_NODENAME": "h1", "PERFLEDGER_MASTER_ADDRESS": "127.0.0.1"}
    argv = [sys.executable, "-I", str(there.agent), "node", str(there.job.parent), "all_reduce"]
    subprocess.run(argv, env={**os.environ, **tools, **named}, check=True, timeout=60)
    first, second = json.loads((there.job / "check.json").read_text())["warnings"]
    assert first == "it is warm"
    assert second.endswith("RuntimeError: no way")


def test_gloo_meets(tmp_path):
    """The same program on processors, where this Python has torch, or one that a variable names."""
    python = os.environ.get("TORCH_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import torch"], check=False, capture_output=True).returncode:
        pytest.skip("there is no torch here")

    def meet(rank):
        argv = [python, "-c", all_reduce.ALL_REDUCE, of_agent.MARK, "gloo", "127.0.0.1", "19477", str(rank)]
        argv += ["2", "1", str(1 << 20), "2", "50"]
        return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=100).stdout

    with ThreadPoolExecutor(2) as both:
        for text in both.map(meet, range(2)):
            found = json.loads(text.strip().removeprefix(of_agent.MARK))
            assert found["ranks"] == 2
            assert found["gb_s"] > 0
