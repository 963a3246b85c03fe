"""Appended logs: each run has the facts and figures that it has alone, or a problem withholds it."""

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
#: Largest log in bytes, so that tests are fast.
LARGEST = 300_000
#: Number of logs of different cases of one format that are appended to each other.
CASES = 5
#: Number of logs of other formats that each format's first log is appended to, and that are appended to it.
OTHERS = 4
FORMATS = [each.id for each in formats()]


def runs_in(path: Path) -> list[Run]:
    """Return the runs of a log as if its name stated no facts."""
    return runs_of(Input(path, "logs/train.log"), layout.load(layout.OWN), "")


@cache
def runs_alone(path: Path) -> list[Run]:
    return runs_in(path)


def content(run: Run) -> tuple[object, ...]:
    """Return the parts of a run that must not change: figures, facts and format, without lines and outcome."""
    figures = {
        name: (each.value, each.unit, each.scope) for name, each in run.figures.items() if isinstance(each, Figure)
    }
    facts = {name: each.value for name, each in run.facts.items()}
    return run.format, sorted(figures.items()), sorted(facts.items()), run.observations


def count(runs: Sequence[Run]) -> int:
    """Count the figures of the runs."""
    return sum(isinstance(each, Figure) for run in runs for each in run.figures.values())


def withheld(run: Run, alone: Sequence[Run]) -> bool:
    """Return whether a problem that the two logs do not have alone withholds a run."""
    known = {each.code for one in alone for each in one.problems}
    return not run.published and bool({each.code for each in run.problems} - known)


@cache
def by_format() -> dict[str, list[Path]]:
    """Return small logs of each format, one per case."""
    found: dict[str, dict[object, Path]] = defaultdict(dict)
    for path in (*golden_logs(), *(each for below in CORPORA for each in logs(below))):
        if path.stat().st_size <= LARGEST and path.suffix != ".gz":
            for run in runs_alone(path):
                if run.format and run.observations:
                    found[run.format].setdefault(str(run.case), path)
    return {name: sorted(set(paths.values()))[:CASES] for name, paths in found.items()}


def others(format_id: str) -> Iterator[Path]:
    """Yield logs of some other formats; the choice depends only on the format."""
    order = sorted(by_format(), key=lambda each: hashlib.sha256(f"{format_id} {each}".encode()).digest())
    yield from (by_format()[each][0] for each in order[:OTHERS] if each != format_id)


def appended(first: Path, second: Path, folder: Path) -> list[Run]:
    begin, path = first.read_bytes(), folder / "train.log"
    path.write_bytes(begin + b"\n" * (not begin.endswith(b"\n")) + second.read_bytes())
    return runs_in(path)


@pytest.mark.parametrize("format_id", FORMATS)
def test_appending_a_log_of_the_same_printer_changes_no_run(format_id: str, tmp_path: Path) -> None:
    """The appended log has the figures and facts of the two logs, unless a problem withholds them.

    Each log is appended to itself and to the next one. All pairs found no more faults in three times the time.
    """
    logs = by_format()[format_id]
    for first, second in chain(zip(logs, logs, strict=True), pairwise([*logs, logs[0]] if len(logs) > 1 else [])):
        alone, both = [*runs_alone(first), *runs_alone(second)], appended(first, second, tmp_path)
        known, new = [content(each) for each in alone], [each for each in both if withheld(each, alone)]
        wrong = [each for each in both if each not in new and content(each) not in known]
        assert wrong == [], (first, second)
        assert new or count(both) == count(alone), (first, second)


@pytest.mark.parametrize("format_id", FORMATS)
def test_appending_a_log_of_another_printer_changes_no_published_run(format_id: str, tmp_path: Path) -> None:
    """Lines that the logs of several printers contain may be ignored, but a figure does not change."""
    for other in others(format_id):
        first = by_format()[format_id][0]
        known = [content(each) for each in (*runs_alone(first), *runs_alone(other))]
        for pair in ((first, other), (other, first)):
            both = appended(*pair, tmp_path)
            assert [each for each in both if each.published and content(each) not in known] == [], pair
