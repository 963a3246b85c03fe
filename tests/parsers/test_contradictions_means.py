"""Running means that lines print beside the numbers of their steps, on made-up lines worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from test_dialects import facts_of, reason, session_of, value

from ingest.compute.measurement import measured
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
