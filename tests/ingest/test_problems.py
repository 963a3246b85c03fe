"""Messages of problems: every problem of a log is provoked, and its message has cause and remedy."""

from __future__ import annotations

import bz2
import contextlib
import hashlib
import io
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from made_logs import clas_static, clock, pytorch_bert, pytorch_resnet50, run_json, seg
from made_trees import Called, write_run
from pyarrow import parquet

from perfledger.ingest.cli import main
from perfledger.ingest.common import problems, words
from perfledger.ingest.common.problems import FEW, GROUPS_PRINTED, grouped, message, printed
from perfledger.schema.records import Problem

SEG = "".join(f"{each}\n" for each in seg([4.0, 20.0, 21.0, 22.0, 23.0, 24.0]))
STATIC = "".join(f"{each}\n" for each in clas_static([(0, 10 * i, 20.0) for i in range(1, 6)]))
BANNER = "[2026/11/20 13:14:00] ppcls INFO: =    PaddleClas is powered by PaddlePaddle !    =\n"


def test_a_reason_is_shown_in_words() -> None:
    reason = {"code": "too_few_records", "args": {"records": 1, "needed": 2}}
    problem = Problem("no_figure", "a/train.log", 3, {"reason": reason})
    line = message(problem)
    assert line.startswith("a/train.log:3: ")
    assert "{" not in line
    assert "too_few_records" not in line


def empty(*paths: str) -> list[Problem]:
    return [Problem("empty", each) for each in paths]


def test_problems_of_one_kind_are_grouped_by_folder() -> None:
    found = grouped([*empty("t/a/x/1.log", "t/b/2.log", "t/a/y/3.log"), Problem("binary", "t/c/z/4.bin")])
    assert [(each.code, each.folder, [each.path for each in each.problems]) for each in found] == [
        ("empty", "t/a", ["t/a/x/1.log", "t/a/y/3.log"]),
        ("binary", "t/c/z", ["t/c/z/4.bin"]),
        ("empty", "t/b", ["t/b/2.log"]),
    ]


def test_problems_of_one_folder_are_one_group() -> None:
    assert [(each.folder, len(each.problems)) for each in grouped(empty("t/1.log", "t/2.log"))] == [("t", 2)]
    assert [(each.folder, len(each.problems)) for each in grouped(empty("1.log", "t/2.log"))] == [("", 1), ("t", 1)]


def test_few_problems_are_printed_one_by_one_and_many_by_group() -> None:
    few = empty(*(f"t/{at}/1.log" for at in range(FEW)))
    assert printed(few, "f", verbose=False) == [message(each) for each in few]
    many = empty(*(f"t/{at % 12:02}/{at}.log" for at in range(2005)))
    assert printed(many, "f", verbose=True) == [message(each) for each in many]
    *groups, last = printed(many, "out/f", verbose=False)
    assert len(groups) == GROUPS_PRINTED
    assert groups[0] == f"t/00/: empty, 168 times, such as {message(many[0])}"
    assert "2,005 problems, 10 of 12 groups" in last
    assert "--verbose" in last
    assert "out/f" in last
    assert "out/f" not in printed(many, "", verbose=False)[-1]


def test_the_log_that_killed_its_reader_is_printed_first_among_a_thousand_problems() -> None:
    killer = Problem("reader_died", "t/05/killer.log", args={"cause": "SIGSEGV"})
    many = [*empty(*(f"t/{at % 12:02}/{at}.log" for at in range(999))), killer]
    assert printed(many, "", verbose=False)[0] == message(killer)


def test_the_command_groups_many_problems_unless_it_is_verbose(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (logs := tmp_path / "logs").mkdir()
    for at in range(FEW + 1):
        (logs / f"{at:02}.log").write_bytes(b"")
    out = tmp_path / "out"
    assert main([str(logs), "--out", str(out)]) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert str(out / "data" / "problems.jsonl") in said[1]
    assert len((out / "data" / "problems.jsonl").read_text("utf-8").splitlines()) == FEW + 1
    assert main([str(logs), "--json", "--verbose"]) == 1
    assert len(capsys.readouterr().err.splitlines()) == FEW + 1


def test_the_command_names_the_file_of_many_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(problems, "MANY_LOGS", FEW)
    (logs := tmp_path / "logs").mkdir()
    for at in range(FEW + 1):
        (logs / f"{at:02}.log").write_bytes(b"")
    assert main([str(logs), "--out", str(tmp_path / "out")]) == 1
    path = tmp_path / "out" / "data" / "problems.parquet"
    assert str(path) in capsys.readouterr().err
    assert parquet.read_table(path).num_rows == FEW + 1


#: A log without steps, samples of an epoch, and time per step.
LOSS_AND_SUMMARY = (
    "{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.5}\n"
    "{'train_runtime': 400.0, 'train_samples_per_second': 1.25, 'epoch': 3.0}\n"
)


def put(name: str, data: str | bytes) -> Callable[[Path], object]:
    """Return a function that writes a file without a run.json."""

    def make(root: Path) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)

    return make


