"""`check` on a node: it names causes of failed runs and of worthless figures, and starts no run."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

import pytest

from perfledger.runners.settings import IfBusy, Settings
from tests.runners.agents import all_of, replacing
from tests.runners.node import kernel, nvidia_smi, polls, prepared, small_disk, tool
from tests.runners.test_host_run import checkout

pytestmark = pytest.mark.usefixtures("bash")

IDLE = {
    "name": "NVIDIA T0",
    "memory.total": "16000",
    "driver_version": "550.1",
    "utilization.gpu": "0",
    "memory.used": "9",
}
#: The usual limit, which tests lift for the load of the machine that tests.
USUAL_LIMIT = replacing("BUSY_PERCENT = 101", "BUSY_PERCENT = 10")
IMAGE = '[container]\nimage = "maker/image:1"\n'


@pytest.fixture
def checked(write_recipe, tmp_path):
    """Check a recipe of `true` on an idle machine; return refusal and warnings. It must leave no file."""

    def check(more="", shape="1n1d", device="cpu", settings=None, **variables):
        path = write_recipe(more=more, device=device, shape=shape)
        (tmp_path / "proc").mkdir(exist_ok=True)

        # The numbers of the kernel are made up here, so that the usual limit applies.
        quiet = all_of(kernel(tmp_path / "proc"), USUAL_LIMIT)
        node = prepared(path, tmp_path / "job", settings, quiet, hosts=["127.0.0.1"] * 2, **variables)
        reply = node.check()
        left = {each.name for each in node.job.iterdir()} - {"ranks", "output"}
        assert left - {"gpus", "checked.json"} == {"job.json"}
        # A disturbance is a type of its own, whatever its words.
        return reply.refused, [*reply.warnings, *map(disturbance, reply.disturbances)]

    return check


def disturbance(text):
    return f"disturbed: {text}"


def test_a_good_host_has_no_refusal_and_no_warning(checked):
    assert checked(f'[setup]\npython = "{sys.executable}"\npackages = ["pytest"]\n') == ("", [])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[launcher]\nname = "mpirun"\nalways = true\n', "the program mpirun is not on this host; install it"),
        ('[source]\nfolder = "no/where"\n', "no/where is not on this host; `python -m runners setup` fetches"),
        ('[setup]\npython = "no-python"\npackages = ["any"]\n', "no-python"),
        (
            f'[setup]\npython = "{sys.executable}"\npackages = ["pytest", "torch-x", "$(id)"]\n',
            "lacks packages that this recipe needs: torch-x, $(id); ",
        ),
    ],
)  # fmt: skip
def test_missing_programs_are_refused(checked, tmp_path, more, said):
    refusal, warnings = checked(more, PATH=without(tmp_path, "mpirun"))
    assert said in refusal
    assert ("\n" in refusal, warnings) == (False, [])


def without(tmp_path, *names):
    """Return a PATH with all the usual programs except some."""
    folder = tmp_path / "lean"
    folder.mkdir()
    for path in [*Path("/bin").iterdir(), *Path("/usr/bin").iterdir()]:
        if path.name not in names and not (folder / path.name).is_symlink():
            (folder / path.name).symlink_to(path)
    return str(folder)


def test_a_program_is_looked_for_on_the_path_of_the_command(write_recipe, tmp_path):
    tool(tmp_path / "venv", "torchrun", "")
    more = f'PATH = "{tmp_path}/venv:/bin"\n[launcher]\nname = "torchrun"\nalways = true\n'
    node = prepared(write_recipe("true", more=more), tmp_path / "job", PATH=without(tmp_path, "torchrun"))
    assert node.check().refused == ""


def test_data_that_are_not_there_are_refused(checked, tmp_path):
    assert checked(settings=Settings(data=str(tmp_path))) == ("", [])
    refusal, _ = checked(settings=Settings(data="/no where"))
    assert refusal == "the data /no where is not on this host; name its place there with --data"


def test_sources_at_another_commit_or_changed_are_warned_about(checked, tmp_path):
    commit = checkout(tmp_path / "work/sources")
    settings = Settings(work=str(tmp_path / "work"))
    source = '[source]\nfolder = "sources"\ncommit = '
    assert checked(f'{source}"{commit[:10]}"\n', settings=settings) == ("", [])
    refusal, (warning,) = checked(f'{source}"{"0" * 40}"\n', settings=settings)
    assert refusal == ""
    assert f"are at commit {commit[:12]}, not at the recipe's 000000000000" in warning
    (tmp_path / "work/sources/sub/file").write_text("changed")
    refusal, (warning,) = checked(f'{source}"{commit}"\n', settings=settings)
    assert refusal == ""
    assert "have been changed since their commit" in warning


def test_a_container_tool_that_is_missing_or_does_not_work_is_refused(checked, tmp_path):
    settings = Settings(container="podman")
    refusal, _ = checked(IMAGE, settings=settings, PATH=without(tmp_path, "podman"))
    assert refusal == "podman is not on this host; install it, or choose another with --container"
    path = tool(tmp_path / "tools", "podman", "echo; echo 'cannot reach $(the) service' >&2; exit 1")
    refusal, _ = checked(IMAGE, settings=settings, PATH=path)
    assert "podman does not work on this host: cannot reach $(the) service;" in refusal


@pytest.mark.parametrize("image_is_there", [True, False])
def test_packages_are_asked_for_inside_an_image_that_is_there(checked, tmp_path, image_is_there):
    engine = f"""
