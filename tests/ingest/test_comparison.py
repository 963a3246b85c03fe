"""What may be compared, and what forbids it, on statements made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from ingest.compute.comparison import CONDITIONS, Statement, comparability, contradicted
from schema.records import Result, from_json

FACTS = {
    "model": "ResNet-50 v1.5", "framework": "PyTorch", "hardware": "A100", "precision": "amp", "devices": "8",
    "nodes": "1", "batch_size": "256", "unit": "images/s", "framework_version": "2.5", "rule": "sustained",
    "round": "2026Q4", "measured_from": "",
}  # fmt: skip


def stated(options: dict[str, Any] | None = None, conditions: dict[str, str] | None = None, **facts: str) -> Statement:
    """Return a statement of one ordinary result, with some values changed; an empty text is not stated."""
    told = {name: (value,) if value else () for name, value in {**FACTS, **facts}.items()}
    known = {name: (value,) if (value := (conditions or {}).get(name)) else () for name in CONDITIONS}
    return Statement(told, options or {}, known)


def reasons(a: Statement, b: Statement, dimension: str, workload: dict[str, Any] | None = None) -> list[str]:
    return [each.name for each in comparability(a, b, dimension, workload or {}).reasons]


def test_results_that_differ_in_the_compared_fact_alone_may_be_compared() -> None:
    assert reasons(stated(), stated(framework="MXNet"), "framework") == []
    assert reasons(stated(), stated(batch_size="128"), "batch") == []


def test_a_second_difference_forbids_the_comparison() -> None:
    assert reasons(stated(), stated(framework="MXNet", precision="fp32"), "framework") == ["precision"]
    assert reasons(stated(), stated(framework="MXNet"), "precision") == ["framework"]


def test_a_fact_of_the_case_that_only_one_states_forbids_the_comparison() -> None:
    assert reasons(stated(), stated(framework="MXNet", batch_size=""), "framework") == ["batch_size"]
    assert reasons(stated(batch_size=""), stated(framework="MXNet", batch_size=""), "framework") == []


def test_a_fact_of_the_measurement_that_only_one_states_is_unknown() -> None:
    found = comparability(stated(), stated(framework_version=""), "precision", {})
    assert found.reasons == ()
    assert "framework_version" in [each.name for each in found.unknown]


def test_what_follows_from_the_compared_fact_is_excused_only_where_that_fact_differs() -> None:
    newer = stated(framework_version="2.6")
    assert reasons(stated(), stated(framework="MXNet", framework_version="2.0"), "framework") == []
    assert reasons(stated(), newer, "framework") == ["framework_version"]
    found = comparability(stated(), stated(framework="MXNet", framework_version="2.0"), "framework", {})
    assert [each.name for each in found.follows] == ["framework_version"]


def test_a_compared_fact_that_nobody_states_is_unknown() -> None:
    found = comparability(stated(framework_version=""), stated(framework_version=""), "version", {})
    assert [each.name for each in found.unknown if each.name == "framework_version"] == ["framework_version"]


def test_what_follows_from_another_reason_is_no_reason_of_its_own() -> None:
    here, there = stated(conditions={"cpu": "EPYC"}), stated(hardware="V100", conditions={"cpu": "Xeon"})
    assert reasons(here, there, "precision") == ["hardware"]
    assert reasons(here, stated(conditions={"cpu": "Xeon"}), "precision") == ["cpu"]


@pytest.mark.parametrize(
    ("mine", "theirs", "workload", "expected"),
    [
        ({"threads": 1}, {"threads": 2}, {}, ["threads"]),
        ({"threads": 1}, {}, {}, []),
        ({"image_size": 64}, {}, {"image_size": 224}, ["image_size"]),
        ({"image_size": 224}, {}, {"image_size": 224}, []),
        ({"image_size": 64}, {}, {"image_size": None}, ["image_size"]),
    ],
)
def test_options_differ_by_what_is_meant_where_none_is_stated(
    mine: dict[str, Any], theirs: dict[str, Any], workload: dict[str, Any], expected: list[str]
) -> None:
    assert reasons(stated(mine), stated(theirs, framework="MXNet"), "framework", workload) == expected


def row(framework: str, **options: Any) -> Result:
    case = {"hardware": "A100", "nodes": 1, "devices": 8, "batch_size": 256, "precision": "amp"}
    return from_json(
        {"suite": "resnet50", "model": "ResNet-50", "framework": framework, "options": options, **case}, Result
    )


def test_frameworks_that_state_an_option_differently_run_another_workload() -> None:
    rows = [row("PyTorch", threads=1, dali=True), row("MXNet", threads=2, dali=False), row("JAX")]
    assert contradicted(rows) == ["threads"]
    assert contradicted([row("PyTorch", threads=1), row("PyTorch", threads=2)]) == []
    assert contradicted([row("PyTorch", threads=1), row("MXNet", threads=1.0), row("JAX")]) == []
