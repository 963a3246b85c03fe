"""The tests of each tier, and the summary of skipped tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests import corpus, tiers

FILES = {path.stem for path in Path(__file__).parent.rglob("test_*.py")}


def of_corpus() -> Path:
    return corpus.folder("public")


@cache
def through_a_helper() -> Path:
    return of_corpus() / "a.log"


def of_our_own() -> Path:
    return corpus.ROOT / "raw_logs"


@pytest.mark.parametrize("name", [*tiers.FILES, tiers.JOURNEYS])
def test_every_file_with_a_marker_exists(name: str) -> None:
    assert name in FILES


def test_tests_that_read_public_logs_are_found_through_helpers() -> None:
    assert tiers._reads_corpus(of_corpus)
    assert tiers._reads_corpus(through_a_helper)
    assert tiers._reads_corpus(lambda: through_a_helper().read_text())
    assert not tiers._reads_corpus(of_our_own)
