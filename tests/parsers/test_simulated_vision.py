"""Simulated logs of vision models, whose steps are known.

These logs are too long for files, or have smoothed or random numbers. Small logs are cases in tests/golden.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from made import ALL, ONE, facts_of, published, reason, session_of, value

from perfledger.ingest.compute.measurement import measured
from perfledger.ingest.compute.metrics import metrics
from perfledger.schema.records import NoFigure


@pytest.mark.parametrize(("window", "every"), [(10, 1), (10, 5), (50, 10), (50, 50), (20, 4), (25, 5), (5, 1)])
@pytest.mark.parametrize("by_epoch", [True, False])
def test_mmengine_counts_the_slow_first_iteration_once(window: int, every: int, by_epoch: bool, tmp_path: Path) -> None:
    took = [30.0, *[0.5] * 199]
    lines = [f"log_processor = dict(by_epoch=True, type='LogProcessor', window_size={window})"] * (window != 10)
    for i in range(every, 201, every):
        last = took[max(0, i - window) : i]
        head = (
            f"Epoch(train)  [{1 + (i - 1) // 100}][{1 + (i - 1) % 100:3}/100]"
            if by_epoch
            else f"Iter(train) [{i:4}/4000]"
        )
        lines.append(
            f"2026/11/20 12:01:00 - mmengine - INFO - {head}  lr: 1.0e-02  eta: 5:53:22  "
            f"time: {sum(last) / len(last):.4f}  data_time: 0.0100  memory: 3440  loss: 2.1"
        )
    session = session_of(lines, tmp_path, "frameworks.mmseg")
    assert value(session, **ONE) == pytest.approx(32 * 200 / sum(took), rel=1e-3)


def examples_of(steps: Iterable[int], took: Sequence[float], first: int = 0, mean: float | None = None) -> list[str]:
    """Return lines of PyTorch's ImageNet example at some steps; `took` are the seconds of all steps of the epoch."""
    lines = []
    for i in steps:
        average = sum(took[: i + 1]) / (i + 1) if mean is None else mean
        lines.append(
            f"Epoch: [0][{i + first:4d}/2000]\tTime {took[i]:6.3f} ({average:6.3f})\tData  0.001 ({average / 2:6.3f})\t"
            "Loss 6.9e+00 (6.9e+00)\tAcc@1   1.56 (  1.56)\tAcc@5  11.72 ( 10.94)"
        )
    return lines


@pytest.mark.parametrize("first", [0, 1])
def test_stalls_of_unprinted_batches_count(first: int, tmp_path: Path) -> None:
    """Was: 0.25 s, since the loader stalls for one batch in ten, and another one is printed."""
    took = [4.0 if i == 0 else 2.25 if i % 10 == 5 else 0.25 for i in range(2000)]
    session = session_of(examples_of(range(0, 2000, 10), took, first), tmp_path, "dlperf.pytorch_examples")
    assert value(session, "sustained", devices=1, batch_size=64) == pytest.approx(64 / 0.45, rel=0.01)
    tail = session_of(examples_of(range(1700, 2000, 10), took, first), tmp_path, "dlperf.pytorch_examples")
    assert value(tail, "sustained", devices=1, batch_size=64) == pytest.approx(64 / 0.45, rel=0.04)


def test_mean_that_begins_within_an_epoch_gives_no_seconds(tmp_path: Path) -> None:
    took = [0.25] * 400
    session = session_of(examples_of(range(0, 400, 10), took, mean=9.5), tmp_path, "dlperf.pytorch_examples")
    assert value(session, "sustained", devices=1, batch_size=64) == pytest.approx(256)
    whole = session_of(examples_of(range(400), took, mean=9.5), tmp_path, "dlperf.pytorch_examples")
    assert value(whole, "sustained", devices=1, batch_size=64) == pytest.approx(256)


@pytest.mark.parametrize(("second", "reason"), [(0.5, None), (2.0, "withheld")])
def test_the_clock_is_compared_with_the_time_per_step_without_a_batch_size(
    second: float, reason: str | None, tmp_path: Path
) -> None:
    """MMEngine prints the last ten of fifty iterations; in the others the loader stalls. The number of planned epochs
    is unknown, so `eta` does not count.
    """
    lines = [
        f"2026/11/20 12:{int(50 * second * i) // 60:02}:{int(50 * second * i) % 60:02} - mmengine - INFO - "
        f"Epoch(train)  [1][{50 * i:5}/40000]  lr: 1.0e-02  eta: 5:53:22  time: 0.5000  data_time: 0.0100  loss: 2.1"
        for i in range(1, 30)
    ]
    session = session_of(lines, tmp_path, "frameworks.mmseg")
    found = measured(session, {})
    assert isinstance(found.headline, NoFigure)
    assert (found.headline.reason.args, found.witnesses) == ({"missing": "devices"}, ())
    latency = metrics(session, {}, found.headline, found.slower, found.untimed)["latency"]
    assert latency.value == (None if reason else pytest.approx(500))
    assert (latency.reason and latency.reason.code) == reason


TEN_O_CLOCK = dt.datetime(2026, 11, 20, 10)


