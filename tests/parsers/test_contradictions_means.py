"""Running means that lines print beside the numbers of their steps, on made-up lines worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from test_dialects import facts_of, reason, session_of, value

from ingest.compute.measurement import measured
from ingest.compute.second_run import second_run
from schema.records import Figure, NoFigure


def deepspeed(
    speed: Callable[[int], float], mean: float = 80.0, place: str = "epoch=0/micro_step={0}/global_step={0}"
) -> list[str]:
    """Return a line per ten updates of 16 samples in 0.2 s, with the mean since the start."""
    return [
        f"[2026-11-20 10:{n // 30:02}:{2 * n % 60:02},000] [INFO] [timer.py:199:stop] {place.format(10 * n)}, "
        f"RunningAvgSamplesPerSec={mean}, CurrSamplesPerSec={speed(n)}, MemAllocated=3.5GB, MaxMemAllocated=22.5GB"
        for n in range(1, 61)
    ]


@pytest.mark.parametrize("place", ["epoch=0/micro_step={0}/global_step={0}", "0/{0}"])
def test_speeds_of_deepspeed_are_held_against_their_running_mean(place: str, tmp_path: Path) -> None:
    for times in (0.5, 2.0):
        session = session_of(deepspeed(lambda _, times=times: 80 * times, place=place), tmp_path, "dlperf.deepspeed")
        assert reason(session) == "lines_contradict", times
    session = session_of(deepspeed(lambda _: 80.0, place=place), tmp_path, "dlperf.deepspeed")
    assert value(session) == pytest.approx(80)


def test_steps_that_deepspeed_does_not_print_may_be_slower(tmp_path: Path) -> None:
    assert value(session_of(deepspeed(lambda _: 120.0), tmp_path, "dlperf.deepspeed")) == pytest.approx(120)
    # A single slow step that is printed contradicts nothing, and counts.
    slow = session_of(deepspeed(lambda n: 20.0 if n % 20 == 0 else 80.0), tmp_path, "dlperf.deepspeed")
    assert value(slow, "mean") < 80


def speedrun(milliseconds: Callable[[int], float], left_out: int = 0) -> list[str]:
    """Return a line per 50 steps of 65,536 tokens in 0.1 s, of which the first ones do not count."""
    return [
        "train_batch_tokens:65536 train_seq_len:1024 iterations:3000",
        *(
            f"step:{step}/3000 train_loss:3.5000 train_time:{milliseconds(step - left_out):.0f}ms step_avg:100.00ms"
            for step in range(50, 3001, 50)
        ),
    ]


@pytest.mark.parametrize("left_out", [0, 9])
def test_time_since_the_start_is_held_against_the_mean_of_a_step(left_out: int, tmp_path: Path) -> None:
    for wrong in (50.0, 200.0):
        lines = speedrun(lambda step, wrong=wrong: wrong * step, left_out)
        assert reason(session_of(lines, tmp_path, "frameworks.modded_nanogpt")) == "lines_contradict", wrong
    session = session_of(speedrun(lambda step: 100.0 * step, left_out), tmp_path, "frameworks.modded_nanogpt")
    assert value(session) == pytest.approx(655_360)


def test_times_that_are_all_zero_tell_no_speed(tmp_path: Path) -> None:
    lines = [re.sub(r"(train_time:|step_avg:)[0-9.]+", r"\g<1>0", each) for each in speedrun(float)]
    assert reason(session_of(lines, tmp_path, "frameworks.modded_nanogpt"))


def test_a_time_that_lost_a_digit_moves_no_figure(tmp_path: Path) -> None:
    lines = speedrun(lambda step: 100.0 * step // (10 if step % 400 == 0 else 1))
    assert value(session_of(lines, tmp_path, "frameworks.modded_nanogpt")) == pytest.approx(655_360)


def test_a_mean_that_is_no_number_yet_contradicts_nothing(tmp_path: Path) -> None:
    lines = [each.replace("step_avg:100.00ms", "step_avg:nanms") for each in speedrun(lambda step: 100.0 * step)[:3]]
    session = session_of([*lines, *speedrun(lambda step: 100.0 * step)[3:]], tmp_path, "frameworks.modded_nanogpt")
    assert value(session) == pytest.approx(655_360)


def test_an_epoch_of_which_lines_are_missing_contradicts_nothing(tmp_path: Path) -> None:
    # 1,000 batches of 32 images in 50 s, of which somebody cut out those of the middle.
    lines = [
        f"INFO:root:Epoch[0] Batch [{n}-{n + 20}]\tSpeed: 640.00 samples/sec\taccuracy=0.5" for n in range(0, 1000, 20)
    ]
    whole = [*lines, "INFO:root:Epoch[0] Train-accuracy=0.5", "INFO:root:Epoch[0] Time cost=50.125"]

    def headline(lines: list[str]) -> Figure | NoFigure:
        session = session_of(lines, tmp_path, "frameworks.mxnet_fit")
        return measured(session, facts_of(session) | {"batch_size": 32, "devices": 1, "nodes": 1}).headline

    for sound in (whole, [*whole[:18], *whole[32:]]):
        assert headline(sound).value == pytest.approx(640)
    # 25 s are less than an epoch of all steps takes.
    faster = headline([each.replace("640.00", "1280.00") for each in whole])
    assert isinstance(faster, NoFigure)
    assert faster.reason.args["witness"] == "summary"


def means(steps: range, seconds: float, batch: int, warm_up: float = 0.0) -> list[str]:
    """Return timm's lines of these steps, with the means of a run that began with step 0."""
    lines = []
    for step in steps:
        mean = seconds + warm_up / (step + 1)
        lines.append(
            f"Train: 0 [{step:>4}/50000 ({step // 500:>3}%)]  Loss: 6.9 (6.93)  "
            f"Time: {seconds:.3f}s, {batch / seconds:.2f}/s  ({mean:.3f}s, {batch / mean:.2f}/s)  "
            f"LR: 1.000e-05  Data: 0.009 (0.020)"
        )
    return lines


