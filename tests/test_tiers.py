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


def test_this_test_has_no_marker(request: pytest.FixtureRequest) -> None:
    assert not {each.name for each in request.node.iter_markers()} & tiers.MARKERS
    assert [tier for tier in tiers.TIERS if tiers.runs_in(tier, request.node)] == ["quick", "all"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["slow"], ["rest", "all"]),
        (["browser"], ["rest", "all"]),
        (["corpus"], ["rest", "all"]),
        (["sweep", "slow"], ["rest", "all"]),
    ],
)
def test_tests_with_a_marker_run_in_the_rest(
    names: list[str], expected: list[str], request: pytest.FixtureRequest
) -> None:
    for name in names:
        request.node.add_marker(name)
    assert [tier for tier in tiers.TIERS if tiers.runs_in(tier, request.node)] == expected


def test_one_in_nine_of_a_sweep_is_chosen_by_its_name() -> None:
    names = [f"test_records[frameworks.format{number}]" for number in range(900)]
    chosen = [name for name in names if tiers.is_in_share(name)]
    assert 75 <= len(chosen) <= 125
    assert tiers.is_in_share("test_records[frameworks.format0]") == (names[0] in chosen)


def test_skipped_tests_are_counted_by_their_remedy() -> None:
    reasons = ["Skipped: needs a.log: make corpus", "Skipped: no root", "Skipped: needs b.log: make corpus"]
    assert tiers.remedies(reasons) == [("make corpus", 2), ("no root", 1)]


def test_the_quick_tier_has_no_public_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(corpus.TIER, "quick")
    assert not corpus.folder("public").exists()
    assert list(corpus.logs("public")) == []