@pytest.mark.parametrize(("every", "batch"), [(1, 0.375), (10, 9.375)])
def test_line_of_chinese_clip_is_of_one_step(every: int, batch: float, tmp_path: Path) -> None:
    # A step takes 0.375 s. If one in ten is printed, it claims 9.375 s, and the stamps of whole seconds give the speed.
    lines = [
        f"{TEN_O_CLOCK + dt.timedelta(seconds=int(0.375 * i)):%Y-%m-%d,%H:%M:%S} | INFO | Rank 0 | "
        f"Global Steps: {i}/4000 | Train Epoch: 1 [{64 * i}/256000 ({i // 40}%)] | Loss: 1.500000 | "
        f"Data Time: 0.125s | Batch Time: {batch:.3f}s | LR: 0.000010 | logit_scale: 4.605 | Global Batch Size: 64"
        for i in range(every, 801, every)
    ]
    session = session_of(lines, tmp_path, "frameworks.chinese_clip")
    assert value(session, ALL, devices=8) == pytest.approx(64 / 0.375, rel=0.01)


OPENPI = [
    "10:00:00.125 [I] Running on: node                                                      (1234:train.py:196)",
    "10:00:20.125 [I] Initialized data loader:",
    "[0].images['base_0_rgb']: (32, 224, 224, 3)@float32",
    "[1]: (32, 50, 7)@float32 (1234:train.py:227)",
    "10:01:00.125 [I] Progress on: -/30000 rate:- remaining:? elapsed:00:00 postfix:-       (1234:tqdm_logging.py:145)",
]


def openpi_bar(seconds: float, steps: float) -> str:
    """Return the bar of openpi for JAX in the form of tqdm_loggable, with three digits of the steps."""
    shown = f"{steps:.3g}it" if steps < 999.5 else f"{steps / 1000:#.3g}kit"
    return (
        f"{TEN_O_CLOCK + dt.timedelta(seconds=seconds):%H:%M:%S}.125 [I] Progress on: {shown}/30.0kit rate:2.0it/s "
        f"remaining:1:00:00 elapsed:{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d} "
        "postfix:-             (1234:tqdm_logging.py:145)"
    )


def test_bar_of_openpi_counts_in_three_digits(tmp_path: Path) -> None:
    """The first step takes 40 s, and each other step 0.5 s. Step 12,345 is printed as 12,300."""
    lines = [*OPENPI, *(openpi_bar(40 + step / 2, step) for step in range(20, 30001, 20))]
    session = session_of(lines, tmp_path, "frameworks.openpi")
    assert value(session, "sustained") == pytest.approx(64, rel=2e-3)
    assert value(session, "median") == pytest.approx(64, rel=0.02)
    assert facts_of(session) | {"batch_size_of_job": 32, "total_steps": 30000} == facts_of(session)


def epoch_of_examples(epoch: int, took: Sequence[float]) -> list[str]:
    """Return the lines of an epoch; `took` are the seconds of all its steps."""
    return [
        f"Epoch: [{epoch}][{i + 1:3d}/{len(took)}]\tTime {took[i]:6.3f} ({sum(took[: i + 1]) / (i + 1):6.3f})\t"
        "Data  0.001 ( 0.001)\tLoss 6.9e+00 (6.9e+00)\tAcc@1   1.56 (  1.56)"
        for i in range(0, len(took), 10)
    ]


def test_end_of_an_epoch_of_fast_steps_counts(tmp_path: Path) -> None:
    # An epoch has 381 steps before its last line: one of 0.4 s and 380 of 0.02 s. With three decimals many are needed.
    lines = [line for epoch in range(10) for line in epoch_of_examples(epoch, [0.4] + 390 * [0.02])]
    session = session_of(lines, tmp_path, "dlperf.pytorch_examples")
    assert value(session, ALL, devices=1, batch_size=64) == pytest.approx(64 * 381 / 8, rel=0.02)


def test_steps_too_fast_for_three_decimals_give_no_figure(tmp_path: Path) -> None:
    lines = [line for epoch in range(10) for line in epoch_of_examples(epoch, [0.4] + 390 * [0.0084])]
    session = session_of(lines, tmp_path, "dlperf.pytorch_examples")
    assert reason(session, ALL, devices=1, batch_size=64) == "impossible_figure"


def test_smaller_update_of_timm_is_found_by_its_seconds(tmp_path: Path) -> None:
    # The first update of an epoch takes 1 s, and 1999 others 5 ms each: 0.005498 s on average, printed as 0.005.
    lines = []
    for epoch in range(4):
        for i in range(2000):
            mean = (1 + 0.005 * i) / (i + 1)
            lines.append(
                f"Train: {epoch} [{i:>4d}/2000 ({i / 20:>3.0f}%)]  Loss: 6.25 (6.50)  Time: 0.005s, 102400.00/s  "
                f"({mean:.3f}s, {512 / mean:>7.2f}/s)  LR: 1.000e-05  Data: 0.010 (0.050)"
            )
    session = session_of(lines, tmp_path, "frameworks.timm")
    # The log has three epochs of 2000 updates, and 400 updates of the first epoch.
    assert published(session) == pytest.approx(6400 * 512 / (3 * 10.995 + 400 * 0.005), rel=0.01)
