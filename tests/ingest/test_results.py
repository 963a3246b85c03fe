"""Results: the median of repeats, their spread, speed-up and efficiency, and cells without a figure."""

from __future__ import annotations

import math
from typing import Any

import pytest

from perfledger.ingest import figures
from perfledger.ingest.compute.results import figure, results, version
from perfledger.schema.records import Reason, Result, Run
from tests import builders
from tests.builders import absent, edited


def run(value: float | None = 100.0, *, devices: int = 1, nodes: int = 1, scope: str = "job", **other: Any) -> Run:
    """Return a run of a fixed case; `case` changes its facts."""
    case = {"model": "Test net", "framework": "Test", "batch_size": 32, "nodes": nodes, **other.pop("case", {})}
    figure = absent() if value is None else builders.figure(value, scope=scope)
    usual = {"environment": {}, "facts": {}, "figures": {"sustained": figure, "mean": figure}}
    made = builders.run(f"run-{devices}-{value}", devices=devices, **{**usual, **other})
    return edited(made, case=case)


def rows(*runs: Run) -> list[Result]:
    return results(runs)


def code(why: Reason | None) -> str:
    assert why is not None
    return why.code


def test_a_result_has_the_median_and_the_spread_of_its_repeats() -> None:
    (row,) = rows(run(90.0), run(110.0), run(101.0))
    assert (row.value, row.low, row.high, row.repeats) == (101.0, 90.0, 110.0, 3)
    mean = (90 + 110 + 101) / 3
    deviation = math.sqrt(sum((each - mean) ** 2 for each in (90, 110, 101)) / 2)
    assert row.spread == pytest.approx(deviation / mean)
    assert row.run_ids == ("run-1-90.0", "run-1-110.0", "run-1-101.0")
    assert row.unit == "images/s"


def test_metrics_of_a_failed_run_are_not_repeats() -> None:
    def with_latency(value: float, **other: Any) -> Run:
        return run(metrics={"latency": {"value": value, "unit": "ms"}}, **other)

    (row,) = rows(with_latency(10.0), with_latency(12.0), with_latency(90.0, outcome="oom"))
    found = row.metrics["latency"]
    assert (found.value, found.high, found.repeats) == (11.0, 12.0, row.repeats) == (11.0, 12.0, 2)
    (alone,) = rows(with_latency(90.0, outcome="oom"))
    assert (alone.metrics["latency"].value, alone.repeats) == (90.0, 0)


def test_speed_up_and_efficiency_are_relative_to_one_device() -> None:
    one, eight, many = rows(run(100.0), run(720.0, devices=8), run(1500.0, devices=32, nodes=4))
    assert (one.speedup, one.efficiency) == (1.0, 1.0)
    assert (eight.speedup, eight.efficiency) == (pytest.approx(7.2), pytest.approx(0.9))
    assert (many.speedup, many.efficiency) == (15.0, pytest.approx(15 / 32))


@pytest.mark.parametrize(
    "other",
    [
        {"batch_size": 64},
        {"precision": "amp"},
        {"framework": "Other"},
        {"hardware": "other"},
        {"model": "Other"},
        {"options": {"xla": True}},
    ],
)
def test_a_baseline_must_be_of_the_same_case(other: dict[str, Any]) -> None:
    mine = {"options": {"xla": False}} if "options" in other else {}
    found = rows(run(100.0, case=other), run(720.0, devices=8, case=mine))
    eight = next(each for each in found if each.devices == 8)
    assert eight.speedup is None
    assert eight.efficiency is None
    assert code(eight.speedup_reason) == "no_baseline"
    assert eight.value == 720.0


def test_options_that_only_one_side_states_do_not_separate_cases() -> None:
    found = rows(run(100.0), run(800.0, devices=8, case={"options": {"xla": True}}))
    assert [each.speedup for each in found if each.devices == 8] == [8.0]


