"""Lines of trainers from before 2020, as people paste them; figures are worked out by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from pathlib import Path

import pytest
from test_dialects import ONE, facts_of, reason, session_of, value

from ingest.compute.measurement import measured
from schema.records import Figure

NOON = dt.datetime(2026, 11, 20, 12)


def glog(seconds: float, source: str, message: str) -> str:
    return f"I{NOON + dt.timedelta(seconds=seconds):%m%d %H:%M:%S.%f} 4321 {source}] {message}"


def headline(lines: Iterable[str], folder: Path, format_id: str, **case: int) -> float:
    session = session_of(list(lines), folder, format_id)
    found = measured(session, facts_of(session) | case).headline
    assert isinstance(found, Figure), found
    return found.value


@pytest.mark.parametrize("copies", [1, 2])
def test_slim_prints_the_seconds_of_a_step(copies: int, tmp_path: Path) -> None:
    """0.25 s per step of 32, printed once per handler; the rate of the supervisor begins with 0."""
    lines = ["INFO:tensorflow:Starting Session.", "INFO:tensorflow:global_step/sec: 0"]
    lines += [f"INFO:tensorflow:global step {step}: loss = 2.5000 (0.250 sec/step)" for step in range(1, 31)]
    lines.append("INFO:tensorflow:global_step/sec: 4.0")
    lines = [each for line in lines for each in [line] * copies]
    assert headline(lines, tmp_path, "frameworks.tf_slim", **ONE) == pytest.approx(128)


def test_object_detection_times_one_step_of_a_hundred(tmp_path: Path) -> None:
    """A hundred steps take 50 s; those that are printed took 0.25 s."""
    lines = []
    for step in range(100, 2100, 100):
        printed = f"Step {step} per-step time 0.250s loss=1.250"
        lines += [f"INFO:tensorflow:{printed}", glog(step / 2, "model_lib_v2.py:652", printed)]
    assert headline(lines, tmp_path, "frameworks.tf_object_detection", **ONE) == pytest.approx(64)
    # Without clocks the printed seconds are all that there is; later releases print the losses as a dictionary.
    plain = [
        each
        for step in range(100, 2100, 100)
        for each in (f"INFO:tensorflow:Step {step} per-step time 0.250s", "INFO:tensorflow:{'Loss/total_loss': 1.25,")
    ]
    assert headline(plain, tmp_path, "frameworks.tf_object_detection", **ONE) == pytest.approx(128)


def caffe(speeds: bool) -> list[str]:
    """Return a run of one device: 100 iterations of 2 batches of 16 in 25 s, a test of 10 s per 400."""
    lines = [
        glog(0, "caffe.cpp:217", "Using GPUs 1"),
        glog(0, "solver.cpp:45", "Initializing solver from parameters: "),
        "display: 100",
        "iter_size: 2",
        glog(0, "net.cpp:53", "Initializing net from parameters: "),
        'name: "MadeUpNet"',
        "state {\n  phase: TRAIN\n}",
        "layer {\n  data_param {\n    batch_size: 16\n  }\n}",
        glog(0, "net.cpp:53", "Initializing net from parameters: "),
        "state {\n  phase: TEST\n}",
        "layer {\n  data_param {\n    batch_size: 50\n  }\n}",
        glog(0, "caffe.cpp:248", "Starting Optimization"),
    ]
    at = 0.0
    for iteration in range(0, 2100, 100):
        took = 25.0 if iteration else 0.5
        if iteration and iteration % 400 == 0:
            lines.append(glog(at + took, "solver.cpp:330", f"Iteration {iteration}, Testing net (#0)"))
            took += 10
        at += took
        speed = f" ({100 / took if iteration else 0:g} iter/s, {took:g}s/100 iters)" if speeds else ""
        lines.append(glog(at, "solver.cpp:218", f"Iteration {iteration}{speed}, loss = 2.5"))
        lines.append(glog(at, "sgd_solver.cpp:105", f"Iteration {iteration}, lr = 0.01"))
    return lines


@pytest.mark.parametrize("speeds", [True, False])
def test_caffe_tests_while_its_timer_runs(speeds: bool, tmp_path: Path) -> None:
    assert headline(caffe(speeds), tmp_path, "frameworks.caffe") == pytest.approx(4 * 32)


def test_batch_of_caffe_on_several_devices_is_not_known(tmp_path: Path) -> None:
    """It is that of one device in one fork, and of all of them in another. What the solver leaves out is 1."""
    lines = [line.replace("GPUs 1", "GPUs 0, 1") for line in caffe(True) if "iter_size" not in line]
    session = session_of(lines, tmp_path, "frameworks.caffe")
    facts = facts_of(session)
    assert (facts["devices"], facts["accumulation"]) == (2, 1)
    assert "batch_size" not in facts
    assert value(session, "median", batch_size=16) == pytest.approx(4 * 32)


@pytest.mark.parametrize(
    ("told", "seconds"), [("2 minutes 5 seconds", 125), ("1 hour 2 minutes", 3720), ("12.5 sec", 12.5)]
)
def test_tensorpack_tells_the_seconds_of_an_epoch_in_words(told: str, seconds: float, tmp_path: Path) -> None:
    lines = [
        f"[1120 12:00:00 @base.py:283] Epoch {epoch} (global_step {500 * epoch}) finished, time:{told}."
        for epoch in range(1, 9)
    ]
    session = session_of([line.removeprefix("[1120 12:00:00 ") for line in lines], tmp_path, "frameworks.tensorpack")
    assert value(session, "sustained", **ONE) == pytest.approx(500 * 32 / seconds)


def test_speed_of_tensorpack_needs_no_batch(tmp_path: Path) -> None:
    lines = []
    for epoch in range(1, 9):
        lines += [
            f"@base.py:283] Epoch {epoch} (global_step {500 * epoch}) finished, time:2 minutes 5 seconds.",
            "@monitor.py:474] Throughput (samples/sec): 128.5",
        ]
    session = session_of(lines, tmp_path, "frameworks.tensorpack")
    assert value(session, "sustained", devices=1) == pytest.approx(128.5)


def test_slim_prints_one_step_of_ten(tmp_path: Path) -> None:
    """Those that are printed take 0.25 s, all of them half a second on average, as the clocks tell."""
    lines = []
    for step in range(10, 310, 10):
        printed = f"global step {step}: loss = 2.5000 (0.250 sec/step)"
        lines += [f"INFO:tensorflow:{printed}", glog(step / 2, "learning.py:507", printed)]
    assert headline(lines, tmp_path, "frameworks.tf_slim", **ONE) == pytest.approx(64)


def test_slim_of_which_no_batch_is_known(tmp_path: Path) -> None:
    lines = [f"INFO:tensorflow:global step {step}: loss = 2.5000 (0.250 sec/step)" for step in range(1, 31)]
    session = session_of(lines, tmp_path, "frameworks.tf_slim")
    assert reason(session, "sustained", devices=1) == "no_batch_size"


def test_deepspeech_draws_a_bar_of_each_epoch(tmp_path: Path) -> None:
    """500 steps of 32 in 125 to 126 s, whatever states are kept; the validation has a bar of its own."""
    lines = ["+ python DeepSpeech.py --train_batch_size 32", "I STARTING Optimization"]
    for epoch in range(6):
        drawn = [
            f"Epoch {epoch} |   Training | Elapsed Time: {at} | Steps: {steps} | Loss: 2.500000 "
            for at, steps in (("0:00:00", 0), ("0:00:50", 100), ("0:02:05", 500))
        ]
        lines += [
            "\r".join(drawn),
            f"Epoch {epoch} | Validation | Elapsed Time: 0:00:25 | Steps: 400 | Loss: 2.5 | Dataset: dev",
        ]
    session = session_of(lines, tmp_path, "frameworks.deepspeech")
    assert value(session, "sustained", devices=1) == pytest.approx(32 * 500 / 125.5)


def test_short_epochs_of_deepspeech_tell_nothing_by_whole_seconds(tmp_path: Path) -> None:
    """Epochs of 5.9 s are printed as 5 s: a sixth too fast."""
    lines = ["+ python DeepSpeech.py --train_batch_size 32", "I STARTING Optimization"]
    lines += [
        f"Epoch {epoch} |   Training | Elapsed Time: 0:00:05 | Steps: 40 | Loss: 2.500000 " for epoch in range(12)
    ]
    session = session_of(lines, tmp_path, "frameworks.deepspeech")
    assert reason(session, "sustained", devices=1) == "coarse_seconds"
