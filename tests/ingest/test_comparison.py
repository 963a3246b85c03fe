"""Whether two results may be compared, and the facts that forbid it, on made-up statements."""

from __future__ import annotations

from typing import Any

import pytest

from perfledger.ingest.compute.comparison import (
    CONDITIONS,
    Candidate,
    Statement,
    comparability,
    contradicted,
    verdict,
)
from perfledger.ingest.compute.comparison_levels import DEFAULT, LEVELS, level_rank
from perfledger.ingest.compute.comparison_tables import lead
from perfledger.ingest.compute.contrast import Grade, Measured
from perfledger.schema.records import Result, from_json

FACTS = {
    "model": "ResNet-50 v1.5", "framework": "PyTorch", "hardware": "H", "precision": "amp", "devices": 8, "nodes": 1,
    "batch_size": 64, "unit": "images/s", "framework_version": "2.13.0", "rule": "sustained", "round": "2026Q4",
    "measured_from": None,
}  # fmt: skip
KNOWN = {"driver": "535.54", "power_limit": "300", "cuda": "12.4", "image": "a:1"}
MXNET = {"framework": "MXNet", "framework_version": "2.0"}
Changes = dict[str, Any]


def stated(options: Changes | None = None, conditions: Changes | None = None, **facts: Any) -> Statement:
    """Return the statement of an ordinary result, with some values changed; None is a fact that it does not state."""
    known = dict.fromkeys(CONDITIONS) | KNOWN | (conditions or {})
    return Statement(texts(FACTS | facts), texts(options or {}), texts(known))


def texts(values: Changes) -> dict[str, tuple[str, ...]]:
    lists = {
        name: value if isinstance(value, tuple) else () if value is None else (value,) for name, value in values.items()
    }
    return {name: tuple(map(str, each)) for name, each in lists.items()}