def test_two_possible_baselines_give_no_speed_up() -> None:
    found = rows(
        run(100.0, case={"options": {"dali": True}}),
        run(50.0, case={"options": {"dali": False}}),
        run(800.0, devices=8),
    )
    eight = next(each for each in found if each.devices == 8)
    assert eight.speedup is None
    assert code(eight.speedup_reason) == "no_baseline"


def test_the_identical_case_is_preferred_as_baseline() -> None:
    found = rows(
        run(100.0, case={"options": {"dali": True}}), run(50.0), run(720.0, devices=8, case={"options": {"dali": True}})
    )
    assert [each.speedup for each in found if each.devices == 8] == [pytest.approx(7.2)]
    assert [each.speedup for each in found if each.devices == 1] == [1.0, 1.0]


def test_data_parallel_copies_grow_with_the_devices() -> None:
    """Megatron states one copy on one device and eight on eight; both are the same case."""
    one, eight = (run(100.0 * n, devices=n, case={"options": {"data_parallel": n, "layers": 24}}) for n in (1, 8))
    assert [each.speedup for each in rows(one, eight)] == [1.0, 8.0]
    cut = run(400.0, devices=8, case={"options": {"data_parallel": 4, "tensor_parallel": 2}})
    whole = run(100.0, case={"options": {"data_parallel": 1, "tensor_parallel": 1}})
    assert rows(whole, cut)[1].speedup is None


def test_figures_of_two_units_are_not_repeats() -> None:
    """One printer of the framework counts images, and another counts batches."""
    other = edited(run(3.0), figures={"sustained": {"unit": "batches/s"}})
    found = rows(run(100.0), run(102.0), other)
    assert [(each.unit, each.value) for each in found] == [("images/s", 101.0), ("batches/s", 3.0)]


def test_out_of_memory_is_a_result() -> None:
    (row,) = rows(run(100.0, outcome="oom", published=False, problems=[{"code": "no_step"}]))
    assert row.value is None
    assert (row.outcome, row.repeats) == ("oom", 0)
    assert row.reason == Reason("outcome", {"outcome": "oom"})
    assert row.speedup_reason == row.reason


def test_out_of_memory_with_contradicting_facts_is_not_a_result() -> None:
    assert rows(run(outcome="oom", published=False, problems=[{"code": "contradiction"}])) == []
    assert rows(run(outcome="oom", published=False, case={"model": None})) == []
    withheld = {"code": "withheld", "path": "x", "line": 1, "args": {"witness": "arithmetic"}}
    assert rows(run(outcome="oom", published=False, problems=[withheld])) == []


def test_failed_repeats_do_not_count() -> None:
    (row,) = rows(run(100.0), run(7.0, outcome="failed"), run(7.0, outcome="oom"), run(104.0))
    assert (row.value, row.repeats, row.outcome) == (102.0, 2, "completed")
    assert len(row.run_ids) == 4


def test_an_absent_figure_has_its_reason() -> None:
    (row,) = rows(run(None))
    assert row.value is None
    assert code(row.reason) == "too_few_records"


def test_figures_of_another_scope_are_not_results() -> None:
    (row,) = rows(run(100.0, scope="device"))
    assert row.value is None


@pytest.mark.parametrize("other", [{"published": False}, {"duplicate_of": "x"}, {"format": None}])
def test_unpublished_and_duplicate_runs_give_no_result(other: dict[str, Any]) -> None:
    assert rows(run(**other)) == []


def with_witnesses(*verdicts: tuple[str, str], **other: Any) -> Run:
    """Return a run with witnesses of these kinds and verdicts."""
    return run(
        witnesses=[builders.witness(kind, verdict, value=1.0, against=1.0) for kind, verdict in verdicts], **other
    )


