"""What Paddle's older trainers and copies of its logs print.

Lines are made up after theirs; figures are worked out by hand.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from pathlib import Path

import pytest
from test_dialects import facts_of, figure, log_of, reason, session_of, value

from ingest.compute.frame import begun_anew
from ingest.compute.witnesses import measured
from parsers.engine.session import Session
from parsers.engine.table import SessionRecords
from schema.records import Figure

START = dt.datetime(2026, 11, 20, 8)
PAIR = {"devices": 2, "batch_size": 4}


def recorded(session: Session) -> SessionRecords:
    """Return the records of the reading that has any."""
    (found,) = [each for each in session.records if len(each)]
    return found


def static_detection(speed: str) -> list[str]:
    """Return PaddleDetection's static graph: steps of 0.25 s, and 30 s of saving and evaluation behind every 100."""
    lines, at, outside = [], START, 0.0
    for step in range(0, 1001, 20):
        seconds = (20 * 0.25 + outside) / 20 if step else 7e-5
        at += dt.timedelta(seconds=20 * seconds)
        head = f"{at:%Y-%m-%d %H:%M:%S},000-INFO: "
        told = speed.format(seconds=seconds, ips=8 / seconds)
        lines.append(f"{head}iter: {step}, lr: 0.000040, 'loss_cls': '0.500000', 'loss': '43.500000', {told}")
        outside = 30.0 if step and step % 100 == 0 else 0.0
        if outside:
            lines += [f"{head}Save model to output/yolov3_darknet/{step}.", f"{head}Test iter 0"]
    return lines


def test_the_static_graph_of_paddledetection_evaluates_within_the_record_that_follows(tmp_path: Path) -> None:
    lines = static_detection("eta: 8:12:05, batch_cost: {seconds:.5f} sec, ips: {ips:.5f} images/sec")
    session = session_of(lines, tmp_path, "frameworks.paddle_detection")
    assert value(session, "sustained", devices=2) == pytest.approx(2 * 32)


def test_the_first_releases_of_paddledetection_print_seconds_alone(tmp_path: Path) -> None:
    # The first line prints the mean of no iteration.
    session = session_of(static_detection("time: {seconds:.3f}, eta: 8:12:05"), tmp_path, "frameworks.paddle_detection")
    assert recorded(session)["step"].tolist()[:2] == [20, 40]
    assert value(session, "sustained", **PAIR) == pytest.approx(2 * 4 / 0.25)


def test_the_first_dynamic_graph_of_paddledetection_counts_iterations_within_epochs(tmp_path: Path) -> None:
    lines = [
        f"2026-11-20 08:00:00,000-INFO: Epoch:{epoch}: iter: {step}, lr: 0.000040, 'loss': '43.500000', eta: 8:12:05, "
        "batch_cost: 0.25000 sec, ips: 32.00000 images/sec"
        for epoch in range(4)
        for step in range(0, 100, 20)
    ]
    session = session_of(lines, tmp_path, "frameworks.paddle_detection")
    assert begun_anew(recorded(session)) is None
    assert value(session, "sustained", devices=2) == pytest.approx(2 * 32)


def paddlex(step: float, *, first: float, every: int, window: int) -> list[str]:
    """Return PaddleX's lines of 12 epochs of 237 steps, whose first takes longer, each with an evaluation of 20 s."""
    lines, at, seconds = [], START, list[float]()
    for epoch in range(1, 13):
        for n in range(1, 238):
            seconds.append(step + (first if n == 1 else 0))
            at += dt.timedelta(seconds=seconds[-1])
            if len(seconds) % every == 0:
                last = seconds[-window:]
                lines.append(
                    f"{at:%Y-%m-%d %H:%M:%S} [INFO]\t[TRAIN] Epoch={epoch}/12, Step={n}/237, loss_xy=0.25, loss=4.75, "
                    f"lr=1e-05, time_each_step={round(sum(last) / len(last), 2)}s, eta=3:44:27"
                )
        lines.append(f"{at:%Y-%m-%d %H:%M:%S} [INFO]\t[TRAIN] Epoch {epoch} finished, loss_xy=0.25, loss=4.75 .")
        lines.append(f"{at:%Y-%m-%d %H:%M:%S} [INFO]\tStart to evaluating(total_samples=100, total_steps=25)...")
        at += dt.timedelta(seconds=20)
        lines.append(f"{at:%Y-%m-%d %H:%M:%S} [INFO]\tModel saved in output/ppyolo/epoch_{epoch}.")
    return lines


