"""Pages of frameworks and hardware: what is won and lost, and that it is what the answers of the front page say."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from perfledger.ingest.common.words import own
from perfledger.ingest.compute import results
from perfledger.ingest.compute.results import counts
from perfledger.ingest.site import answers, scorecards
from perfledger.ingest.site.model import Site, suites
from perfledger.ingest.site.stated import joined, stated
from perfledger.schema.records import Run, from_text
from tests import builders
from tests.builders import HARDWARE, run
from tests.site.conftest import ledger

WORDS = own()


def of(framework: str, speed: float, repeats: int, **other: Any) -> list[Run]:
    name = "-".join(map(str, (framework.lower(), *other.values())))
    return [
        run(f"{name}-{n}", framework=framework, speed=speed * (1 + 0.0005 * n), repeat=n, **other)
        for n in range(1, repeats + 1)
    ]


def site_of(runs: list[Run]) -> Site:
    return Site(tuple(sorted(runs, key=lambda each: each.id)), (), suites(), results.results)


def kinds(runs: list[Run]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in scorecards.placings(site_of(runs)):
        found.setdefault(each.framework, []).append(each.kind)
    return found


def test_the_fastest_wins_and_all_others_lose_as_surely_as_they_are_slower() -> None:
    runs = [*of("PyTorch", 400.0, 3), *of("PaddlePaddle", 320.0, 3), *of("TensorFlow", 200.0, 1)]
    assert kinds(runs) == {"PyTorch": ["clear_win"], "PaddlePaddle": ["clear_loss"], "TensorFlow": ["likely_loss"]}


def test_who_is_too_close_to_the_fastest_ties_and_the_others_lose() -> None:
    runs = [*of("PyTorch", 400.0, 3), *of("PaddlePaddle", 399.9, 3), *of("TensorFlow", 200.0, 3)]
    assert kinds(runs) == {"PyTorch": ["tie"], "PaddlePaddle": ["tie"], "TensorFlow": ["clear_loss"]}


def test_what_may_not_be_compared_is_neither_won_nor_lost() -> None:
    driver = {"environment": {"driver": "535.1"}}, {"environment": {"driver": "550.2"}}
    first = [run(f"a-{n}", speed=400.0, repeat=n, **driver[0]) for n in (1, 2, 3)]
    second = [run(f"b-{n}", framework="TensorFlow", speed=200.0, repeat=n, **driver[1]) for n in (1, 2, 3)]
    assert kinds([*first, *second]) == {"PyTorch": ["apart"], "TensorFlow": ["apart"]}
    words = of("TensorFlow", 9000.0, 3, unit="tokens/s")
    assert kinds([*of("PyTorch", 400.0, 3), *words]) == {"PyTorch": ["apart"], "TensorFlow": ["apart"]}
    assert kinds(of("PyTorch", 400.0, 3)) == {"PyTorch": ["alone"]}


def test_a_score_counts_and_takes_the_median_of_the_ratios_to_the_best_rival() -> None:
    runs = [
        *(of("PyTorch", 400.0, 3) + of("TensorFlow", 200.0, 3)),
        *(of("PyTorch", 300.0, 3, devices=2) + of("TensorFlow", 400.0, 3, devices=2)),
        *(of("PyTorch", 100.0, 3, devices=4) + of("TensorFlow", 400.0, 3, devices=4)),
        *of("PyTorch", 800.0, 3, devices=8),
    ]
    placings = [each for each in scorecards.placings(site_of(runs)) if each.framework == "PyTorch"]
    found = scorecards.score(placings)
    assert (found.won, found.lost, found.compared, found.counted["alone"]) == (1, 2, 3, 1)
    assert found.ratio == pytest.approx(0.75)
    best, worst = scorecards.best_and_worst(placings)
    assert [round(each.ratio or 0, 2) for each in (*best, *worst)] == [2.0, 0.75, 0.25]


def test_the_best_and_the_worst_are_listed_once_each() -> None:
    runs = [
        each
        for devices in range(1, 9)
        for each in (*of("PyTorch", 400.0 + 10 * devices, 3, devices=devices), *of("JAX", 100.0, 3, devices=devices))
    ]
    mine = [each for each in scorecards.placings(site_of(runs)) if each.framework == "PyTorch"]
    best, worst = scorecards.best_and_worst(mine)
    assert [each.row.devices for each in best] == [8, 7, 6, 5, 4]
    assert [each.row.devices for each in worst] == [1, 2, 3]


def test_a_result_states_its_version_driver_and_day() -> None:
    runs = of("PyTorch", 400.0, 1, environment={"driver": "535.1", "cuda": "12.2"}, start="2026-01-02T03:04:05+00:00")
    assert [WORDS.say("en", each) for each in stated(runs[0])][-3:] == [
        "Driver version 535.1",
        "CUDA 12.2",
        "2026-01-02",
    ]
    assert WORDS.say("zh", joined(stated(runs[0]))).endswith("驱动版本 535.1 · CUDA 12.2 · 2026-01-02")


def _recount(site: Site) -> dict[str, Counter[str]]:
    """Count from the answers alone: names and kinds of verdicts, and who has a bar."""
    found: dict[str, Counter[str]] = {}
    for hardware in answers.hardware_by_coverage(list(filter(counts, site.runs))):
        for suite in site.shown:
            for each in answers.answers(site, suite, hardware):
                ran = [row.framework or "" for row in each.rows if row.value is not None]
                for framework in set(ran):
                    mine = found.setdefault(framework, Counter())
                    won = each.kind in answers.LEADS and each.framework == framework
                    mine["cases"] += 1
                    mine["won"] += won
                    mine["alone"] += each.kind == "alone"
    return found


@pytest.mark.parametrize("which", ["made up", "committed"])
def test_scores_are_those_of_the_answers(which: str) -> None:
    runs = builders.runs() if which == "made up" else [from_text(line.encode(), Run) for line in ledger()]
    site = site_of(runs)
    placings = scorecards.placings(site)
    recounted = _recount(site)
    assert len(recounted) > 2
    assert {each.framework for each in placings} == set(recounted)
    for framework, wanted in recounted.items():
        found = scorecards.score(each for each in placings if each.framework == framework)
        assert sum(found.counted.values()) == wanted["cases"]
        assert (found.won, found.counted["alone"]) == (wanted["won"], wanted["alone"])
    for answer in {id(each.answer): each.answer for each in placings}.values():
        there = Counter(each.kind for each in placings if each.answer is answer)
        wins = there["clear_win"] + there["likely_win"]
        assert wins == (answer.kind in answers.LEADS)
        assert there["tie"] == 0 if wins else there["tie"] != 1
        assert not (there["likely_loss"] + there["clear_loss"]) or wins or there["tie"]


@pytest.mark.parametrize("language", ["", "zh/"])
def test_the_pages_show_the_scores(whole: Path, language: str) -> None:
    runs = (whole / "data" / "runs" / "made-up.jsonl").read_text("utf-8").splitlines()
    placings = scorecards.placings(site_of([from_text(line.encode(), Run) for line in runs]))
    table = json.loads((whole / language / "frameworks" / "tables" / "frameworks-1.json").read_text("utf-8"))
    shown = {row["framework"]: row for row in table["data"]}
    assert set(shown) == {each.framework for each in placings}
    for framework, row in shown.items():
        score = scorecards.score(each for each in placings if each.framework == framework)
        assert [row[kind] for kind in scorecards.KINDS] == [score.counted[kind] for kind in scorecards.KINDS]
        assert row["ratio"] == (pytest.approx(score.ratio) if score.ratio else None)
    assert HARDWARE in (whole / language / "hardware" / "index.html").read_text("utf-8")
