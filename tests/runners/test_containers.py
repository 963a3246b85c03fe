"""Container tools as tables of words."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from perfledger.runners.cases import select_cases
from perfledger.runners.command import plan_run
from perfledger.runners.job import RunnerError, texts
from perfledger.runners.recipes import Image
from perfledger.runners.settings import Settings
from perfledger.runners.wrappers import CONTAINERS
from tests.runners.written import loaded

DIGEST = f"sha256:{'0a' * 32}"
IMAGE = Image("nvcr.io:443/nvidia/pytorch:20.12-py3", "", ("--device", "/dev/infiniband"))
NAME = "perfledger-{identity}-{node_rank}"
INSIDE = ["python", "--to={output}"]
LIMITS = ["--ulimit", "memlock=-1", "--ulimit", "stack=67108864"]
FOLDERS = ["{working_folder}", "{ranks}", "{output}", "/data"]


def spec(folder, tool, image=IMAGE, device="gpu", data="/data"):
    recipe = loaded(folder, INSIDE, more='[environment_variables]\nA = "1"\nB = "2"\n')
    recipe = replace(recipe, container=image, device=device)
    return plan_run(recipe, select_cases(recipe, {})[0], Path("raw"), Settings(container=tool, data=data)).spec


def built(folder, tool, image=IMAGE, device="gpu"):
    return texts(spec(folder, tool, image, device).argv)


def around(gpus, variables):
    named = [each for name in variables for each in ("-e", name)]
    mounts = [each for folder in FOLDERS for each in ("-v", f"{folder}:{folder}")]
    return ["--network=host", "--ipc=host", *gpus, *named, *mounts, "-w", "{working_folder}", *IMAGE.arguments]


@pytest.mark.parametrize(
    ("tool", "gpus"), [("docker", ["--gpus", "all"]), ("podman", ["--device", "nvidia.com/gpu=all"])]
)
def test_docker_and_podman(tmp_path, tool, gpus):
    head = [tool, "run", "--rm", "--init", "--name", NAME]
    of_scheduler = ["CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"]
    of_node = ["NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"]
    on_gpus = around([*gpus, *LIMITS], ["A", "B", *of_scheduler, *of_node])
    assert built(tmp_path, tool) == [*head, *on_gpus, IMAGE.image, *INSIDE]
    assert built(tmp_path, tool, device="cpu") == [*head, *around([], ["A", "B"]), IMAGE.image, *INSIDE]


def test_apptainer(tmp_path):
    mounts = [each for folder in FOLDERS for each in ("--bind", f"{folder}:{folder}")]
    image = ["--pwd", "{working_folder}", *IMAGE.arguments, f"docker://{IMAGE.image}"]
    assert built(tmp_path, "apptainer") == ["apptainer", "exec", "--nv", *mounts, *image, *INSIDE]
    assert built(tmp_path, "apptainer", device="cpu") == ["apptainer", "exec", *mounts, *image, *INSIDE]


def test_without_a_container_the_command_stays_as_it_is(tmp_path):
    assert built(tmp_path, "none") == built(tmp_path, "none", None) == INSIDE


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
def test_an_image_is_pinned_by_its_digest_where_that_is_known(tmp_path, image, digest, in_docker, in_apptainer):
    stated = Image(image, digest)
    assert built(tmp_path, "docker", stated)[-3] == built(tmp_path, "podman", stated)[-3] == in_docker
    assert built(tmp_path, "apptainer", stated)[-3] == in_apptainer


@pytest.mark.parametrize("tool", sorted(CONTAINERS))
def test_a_job_names_tool_image_and_container(tmp_path, tool):
    container = spec(tmp_path, tool, Image("a/b:1", DIGEST)).container
    assert (container.tool, container.image, container.digest) == (tool, "a/b:1", DIGEST)
    assert NAME in texts(container.enter) or tool in ("apptainer", "pyxis")


@pytest.mark.parametrize("tool", sorted(CONTAINERS))
def test_a_recipe_without_an_image_cannot_run_in_one(tmp_path, tool):
    with pytest.raises(RunnerError, match=f"names no image for {tool}; add \\[container\\]"):
        built(tmp_path, tool, None)


@pytest.mark.parametrize("folder", ["/data:rw", "/data,ro"])
@pytest.mark.parametrize("tool", sorted(CONTAINERS))
def test_a_folder_with_a_colon_or_comma_cannot_be_mounted(tmp_path, tool, folder):
    with pytest.raises(RunnerError, match=f"{folder}: {tool} takes : and , in a folder"):
        spec(tmp_path, tool, data=folder)


@pytest.mark.parametrize(
    ("image", "shown"),
    [
        ("nvcr.io/nvidia/pytorch:24.04-py3", "nvcr.io#nvidia/pytorch:24.04-py3"),
        ("localhost:5000/a", "localhost:5000#a"),
        ("maker/image:1", "maker/image:1"),
        ("ubuntu", "ubuntu"),
        ("/images/a.sqsh", "/images/a.sqsh"),
    ],
)
def test_pyxis_names_registries_as_enroot_does(tmp_path, image, shown):
    argv = built(tmp_path, "pyxis", replace(IMAGE, image=image))
    assert f"--container-image={shown}" in argv
    assert {"srun", "--overlap", "--no-container-mount-home", "--nodelist={host}"} <= set(argv)


PER_CASE = """
[container]
image = "{images}"
digest = "{digests}"
[slots.images]
by = "precision"
fp32 = "reg/a:1"
amp = "reg/b:2"
bf16 = "--privileged"
[slots.digests]
by = "precision"
fp32 = "sha256:%s"
amp = ""
bf16 = ""
"""


def test_each_case_may_have_its_own_image(tmp_path):
    matrix = '[matrix]\nbatch_size = 8\nprecision = ["fp32", "amp"]\n'
    recipe = loaded(tmp_path, ["a"], matrix, PER_CASE % ("1" * 64))
    runs = [plan_run(recipe, case, Path("raw"), Settings(container="docker")) for case in select_cases(recipe, {})]
    assert [run.record.argv[-2] for run in runs] == [f"reg/a@sha256:{'1' * 64}", "reg/b:2"]
    images = [run.record.recipe.container for run in runs]
    assert [(each.image, each.digest) for each in images if each] == [
        ("reg/a:1", f"sha256:{'1' * 64}"),
        ("reg/b:2", ""),
    ]