def with_run(log: str, **about: object) -> Callable[[Path], object]:
    """Return a function that writes a log with a run.json."""
    return lambda root: write_run(root, "a/1", log, run=run_json(**about))  # type: ignore[arg-type]


def dll(steps: Sequence[tuple[int, float]], *, second: float = 0.125) -> str:
    """Return lines of NGC PyTorch ResNet-50 for (iteration, speed), `second` apart."""
    return "".join(f"{each}\n" for each in pytorch_resnet50(steps, second=second))


#: The trainer's own figure, three times the speed of its lines.
SUMMARY = f"DLL {clock(30)} - Summary: train.loss : 6.67479  train.total_ips : 96.00 img/s\n"


def nemo(step: int, consumed: int) -> str:
    """Return a line of NeMo with a step and the samples that were consumed before its end."""
    return (
        f"DLL {clock(2.0 * step)} - {step} reduced_train_loss : 11.25  lr : 0.0  global_step : {step}.0  "
        f"consumed_samples : {consumed}.0  grad_norm : 8.75  train_step_timing in s : 2.0  epoch : 0 \n"
    )


def twice(second: str) -> Callable[[Path], object]:
    """Return a function that writes two logs into a folder, without a run.json."""

    def make(root: Path) -> None:
        put("a.log", SEG * 2)(root)
        put("b.log", second)(root)

    return make


def unknown_json(root: Path) -> None:
    write_run(root, "a/1", SEG, run=run_json() | {"schema": "other"})


def no_json(root: Path) -> None:
    write_run(root, "a/1", SEG, run="{")


def begun_again(root: Path) -> None:
    write_run(root, "a/1", SEG + SEG.replace("2026-11-20", "2026-11-21"), run=run_json())


def with_part(name: str, stated: str | None, text: str | None) -> Callable[[Path], object]:
    """Return a function that writes a run with another file: its text in run.json, and its text on the disk."""

    def make(root: Path) -> None:
        files = {name: {"sha256": hashlib.sha256(stated.encode()).hexdigest()}} if stated is not None else {}
        write_run(root, "a/1", SEG, run=run_json(files={"train.log": {}, **files}))
        if text is not None:
            put(f"a/1/{name}", text)(root)

    return make


def without_log(root: Path) -> None:
    write_run(root, "a/1", SEG).unlink()


