"""The commands of contributors: `python -m parsers FORMAT LOG` and `python -m tests.parsers.golden FORMAT LOG`."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path

import golden
import pytest
from click.testing import CliRunner

from perfledger.parsers import __main__ as command

SEG = golden.GOLDEN / "paddle.seg" / "train.log"
NANOGPT = golden.GOLDEN / "frameworks.nanogpt"


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(command.main, [str(each) for each in arguments])
    return result.exit_code, result.output


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_claim_records_and_facts_are_printed() -> None:
    code, out = run("frameworks.nanogpt", NANOGPT / "made-up.log", "--rows", 2)
    assert code == 0
    assert "claimed by frameworks.nanogpt (line " in out
    expected = table(NANOGPT / "records.csv")
    head, _, records = out.partition(f"reading 0: {len(expected)} records, in tokens/s")
    assert "session 1: lines 1 to " in head
    rows = [line.split()[:2] for line in records.splitlines()[3:6]]
    assert rows == [[each["line"], f"{each['step']}.0"] for each in expected[:2]] + [[]]
    assert [line.split() for line in out.splitlines() if line.startswith("tokens_per_step")] == [
        ["tokens_per_step", "65536", "1"]
    ]


def test_the_output_explains_why_a_format_does_not_claim_a_log(tmp_path: Path) -> None:
    code, out = run("frameworks.detectron2", SEG)
    assert code == 0
    assert "claimed by paddle.seg" in out
    assert "would not read this one with frameworks.detectron2" in out
    assert "no line contains b' d.utils.events' or " in out
    log = tmp_path / "train.log"
    log.write_text("first\n[TRAIN] epoch: 1, reader_cost: 2\n")
    assert (
        "line 2 contains b', reader_cost: ', and no reading matches it:\n  b'[TRAIN] epoch: 1, reader_cost: 2'"
        in run("paddle.seg", log)[1]
    )


def test_the_message_about_an_unknown_format_lists_similar_ones() -> None:
    code, out = run("paddle.segg", SEG)
    assert code == 2
    assert "there is no parsers/paddle/segg.py" in out
    assert "Did you mean paddle.seg" in out


def test_drafted_tables_are_those_of_the_golden_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden, "GOLDEN", tmp_path)
    arguments = ["frameworks.nanogpt", str(NANOGPT / "made-up.log"), "--case", "devices=1"]
    result = CliRunner().invoke(golden.main, arguments)
    assert result.exit_code == 0, result.output
    drafted = tmp_path / "frameworks.nanogpt"
    assert (drafted / "made-up.log").read_bytes() == (NANOGPT / "made-up.log").read_bytes()
    assert table(drafted / "facts.csv") == table(NANOGPT / "facts.csv")
    assert golden.document("frameworks.nanogpt") == {"log": "made-up.log", "from": "made up"}
    for name in ("records.csv", "figures.csv"):
        expected, found = table(NANOGPT / name), table(drafted / name)
        assert len(found) == len(expected)
        for mine, checked in zip(found, expected, strict=True):
            assert mine.get("hand", "") == ""
            for column in mine.keys() - {"hand"}:
                assert same(mine[column], checked[column]), (mine, checked)


def same(drafted: str, checked: str) -> bool:
    try:
        return float(drafted) == pytest.approx(float(checked), nan_ok=True)
    except ValueError:
        return drafted == checked


def draft(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(golden.main, [str(each) for each in arguments])
    return result.exit_code, result.output


def test_a_golden_folder_is_overwritten_only_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden, "GOLDEN", tmp_path)
    log = tmp_path / "acme.log"
    log.write_bytes((NANOGPT / "made-up.log").read_bytes())
    arguments = ("frameworks.nanogpt", log, "--case", "devices=1")
    assert draft(*arguments, "--from", "https://example.org/acme at 0123abc, lines 1 to 90")[0] == 0
    folder = tmp_path / "frameworks.nanogpt"
    origin = tomllib.loads((folder / "cases.toml").read_text())["from"]
    assert (folder / "acme.log").exists()
    assert origin == "https://example.org/acme at 0123abc, lines 1 to 90"
    figures = (folder / "figures.csv").read_text()
    (folder / "figures.csv").write_text(figures.replace("sustained,", "sustained,1"))
    with (folder / "cases.toml").open("a") as stream:
        stream.write('\n[other]\nsays = "A case stays."\n')
    code, out = draft(*arguments)
    assert code == 1
    assert "--force" in out
    code, out = draft("frameworks.nanogpt", "--check")
    assert code == 1
    assert [line[0] for line in out.splitlines() if "sustained" in line] == ["-", "+"]
    assert draft(*arguments, "--force")[0] == 0
    assert (folder / "figures.csv").read_text() == figures
    assert "other" in tomllib.loads((folder / "cases.toml").read_text())
    assert draft("frameworks.nanogpt", "--check") == (0, "")
