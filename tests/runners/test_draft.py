"""`init-recipe`: the recipe that is drafted from a command gives that command again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from perfledger.runners import cases, recipes
from perfledger.runners.cli import main
from perfledger.runners.job import RunnerError
from perfledger.runners.wrappers import CaseWords

#: Answers to the questions, as a reader of the draft types them.
ANSWERS = {
    'model = ""': 'model = "Toy"',
    'framework = ""': 'framework = "Toy"',
    "iterations = 0": "iterations = 60",
    'format = ""': 'format = "frameworks.nanogpt"',
    'shape = ""': 'shape = "1n2d"',
    "batch_size = [0]": "batch_size = [4]",
    'precision = ""': 'precision = "fp32"',
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def drafted(command: str, *options: str) -> recipes.LaunchRecipe:
    """Draft a recipe, answer its questions, and load it."""
    assert main(["init-recipe", *options, "--", *shlex.split(command)]) == 0
    (path,) = Path().glob("*.toml")
    text = path.read_text("utf-8")
    for blank, answer in ANSWERS.items():
        text = text.replace(blank, answer)
    path.write_text(text, "utf-8")
    return recipes.load(path)


@pytest.mark.parametrize(
    ("command", "trainer", "expected"),
    [
        (
            "torchrun --nproc_per_node 8 train.py --batch 32",
            "python train.py --batch 32",
            {"launcher": "torchrun", "devices": 8, "batch_size": 32},
        ),
        (
            "OMP_NUM_THREADS=4 python3 -u train.py --batch_size=8 --max_iters 60 --block_size 64 --note {x}",
            "python3 -u train.py --batch_size=8 --max_iters 60 --block_size 64 --note {x}",
            {"launcher": "plain", "devices": 1, "batch_size": 8, "iterations": 60, "sequence_length": 64},
        ),
        (
            "/opt/bin/python -m torch.distributed.launch --nproc_per_node=2 --master_port 1 run.py --dtype bfloat16",
            "python run.py --dtype bfloat16",
            {"launcher": "torch.distributed.launch", "devices": 2},
        ),
        (
            "mpirun -np 16 -H a:8,b:8 -x NCCL_DEBUG=INFO --bind-to none python3 main.py --bs 64 --fp16",
            "python3 main.py --bs 64 --fp16",
            {"launcher": "mpirun", "devices": 2, "batch_size": 64},
        ),
        (
            "deepspeed --num_gpus 4 --module lab.train --train_batch_size 64",
            "python -m lab.train --train_batch_size 64",
            {"launcher": "deepspeed", "devices": 4, "batch_size": 64},
        ),
        (
            "accelerate launch --num_processes 4 tune.py trainer.max_steps=50 model.micro_batch_size=4",
            "accelerate launch --num_processes 4 tune.py trainer.max_steps=50 model.micro_batch_size=4",
            {"launcher": "plain", "devices": 4, "iterations": 50, "batch_size": 4},
        ),
        (
            "python -m paddle.distributed.launch --gpus 0,1,2 train.py -b 2",
            "python train.py -b 2",
            {"launcher": "paddle", "devices": 3, "batch_size": 2},
        ),
        ("torchrun --nproc_per_node auto train.py", "python train.py", {"devices": 2}),
    ],
)
def test_the_draft_of_a_command_gives_the_command_again(command: str, trainer: str, expected: dict[str, Any]) -> None:
    loaded = drafted(command)
    (case,) = cases.select_cases(loaded, {})
    assert [part for each in CaseWords(loaded, case, "").trainer() for part in each] == shlex.split(trainer)
    facts = {"launcher": loaded.launcher.name, "framework": loaded.framework, **case.slots}
    facts |= {"nodes": case.nodes, "devices": case.devices}
    assert {key: facts[key] for key in expected} == expected


def test_questions_are_printed_with_their_lines_and_a_draft_without_answers_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["init-recipe", "--", "torchrun", "--nproc_per_node", "8", "train.py", "--batch", "32"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "train.toml:3: which model does it train, as readers know it?"
    assert lines[-1] == "next: python -m runners run train.toml --smoke"
    with pytest.raises(RunnerError, match=r"train\.toml:3: `model` must be a text"):
        recipes.load(Path("train.toml"))


def test_a_secret_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    loaded = drafted("env HF_TOKEN=abcdefgh CUDA_VISIBLE_DEVICES=0 A=1 python train.py")
    assert loaded.environment_variables == {"A": "1"}
    assert "abcdefgh" not in Path("train.toml").read_text("utf-8") + capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("python train.py", ["other.py", "train.py"]),
        ("bash train.sh", ["train.sh"]),
        ("python code/train.py", ["code/helper.py", "code/train.py"]),
        ("python -m lab.train", ["lab/__init__.py", "lab/train.py"]),
        ("python -m train", ["other.py", "train.py"]),
        ("python -m absent", []),
        ("python ../train.py", []),
    ],
)
def test_a_script_is_sent_with_its_modules_or_its_folder(command: str, files: list[str]) -> None:
    for name in (
        "train.py",
        "train.sh",
        "other.py",
        "code/train.py",
        "code/helper.py",
        "lab/__init__.py",
        "lab/train.py",
    ):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()
    assert [*drafted(command).sent] == files


def test_an_interpreter_alone_is_accepted() -> None:
    assert drafted("python").command == ("python",)


def test_a_log_names_the_format(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"iter {step}: loss 3.{step:04}, time 12.{step:02}ms, mfu -100.00%" for step in range(60)]
    Path("train.log").write_text("\n".join(["tokens per iteration will be: 512", *lines]), "utf-8")
    loaded = drafted("python train.py", "--log", "train.log")
    assert (loaded.records.format, loaded.records.at_least) == ("frameworks.nanogpt", 30)
    Path("other.log").write_text("nothing\n", "utf-8")
    assert main(["init-recipe", "--log", "other.log", "--", "python", "train.py"]) == 2
    assert "no format reads it; python -m ingest new-format NAME other.log" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["--", "A=1"], "give the command that works"),
        (["--", "torchrun", "--nproc_per_node", "8"], "give the command that works"),
        (["--", "python", "there.py"], "there.toml: File exists"),
    ],
)
def test_a_wrong_call_is_refused(words: list[str], cause: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("there.toml").write_text("mine", "utf-8")
    assert main(["init-recipe", *words]) == 2
    assert cause in capsys.readouterr().err
    assert Path("there.toml").read_text("utf-8") == "mine"