#: Changes of the second result, the compared dimension, the options that define the workload, and three outcomes:
#: reasons against the comparison, unknown facts, and facts that follow from the dimension.
CASES: list[tuple[Changes, str, Changes, list[str], list[str], list[str]]] = [
    ({}, "framework", {}, [], [], []),
    (MXNET, "framework", {}, [], [], ["framework_version"]),
    ({**MXNET, "conditions": {"image": "b:2"}}, "framework", {}, [], [], ["framework_version", "image"]),
    ({**MXNET, "batch_size": 32}, "framework", {}, ["batch_size"], [], ["framework_version"]),
    ({**MXNET, "precision": "fp16"}, "framework", {}, ["precision"], [], ["framework_version"]),
    ({**MXNET, "devices": 4}, "framework", {}, ["devices"], [], ["framework_version"]),
    ({**MXNET, "devices": 16, "nodes": 2}, "framework", {}, ["devices"], [], ["framework_version"]),
    ({**MXNET, "nodes": 2}, "framework", {}, ["nodes"], [], ["framework_version"]),
    ({**MXNET, "model": "ResNet-50 v1"}, "framework", {}, ["model"], [], ["framework_version"]),
    ({**MXNET, "rule": "dlperf"}, "framework", {}, ["rule"], [], ["framework_version"]),
    ({**MXNET, "rule": None}, "framework", {}, [], ["rule"], ["framework_version"]),
    ({**MXNET, "unit": "samples/s"}, "framework", {}, ["unit"], [], ["framework_version"]),
    ({**MXNET, "conditions": {"driver": "550.90"}}, "framework", {}, ["driver"], [], ["framework_version"]),
    ({**MXNET, "conditions": {"driver": None}}, "framework", {}, [], ["driver"], ["framework_version"]),
    ({**MXNET, "conditions": {"driver": ("535.54", "9")}}, "framework", {}, ["driver"], [], ["framework_version"]),
    ({**MXNET, "conditions": {"power_limit": "250"}}, "framework", {}, ["power_limit"], [], ["framework_version"]),
    ({**MXNET, "conditions": {"gpu_ecc": "Disabled"}}, "framework", {}, [], ["gpu_ecc"], ["framework_version"]),
    # Frameworks bring different CUDA libraries, and a driver supports several. One framework has the same CUDA.
    ({**MXNET, "conditions": {"cuda": "11.8"}}, "framework", {}, [], [], ["cuda", "framework_version"]),
    ({"conditions": {"cuda": "11.8"}}, "framework", {}, ["cuda"], [], []),
    # A comparison of frameworks does not excuse another version of the same framework.
    ({"framework_version": "2.12.0"}, "framework", {}, ["framework_version"], [], []),
    ({"framework_version": None}, "framework", {}, [], ["framework_version"], []),
    ({"conditions": {"image": "b:2"}}, "framework", {}, ["image"], [], []),
    ({"framework_version": "2.12.0", "conditions": {"image": "b:2"}}, "version", {}, [], [], ["image"]),
    ({"framework_version": "2.12.0", "conditions": {"driver": "550.90"}}, "version", {}, ["driver"], [], []),
    (MXNET, "version", {}, ["framework"], [], []),
    ({"round": "2026Q3", "framework_version": "2.12.0"}, "round", {}, [], [], ["framework_version"]),
    ({"round": "2026Q3", "conditions": {"driver": "550.90"}}, "round", {}, ["driver"], [], []),
    ({"round": "2026Q3"}, "framework", {}, [], [], []),
    ({"hardware": "G", "conditions": {"power_limit": "700"}}, "hardware", {}, [], [], ["power_limit"]),
    ({"hardware": "G", "conditions": {"driver": "550.90"}}, "hardware", {}, ["driver"], [], []),
    # The reason is another machine, which explains its power limit.
    ({"hardware": "G", "conditions": {"power_limit": "700"}}, "batch", {}, ["hardware"], [], []),
    ({"precision": "fp32"}, "precision", {}, [], [], []),
    ({"precision": None}, "framework", {}, ["precision"], [], []),
    ({"devices": 16, "nodes": 2, "options": {"data_parallel": 16}}, "devices", {}, [], [], ["nodes"]),
    ({"devices": 16, "batch_size": 32}, "devices", {}, ["batch_size"], [], []),
    ({"batch_size": 32}, "batch", {}, [], [], []),
    ({"batch_size": 32, "framework_version": "2.12.0"}, "batch", {}, ["framework_version"], [], []),
    # An option that both state has to agree. If only one states it, it is unknown, unless it defines the workload.
    ({"options": {"xla": True}}, "framework", {}, [], ["xla"], []),
    ({"options": {"image_size": 64}}, "framework", {"image_size": 224}, ["image_size"], [], []),
    ({"options": {"image_size": 224}}, "framework", {"image_size": 224}, [], [], []),
    ({"options": {"sequence_length": 128}}, "framework", {"sequence_length": None}, ["sequence_length"], [], []),
    # A fact of the case that only one states is a difference. If neither states it, it is not.
    ({**MXNET, "batch_size": None}, "framework", {}, ["batch_size"], [], ["framework_version"]),
    ({"framework_version": None}, "version", {}, [], [], []),
    ({**MXNET, "measured_from": "log"}, "framework", {}, [], [], ["framework_version"]),
    ({"options": {"image_size": 64}}, "framework", {"image_size": None}, ["image_size"], [], []),
]  # fmt: skip


@pytest.mark.parametrize(("change", "dimension", "workload", "reasons", "unknown", "follows"), CASES)
def test_comparability_lists_differences_unknown_facts_and_facts_that_follow(
    change: Changes, dimension: str, workload: Changes, reasons: list[str], unknown: list[str], follows: list[str]
) -> None:
    for first, second in ((stated(), stated(**change)), (stated(**change), stated())):
        found = comparability(first, second, dimension, workload)
        assert sorted(each.name for each in found.differs) == reasons
        assert sorted(each.name for each in found.unknown) == unknown
        assert sorted(each.name for each in found.follows) == follows


