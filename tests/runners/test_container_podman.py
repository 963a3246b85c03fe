"""Runs in real containers: Podman, with an image made of a few programs of this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from perfledger.runners.settings import Settings
from perfledger.runners.transport import Local
from tests.runners.jobs import planned
from tests.runners.node import polls

pytestmark = pytest.mark.usefixtures("bash")
PROGRAMS = ("bash", "cat", "env", "ls", "sleep", "uname")
IMAGE = "localhost/perfledger-few-programs:1"
ENGINE = """
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4000:4000"]
"""


@pytest.fixture(scope="module")
def image():
    """Podman with a store of its own that contains the image; skip the tests if no container can be run."""
    if os.getuid() != 0 or shutil.which("podman") is None or shutil.which("runc") is None:
        pytest.skip("containers are tried with root, podman and runc")
    # Not below pytest's folder: the path of a socket ends at 104 bytes, and Podman waits 20 s for one that is longer.
    folder = Path(tempfile.mkdtemp(prefix="podman."))
    (folder / "containers.conf").write_text(ENGINE, encoding="utf-8")
    store = f'[storage]\ndriver = "vfs"\ngraphroot = "{folder}/graph"\nrunroot = "{folder}/run"\n'
    (folder / "storage.conf").write_text(store, encoding="utf-8")
    variables = {
        "CONTAINERS_CONF": str(folder / "containers.conf"),
        "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
    }
    for name in PROGRAMS:
        copy_with_libraries(Path(shutil.which(name) or ""), folder / "root")
    subprocess.run(["tar", "-cf", folder / "root.tar", "-C", folder / "root", "."], check=True)
    environment = {**os.environ, **variables}
    for argv in (["import", folder / "root.tar", IMAGE], ["run", "--rm", "--network=host", IMAGE, "bash", "-c", ":"]):
        done = subprocess.run(["podman", *argv], env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"podman runs no container here: {done.stderr.strip()[-200:]}")
    yield variables
    subprocess.run(["podman", "rm", "--all", "--force"], env=environment, check=True, capture_output=True)
    # Layers contain files that nobody may write.
    subprocess.run(["podman", "rmi", "--all", "--force"], env=environment, check=True, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)


def copy_with_libraries(program: Path, root: Path) -> None:
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.split()
    for path in (Path("/bin") / program.name, *(Path(word) for word in listed if word.startswith("/"))):
        target = root / str(path).lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(program if path.parent == Path("/bin") else path, target)


@pytest.fixture
def in_container(image, write_recipe, tmp_path, monkeypatch):
    for name, value in image.items():
        monkeypatch.setenv(name, value)

    def prepare(program, named=IMAGE):
        path = write_recipe(program, more=f'\n[container]\nimage = "{named}"\n')
        return planned(path, Local(), tmp_path, settings=Settings(container="podman"))

    return prepare


def containers():
    listed = subprocess.run(["podman", "ps", "--all", "--quiet"], capture_output=True, text=True, check=True)
    return listed.stdout.split()


def test_the_command_runs_in_the_container_and_its_log_and_image_are_recorded(in_container):
    started = in_container('echo "with $OMP_NUM_THREADS in $PWD, $1"; [ -e /etc/os-release ] || echo inside')
    started.start()
    assert started.over().kind == "ended"
    started.fetch()
    log = (started.node(0) / "train.log").read_text()
    assert log.startswith("with 1 in /")
    assert log.endswith(", plain\ninside\n")
    assert json.loads((started.node(0) / "host.json").read_text())["outcome"] == "completed"
    container = json.loads((started.node(0) / "environment.json").read_text())["container"]
    assert (container["tool"], container["image"]) == ("podman", IMAGE)
    assert containers() == []


def test_a_container_ends_with_the_job_that_is_stopped(in_container):
    started = in_container("echo begun; while :; do sleep 0.1; done")
    started.start()
    started.printing()
    assert len(containers()) == 1
    started.stop()
    assert started.over().kind == "ended"
    assert json.loads((started.node(0) / "host.json").read_text())["outcome"] == "stopped"
    assert containers() == []


def test_a_container_does_not_outlive_an_agent_that_is_killed(in_container):
    started = in_container("echo begun; sleep 300")
    started.start()
    started.printing()
    os.kill(int((started.node(0) / "pid").read_text()), signal.SIGKILL)
    assert started.over().kind == "lost"
    started.stop()
    assert any(containers() == [] for _ in polls())


def test_a_missing_image_is_not_a_completed_run(in_container):
    started = in_container("true", named="no-such-image:1")
    started.start()
    assert started.over().failed
    assert json.loads((started.node(0) / "host.json").read_text())["outcome"] == "failed"
    assert "no-such-image" in (started.node(0) / "train.log").read_text()
