"""Planned cases: which of a recipe's cases are pending, and that one which was run no longer is."""

from __future__ import annotations

from typing import Any

import pytest

from perfledger.ingest.compute.results import results
from perfledger.ingest.read.plans import Plans
from perfledger.ingest.site.model import Site, suites
from perfledger.ingest.site.planned import planned
from perfledger.schema.plans import Plan
from perfledger.schema.records import Run
from tests import builders


def site_of(plan: Plan, *runs: Run) -> Site:
    return Site(tuple(runs), (), suites(), results, plans=Plans({plan.recipe: plan}))


def pending(plan: Plan, *runs: Run) -> list[tuple[int, int, str]]:
    """Return devices, batch size and precision of the pending cases of the suite of ResNet-50."""
    site = site_of(plan, *runs)
    (suite,) = [each for each in site.known if each.id == "resnet50"]
    return [(each.case.devices, each.case.batch_size, each.case.precision) for each in planned(site, suite)]


def run(**other: Any) -> Run:
    return builders.run("a-1", **{"devices": 8, **other})


PLAN = builders.plan("a", cases=[{"devices": 1}, {"devices": 8}])
BOTH, OTHER = [(1, 64, "fp32"), (8, 64, "fp32")], [(1, 64, "fp32")]


def test_all_cases_are_pending_where_nothing_was_run() -> None:
    assert pending(PLAN) == BOTH


def test_a_case_that_was_run_is_no_longer_pending() -> None:
    assert pending(PLAN, run()) == OTHER
    assert pending(PLAN, run(), builders.run("b-1", devices=1)) == []


def test_running_out_of_memory_is_a_result_and_failing_is_none() -> None:
    assert pending(PLAN, run(outcome="oom", published=False)) == OTHER
    assert pending(PLAN, run(outcome="failed", published=False)) == BOTH


@pytest.mark.parametrize(
    "other",
    [{"batch_size": 128}, {"precision": "amp"}, {"framework": "JAX"}, {"model": "BERT-base"}, {"devices": 4},
     {"hardware": "AMD EPYC, 2 cores (CPU)"}],
)  # fmt: skip
def test_another_case_leaves_it_pending(other: dict[str, Any]) -> None:
    assert pending(PLAN, run(**other)) == BOTH


@pytest.mark.parametrize(
    ("planned_options", "run_options", "was_run"),
    [
        ({"dali": True}, {"dali": True}, True),
        ({"dali": True}, {}, True),  # the log does not say
        ({"dali": True}, {"dali": False}, False),
        ({}, {"dali": True}, True),
        ({"version": "5cc03caa"}, {}, False),  # no log says, so that it is another recipe's
        ({"version": "5cc03caa"}, {"version": "5cc03caa"}, True),
        ({"accumulation": 1}, {}, True),
        ({"accumulation": 8}, {}, False),  # as if the usual one were stated
        ({}, {"image_size": 64}, False),
        ({"image_size": 224}, {}, True),
        ({"image_size": 64}, {"image_size": 64}, True),
    ],
)
def test_options_that_the_recipe_states_have_to_be_the_same(
    planned_options: dict[str, Any], run_options: dict[str, Any], was_run: bool
) -> None:
    plan = builders.plan("a", cases=[{"devices": 8, "options": planned_options}])
    assert pending(plan, run(options=run_options)) == ([] if was_run else [(8, 64, "fp32")])


def test_names_of_libraries_and_of_models_are_those_of_the_logs() -> None:
    plan = builders.plan("a", cases=[{"devices": 8}], framework="PaddleClas", model="ResNet50V1.5")
    assert pending(plan, run(framework="PaddlePaddle")) == []
    assert pending(plan, run(framework="NGC PyTorch")) == [(8, 64, "fp32")]


def test_fp32_is_run_where_the_hardware_may_compute_it_as_tf32() -> None:
    assert pending(PLAN, run(precision="fp32_tf32")) == OTHER
    assert pending(PLAN, run(precision="tf32")) == BOTH


def test_a_plan_of_a_model_without_a_page_is_on_the_page_of_its_runs() -> None:
    plan = builders.plan("a", cases=[{"devices": 8}], model="Test net 7", suite="anything")
    site = site_of(plan, builders.run("a-1", model="Test net 7", devices=1))
    assert [each.plan.recipe for each in planned(site, site.suite_of["a-1"])] == ["a"]


def test_plans_stand_in_the_order_of_the_suites_frameworks() -> None:
    found = [builders.plan("a", framework="JAX"), builders.plan("b", framework="NGC PyTorch"), builders.plan("c"),
             builders.plan("d", framework="PaddleClas")]  # fmt: skip
    site = Site((), (), suites(), results, plans=Plans({each.recipe: each for each in found}))
    (suite,) = [each for each in site.known if each.id == "resnet50"]
    assert [each.recipe for each in site.plans_of(suite)] == ["d", "b", "c", "a"]
