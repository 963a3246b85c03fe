"""Container tools as tables of words."""

from __future__ import annotations

import pytest

from runners.cases.parts import Container
from runners.command.argv import Late, texts, word
from runners.command.containers import CONTAINERS, contained, ending
from runners.errors import RunnerError

DIGEST = f"sha256:{'0a' * 32}"
IMAGE = Container("nvcr.io:443/nvidia/pytorch:20.12-py3", "", ("--device", "/dev/infiniband"))
TRAINER = [word("python"), ("--ranks=", Late("ranks"))]
MOUNTS = [(Late("ranks"), ":", Late("ranks")), word("/data")]
NAME = "perfledger-{identity}-{node_rank}"
INSIDE = ["python", "--ranks={ranks}"]


def built(tool, container=IMAGE, gpus=True):
    return texts(contained(tool, container, TRAINER, ["A", "B"], MOUNTS, gpus))


def around(gpus):
    variables = ["-e", "A", "-e", "B"]
    folders = ["-v", "{ranks}:{ranks}", "-v", "/data", "-w", "{working_folder}"]
    return ["--network=host", "--ipc=host", *gpus, *variables, *folders, "--device", "/dev/infiniband"]


LIMITS = ["--ulimit", "memlock=-1", "--ulimit", "stack=67108864"]


@pytest.mark.parametrize(
    ("tool", "gpus"), [("docker", ["--gpus", "all"]), ("podman", ["--device", "nvidia.com/gpu=all"])]
)
def test_docker_and_podman(tool, gpus):
    head = [tool, "run", "--rm", "--init", "--name", NAME]
    assert built(tool) == [*head, *around([*gpus, *LIMITS]), IMAGE.image, *INSIDE]
    assert built(tool, gpus=False) == [*head, *around([]), IMAGE.image, *INSIDE]


def test_apptainer():
    folders = ["--bind", "{ranks}:{ranks}", "--bind", "/data", "--pwd", "{working_folder}"]
    image = ["--device", "/dev/infiniband", f"docker://{IMAGE.image}"]
    assert built("apptainer") == ["apptainer", "exec", "--nv", *folders, *image, *INSIDE]
    assert built("apptainer", gpus=False) == ["apptainer", "exec", *folders, *image, *INSIDE]


def test_no_container_is_the_command_as_it_is():
    assert built("none") == built("none", None) == INSIDE
    assert ending("none") == []


@pytest.mark.parametrize(
    ("image", "digest", "in_docker", "in_apptainer"),
    [
        ("a/b:1", "", "a/b:1", "docker://a/b:1"),
        ("a/b:1", DIGEST, f"a/b@{DIGEST}", f"docker://a/b@{DIGEST}"),
        ("host:5000/b", DIGEST, f"host:5000/b@{DIGEST}", f"docker://host:5000/b@{DIGEST}"),
        ("host:5000/b:1-py3", DIGEST, f"host:5000/b@{DIGEST}", f"docker://host:5000/b@{DIGEST}"),
        ("/images/b.sif", "", "/images/b.sif", "/images/b.sif"),
        ("oras://host/b:1", "", "oras://host/b:1", "oras://host/b:1"),
    ],
)
def test_an_image_is_pinned_by_its_digest_where_that_is_known(image, digest, in_docker, in_apptainer):
    container = Container(image, digest, ())
    assert built("docker", container)[-3] == built("podman", container)[-3] == in_docker
    assert built("apptainer", container)[-3] == in_apptainer


def test_a_container_left_behind_is_found_by_its_name():
    assert texts(ending("docker")) == ["docker", "rm", "--force", NAME]
    assert texts(ending("podman")) == ["podman", "rm", "--force", NAME]
    assert ending("apptainer") == []
    assert NAME in built("docker")


@pytest.mark.parametrize("tool", sorted(CONTAINERS))
def test_a_recipe_without_an_image_cannot_run_in_one(tool):
    with pytest.raises(RunnerError, match=f"names no image for {tool}; add \\[container\\]"):
        built(tool, None)


@pytest.mark.parametrize("folder", ["/data:rw", "/data,ro"])
@pytest.mark.parametrize("tool", sorted(CONTAINERS))
def test_a_folder_whose_name_would_end_early_is_refused(tool, folder):
    with pytest.raises(RunnerError, match=f"{folder}: {tool} takes : and , in a folder"):
        contained(tool, IMAGE, TRAINER, [], [(folder, ":", folder)], True)
