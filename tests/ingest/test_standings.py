"""Standings follow from results and their runs, without a site."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path

import perfledger
from perfledger.ingest.compute.results import results
from perfledger.ingest.compute.standings import AXES, FRAMEWORK, standings
from perfledger.schema.records import Result
from tests.builders import HARDWARE, run


class ByBatchSize:
    """Results of one model, in one group of precisions and cases of equal batch size."""

    groups: Mapping[str, tuple[str, ...]] = {"single": ("fp32",)}
    workload: Mapping[str, object] = {}

    def group(self, precision: str | None) -> str:
        return "single"

    def variant(self, row: Result) -> str:
        return ""

    def row_key(self, row: Result) -> Hashable:
        return row.batch_size


RUNS = [
    run(f"{framework}-{batch_size}-{at}", framework=framework, speed=speed + at, batch_size=batch_size)
    for framework, speed, batch_size in (("PyTorch", 300.0, 64), ("JAX", 200.0, 64), ("JAX", 210.0, 96))
    for at in range(5)
]
FOUND = standings([(ByBatchSize(), results(RUNS))], {each.id: each for each in RUNS})


def test_a_place_has_the_standing_of_the_case_with_most_frameworks() -> None:
    assert FOUND.keys() == {(HARDWARE, FRAMEWORK), (HARDWARE, "precision")} <= {(HARDWARE, each) for each in AXES}
    (one,) = FOUND[HARDWARE, FRAMEWORK]
    entrants = [each.entrant for each in one.verdict.ranked]
    assert (one.verdict.kind, entrants) == ("clear", ["PyTorch", "JAX"])
    assert {row.batch_size for row in one.rows} == {64}


def test_precisions_are_compared_within_a_framework() -> None:
    found = [(each.rows[0].framework, each.verdict.kind) for each in FOUND[HARDWARE, "precision"]]
    assert sorted(found, key=str) == [("JAX", "alone"), ("PyTorch", "alone")]


def test_the_trainers_of_a_framework_are_compared() -> None:
    runs = perfledger.read(Path(__file__).parents[2] / "raw_logs" / "pplcnet").runs
    found = standings([(ByBatchSize(), results(runs))], {each.id: each for each in runs})
    ((hardware, _),) = (key for key in found if key[1] == "trainer")
    (one,) = found[hardware, "trainer"]
    assert one.is_compared
    assert (one.verdict.kind, [each.name for each in one.verdict.reasons]) == ("conditions", ["framework_version"])
    assert [(each.entrant, round(each.figure.value, 1)) for each in one.verdict.ranked] == [
        ("dygraph", 73.3),
        ("static", 52.0),
    ]
    assert {row.batch_size for row in one.rows} == {32}
