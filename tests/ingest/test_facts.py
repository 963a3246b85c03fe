"""Facts of a case: the order of sources, contradictions, derived facts, and impossible facts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_logs import CLAS_BANNER, clas_dygraph, oneflow_resnet50, run_json, seg
from made_trees import Called, write_run

from perfledger.ingest.read.beside import PathFacts
from perfledger.ingest.read.facts import Merged, hardware, merge, missing
from perfledger.parsers.engine.session import Quoted
from perfledger.schema.records import Run, from_json


def merged(
    run: dict[str, Any] | None = None, log: dict[str, Any] | None = None, layout: dict[str, Any] | None = None
) -> Merged:
    quoted = {name: Quoted(value, 7) for name, value in (log or {}).items()}
    return merge(run or {}, quoted, PathFacts("made", layout), {"framework": "of the format"})


def test_the_strongest_source_takes_precedence() -> None:
    found = merged({"batch_size": 8}, {"batch_size": 8, "devices": 4}, {"devices": 4, "repeat": 2, "nodes": 1})
    assert {name: (each.value, each.where) for name, each in found.stated.items()} == {
        "batch_size": (8, "run.json"),
        "devices": (4, "line 7"),
        "repeat": (2, "layout made"),
        "nodes": (1, "layout made"),
        "framework": ("of the format", "format"),
    }
    assert found.contradictions == ()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("nodes", (2, 4)),
        ("devices", (8, 16)),
        ("batch_size", (32, 64)),
        ("model", ("BERT-base", "ResNet-50 v1.5")),
        ("precision", ("fp32", "amp")),
        ("hardware", ("V100-SXM2-32GB", "A100-SXM4-40GB")),
        ("accumulation", (1, 8)),
    ],
)
def test_a_contradiction_names_both_sources(name: str, values: tuple[Any, Any]) -> None:
    for first, second, sources in (
        ({"run": {name: values[0]}}, {"log": {name: values[1]}}, ("run.json", "line 7")),
        ({"run": {name: values[0]}}, {"layout": {name: values[1]}}, ("run.json", "layout made")),
        ({"log": {name: values[0]}}, {"layout": {name: values[1]}}, ("line 7", "layout made")),
    ):
        found = merged(**{**first, **second})
        (each,) = [one for one in found.contradictions if one.fact == name]
        assert (each.first.value, each.second.value) == values
        assert (each.first.where, each.second.where) == sources


@pytest.mark.parametrize(("strong", "weak"), [("fp16", "amp"), ("amp", "fp16"), ("bf16", "amp"), ("tf32", "fp32")])
def test_precisions_of_one_family_agree(strong: str, weak: str) -> None:
    found = merged({"precision": strong}, {"precision": weak})
    assert found.contradictions == ()
    assert found.value("precision") == strong


OPTIONAL = {
    "accumulation": (1, 88), "expert_parallel": (1, 4), "context_parallel": (1, 2), "drop_last": ("False", "True"),
    "lora_rank": (0, 8),
}  # fmt: skip


@pytest.mark.parametrize(("name", "values"), OPTIONAL.items(), ids=OPTIONAL)
def test_an_option_with_its_default_value_is_not_part_of_the_case(name: str, values: tuple[Any, Any]) -> None:
    usual, other = (merged(log={"devices": 8, name: value}) for value in values)
    assert usual.case() == merged(log={"devices": 8}).case()
    assert name in usual.stated
    assert list(other.case().options) == [name]


@pytest.mark.parametrize("name", ["data_format", "num_classes"])
def test_an_option_without_a_default_value_is_always_part_of_the_case(name: str) -> None:
    assert merged(log={name: "NCHW"}).case().options == {name: "NCHW"}


def test_devices_follow_from_the_global_batch_if_it_includes_accumulation() -> None:
    """100 updates of 64 samples are an epoch of 6400. With two micro batches of 64 they would be two epochs."""
    head = {"batch_size": 4, "accumulation": 2, "batch_size_of_job": 64, "total_steps": 100, "total_epochs": 1}
    assert merged(log=head | {"data_set_size": 6400}).case().devices == 8
    assert merged(log=head | {"data_set_size": 12800}).case().devices is None
    assert merged(log=head | {"data_set_size": 250, "total_epochs": 25}).case().devices == 8, "each ends with a part"
    assert merged(log=head | {"data_set_size": 60, "total_epochs": 100}).case().devices is None


def test_a_derived_fact_names_the_facts_that_it_follows_from() -> None:
    found = merged(log={"devices_per_node": 2}, layout={"nodes": 16})
    devices = found.stated["devices"]
    assert (devices.value, devices.source) == (32, "derived")
    assert devices.where == "nodes (layout made), devices_per_node (line 7)"
    batch = merged({"batch_size_of_job": 64}, {"devices_per_node": 2}, {"nodes": 16}).stated["batch_size"]
    assert (batch.value, batch.source) == (2, "derived")
    assert batch.where == "batch_size_of_job (run.json), nodes (layout made), devices_per_node (line 7)"


def test_spellings_of_a_model_agree() -> None:
    found = merged({"model": "ResNet50_v1.5"}, {"model": "resnet50"}, {"model": "ResNet-50 v1.5"})
    assert found.contradictions == ()
    assert found.value("model") == "ResNet-50 v1.5"


def test_an_undeclared_model_name_in_a_log_is_replaced_by_a_matching_name_in_the_path() -> None:
    assert merged(log={"model": "resnet50"}).value("model") == "resnet50"
    found = merged(log={"model": "resnet50"}, layout={"model": "ResNet-50 v1.5"})
    assert (found.value("model"), found.contradictions) == ("ResNet-50 v1.5", ())
    assert merged(log={"model": "resnet-50"}, layout={"model": "ResNet-50 v1b"}).contradictions
    assert found.value("model") == "ResNet-50 v1.5"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"nodes": 2, "devices_per_node": 8}, {"nodes": 2, "devices": 16}),
        ({"devices": 32, "devices_per_node": 8}, {"nodes": 4, "devices": 32}),
        ({"devices": 1}, {"nodes": 1, "devices": 1}),
        ({"devices": 8}, {"devices": 8}),
        ({"devices": 8, "batch_size_of_job": 256}, {"devices": 8, "batch_size": 32}),
        ({"devices": 7, "batch_size_of_job": 256}, {"devices": 7}),
        ({"devices": 6, "devices_per_node": 4}, {"devices": 6}),
        ({"batch_size_of_job": 256}, {}),
    ],
)
def test_facts_are_derived_from_others(given: dict[str, Any], expected: dict[str, Any]) -> None:
    case = merged(log=given).case()
    assert {name: value for name, value in case.known().items() if name != "framework"} == expected


@pytest.mark.parametrize(
    ("log", "layout", "expected", "contradicted"),
    [
        ({"nodes": 16}, {"nodes": 8, "devices_per_node": 1}, (16, 16), ["nodes"]),
        ({"devices_per_node": 8}, {"nodes": 4}, (4, 32), []),
        ({"devices_per_node": 8}, {"devices": 32}, (4, 32), []),
        ({"devices": 8}, {"nodes": 1, "devices_per_node": 8}, (1, 8), []),
        ({"devices": 8}, {"nodes": 2, "devices_per_node": 8}, (2, 8), ["devices"]),
    ],
)
def test_derived_facts_use_the_merged_facts(
    log: dict[str, Any], layout: dict[str, Any], expected: tuple[int, int], contradicted: list[str]
) -> None:
    """Devices must not follow from a number of nodes that a stronger source overrules."""
    found = merged(log=log, layout=layout)
    assert (found.value("nodes"), found.value("devices")) == expected
    assert [each.fact for each in found.contradictions] == contradicted


def test_options_come_from_every_source_and_must_agree() -> None:
    said = merged({"options": {"xla": True}}, {"xla": "True", "dali": "true"}, {"reader": "DataSet"})
    assert said.case().options == {"dali": True, "reader": "DataSet", "xla": True}
    assert said.contradictions == ()
    for on in ("on", "Yes", "TRUE", True, 1):
        assert merged({"options": {"xla": on}}, {"xla": "True"}).contradictions == ()
    assert merged({"optimizer": "LAMB"}, {"optimizer": "lamb"}).contradictions == ()
    assert len(merged({"optimizer": "LAMB"}, {"optimizer": "Adam"}).contradictions) == 1
    assert merged(log={"xla": "auto"}).case().options == {"xla": "auto"}
    assert merged({"options": {"graph": "static"}}).case().options == {"graph": "static"}
    (found,) = merged({"options": {"xla": True}}, {"xla": "False"}).contradictions
    assert (found.fact, found.first.value, found.second.value) == ("xla", True, False)
    assert merged().case().options == {}


def test_a_global_batch_gives_the_batch_size_per_device_or_replaces_it() -> None:
    said = merged(log={"batch_size_of_job": 64}, layout={"devices": 8})
    assert said.case().batch_size == 8
    alone = merged(log={"batch_size_of_job": 4}, layout={"devices": 32})
    assert alone.case().batch_size is None
    assert alone.case().options == {"batch_size_of_job": 4}
    assert missing(alone.stated) == ["model"]
    (found,) = merged(log={"batch_size_of_job": 100}, layout={"devices": 8, "batch_size": 8}).contradictions
    assert (found.fact, found.first.value, found.second.value) == ("batch_size_of_job", 100, 64)
    accumulated = merged(log={"batch_size_of_job": 512}, layout={"devices": 8, "batch_size": 8})
    assert accumulated.contradictions == ()


def test_devices_that_share_a_model_have_no_batch_size_per_device() -> None:
    for name in ("tensor_parallel", "pipeline_parallel", "context_parallel"):
        cut = merged(log={"batch_size_of_job": 64, "devices": 8, name: 2})
        assert cut.case().batch_size is None
        assert cut.case().options == {"batch_size_of_job": 64, name: 2}
        assert missing(cut.stated) == ["model"]
    whole = merged(log={"batch_size_of_job": 64, "devices": 8, "tensor_parallel": 1})
    assert whole.case().batch_size == 8


def test_a_log_may_print_the_batch_of_a_group_of_devices_as_the_batch_per_device() -> None:
    printed = {"batch_size_of_job": 16, "batch_size": 4, "devices": 8, "accumulation": 1}
    shared = merged(log=printed)
    assert shared.contradictions == ()
    assert (shared.case().batch_size, shared.case().options) == (None, {"batch_size_of_job": 16})
    accumulated = merged(log=printed | {"batch_size": 1, "accumulation": 4})
    assert accumulated.case().batch_size is None
    for wrong in ({"devices": 6}, {"batch_size": 3}, {"devices": 3}):
        assert [each.fact for each in merged(log=printed | wrong).contradictions] == ["batch_size_of_job"]
    for name in ("devices", "batch_size"):  # A fact of another source contradicts.
        found = merged(run={name: printed[name]}, log={each: of for each, of in printed.items() if each != name})
        assert [each.fact for each in found.contradictions] == ["batch_size_of_job"]
    assert merged(run={"devices": 8, "options": {"tensor_parallel": 2}}, log={**printed}).contradictions == ()
    assert (
        merged(
            run={"devices": 8, "options": {"tensor_parallel": 2}}, log={"batch_size_of_job": 16, "batch_size": 4}
        ).contradictions
        == ()
    )
    assert merged(
        run={"devices": 8, "options": {"tensor_parallel": 2}}, log={"batch_size_of_job": 8, "batch_size": 4}
    ).contradictions


def test_batches_that_do_not_fill_the_machines_give_no_devices() -> None:
    both = {"batch_size_of_job": 64, "batch_size": 8}
    assert merged(log=both | {"devices_per_node": 4}).case().devices == 8
    assert merged(log=both | {"devices_per_node": 16}).case().devices is None
    assert merged(log=both | {"devices_per_node": 16, "nodes": 1}).case().devices == 16


def test_devices_follow_from_the_two_batch_sizes_of_one_source() -> None:
    both = {"batch_size_of_job": 64, "batch_size": 8}
    assert merged(log=both).case().devices == 8
    assert merged(log=both | {"accumulation": 1}).case().devices == 8
    for unclear in ({"accumulation": 2}, {"pipeline_parallel": 2}, {"batch_size": 7}):
        assert merged(log=both | unclear).case().devices is None
    assert merged(log={"batch_size_of_job": 64}, layout={"batch_size": 8}).case().devices is None


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("Tesla V100-SXM2-32GB", "V100-SXM2-32GB"),
        ("NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"),
        ("NVIDIA GeForce RTX 3090", "RTX 3090"),
        ("NVIDIA", ""),
        ("Ascend 910", "Ascend 910"),
        ("AMD EPYC (family 25, model 17), 2 cores (CPU)", "AMD EPYC (family 25, model 17), 2 cores (CPU)"),
        ("", ""),
    ],
)
def test_one_device_has_one_name(printed: str, name: str) -> None:
    assert hardware(printed) == name


def test_names_of_one_card_agree() -> None:
    """The runner and some trainers print nvidia-smi's name, which begins with the maker; others print a shorter one."""
    for run, log in (
        ("NVIDIA H200", "NVIDIA H200"), ("V100-SXM2-32GB", "Tesla V100-SXM2-32GB"), ("A100", "NVIDIA A100-SXM4-80GB"),
        ("A100-SXM4-80GB", "A100"), ("a100 sxm4", "A100-SXM4-80GB"),
    ):  # fmt: skip
        assert merged({"hardware": run}, {"gpu": log}).contradictions == ()
        assert merged(log={"gpu": log}, layout={"hardware": run}).contradictions == ()
    assert merged({"hardware": "NVIDIA H200"}).case().hardware == "H200"
    for run, log in (("V100", "V100S-PCIE-32GB"), ("A10", "A100"), ("V100-SXM2-16GB", "V100-SXM2-32GB")):
        assert [each.fact for each in merged({"hardware": run}, {"gpu": log}).contradictions] == ["hardware"]


