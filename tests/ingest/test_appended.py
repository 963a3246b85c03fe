"""Appended logs: each run keeps its own facts and figures, or a problem keeps them from being published."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, pairwise
from pathlib import Path

import pytest

from perfledger.ingest.read import layout
from perfledger.ingest.read.walk import Input
from perfledger.ingest.record.run import runs_of
from perfledger.parsers.engine.registry import formats
from perfledger.schema.records import Figure, Run
from tests.corpus import logs
from tests.parsers.golden import logs as golden_logs

CORPORA = ("public", "today", "mlperf-v5.1", "ngc-pytorch", "paddle-perf")
#: Small logs are as good, and fast.
LARGEST = 300_000
#: Logs of different cases of one format that are appended to each other.
CASES = 5
#: Logs of other formats that each format's first log is appended to, and that are appended to it.
OTHERS = 4
FORMATS = [each.id for each in formats()]


def told(path: Path) -> list[Run]:
    """Return the runs of a log under a name that says nothing."""
    return runs_of(Input(path, "logs/train.log"), layout.load(layout.OWN), "")


@cache
def told_alone(path: Path) -> list[Run]:
    return told(path)


def said(run: Run) -> tuple[object, ...]:
    """Return what must not change: figures, facts and format; neither lines nor how the log ends."""
    figures = {
        name: (each.value, each.unit, each.scope) for name, each in run.figures.items() if isinstance(each, Figure)
    }
    facts = {name: each.value for name, each in run.facts.items()}
    return run.format, sorted(figures.items()), sorted(facts.items()), run.observations


def count(runs: Sequence[Run]) -> int:
    """Return how many figures some runs have."""
    return sum(isinstance(each, Figure) for run in runs for each in run.figures.values())


def withheld(run: Run, alone: Sequence[Run]) -> bool:
    """Return whether a problem keeps a run from being published that neither of the two logs has by itself."""
    known = {each.code for one in alone for each in one.problems}
    return not run.published and bool({each.code for each in run.problems} - known)


@cache
def by_format() -> dict[str, list[Path]]:
    """Return small logs of each format, one for each case."""
    found: dict[str, dict[object, Path]] = defaultdict(dict)
    for path in (*golden_logs(), *(each for below in CORPORA for each in logs(below))):
        if path.stat().st_size <= LARGEST and path.suffix != ".gz":
            for run in told_alone(path):
                if run.format and run.observations:
                    found[run.format].setdefault(str(run.case), path)
    return {name: sorted(set(paths.values()))[:CASES] for name, paths in found.items()}


def others(format_id: str) -> Iterator[Path]:
    """Yield logs of a few other formats, which ones depends on the format alone."""
    order = sorted(by_format(), key=lambda each: hashlib.sha256(f"{format_id} {each}".encode()).digest())
    yield from (by_format()[each][0] for each in order[:OTHERS] if each != format_id)


def appended(first: Path, second: Path, folder: Path) -> list[Run]:
    begin, path = first.read_bytes(), folder / "train.log"
    path.write_bytes(begin + b"\n" * (not begin.endswith(b"\n")) + second.read_bytes())
    return told(path)


@pytest.mark.parametrize("format_id", FORMATS)
def test_two_logs_of_one_printer(format_id: str, tmp_path: Path) -> None:
    """No figure or fact but those of the two logs; and all figures, unless a problem says why not.

    Each log is appended to itself and to the next one: all pairs would find no more, and take three times as long.
    """
    logs = by_format()[format_id]
    for first, second in chain(zip(logs, logs, strict=True), pairwise([*logs, logs[0]] if len(logs) > 1 else [])):
        alone, both = [*told_alone(first), *told_alone(second)], appended(first, second, tmp_path)
        known, new = [said(each) for each in alone], [each for each in both if withheld(each, alone)]
        wrong = [each for each in both if each not in new and said(each) not in known]
        assert wrong == [], (first, second)
        assert new or count(both) == count(alone), (first, second)


@pytest.mark.parametrize("format_id", FORMATS)
def test_logs_of_two_printers(format_id: str, tmp_path: Path) -> None:
    """Lines that other printers' logs hold as well may be passed over; a figure never changes."""
    for other in others(format_id):
        first = by_format()[format_id][0]
        known = [said(each) for each in (*told_alone(first), *told_alone(other))]
        for pair in ((first, other), (other, first)):
            both = appended(*pair, tmp_path)
            assert [each for each in both if each.published and said(each) not in known] == [], pair