@pytest.mark.parametrize(("every", "window"), [(10, 10), (2, 20)])
def test_paddlex_evaluates_outside_its_timer(every: int, window: int, tmp_path: Path) -> None:
    lines = paddlex(0.5, first=0, every=every, window=window)
    session = session_of(lines, tmp_path, "paddle.paddlex")
    found = measured(session, PAIR).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(2 * 4 / 0.5)


def test_paddlex_is_read_by_its_clock_where_its_seconds_are_too_coarse(tmp_path: Path) -> None:
    # A step of 47 ms is printed as 0.05 s; an epoch begins with a second of waiting, which is no step.
    lines = paddlex(0.047, first=1, every=10, window=10)
    session = session_of(lines, tmp_path, "paddle.paddlex")
    assert value(session, "sustained", **PAIR) == pytest.approx(2 * 4 / 0.047, rel=0.01)
    undated = [each.partition("\t")[2] for each in lines]
    assert reason(session_of(undated, tmp_path, "paddle.paddlex"), "sustained", **PAIR) == "coarse_seconds"


def hub(lines: Iterable[tuple[str, float]], evaluation: str) -> list[str]:
    """Return PaddleHub's lines at the seconds since the one before; an evaluation stands behind every fifth."""
    made, at = [], START
    for n, (line, seconds) in enumerate(lines, 1):
        at += dt.timedelta(seconds=seconds)
        stamp = f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}]"
        made.append(f"{stamp} [   TRAIN] - {line}")
        if n % 5 == 0:
            made.append(f"{stamp} {evaluation}")
    return made


def test_paddlehub_evaluates_within_the_record_that_follows(tmp_path: Path) -> None:
    # 10 steps in 5 s, and 20 s of evaluation behind every fifth line.
    seconds = [25.0 if n % 5 == 1 and n > 1 else 5.0 for n in range(1, 41)]
    lines = [
        (
            f"Epoch=1/1, Step={10 * n}/400 loss=2.5000 acc=0.5000 lr=0.000100 step/sec={10 / each:.2f} | ETA 00:01:00",
            each,
        )
        for n, each in enumerate(seconds, 1)
    ]
    session = session_of(hub(lines, "[    EVAL] - [Evaluation result] avg_acc=0.7500"), tmp_path, "paddle.hub")
    assert value(session, "sustained", **PAIR) == pytest.approx(2 * 4 * 2)


def test_paddlehub_1_leaves_out_the_wait_of_a_first_step(tmp_path: Path) -> None:
    # 10 steps in 2.037 s, of which the printed rate holds 1.8 s; evaluations of 5 s lie outside.
    seconds = [7.037 if n % 5 == 1 and n > 1 else 2.037 for n in range(1, 61)]
    lines = [
        (f"step {10 * n} / 600: loss=0.75000 acc=0.50000 [step/sec: {10 / 1.8:.2f}]", each)
        for n, each in enumerate(seconds, 1)
    ]
    session = session_of(hub(lines, "[    INFO] - Evaluation on dev dataset start"), tmp_path, "paddle.hub")
    found = measured(session, PAIR).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(2 * 4 * 10 / 2.037, rel=0.01)
    # A bar may stand before the stamp.
    behind = [f"100%|##| {each}" for each in hub(lines, "[    INFO] - Evaluation on dev dataset start")]
    told = measured(session_of(behind, tmp_path, "paddle.hub"), PAIR).headline
    assert isinstance(told, Figure)
    assert told.value == found.value


def test_paddlehub_of_slow_steps_has_too_few_digits(tmp_path: Path) -> None:
    lines = [(f"step {n} / 60: loss=0.75000 [step/sec: 0.03]", 33.3) for n in range(1, 21)]
    session = session_of(hub(lines, "[    INFO] - Evaluation on dev dataset start"), tmp_path, "paddle.hub")
    assert reason(session, **PAIR) == "coarse_seconds"


def test_pdseg_states_devices_and_batch(tmp_path: Path) -> None:
    # 10 steps in 2 s; behind every fifth line 10 s of saving and evaluation, which has lines of its own.
    lines = ["#Device count: 2", "batch_size_per_dev: 4"]
    for n in range(1, 41):
        seconds = 12 if n % 5 == 1 and n > 1 else 2
        lines.append(
            f"epoch={n // 5 + 1} step={10 * n} lr=0.00093 loss=0.2500 step/sec={10 / seconds:.3f} | ETA 00:07:06"
        )
        if n % 5 == 0:
            lines += [
                f"Save model checkpoint to ./saved_model/unet/{n}",
                "Evaluation start",
                "[EVAL]step=1 loss=0.01955 acc=0.9926 IoU=0.9653 step/sec=21.25 | ETA 00:00:00",
            ]
    assert value(session_of(lines, tmp_path, "paddle.hub"), "sustained") == pytest.approx(2 * 4 * 5)