#: Functions that provoke each problem by its code; a suffix after a hyphen separates several ways.
HAPPENS: dict[str, Callable[[Path], object]] = {
    "unreadable": lambda root: (root / "a.log").symlink_to(root / "nowhere"),
    "not_a_file": lambda root: os.mkfifo(root / "a.log"),
    "empty": put("a.log", ""),
    "no_logs": put("a.md", "# a"),
    "link_loop": lambda root: (root / "up").symlink_to(root),
    "unknown_format": put("a.log", "Dear diary\n"),
    "binary": put("a.log", bytes(range(256)) * 300),
    "unpacks_too_far": lambda root: (root / "a.log.bz2").write_bytes(bz2.compress(bytes((64 << 20) + 1))),
    "binary-long-line": put("a.log", "x" * (9 << 20)),
    "two_formats": put("a.log", SEG + STATIC),
    "wrong_file": no_json,
    "wrong_file-schema": unknown_json,
    "run_json_ignored": with_run(SEG, colour="blue"),
    "run_json_ignored-times": with_run(SEG, start="yesterday"),
    "hash_mismatch": with_run(SEG, files={"train.log": {"sha256": hashlib.sha256(b"").hexdigest()}}),
    "other_format": with_run(SEG, format="paddle.clas_static"),
    "missing_facts": put("a.log", LOSS_AND_SUMMARY),
    "withheld": with_run(SEG, batch_size=64),
    "withheld-clock": with_run(dll([(i, 32.0) for i in range(20)], second=2.1)),
    "withheld-summary": with_run(dll([(i, 32.0) for i in range(20)]) + SUMMARY),
    "withheld-counters": with_run("".join(nemo(i, 9 * (i + 1)) for i in range(20)), batch_size=8, framework="x"),
    "withheld-physics": with_run(
        dll([(i, 6e8) for i in range(20)], second=4 / 6e8), hardware="V100-SXM2-16GB", model="ResNet-50"
    ),
    "no_figure-clock": with_run(
        "\n".join(pytorch_bert([(n, 2.0 * n - 60.0 * (n == 10)) for n in range(1, 21)])) + "\n", accumulation=1
    ),
    "impossible_figure": with_run(SEG.replace("ips: 22.0000", "ips: nan")),
    "begun_anew": begun_again,
    "no_step": with_run(BANNER + "Traceback (most recent call last):\n", outcome="failed"),
    "no_speed": put("a.log", "{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.25}\n" * 3),
    "unread": put("a.log", BANNER + "an epoch went by\n"),
    "no_figure": with_run(
        "".join(f"Epoch {n}/6\n155/155 [====] - 1s 4ms/step - loss: 0.5000 - acc: 0.7500\n" for n in range(1, 7))
    ),
    "too_few": with_run("".join(SEG.splitlines(keepends=True)[:3])),
    "cut_line": with_run(SEG + SEG.splitlines()[-1][:150]),
    "ended_badly": with_run(SEG + "RuntimeError: CUDA out of memory\n"),
    "duplicate": twice(SEG * 2),
    "contradiction": with_run("GPUs used: 8\n" + SEG, devices=16),
    "unfinished": put("a/1/launch.json", '{"schema": "perfledger.launch/1"}'),
    "no_log_of_run": without_log,
    "part_changed-missing": with_part("node1/train.log", SEG, None),
    "part_changed": with_part("node1/train.log", SEG, "x"),
    "part_unnamed": with_part("node1/train.log", None, SEG),
    "wrong_file-plan": put("plans/a.json", '{"schema": "perfledger.plan/1", "recipe": ""}'),
    "wrong_file-accelerators": put("accelerators.toml", "[A100]\nwatts = 400\n"),
    "wrong_file-changes": put("changes.toml", "[[change]]\ndate = 2026-11-21\n"),
    "wrong_file-environment": with_part("environment.json", "{", "{"),
}
#: Problems that other tests provoke: of telemetry, published figures, parameter servers, two folders, and layouts.
ELSEWHERE = {
    "fact_differs",
    "facts_unused",
    "fault",
    "changing",
    "reader_died",
    "too_slow",
    "other_log",
    "unmatched_name",
    "beside_missing",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Called, Path]:
    """Provoke every problem in a folder with its name, read all by one call, and return output and site."""
    top = tmp_path_factory.mktemp("problems")
    for code, make in HAPPENS.items():
        (top / code).mkdir()
        make(top / code)
    err = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
        code = main([*(str(top / each) for each in HAPPENS), "--verbose", "--out", str(top / "docs")])
    return Called(code, "", err.getvalue()), top / "docs"


@pytest.mark.parametrize("code", HAPPENS)
def test_each_problem_occurs_and_states_cause_and_remedy(built: tuple[Called, Path], code: str) -> None:
    called, _ = built
    assert called.code == 1, called.err
    text = words.load().entries[f"problem.{code.partition('-')[0]}"]
    pattern = re.sub(r"\\\{\w+\\\}", ".+", re.escape(text["en"]))
    # The path of a plan begins with its folder of plans.
    own = [line for line in called.problems if line.startswith("plans/" if code == "wrong_file-plan" else code)]
    assert [line for line in own if re.search(pattern, line)], own


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_of_problems_has_no_unfilled_slot(built: tuple[Called, Path], language: str) -> None:
    page = (built[1] / language / "problems.md").read_text("utf-8")
    # A log that cannot be read has the template of a line in its message.
    lines = [line for line in page.splitlines() if "unread/" not in line]
    assert not [line for line in lines if re.search(r"\{\w+\}", line)]


def test_every_problem_of_logs_has_an_example() -> None:
    codes = {key.partition(".")[2] for key in words.load().entries if key.startswith("problem.")}
    others = {each for each in codes if each.startswith(("telemetry_", "published_"))}
    assert codes - others - ELSEWHERE == {each.partition("-")[0] for each in HAPPENS}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_message_of_every_problem_has_more_than_a_cause(language: str) -> None:
    """A second sentence or clause states the consequence or the remedy."""
    for key, entry in words.load().entries.items():
        if key.startswith("problem."):
            assert len(re.findall(r"[.;:,。；，]", entry[language])) >= 2, key
