"""The command line: fast help, exit codes, messages, and the lines of `--json`."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from made_logs import clas_static, run_json, seg
from made_trees import ROOT, Called, contents, unpacked, write_run

Ingest = Callable[..., Called]

#: Keys that the documentation promises to other programs.
PROMISED = {"path", "session", "format", "outcome", "observations", "case", "environment", "figures", "problems"}


def test_help_imports_no_heavy_package() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "ingest", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {each.rpartition("|")[2].strip() for each in done.stderr.splitlines() if each.startswith("import time:")}
    assert "perfledger.ingest.cli" in imported
    heavy = {
        each
        for each in imported
        if each.partition(".")[0]
        in {"pandas", "matplotlib", "numpy", "mkdocs", "jinja2", "regex", "tabulate", "tqdm", "yaml", "concurrent"}
    }
    assert heavy == set()
    assert len(imported) < 165
    for word in ("build", "check", "explain", "diff", "new-suite", "audit", "Exit codes"):
        assert word in done.stdout


def test_reading_logs_imports_no_pandas(tree: Path) -> None:
    """`--json` without `--out` builds neither pages nor tables."""
    program = "import sys; from perfledger.ingest.cli import main; main(sys.argv[1:])"
    program += "; print(sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program, str(tree), "--json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "'numpy'" in done.stderr
    for name in ("'pandas'", "'matplotlib'", "'jinja2'", "'mkdocs'"):
        assert name not in done.stderr


def test_each_outcome_has_its_exit_code(tree: Path, ingest: Ingest, tmp_path: Path) -> None:
    assert ingest(tree, "--json").code == 0
    write_run(tree, "bad/x/y/1", b"nothing\n")
    assert ingest(tree, "--json").code == 1
    assert ingest(tree, "--out", tmp_path / "docs").code == 1
    assert ingest(tree, "--out", tmp_path / "docs", "--strict").code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no PATH given"),
        (["nowhere"], "nowhere: no such file or folder"),
        ([".", "--layout", "nowhere"], "there is no such layout"),
        ([".", "--jobs", "-1"], "--jobs -1: must be a positive number"),
        ([".", "--out", "file"], "--out file: is a file"),
        (["explain", "nowhere"], "no such log"),
    ],
)
def test_a_wrong_call_is_one_line(
    tmp_path: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    (tmp_path / "file").write_text("\n".join(seg([4.0])))
    (tmp_path / "other").write_text("\n".join(seg([5.0])))
    monkeypatch.chdir(tmp_path)
    called = ingest(*arguments)
    (problem,) = called.problems
    assert (called.code, called.out) == (2, "")
    assert problem.startswith("ingest: ")
    assert said in problem
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "other"]


@pytest.mark.parametrize("arguments", [["--jobs", "many"], ["--unknown"]])
def test_an_unknown_option_is_explained(ingest: Ingest, arguments: list[str]) -> None:
    called = ingest(".", *arguments)
    assert called.code == 2
    assert "Usage: python -m ingest build" in called.err


def test_pages_are_not_written_into_a_folder_of_logs(tree: Path, ingest: Ingest) -> None:
    """The next run would read the data of the pages as logs."""
    for out in (tree, tree / "docs"):
        called = ingest(tree, "--out", out)
        assert called.code == 2
        assert not [path for path in tree.rglob("*.json*") if path.name != "run.json"]
        assert f"--out {out}: lies in {tree}, whose files are read as logs" in called.err
    assert ingest(tree, "--out", tree / ".site").code == 0


def test_the_message_about_a_folder_without_permission_does_not_mention_a_full_disk(
    tree: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "there")

    monkeypatch.setattr("perfledger.ingest.build.read", closed)
    called = ingest(tree)
    assert called.code == 2
    assert called.err.startswith("ingest: there: Permission denied; every file is either as before or complete. Allow ")


def test_json_lines_have_the_promised_keys(tree: Path, ingest: Ingest) -> None:
    write_run(tree, "bad/x/y/1", b"nothing\n")
    write_run(tree, "two/x/y/1", [*seg([4.0]), *clas_static([(0, 10, 5.0)])])
    called = ingest(tree, "--json")
    assert len(called.lines) == 7
    for line in called.lines:
        assert PROMISED < set(line) == set(called.lines[0])
    good = next(each for each in called.lines if each["format"])
    assert set(good["figures"]) == {"sustained", "mean", "median", "reported", "paddle", "dlperf"}
    keys = {"value", "unit", "scope", "used", "skipped", "first_line", "last_line", "arithmetic"}
    assert set(good["figures"]["mean"]) == keys
    assert set(good["figures"]["reported"]) == {"value", "reason"}
    assert called.out.count("\n") == len(called.lines)


def test_json_without_out_writes_nothing(tree: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree.parent)
    before = contents(tree.parent)
    assert ingest(tree, "--json").code == 0
    assert contents(tree.parent) == before


def test_json_with_out_prints_lines_only(tree: Path, ingest: Ingest, tmp_path: Path) -> None:
    called = ingest(tree, "--json", "--out", tmp_path / "docs")
    assert all(each.startswith("{") for each in called.out.splitlines())
    written = [
        json.loads(each)
        for path in (tmp_path / "docs/data/runs").glob("*.jsonl")
        for each in path.read_text().splitlines()
    ]
    assert sorted(written, key=lambda each: each["path"]) == sorted(called.lines, key=lambda each: each["path"])


def test_the_summary_counts_runs_records_and_logs(tree: Path, ingest: Ingest, tmp_path: Path) -> None:
    write_run(tree, "bad/x/y/1", b"nothing\n")
    out = ingest(tree, "--out", tmp_path / "docs").out.splitlines()
    assert out[0].split() == ["format", "runs", "records", "published", "not", "placed"]
    table = {" ".join(each.split()[:-4]): each.split()[-4:] for each in out[2:-1]}
    assert table == {"paddle.seg": ["5", "54", "5", "0"], "not recognized": ["1", "0", "0", "0"]}
    assert "6 logs read" in out[-1]


def test_a_closed_pipe_is_not_an_error(tree: Path) -> None:
    for number in range(10):
        write_run(tree, f"more/x/{number}/1", seg([4.0, 5.0 + number]))
    process = subprocess.Popen(
        [sys.executable, "-m", "ingest", str(tree), "--json"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    process.wait(timeout=60)
    assert b"Traceback" not in said
    assert b"Exception ignored" not in said
    assert b"Error" not in said


def test_two_paths_of_one_name_are_both_read(tmp_path: Path, ingest: Ingest) -> None:
    for top in ("one", "two"):
        write_run(tmp_path / top / "logs", "a/b/c/1", seg([4.0, float(len(top)) + ord(top[0])]))
    called = ingest(tmp_path / "one/logs", tmp_path / "two/logs", "--json")
    assert [each["path"] for each in called.lines] == ["one/logs/a/b/c/1/train.log", "two/logs/a/b/c/1/train.log"]
    assert len({each["id"] for each in called.lines}) == 2


def test_a_repeated_path_counts_once(tree: Path, ingest: Ingest) -> None:
    assert len(ingest(tree, tree, "--json").lines) == 5
    assert len(ingest(tree, tree / "seg", "--json").lines) == 5


def test_a_single_log_can_be_read(tree: Path, ingest: Ingest) -> None:
    called = ingest(tree / "seg/paddleseg/bs2/1/train.log", "--json")
    assert (called.code, len(called.lines)) == (0, 1)
    assert called.lines[0]["case"]["batch_size"] == 2


def test_the_name_of_the_machine_is_not_published(tree: Path, ingest: Ingest, tmp_path: Path) -> None:
    called = ingest(tree, "--json", "--out", tmp_path / "docs")
    everything = b"".join(unpacked(tmp_path / "docs").values()) + called.out.encode()
    assert str(tree.parent).encode() not in everything


def test_a_folder_that_cannot_be_written_ends_the_command(tree: Path, ingest: Ingest, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "data").write_text("a file where a folder belongs")
    called = ingest(tree, "--out", tmp_path / "docs")
    assert called.code == 2
    assert len(called.problems) == 1
    assert "data" in called.problems[0]
    assert called.problems[0].endswith(": move away what has its place, and run again")


def test_an_interruption_is_one_line(tree: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupts(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("perfledger.ingest.record.ledger.collect", interrupts)
    called = ingest(tree, "--json")
    assert called.code == 130
    assert called.err.strip() == "ingest: interrupted; every file is either as before or complete"


def test_sessions_of_one_log_are_separate_lines(tmp_path: Path, ingest: Ingest) -> None:
    from made_logs import CLAS_BANNER, clas_dygraph

    log = [
        CLAS_BANNER,
        *clas_dygraph([(1, 10, 4.0), *((1, 10 * i, 8.0) for i in range(2, 7))], batch=4),
        CLAS_BANNER,
        CLAS_BANNER.replace("13:14:00", "13:15:00"),
        *clas_dygraph([(1, 10, 4.0), *((1, 10 * i, 16.0) for i in range(2, 7))], batch=4),
    ]
    write_run(tmp_path / "logs", "a/b/c/1", log, run=run_json())
    called = ingest(tmp_path / "logs", "--json")
    assert [(each["session"], each["sessions"], each["figures"]["mean"].get("value")) for each in called.lines] == [
        (1, 3, 8.0),
        (2, 3, None),
        (3, 3, 16.0),
    ]
    assert called.code == 1
    assert [each.partition(": ")[0] for each in called.problems] == ["logs/a/b/c/1/train.log:8"]


def test_an_internal_error_has_its_own_exit_code() -> None:
    """Python's exit code after a traceback is 1, which means "some inputs were not recognized" in this command."""
    fails = "import perfledger.ingest.cli as cli\ncli.main = lambda: 1 / 0\n"
    program = f"{fails}import runpy\nrunpy.run_module('ingest', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "ZeroDivisionError" in done.stderr
    assert "a bug in Perfledger" in done.stderr


def test_a_missing_package_is_reported(tree: Path, tmp_path: Path) -> None:
    """A missing package is not a bug of ours: users call `python -m ingest` with various Pythons."""
    (tmp_path / "regex.py").write_text('raise ModuleNotFoundError("No module named \'regex\'", name="regex")\n')
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "ingest", str(tree), "--json"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "has no module regex, so nothing was written: python -m pip install -r requirements/site.txt" in done.stderr
    assert "Traceback" not in done.stderr