@pytest.mark.parametrize(
    ("verdicts", "evidence"),
    [
        ((), "line"),
        ((("clock", "silent"), ("summary", "silent")), "line"),
        ((("clock", "silent"), ("summary", "agrees")), "agree"),
        ((("clock", "corrects"), ("arithmetic", "agrees")), "corrects"),
        # Most wrong figures are within the bound of physics, too.
        ((("clock", "silent"), ("physics", "agrees")), "line"),
    ],
)
def test_a_result_names_its_evidence(verdicts: tuple[tuple[str, str], ...], evidence: str) -> None:
    (row,) = rows(with_witnesses(*verdicts))
    assert row.witnesses == evidence


def test_the_evidence_of_a_result_is_that_of_its_weakest_run() -> None:
    sound, alone, corrected = (
        with_witnesses(each) for each in (("clock", "agrees"), ("clock", "silent"), ("clock", "corrects"))
    )
    assert [rows(sound, *more)[0].witnesses for more in ((sound,), (alone,), (alone, corrected))] == [
        "agree", "line", "corrects",
    ]  # fmt: skip


def test_the_evidence_is_of_the_headline_of_completed_runs() -> None:
    """A run that ran out of memory may have a figure in the ledger, which does not count for its case."""
    sound, oom = with_witnesses(("clock", "agrees")), with_witnesses(outcome="oom")
    assert rows(sound, oom)[0].witnesses == "agree"
    assert rows(oom)[0].witnesses is None


def test_a_result_has_the_rule_of_its_headline_and_repeats_have_a_figure_under_others() -> None:
    line = run(figures={"sustained": builders.figure(1.0), "mean": builders.figure(2.0)})
    assert (rows(line)[0].value, rows(line)[0].rule) == (1.0, "sustained")
    other = figure([line], "mean")
    assert other is not None
    assert other.value == 2.0
    assert figure([line], "median") is None


def test_the_order_of_runs_does_not_matter() -> None:
    runs = [run(100.0), run(720.0, devices=8), run(90.0, case={"batch_size": 64}), run(95.0, case={"precision": "amp"})]
    first = results(runs)
    assert first == results(runs[::-1])
    assert [(each.precision, each.devices, each.batch_size) for each in first] == [
        ("amp", 1, 32), ("fp32", 1, 32), ("fp32", 1, 64), ("fp32", 8, 32),
    ]  # fmt: skip


def stated(value: float, *, version: str | None = None, of_round: str | None = None, **other: Any) -> Run:
    """Return a run that states a framework version, a round, or neither."""
    facts = {"framework_version": version, "round": of_round}
    known = {name: {"value": each, "source": "log", "where": "line 1"} for name, each in facts.items() if each}
    return run(value, facts=known, **other)


@pytest.mark.parametrize("fact", ["version", "of_round"])
def test_runs_of_different_versions_or_rounds_are_not_repeats(fact: str) -> None:
    found = rows(stated(100.0, **{fact: "1"}), stated(104.0, **{fact: "1"}), stated(160.0, **{fact: "2"}))
    assert [(getattr(each, fact.removeprefix("of_")), each.value, each.repeats) for each in found] == [
        ("1", 102.0, 2),
        ("2", 160.0, 1),
    ]


def test_runs_without_a_version_are_repeats_only_of_each_other() -> None:
    """The version of an old log would be a guess, even if all others agree."""
    found = rows(stated(100.0, version="2.0"), run(80.0), stated(110.0, version="2.0"), run(84.0))
    assert [(each.version, each.value) for each in found] == [("2.0", 105.0), (None, 82.0)]


@pytest.mark.parametrize("fact", ["version", "of_round"])
def test_a_baseline_must_be_of_the_same_version_and_round(fact: str) -> None:
    """720 / 100 is 7.2 and 900 / 150 is 6; 900 / 100 would be 9."""
    old, new = {fact: "1"}, {fact: "2"}
    found = rows(
        stated(100.0, **old), stated(720.0, devices=8, **old), stated(150.0, **new), stated(900.0, devices=8, **new)
    )
    assert [each.speedup for each in found if each.devices == 8] == [pytest.approx(7.2), pytest.approx(6.0)]
    (alone,) = [each for each in rows(stated(100.0, **old), stated(900.0, devices=8, **new)) if each.devices == 8]
    assert alone.speedup is None
    assert code(alone.speedup_reason) == "no_baseline"