def test_ernie_in_fine_tuning_evaluates_within_the_record_that_follows(tmp_path: Path) -> None:
    lines = ["-----------  Configuration Arguments -----------", "batch_size: 4", "in_tokens: False"]
    for n in range(1, 41):
        seconds = 17 if n % 5 == 1 and n > 1 else 5
        lines.append(
            f"epoch: 0, progress: {80 * n}/9600, step: {10 * n}, ave loss: 0.250000, ave acc: 0.968750, "
            f"speed: {10 / seconds:.6f} steps/s"
        )
        if n % 5 == 0:
            lines.append("[dev evaluation] ave loss: 0.250000, acc:0.937500, data_num: 1200, elapsed time: 12.0 s")
    assert value(session_of(lines, tmp_path, "dlperf.paddle_bert"), "sustained", devices=2) == pytest.approx(16)


def test_paddlespeech_of_2021_prints_the_wait_apart(tmp_path: Path) -> None:
    lines, at = [], START
    for n in range(1, 101):
        at += dt.timedelta(seconds=2)
        lines.append(
            f"[INFO {at:%Y/%m/%d %H:%M:%S} model.py:61] Train: Rank: 0, epoch: 1, step: {n}, batch : {n}/1876, "
            "lr: 0.0005, data time: 0.500s, train time: 1.500s, batch size: 64, train_loss: 16.030918"
        )
    session = session_of(lines, tmp_path, "paddle.speech")
    told = measured(session, facts_of(session) | {"devices": 2})
    assert isinstance(told.headline, Figure)
    assert told.headline.value == pytest.approx(2 * 32)
    assert {each.kind: each.verdict for each in told.witnesses}["clock"] == "agrees"


def test_paddlespeech_counts_each_batch_once_though_every_rank_prints_it(tmp_path: Path) -> None:
    lines = [
        f"Train: Rank: {rank}, epoch: 0, step: {n}, lr: 0.001, batch_size: 32, accum: 1, loss: 9.5, step_cost: 0.4, "
        f"iter: {n}, total: 1000, reader_cost: 0.1, batch_cost: 0.5, samples: 32, ips: 64.0 sent./sec"
        for n in range(1, 101)
        for rank in range(4)
    ]
    session = session_of(lines, tmp_path, "paddle.speech")
    assert begun_anew(recorded(session)) is None
    assert value(session, devices=4) == pytest.approx(256)


def rec(digits: int) -> list[str]:
    """Return PaddleRec's lines of one epoch, of 512 samples in 0.1 s."""
    return [
        f"2026-11-20 08:00:{n:02d},000 - INFO - epoch: 0, batch_id: {10 * n}, auc:0.500000,  "
        f"avg_reader_cost: 0.00050 sec, avg_batch_cost: 0.10000 sec, avg_samples: 512.00000, "
        f"ips: {5120:.{digits}f} ins/s"
        for n in range(1, 21)
    ]


def test_paddlerec_infers_in_the_same_words(tmp_path: Path) -> None:
    loaded = "2026-11-20 09:00:00,000 - INFO - load model epoch 0"
    session = session_of([*rec(5), loaded, *rec(5)], tmp_path, "paddle.rec")
    assert value(session, devices=2) == pytest.approx(2 * 5120)
    assert len(recorded(session)) == 20
    assert not log_of(rec(2), tmp_path).claims


@pytest.mark.parametrize("points", [1, 100])
def test_paddlescience_of_2024_has_no_unit(points: int, tmp_path: Path) -> None:
    # 20 iterations of 0.37 s and 20 of 0.5 s in each epoch, whose means begin anew at its fifth.
    lines = []
    for epoch in range(1, 11):
        for step in (1, 20, 40):
            mean = (0.37 * (min(step, 20) - 4) + 0.5 * max(step - 20, 0)) / (step - 4) if step > 4 else 0.37
            lines.append(
                f"[2026/11/20 08:00:00] ppsci INFO: [Train][Epoch {epoch:2d}/10][Iter {step:2d}/40] lr: 0.00100, "
                f"loss: 0.5, EQ: 0.5, batch_cost: {mean:.5f}s, reader_cost: 0.00010s, ips: {points / mean:.2f}, "
                "eta: 0:02:14"
            )
    session = session_of(lines, tmp_path, "paddle.science")
    assert value(session, "sustained", devices=2) == pytest.approx(2 * points * 36 / (16 * 0.37 + 20 * 0.5), rel=1e-3)


