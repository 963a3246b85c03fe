"""Files that layouts ignore, files next to logs that layouts read, and Lambda's tree, which needs both."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_logs import seg
from made_trees import Called, facts_of_path

from perfledger.ingest.read import layout

SEG = "\n".join(seg([4.0, *[5.0] * 5])) + "\n"
DECLARED = """
title = "Made"
ignore = ["{_}.note", "{name}/extra/{*}"]

[beside.para]
path = "benchmark.para"
kind = "text"
facts = { GLOBAL_BATCH = "batch_size_of_job", GPU = "devices", TYPE = "precision" }

[beside.system]
path = "../systems/{system}.json"
kind = "json"
facts = { number_of_nodes = "nodes", "stack.framework" = "framework" }
environment = { host_cpu = "cpu", "stack.cuda" = "cuda" }
words.accelerator = { "NVIDIA B200 (180 GB)" = { hardware = "B200" } }

[beside.machine]
path = "env.txt"
kind = "text"
facts = { "GPU 0" = "hardware", "PyTorch version" = "framework_version" }
environment = { "Nvidia driver version" = "driver", "Model name" = "cpu", "CUDA runtime version" = "cuda" }
optional = true

[[path]]
template = "{system}/{model}.log"
facts = { nodes = 1 }
beside = ["para", "system", "machine"]
"""
SYSTEM = {
    "submitter": "x",
    "accelerator": "NVIDIA B200 (180 GB)",
    "number_of_nodes": "1",
    "host_cpu": "Xeon",
    "notes": "",
    "stack": {"cuda": 13.0, "framework": "PaddlePaddle"},
}
PARA = "GLOBAL_BATCH 8\nGPU 2\nTYPE fp32\n"
MACHINE = """Collecting environment information...
PyTorch version: 2.4.0a0
CUDA runtime version: Could not collect
GPU models and configuration:
GPU 0: NVIDIA B200
GPU 1: NVIDIA B200
Nvidia driver version: 570.1
CPU:
Model name:   AMD EPYC
"""


def made(
    root: Path, *, para: str | None = PARA, system: Any = SYSTEM, machine: str | None = None, log: str = SEG
) -> tuple[Path, Path]:
    """Write a layout and a tree of one log, and return both paths."""
    named, tree = root / "made.toml", root / "tree"
    named.write_text(DECLARED)
    (tree / "box").mkdir(parents=True, exist_ok=True)
    (tree / "systems").mkdir(exist_ok=True)
    (tree / "box" / "Net.log").write_text(log)
    texts = {
        tree / "box" / "benchmark.para": para,
        tree / "box" / "env.txt": machine,
        tree / "systems" / "box.json": system if isinstance(system, str | None) else json.dumps(system, indent=1),
    }
    for path, text in texts.items():
        if text is not None:
            path.write_text(text)
    return named, tree


def places(line: dict[str, Any]) -> dict[str, tuple[Any, str]]:
    return {name: (each["value"], each["where"]) for name, each in line["facts"].items()}


def test_facts_of_companion_files_name_file_and_line(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    named, tree = made(tmp_path)
    called = ingest(tree, "--layout", named, "--json")
    (line,) = called.lines
    assert (called.code, called.err) == (0, "")
    assert line["published"]
    found = places(line)
    assert found["batch_size_of_job"] == (8, "benchmark.para:1")
    assert found["devices"] == (2, "benchmark.para:2")
    assert found["precision"] == ("fp32", "benchmark.para:3")
    assert found["hardware"] == ("B200", "../systems/box.json:3")
    assert found["nodes"] == (1, "../systems/box.json:4")
    assert line["facts"]["devices"]["source"] == "beside"
    assert line["case"]["batch_size"] == 4
    assert line["environment"] == {"cpu": "Xeon", "cuda": 13.0}


def test_pytorchs_report_of_the_environment_is_read(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    named, tree = made(tmp_path, machine=MACHINE)
    (line,) = ingest(tree, "--layout", named, "--json").lines
    assert places(line)["framework_version"] == ("2.4.0a0", "env.txt:2")
    # The first file with an entry counts. "Could not collect" gives no entry.
    assert line["environment"] == {"cpu": "Xeon", "cuda": 13.0, "driver": "570.1"}
    assert not [each for each in line["problems"] if each["code"] == "contradiction"]


def test_a_companion_file_may_contradict_the_log(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    named, tree = made(tmp_path, log="GPUs used: 8\n" + SEG)
    called = ingest(tree, "--layout", named, "--json")
    (line,) = called.lines
    assert not line["published"]
    assert [each["args"]["second_source"] for each in line["problems"] if each["code"] == "contradiction"] == [
        "benchmark.para:2"
    ]


@pytest.mark.parametrize(
    ("change", "code", "line", "cause"),
    [
        ({"para": None}, "beside_missing", 0, ""),
        ({"system": None}, "beside_missing", 0, ""),
        ({"system": "{"}, "wrong_file", 1, "Expecting property name"),
        ({"system": "[]"}, "wrong_file", 0, "no object"),
        ({"system": SYSTEM | {"number_of_nodes": "two"}}, "wrong_file", 4, "not a positive whole number"),
        ({"system": SYSTEM | {"accelerator": "NVIDIA B300"}}, "wrong_file", 3, "has no word"),
        ({"para": "GPU -1\n"}, "wrong_file", 1, "not a positive whole number"),
        ({"para": "TYPE fp61\n"}, "wrong_file", 1, "no precision"),
    ],
    ids=str,
)
def test_a_missing_or_broken_file_is_a_problem(
    tmp_path: Path, ingest: Callable[..., Called], change: dict[str, Any], code: str, line: int, cause: str
) -> None:
    named, tree = made(tmp_path, **change)
    called = ingest(tree, "--layout", named, "--json")
    (run,) = called.lines
    (found,) = [each for each in run["problems"] if each["code"] in {"beside_missing", "wrong_file"}]
    assert (found["code"], found["line"]) == (code, line)
    assert cause in found["args"].get("cause", "")
    assert found["path"] == ("tree/box/benchmark.para" if "para" in change else "tree/systems/box.json")
    if code == "wrong_file":
        assert not run["published"]


def test_ignored_and_companion_files_are_not_read_as_logs(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    named, tree = made(tmp_path, machine=MACHINE)
    (tree / "box" / "extra").mkdir()
    (tree / "box" / "extra" / "train.log").write_text("Dear diary\n")
    (tree / "box" / "build.note").write_text("Dear diary\n")
    called = ingest(tree, "--layout", named, "--out", tmp_path / "docs")
    assert (called.code, called.err) == (0, "")
    assert "skipped: " not in called.out
    # A file that the user names is read even if the layout ignores it.
    assert ingest(tree / "box" / "extra" / "train.log", "--layout", named, "--json").code == 1


def test_a_changed_companion_file_is_read_again(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    named, tree = made(tmp_path)

    def devices() -> object:
        called = ingest(tree, "--layout", named, "--out", tmp_path / "docs", "--json")
        return called.lines[0]["case"].get("devices")

    assert devices() == 2
    (tree / "box" / "benchmark.para").write_text(PARA.replace("GPU 2", "GPU 4"))
    assert devices() == 4
    (tree / "box" / "benchmark.para").unlink()
    assert devices() is None


def test_check_layout_lists_only_unread_and_missing_files(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    named, tree = made(tmp_path)
    called = ingest("check-layout", named, tree)
    assert (called.code, called.out) == (0, "1 paths, of which 0 fit no template\n")
    (tree / "elsewhere.txt").write_text(SEG)
    (tree / "box" / "benchmark.para").unlink()
    called = ingest("check-layout", named, tree)
    assert called.code == 1
    first, second, last = called.out.splitlines()
    assert first == "tree/elsewhere.txt: matches no template"
    assert second.startswith("tree/box/benchmark.para: is missing")
    assert last == "2 paths, of which 1 fit no template"


LAMBDA = "lambda-deeplearning-benchmark"


@pytest.mark.parametrize(
    ("path", "facts"),
    [
        ("p3.16xlarge/PyTorch_waveglow_FP32/a.txt", {"hardware": "V100-SXM2-16GB", "devices": 8, "round": "v0"}),
        (
            "2x2080TiNVlink_trt2/PyTorch_transformerxlbase_FP16/a.txt",
            {"hardware": "RTX 2080 Ti", "interconnect": "NVLink", "devices": 2, "host": "trt2", "precision": "fp16"},
        ),
        (
            "LambdaCloud_H100_80GB_PCIe5_v1/PyTorch_SSD_AMP/a.txt",
            {"hardware": "H100 PCIe", "devices": 1, "host": "LambdaCloud", "precision": "amp", "round": "v1"},
        ),
        (
            "Who_4x_Where_8xH100_80GB_SXM5_10-0-0-1_v2/PyTorch_bert_base_squad_FP32_20/a.txt",
            {"host": "10-0-0-1", "devices": 8, "round": "v2", "model": "BERT-base SQuAD"},
        ),
    ],
)
def test_lambdas_folders_state_facts(path: str, facts: dict[str, object]) -> None:
    found = facts_of_path(layout.load(LAMBDA), f"/any/where/results/{path}")
    assert found is not None
    assert {name: found.get(name) for name in facts} == facts


@pytest.mark.parametrize(
    ("name", "repeat"),
    [("result_0.txt", 0), ("result_10.txt", 10), ("result_3.txt_again", 3), ("result_12_again.txt", 12)],
)
@pytest.mark.parametrize("folder", ["A/results/s1/bert", "mlperf-v5.1/A/results/s1/bert", "A/results/s1/strong/bert"])
def test_names_of_mlperf_results_may_have_text_after_their_number(folder: str, name: str, repeat: int) -> None:
    found = facts_of_path(layout.load("mlperf"), f"/any/where/{folder}/{name}")
    assert found is not None
    assert (found["submitter"], found["system"], found["benchmark"], found["repeat"]) == ("A", "s1", "bert", repeat)
