"""Choice, distribution and summary of the tests; `tiers` lists slow tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import approval, corpus, tiers

#: Folders with the slowest tests: those of the site compute, and those of runners wait for hosts.
SLOW = ("site", "runners")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Start a worker per core in the quick tier, and two in the others, where tests wait for hosts and browsers."""
    return (os.cpu_count() or 1) * (1 if config.getoption("tier") == "quick" else 2)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options that choose tests, or the long form of some tests."""
    parser.addoption("--tier", choices=tiers.TIERS, default="all", help="run the quick tests, the rest, or all")
    parser.addoption("--approve", action="store_true", help="write tests/approved/ instead of comparing with it")
    parser.addoption(
        "--times", type=int, default=0, help="number of tries of system faults, and large files (make faults)"
    )
    parser.addoption("--all-corpora", action="store_true", help="try every log of the corpora instead of a sample")


def pytest_configure(config: pytest.Config) -> None:
    """Set the tier in the environment, and collect garbage as rarely as ingest."""
    os.environ[corpus.TIER] = config.getoption("tier")
    # A call of ingest does not do here: the Python of a framework cannot import it.
    gc.set_threshold(50_000, 20, 50)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import a file if the tier runs none of its tests."""
    return tiers.is_left_out(config.getoption("tier"), collection_path) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Set the markers, keep the tests of the tier, and begin with the slow folders.

    A file of each slow folder comes in turn, so that no worker is left with them at the end.
    """
    for item in items:
        tiers.mark(item)
    tier = config.getoption("tier")
    config.hook.pytest_deselected(items=[item for item in items if not tiers.runs_in(tier, item)])
    items[:] = [item for item in items if tiers.runs_in(tier, item)]
    files: dict[Path, list[Path]] = {}
    for path in dict.fromkeys(item.path for item in items):
        files.setdefault(path.parent, []).append(path)
    turns = {path: turn for group in files.values() for turn, path in enumerate(group)}
    items.sort(key=lambda item: (item.path.parent.name not in SLOW, turns[item.path]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name each remedy of skipped tests once, with their number."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = [each.longrepr[2] for each in reports if isinstance(each.longrepr, tuple)]
    for remedy, count in tiers.remedies(reasons):
        terminalreporter.write_line(f"{count} skipped: {remedy}")


@pytest.fixture(scope="session")
def times(request: pytest.FixtureRequest) -> int:
    """Return how often each system fault is tried; 0 asks for the short form of the tests."""
    return int(request.config.getoption("--times"))


@pytest.fixture
def approved(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a function that compares a text with `tests/approved/NAME`; with `--approve` it writes it there."""

    def check(name: str, text: str) -> None:
        approval.check(name, text, approve=request.config.getoption("approve"))

    return check