#: Changes of the second result, the options that define the workload, and the reasons against the comparison at each
#: level. The framework differs as well.
BY_LEVEL: list[tuple[Changes, Changes, tuple[list[str], list[str], list[str]]]] = [
    ({}, {}, ([], [], [])),
    ({"precision": "fp16"}, {}, (["precision"], [], [])),
    ({"precision": "bf16"}, {}, (["precision"], [], [])),
    ({"precision": "fp32"}, {}, (["precision"], ["precision"], [])),
    ({"precision": None}, {}, (["precision"], ["precision"], [])),
    ({"options": {"dali": "false"}}, {}, (["dali"], [], [])),
    ({"options": {"data_format": "NHWC"}}, {}, (["data_format"], [], [])),
    # Clipping is additional work. An unknown switch is assumed to change how the same work is done.
    ({"options": {"clip": "false"}}, {}, (["clip"], ["clip"], [])),
    ({"options": {"own_switch": "false"}}, {}, (["own_switch"], [], [])),
    ({"options": {"dali": "false"}}, {"dali": None}, (["dali"], ["dali"], [])),
    ({"options": {"reader": "b"}}, {}, (["reader"], ["reader"], [])),
    ({"conditions": {"driver": "535.54.03"}}, {}, (["driver"], [], [])),
    ({"conditions": {"driver": "535.98"}}, {}, (["driver"], ["driver"], [])),
    ({"conditions": {"kernel": "6.18.9-fc-v2"}}, {}, (["kernel"], [], [])),
    ({"conditions": {"kernel": "6.17.44-fc-v1"}}, {}, (["kernel"], ["kernel"], [])),
    ({"conditions": {"kernel": ("6.18.44-fc-v1", "6.18.44-fc-v2")}}, {}, (["kernel"], [], [])),
    ({"conditions": {"os": "Ubuntu 22.04.4 LTS"}}, {}, (["os"], [], [])),
    ({"conditions": {"os": "Ubuntu 24.04 LTS"}}, {}, (["os"], ["os"], [])),
    ({"conditions": {"cpu": "Xeon 2.40GHz v4"}}, {}, (["cpu"], ["cpu"], [])),
    ({"batch_size": 32}, {}, (["batch_size"], ["batch_size"], [])),
    ({"model": "ResNet-50 v1"}, {}, (["model"], ["model"], [])),
    ({"rule": "dlperf"}, {}, (["rule"], ["rule"], [])),
    ({"unit": "samples/s"}, {}, (["unit"], ["unit"], ["unit"])),
    ({"options": {"image_size": "64"}}, {"image_size": 224}, (["image_size"], ["image_size"], [])),
]
BASE: Changes = {"kernel": "6.18.44-fc-v1", "os": "Ubuntu 22.04.3 LTS", "cpu": "Xeon 2.10GHz v4"}


@pytest.mark.parametrize(("change", "workload", "reasons"), BY_LEVEL)
def test_each_level_has_a_subset_of_the_reasons_of_the_stricter_one(
    change: Changes, workload: Changes, reasons: tuple[list[str], ...]
) -> None:
    options = {"dali": "true", "reader": "a", "data_format": "NCHW", "clip": "true", "own_switch": "true"}
    changed = {**change, "conditions": BASE | change.get("conditions", {})}
    first, second = stated(options, BASE), stated({**options, **changed.pop("options", {})}, **MXNET, **changed)
    found = comparability(first, second, "framework", workload)
    for level, expected in zip(LEVELS, reasons, strict=True):
        forbidding = [each.name for each in found.differs if level_rank(each.tolerated) > level_rank(level)]
        assert forbidding == expected, level
    assert [each.name for each in found.reasons] == reasons[LEVELS.index(DEFAULT)]


