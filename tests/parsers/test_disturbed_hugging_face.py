"""What real trainers print under adverse conditions, on made-up lines whose figures are worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_dialects import HF_HEAD, LOSS, facts_of, session_of, value

from ingest.compute.measurement import measured
from schema.records import Figure, NoFigure


def after_a_slow_step(count: int, total: int, first: float, pace: float) -> list[str]:
    """Return a bar whose first step took `first` seconds, and every other `pace`, as tqdm smooths it."""
    lines, mean, weight = [], 0.0, 0.0
    for step in range(1, count + 1):
        mean, weight = 0.3 * (first if step == 1 else pace) + 0.7 * mean, 0.3 + 0.7 * weight
        took = int(first + (step - 1) * pace)
        lines.append(f" 10%|#    | {step}/{total} [{took // 60:02}:{took % 60:02}<06:46,  {mean / weight:.2f}s/it]")
    return lines


def summary(seconds: float, samples: int, steps: int) -> str:
    return (
        f"{{'train_runtime': {seconds}, 'train_samples_per_second': {samples / seconds:.3f}, "
        f"'train_steps_per_second': {steps / seconds:.3f}, 'train_loss': 2.5, 'epoch': 1.0}}"
    )


def test_a_slow_start_of_a_short_run_shows_in_no_record(tmp_path: Path) -> None:
    """30 steps of 64 samples: 182 s, then 2 s each. The mean of all smoothed steps but the first five is 2.9 s.

    The summary of 1920 samples in 240 s is a quarter of the speed of the records, which hold a ninth of its seconds;
    the bar shows that the others lie before them.
    """
    lines = [*HF_HEAD[:2], *after_a_slow_step(29, 30, 182, 2), LOSS, summary(240, 30 * 64, 30)]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(64 / 2, rel=0.02)


@pytest.mark.parametrize("count", [8, 10, 15])
def test_a_run_whose_bar_shows_its_slow_start_to_the_end_has_no_speed(count: int, tmp_path: Path) -> None:
    lines = [*HF_HEAD[:2], *after_a_slow_step(count, count + 1, 20, 2), LOSS]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, NoFigure)
    assert found.reason.code in {"too_short", "no_records"}


def test_llamafactory_rows_of_one_second_count_together(tmp_path: Path) -> None:
    """A row per update of 0.25 s and 512 tokens: its time is cut to seconds, which most rows share with others."""
    lines = [
        f'{{"current_steps": {step}, "total_steps": 200, "loss": 2.5, "lr": 5e-05, "epoch": {step / 100}, '
        f'"percentage": 1.0, "elapsed_time": "0:00:{step // 4:02}", "remaining_time": "0:00:10", '
        f'"throughput": 2048.0, "total_tokens": {512 * step}}}'
        for step in range(1, 201)
    ]
    session = session_of(lines, tmp_path, "frameworks.llamafactory")
    assert value(session, "sustained") == pytest.approx(512 / 0.25)


@pytest.mark.parametrize(("images", "counted"), [(98, 98), (104, 104), (90, 104)])
def test_ultralytics_counts_the_last_batch_of_an_epoch_as_a_part(images: int, counted: int, tmp_path: Path) -> None:
    """13 batches of 8 images in 6.5 s; 90 images are 12 batches, and not those of these epochs."""
    lines = [
        "engine/trainer: agnostic_nms=False, amp=False, batch=8, device=0, epochs=6, model=yolo11n.yaml",
        f"train: Scanning l... {images} images, 0 backgrounds, 0 corrupt: 100% ━ {images}/{images} 1Kit/s 0.1s",
        *(
            f"   {epoch}/6   8.12G   1.234   0.5500   1.105   123   640: 100% ━━━━ 13/13 2.0it/s 6.5s"
            for epoch in range(1, 7)
        ),
    ]
    assert value(session_of(lines, tmp_path, "frameworks.ultralytics")) == pytest.approx(counted / 6.5)


@pytest.mark.parametrize(("last", "outcome"), [(30, "completed"), (20, "truncated")])
def test_open_clip_is_completed_with_the_last_batch_of_its_last_epoch(last: int, outcome: str, tmp_path: Path) -> None:
    """Two epochs of 30 batches of 64 samples and a rest, which is dropped; each tenth batch is printed."""
    lines = [
        "2026-11-20,09:45:00 | INFO |   epochs: 2",
        *(
            f"2026-11-20,09:45:36 | INFO | Train Epoch: {epoch} [{64 * batch}/1930 (9%)] Data (t): 0.1 "
            "Batch (t): 0.500, 128.0/s, 128.0/s/gpu LR: 0.000001 Logit Scale: 99.995 Loss: 0.97884 (1.023)"
            for epoch, end in ((0, 30), (1, last))
            for batch in (1, 11, 21, 30)
            if batch <= end
        ),
    ]
    assert session_of(lines, tmp_path, "frameworks.open_clip").ending.outcome == outcome


def test_a_summary_of_one_digit_contradicts_nothing_within_it(tmp_path: Path) -> None:
    """64 samples in 24000 s are 0.0027 a second, which a summary of three decimals gives as 0.003."""
    clocks = [f"{n * 24000 // 3600}:{n * 24000 // 60 % 60:02}:00" for n in range(41)]
    bar = [f" 10%|#    | {n}/41 [{clocks[n]}<9:00:00, 24000.00s/it]" for n in range(1, 41)]
    lines = [*HF_HEAD[:2], *bar, LOSS, summary(41 * 24000, 41 * 64, 41)]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    found = measured(session, facts_of(session)).headline
    assert isinstance(found, Figure), found
    assert found.value == pytest.approx(64 / 24000)


@pytest.mark.parametrize(("total", "seconds"), [(50, 2.0), (5000, 0.01), (5000, 0.25)])
@pytest.mark.parametrize("before", [True, False])
def test_the_bar_behind_which_losses_are_told_is_that_of_training(
    total: int, seconds: float, before: bool, tmp_path: Path
) -> None:
    """A program prepares its data or tries its model with a bar of its own; the run was killed, and states no total."""

    def drawn(step: int, of: int, took: float) -> str:
        at = step * took
        rate = f"{took:.2f}s/it" if took >= 1 else f"{1 / took:.2f}it/s"
        return f"{100 * step // of:3}%|#   | {step}/{of} [{int(at) // 60:02}:{int(at) % 60:02}<09:00, {rate:>9}]"

    own = [drawn(step, total, seconds) for step in range(1, total + 1, 1 + total // 500)]
    training: list[str] = []
    for step in range(1, 601):
        training += [drawn(step, 1000, 0.5)]
        training += ["{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.5}"] if step % 50 == 0 else []
    lines = [*own, *training] if before else [*training[100:], *own]
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    assert value(session, "sustained", devices=1, batch_size=8, accumulation=1) == pytest.approx(8 / 0.5)


def test_losses_that_a_buffer_held_back_do_not_tell_the_bar_of_training(tmp_path: Path) -> None:
    """Python prints them in blocks where its output is a file: behind an evaluation, or when the program ends."""
    lines: list[str] = []
    for step in range(1, 401):
        at = step // 2 + 20 * ((step - 1) // 100)
        lines += [f"{step // 10:3}%|#   | {step}/1000 [{at // 60:02}:{at % 60:02}<09:00,  2.00it/s]"]
        if step % 100 == 0:
            lines += [f"{10 * each:3}%|#   | {each}/20 [00:{each:02}<00:09,  1.00it/s]" for each in range(1, 20)]
            lines += ["{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.5}"] * 40
    session = session_of(lines, tmp_path, "frameworks.hf_trainer")
    assert value(session, "sustained", devices=1, batch_size=8, accumulation=1) == pytest.approx(16, rel=0.01)
