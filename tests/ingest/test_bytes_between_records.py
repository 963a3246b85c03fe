"""Bytes that are no record move no figure: blank lines, trailing blanks, line ends of Windows, progress bars."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from ingest.read import layout
from ingest.read.walk import Input
from ingest.record.run import runs_of
from schema.records import Run

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
LOGS = sorted(
    each for each in GOLDEN.glob("*/*") if each.suffix not in {".json", ".csv"} or each.name == "made-up.json"
)
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
}


def read(path: Path) -> list[Run]:
    return runs_of(Input(path, path.name, asked=True), layout.load("perfledger"), "0" * 64)


def figures(runs: list[Run]) -> list[tuple[str, float]]:
    """Return rule and value of every session that has a figure."""
    return [(run.rule, pytest.approx(run.headline.value)) for run in runs if run.headline]


@cache
def plain(path: Path) -> list[tuple[str, float]]:
    return figures(read(path))


def test_there_are_logs_of_all_formats() -> None:
    assert len({each.parent for each in LOGS}) > 60


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.parent.name)
def test_no_figure_moves(log: Path, name: str, tmp_path: Path) -> None:
    """A log may become unreadable, and is said to be; what it still gives is what it gave."""
    changed = tmp_path / log.name
    changed.write_bytes(OPERATORS[name](log.read_bytes()))
    before, after = plain(log), read(changed)
    found = figures(after)
    assert all(each in before for each in found), (found, before)
    assert len(found) >= len(before) or any(run.problems for run in after)
