"""Broken or hostile input: one clear problem with its path, and everything else is published."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from calls import PEAK
from made_logs import (
    clas_static,
    run_json,
    seg,
)
from made_trees import ROOT, Called, make_tree, write_run

from perfledger.ingest.cli import main
from perfledger.ingest.record import ledger

Ingest = Callable[..., Called]
Broken = Callable[[Callable[[Path], object]], Called]
SPEEDS = [4.0, 20.0, 21.0, 22.0, 23.0, 24.0]
GOOD = 5


def call(*arguments: object) -> Called:
    """Call the command and capture its output, for fixtures of the module."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main([str(each) for each in arguments])
    return Called(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def good_lines(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return the lines of the good tree without bad input."""
    return call(make_tree(tmp_path_factory.mktemp("good") / "logs"), "--json").lines


def of_good_tree(called: Called) -> list[dict[str, Any]]:
    return [each for each in called.lines if each["path"].startswith("logs/seg/paddleseg/")]


@pytest.fixture
def broken(tree: Path, ingest: Ingest, good_lines: list[dict[str, Any]]) -> Broken:
    """Return a function that adds bad input to the good tree, reads it, and checks that the good lines are the same."""

    def added(add: Callable[[Path], object]) -> Called:
        add(tree)
        called = ingest(tree, "--json")
        assert of_good_tree(called) == good_lines
        return called

    return added


def read_once(folder: Path, add: Iterable[Callable[[Path], object]]) -> Called:
    """Read a tree with many bad inputs by one call; each test looks at one of them."""
    (folder / "logs").mkdir()
    for each in add:
        each(folder / "logs")
    return call(folder / "logs", "--json", "--verbose")


def problems_of(called: Called, path: str) -> list[str]:
    return [each for each in called.problems if re.match(rf"{re.escape(path)}(:\d+)?: ", each)]


def one_problem(called: Called, where: str, *words: str) -> None:
    """Check for exit code 1 and exactly one line on stderr that begins with the path."""
    assert called.code == 1, called.err
    assert len(called.problems) == 1, called.err
    assert called.problems[0].startswith(f"{where}: "), called.err
    assert len(called.problems[0]) > len(where) + 20
    for word in words:
        assert word in called.problems[0]


def at(name: str, data: bytes) -> Callable[[Path], object]:
    def add(tree: Path) -> None:
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return add


SEG = "".join(f"{each}\n" for each in seg(SPEEDS)).encode()
STATIC = "".join(f"{each}\n" for each in clas_static([(0, 10 * i, 20.0) for i in range(1, 6)])).encode()

#: File name, content, and the code of the problem.
FILES: dict[str, tuple[str, bytes, str]] = {
    "empty": ("1.log", b"", "empty"),
    "only spaces": ("3.log", b" \r\n\t\x00 ", "unknown_format"),
    "binary": ("4.log", bytes(range(256)) * 300, "binary"),
    "binary that begins like a log": ("5.log", SEG[:150] + b"\x00\x01\x02\xff" * 5000, "binary"),
    "prose": ("6.log", b"Dear diary, ips: 127.0.0.1 samples/sec\n" * 50, "unknown_format"),
    "invalid UTF-8 only": ("8.log", b"\xff\xfe\xc3\x28\n" * 100, "unknown_format"),
    "two formats": ("9.log:7", SEG + STATIC, "two_formats"),
    "two formats on one line": ("10.log:6", SEG[:-1] + b" " + STATIC, "two_formats"),
    "an empty gzip": ("11.log.gz", b"", "empty"),
    "no gzip": ("13.log.gz", SEG, "unreadable"),
    "a truncated gzip": ("15.log.gz", gzip.compress(SEG * 400)[:200], "unreadable"),
}


def with_file(name: str, data: bytes) -> Callable[[Path], object]:
    return at("bad/" + name.partition(":")[0], data)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Called:
    return read_once(tmp_path_factory.mktemp("files"), [with_file(name, data) for name, data, _ in FILES.values()])


@pytest.mark.parametrize(("name", "code"), [(name, code) for name, _, code in FILES.values()], ids=FILES)
def test_a_file_without_a_log_is_a_problem(files: Called, name: str, code: str) -> None:
    assert files.codes[f"logs/bad/{name}"] == code
    assert (files.code, len(files.problems), len(files.lines)) == (1, len(FILES), len(FILES))


def test_a_folder_without_logs_is_a_problem(tree: Path, ingest: Ingest, tmp_path: Path) -> None:
    (tmp_path / "nothing" / "below").mkdir(parents=True)
    (tmp_path / "nothing" / "README.md").write_text("no log")
    one_problem(ingest(tree, tmp_path / "nothing", "--json"), "nothing", "no logs")
    alone = ingest(tmp_path / "nothing", "--out", tmp_path / "other")
    assert alone.code == 2
    assert not (tmp_path / "other").exists()
    assert alone.problems[0].startswith("nothing: ")


def line_of(called: Called, below: str = "bad/") -> dict[str, Any]:
    (found,) = (each for each in called.lines if f"/{below}" in each["path"])
    return found


RUN_JSON: dict[str, bytes | dict[str, Any]] = {
    "infinite": b'{"wall_seconds": 1e999, ' + json.dumps(run_json()).encode()[1:],
    "more devices than atoms": run_json(devices=10**400),
    "an option that counts is a fraction": run_json(options={"batch_size_of_job": 0.5}),
    "environment is a text": run_json(environment="x"),
    "a file above": run_json(files={"train.log": {}, "../../secret": {}}),
    "a file with a line break": run_json(files={"train.log": {}, "a\nb": {}}),
    "a file that no disk can name": run_json(files={"train.log": {}, "\ud800": {}}),
    "the recipe has no name": run_json(recipe={"case": {}}),
    "records are fewer than none": run_json(records={"at_least": -1}),
    "warnings without end": run_json(warnings=["x"] * 1001),
    "a node above": run_json() | {"nodes": [{"folder": ".."}]},
}


def with_run_json(number: int, document: Any) -> Callable[[Path], object]:
    # Each log has different bytes, so it is not a duplicate.
    return partial(write_run, name=f"bad/{number}/1", log=SEG + b"#%d\n" % number, run=document)


@pytest.fixture(scope="module")
def invalid(tmp_path_factory: pytest.TempPathFactory) -> Called:
    documents = [with_run_json(number, document) for number, document in enumerate(RUN_JSON.values())]
    return read_once(tmp_path_factory.mktemp("invalid"), documents)


@pytest.mark.parametrize("fault", RUN_JSON)
def test_an_invalid_run_json_is_a_problem(invalid: Called, fault: str) -> None:
    folder = f"bad/{list(RUN_JSON).index(fault)}/1"
    (problem,) = problems_of(invalid, f"logs/{folder}/run.json")
    assert len(problem) < 500
    line = line_of(invalid, folder)
    assert not line["published"]
    assert "model" not in line["case"]
    assert (invalid.code, len(invalid.problems)) == (1, len(RUN_JSON))


def test_an_invalid_run_json_of_two_logs_is_one_problem(broken: Broken) -> None:
    def add(tree: Path) -> None:
        write_run(tree, "bad/paddleseg/x/1", SEG, run=b"{")
        (tree / "bad/paddleseg/x/1/second.log").write_bytes(SEG.replace(b"ips: 4", b"ips: 5"))

    called = broken(add)
    assert (called.code, len(called.problems)) == (1, 1)
    assert problems_of(called, "logs/bad/paddleseg/x/1/run.json")


@pytest.mark.parametrize(("name", "target"), [("seg/again", "../../logs"), ("self.log", "self.log")])
def test_a_link_that_leads_back_is_a_problem(broken: Broken, name: str, target: str) -> None:
    called = broken(lambda tree: (tree / name).symlink_to(target))
    one_problem(called, f"logs/{name}")
    assert len(of_good_tree(called)) == GOOD


def test_links_to_good_logs_are_followed(broken: Broken, tmp_path: Path) -> None:
    elsewhere = write_run(tmp_path / "elsewhere", "x/1", seg([3.0, *[7.0] * 5], batch=7), run=run_json(batch_size=7))
    called = broken(lambda tree: (tree / "linked").symlink_to(elsewhere.parent.parent))
    assert (called.code, len(called.lines)) == (0, GOOD + 1)


@pytest.mark.parametrize("name", ["pipe.log", "seg/paddleseg/bs2/3/train.log", "seg/paddleseg/bs2/1/run.json"])
def test_a_fifo_is_not_opened(tree: Path, ingest: Ingest, name: str) -> None:
    def add(tree: Path) -> None:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).unlink(missing_ok=True)
        os.mkfifo(tree / name)

    add(tree)
    one_problem(ingest(tree, "--json"), f"logs/{name}", "pipe")


def test_a_fifo_that_the_user_names_is_not_opened(tmp_path: Path, ingest: Ingest) -> None:
    os.mkfifo(tmp_path / "pipe")
    called = ingest(tmp_path / "pipe", "--out", tmp_path / "docs")
    assert called.code in (1, 2)
    assert called.problems[0].startswith("pipe: ")


def test_a_socket_is_a_problem(tree: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.chdir(tree)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.log")
        called = ingest(tree, "--json")
    one_problem(called, "logs/socket.log")


def refuse(monkeypatch: pytest.MonkeyPatch, refused: Path) -> None:
    """Make one path unreadable, even for root."""
    real_open, real_os_open, real_scandir = Path.open, os.open, os.scandir

    def opened(self: Path, *args: Any, **kwargs: Any) -> Any:
        if self == refused and "r" in (args[0] if args else kwargs.get("mode", "r")):
            raise PermissionError(13, "Permission denied", str(self))
        return real_open(self, *args, **kwargs)

    def os_opened(path: Any, *args: Any, **kwargs: Any) -> int:
        if Path(path) == refused:
            raise PermissionError(13, "Permission denied", str(path))
        return real_os_open(path, *args, **kwargs)

    def scanned(path: Any = ".") -> Any:
        if not isinstance(path, int) and Path(path) == refused:
            raise PermissionError(13, "Permission denied", str(path))
        return real_scandir(path)

    monkeypatch.setattr(Path, "open", opened)
    monkeypatch.setattr(os, "open", os_opened)
    monkeypatch.setattr(os, "scandir", scanned)


@pytest.mark.parametrize("refused", ["bad/one.log", "bad"])
def test_an_unreadable_file_or_folder_is_a_problem(
    broken: Broken, tree: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    refuse(monkeypatch, tree / refused)
    one_problem(broken(at("bad/one.log", SEG)), f"logs/{refused}", "Permission denied")


@pytest.mark.parametrize("most", [2, 5000], ids=["dataset", "lines"])
def test_a_log_that_becomes_unreadable_keeps_its_figure(
    most: int, tree: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger keeps the figure of an earlier call, and adds the problem."""
    monkeypatch.setattr(ledger, "MANY_LOGS", most)
    out, log = tree.parent / "docs", tree / "seg/paddleseg/bs2/1/train.log"
    assert ingest(tree, "--out", out).code == 0
    os.utime(log, (1, 1))
    refuse(monkeypatch, log)
    called = ingest(tree, "--out", out, "--json")
    one_problem(called, "logs/seg/paddleseg/bs2/1/train.log", "Permission denied")
    kept = next(each for each in called.lines if each["path"].endswith("bs2/1/train.log"))
    assert kept["figures"]["mean"]["value"] > 0
    monkeypatch.undo()
    assert ingest(tree, "--out", out).code == 0


#: The text that a line repeats, its length in MiB, and a part of the message.
LONG = {
    "a record without its end": (SEG.splitlines()[0][:60], 40, "8 MiB"),
    "NUL bytes": (b"\x00", 16, "NUL bytes"),
    "carriage returns": (b"10%|#   |\r", 16, "8 MiB"),
}


@pytest.mark.parametrize(("piece", "mib", "word"), LONG.values(), ids=LONG)
def test_a_very_long_line_does_not_fill_the_memory(tmp_path: Path, piece: bytes, mib: int, word: str) -> None:
    write_run(tmp_path / "logs", "good/paddleseg/x/1", SEG)
    block = (piece * ((1 << 20) // len(piece) + 1))[: 1 << 20]
    with (tmp_path / "logs/long.log").open("wb") as stream:
        stream.writelines([block] * mib)
    # A pattern with quadratic backtracking needs hours for such a line.
    done = subprocess.run(
        [sys.executable, "-c", PEAK, tmp_path / "logs", "--json", "--jobs", "1"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    problem, peak_kib = done.stderr.splitlines()
    assert done.returncode == 1, done.stderr
    assert problem.startswith("logs/long.log")
    assert word in problem
    assert int(peak_kib) < 150 * 1024


NAMES = (
    b"new\nline.log",  # a newline
    b"\x1b[2Jclear.log",  # an escape sequence
    b"caf\xe9 \xff.log",  # no UTF-8
    b"<script>alert(1)<script>.log",  # markup
    b"a|b`c`{{ 7*7 }}](javascript:alert(1)).log",  # a table's edge
    "a\u202eb.log".encode(),  # a bidirectional override
    b"  two words .log",  # blanks
    b"x" * 240 + b".log",  # very long
    b"#",  # only a hash sign
    b"--strict",  # an option
)


@pytest.mark.parametrize("good", [True, False], ids=["logs", "no logs"])
def test_names_of_files_are_neither_markup_nor_options(tree: Path, ingest: Ingest, good: bool) -> None:
    for number, name in enumerate(NAMES):
        folder = tree / "named" / str(number)
        folder.mkdir(parents=True)
        (folder / os.fsdecode(name)).write_bytes((SEG if good else b"nothing\n") + b"#%d\n" % number)
        if good:
            (folder / "run.json").write_text(json.dumps(run_json()))
    out = tree.parent / "docs"
    called = ingest(tree, "--out", out, "--json")
    assert called.code == (0 if good else 1), called.err
    listed = [each for each in NAMES if good or each.endswith(b".log")]
    assert len(called.problems) == (0 if good else len(listed)), called.err
    assert all(each.isprintable() for each in called.problems)
    assert all(each.startswith("logs/named/") for each in called.problems)
    named = [each for each in called.lines if each["path"].startswith("logs/named/")]
    assert [each["published"] for each in named] == [good] * len(listed)
    assert called.out.encode()
    assert all(path.name.isprintable() and path.name.isascii() for path in out.rglob("*"))


#: Files that repositories contain next to logs, and whose names are not those of logs.
OTHERS = {
    "LICENSE": "Apache License\nVersion 2.0, January 2004\n",
    "NOTICE": "made up\n",
    "README": "1. Run it.\n2. Read it.\n",
    "README.txt": "1. Run it.\n2. Read it.\n",
    "requirements.txt": "numpy==1.2\ntorch==3.4\n",
    "benchmark.para": "GLOBAL_BATCH 320\nGPU 2\n",
    "hostfile": "node1 slots=8\n",
    "notes.txt": "The machine was idle.\n" * 30,
    "touched": "",
    "a|b`c`{{ 7*7 }}](javascript:alert(1))": "",
    "<script>alert(1)<script>": "",
}
#: Files that are named like logs, and must be reported if no format reads them.
NAMED_LIKE_LOGS = {
    "train.log": "Dear diary\n",
    "workerlog.0": "Dear diary\n",
    "slurm-17.out": "Dear diary\n",
    "trainer_log.jsonl": '{"a": 1}\n',
    "result_0.txt": "epoch 1: 17.5 images per second\n" * 5,
    "run.log.gz": "",
}


def add_others(tree: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        at(f"others/{name}", text.encode())(tree)
    return tree


def test_unread_files_that_are_not_named_like_logs_are_skipped(
    tree: Path, ingest: Ingest, tmp_path: Path, good_lines: list[dict[str, Any]]
) -> None:
    out = tmp_path / "docs"
    first, second = (ingest(add_others(tree, OTHERS), "--out", out) for _ in range(2))
    for called in (first, second):
        assert (called.code, called.problems) == (0, [])
        (line,) = (each for each in called.out.splitlines() if each.startswith("skipped: "))
        assert line.startswith(f"skipped: {len(OTHERS)} files that no format reads")
    assert ingest(tree, "--json").lines == good_lines
    for language in ("en", "zh"):
        page = (out / language / "problems.md").read_text("utf-8")
        assert [name for name in OTHERS if name.isalpha() and f"logs/others/{name}" not in page] == []
        assert "<script>alert(1)" not in page


def test_an_unread_file_that_is_named_like_a_log_is_a_problem(tree: Path, ingest: Ingest) -> None:
    called = ingest(add_others(tree, NAMED_LIKE_LOGS), "--json")
    assert called.code == 1
    assert [each.partition(": ")[0] for each in called.problems] == sorted(
        f"logs/others/{name}" for name in NAMED_LIKE_LOGS
    )


def test_an_unread_file_is_a_problem_if_the_user_or_a_run_json_names_it(tree: Path, ingest: Ingest) -> None:
    add_others(tree, {"LICENSE": OTHERS["LICENSE"]})
    (named,) = ingest(tree / "others" / "LICENSE", "--json").problems
    assert named.startswith("LICENSE: is not recognized")
    (tree / "others" / "run.json").write_text(json.dumps(run_json()))
    (described,) = ingest(tree, "--json").problems
    assert described.startswith("logs/others/LICENSE: is not recognized")
