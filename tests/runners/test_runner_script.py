"""The script of a run: its text, and that nothing in it comes alive."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

from runners import backends, recipe
from runners.case import choose
from runners.cli import main
from runners.plan import order
from runners.script import build

PACKAGE = Path(recipe.__file__).parent


def script(path: Path, choices: dict[str, str], raw_logs: Path = Path("raw_logs")) -> str:
    chosen = recipe.load(path)
    return build(order(chosen, choose(chosen, choices), 1, raw_logs)[0])


@pytest.mark.parametrize(("backend", "argv"), [(backends.local, ["bash", "-s"])])
def test_a_back_end_is_an_argv(backend, argv):
    assert backend() == argv


def test_what_was_known_beforehand_stands_in_front(write_recipe):
    lines = script(write_recipe('echo "$1"'), {"word": "it's"}).splitlines()
    assert lines[:10] == [
        "#!/usr/bin/env bash",
        "destination=raw_logs/tiny/bash/cpu-n1d1-bs1-fp32-word-it-s-24ceef/1",
        "device=cpu",
        "timeout_seconds=20",
        "threads=1",
        "python=python",
        "packages=()",
        "variables=(OMP_NUM_THREADS=1)",
        """command=(bash -c 'echo "$1"' bash 'it'"'"'s')""",
        "work_files=0",
    ]


def test_the_script_is_the_same_twice_and_bash_can_read_it(bash):
    for name in recipe.names():
        text = script(recipe.find(name), {})
        assert text == script(recipe.find(name), {})
        assert subprocess.run([bash, "-n"], input=text, text=True, capture_output=True, check=False).stderr == ""


@pytest.mark.parametrize(
    "word",
    ["$(touch alive)", "`touch alive`", "'; touch alive; '", '"; touch alive; "', "a\\b", "\ttab\nline", "*", "${HOME}",
     "-n", "é 中文 \U0001f600", '\\" \\\\', "&|<>!#"],
)  # fmt: skip
def test_a_hostile_value_reaches_the_command_as_it_is(bash, write_recipe, tmp_path, monkeypatch, word, only_run):
    monkeypatch.chdir(tmp_path)
    path = write_recipe('printf "%s" "$1"')
    # Through the API, for the command line cuts values at commas.
    text = script(path, {"word": word}, tmp_path / "raw")
    assert subprocess.run([bash, "-s"], input=text.encode(), check=False).returncode == 0
    folder, run = only_run()
    assert (folder / "train.log").read_text(encoding="utf-8") == word
    assert run["case"]["options"]["word"] == word
    assert run["argv"][-1] == word
    assert not list(tmp_path.rglob("alive"))


@pytest.mark.usefixtures("bash")
def test_files_of_a_recipe_travel_in_the_script_and_are_gone_afterwards(write_recipe, tmp_path, monkeypatch, only_run):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    (tmp_path / "trainer.txt").write_text("it's $HOME\n\n", encoding="utf-8")
    path = write_recipe("cat sub/trainer.txt; pwd", more='[files]\n"sub/trainer.txt" = "trainer.txt"\n')
    assert main(["run", str(path), "--raw-logs", str(tmp_path / "raw")]) == 0
    folder, _ = only_run()
    printed = (folder / "train.log").read_text(encoding="utf-8")
    assert printed.startswith("it's $HOME\n\n")
    assert str(tmp_path / "scratch") in printed
    assert not list((tmp_path / "scratch").iterdir())


def test_script_prints_the_script_of_one_case(capsys, write_recipe):
    path = write_recipe("true", batches="1, 2")
    assert main(["script", str(path)]) == 2
    assert "choose with --case" in capsys.readouterr().err
    assert main(["script", str(path), "--case", "batch_size=2"]) == 0
    assert capsys.readouterr().out == script(path, {"batch_size": "2"})


def test_runners_import_nothing_but_themselves_and_the_standard_library():
    import sys

    modules = sorted(PACKAGE.glob("*.py"))
    assert modules
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] in sys.stdlib_module_names | {"runners"}, path
