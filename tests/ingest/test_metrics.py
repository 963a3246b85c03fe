"""Metrics other than throughput, computed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_logs import pytorch_bert, seg
from made_sessions import made, session_of

from perfledger.ingest.compute import metrics, peaks, results, rules
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import MetricFigure, Reason, Run
from tests.builders import run

ONE = {"devices": 1, "batch_size": 4}


def of(session: Session, case: dict[str, Any] | None = None) -> dict[str, MetricFigure]:
    known = ONE if case is None else case
    return metrics.metrics(session, known, rules.figure("sustained", session, known))


def test_time_per_step_is_seconds_over_steps(tmp_path: Path) -> None:
    """Records have ten steps of 0.4 s or 0.2 s. The first of five is warm-up, so (0.4 + 3 × 0.2) / 4."""
    found = of(session_of(seg([10.0, 10.0, 20.0, 20.0, 20.0]), tmp_path))["latency"]
    assert found.value == pytest.approx(250.0)
    assert (found.unit, found.first_line, found.last_line) == ("ms", 2, 5)


def test_time_per_step_follows_from_clocks(tmp_path: Path) -> None:
    lines = pytorch_bert([(1, 0.5), (2, 2.5), (3, 4.5), (4, 7.5)])
    # A line is an update of any number of micro batches.
    session = session_of(lines, tmp_path)
    for more in ({"accumulation": 2}, {"samples_per_update_and_device": 4}, {}):
        assert of(session, ONE | more)["latency"].value == pytest.approx(2500.0)


def test_time_per_step_follows_from_printed_speeds_of_updates(tmp_path: Path) -> None:
    """A step is an update of 64 micro batches of 96 sequences on each of 8 devices, at 1,200 sequences/s."""
    lines = [
        f"DLL 2026-11-20 03:19:{i:02}.500000 - Iteration: {i}  throughput_train : 1200.0 seq/s mlm_loss : 10.5"
        for i in range(1, 11)
    ]
    case = {"devices": 8, "batch_size": 96, "accumulation": 64}
    assert of(session_of(lines, tmp_path), case)["latency"].value == pytest.approx(1000 * 64 * 768 / 1200)


def test_the_global_batch_and_a_speed_per_device_give_no_time_per_step(tmp_path: Path) -> None:
    """The time per step follows only if the number of devices is known."""
    lines = [f"step {i} speed 100.0" for i in range(1, 21)]
    session = made(rb"step <step> speed <throughput>", lines, tmp_path, unit="samples/s", scope="device")
    case = {"batch_size_of_job": 800}
    assert "latency" not in metrics.metrics(session, case, rules.figure("sustained", session, case))
    known = case | {"devices": 8}
    found = metrics.metrics(session, known, rules.figure("sustained", session, known))["latency"]
    assert isinstance(found, MetricFigure)
    assert found.value == pytest.approx(1000)


def test_the_peak_memory_is_the_largest_of_the_log(tmp_path: Path) -> None:
    lines = [f"iter {i} speed 5.0 mem {m}" for i, m in enumerate([1000, 3000.5, 2000])]
    session = made(rb"iter (?P<step>\d+) speed (?P<throughput>\S+) mem (?P<memory>\S+)", lines, tmp_path)
    found = of(session)["memory"]
    assert (found.value, found.unit, found.source, found.first_line) == (3000.5, "MiB", "log", 2)
    assert "memory" not in of(session_of(seg([5.0] * 3), tmp_path))
    lines = [f"iter {i} speed 5.0 mem {m}" for i, m in enumerate(["inf", "7.5", "nan"])]
    session = made(rb"iter (?P<step>\d+) speed (?P<throughput>\S+) mem (?P<memory>\S+)", lines, tmp_path)
    assert of(session)["memory"].value == 7.5


@pytest.mark.parametrize(
    ("losses", "value", "diverged"),
    [
        (["7.0", "6.5", "6.0"], 6.0, False),
        (["7.0", "8.0", "9.0"], 9.0, False),
        (["7.0", "8.0", "14.5"], 14.5, True),
        (["7.0", "nan", "nan"], None, True),
        (["nan", "nan", "nan"], None, True),
        (["7.0", "inf", "inf"], None, True),
        (["7.0", "nan", "6.0"], 6.0, False),
        (["7.0", "6.0", ""], 6.0, False),
    ],
)
def test_a_diverged_run_is_marked(losses: list[str], value: float | None, diverged: bool, tmp_path: Path) -> None:
    lines = [f"iter {i} speed 5.0" + (f" loss {each}" if each else "") for i, each in enumerate(losses)]
    session = made(rb"iter (?P<step>\d+) speed (?P<throughput>\S+)(?: loss (?P<loss>\S+))?", lines, tmp_path)
    found = of(session)["loss"]
    assert (found.value, found.diverged) == (value, diverged)


def test_flops_of_gpt_follow_from_the_formula(tmp_path: Path) -> None:
    """The case is from DLPerf's report: hidden 1536, 16 layers, sequence 2048, vocabulary 51,200, one device."""
    session = made(
        rb"iter (?P<step>\d+) speed (?P<throughput>\S+)", ["iter 1 speed 5.0"] * 4, tmp_path, unit="sequences/s"
    )
    case = {"devices": 2, "hardware": "V100-SXM2-16GB", "precision": "amp", "sequence_length": 2048, "layers": 16,
            "hidden": 1536, "vocabulary": 51200, "checkpointing": True}  # fmt: skip
    found = of(session, case)
    each = 96 * 2048 * 16 * 1536**2 * (1 + 2048 / (6 * 1536) + 51200 / (16 * 16 * 1536)) * 5.0 / 2 / 1e12
    assert found["flops"].value == pytest.approx(each)
    assert found["peak_share"].value == pytest.approx(100 * each / 125)
    assert found["flops_of_job"].value == pytest.approx(each * 2 / 1000)
    without = of(session, case | {"checkpointing": False})["flops"].value
    assert without == pytest.approx(each * 72 / 96)
    assert "flops" not in of(session, {name: each for name, each in case.items() if name != "checkpointing"})


