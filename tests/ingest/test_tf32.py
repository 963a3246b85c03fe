"""FP32 in NVIDIA's containers may be TF32 on devices that have it, unless the log or run.json states the precision."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_trees import Called, write_run

from perfledger.ingest.compute.peaks import has_tf32, peak_of
from perfledger.schema.vocabulary import PRECISION_GROUPS

PARAMETERS = (
    "DLL 2026-11-20 08:25:00.000000 - PARAMETER data_backend : synthetic  arch : resnet50  batch_size : 32  "
    "{}amp : {}  memory_format : nchw  world_size : 1 "
)
STEP = (
    "DLL 2026-11-20 08:25:{:02}.000000 - Epoch: 0 Iteration: {}  train.loss : 7.0 None train.compute_ips : 33.0 "
    "images/s train.total_ips : 32.0 images/s train.lr : 0.1 "
)


def log(amp: str = "False", more: str = "", before: str = "") -> list[str]:
    return [before, PARAMETERS.format(more, amp), *(STEP.format(each, each) for each in range(1, 30))]


def run_of(tmp_path: Path, ingest: Callable[..., Called], lines: list[str], **stated: Any) -> dict[str, Any]:
    """Return the run of a log with a run.json that states the hardware and further facts."""
    variables = stated.pop("environment_variables", None)
    document: dict[str, Any] = {"schema": "perfledger.run/1", "case": {"hardware": "A100-SXM4-40GB"} | stated}
    document |= {"environment_variables": variables} if variables else {}
    write_run(tmp_path / "logs", "a/1", lines, run=document)
    (line,) = ingest(tmp_path / "logs", "--json").lines
    assert line["published"], line["problems"]
    return dict(line)


def test_fp32_of_a_container_may_be_tf32(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    line = run_of(tmp_path, ingest, log())
    assert line["case"]["precision"] == "fp32_tf32"
    fact = line["facts"]["precision"]
    assert fact["source"] == "derived"
    assert fact["where"] == "precision (line 2), framework (format), hardware (run.json)"


@pytest.mark.parametrize(
    ("lines", "stated", "precision"),
    [
        (log(), {"hardware": "V100-SXM2-32GB"}, "fp32"),
        (log(), {"hardware": "RTX 8000"}, "fp32"),
        (log(), {"hardware": "RTX 6000 Ada Generation"}, "fp32_tf32"),
        (log(), {"framework": "PyTorch"}, "fp32"),
        (log(amp="True"), {}, "amp"),
        (log(more="fp16 : True  "), {}, "fp16"),
        (log(before="NVIDIA_TF32_OVERRIDE=0"), {}, "fp32"),
        (log(before="Namespace(allow_tf32=False)"), {}, "fp32"),
        (log(before="Namespace(allow_tf32=True)"), {}, "tf32"),
        (log(), {"tf32": False}, "fp32"),
        (log(), {"tf32": True}, "tf32"),
        (log(), {"precision": "fp32"}, "fp32"),
        (log(), {"precision": "tf32"}, "tf32"),
        (log(), {"environment_variables": {"NVIDIA_TF32_OVERRIDE": "0"}}, "fp32"),
        (log(), {"environment_variables": {"NVIDIA_TF32_OVERRIDE": "1"}}, "fp32_tf32"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_stated_precision_counts(
    tmp_path: Path, ingest: Callable[..., Called], lines: list[str], stated: dict[str, Any], precision: str
) -> None:
    assert run_of(tmp_path, ingest, lines, **stated)["case"]["precision"] == precision


def test_pages_name_the_precision(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    write_run(
        tmp_path / "logs", "a/1", log(), run={"schema": "perfledger.run/1", "case": {"hardware": "A100-SXM4-40GB"}}
    )
    assert ingest(tmp_path / "logs", "--out", tmp_path / "docs").code == 0
    for language, name in (("en", "FP32 (TF32 allowed by default)"), ("zh", "FP32（默认允许 TF32）")):
        assert name in (tmp_path / "docs" / language / "models" / "resnet50" / "index.md").read_text("utf-8")


def test_the_precision_is_a_separate_group_with_the_peak_of_tf32() -> None:
    assert PRECISION_GROUPS["fp32_tf32"] == ("fp32_tf32",)
    assert peak_of("A100-SXM4-40GB", "fp32_tf32") == peak_of("A100-SXM4-40GB", "tf32") == 156.0
    assert peak_of("V100-SXM2-32GB", "fp32_tf32") is None


@pytest.mark.parametrize(
    ("hardware", "there"),
    [
        ("A100-SXM4-40GB", True), ("A100", True), ("H100 80GB HBM3", True), ("RTX A6000", True), ("RTX 3090", True),
        ("B200", True), ("GB300", True), ("A10G", True), ("RTX 6000", False), ("RTX 5000", False), ("T4", False),
        ("TITAN RTX", False), ("A1000000", False), ("V100-SXM2-16GB", False), ("GTX 1080 Ti", False),
        ("RTX 2080 Ti", False),        ("AMD MI300X", False),
    ],
)  # fmt: skip
def test_tf32_depends_on_the_device(hardware: str, there: bool) -> None:
    assert has_tf32(hardware) == there
