"""Bytes outside of records move no figure: blank lines, trailing blanks, line ends of Windows, progress bars, colours.

The fuzzer does the same to some lines of a log, at random, and after other damage (`tests/fuzz`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from perfledger.ingest.read import layout
from perfledger.ingest.read.walk import Input
from perfledger.ingest.record.run import runs_of
from perfledger.schema.records import Run
from tests.fuzz.mutations import corpora
from tests.parsers.golden import logs as golden_logs

LOGS = golden_logs()
_BAR = b"Map:  37%|###7      | 37/100 [00:12<00:20,  3.10it/s]"


def bars(text: bytes) -> bytes:
    """Put a progress bar of another program after every third line."""
    lines = text.split(b"\n")
    return b"\n".join(each + b"\n" + _BAR if n % 3 == 2 else each for n, each in enumerate(lines))


OPERATORS: Mapping[str, Callable[[bytes], bytes]] = {
    "blank lines": lambda text: text.replace(b"\n", b"\n\n"),
    "trailing blanks": lambda text: text.replace(b"\n", b"  \n"),
    "line ends of Windows": lambda text: re.sub(rb"\r?\n", b"\r\n", text),
    "progress bars": bars,
    "bars that a line is printed over": lambda text: re.sub(rb"(?m)^", b" 10%|#   | 1/9\r 20%|##  | 2/9\r", text),
    "line ends of two programs": lambda text: re.sub(rb"\r*\n", b"\r\r\n", text),
    "some line ends of Windows": lambda text: re.sub(rb"(\n[^\n]*)\r*\n", rb"\1\r\n", text),
    "colours": lambda text: re.sub(rb"(?m)^(?=.)", b"\x1b[2K\x1b[32m", text),
    "stamps of a container": lambda text: re.sub(rb"(?m)^(?!\Z)", b"2026-11-20T08:00:00.000000000Z ", text),
}
#: The suite tries one in SAMPLED logs of the corpora up to LONGEST bytes, and all with `--all-corpora`.
SAMPLED, LONGEST = 17, 400_000


def read(path: Path) -> list[Run]:
    return runs_of(Input(path, path.name, asked=True), layout.load("perfledger"), "0" * 64)


def figures(runs: list[Run]) -> list[tuple[str, float]]:
    """Return rule and value of every session that has a figure."""
    return [(run.rule, pytest.approx(run.headline.value)) for run in runs if run.headline]


def codes(runs: list[Run]) -> set[str]:
    return {each.code for run in runs for each in run.problems}


@cache
def plain(path: Path) -> list[Run]:
    return read(path)


def check(log: Path, name: str, folder: Path) -> None:
    """Check that a changed log gives the same figures, or has an additional problem or reason."""
    changed = folder / log.name
    changed.write_bytes(OPERATORS[name](log.read_bytes()))
    before, after = figures(plain(log)), read(changed)
    found = figures(after)
    assert all(each in before for each in found), (log, name, found, before)
    assert len(found) >= len(before) or codes(after) - codes(plain(log)), (log, name, found, before)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.parent.name)
def test_no_figure_moves(log: Path, name: str, tmp_path: Path) -> None:
    check(log, name, tmp_path)


@pytest.mark.parametrize("name", OPERATORS)
def test_no_figure_of_the_corpora_moves(name: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    logs = [each for each in corpora() if each.stat().st_size <= LONGEST]
    if not logs:
        pytest.skip("no corpus is at hand: make corpus")
    at = list(OPERATORS).index(name)
    for log in logs if pytestconfig.getoption("all_corpora") else logs[at::SAMPLED]:
        check(log, name, tmp_path)
