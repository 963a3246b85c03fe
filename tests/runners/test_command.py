"""The script of a run: its text, and that nothing in it comes alive."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runners.cases import recipe
from runners.cases.case import choose
from runners.command.argv import texts
from runners.command.script import HOST, PIECES, Settings, argv, build
from runners.errors import RunnerError
from runners.runs.plan import Run
from tests.runners.node import prepared

PACKAGE = Path(recipe.__file__).parents[1]
HOSTILE = [
    "$(touch alive)", "`touch alive`", "'; touch alive; '", '"; touch alive; "', "a\\b", "\ttab\nline\n", "*",
    "${HOME}", "$job", "-n", "~", "{a,b}", "!!",
    "é 中文 \U0001f600", '\\" \\\\', "&|<>!#", "a\rb", "{node_rank}", "\x01\x7f",
]  # fmt: skip


def planned(path: Path, choices: dict[str, str] | None = None) -> Run:
    chosen = recipe.load(path)
    return Run(chosen, choose(chosen, choices or {})[0], 1, Path("raw"))


def test_what_was_known_beforehand_stands_in_front(write_recipe):
    text = build(planned(write_recipe('echo "$1"'), {"word": "it's"}), Settings(work="/my work", data="/d"))
    head = text.split("\nquestion=")[0].splitlines()
    assert head == [
        "#!/usr/bin/env bash",
        "",
        "device=cpu",
        "devices_per_node=1",
        "every_node=1",
        "uses_port=0",
        "timeout_seconds=20",
        "threads=1",
        "work='/my work'",
        "data=/d",
        "even_if_busy=0",
        "source_folder=''",
        "expected_commit=''",
        "container=none",
        "image=''",
        "image_digest=''",
        "python=python",
    ]
    functions = text.split("set_command() {\n")[1].split("\n}")[0].splitlines()
    assert functions[:4] == [
        """command=(bash -c 'echo "$1"' bash 'it'"'"'s')""",
        "variables=(OMP_NUM_THREADS=1)",
        "programs=(bash)",
        "packages=()",
    ]


def test_every_piece_of_the_host_is_in_the_script_once(write_recipe):
    text = build(planned(write_recipe("true")), Settings())
    assert {path.stem for path in HOST.glob("*.sh")} == {*PIECES, "inside"}
    for piece in PIECES:
        assert text.count((HOST / f"{piece}.sh").read_text(encoding="utf-8")) == 1


def test_the_script_of_every_recipe_is_the_same_twice_and_bash_can_read_it(bash):
    assert recipe.names()
    for name in recipe.names():
        run = planned(recipe.find(name))
        text = build(run, Settings(data="/data"))
        assert text == build(run, Settings(data="/data"))
        assert subprocess.run([bash, "-n"], input=text, text=True, capture_output=True, check=False).stderr == ""


def test_a_checker_of_shell_scripts_finds_nothing(write_recipe, tmp_path):
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is missing")
    (tmp_path / "script.sh").write_text(build(planned(write_recipe("true")), Settings()), encoding="utf-8")
    words = ["shellcheck", "--shell=bash", "--exclude=SC2015,SC2016", str(tmp_path / "script.sh")]
    assert subprocess.run(words, text=True, capture_output=True, check=False).stdout == ""


@pytest.mark.usefixtures("bash")
@pytest.mark.parametrize("word", HOSTILE)
def test_a_hostile_value_reaches_the_command_as_it_is(write_recipe, tmp_path, word):
    """In a word, in a variable, in the name of a folder and in the text of a file."""
    (tmp_path / "trainer.txt").write_text(word, encoding="utf-8", newline="")
    path = write_recipe(
        'printf "%s|%s|" "$1" "$VALUE"; cat trainer.txt', more='[files]\n"trainer.txt" = "trainer.txt"\n'
    )
    path.write_text(path.read_text().replace("[files]", 'VALUE = "{word}"\n[files]'), encoding="utf-8")
    node = prepared(path, tmp_path / "job", {"word": word}, Settings(work=f"/{word}", data=f"/{word}"))
    assert node.run() == 0
    assert node.log() == f"{word}|{word}|{word}"
    assert not list(tmp_path.rglob("alive"))


@pytest.mark.usefixtures("bash")
@pytest.mark.parametrize("word", ["".join(HOSTILE), "-n", "~", "*"])
def test_hostile_values_of_the_node_stay_values(write_recipe, tmp_path, word):
    path = write_recipe('printf "%s|" "$@"')
    text = path.read_text().replace('"{word}"]', '"{hosts}", "{master_address}", "{hostfile}"]')
    path.write_text(text, encoding="utf-8")
    values = {"PERFLEDGER_HOSTS": word, "PERFLEDGER_MASTER_ADDRESS": word, "PERFLEDGER_MASTER_PORT": word}
    node = prepared(path, tmp_path / "job", **values)
    assert node.run() == 0
    assert node.log().startswith(f"{word}|{word}|{node.job}/hostfile|")
    assert not list(tmp_path.rglob("alive"))


@pytest.mark.usefixtures("bash")
def test_a_hostile_job_folder_is_a_folder(write_recipe, tmp_path):
    node = prepared(write_recipe("echo here"), tmp_path / "a'b \"$(touch alive)\n;c")
    assert node.run() == 0
    assert node.log() == "here\n"
    assert node.host()["outcome"] == "completed"
    assert not list(tmp_path.rglob("alive"))


def test_the_argv_is_container_launcher_and_command_with_every_folder_mounted_as_it_is(write_recipe):
    more = '[container]\nimage = "a/b:1"\n[launcher]\nname = "torchrun"\n[source]\nfolder = "sources"\n'
    path = write_recipe("true", more=more)
    text = path.read_text().replace("[matrix]", '[matrix]\nshape = ["1n2d"]').replace('"cpu"', '"gpu"')
    path.write_text(text, encoding="utf-8")
    found = texts(argv(planned(path), Settings(container="docker", data="/d")))
    assert found == [
        "docker", "run", "--rm", "--init", "--name", "perfledger-{identity}-{node_rank}",
        "--network=host", "--ipc=host",
        "--gpus", "all", "--ulimit", "memlock=-1", "--ulimit", "stack=67108864",
        "-e", "OMP_NUM_THREADS", "-e", "CUDA_VISIBLE_DEVICES", "-e", "CUDA_DEVICE_ORDER",
        "-v", "{work}:{work}", "-v", "{ranks}:{ranks}", "-v", "/d:/d", "-w", "{working_folder}", "a/b:1",
        "torchrun", "--nnodes", "1", "--nproc_per_node", "2", "--node_rank", "{node_rank}",
        "--master_addr", "{master_address}", "--master_port", "{master_port}",
        "--log_dir", "{ranks}", "--redirects", "1:3",
        "--no_python", "bash", "-c", "true", "bash", "plain",
    ]  # fmt: skip


def test_what_cannot_go_into_a_script_is_said(write_recipe, tmp_path):
    (tmp_path / "binary").write_bytes(b"a\0b")
    path = write_recipe("true", more='[files]\nx = "binary"\n')
    with pytest.raises(RunnerError, match=r"binary holds a NUL byte"):
        build(planned(path), Settings())
    (tmp_path / "binary").unlink()
    with pytest.raises(RunnerError, match=r"binary cannot be read: No such file .* begin at the recipe's folder"):
        build(planned(path), Settings())
    path = write_recipe("true", more='[container]\nimage = "a/b:1"\n')
    with pytest.raises(RunnerError, match=r"--data data: .* whole path"):
        build(planned(path), Settings(container="docker", data="data"))


def test_runners_import_nothing_but_themselves_and_the_standard_library():
    modules = [path for path in PACKAGE.rglob("*.py") if "workloads" not in path.parts]
    assert modules
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] in sys.stdlib_module_names | {"runners", "tqdm"}, path


def test_the_question_to_python_is_understood_by_a_python_of_2016():
    source = (HOST / "inside.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 6))
    assert "from __future__" not in source


def test_the_script_says_what_it_is_asked_to_say(write_recipe, tmp_path):
    node = prepared(write_recipe("true"), tmp_path / "job")
    done = node.call("chekc")
    assert (done.returncode, done.stderr) == (2, "chekc: say check or run\n")
    assert json.dumps(sorted(path.name for path in node.job.iterdir())) == '["script.sh"]'