def test_a_baseline_without_a_version_is_not_of_the_same_version() -> None:
    found = rows(run(100.0), stated(800.0, devices=8, version="2"))
    assert [code(each.speedup_reason) for each in found if each.devices == 8] == ["no_baseline"]


@pytest.mark.parametrize(
    ("framework", "environment", "expected"),
    [
        ("PyTorch", {"packages": {"numpy": "2.4.6", "torch": "2.13.0"}}, "2.13.0"),
        ("NGC PyTorch", {"packages": {"torch": "2.13.0"}}, "2.13.0"),
        ("PaddleSeg", {"packages": {"paddleseg": "2.8.0", "paddlepaddle": "2.6.2"}}, "2.6.2"),
        ("PaddlePaddle", {"packages": {"paddlepaddle-gpu": "3.0"}, "framework_version": "3.3.1"}, "3.3.1"),
        ("TensorFlow", {"packages": {"torch": "2.13.0"}}, None),
        ("Test", {"packages": {"numpy": "2.4.6"}}, None),
        ("PyTorch", {"packages": None}, None),
        ("PyTorch", {}, None),
    ],
)
def test_the_version_comes_from_the_environment_or_the_frameworks_package(
    framework: str, environment: dict[str, Any], expected: str | None
) -> None:
    assert version(run(case={"framework": framework}, environment=environment)) == expected


def accumulated(steps: int, value: float, devices: int = 1) -> Run:
    return run(value, devices=devices, case={"options": {} if steps == 1 else {"accumulation": steps}})


def test_runs_with_different_accumulation_are_not_repeats() -> None:
    """With 88 micro batches the update takes hardly any time; with one it is a part of every step."""
    many, one = rows(accumulated(88, 150.0), accumulated(1, 100.0), accumulated(88, 151.0))
    assert (many.repeats, one.repeats) == (2, 1) or (one.repeats, many.repeats) == (2, 1)
    assert {each.value for each in (many, one)} == {150.5, 100.0}


@pytest.mark.parametrize(("steps", "speedup"), [(88, 8.0), (704, 8.0), (11, None)])
def test_a_baseline_must_have_the_same_accumulation_or_global_batch(steps: int, speedup: float | None) -> None:
    """Eight devices with 88 micro batches each have the global batch of one device with 704."""
    found = rows(accumulated(704, 100.0), accumulated(steps, 800.0, devices=8))
    (eight,) = (each for each in found if each.devices == 8)
    assert eight.speedup == speedup


def summary(value: float, **other: Any) -> Run:
    """Return a run whose printer prints only a final figure."""
    figures = {"sustained": absent(), "reported": builders.figure(value)}
    return run(value, **{"rule": "reported", "figures": figures, **other})


def test_a_trainers_own_summary_is_a_result_of_its_own_rule() -> None:
    found = results([run(100.0), summary(140.0), summary(150.0)])
    by_rule = [(each.rule, each.value, each.repeats) for each in found]
    assert by_rule == [("sustained", 100.0, 1), ("reported", 145.0, 2)]


def test_a_baseline_must_have_the_same_rule() -> None:
    one, eight = results([run(100.0, devices=1), summary(700.0, devices=8)])
    assert (one.speedup, eight.speedup) == (1.0, None)
    assert code(eight.speedup_reason) == "no_baseline"
    assert results([summary(100.0, devices=1), summary(700.0, devices=8)])[1].speedup == pytest.approx(7.0)


def test_an_out_of_memory_joins_the_rule_of_its_case() -> None:
    (row,) = results([summary(140.0), run(None, outcome="oom")])
    assert (row.rule, row.value, len(row.run_ids)) == ("reported", 140.0, 2)


BUSY = ("the processors of this host are 51 % busy before the run: something else computes here",)


