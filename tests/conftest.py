"""How the tests are shared out among processes."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

#: Folders of the tests that take longest: those of the site compute, those of runners wait for hosts.
SLOW = ("site", "runners")


def pytest_xdist_auto_num_workers() -> int:
    """Start two workers per core, since half of the time tests wait for hosts and browsers."""
    return 2 * (os.cpu_count() or 1)


def pytest_configure() -> None:
    """Look for garbage as seldom as ingest does, which the Python of a framework cannot import."""
    gc.set_threshold(50_000, 20, 50)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slow folders, a file of each in turn, so that no worker is left with them at the end."""
    files: dict[Path, list[Path]] = {}
    for path in dict.fromkeys(item.path for item in items):
        files.setdefault(path.parent, []).append(path)
    turns = {path: turn for group in files.values() for turn, path in enumerate(group)}
    items.sort(key=lambda item: (item.path.parent.name not in SLOW, turns[item.path]))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what asks for the long form of tests that are short otherwise."""
    parser.addoption("--full", action="store_true", help="try faults hundreds of times (make faults)")
    parser.addoption("--all-corpora", action="store_true", help="try every log of the corpora, where tests take some")


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Return whether the long form of a test is asked for."""
    return bool(request.config.getoption("--full"))
