"""Warnings where the environments of the nodes of a run differ."""

from __future__ import annotations

import pytest

from perfledger.runners.folders import finished_runs
from perfledger.runners.record import COMPARED, drift_between_nodes, finish
from tests.runners.arrivals import FACTS, arrive, begun, launched
from tests.runners.home import load


def test_nodes_that_differ_are_named_by_number_with_both_values():
    nodes = [{"gpu_power_limit_watts": 300, "driver": "550.1"}, {"gpu_power_limit_watts": 250, "driver": "550.1"}]
    assert drift_between_nodes(nodes) == ["the power limit in W is 250 on node 1 and 300 on node 0"]


def test_a_fact_known_on_one_side_only_is_not_a_difference():
    assert drift_between_nodes([{"gpu_ecc": "Enabled"}, {}]) == []


def test_facts_that_vary_by_themselves_are_not_compared():
    assert drift_between_nodes([{"load_average_before": [1], "kernel": "6.1"}, {"load_average_before": [2]}]) == []


@pytest.mark.parametrize("key", COMPARED)
def test_every_fact_that_moves_a_figure_is_compared(key):
    (sentence,) = drift_between_nodes([{key: "old"}, {key: "new"}])
    assert sentence == f"{COMPARED[key]} is new on node 1 and old on node 0"


def test_versions_of_packages_are_compared_one_by_one():
    versions = ({"torch": "2.12.0", "numpy": "2.4.6"}, {"torch": "2.13.0", "numpy": "2.4.6"})
    (sentence,) = drift_between_nodes([{"packages": each} for each in versions])
    assert sentence == "torch is 2.13.0 on node 1 and 2.12.0 on node 0"


def test_an_environment_of_another_shape_is_ignored():
    assert drift_between_nodes([{"packages": ["torch"]}, {"packages": 3}]) == []


def test_differing_nodes_of_a_run_are_a_warning(write_recipe, tmp_path):
    folder = begun(write_recipe("true"), tmp_path, nodes=2)
    arrive(folder, 0, facts={**FACTS, "gpu_persistence": "Enabled"})
    arrive(folder, 1, facts={**FACTS, "gpu_persistence": "Disabled"})
    finish(folder, launched(folder))
    assert load(folder / "run.json")["warnings"] == ["the persistence mode is Disabled on node 1 and Enabled on node 0"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"outcome": "completed", "case": 3}', "[" * 9999])
def test_an_unreadable_run_json_is_not_a_repeat(tmp_path, text):
    (tmp_path / "1").mkdir()
    (tmp_path / "1/run.json").write_text(text)
    assert finished_runs(tmp_path) == []
