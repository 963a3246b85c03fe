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


def test_deepspeed_printed_through_the_root_logger(tmp_path: Path) -> None:
    """8 samples per micro step: 0.4 s each, but 4 s for the fourth; the mean begins with the third."""
    lines = []
    for step in range(50, 2050, 50):
        mean = 8 * (step - 2) / (0.4 * (step - 2) + 3.6)
        at = NOON + dt.timedelta(seconds=0.4 * step)
        lines.append(f"[INFO {at:%Y-%m-%d %H:%M:%S}] 0/{step}, SamplesPerSec={mean}")
    assert value(session_of(lines, tmp_path, "dlperf.deepspeed"), "sustained") == pytest.approx(20)
    logger = "[INFO] [deepspeed_timer.py:157:stop] "
    later = [each.replace("[INFO ", "[").replace("] ", f",500] {logger}", 1) for each in lines]
    assert value(session_of(later, tmp_path, "dlperf.deepspeed"), "sustained") == pytest.approx(20)


def test_torch_prints_the_wait_for_data_apart(tmp_path: Path) -> None:
    """A batch of 128 takes 0.3 s on four devices, its data 0.1 s; the first of an epoch waits for the validation."""
    lines = ["{", "  nGPU : 4", "  batchSize : 128", "}", "==> doing epoch on training data:"]
    for epoch in (1, 2):
        lines += [
            f"Epoch: [{epoch}][{step}/60]\tTime 0.300 Err 6.5000 Top1-%: 1.56 LR 1e-02 DataLoadingTime {wait:.3f}"
            for step, wait in enumerate([45] + [0.1] * 59, 1)
        ]
        lines += ["==> doing epoch on validation data:", f"Epoch: Testing [{epoch}][2048/50000]"]
    session = session_of(lines, tmp_path, "frameworks.torch7")
    assert value(session, "sustained") == pytest.approx(320)
    assert facts_of(session)["devices"] == 4


@pytest.mark.parametrize(("first", "expected"), [(0, 3200), (1, None)])
def test_bars_of_chainer_tell_means_of_a_hundred(first: int, expected: float | None, tmp_path: Path) -> None:
    """100 iterations of 32 in a second; an epoch of 1,050 ends with an evaluation of 5 s, and the first bar is slow."""
    lines, bars, clock = ["GPU: 0", "# unit: 100", "# Minibatch-size: 32", "# epoch: 20"], [], 30.0
    for step in range(100, 21000, 100):
        clock += 1 + 5 * (step // 1050 > (step - 100) // 1050)
        bars.append((step, clock))
        begin, since = bars[max(0, len(bars) - 101)]
        rate = (step - begin) / (clock - since) if len(bars) > 1 else float("inf")
        lines += [
            f"     total [#.........] {step / 210:.2f}%",
            f"{step:10} iter, {step // 1050} epoch / 20 epochs",
            f"{rate:10.5g} iters/sec. Estimated time to finish: 0:00:20.",
        ]
    session = session_of(lines[:4] + lines[4 + 3 * first :], tmp_path, "frameworks.chainer")
    if expected is None:
        assert reason(session, "sustained") == "no_records"
    else:
        assert value(session, "sustained") == pytest.approx(expected, rel=1e-3)


def test_bigdl_prints_the_speed_of_all_executors(tmp_path: Path) -> None:
    """Wall clocks are sums of the iterations' seconds, without the validation of 60 s between two of them."""
    lines = [
        f"2026-11-20 12:{step + (step > 20):02d}:00 INFO  DistriOptimizer$:408 - [Epoch 1 {64 * step}/9999]"
        f"[Iteration {step}][Wall Clock {60.0 * step}s] Trained 64 records in 60.0 seconds. "
        f"Throughput is {64 / 60:.7f} records/second. Loss is 0.75. "
        for step in range(1, 41)
    ]
    assert value(session_of(lines, tmp_path, "frameworks.bigdl"), "sustained") == pytest.approx(64 / 60)
    doubled = [line.replace(f"{64 / 60:.7f}", f"{128 / 60:.7f}") for line in lines]
    found = measured(session_of(doubled, tmp_path, "frameworks.bigdl"), {})
    assert not isinstance(found.headline, Figure) or found.headline.value == pytest.approx(64 / 60)


@pytest.mark.parametrize("first", [1, 251])
def test_tacotron_prints_means_of_a_hundred_steps(first: int, tmp_path: Path) -> None:
    """Steps of 0.5 s, every fiftieth of 3 s, and the first of 200 s; an excerpt may begin with any step."""
    taken = [200.0] + [3.0 if step % 50 == 0 else 0.5 for step in range(2, 2001)]
    lines = ["Hyperparameters:", "  batch_size: 32"]
    for step in range(first, 2001):
        last = taken[max(0, step - 100) : step]
        lines.append(f"Step {step:<7d} [{sum(last) / len(last):.3f} sec/step, loss=0.12500, avg_loss=0.25000]")
    session = session_of(lines, tmp_path, "frameworks.tacotron")
    assert value(session, "sustained") == pytest.approx(32 / 0.55, rel=1e-3)


def one_embedding(every: int, evaluated: int) -> list[str]:
    """Return the lines of OneFlow's DCN: 4,096 samples in 5 ms a step, and a minute of evaluation behind so many."""
    lines, at, counted, since = (
        ["  crossing_layers ................ 3", "  train_batch_size ............... 4096"],
        NOON,
        0,
        0,
    )
    for step in range(1, 6001):
        at += dt.timedelta(milliseconds=5)
        since += 1
        if step % every == 0:
            latency = 5 * since / (step - counted)
            lines.append(
                f"Rank[0], Step {step}, Loss 0.1250, Latency {latency:.3f} ms, Throughput {4096e3 / latency:.1f}, "
                f"{at:%Y-%m-%d %H:%M:%S}"
            )
            counted, since = step, 0
        if step % evaluated == 0:
            at += dt.timedelta(minutes=1)
            lines.append(
                f"Rank[0], Epoch {step // evaluated}, Step {step}, AUC 0.761625, LogLoss 0.125125, Eval_time 59.50 s"
            )
            since = 0  # The steps since the last line still count.
    return lines


@pytest.mark.parametrize("evaluated", [1000, 1150])
def test_oneflow_counts_steps_that_an_evaluation_leaves_untimed(evaluated: int, tmp_path: Path) -> None:
    lines = one_embedding(100, evaluated)
    assert headline(lines, tmp_path, "dlperf.oneflow_models_ctr", devices=8) == pytest.approx(4096 / 0.005, rel=1e-3)
    assert facts_of(session_of(lines, tmp_path, "dlperf.oneflow_models_ctr"))["model"] == "DCN"


def test_oneflow_wide_and_deep_evaluates_within_the_next_latency(tmp_path: Path) -> None:
    """A step takes 2.5 ms; 30 s of evaluation stand behind every 300 of them."""
    lines = ["  batch_size ..................... 16384"]
    for step in range(100, 4100, 100):
        latency = 2.5 + (300 if step > 300 and step % 300 == 100 else 0)
        lines.append(f"[rank:0] iter: {step}/4000, loss: 0.0780, latency(ms): {latency:.4f} | 2026-11-20 13:19:02.848")
        if step % 300 == 0:
            lines.append(f"[rank:0] iter: {step}/4000, eval_auc: 0.7616 | 2026-11-20 13:19:32.848")
    assert headline(lines, tmp_path, "dlperf.oneflow_models_ctr", devices=8) == pytest.approx(16384 / 0.0025)
