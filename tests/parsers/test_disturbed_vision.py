"""What trainers of vision and diffusion models print where they are disturbed: lines like theirs, figures by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

import pytest
from test_dialects import ALL, facts_of, log_of, reason, session_of, value

from ingest.compute.measurement import measured
from schema.records import Figure

ONE = {"devices": 1, "batch_size": 8}

# PyTorch examples, ImageNet


def examples(epoch: int, took: Sequence[float], every: int = 10) -> list[str]:
    """Return the lines of an epoch of which `took` are the seconds of all steps."""
    return [
        f"Epoch: [{epoch}][{i + 1:3d}/{len(took)}]\tTime {took[i]:6.3f} ({sum(took[: i + 1]) / (i + 1):6.3f})\t"
        "Data  0.001 ( 0.001)\tLoss 6.9e+00 (6.9e+00)\tAcc@1   1.56 (  1.56)"
        for i in range(0, len(took), every)
    ]


def test_the_end_of_an_epoch_of_fast_steps_counts_as_its_first_step_does(tmp_path: Path) -> None:
    # 381 steps of an epoch up to its last line: one of 0.4 s, and 380 of 0.02 s. Three decimals need many.
    lines = [line for epoch in range(10) for line in examples(epoch, [0.4] + 390 * [0.02])]
    session = session_of(lines, tmp_path, "dlperf.pytorch_examples")
    assert value(session, ALL, devices=1, batch_size=64) == pytest.approx(64 * 381 / 8, rel=0.02)


def test_steps_too_fast_for_three_decimals_give_no_figure(tmp_path: Path) -> None:
    lines = [line for epoch in range(10) for line in examples(epoch, [0.4] + 390 * [0.0084])]
    session = session_of(lines, tmp_path, "dlperf.pytorch_examples")
    assert reason(session, ALL, devices=1, batch_size=64) == "coarse_seconds"


def test_a_time_that_is_no_number_is_not_too_coarse(tmp_path: Path) -> None:
    lines = [each.replace("Time  0.500", "Time    nan") for each in examples(0, 100 * [0.5], 1)]
    session = session_of(lines, tmp_path, "dlperf.pytorch_examples")
    assert reason(session, ALL, devices=1, batch_size=64) == "impossible_figure"


# timm


def timm(epoch: int, samples: Sequence[int], every: int) -> list[str]:
    """Return the lines of an epoch of updates of so many samples, 100 of which take a second."""
    lines, took = [], [each / 100 for each in samples]
    for i in range(0, len(took), every):
        mean = sum(took[: i + 1]) / (i + 1)
        lines.append(
            f"Train: {epoch} [{i:>4d}/{len(took)} ({100 * (i + 1) / len(took):>3.0f}%)]  Loss: 6.25 (6.50)  "
            f"Time: {took[i]:.3f}s, {samples[i] / took[i]:>7.2f}/s  ({mean:.3f}s, {samples[i] / mean:>7.2f}/s)  "
            "LR: 1.000e-05  Data: 0.010 (0.050)"
        )
    return lines


@pytest.mark.parametrize("every", [1, 10])
def test_an_epoch_of_timm_that_ends_with_a_smaller_update(every: int, tmp_path: Path) -> None:
    lines = [line for epoch in range(4) for line in timm(epoch, 20 * [256] + [64], every)]
    session = session_of(lines, tmp_path, "frameworks.timm")
    assert value(session, ALL) == pytest.approx(100, rel=0.01)


def test_an_update_of_timm_accumulates_batches(tmp_path: Path) -> None:
    lines = [line for epoch in range(4) for line in timm(epoch, 101 * [256], 10)]
    session = session_of(lines, tmp_path, "frameworks.timm")
    found = measured(session, facts_of(session) | {"devices": 1, "batch_size": 64, "accumulation": 4}).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(100, rel=0.01)


def test_updates_of_timm_that_are_numbered_beyond_their_epoch_are_no_records(tmp_path: Path) -> None:
    # Of 102 batches of which four make an update, two are left. The first update of each epoch takes two seconds more.
    lines = [
        "Learning rate (0.1) calculated from base learning rate (0.1) and effective global batch size (256) with x."
    ]
    for epoch in range(4):
        for i, samples in [*((i, 256) for i in range(25)), (50, 128)]:
            own = samples / 100 + 2 * (i == 0)
            mean = (2 + 2.56 * (i + 1)) / (i + 1) if i < 25 else (2 + 64 + 1.28) / 26
            lines.append(
                f"Train: {epoch} [{i:>4d}/26 ({4 * i:>3.0f}%)]  Loss: 6.25 (6.50)  Time: {own:.3f}s, "
                f"{samples / own:>7.2f}/s  ({mean:.3f}s, {samples / mean:>7.2f}/s)  LR: 1.000e-05  Data: 0.010 (0.050)"
            )
    session = session_of(lines, tmp_path, "frameworks.timm")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(6400 / 66, rel=0.01)


# MMEngine


def left(seconds: float) -> str:
    return str(dt.timedelta(seconds=int(seconds)))


def mmengine(took: Sequence[float], begun: int = 0, every: int = 50, epoch: int = 0) -> list[str]:
    """Return the lines of a run of which `took` are the seconds of all iterations, from `begun` on.

    The mean is that of the last ten; an `epoch` has so many iterations.
    """
    lines, planned = [], begun + len(took)
    for i in range(every, len(took) + 1, every):
        done = begun + i
        eta = left(sum(took[:i]) / i * (planned - done))
        place = f"[{(done - 1) // epoch + 1}][{(done - 1) % epoch + 1:4}/{epoch}]" if epoch else f"[{done:6}/{planned}]"
        lines.append(
            f"{'Epoch' if epoch else 'Iter'}(train)  {place}  lr: 1.0000e-02  eta: {eta}  "
            f"time: {sum(took[i - 10 : i]) / 10:.4f}  data_time: 0.0010  loss: 0.5000"
        )
    return [f"2026/11/20 12:00:00 - mmengine - INFO - {each}" for each in lines]


@pytest.mark.parametrize(("begun", "epoch"), [(0, 0), (1000, 0), (0, 500), (1000, 500)])
def test_stalls_that_no_mean_of_mmengine_holds_are_in_the_time_that_is_left(
    begun: int, epoch: int, tmp_path: Path
) -> None:
    # Iterations of 0.5 s; of each 50 one before the last ten takes 5.5 s.
    took = [5.5 if i % 50 == 5 else 0.5 for i in range(2000)]
    head = [f"train_cfg = dict(by_epoch=True, max_epochs={(begun + 2000) // epoch}, val_interval=1)"] if epoch else []
    session = session_of(head + mmengine(took, begun, 50, epoch), tmp_path, "frameworks.mmseg")
    assert value(session, **ONE) == pytest.approx(8 / 0.6, rel=0.01)


def test_epochs_of_mmengine_whose_number_is_unknown_are_read_by_the_printed_means(tmp_path: Path) -> None:
    session = session_of(mmengine(2000 * [0.5], 0, 50, 500), tmp_path, "frameworks.mmseg")
    assert value(session, **ONE) == pytest.approx(16)


# diffusers


def test_a_row_behind_a_pause_begins_anywhere_in_a_second_of_the_bar(tmp_path: Path) -> None:
    # Steps of 0.3 s; each twentieth is followed by a validation of 10.1 s, behind which a second of the bar is cut off.
    lines = ["11/20/2026 10:00:00 - INFO - __main__ - ***** Running training *****"]
    at = 0.0
    for step in range(1, 400):
        at += 0.3
        took = str(dt.timedelta(seconds=int(at)))
        lines.append(f"\rSteps: {step // 4:3}%|##| {step}/400 [{took}<05:00,  3.33it/s, lr=1e-5, step_loss=0.06]")
        if step % 20 == 0:
            lines.append("11/20/2026 10:00:00 - INFO - __main__ - Running validation... ")
            at += 10.1
    session = session_of(lines, tmp_path, "frameworks.diffusers")
    assert value(session, "sustained", **ONE, accumulation=1) == pytest.approx(8 / 0.3, rel=0.01)


# Apex's example of ImageNet


def test_a_line_of_apex_is_of_the_batches_since_the_line_before(tmp_path: Path) -> None:
    # 101 batches of 512 samples an epoch: the first takes 2 s, the others 0.25 s, but one in ten 1.25 s.
    lines = []
    for epoch in range(6):
        printed: list[float] = []
        for i in range(0, 101, 10):
            printed.append(0.35 if i else 0.2)
            mean = sum(printed) / len(printed)
            lines.append(
                f"Epoch: [{epoch}][{i}/101]\tTime {printed[-1]:.3f} ({mean:.3f})\tSpeed {512 / printed[-1]:.3f} "
                f"({512 / mean:.3f})\tLoss 6.9077000000 (6.9538)\tPrec@1 1.562 (1.562)"
            )
    session = session_of(lines, tmp_path, "dlperf.pytorch_examples")
    assert value(session, ALL) == pytest.approx(512 * 101 / 37, rel=1e-3)


def test_lines_like_those_of_apex_whose_mean_is_of_all_batches_are_of_one_batch(tmp_path: Path) -> None:
    # The same epochs, of which each line tells the batch that is printed.
    took = [2.0] + [1.25 if i % 10 == 5 else 0.25 for i in range(1, 101)]
    lines = [
        f"Epoch: [{epoch}][{i}/101]\tTime {took[i]:.3f} ({sum(took[: i + 1]) / (i + 1):.3f})\t"
        f"Speed {512 / took[i]:.3f} ({512 / took[i]:.3f})\tLoss 6.9077 (6.9538)\tPrec@1 1.562 (1.562)"
        for epoch in range(6)
        for i in range(0, 101, 10)
    ]
    session = session_of(lines, tmp_path, "dlperf.pytorch_examples")
    assert value(session, ALL, devices=8, batch_size=64) == pytest.approx(512 * 101 / 37, rel=0.01)


# EDM and StyleGAN


def tick(number: int, kimg: float, took: float, each: float) -> str:
    return (
        f"tick {number:<5d} kimg {kimg:<9.1f} time {'1m 02s':<12s} sec/tick {took:<7.1f} sec/kimg {each:<7.2f} "
        f"maintenance {0.5:<6.1f} cpumem {5.61:<6.2f} gpumem {12.5:<6.2f} reserved {13:<6.2f}"
    )


def test_of_fast_ticks_the_images_that_are_counted_tell_more_than_seconds_of_a_thousand(tmp_path: Path) -> None:
    # 50,000 images take 20 s, and a thousand 0.404 s at most: 0.40 is printed.
    lines = ["Training options:", "{", "}", tick(0, 0.5, 9.5, 19.0)]
    lines += [tick(number, 0.5 + 50 * number, 20.2, 0.40) for number in range(1, 12)]
    session = session_of(lines, tmp_path, "frameworks.edm")
    assert value(session, "sustained") == pytest.approx(50_000 / 20.2)


def test_of_short_ticks_seconds_of_a_thousand_images_tell_more_than_those_that_are_counted(tmp_path: Path) -> None:
    # 4,032 images are printed as 4.0 or 4.1 thousand.
    lines = ["Training options:", "{", "}", tick(0, 0.0, 9.5, 296.88)]
    lines += [tick(number, 4.032 * number, 222.8, 55.25) for number in range(1, 12)]
    session = session_of(lines, tmp_path, "frameworks.edm")
    assert value(session, "sustained") == pytest.approx(1000 / 55.25)


# DiT


@pytest.mark.parametrize("seconds", [0.4, 8.0])
def test_of_slow_steps_of_dit_the_clocks_tell_more_than_a_rate(seconds: float, tmp_path: Path) -> None:
    # 0.125 steps per second are printed as 0.12. Behind step 500 a checkpoint takes 60 s.
    lines, at = [], 0.0
    for step in range(100, 1600, 100):
        stopped = 60 if step == 600 else 0
        at += 100 * seconds + stopped
        rate = 100 / (100 * seconds + stopped)
        clock = dt.datetime(2026, 11, 20, 9) + dt.timedelta(seconds=int(at))
        lines.append(f"[{clock}] (step={step:07d}) Train Loss: 0.1543, Train Steps/Sec: {rate - 1e-9:.2f}")
        if step == 500:
            lines.append(f"[{clock + dt.timedelta(seconds=60)}] Saved checkpoint to results/000-DiT-XL-2/0000500.pt")
    session = session_of(lines, tmp_path, "frameworks.dit")
    assert value(session, "sustained", **ONE) == pytest.approx(8 / seconds, rel=1e-3)


# BasicSR


def test_of_basicsr_the_clocks_tell_the_speed(tmp_path: Path) -> None:
    # `time` begins anew every 201 iterations, and leaves out the validation of 20 s every 500.
    lines, at = [], 0.0
    for step in range(100, 2100, 100):
        at += 30.0
        clock = f"2026-11-20 09:{int(at) // 60:02}:{int(at) % 60:02},000 INFO: "
        lines.append(
            f"{clock}[train..][epoch:  3, iter:{step:8,d}, lr:(2.000e-04,)] [eta: 3:04:05, time (data): 0.450 (0.003)] "
            "l_pix: 3.4e-02 "
        )
        if step % 500 == 0:
            at += 20.0
            lines.append(f"{clock}Validation Set5")
    session = session_of(lines, tmp_path, "frameworks.basicsr")
    assert value(session, "sustained", **ONE) == pytest.approx(8 / 0.3)


# Darknet


@pytest.mark.parametrize(("devices", "advance"), [(1, 1), (4, 4)])
def test_an_iteration_of_darknet_holds_the_wait_before_it(devices: int, advance: int, tmp_path: Path) -> None:
    # Each iteration takes 2 s, and one in four waits for data for 2 s more. Several devices skip numbers.
    images, lines = 64 * devices, ["Learning Rate: 0.001, Momentum: 0.949, Decay: 0.0005"]
    for number in range(1, 41):
        wait, step = 2.0 if number % 4 == 0 else 0.0, number * advance
        lines.append(
            f"Loaded: {wait:.6f} seconds" + (" - performance bottleneck on CPU or Disk HDD/SSD" if wait else "")
        )
        lines.append(
            f"\n {step}: 2.500000, 2.400000 avg loss, 0.001000 rate, 2.000000 seconds, {step * images} images, "
            "1.250000 hours left"
        )
    session = session_of(lines, tmp_path, "frameworks.darknet")
    assert value(session, "sustained") == pytest.approx(images / 2.5)


# SlowFast


def test_a_stall_between_two_rows_of_slowfast_is_in_their_clocks(tmp_path: Path) -> None:
    # Iterations of 0.4 s; one of each ten, which is not the one that is printed, takes 2.4 s.
    lines = []
    for i in range(10, 410, 10):
        at = dt.datetime(2026, 11, 20, 9) + dt.timedelta(seconds=int(0.6 * i))
        lines.append(
            f'[{at:%m/%d %H:%M:%S}][INFO] logging.py:  99: json_stats: {{"_type": "train_iter", "dt": 0.40000, '
            f'"epoch": "1/200", "eta": "1:12:41", "gpu_mem": "5.22G", "iter": "{i}/4000", "loss": 1.63013}}'
        )
    session = session_of(lines, tmp_path, "frameworks.slowfast")
    assert value(session, "sustained", **ONE) == pytest.approx(8 / 0.6)


# AI Toolkit


@pytest.mark.parametrize("stands_still", [True, False])
def test_samples_that_ai_toolkit_draws_are_no_training(stands_still: bool, tmp_path: Path) -> None:
    # Steps of 2 s; samples take 30 s after each twentieth, in which the bar's time stands still or goes on.
    lines, at = ["Running 1 job"], 0
    for step in range(1, 200):
        at += 2
        took = str(dt.timedelta(seconds=at))
        lines.append(f"\rmy_lora: {step // 2:3}%|##| {step}/200 [{took}<05:00,  2.00s/it, lr: 1.0e-04 loss: 3.125e-01]")
        if step % 20 == 0:
            at += 0 if stands_still else 30
            lines.append("\rGenerating Images:  50%|#####     | 1/2 [00:15<00:15, 15.00s/it]")
    session = session_of(lines, tmp_path, "frameworks.ai_toolkit")
    assert value(session, "sustained", **ONE, accumulation=1) == pytest.approx(4)


# CycleGAN and pix2pix


def test_an_epoch_of_cyclegan_that_ends_with_a_checkpoint_is_no_training_alone(tmp_path: Path) -> None:
    # Epochs of 1,000 images take 99.5 s, which is cut to 99; each fifth saves the model for 20 s.
    lines = ["----------------- Options ---------------", "The number of training images = 1000"]
    for epoch in range(1, 21):
        saves = epoch % 5 == 0
        if saves:
            lines.append(f"saving the model at the end of epoch {epoch}, iters {1000 * epoch}")
        lines.append(f"End of epoch {epoch} / 20 \t Time Taken: {119 if saves else 99} sec")
    session = session_of(lines, tmp_path, "frameworks.pix2pix")
    assert value(session, "sustained") == pytest.approx(1000 / 99.5)


# Bars of a program that was killed


def test_a_program_begins_behind_the_bar_of_one_that_was_killed(tmp_path: Path) -> None:
    # Nothing ends the line of the bar, on which the next program announces itself. Steps of 2 s, then of 4 s.
    def bars(seconds: int) -> str:
        drawn = (
            f"\rsteps: {n:3}%|##| {n}/100 [{left(seconds * n)}<05:00,  2.00s/it, avr_loss=0.06]" for n in range(1, 80)
        )
        return "running training / x\n" + "".join(drawn)

    log = log_of([bars(2) + bars(4)], tmp_path)
    assert [len(each.records[0]) for each in log.sessions] == [79, 79]
    found = [value(each, "sustained", **ONE, accumulation=1) for each in log.sessions]
    assert found == pytest.approx([4, 2])


# 3D Gaussian Splatting


def test_the_seconds_of_the_bar_tell_the_speed_of_gaussian_splatting(tmp_path: Path) -> None:
    # Iterations of 0.1 s; the speed that is printed is that of the last redraws. An evaluation takes 30 s.
    lines, at = ["Optimizing ./output/a1b2", "Output folder: ./output/a1b2"], 0
    for step in range(10, 3000, 10):
        at += 1
        lines.append(
            f"\rTraining progress: {step // 30:3}%|##| {step}/3000 [{left(at)}<05:00, 25.00it/s, Loss=0.0432100]"
        )
        if step == 2000:
            lines += ["", "[ITER 2000] Evaluating test: L1 0.0250 PSNR 27.125"]
            at += 30
    session = session_of(lines, tmp_path, "frameworks.gaussian_splatting")
    assert value(session, "sustained") == pytest.approx(10)


# MetricLogger


@pytest.mark.parametrize("iterations", [25, 60, 100])
def test_slow_iterations_at_the_beginning_of_a_short_epoch_count_once(iterations: int, tmp_path: Path) -> None:
    # A line per ten iterations tells the mean of the last twenty. The first ten take 1 s, the others 0.5 s.
    took = 10 * [1.0] + (iterations - 10) * [0.5]
    lines = []
    for epoch in range(6):
        for i in range(0, iterations, 10):
            last = took[max(0, i - 19) : i + 1]
            lines.append(
                f"Epoch: [{epoch}]  [{i:3d}/{iterations}]  eta: 0:00:10  lr: 0.0001  loss: 0.0739 (0.0704)  "
                f"time: {sum(last) / len(last):.4f}  data: 0.0010  max mem: 8021"
            )
    session = session_of(lines, tmp_path, "frameworks.metric_logger")
    printed = (iterations - 1) // 10 * 10 + 1
    assert value(session, ALL, **ONE) == pytest.approx(8 * printed / sum(took[:printed]), rel=1e-3)