def test_a_disturbed_run_does_not_move_the_result_of_the_others() -> None:
    calm = [run(90.0), run(110.0), run(101.0)]
    (row,) = rows(*calm, run(20.0, disturbances=BUSY, published=False, sound=True))
    assert row == rows(*calm)[0]
    accepted = run(20.0, disturbances=BUSY, accept_disturbed=True)
    (row,) = rows(*calm, accepted)
    assert (row.low, row.repeats) == (20.0, 4)


def test_a_case_with_only_disturbed_runs_has_a_reason_instead_of_a_figure() -> None:
    metric = {"metrics": {"latency": {"value": 5.0, "unit": "ms"}}}
    disturbed = [run(value, disturbances=BUSY, published=False, sound=True, **metric) for value in (20.0, 21.0)]
    (row,) = rows(*disturbed)
    assert (row.value, row.repeats, row.metric("latency")) == (None, 0, None)
    assert row.reason == Reason("disturbed", {"n": 2})
    # Such a case is not the baseline of a speed-up.
    _, two = rows(*disturbed, run(40.0, devices=2))
    assert (two.value, two.speedup) == (40.0, None)


def test_a_disturbed_run_that_ran_out_of_memory_does_not_count_if_others_completed() -> None:
    oom = run(None, outcome="oom", disturbances=BUSY, published=False, sound=False)
    (row,) = rows(run(90.0), oom)
    assert (row.value, row.run_ids) == (90.0, ("run-1-90.0",))


def test_exported_figures_leave_out_disturbed_runs() -> None:
    found = figures.of_runs([run(90.0), run(20.0, disturbances=BUSY, published=False, sound=True)])
    assert [each.value for each in found.runs] == [90.0, None]
    assert found.runs[1].reason == f"it was disturbed ({BUSY[0]}), and --if-busy count was not given"
    (case,) = found.cases
    assert (case.value, case.repeats) == (90.0, 1)


def test_runs_of_different_formats_are_not_repeats() -> None:
    """Two trainers of one framework may state the same case, and no figure is true for both."""
    metric = {"metrics": {"latency": {"value": 5.0, "unit": "ms"}}}
    one = run(90.0, format="frameworks.torchtitan", **metric)
    other = run(400.0, format="frameworks.hf_trainer", **metric)
    (row,) = rows(one, other)
    assert (row.value, row.low, row.repeats, row.metric("latency")) == (None, None, 0, None)
    assert row.reason == Reason("several_formats", {"formats": "frameworks.hf_trainer, frameworks.torchtitan"})
    # Such a case is not the baseline of a speed-up.
    _, two = rows(one, other, run(180.0, devices=2, format="frameworks.torchtitan"))
    assert (two.value, two.speedup) == (180.0, None)
    (case,) = figures.of_runs([one, other]).cases
    assert (case.value, case.interval, case.repeats) == (None, None, 0)


def test_formats_separate_neither_cases_with_different_options_nor_runs_without_a_figure() -> None:
    one, other = (run(value, format=f"frameworks.{name}") for value, name in ((90.0, "torchtitan"), (400.0, "trl")))
    apart = rows(one, edited(other, case={"options": {"trainer": "trl"}}))
    assert sorted(each.value or 0 for each in apart) == [90.0, 400.0]
    (row,) = rows(one, run(None, format="frameworks.trl", outcome="oom"))
    assert (row.value, row.repeats) == (90.0, 1)


def test_formats_with_nearly_equal_figures_are_repeats() -> None:
    """MMEngine writes the same run to the console and to a file of JSON lines."""
    console = [run(value, format="frameworks.mmseg") for value in (98.0, 100.0)]
    (row,) = rows(*console, run(101.0, format="frameworks.openmmlab_json"))
    assert (row.value, row.repeats) == (100.0, 3)
    (row,) = rows(*console, run(104.0, format="frameworks.openmmlab_json"))
    assert (row.value, code(row.reason)) == (None, "several_formats")