def test_printed_flops_outweigh_computed_ones(tmp_path: Path) -> None:
    session = made(
        rb"speed (?P<throughput>\S+) TFLOPs (?P<flops>\S+)",
        [f"speed 5.0 TFLOPs {v}" for v in (1, 40, 42, 44)],
        tmp_path,
    )
    found = of(session, ONE | {"hardware": "NVIDIA", "precision": "amp"})
    assert found["flops"].value == 42.0
    assert "peak_share" not in found


def test_mixed_8_bit_precision_has_no_share_of_a_peak(tmp_path: Path) -> None:
    session = made(rb"speed (?P<throughput>\S+) TFLOPs (?P<flops>\S+)", ["speed 5.0 TFLOPs 900"] * 4, tmp_path)
    known = ONE | {"hardware": "H100 80GB HBM3"}
    found = of(session, known | {"precision": "fp8"})
    assert found["flops"].value == 900.0
    assert found["peak_share"].value is None
    assert found["peak_share"].reason == Reason("mixed_peak")
    assert of(session, known | {"precision": "bf16"})["peak_share"].value == pytest.approx(100 * 900 / 989.4)


@pytest.mark.parametrize(
    ("hardware", "precision", "peak"),
    [
        ("V100-SXM2-16GB", "amp", 125.0),
        ("A100-SXM4-40GB", "tf32", 156.0),
        ("A100", "bf16", 312.0),
        ("H100 80GB HBM3", "fp8", 1978.9),
        ("AMD EPYC (family 25, model 17), 2 cores (CPU)", "fp32", 0.2816),
        ("AMD EPYC (family 25, model 17), 24 cores (CPU)", "fp32", None),
        ("V100", "amp", None),
        ("B200", "mxfp8", 4500.0),
        ("H100 80GB HBM3", "mxfp8", None),
        ("A1000", "amp", None),
        (None, "amp", None),
    ],
)
def test_devices_have_their_peaks(hardware: str | None, precision: str, peak: float | None) -> None:
    assert peaks.peak_of(hardware, precision) == peak


def test_metrics_of_repeats_are_their_median() -> None:
    def repeat(number: int, latency: float, diverged: bool) -> Run:
        loss = {"value": None, "unit": "", "diverged": diverged}
        return run(str(number), metrics={"latency": {"value": latency, "unit": "ms"}, "loss": loss})

    (result,) = results.results([repeat(1, 10.0, False), repeat(2, 14.0, True), repeat(3, 11.0, False)])
    latency, loss = result.metrics["latency"], result.metrics["loss"]
    assert (latency.value, latency.low, latency.high, latency.repeats) == (11.0, 10.0, 14.0, 3)
    assert (loss.diverged, loss.value) == (True, None)