def test_a_mean_that_leaves_no_time_is_of_another_run(tmp_path: Path) -> None:
    """400 and 1,200 images/s on one and four devices, the excerpt of the second behind that of the first."""
    lines = [*means(range(1000, 2250, 50), 0.16, 64), *means(range(2500, 3750, 50), 0.05333, 64)]
    found = second_run(session_of(lines, tmp_path, "frameworks.timm"))
    assert found is not None
    assert (found[0], found[1].code) == (26, "mean_of_another")


@pytest.mark.parametrize("damaged", [False, True])
def test_a_mean_of_one_run_that_falls(damaged: bool, tmp_path: Path) -> None:
    """The first step takes ten minutes, and nine lines in ten are missing; one line lost a digit of its mean."""
    lines = means(range(50, 5050, 500), 0.16, 64, warm_up=600.0) + means(range(5050, 7050, 50), 0.16, 64, warm_up=600.0)
    if damaged:
        lines[20] = means(range(5550, 5551), 0.16, 64, warm_up=9_000.0)[0]
    assert second_run(session_of(lines, tmp_path, "frameworks.timm")) is None


def test_coarse_means_of_one_run_may_fall(tmp_path: Path) -> None:
    """0.15 iterations per second are printed as 0.1 at first, and then as 0.2."""
    lines = [
        f"[2026/11/20 13:14:40] root INFO: [Train][Epoch 1/20][Iter: {step}/5000]lr: 0.10000, loss: 2.02106, "
        f"batch_cost: {seconds:.5f}s, reader_cost: 0.02000, ips: {speed} images/sec, eta: 12:17:54"
        for step, speed, seconds in ((10 * n, 0.1 if n < 20 else 0.2, 6.7) for n in range(1, 41))
    ]
    assert second_run(session_of(lines, tmp_path, "paddle.clas_dygraph")) is None


@pytest.mark.filterwarnings("error")
def test_batches_of_two_runs_give_no_warning(tmp_path: Path) -> None:
    """Batches of 64 and 256: no record tells how many steps it covers."""
    lines = [
        f"[2026/11/20 13:14:40] ppcls INFO: [Train][Epoch 1/20][Iter: {step}/5000]lr: 0.10000, loss: 2.02106, "
        f"batch_cost: {seconds:.5f}s, reader_cost: 0.02, ips: {batch / seconds:.5f} images/sec"
        for batch in (64, 256)
        for step, seconds in ((10 * n, 0.2 + n % 7 / 1000) for n in range(1, 26))
    ]
    assert reason(session_of(lines, tmp_path, "paddle.clas_dygraph"), "sustained") == "batches_vary"


def detection(steps: range, seconds: float, batch: int) -> list[str]:
    return [
        f"[11/20 13:14:40] ppdet.engine INFO: Epoch: [0] [{step}/7312] learning_rate: 0.000029 loss: 4.504654 "
        f"eta: 1:28:48 batch_cost: {took:.4f} data_cost: 0.0034 ips: {batch / took:.4f} images/s"
        for step, took in ((step, seconds + step % 7 / 1000) for step in steps)
    ]


@pytest.mark.parametrize(("begin", "batch", "code"), [(900, 32, "batch_of_another"), (900, 8, None), (400, 32, None)])
def test_batches_of_another_size_behind_missing_lines(begin: int, batch: int, code: str | None, tmp_path: Path) -> None:
    """Excerpts of a run with batches of 8 and of another; a run may change its batch where no line is missing."""
    lines = detection(range(0, 400, 20), 0.16, 8) + detection(range(begin, begin + 400, 20), 0.2, batch)
    found = second_run(session_of(lines, tmp_path, "frameworks.paddle_detection"))
    assert (found and found[1].code) == code


def imagenet(seconds: float) -> list[str]:
    """Return every tenth line of three epochs of 200 steps of PyTorch's ImageNet example, of which the first waits."""
    return [
        f"Epoch: [{epoch}][{step:4d}/200]\tTime {seconds + (step == 0):6.3f} ({seconds + 1 / (step + 1):6.3f})\t"
        "Data  0.010 ( 0.010)\tLoss 7.1e+00 (7.1e+00)\tAcc@1   0.00 (  0.10)\tAcc@5   0.78 (  0.50)"
        for epoch in range(3)
        for step in range(0, 200, 10)
    ]


@pytest.mark.parametrize(("seconds", "line"), [(0.6, 61), (0.31, 0)])
def test_lines_of_two_programs_are_not_merged_like_those_of_ranks(seconds: float, line: int, tmp_path: Path) -> None:
    # Ranks that print into one file without a tag leave blocks of lines, as a second program does.
    session = session_of([*imagenet(0.3), *imagenet(seconds)], tmp_path, "dlperf.pytorch_examples")
    found = second_run(session)
    assert (found[0] if found else 0) == line
    if not found:
        assert value(session, "sustained", devices=1, batch_size=61) == pytest.approx(200, rel=0.02)
