"""`check` on a node: what would make a run fail or its figures worthless is said, and nothing is started."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from runners.command.script import Settings
from tests.runners.node import nvidia_smi, prepared, replacing, tool
from tests.runners.test_host_run import checkout, small_disk

pytestmark = pytest.mark.usefixtures("bash")

IDLE = {
    "name": "NVIDIA T0",
    "memory.total": "16000",
    "driver_version": "550.1",
    "utilization.gpu": "0",
    "memory.used": "9",
}
IMAGE = '[container]\nimage = "maker/image:1"\n'


@pytest.fixture
def checked(write_recipe, tmp_path):
    """Checks a recipe of `true` in a quiet machine, and returns exit status and message; nothing may be left behind."""

    def check(more="", shape="1n1d", device="cpu", settings=None, change=lambda text: text, **variables):
        path = write_recipe("true", more=more)
        text = path.read_text().replace('device = "cpu"', f'device = "{device}"')
        path.write_text(text.replace("[matrix]", f'[matrix]\nshape = ["{shape}"]'), encoding="utf-8")
        (tmp_path / "proc").mkdir(exist_ok=True)
        quiet = replacing("proc=/proc ", f"proc={tmp_path}/proc ")
        node = prepared(path, tmp_path / "job", None, settings, lambda text: quiet(change(text)), **variables)
        done = node.call("check")
        assert [each.name for each in node.job.iterdir()] == ["script.sh"]
        assert done.stdout == ""
        return done.returncode, done.stderr

    return check


def test_where_all_is_well_nothing_is_said(checked):
    assert checked(f'[setup]\npython = "{sys.executable}"\npackages = ["pytest"]\n') == (0, "")


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
def test_what_is_missing_is_refused(checked, tmp_path, more, said):
    status, message = checked(more, PATH=without(tmp_path, "mpirun"))
    assert (status, said in message) == (2, True), message
    assert message.count("\n") == 1


def without(tmp_path, *names):
    """A PATH that holds all that is usually there, but for some programs."""
    folder = tmp_path / "lean"
    folder.mkdir()
    for path in [*Path("/bin").iterdir(), *Path("/usr/bin").iterdir()]:
        if path.name not in names and not (folder / path.name).is_symlink():
            (folder / path.name).symlink_to(path)
    return str(folder)


def test_data_that_are_not_there_are_refused(checked, tmp_path):
    assert checked(settings=Settings(data=str(tmp_path))) == (0, "")
    status, message = checked(settings=Settings(data="/no where"))
    assert (status, message) == (2, "the data /no where is not on this host; name its place there with --data\n")


def test_sources_at_another_commit_or_changed_are_warned_about(checked, tmp_path):
    commit = checkout(tmp_path / "work/sources")
    settings = Settings(work=str(tmp_path / "work"))
    source = '[source]\nfolder = "sources"\ncommit = '
    assert checked(f'{source}"{commit[:10]}"\n', settings=settings) == (0, "")
    status, message = checked(f'{source}"{"0" * 40}"\n', settings=settings)
    assert status == 0
    assert f"are at commit {commit[:12]}, not at the recipe's 000000000000" in message
    (tmp_path / "work/sources/sub/file").write_text("changed")
    status, message = checked(f'{source}"{commit}"\n', settings=settings)
    assert (status, message.startswith("warning: ")) == (0, True)
    assert "have been changed since their commit" in message


def test_a_container_tool_that_is_missing_or_does_not_work_is_refused(checked, tmp_path):
    settings = Settings(container="podman")
    status, message = checked(IMAGE, settings=settings, PATH=without(tmp_path, "podman"))
    assert (status, message) == (2, "podman is not on this host; install it, or choose another with --container\n")
    path = tool(tmp_path / "tools", "podman", "echo; echo 'cannot reach $(the) service' >&2; exit 1")
    status, message = checked(IMAGE, settings=settings, PATH=path)
    assert (status, "podman does not work on this host: cannot reach $(the) service;" in message) == (2, True)


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
    status, message = checked(more, settings=Settings(container="docker"), PATH=path)
    if image_is_there:
        assert (status, "lacks packages that this recipe needs: not-there;" in message) == (2, True)
    else:
        assert status == 0
        assert message == "warning: the image maker/image:1 is not on this host yet; the run begins by pulling it\n"


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
        ("1n2d", [{}, {"utilization.gpu": "90"}], "GPU 1 is busy"),
        ("1n1d", [], "this case needs 1 GPUs per node, and this host shows 0"),
    ],
)  # fmt: skip
def test_gpus_that_are_too_few_or_busy_are_refused(checked, tmp_path, shape, gpus, said):
    path = nvidia_smi(tmp_path / "tools", *({**IDLE, **gpu, "index": str(at)} for at, gpu in enumerate(gpus)))
    launcher = '[launcher]\nname = "torchrun"\n' if shape != "1n1d" else ""
    tool(tmp_path / "tools", "torchrun", "")
    status, message = checked(launcher, shape, "gpu", PATH=path)
    assert (status, said in message) == (2 if said else 0, True), message


def test_where_no_gpu_is_nobody_is_sent_for_packages_first(checked, tmp_path):
    needs = f'[setup]\npython = "{sys.executable}"\npackages = ["no-such-package"]\n'
    path = nvidia_smi(tmp_path / "tools", {**IDLE, "index": "0"})
    status, message = checked(needs, shape="1n2d", device="gpu", PATH=path)
    assert (status, "this host shows 1" in message) == (2, True)


def test_gpus_that_differ_are_warned_about(checked, tmp_path):
    gpus = ({**IDLE, "index": str(at), "power.limit": limit} for at, limit in enumerate(("700.00", "500.00")))
    status, message = checked(device="gpu", PATH=nvidia_smi(tmp_path / "tools", *gpus))
    assert (status, message) == (
        0,
        "warning: the GPUs of this host differ in power_limit_watts: 500.00 + 700.00\n",
    )


def test_a_busy_gpu_is_used_where_that_is_wanted_with_a_warning(checked, tmp_path):
    path = nvidia_smi(tmp_path / "tools", {**IDLE, "index": "0", "utilization.gpu": "90"})
    status, message = checked(device="gpu", settings=Settings(even_if_busy=True), PATH=path)
    assert (status, message.startswith("warning: GPU 0 is busy")) == (0, True)


def test_of_the_gpus_only_those_that_the_job_was_given_count(checked, tmp_path):
    path = nvidia_smi(tmp_path / "tools", {**IDLE, "index": "0", "utilization.gpu": "90"}, {**IDLE, "index": "1"})
    assert checked(device="gpu", PATH=path, CUDA_VISIBLE_DEVICES="1") == (0, "")


def test_a_gpu_recipe_without_nvidia_smi_is_refused(checked, tmp_path):
    status, message = checked(device="gpu", PATH=without(tmp_path, "nvidia-smi"))
    assert (status, message) == (2, "this recipe needs a GPU, and nvidia-smi is not on this host\n")


@pytest.mark.parametrize(
    ("after", "said"), [("cpu 60 40 20 80 100 0 0 0 0 0\n", "10 % busy"), ("cpu 59 40 20 81 100 0 0 0 0 0\n", "")]
)
def test_processors_that_compute_already_are_warned_about(checked, tmp_path, after, said):
    # Asked twice: 100 jiffies later, of which 10 (or 9) were spent on computing, 10 on waiting.
    (tmp_path / "proc").mkdir()
    os.mkfifo(tmp_path / "proc/stat")

    def tell():
        for line in ("cpu 50 40 20 0 90 0 0 0 0 0\n", after):
            (tmp_path / "proc/stat").write_text(line)
            # Both in one would let the first reader take the second line too.
            time.sleep(0.1)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    status, message = checked()
    teller.join()
    assert status == 0
    assert message == (
        f"warning: the processors of this host are {said} before the run: something else computes here\n"
        if said
        else ""
    )


@pytest.mark.parametrize(("rank", "status"), [("0", 2), ("1", 0)])
def test_a_port_that_is_taken_is_refused_where_the_ranks_would_meet(checked, tmp_path, rank, status):
    path = tool(tmp_path / "tools", "torchrun", "")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        values = {"PERFLEDGER_MASTER_PORT": port, "PERFLEDGER_NODE_RANK": rank, "PATH": path}
        found, message = checked('[launcher]\nname = "torchrun"\n', "2n1d", **values)
        # Without a launcher nobody meets there.
        assert checked(**values) == (0, "")
    assert (found, f"port {port} of 127.0.0.1 is taken" in message) == (status, status == 2)
    assert checked('[launcher]\nname = "torchrun"\n', "2n1d", **values) == (0, "")


def test_a_host_without_space_is_refused(write_recipe, tmp_path):
    with small_disk(tmp_path / "disk"):
        node = prepared(write_recipe("true"), tmp_path / "disk/job")
        done = node.call("check")
        assert done.returncode == 2
        assert "there is no space left on this host: 0 MiB below" in done.stderr


def test_a_folder_that_cannot_be_written_to_is_refused(checked, tmp_path):
    status, message = checked(TMPDIR=str(tmp_path / "no where"))
    assert (status, message) == (2, f"the folder {tmp_path}/no where cannot be written to on this host\n")


def test_a_rank_that_is_no_number_is_refused(checked):
    status, message = checked(PERFLEDGER_NODE_RANK="$(id)")
    assert (status, message) == (2, "PERFLEDGER_NODE_RANK is $(id), but must be the number of this node, from 0\n")
