"""Entries of changes.toml: their keys, the results that they are about, and messages about faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfledger.ingest.common.problems import message
from perfledger.ingest.read.change_notes import FILE, found

ENTRY = """[[change]]
date = 2026-11-21
framework = "PyTorch"
hardware = "H100-SXM5-80GB"
text = { en = "Kernel updated", zh = "内核升级" }
link = "https://example.org/1"

[[change]]
version = "0.2.0"
model = "resnet50"
text = { en = "New data loader", zh = "新的数据加载器" }
"""


def test_entries_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(ENTRY)
    read = found([tmp_path, tmp_path / "absent"])
    assert [each.text.zh for each in read.notes] == ["内核升级", "新的数据加载器"]
    assert read.problems == ()


def test_an_entry_is_about_the_results_that_it_names(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(ENTRY)
    first, second = found([tmp_path]).notes
    assert first.is_about("BERT-base", "pytorch", "h100-sxm5-80gb")
    assert not first.is_about("BERT-base", "NGC PyTorch", "H100-SXM5-80GB")
    assert not first.is_about("BERT-base", "PyTorch", "A100")
    assert second.is_about("ResNet-50 v1.5", "any", "any")
    assert not second.is_about("BERT-base", "any", "any")


def test_a_day_between_two_dates_is_found(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(ENTRY)
    first, second = found([tmp_path]).notes
    assert first.is_between("2026-11-20", "2026-11-21")
    assert not first.is_between("2026-11-21", "2026-11-22")
    assert not first.is_between("2026-11-01", "2026-11-20")
    assert not first.is_between("", "")
    assert second.is_between("", "")


@pytest.mark.parametrize(
    ("line", "instead", "at", "cause"),
    [
        ("date = 2026-11-21\n", "", 1, "change[0]: says not when; add date, version or round"),
        ('version = "0.2.0"\n', "", 8, "change[1]: says not when"),
        ("date = 2026-11-21", 'date = "in spring"', 2, "date"),
        ('hardware = "', 'hardwear = "', 4, "did you mean 'hardware'"),
        (', zh = "内核升级"', "", 5, "zh"),
        ('zh = "新的数据加载器"', 'zh = " "', 11, "'zh'"),
        ('link = "https', 'link = "ftp', 6, "an address that begins with https://"),
        ("[[change]]\nversion", "[[changes]]\nversion", 8, "did you mean 'change'"),
    ],
)
def test_a_fault_is_a_problem_with_its_line(line: str, instead: str, at: int, cause: str, tmp_path: Path) -> None:
    assert ENTRY.count(line) == 1
    (tmp_path / FILE).write_text(ENTRY.replace(line, instead))
    read = found([tmp_path])
    assert read.notes == ()
    (problem,) = read.problems
    assert (problem.code, problem.line) == ("wrong_file", at)
    assert message(problem).startswith(f"{tmp_path.name}/{FILE}:{at}: is invalid: ")
    assert cause in message(problem)
