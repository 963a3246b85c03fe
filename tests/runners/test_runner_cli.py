"""The command line: what it prints, and one message with exit status 2 for input that cannot be used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runners import recipe
from runners.cli import main

ROOT = Path(__file__).parents[2]


def test_list_names_every_recipe(capsys):
    assert main(["list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == recipe.names()


def test_show_says_what_is_needed_and_what_would_be_started(capsys):
    assert main(["show", "resnet50_pytorch_cpu"]) == 0
    shown = capsys.readouterr().out
    assert "pip install torch==" in shown
    assert (
        "cpu-n1d1-bs16-fp32\n  OMP_NUM_THREADS=1 python -m runners.workloads.resnet50_pytorch --batch-size 16" in shown
    )


def test_a_dry_run_starts_nothing(capsys, write_recipe, tmp_path):
    path = write_recipe("echo '$x'", batches="1, 2")
    assert main(["run", str(path), "--dry-run", "--repeats", "2", "--raw-logs", str(tmp_path / "raw")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 * 4
    assert lines[:3] == [
        f"{tmp_path}/raw/tiny/bash/cpu-n1d1-bs1-fp32/1",
        "  bash -s, with a script that runs:",
        """  bash -c 'echo '"'"'$x'"'"'' bash plain""",
    ]
    assert not (tmp_path / "raw").exists()


def refusal(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The message of a command that must be refused without a traceback."""
    assert main(arguments) == 2
    message = capfd.readouterr().err
    assert message.startswith("runners: ")
    assert message.count("\n") == 1
    return message


def test_an_unknown_recipe(capfd):
    assert "nope: there is no such recipe; choose one of " in refusal(capfd, "run", "nope")
    assert "there is no such recipe" in refusal(capfd, "show", "absent/x.toml")


def test_an_unknown_key_of_a_case(capfd, write_recipe):
    message = refusal(capfd, "run", str(write_recipe("true")), "--case", "batch_size=1,colour=red")
    assert "no key 'colour' to choose by" in message


@pytest.mark.usefixtures("bash")
def test_a_missing_command_starts_nothing(capfd, write_recipe, tmp_path):
    path = write_recipe("true")
    path.write_text(path.read_text().replace('["bash", "-c"', '["no-such-trainer", "-c"'))
    assert "the command no-such-trainer is not on this host" in refusal(
        capfd, "run", str(path), "--raw-logs", str(tmp_path / "raw")
    )
    assert not (tmp_path / "raw").exists()


@pytest.mark.usefixtures("bash")
def test_a_missing_package_starts_nothing(capfd, write_recipe, tmp_path):
    setup = f'[setup]\npython = "{sys.executable}"\npackages = ["pytest", "no-such-package"]\n'
    message = refusal(capfd, "run", str(write_recipe("true", more=setup)), "--raw-logs", str(tmp_path / "raw"))
    assert "cannot give the packages this recipe needs: no-such-package;" in message
    assert not (tmp_path / "raw").exists()


@pytest.mark.usefixtures("bash")
def test_a_folder_that_cannot_be_made(capfd, write_recipe, tmp_path):
    (tmp_path / "file").write_text("in the way")
    message = refusal(capfd, "run", str(write_recipe("true")), "--raw-logs", str(tmp_path / "file"))
    assert "tiny/bash/cpu-n1d1-bs1-fp32/1 cannot be made" in message
    assert "--raw-logs" in message


@pytest.mark.usefixtures("bash")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to any folder")
def test_a_folder_that_may_not_be_written(capfd, write_recipe, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    message = refusal(capfd, "run", str(write_recipe("true")), "--raw-logs", str(tmp_path / "locked"))
    assert "cannot be made" in message


@pytest.mark.parametrize("arguments", [["run"], ["run", "x", "--repeats", "0"], ["run", "x", "--case", "key"], ["fly"]])
def test_arguments_that_make_no_sense(capsys, arguments):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "runners", "run", "nope"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