@pytest.mark.parametrize(
    ("printed", "precision"),
    [
        ("2026-11-20 08:00:00 [INFO]\tuse amp to train", "amp"),
        ("2026-11-20 08:00:00 [INFO]\tuse AMP to train. AMP level = O1", "amp"),
        ("2026-11-20 08:00:00 [INFO]\tuse AMP to train. AMP level = O2", "fp16"),
        ("[2026/11/20 08:00:00] INFO: use AMP to train. AMP level = O2", "fp16"),
    ],
)
def test_paddleseg_states_its_precision(printed: str, precision: str, tmp_path: Path) -> None:
    lines = [
        f"[2026/11/20 08:00:{n:02d}] INFO: [TRAIN] epoch: 1, iter: {10 * n}/8000, loss: 0.1837, lr: 0.000100, "
        "batch_cost: 0.1000, reader_cost: 0.0113, ips: 80.0000 samples/sec, max_mem_reserved: 2048 MB, "
        "max_mem_allocated: 1902 MB | ETA 00:11:22"
        for n in range(1, 41)
    ]
    session = session_of([printed, *lines], tmp_path, "paddle.seg")
    assert facts_of(session)["precision"] == precision
    assert value(session, "sustained", devices=2) == pytest.approx(160)


@pytest.mark.parametrize("place", ["epoch: 0, step: [{}/990]", "global step {0}, epoch: 0, step: {0}"])
def test_fleetx_prints_the_images_of_the_job(place: str, tmp_path: Path) -> None:
    # 10 steps in 5 s; behind every fifth line 20 s of evaluation, which the timer holds.
    head, lines = "[2026-11-20] [    INFO] - ", []
    for n in range(1, 41):
        seconds = 25 if n % 5 == 1 and n > 1 else 5
        lines.append(
            f"{head}[train] {place.format(10 * n)}, learning rate: 1.00000e-04, loss: 6.750000000, "
            f"batch_cost: {seconds:.5f} sec, ips: {10 * 1024 / seconds:.2f} images/sec"
        )
        if n % 5 == 0:
            lines.append(f"{head}[eval] epoch: 0, batch: 9, loss: 10.500000000")
    assert value(session_of(lines, tmp_path, "paddle.fleetx"), "sustained") == pytest.approx(2048)


def test_uie_saves_and_evaluates_outside_its_timer(tmp_path: Path) -> None:
    # 10 steps in 5 s, and 12 s of saving and evaluation behind every fifth line.
    lines, at = [], START
    for n in range(1, 41):
        at += dt.timedelta(seconds=5.013)
        stamp = f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}] [    INFO] - "
        lines.append(f"{stamp}global step {10 * n}, epoch: {n // 9 + 1}, loss: 0.00500, speed: 1.99 step/s")
        if n % 5 == 0:
            at += dt.timedelta(seconds=12)
            lines.append(f"{stamp}Evaluation precision: 0.50000, recall: 0.50000, F1: 0.50000")
    session = session_of(lines, tmp_path, "paddle.nlp_uie")
    found = measured(session, PAIR).headline
    assert isinstance(found, Figure)
    assert found.value == pytest.approx(2 * 4 * 1.99)


def test_voiceprint_times_the_first_batch_of_an_epoch_alone(tmp_path: Path) -> None:
    # Batches of 0.25 s, but for a first one of 5 s, after which an epoch has 40 more.
    lines = [
        f"Train epoch: [{epoch}/9], batch: [{batch}/41], loss: 11.5, accuracy: 0.5, learning rate: 0.001, "
        f"speed: {64 / (0.25 if batch else 5):.2f} data/sec, eta: 5 days, 5:24:08"
        for epoch in range(1, 10)
        for batch in range(0, 41, 10)
    ]
    session = session_of(lines, tmp_path, "frameworks.voiceprint")
    assert value(session, devices=2) == pytest.approx(2 * 64 * 41 / (40 * 0.25 + 5), rel=1e-3)


def test_paddlenlp_without_escape_characters(tmp_path: Path) -> None:
    lines = [
        f"[32m[2026-11-20 08:00:{n:02d},000] [    INFO][0m - loss: 2.5, learning_rate: 3e-05, global_step: {n}, "
        "interval_runtime: 1.0, interval_samples_per_second: 16.0, interval_steps_per_second: 1.0, epoch: 0.02[0m"
        for n in range(1, 21)
    ]
    session = session_of(lines, tmp_path, "paddle.nlp_trainer")
    assert isinstance(figure(session), Figure)
    assert recorded(session).stamps()[1] - recorded(session).stamps()[0] == 1