def test_facts_that_a_case_needs() -> None:
    assert missing(merged().stated) == ["model", "devices", "batch_size"]
    assert missing(merged({"model": "x", "devices": 1, "batch_size": 2}).stated) == []


def test_a_contradiction_is_reported_and_excludes_the_run(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    """The run.json states 16 devices, and the log 8."""
    log = ["GPUs used: 8", *seg([4.0, *[5.0] * 5])]
    write_run(tmp_path / "logs", "a/b/c/1", log, run=run_json(devices=16))
    called = ingest(tmp_path / "logs", "--json")
    (line,) = called.lines
    assert called.code == 1
    assert called.problems[0].startswith("logs/a/b/c/1/train.log:")
    assert all(word in called.problems[0] for word in ("devices", "16 (run.json)", "8 (line 1)"))
    assert not line["published"]
    (problem,) = line["problems"]
    assert (problem["code"], problem["line"]) == ("contradiction", 0)
    from perfledger.ingest.compute.results import results

    assert results([from_json(line, Run)]) == []


def test_a_log_may_contradict_its_name(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    log = tmp_path / "2n8g" / "rn50_b32_fp32_1.log"
    log.parent.mkdir()
    log.write_text("\n".join(oneflow_resnet50([(20, 5.0, 1795163766.5)], batch=32, devices=8, nodes=1)) + "\n")
    called = ingest(tmp_path / "2n8g", "--layout", "dlperf", "--json")
    said = [each for each in called.problems if "values for nodes" in each]
    assert len(said) == 1
    assert said[0].startswith("2n8g/rn50_b32_fp32_1.log:4: ")


@pytest.mark.parametrize(("folder", "agrees"), [("2026Q4", True), ("2026q4", True), ("2026Q3", False)])
def test_rounds_of_two_sources_must_agree(
    tmp_path: Path, ingest: Callable[..., Called], folder: str, agrees: bool
) -> None:
    own = tmp_path / "rounds.toml"
    own.write_text('[[path]]\ntemplate = "{round}/{repeat}/train.log"\n')
    write_run(tmp_path / "logs", f"{folder}/1", seg([4.0, *[5.0] * 5]), run=run_json(round="2026Q4"))
    called = ingest(tmp_path / "logs", "--layout", own, "--json")
    (line,) = called.lines
    assert line["published"] is agrees
    assert [(each["code"], each["args"]["fact"]) for each in line["problems"]] == (
        [] if agrees else [("contradiction", "round")]
    )
    assert line["facts"]["round"]["value"] == "2026Q4"


HUGE = "9" * 5000


@pytest.mark.parametrize("number", ["0", "00", "-1", HUGE, str(10**18), "1" * 400])
def test_impossible_counts_are_ignored(tmp_path: Path, ingest: Callable[..., Called], number: str) -> None:
    """The run is read without these counts, and the missing facts are listed."""
    root = tmp_path / "logs"
    (root / "a").mkdir(parents=True)
    (root / "a" / "seg.log").write_text(
        f"batch_size: {number}\nGPUs used: {number}\n" + "\n".join(seg([4.0, *[5.0] * 5])) + "\n"
    )
    (root / "a" / "clas.log").write_text(
        "\n".join(
            [
                CLAS_BANNER,
                f"PADDLE_TRAINERS_NUM {number}",
                f"Run Pod: abc, replicas {number}",
                f"LAUNCH INFO 2026-11-20 nnodes: {number}",
                *clas_dygraph([(1, 10 * i, 5.0) for i in range(1, 7)]),
            ]
        )
        + "\n"
    )
    called = ingest(root, "--json")
    assert (called.code, len(called.lines)) == (0, 2)
    for line in called.lines:
        assert line["observations"] > 0
        assert line["figures"]["mean"]["scope"] in ("device", "job")
        # A batch size may follow from the records, but not from the numbers above.
        counts = (line["facts"].get(each) for each in ("devices", "nodes", "batch_size"))
        assert {each["source"] for each in counts if each} <= {"derived"}
        assert {"model", "devices"} & {*line["missing"]}
        assert line["problems"] == []


@pytest.mark.parametrize(
    ("batch", "speeds", "derived"),
    [
        (8, [20.0, 21.0, 22.0] * 3, 8),
        (8, [20.0, 21.0, "21.9"] * 3, None),
        (8, [20.0, "nan", "nan"] * 3, None),
        (8, [20.0, "inf", "inf"] * 3, None),
        (8, [20.0, "1e308", "1e308"] * 3, None),
    ],
)
def test_a_batch_size_follows_from_speed_and_seconds_if_all_records_agree(
    tmp_path: Path, ingest: Callable[..., Called], batch: int, speeds: list[Any], derived: int | None
) -> None:
    path = tmp_path / "logs" / "a.log"
    path.parent.mkdir()
    path.write_text("".join(f"{each}\n" for each in seg(speeds, batch=batch)))
    (line,) = ingest(tmp_path / "logs", "--json").lines
    stated = line["facts"].get("batch_size")
    assert (stated["value"] if stated else None) == derived
    if stated:
        assert (stated["source"], stated["where"]) == ("derived", "throughput (lines 1-9), step_seconds (lines 1-9)")


def test_a_global_batch_follows_from_the_speed_of_the_job_and_its_time(
    tmp_path: Path, ingest: Callable[..., Called]
) -> None:
    path = tmp_path / "logs" / "a.log"
    path.parent.mkdir()
    path.write_text(
        "".join(
            f"Train: 0 [{50 * i:>4}/1000 ({5 * i:>3}%)]  Loss: 6.25 (6.50)  Time: 0.500s,  512.00/s  "
            "(0.500s,  512.00/s)  LR: 1.000e-05  Data: 0.010 (0.010)\n"
            for i in range(20)
        )
    )
    (line,) = ingest(tmp_path / "logs", "--json").lines
    assert line["facts"]["batch_size_of_job"]["value"] == 256


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("NVIDIA GeForce RTX 3090", "RTX 3090"),
        ("TITAN RTX", "TITAN RTX"),
        ("GeForce RTX", ""),
        ("RTX", ""),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver", ""),
        ("Unable to determine the device handle for GPU 0000:00:1E.0: Unknown Error", ""),
    ],
)
def test_a_cut_name_or_an_error_message_is_not_hardware(printed: str, name: str) -> None:
    assert hardware(printed) == name
    found = merged(log={"gpu": printed}).stated.get("hardware")
    assert (found.value if found else "") == name
