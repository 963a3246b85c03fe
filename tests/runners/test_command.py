"""From a case to words, files and facts for its nodes; no shell reads them."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import structs

from perfledger.runners import command, recipes
from perfledger.runners.cases import select_cases
from perfledger.runners.cli import main
from perfledger.runners.command import commit_of, plan_run
from perfledger.runners.job import (
    NODE_VARIABLES,
    NodeVariable,
    PlannedRun,
    RunnerError,
    SourceRecord,
    texts,
    word,
)
from perfledger.runners.settings import Settings
from perfledger.runners.wrappers import CaseWords
from perfledger.schema.records import Container
from tests.runners.node import prepared
from tests.runners.written import filled, loaded

HOSTILE = [
    "", " ", "a b", "it's", '"; touch alive; "', "'; touch alive; '", "$(touch alive)", "`touch alive`", "$HOME",
    "${node_rank}", "{node_rank}", "{master_address}", "a\\", '\\" \\\\', "a\nb\n", "\r", "\ttab\nline\n", "*",
    "[a-z]", "~", "a:~", "{a,b}", "!!", "-", "-n", "--help", "a#b", "&|<>;()", "A=b", "[0]=x", "%s",
    "é 中文 \U0001f600", "\x01\x1b[31m\x7f", "a\u2028b",
]  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
#: Prints its arguments, a NUL after each.
ECHO = ["/bin/bash", "-c", "printf '%s\\0' \"$@\"", "echo"]


def planned(path: Path, choices: dict[str, str] | None = None, chosen: Settings | None = None) -> PlannedRun:
    """Return the run of the first case of a recipe."""
    recipe = recipes.load(path)
    return plan_run(recipe, select_cases(recipe, choices or {})[0], Path("raw"), chosen)


def received(argv: list[str]) -> list[str]:
    """Return what a process gets as its arguments."""
    done = subprocess.run(argv, env={}, capture_output=True, check=True)
    assert done.stderr == b""
    return [each.decode() for each in done.stdout.split(b"\0")[:-1]]


@pytest.mark.usefixtures("bash")
@pytest.mark.parametrize("text", HOSTILE)
def test_a_value_of_the_node_stays_one_word(text):
    words = [*map(word, ECHO), ("--rank=", NodeVariable("node_rank"), "!"), (NodeVariable("node_rank"),)]
    assert received(filled(words, {"node_rank": text})) == [f"--rank={text}!", text]


@settings(max_examples=30, deadline=None)
@given(before=TEXT, value=TEXT, number=st.integers(1, 9))
@example(before="{master_address}", value="{{batch_size}}", number=1)
@example(before="{word}", value="$(touch alive)", number=1)
@pytest.mark.usefixtures("bash")
def test_any_value_of_any_slot_reaches_the_process(before, value, number):
    """An option, a text of `[slots]`, a variable and the data folder."""
    slot = '[slots.braces]\nby = "nodes"\n1 = "<{word}>"\n'
    more = f'[options]\nword = "plain"\n{slot}[environment_variables]\nA = "{{word}}"\n'
    words = [*ECHO, "{word}", "-{word}-", "{braces}", "{data}", "{batch_size}"]
    with tempfile.TemporaryDirectory() as folder:
        recipe = loaded(Path(folder), words, more=more)
        text, data = before + value, f"/{value}"
        (case,) = select_cases(recipe, {"word": text, "batch_size": str(number)})
        values = dict.fromkeys(NODE_VARIABLES, "of the node")
        echoed = received(filled(CaseWords(recipe, case, data).launch(), values))
        assert [each.name for each in Path(folder).iterdir()] == ["tiny.toml"]
    assert echoed == [text, f"-{text}-", f"<{text}>", data, str(number)]
    assert CaseWords(recipe, case, data).variables()["A"] == (text,)


@pytest.mark.usefixtures("bash")
def test_hostile_values_reach_the_command_on_a_node(write_recipe, tmp_path):
    """In words, in variables, in the names of folders and in the texts of files."""
    options, variables, files = (
        "".join(f"{prefix}{number} = {value(number)}\n" for number in range(len(HOSTILE)))
        for prefix, value in (
            ("w", lambda number: json.dumps(HOSTILE[number], ensure_ascii=False).replace("\x7f", "\\u007F")),
            ("V", lambda number: f'"{{w{number}}}"'),
            ("f", lambda number: f'"file{number}"'),
        )
    )
    for number, text in enumerate(HOSTILE):
        (tmp_path / f"file{number}").write_text(text, encoding="utf-8", newline="")
    numbers = " ".join(map(str, range(len(HOSTILE))))
    program = (
        f'printf "%s\\0" "$@"; for n in {numbers}; do v=V$n; printf "%s\\0" "${{!v}}"; cat f$n; printf "\\0"; done'
    )
    program = program.replace("{", "{{").replace("}", "}}")
    command = ["bash", "-c", program, "bash", *[f"{{w{number}}}" for number in range(len(HOSTILE))]]
    path = write_recipe(command=command, more=f"{variables}[files]\n{files}")
    path.write_text(path.read_text().replace("[options]\n", f"[options]\n{options}"), encoding="utf-8")
    folder = tmp_path / "".join(HOSTILE).replace("/", "")[:100]
    folder.mkdir()
    node = prepared(path, tmp_path / "job", Settings(work=f"/{folder.name}", data=str(folder)))
    assert node.run() == 0
    in_variables_and_files = [each for text in HOSTILE for each in (text, text)]
    assert node.log().split("\0")[:-1] == [*HOSTILE, *in_variables_and_files]
    assert not list(tmp_path.rglob("alive"))


def test_a_command_line_that_is_not_utf8_is_refused(write_recipe, capsys):
    assert main(["run", str(write_recipe()), "--work", "a\udcffb"]) == 2
    assert "runners: the command line is not UTF-8 from '\\udcffb' on" in capsys.readouterr().err


def test_node_variables_are_printed_as_names_in_braces():
    assert texts([word("a b"), ("--rank=", NodeVariable("node_rank")), word("")]) == ["a b", "--rank={node_rank}", ""]


def test_a_job_has_the_facts_of_recipe_case_and_settings(write_recipe, tmp_path):
    (tmp_path / "t.py").write_bytes(b"a\r\nb")
    more = (
        '[files]\n"t.py" = "t.py"\n[setup]\npython = "python3.10"\npackages = ["torch"]\n'
        '[source]\nrepository = "a/b"\ncommit = "c0ffee"\nfolder = "f"\n'
    )
    spec = planned(
        write_recipe('echo "$1"', more=more), {"word": "it's"}, Settings(work="/my work", data="/d", if_busy="run")
    ).spec
    assert [*map(word, ["bash", "-c", 'echo "$1"', "bash", "it's"])] == list(spec.command)
    assert (spec.device, spec.nodes, spec.devices_per_node, spec.every_node) == ("cpu", 1, 1, True)
    assert (spec.timeout_seconds, spec.threads, spec.variables) == (
        60, "1", {"OMP_NUM_THREADS": ("1",), "CASE": ("1 1 fp32 3 it's",)},
    )  # fmt: skip
    assert (spec.work, spec.data, spec.even_if_busy) == ("/my work", "/d", True)
    assert (spec.python, spec.packages) == ("python3.10", ("torch",))
    assert (spec.source_folder, spec.expected_commit) == ("f", "c0ffee")
    assert spec.files == {"t.py": "a\r\nb"}
    assert spec.container is None


def test_argv_is_container_launcher_command_with_folders_mounted_under_their_own_paths(write_recipe):
    more = '[container]\nimage = "a/b:1"\n[launcher]\nname = "torchrun"\n[source]\nfolder = "sources"\n'
    path = write_recipe(more=more, shape="1n2d", device="gpu")
    run = planned(path, chosen=Settings(container="docker", data="/d"))
    assert list(run.record.argv) == texts(run.spec.argv) == [
        "docker", "run", "--rm", "--init", "--name", "perfledger-{identity}-{node_rank}",
        "--network=host", "--ipc=host",
        "--gpus", "all", "--ulimit", "memlock=-1", "--ulimit", "stack=67108864",
        "-e", "OMP_NUM_THREADS", "-e", "CASE", "-e", "CUDA_VISIBLE_DEVICES", "-e", "CUDA_DEVICE_ORDER",
        "-e", "NCCL_DEBUG", "-e", "NCCL_DEBUG_SUBSYS", "-e", "NCCL_DEBUG_FILE",
        "-v", "{work}:{work}", "-v", "{ranks}:{ranks}", "-v", "/d:/d", "-w", "{working_folder}", "a/b:1",
        "torchrun", "--nnodes", "1", "--nproc_per_node", "2", "--node_rank", "{node_rank}",
        "--master_addr", "{master_address}", "--master_port", "{master_port}",
        "--log_dir", "{ranks}", "--redirects", "1:3",
        "--no_python", "bash", "-c", "true", "bash", "plain",
    ]  # fmt: skip


DEEPSPEED = '[launcher]\nname = "deepspeed"\n[container]\nimage = "a/b:1"\n[source]\nrepository = "a/b"\n'


def test_run_json_states_a_source_with_its_commit_and_the_container_that_was_used(tmp_path, monkeypatch):
    recipe = loaded(tmp_path, ["python", "t.py"], more=DEEPSPEED)
    (case,) = select_cases(recipe, {})
    assert plan_run(recipe, case, tmp_path).record.source is None
    monkeypatch.setattr(command, "_commit", lambda _: "c0ffee")
    record = plan_run(recipe, case, tmp_path).record
    assert record.source == SourceRecord("a/b", "c0ffee")
    assert record.recipe.container is None
    record = plan_run(recipe, case, tmp_path, Settings("podman")).record
    assert record.recipe.container == Container("podman", "a/b:1")
    fixed = structs.replace(recipe, source=structs.replace(recipe.source, commit="of the recipe"))
    assert plan_run(fixed, case, tmp_path).record.source == SourceRecord("a/b", "of the recipe")


def test_files_and_folders_that_cannot_be_sent_are_errors(write_recipe, tmp_path):
    (tmp_path / "binary").write_bytes(b"a\xffb")
    path = write_recipe("true", more='[files]\nx = "binary"\n')
    with pytest.raises(RunnerError, match=r"binary cannot be read: 'utf-8' codec"):
        planned(path)
    (tmp_path / "binary").unlink()
    with pytest.raises(RunnerError, match=r"binary cannot be read: No such file .* begin at the recipe's folder"):
        planned(path)
    with pytest.raises(RunnerError, match=r"--data data: .* whole path"):
        Settings(data="data")


def test_the_commit_is_that_of_unchanged_files_only(tmp_path):
    def git(*words: str) -> str:
        options = ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", *options, *words], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout.strip()

    (tmp_path / "t.py").write_text("1")
    assert commit_of([tmp_path / "t.py"]) == ""
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "x")
    assert commit_of([tmp_path / "t.py"]) == git("rev-parse", "HEAD")
    assert commit_of([]) == ""
    (tmp_path / "t.py").write_text("2")
    assert commit_of([tmp_path / "t.py"]) == ""