case $1 in
  info) ;;
  image) {"echo sha" if image_is_there else "exit 1"} ;;
  run) while [ "$1" != maker/image:1 ]; do shift; done; shift; exec "$@" ;;
esac"""
    path = tool(tmp_path / "tools", "docker", engine)
    more = f'{IMAGE}[setup]\npython = "{sys.executable}"\npackages = ["not-there"]\n'
    refusal, warnings = checked(more, settings=Settings(container="docker"), PATH=path)
    if image_is_there:
        assert "lacks packages that this recipe needs: not-there;" in refusal
    else:
        assert refusal == ""
        assert warnings == ["the image maker/image:1 is not on this host yet; the run begins by pulling it"]


@pytest.mark.parametrize(
    ("shape", "gpus", "said"),
    [
        ("1n1d", [{}], ""),
        ("1n2d", [{}], "this case needs 2 GPUs per node, and this host shows 1"),
        ("1n1d", [{"processes": ["4711", "4712"]}], "GPU 0 is busy: processes on it 2, utilisation 0 %, memory 9 of"),
        ("1n1d", [{"utilization.gpu": "90"}], "GPU 0 is busy: processes on it 0, utilisation 90 %"),
        ("1n1d", [{"memory.used": "4000"}], "GPU 0 is busy: processes on it 0, utilisation 0 %, memory 4000 of 16000"),
        ("1n1d", [{"utilization.gpu": "[N/A]", "memory.used": "[N/A]"}], ""),
        ("1n1d", [{}, {"utilization.gpu": "90"}], ""),
        ("1n1d", [{"utilization.gpu": "90"}, {}], ""),
        ("1n2d", [{"utilization.gpu": "90"}, {}, {}], ""),
        ("1n2d", [{}, {"utilization.gpu": "90"}], "GPU 1 is busy"),
        ("1n1d", [], "this case needs 1 GPUs per node, and this host shows 0"),
    ],
)  # fmt: skip
def test_gpus_that_are_too_few_or_busy_are_refused(checked, tmp_path, shape, gpus, said):
    path = nvidia_smi(tmp_path / "tools", *({**IDLE, **gpu, "index": str(at)} for at, gpu in enumerate(gpus)))
    launcher = '[launcher]\nname = "torchrun"\n' if shape != "1n1d" else ""
    tool(tmp_path / "tools", "torchrun", "")
    refusal, _ = checked(launcher, shape, "gpu", PATH=path)
    assert refusal.startswith(said) if said else not refusal


@pytest.mark.parametrize(("launcher", "starts_others"), [("torchrun", False), ("horovodrun", True)])
def test_a_launcher_that_starts_the_other_nodes_gets_the_first_gpus(checked, tmp_path, launcher, starts_others):
    gpus = [{**IDLE, "index": str(at), "utilization.gpu": "90" if at == 0 else "0"} for at in range(4)]
    path = nvidia_smi(tmp_path / "tools", *gpus)
    tool(tmp_path / "tools", launcher, "")
    more = f'[launcher]\nname = "{launcher}"\n'
    refusal, _ = checked(more, "2n2d", "gpu", PATH=path)
    assert refusal.startswith("GPU 0 is busy") == starts_others
    refusal, _ = checked(more, "2n2d", "gpu", PATH=path, CUDA_VISIBLE_DEVICES="2,3")
    assert refusal.startswith("the launcher of this recipe uses GPU 0 to 1, whatever") == starts_others


def test_missing_gpus_are_refused_before_missing_packages(checked, tmp_path):
    needs = f'[setup]\npython = "{sys.executable}"\npackages = ["no-such-package"]\n'
    path = nvidia_smi(tmp_path / "tools", {**IDLE, "index": "0"})
    refusal, _ = checked(needs, shape="1n2d", device="gpu", PATH=path)
    assert "this host shows 1" in refusal


def test_gpus_that_differ_are_warned_about(checked, tmp_path):
    gpus = ({**IDLE, "index": str(at), "power.limit": limit} for at, limit in enumerate(("700.00", "500.00")))
    tool(tmp_path / "tools", "torchrun", "")
    path = nvidia_smi(tmp_path / "tools", *gpus)
    found = checked('[launcher]\nname = "torchrun"\n', "1n2d", device="gpu", PATH=path)
    assert found == ("", ["the GPUs of this host differ in power_limit_watts: 500.00 + 700.00"])


def test_a_busy_gpu_can_be_allowed_with_a_warning(checked, tmp_path):
    path = nvidia_smi(tmp_path / "tools", {**IDLE, "index": "0", "utilization.gpu": "90"})
    refusal, (warning,) = checked(device="gpu", settings=Settings(if_busy="run"), PATH=path)
    assert (refusal, warning.startswith("disturbed: GPU 0 is busy")) == ("", True)


def test_only_the_gpus_given_to_the_job_count(checked, tmp_path):
    path = nvidia_smi(tmp_path / "tools", {**IDLE, "index": "0", "utilization.gpu": "90"}, {**IDLE, "index": "1"})
    assert checked(device="gpu", PATH=path, CUDA_VISIBLE_DEVICES="1") == ("", [])


def test_a_gpu_recipe_without_nvidia_smi_is_refused(checked, tmp_path):
    refusal, _ = checked(device="gpu", PATH=without(tmp_path, "nvidia-smi"))
    assert refusal.startswith("this recipe needs a GPU, and this host has none of nvidia-smi, amd-smi, npu-smi")


@contextmanager
def load(proc, busy):
    """Have the kernel say that processors were busy for this many of 100 jiffies between two looks, and waited for 10.

    A reader of a pipe gets one line each time.
    """
    os.mkfifo(proc / "stat")

    def write():
        for line in ("cpu 50 40 20 0 90 0 0 0 0 0\n", f"cpu {50 + busy} 40 20 {90 - busy} 100 0 0 0 0 0\n"):
            (proc / "stat").write_text(line)
            # Both in one would let the first reader take the second line too.
            time.sleep(0.1)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    yield f"the processors of this host are {busy} % busy before the run: something else computes here"
    writer.join()


@pytest.mark.parametrize("if_busy", get_args(IfBusy))
@pytest.mark.parametrize("busy", [9, 10])
def test_busy_processors_disturb_a_run_and_refuse_none(checked, tmp_path, busy, if_busy):
    (tmp_path / "proc").mkdir()
    with load(tmp_path / "proc", busy) as sentence:
        assert checked(settings=Settings(if_busy=if_busy)) == ("", [disturbance(sentence)] if busy >= 10 else [])


def test_a_host_without_space_is_refused(write_recipe, tmp_path):
    with small_disk(tmp_path / "disk", "320k"):
        node = prepared(write_recipe("true"), tmp_path / "disk/job")
        assert "there is no space left on this host: 0 MiB below" in node.check().refused


def test_a_folder_that_cannot_be_written_to_is_refused(checked, tmp_path):
    refusal, _ = checked(TMPDIR=str(tmp_path / "no where"))
    assert refusal == f"the folder {tmp_path}/no where cannot be written to on this host"


def test_a_host_where_another_run_measures_is_refused_unless_it_may_be_busy(checked, write_recipe, tmp_path):
    other = prepared(write_recipe("echo begun; sleep 300"), tmp_path / "other")
    with other.running():
        refused, _ = checked()
        assert refused.startswith("this host is busy: another run measures here, other since 2")
        assert "--if-busy wait" in refused
        assert checked(settings=Settings(if_busy="run")) == ("", [])
        started = prepared(write_recipe("true"), tmp_path / "third").call()
        assert (started.returncode, "another run measures here" in started.stderr) == (2, True)
    for _ in polls():
        if checked() == ("", []):
            break
    else:
        raise AssertionError("the lock outlives the run")


def test_two_nodes_of_one_job_may_share_a_machine(checked, write_recipe, tmp_path):
    hosts = ["127.0.0.1"] * 2
    with prepared(write_recipe("echo begun; sleep 300", shape="2n1d"), tmp_path / "job", hosts=hosts).running():
        node = prepared(write_recipe(shape="2n1d"), tmp_path / "job", rank=1, hosts=hosts)
        assert node.check().refused == ""


def test_a_node_with_busy_processors_is_not_idle(write_recipe, tmp_path):
    (tmp_path / "proc").mkdir()
    node = prepared(write_recipe(), tmp_path / "job", change=all_of(kernel(tmp_path / "proc"), USUAL_LIMIT))
    with load(tmp_path / "proc", 42) as sentence:
        assert node.check("idle").warnings == (sentence,)


def test_a_node_with_a_busy_gpu_is_not_idle(write_recipe, tmp_path):
    tools = {"PATH": nvidia_smi(tmp_path / "tools", {**IDLE, "index": "0", "utilization.gpu": "97"})}
    found = prepared(write_recipe(device="gpu"), tmp_path / "job", **tools).check("idle")
    busy = "GPU 0 is busy: processes on it 0, utilisation 97 %, memory 9 of 16000 MiB"
    assert (found.refused, found.warnings) == ("", (busy,))
