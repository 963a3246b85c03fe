"""Warnings where environments differ: between the nodes of a run, and between repeats."""

from __future__ import annotations

import json

import msgspec
import pytest

from perfledger.runners import drift
from perfledger.runners.earlier import FinishedRun, comparable_runs
from perfledger.runners.run import collect
from tests.runners.arrivals import FACTS, arrive, begun, launched
from tests.runners.home import load


def earlier(repeat: int, **environment: object) -> FinishedRun:
    return msgspec.convert(
        {"outcome": "completed", "case": {"hardware": "T4"}, "repeat": repeat, "environment": environment}, FinishedRun
    )


def test_nodes_that_differ_are_named_by_number_with_both_values():
    nodes = [{"gpu_power_limit_watts": 300, "driver": "550.1"}, {"gpu_power_limit_watts": 250, "driver": "550.1"}]
    assert drift.drift_between_nodes(nodes) == ["the power limit in W is 250 on node 1 and 300 on node 0"]


def test_a_fact_known_on_one_side_only_is_not_a_difference():
    assert drift.drift_between_nodes([{"gpu_ecc": "Enabled"}, {}]) == []
    assert drift.drift_between_repeats({}, [earlier(1, driver="1")]) == []


def test_facts_that_vary_by_themselves_are_not_compared():
    assert (
        drift.drift_between_nodes([{"load_average_before": [1], "kernel": "6.1"}, {"load_average_before": [2]}]) == []
    )


@pytest.mark.parametrize("key", drift.COMPARED)
def test_every_fact_that_moves_a_figure_is_compared(key):
    (sentence,) = drift.drift_between_repeats({key: "new"}, [earlier(1, **{key: "old"}), earlier(2, **{key: "new"})])
    assert sentence == f"{drift.COMPARED[key]} is new, and was old in repeat 1"


def test_repeats_that_share_a_value_share_a_sentence():
    found = drift.drift_between_repeats(
        {"driver": "3"}, [earlier(1, driver="1"), earlier(2, driver="2"), earlier(4, driver="1")]
    )
    assert found == ["the driver is 3, and was 1 in repeat 1, 4", "the driver is 3, and was 2 in repeat 2"]


def test_versions_of_packages_are_compared_one_by_one():
    before = earlier(1, packages={"torch": "2.12.0", "numpy": "2.4.6"})
    found = drift.drift_between_repeats({"packages": {"torch": "2.13.0", "numpy": "2.4.6"}}, [before])
    assert found == ["torch is 2.13.0, and was 2.12.0 in repeat 1"]


def test_an_environment_of_another_shape_is_ignored():
    assert drift.drift_between_nodes([{"packages": ["torch"]}, {"packages": 3}]) == []


def test_a_run_warns_of_its_earlier_repeats_and_keeps_both_logs(write_recipe, tmp_path):
    path = write_recipe("true")
    for driver in ("535.1", "550.1"):
        folder = begun(path, tmp_path)
        arrive(folder, 0, facts={**FACTS, "driver": driver})
        collect(folder, launched(folder))
    assert folder.name == "2"
    assert load(folder / "run.json")["warnings"] == ["the driver is 550.1, and was 535.1 in repeat 1"]
    assert (folder.parent / "1/train.log").exists()


@pytest.mark.parametrize("change", [{"round": "2026Q4"}, {"case": {"hardware": "another"}}])
def test_runs_of_another_round_or_hardware_are_not_repeats(write_recipe, tmp_path, change):
    path = write_recipe("true")
    first = begun(path, tmp_path)
    arrive(first, 0, facts={**FACTS, "driver": "535.1"})
    collect(first, launched(first))
    run = load(first / "run.json")
    case = {**run["case"], **change.pop("case", {})}
    (first / "run.json").write_text(json.dumps({**run, **change, "case": case}))
    folder = begun(path, tmp_path)
    arrive(folder, 0, facts={**FACTS, "driver": "550.1"})
    collect(folder, launched(folder))
    assert "warnings" not in load(folder / "run.json")


def test_differing_nodes_of_a_run_are_a_warning(write_recipe, tmp_path):
    folder = begun(write_recipe("true"), tmp_path, nodes=2)
    arrive(folder, 0, facts={**FACTS, "gpu_persistence": "Enabled"})
    arrive(folder, 1, facts={**FACTS, "gpu_persistence": "Disabled"})
    collect(folder, launched(folder))
    assert load(folder / "run.json")["warnings"] == ["the persistence mode is Disabled on node 1 and Enabled on node 0"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"outcome": "completed", "case": 3}', "[" * 9999])
def test_an_unreadable_run_json_is_not_a_repeat(tmp_path, text):
    (tmp_path / "1").mkdir()
    (tmp_path / "1/run.json").write_text(text)
    assert comparable_runs(tmp_path, "T4", "") == []