def test_a_tolerated_patch_version_does_not_excuse_another_cuda() -> None:
    one = stated(framework_version="2.1.0+cu118", conditions={"cuda": "11.8"})
    two = stated(framework_version="2.1.1+cu121", conditions={"cuda": "12.1"}, batch_size=32)
    found = comparability(one, two, "batch", {})
    assert [each.name for each in found.reasons] == ["cuda"]
    assert [each.name for each in found.tolerated] == ["framework_version"]


def of(framework: str, value: float, **facts: Any) -> Candidate:
    """Return a candidate with one run."""
    case = {"hardware": "H", "nodes": 1, "devices": 8, "batch_size": 64, "precision": "amp", "options": {}}
    result = from_json({"suite": "a", "model": "M", "framework": framework, **case, **facts}, Result)
    return Candidate(result, Measured(value, value, value, 1, unit="images/s"), ())


def test_a_verdict_lists_the_differences_that_make_no_other_workload() -> None:
    found = verdict([of("A", 120.0), of("B", 100.0, precision="fp16")], {})
    assert (found.kind, [each.name for each in found.tolerated]) == ("likely", ["precision"])


def test_incomparable_results_do_not_reduce_the_lead() -> None:
    found = verdict([of("A", 120.0), of("B", 100.0), of("C", 99.0), of("B", 119.0, batch_size=1)], {})
    assert found.kind == "conditions"
    found = verdict([of("A", 120.0), of("B", 100.0), of("C", 99.0, batch_size=1)], {})
    assert (found.kind, [each.framework for each in found.pair]) == ("likely", ["A", "B"])


def test_figures_that_were_measured_differently_are_not_compared() -> None:
    log, driver = stated(measured_from="log"), stated(measured_from="telemetry", **MXNET)
    assert [each.name for each in comparability(log, driver, "framework", {}).reasons] == ["measured_from"]


def test_facts_that_neither_states_are_unknown() -> None:
    nothing = stated(batch_size=None, framework_version=None)
    found = comparability(nothing, nothing, "version", {})
    assert {"batch_size", "framework_version"} <= {each.name for each in found.unknown}
    assert found.reasons == ()


@pytest.mark.parametrize(
    ("other", "better", "expected"),
    [
        (Measured(90.0, 89.0, 91.0, 3), "higher", "clear"),
        (Measured(90.0, 90.0, 90.0, 1), "higher", "likely"),
        (Measured(90.0, 89.0, 99.0, 3), "higher", "close"),
        (Measured(110.0, 109.0, 111.0, 3), "lower", "clear"),
        (Measured(110.0, 101.0, 111.0, 3), "lower", "close"),
    ],
)
def test_the_grade_of_a_lead_depends_on_direction_and_spread(other: Measured, better: str, expected: Grade) -> None:
    found = lead(Measured(100.0, 99.0, 101.0, 3), other, better)
    assert found is not None
    assert found.grade == expected
    assert lead(other, Measured(100.0, 99.0, 101.0, 3), better) is None


def row(framework: str, **options: Any) -> Result:
    case = {"hardware": "A100", "nodes": 1, "devices": 8, "batch_size": 256, "precision": "amp"}
    return from_json(
        {"suite": "resnet50", "model": "ResNet-50", "framework": framework, "options": options, **case}, Result
    )


def test_contradicted_lists_the_workload_options_that_differ_between_frameworks() -> None:
    rows = [row("PyTorch", threads=1, dali=True), row("MXNet", threads=2, dali=False), row("JAX")]
    assert contradicted(rows) == ["threads"]
    assert contradicted([row("PyTorch", clip=True, xla=True), row("MXNet", clip=False, xla=False)]) == ["clip"]
    assert contradicted([row("PyTorch", data_format="NCHW"), row("MXNet", data_format="NHWC")]) == []
    assert contradicted([row("PyTorch", threads=1), row("PyTorch", threads=2)]) == []
    assert contradicted([row("PyTorch", threads=1), row("MXNet", threads=1.0), row("JAX")]) == []
